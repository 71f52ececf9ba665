/** A sampler that is judged: a function from logits and the places of their noise to tokens. */

/** One call. All arrays of rows have `rows` entries. */
export interface SamplerCall {
  /** f32 [rows, vocabSize], row-major */
  readonly logits: Float32Array;
  readonly rows: number;
  readonly vocabSize: number;
  readonly numSamples: number;
  readonly temperature: readonly number[];
  readonly seed: readonly bigint[];
  /** the stream of each row's request */
  readonly sequence: readonly number[];
  /** the decode step of each row */
  readonly position: readonly number[];
  /** u32 [rows, ceil(vocabSize / 32)]: bit token % 32 of word token / 32 is 1 for allowed tokens; absent: all are */
  readonly mask?: Uint32Array;
  /** only so many of the largest logits, ties to the lower token; absent: all */
  readonly topK?: readonly number[];
  /** the smallest set of the most probable tokens with at least this mass; absent: all */
  readonly topP?: readonly number[];
  /** into so many equal parts of the vocabulary the work is cut (ranks, tiles); absent: 1 */
  readonly shards?: number;
}

/** Tokens [rows * numSamples], the samples of a row side by side; -1 for a row without a token. */
export type SamplerUnderTest = (call: SamplerCall) => Int32Array | Promise<Int32Array>;
