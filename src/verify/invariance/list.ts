/** All invariances, in the order in which they are asked. */
import { BATCHING } from "./batching.js";
import type { Invariance } from "./case.js";
import { RESTRICTIONS } from "./restrictions.js";
import { STREAMS } from "./streams.js";
import { VOCABULARY } from "./vocabulary.js";

export const INVARIANCES: readonly Invariance[] = [...BATCHING, ...VOCABULARY, ...RESTRICTIONS, ...STREAMS];
