/** What a check is asked, and the engine that it asks about. */
import type { DrawOptions } from "../../arguments.js";
import type { BackendName } from "../../backends/list.js";
import { describe } from "../../describe.js";
import type { HeadArray } from "../../head/head-reader.js";
import type { LoadProgress } from "../../head/load.js";
import type { ScalesLocation } from "../../head/scales.js";
import type { SourceInput } from "../../head/source.js";
import type { FloatData } from "../../matrix.js";
import { engineOf, engines, readEngineOptions, TEXTS_LIMIT, type EngineReplay, type ReadOptions } from "../engines/list.js";
import type { OrUndefined } from "../guards.js";
import { checkText, readTexts } from "../values.js";
import type { LogitErrorInput } from "../logit-error.js";
import type { TokenMask } from "./vocabulary.js";

/** The engine that is this package's rule. */
export const OURS = "ours";
export const ENGINE_NAMES: readonly string[] = [OURS, ...engines.map(({ name }) => name)];

export interface CheckOptions extends OrUndefined<Omit<DrawOptions, "seed">> {
  /**
   * [B * numSamples], the samples of a row side by side: an array, plain or typed, of integers of up to 64 bits. numSamples: by default so many as there are
   * a row.
   */
  readonly tokens: ArrayLike<number | bigint>;
  readonly seed: NonNullable<DrawOptions["seed"]>;
  /** The LM head, with hiddenStates; or logits. tensor, scales: as of createSampler. */
  readonly weights?: SourceInput | HeadArray | undefined;
  readonly tensor?: string | undefined;
  readonly scales?: ScalesLocation | undefined;
  /** [B, D], row-major */
  readonly hiddenStates?: FloatData | undefined;
  /** [B, V], row-major; -Infinity masks a token */
  readonly logits?: FloatData | undefined;
  /**
   * V, columns of logits, where they are given. Default: logits.length / B, which must be a whole number. B is then the length of what is given one a row
   * (seeds, temperatures, positions, sequences, a mask of several rows), else tokens.length / numSamples, with a token a row where numSamples is left out too.
   */
  readonly vocabSize?: number | undefined;
  /** Tokens from it on are padding, of the head or the logits, and never drawn. Default: V. */
  readonly unpaddedSize?: number | undefined;
  readonly mask?: TokenMask | undefined;
  /** Default: "f32" of a head, "none" of given logits. */
  readonly logitError?: LogitErrorInput | undefined;
  /** Who drew: one of ENGINE_NAMES. Default: "ours". The others read no sequence: it is refused beside them. */
  readonly engine?: string | undefined;
  /** The engine's own options, "NAME=VALUE" each. */
  readonly engineOptions?: readonly string[] | undefined;
  /** How many wrong draws get their rank and probability, for which all logits of their rows are needed. Default 16. */
  readonly ranks?: number | undefined;
  /** For the engine "ours". Default "auto". */
  readonly backend?: BackendName | "auto" | undefined;
  /** Looked at between pieces of the work: its reason is what check then rejects with. */
  readonly signal?: AbortSignal | undefined;
  /** Of the loading of a head for the engine "ours". Given logits load nothing, and another engine's replay reads the head as it goes: it is not called then. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

export const OPTION_NAMES = [
  ...["tokens", "weights", "tensor", "scales", "hiddenStates", "logits", "vocabSize", "unpaddedSize", "mask", "logitError", "engine", "engineOptions"],
  ...["ranks", "backend", "signal", "onProgress", "seed", "temperature", "sequence", "position", "numSamples"],
];

export const DEFAULT_RANKS = 16;

/** An engine of the list with its options, or null for the rule itself. */
export type Asked = { readonly engine: EngineReplay; readonly options: ReadOptions } | null;

/** Streams by sequence are our rule's alone: to take the option and leave it unread would pass what was not checked. */
export function readsNoSequence(label: string, engine: string): RangeError {
  return new RangeError(`"${label}" expected none for ${engine}, whose noise has no sequence, got one`);
}

/** @throws RangeError for an engine that is not known, or options that it does not have */
export function askedEngine({ engine = OURS, engineOptions = [], sequence }: Pick<CheckOptions, "engine" | "engineOptions" | "sequence">): Asked {
  const texts = readTexts("engineOptions", engineOptions, TEXTS_LIMIT);
  checkText("engine", engine);
  if (!ENGINE_NAMES.includes(engine)) throw new RangeError(`"engine" expected one of ${ENGINE_NAMES.join(", ")}, got ${describe(engine)}`);
  if (engine !== OURS) {
    if (sequence !== undefined) throw readsNoSequence("sequence", engine);
    const replay = engineOf(engine);
    return { engine: replay, options: readEngineOptions(replay, texts) };
  }
  if (texts.length > 0) throw new RangeError(`"engineOptions" expected none for ${OURS}, got ${describe(texts[0])}`);
  return null;
}
