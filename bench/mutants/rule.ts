/** The steps of a sampler, each of which a mutant may replace: the rule of docs/spec.md cut where kernels go wrong. */
import type { SamplerCall } from "../../src/verify/sampler-under-test.js";

/** Where the words of one draw lie: docs/spec.md, section 2. All are u32. */
export interface Stream {
  keyLow: number;
  keyHigh: number;
  sequence: number;
  position: number;
  sample: number;
  highPurpose: number;
  lowPurpose: number;
  /** added to the token's number in the counter, modulo 2^32 */
  firstIndex: number;
}

/** Noise of two words in Q26; a float where a mutant computes in floats. */
export interface Noise {
  of(high: number, low: number): number;
  /** [34]: no noise is larger where the high word's upper bit is 1 and so many zeros follow it, and at 33 where that bit is 0. */
  readonly limits: Float64Array;
}

export interface Rule {
  /** f32 [V or more], a copy that the other steps may change */
  readLogits(call: SamplerCall, row: number): Float32Array;
  /** -Infinity for what the row's mask forbids */
  applyMask(logits: Float32Array, call: SamplerCall, row: number): void;
  applyTopK(logits: Float32Array, k: number): void;
  applyTopP(logits: Float32Array, p: number, temperature: number): void;
  /** What else changes a row's logits before it is drawn from; nothing. */
  beforeDraws(logits: Float32Array, call: SamplerCall, row: number): void;
  isInvalid(call: SamplerCall, row: number): boolean;
  /** of a row, in Q24 */
  tau(call: SamplerCall, row: number): number;
  /** tokens that are decided together before the whole is */
  tileSize(call: SamplerCall): number;
  stream(call: SamplerCall, row: number, sample: number, tile: number): Stream;
  /** The numbers that tokens have in the counter, null: their own. Asked once for a row, after masks and filters. */
  noiseIndices(logits: Float32Array, call: SamplerCall, row: number): Int32Array | null;
  /** The high (0) or low (1) words of the tokens numbered 16 * group to 16 * group + 15 in the counter. Good until the next call. */
  words(stream: Stream, group: number, which: 0 | 1): Uint32Array;
  readonly noise: Noise;
  /** One number in place of the exact sum of logit and noise, all in Q32. null: exact. */
  readonly score: ((z: number, noise: number, tau: number) => number) | null;
  /** What a tile says of its best score to the others. null: the very score. */
  readonly tileScore: ((score: number, tau: number) => number) | null;
  /** among equal scores the last token in place of the first */
  readonly lastOfEqual: boolean;
  /** the token of a row of which no score is above -Infinity */
  nothingDrawn(call: SamplerCall): number;
  /** Draws in another way than by the highest score. null: by it. */
  readonly pick: ((logits: Float32Array, call: SamplerCall, row: number, stream: Stream) => number) | null;
  /** The tokens of the whole call, to be changed in place. */
  finish(tokens: Int32Array, call: SamplerCall): void;
}

/** What a mutant replaces; `correct` is the rule without it. */
export type Patch = (correct: Rule) => Partial<Rule>;
