/** Rows of a head, from a file or from memory, behind one interface. All that a head's shape can get wrong is refused here. */
import type { Dtype, HeadShape } from "../backend.js";
import { describe, labelText, nameText } from "../describe.js";
import { DTYPE_BYTES } from "../backend.js";
import { ownBytes, ownView, typedArrayKind } from "../typed-arrays.js";
import { findHead } from "./find.js";
import { checkScales, groupSizeOf, readScales, type ScalesLocation } from "./scales.js";
import type { ByteSource } from "./source.js";
import { openTensors, type TensorFile } from "./tensor-file.js";

/** Weights in memory: row-major [V, D]. Never written to. */
export type HeadArray = {
  /** [V, D] */
  readonly shape: readonly [vocabSize: number, hiddenSize: number];
} & (
  | {
      /** Their bits; f16 also as a Float16Array. */
      readonly data: Uint16Array | Float16ArrayLike;
      readonly dtype: "bf16" | "f16";
      readonly scales?: undefined;
    }
  | { readonly data: Float32Array; readonly dtype: "f32"; readonly scales?: undefined }
  | {
      readonly data: Int8Array;
      readonly dtype: "int8";
      /** f32 [V * (D / G)], positive and normal. G, the columns that share a scale, follows from the length. */
      readonly scales: Float32Array;
    }
);

/** A Float16Array, which the language level of these types does not know yet. */
interface Float16ArrayLike extends ArrayBufferView {
  readonly [Symbol.toStringTag]: "Float16Array";
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

const STORED_DTYPES: ReadonlyMap<string, Dtype> = new Map([["BF16", "bf16"], ["F16", "f16"], ["F32", "f32"], ["I8", "int8"]]);

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
  const dtype = STORED_DTYPES.get(weights.dtype);
  if (dtype === undefined) throw new RangeError(`"${file.name}" expected BF16, F16, F32 or I8 for ${nameText(weights.name)}, got ${nameText(weights.dtype)}`);
  const [vocabSize, hiddenSize] = checkShape(weights.shape, labelText(weights.name));
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
  if (typeof dtype !== "string" || !Object.hasOwn(ARRAY_KINDS, dtype)) throw new RangeError(`"weights.dtype" expected bf16, f16, f32 or int8, got ${describe(dtype)}`);
  const kind = typedArrayKind(data);
  if (kind === undefined || !ARRAY_KINDS[dtype].includes(kind)) {
    throw new TypeError(`"weights.data" expected ${ARRAY_KINDS[dtype].join(" or ")} for ${dtype}, got ${describe(data)}`);
  }
  if (!Array.isArray(shape)) throw new TypeError(`"weights.shape" expected an array [V, D], got ${describe(shape)}`);
  const [vocabSize, hiddenSize] = checkShape(shape, "weights");
  const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
  const bytes = ownBytes(data);
  if (bytes.length !== vocabSize * rowBytes) {
    throw new RangeError(`"weights.data" expected ${vocabSize} * ${hiddenSize} weights, got ${bytes.length / DTYPE_BYTES[dtype]}`);
  }
  const { values: scales, groupSize } = checkScalesOf(dtype, array.scales, vocabSize, hiddenSize);
  return {
    shape: { dtype, vocabSize, hiddenSize, groupSize },
    scales,
    async readRows(firstRow, target, signal) {
      signal?.throwIfAborted();
      const rows = bytes.subarray(firstRow * rowBytes, firstRow * rowBytes + target.length);
      // A buffer that was resized or transferred meanwhile gives fewer bytes.
      if (rows.length !== target.length) throw new RangeError(`"weights.data" expected to stay as it was while it is loaded, got less of it at row ${firstRow}`);
      target.set(rows);
    },
    async close() {},
  };
}

/**
 * The scales in memory that belong to a head of the dtype: a copy, or null unless it is int8.
 * @throws TypeError, RangeError for scales that are missing, too many or out of range
 */
export function checkScalesOf(dtype: Dtype, given: unknown, vocabSize: number, hiddenSize: number): { values: Float32Array | null; groupSize: number } {
  if (dtype !== "int8" && given !== undefined) throw new RangeError(`"weights.scales" expected only with int8, got them with ${dtype}`);
  if (dtype !== "int8") return { values: null, groupSize: 0 };
  const values = copyScales(given);
  return { values, groupSize: checkArrayScales(values, vocabSize, hiddenSize) };
}

/** A copy: the digest, the backend and the check must all see the same scales. */
function copyScales(scales: unknown): Float32Array {
  if (typedArrayKind(scales) !== "Float32Array") throw new TypeError(`"weights.scales" expected a Float32Array for int8, got ${describe(scales)}`);
  return ownView(scales, Float32Array).slice();
}

function checkArrayScales(scales: Float32Array, vocabSize: number, hiddenSize: number): number {
  const groups = scales.length / vocabSize;
  if (!Number.isInteger(groups) || groups < 1) throw new RangeError(`"weights.scales" expected a multiple of ${vocabSize} scales, got ${scales.length}`);
  const groupSize = groupSizeOf(hiddenSize, groups);
  checkScales(scales, groups);
  return groupSize;
}

/** @throws RangeError unless it is [V, D] with sizes that a head can have */
export function checkShape(shape: readonly number[], name: string): [vocabSize: number, hiddenSize: number] {
  const [vocabSize, hiddenSize] = shape;
  const isMatrix = shape.length === 2 && isSize(vocabSize, VOCAB_LIMIT) && isSize(hiddenSize, HIDDEN_LIMIT);
  if (isMatrix) return [vocabSize!, hiddenSize!];
  const shown = shape.length > SHOWN_SIZES ? `${shape.length} sizes` : `[${shape.map(describe).join(", ")}]`;
  throw new RangeError(`"${name}" expected shape [V, D] with 1 <= V < 2^31 and 1 <= D <= 2^20, got ${shown}`);
}

const SHOWN_SIZES = 8;

function isSize(size: number | undefined, limit: number): boolean {
  return Number.isInteger(size) && size! >= 1 && size! <= limit;
}
