/** All mutants. */
import type { Mutant } from "./mutant.js";
import { INDEX_MUTANTS } from "./catalogue/indices.js";
import { NOISE_MUTANTS } from "./catalogue/noise.js";
import { ROW_MUTANTS } from "./catalogue/rows.js";
import { SCORE_MUTANTS } from "./catalogue/scores.js";
import { STREAM_MUTANTS } from "./catalogue/streams.js";
import { VOCABULARY_MUTANTS } from "./catalogue/vocabulary.js";

export const MUTANTS: readonly Mutant[] = [...STREAM_MUTANTS, ...INDEX_MUTANTS, ...NOISE_MUTANTS, ...SCORE_MUTANTS, ...VOCABULARY_MUTANTS, ...ROW_MUTANTS];
