/**
 * Arrays in .npy files: logits and hidden states to read, token ids to read and write.
 * Little- and big-endian, C and Fortran order; the result is always row-major. bf16 is what numpy writes for ml_dtypes: "|V2".
 */
import { widen, type TaggedFloats } from "../matrix.js";
import { readNpyHeader, type NpyHeader } from "./npy-header.js";
import { readBytes, type ByteSource } from "./source.js";

export type FloatArray = TaggedFloats & { readonly shape: readonly number[] };

/** Token ids, or other whole numbers of 32 bits. */
export interface IntegerArray {
  readonly data: Int32Array;
  readonly shape: readonly number[];
}

/** Numbers as a file holds them, in a typed array of their own width. */
export interface StoredArray<Data> {
  readonly data: Data;
  readonly shape: readonly number[];
}

export type StoredIntegers = Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

/**
 * Reads floating-point numbers of any shape. f8 is rounded once to f32, nearest even; NaN and infinities stay as they are.
 * @throws RangeError when the file is not such an array
 */
export async function readNpyFloats(source: ByteSource, signal?: AbortSignal): Promise<FloatArray> {
  const header = await readNpyHeader(source, signal);
  const { shape } = header;
  const kind = header.descr.slice(1);
  if (!["f2", "f4", "f8", "V2"].includes(kind)) throw new RangeError(`"${source.name}" expected f2, f4, f8 or bf16 (V2), got ${header.descr}`);
  const buffer = await readElements(source, header, signal);
  switch (kind) {
    case "f2":
      return { data: new Uint16Array(buffer), dtype: "f16", shape };
    case "V2":
      return { data: new Uint16Array(buffer), dtype: "bf16", shape };
    case "f4":
      return { data: new Float32Array(buffer), dtype: "f32", shape };
    default:
      return { data: Float32Array.from(new Float64Array(buffer)), dtype: "f32", shape };
  }
}

/**
 * Reads f8, f4 or f2 as f64, exactly; NaN and infinities stay as they are.
 * @throws RangeError when the file is not such an array
 */
export async function readNpyDoubles(source: ByteSource, signal?: AbortSignal): Promise<StoredArray<Float64Array>> {
  const header = await readNpyHeader(source, signal);
  if (header.descr.slice(1) === "f8") return { data: new Float64Array(await readElements(source, header, signal)), shape: header.shape };
  const { shape, ...values } = await readNpyFloats(source, signal);
  return { data: Float64Array.from(widen(values)), shape };
}

/** Which element types a reader takes: numpy's type strings without the byte order. */
export interface StoredKinds {
  /** for the message */
  readonly expected: string;
  readonly kinds: readonly string[];
}

const INTEGERS: StoredKinds = { expected: "integers (i1 to i8, u1 to u8)", kinds: ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"] };

/**
 * Reads whole numbers of any width, all of their bits. Truth values (b1), where kinds has them, are 0 and 1.
 * @throws RangeError when the file is not such an array
 */
export async function readNpyStored(source: ByteSource, { expected, kinds } = INTEGERS, signal?: AbortSignal): Promise<StoredArray<StoredIntegers>> {
  const header = await readNpyHeader(source, signal);
  const kind = header.descr.slice(1);
  if (!kinds.includes(kind)) throw new RangeError(`"${source.name}" expected ${expected}, got ${header.descr}`);
  return { data: INTEGER_VIEWS[kind]!(await readElements(source, header, signal)), shape: header.shape };
}

/**
 * Reads whole numbers of any width that fit 32 bits with sign.
 * @throws RangeError when the file is not such an array, or names the first number that does not fit
 */
export async function readNpyIntegers(source: ByteSource, signal?: AbortSignal): Promise<IntegerArray> {
  const { data: values, shape } = await readNpyStored(source, INTEGERS, signal);
  const data = new Int32Array(values.length);
  for (let index = 0; index < data.length; index++) {
    data[index] = Number(values[index]);
    // A bigint equals a number of the same value, and only that.
    if (data[index] != values[index]) throw new RangeError(`"${source.name}" expected integers of 32 bits, got ${values[index]} at index ${index}`);
  }
  return { data, shape };
}

const INTEGER_VIEWS: Readonly<Record<string, (buffer: ArrayBuffer) => StoredIntegers>> = {
  b1: (buffer) => new Uint8Array(buffer),
  i1: (buffer) => new Int8Array(buffer),
  i2: (buffer) => new Int16Array(buffer),
  i4: (buffer) => new Int32Array(buffer),
  i8: (buffer) => new BigInt64Array(buffer),
  u1: (buffer) => new Uint8Array(buffer),
  u2: (buffer) => new Uint16Array(buffer),
  u4: (buffer) => new Uint32Array(buffer),
  u8: (buffer) => new BigUint64Array(buffer),
};

/**
 * The bytes of a .npy file, version 1.0, that holds integers as "<i8", row-major.
 * @throws RangeError when shape does not match the number of integers
 */
export function encodeNpyIntegers(integers: ArrayLike<number>, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  if (shape.reduce((product, size) => product * size, 1) !== integers.length) {
    throw new RangeError(`"shape" expected sizes whose product is ${integers.length}, got (${shape.join(", ")})`);
  }
  const elements = new DataView(new ArrayBuffer(8 * integers.length));
  for (let index = 0; index < integers.length; index++) elements.setBigInt64(8 * index, BigInt(integers[index]!), true);
  return encodeNpy("<i8", shape, new Uint8Array(elements.buffer));
}

/** The bytes of a .npy file, version 1.0. elements: row-major, as descr, numpy's type string, says */
export function encodeNpy(descr: string, shape: readonly number[], elements: Uint8Array): Uint8Array<ArrayBuffer> {
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${tuple}), }`;
  // numpy pads with spaces so that the data starts at a multiple of 64; the last character is a newline.
  const header = `${dict.padEnd(Math.ceil((10 + dict.length + 1) / 64) * 64 - 11)}\n`;
  const bytes = new Uint8Array(10 + header.length + elements.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  new DataView(bytes.buffer).setUint16(8, header.length, true);
  bytes.set(new TextEncoder().encode(header), 10);
  bytes.set(elements, 10 + header.length);
  return bytes;
}

/** The elements as little-endian bytes, row-major. */
async function readElements(source: ByteSource, header: NpyHeader, signal: AbortSignal | undefined): Promise<ArrayBuffer> {
  const bytes = await readBytes(source, header.dataOffset, header.dataLength, signal);
  if (header.descr.startsWith(">")) swapBytes(bytes, header.itemSize);
  return (header.fortranOrder && header.shape.length > 1 ? toRowMajor(bytes, header) : bytes).buffer;
}

function swapBytes(bytes: Uint8Array, itemSize: number): void {
  for (let start = 0; start < bytes.length; start += itemSize) bytes.subarray(start, start + itemSize).reverse();
}

/** In Fortran order the first index runs fastest. Walks the target in row-major order and keeps the source's position. */
function toRowMajor(bytes: Uint8Array<ArrayBuffer>, { shape, itemSize }: NpyHeader): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(bytes.length);
  const strides: number[] = [];
  shape.reduce((stride, size, axis) => ((strides[axis] = stride), stride * size), itemSize);
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < result.length; to += itemSize) {
    for (let byte = 0; byte < itemSize; byte++) result[to + byte] = bytes[from + byte]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return result;
}
