/**
 * The one interface a backend implements, and the shapes of what goes in and comes out.
 * A backend knows neither other backends nor the sampler; no result may depend on its tile sizes, threads or batches.
 */
import type { GpuBuffer } from "./gpu-buffers.js";
import type { HiddenProblem } from "./hidden.js";
import type { FloatDtype } from "./matrix.js";

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

/** Where values lie in a buffer of a GPU backend's device. */
export interface BufferSlice {
  readonly buffer: GpuBuffer;
  /** a multiple of a value's size */
  readonly byteOffset: number;
}

/** Where values lie in memory of the CUDA device. */
export interface PointerSlice {
  /** a multiple of a value's size */
  readonly pointer: bigint;
}

/** A batch of which one end lies on the device. */
export interface DeviceBatch<Place = BufferSlice> {
  /** As in Batch, with the rows that were refused; or as the caller has them, to be checked and rounded on the device. */
  readonly hiddenStates: { readonly values: Float32Array; readonly isRefused: readonly boolean[] } | (Place & { readonly dtype: FloatDtype });
  readonly request: Uint32Array;
  /** max |w| over the whole head: what the range rule needs */
  readonly largestMagnitude: number;
  /** Where the tokens go, i32 [rows * samples]; null: they come back. */
  readonly tokensTo: Place | null;
}

export interface PointerBatch extends DeviceBatch<PointerSlice> {
  /**
   * The CUstream that the batch is put in order with: it comes after what is there now, and what is put there once the call has
   * resolved comes after the batch. null: what the batch reads is there, and the batch is done once the call has resolved.
   */
  readonly stream: bigint | null;
}

export interface DeviceDecisions {
  /** null when the tokens stay on the device */
  readonly candidates: Candidates | null;
  /** For each row null, or what makes it invalid; no row when nothing came back or nothing was checked on the device. */
  readonly invalidRow: readonly (HiddenProblem | null)[];
}

/** A head that lives in a backend's memory. */
export interface BackendHead {
  sample(batch: Batch): Promise<Candidates>;
  /** WebGPU: the same with buffers of its device. */
  sampleOnDevice?(batch: DeviceBatch): Promise<DeviceDecisions>;
  /** CUDA: the same with memory of its device. @throws RangeError for what is no such memory */
  sampleAtPointers?(batch: PointerBatch): Promise<DeviceDecisions>;
  dispose(): void;
}

/** Weights that lie on the device already. */
export interface DeviceHead {
  readonly shape: HeadShape;
  /** as for createHead */
  readonly scales: Float32Array | null;
  /** row-major, as the caller has them */
  readonly weights: BufferSlice;
}

export interface Backend {
  /** What runs: "wasm-relaxed", "wasm", "reference", ... */
  readonly name: string;
  /**
   * Begins a head. scales: f32 [V * (D / groupSize)], positive and normal, for int8; null otherwise.
   * @throws RangeError when the head cannot fit this backend
   */
  createHead(shape: HeadShape, scales: Float32Array | null): HeadSink | Promise<HeadSink>;
  /**
   * GPU backends: the head as a copy of weights on their device, checked and brought into canonical form there.
   * @param onRows called with the number of rows that are in place; what it throws ends the copying
   * @throws RangeError naming row and column of a weight that is not finite
   */
  copyHead?(head: DeviceHead, onRows: (rowCount: number) => void): Promise<{ readonly head: BackendHead; readonly largestMagnitude: number }>;
  sampleLogits(batch: LogitsBatch): Promise<Candidates>;
  dispose(): void;
}

/** What people want to know of a device. */
export interface DeviceReport {
  /** what the adapter says of itself */
  readonly adapter: string;
  /** How it keeps sums in their order, for each kind of kernel that a head needed so far. */
  readonly rungs: Readonly<Record<string, string>>;
}
