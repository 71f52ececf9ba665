/**
 * The one interface a backend implements, and the shapes of what goes in and comes out.
 * A backend knows neither other backends nor the sampler; no result may depend on its tile sizes, threads or batches.
 */

export type Dtype = "bf16" | "f16" | "f32" | "int8";

/** Bytes of one weight. */
export const DTYPE_BYTES: Readonly<Record<Dtype, number>> = { bf16: 2, f16: 2, f32: 4, int8: 1 };

/** An LM head: weights [vocabSize, hiddenSize], row-major, little-endian. */
export interface HeadShape {
  readonly dtype: Dtype;
  /** V >= 1 */
  readonly vocabSize: number;
  /** D >= 1 */
  readonly hiddenSize: number;
  /** Columns that share one scale (int8): D for one scale a row, else a multiple of 32 that divides D. 0 otherwise. */
  readonly groupSize: number;
}

/** Room for consecutive rows inside memory the sink owns: rowCount * hiddenSize * DTYPE_BYTES bytes, no row padding. */
export interface RowBlock {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly bytes: Uint8Array;
}

/** What the loader measured on the canonical rows of a block, one entry a row. */
export interface RowStatistics {
  /** Euclidean norm of the row (int8: without scale), rounded up. */
  readonly norms: Float32Array;
  /** Largest |weight| of the row. */
  readonly largest: Float32Array;
}

/**
 * Takes a head's rows in ascending order: reserve, (the loader fills, checks and canonicalises the block in place), commit.
 * A view from reserve is dead after the next call on the sink.
 */
export interface HeadSink {
  /** A block that starts at firstRow and holds 1..rowCount rows (fewer than asked where the sink's memory says so). */
  reserve(firstRow: number, rowCount: number): RowBlock;
  commit(block: RowBlock, statistics: RowStatistics): void | Promise<void>;
  /** All V rows are committed. */
  finish(): BackendHead | Promise<BackendHead>;
  /** Gives the memory back; safe to call at any time. */
  abort(): void;
}

/** Hidden states that passed every check, and the requests for their rows. */
export interface Batch {
  /** [rows, hiddenSize]: already rounded to the head's operand format and canonical, as f32 values. */
  readonly hiddenStates: Float32Array;
  /** One row record for each row: see src/spec/request.ts. */
  readonly request: Uint32Array;
}

/** Logits as given, f32 [rows, vocabSize], NaN and infinities allowed: the rule gives each a meaning. */
export interface LogitsBatch {
  readonly logits: Float32Array;
  readonly vocabSize: number;
  readonly request: Uint32Array;
}

export const STATUS_OK = 0;
export const STATUS_INVALID = 1;
export const STATUS_ALL_MASKED = 2;

/** The decision of each draw, [rows * samples], sample fastest. Scores are S in Q31.32. */
export interface Candidates {
  readonly status: Uint8Array;
  /** -1 unless the status is ok. */
  readonly token: Int32Array;
  /** 0 unless the status is ok. */
  readonly score: BigInt64Array;
  /** The second-best token, -1 when there is none. */
  readonly runnerUp: Int32Array;
  /** 0 when there is no runner-up. */
  readonly runnerUpScore: BigInt64Array;
}

/** A head that lives in a backend's memory. */
export interface BackendHead {
  sample(batch: Batch): Promise<Candidates>;
  dispose(): void;
}

export interface Backend {
  /** What runs: "wasm-relaxed", "wasm", "reference", ... */
  readonly name: string;
  /**
   * Begins a head. scales: f32 [V * (D / groupSize)], positive and normal, for int8; null otherwise.
   * @throws RangeError when the head cannot fit this backend
   */
  createHead(shape: HeadShape, scales: Float32Array | null): HeadSink | Promise<HeadSink>;
  sampleLogits(batch: LogitsBatch): Promise<Candidates>;
  dispose(): void;
}
