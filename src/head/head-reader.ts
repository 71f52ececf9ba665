/** Rows of a head, from a file or from memory, behind one interface. All that a head's shape can get wrong is refused here. */
import type { Dtype, HeadShape } from "../backend.js";
import { DTYPE_BYTES } from "../backend.js";
import { findHead } from "./find.js";
import { checkScales, groupSizeOf, readScales, type ScalesLocation } from "./scales.js";
import type { ByteSource } from "./source.js";
import { openTensors, type TensorFile } from "./tensor-file.js";

/** Weights in memory: row-major [V, D]. */
export interface HeadArray {
  /** bf16, f16: Uint16Array of bits (f16 also Float16Array); f32: Float32Array; int8: Int8Array. Never written to. */
  readonly data: ArrayBufferView;
  readonly dtype: Dtype;
  /** [V, D] */
  readonly shape: readonly number[];
  /** int8: f32 [V * (D / groupSize)], positive and normal. The group size follows from the length. */
  readonly scales?: Float32Array;
}

export interface HeadReader {
  readonly shape: HeadShape;
  readonly scales: Float32Array | null;
  /** Fills target with the weights of whole rows, from firstRow on. */
  readRows(firstRow: number, target: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** Closes what was opened here. */
  close(): Promise<void>;
}

/** Tokens are 32-bit numbers with sign. */
const VOCAB_LIMIT = 2 ** 31 - 1;
/** A row of any dtype fits 4 MiB. Real models are below 2^15. */
const HIDDEN_LIMIT = 2 ** 20;

const STORED_DTYPES: Readonly<Record<string, Dtype>> = { BF16: "bf16", F16: "f16", F32: "f32", I8: "int8" };

/**
 * Finds the head in a file: see findHead and readScales.
 * @throws RangeError when the file is out of order or holds no head that can be used
 */
export async function readHead(source: ByteSource, tensor?: string, scales?: ScalesLocation, signal?: AbortSignal): Promise<HeadReader> {
  const file = await openTensors(source, signal);
  try {
    return await readHeadOf(file, tensor, scales, signal);
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readHeadOf(file: TensorFile, tensor?: string, where?: ScalesLocation, signal?: AbortSignal): Promise<HeadReader> {
  const weights = await findHead(file, tensor, signal);
  const dtype = STORED_DTYPES[weights.dtype];
  if (dtype === undefined) throw new RangeError(`"${file.name}" expected BF16, F16, F32 or I8 for ${weights.name}, got ${weights.dtype}`);
  const [vocabSize, hiddenSize] = checkMatrix(weights.shape, weights.name);
  if (dtype !== "int8" && where !== undefined) throw new RangeError(`"scales" expected weights of dtype I8, got ${weights.dtype}`);
  const scales = dtype === "int8" ? await readScales(file, weights, where, signal) : null;
  const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
  return {
    shape: { dtype, vocabSize, hiddenSize, groupSize: scales?.groupSize ?? 0 },
    scales: scales?.values ?? null,
    readRows: (firstRow, target, signal) => weights.source.read(weights.offset + firstRow * rowBytes, target, signal),
    close: () => file.close(),
  };
}

const ARRAY_KINDS: Readonly<Record<Dtype, readonly string[]>> = {
  bf16: ["Uint16Array"],
  f16: ["Uint16Array", "Float16Array"],
  f32: ["Float32Array"],
  int8: ["Int8Array"],
};

/**
 * Weights in memory.
 * @throws TypeError for a kind of array that does not belong to the dtype; RangeError for lengths that do not match
 */
export function arrayHead(array: HeadArray): HeadReader {
  const { data, dtype, shape } = array;
  if (!Object.hasOwn(ARRAY_KINDS, dtype)) throw new RangeError(`"weights.dtype" expected bf16, f16, f32 or int8, got ${String(dtype)}`);
  const kind = Object.prototype.toString.call(data).slice(8, -1);
  if (!ARRAY_KINDS[dtype].includes(kind)) throw new TypeError(`"weights.data" expected ${ARRAY_KINDS[dtype].join(" or ")} for ${dtype}, got ${kind}`);
  if (!Array.isArray(shape)) throw new TypeError(`"weights.shape" expected an array [V, D], got ${typeof shape}`);
  const [vocabSize, hiddenSize] = checkMatrix(shape, "weights");
  const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length !== vocabSize * rowBytes) {
    throw new RangeError(`"weights.data" expected ${vocabSize} * ${hiddenSize} weights, got ${bytes.length / DTYPE_BYTES[dtype]}`);
  }
  const groupSize = dtype === "int8" ? checkArrayScales(array.scales, vocabSize, hiddenSize) : 0;
  if (dtype !== "int8" && array.scales !== undefined) throw new RangeError(`"weights.scales" expected only with int8, got them with ${dtype}`);
  return {
    shape: { dtype, vocabSize, hiddenSize, groupSize },
    scales: array.scales ?? null,
    async readRows(firstRow, target, signal) {
      signal?.throwIfAborted();
      target.set(bytes.subarray(firstRow * rowBytes, firstRow * rowBytes + target.length));
    },
    async close() {},
  };
}

function checkArrayScales(scales: Float32Array | undefined, vocabSize: number, hiddenSize: number): number {
  if (!(scales instanceof Float32Array)) throw new TypeError(`"weights.scales" expected a Float32Array for int8, got ${typeof scales}`);
  const groups = scales.length / vocabSize;
  if (!Number.isInteger(groups) || groups < 1) throw new RangeError(`"weights.scales" expected a multiple of ${vocabSize} scales, got ${scales.length}`);
  const groupSize = groupSizeOf(hiddenSize, groups);
  checkScales(scales, groups);
  return groupSize;
}

function checkMatrix(shape: readonly number[], name: string): [vocabSize: number, hiddenSize: number] {
  const [vocabSize, hiddenSize] = shape;
  const isMatrix = shape.length === 2 && isSize(vocabSize, VOCAB_LIMIT) && isSize(hiddenSize, HIDDEN_LIMIT);
  if (isMatrix) return [vocabSize!, hiddenSize!];
  throw new RangeError(`"${name}" expected shape [V, D] with 1 <= V < 2^31 and 1 <= D <= 2^20, got [${shape.join(", ")}]`);
}

function isSize(size: number | undefined, limit: number): boolean {
  return Number.isInteger(size) && size! >= 1 && size! <= limit;
}
