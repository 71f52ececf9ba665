/**
 * Loads an LM head into a backend: rows stream from their source straight into the memory the backend reserves, where they
 * are checked and brought into canonical form. Beside the backend's own memory it holds about a block, scales, and row measures.
 */
import { allocate } from "../allocate.js";
import { describe } from "../describe.js";
import { DTYPE_BYTES, type BackendHead, type HeadShape, type HeadSink, type RowBlock } from "../backend.js";
import { prepareRows } from "./canonical.js";
import { HeadDigest } from "./digest.js";
import { arrayHead, readHead, type HeadArray, type HeadReader } from "./head-reader.js";
import type { ScalesLocation } from "./scales.js";
import { openSource, type SourceInput } from "./source.js";
import { typedArrayKind } from "../typed-arrays.js";

export interface LoadProgress {
  /** Bytes of weights that are in place. */
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface LoadOptions {
  /** A safetensors file, an index of shards, a .npy file, or weights in memory. */
  readonly weights: SourceInput | HeadArray;
  /** Name of the tensor, when the usual names do not fit. Files only. */
  readonly tensor?: string | undefined;
  /** Where the scales of an int8 head are, when not under the usual names. Files only. */
  readonly scales?: ScalesLocation | undefined;
  /** Called once, when everything but the weights themselves is checked. */
  readonly createSink: (shape: HeadShape, scales: Float32Array | null) => HeadSink | Promise<HeadSink>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

export interface HeadStatistics {
  /** max |w| over the whole head; int8: without scale. */
  readonly largestMagnitude: number;
  /** Euclidean norm of each row, rounded up; int8: without scale. f32 [V] */
  readonly norms: Float32Array;
  /** Names the canonical content: see digest.ts. Null where there is no Web Crypto. */
  readonly digest: string | null;
}

export interface LoadedHead {
  readonly shape: HeadShape;
  readonly head: BackendHead;
  readonly statistics: HeadStatistics;
}

/** Enough for full speed from a file; a row may be as large. */
const BLOCK_BYTES = 4 << 20;
/** Reads from memory never wait, so after this many bytes the event loop gets a turn: an abort must be able to arrive. */
const TURN_BYTES = 32 << 20;

/**
 * @throws TypeError, RangeError for weights that cannot be used: the message names the file, tensor, or row and column
 * @throws the signal's reason when it aborts. On any failure the sink is aborted.
 */
export async function loadHead(options: LoadOptions): Promise<LoadedHead> {
  const { weights, tensor, scales, signal } = options;
  signal?.throwIfAborted();
  if (typeof weights !== "string" && (typeof weights !== "object" || weights === null)) {
    throw new TypeError(`"weights" expected { data, dtype, shape }, a path, URL, Blob, list of Files or bytes, got ${describe(weights)}`);
  }
  const kind = typedArrayKind(weights);
  if (kind !== undefined && kind !== "Uint8Array") {
    throw new TypeError(`"weights" expected { data, dtype, shape } for weights in memory, or the bytes of a file in a Uint8Array, got ${describe(weights)}`);
  }
  if (isHeadArray(weights)) {
    if (tensor !== undefined || scales !== undefined) throw new TypeError(`"weights" expected a file together with tensor or scales, got an array`);
    return streamRows(arrayHead(weights), options);
  }
  const source = await openSource(weights, signal);
  try {
    const reader = await readHead(source, tensor, scales, signal);
    try {
      return await streamRows(reader, options);
    } finally {
      await reader.close();
    }
  } finally {
    if (source !== weights) await source.close();
  }
}

export function isHeadArray(weights: LoadOptions["weights"]): weights is HeadArray {
  // Any one of them tells what was meant; what lacks another is refused by name.
  return typeof weights === "object" && ["data", "dtype", "shape"].some((name) => name in weights);
}

async function streamRows(reader: HeadReader, { createSink, signal, onProgress }: LoadOptions): Promise<LoadedHead> {
  const { shape, scales } = reader;
  const { dtype, vocabSize, hiddenSize } = shape;
  const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
  const totalBytes = vocabSize * rowBytes;
  const norms = allocate(() => new Float32Array(vocabSize), `the norms of ${vocabSize} rows`);
  const digest = allocate(() => new HeadDigest(shape), `the digests of ${vocabSize} rows`);
  const sink = await createSink(shape, scales);
  try {
    let largestMagnitude = 0;
    let turnBytes = 0;
    for (let firstRow = 0; firstRow < vocabSize; ) {
      signal?.throwIfAborted();
      const asked = Math.min(Math.max(1, Math.floor(BLOCK_BYTES / rowBytes)), vocabSize - firstRow);
      const block = sink.reserve(firstRow, asked);
      checkBlock(block, firstRow, asked, rowBytes);
      await reader.readRows(firstRow, block.bytes, signal);
      const measured = prepareRows(dtype, block.bytes, block.rowCount, hiddenSize, firstRow);
      digest.addRows(block.bytes, block.rowCount);
      norms.set(measured.norms, firstRow);
      largestMagnitude = measured.largest.reduce((a, b) => Math.max(a, b), largestMagnitude);
      await sink.commit(block, measured);
      firstRow += block.rowCount;
      onProgress?.({ bytes: firstRow * rowBytes, totalBytes });
      turnBytes += block.rowCount * rowBytes;
      if (turnBytes >= TURN_BYTES) {
        turnBytes = 0;
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
    signal?.throwIfAborted();
    const statistics = { largestMagnitude, norms, digest: await digest.finish(scales) };
    signal?.throwIfAborted();
    return { shape, head: await sink.finish(), statistics };
  } catch (error) {
    sink.abort();
    throw error;
  }
}

/** A wrong block would put rows in the wrong place without a trace. */
function checkBlock({ firstRow, rowCount, bytes }: RowBlock, expectedRow: number, asked: number, rowBytes: number): void {
  if (firstRow !== expectedRow || !(rowCount >= 1 && rowCount <= asked) || bytes.length !== rowCount * rowBytes) {
    throw new RangeError(`"block" expected 1..${asked} rows of ${rowBytes} bytes from ${expectedRow} on, got ${rowCount} rows, ${bytes.length} bytes from ${firstRow} on`);
  }
}
