/**
 * The digest that names hidden states or logits by their values, as docs/receipts.md defines it: SHA-256 of the values as f32,
 * little-endian, row-major, each NaN as 7fc00000. File name, byte order, order of storage and width of 16-bit floats do not matter.
 */
import { widen, type Matrix } from "../matrix.js";

const NAN = 0x7fc00000;
const MAGNITUDE = 0x7fffffff;
const INFINITY = 0x7f800000;
/** Values that Web Crypto takes in one piece on every runtime: 2 GiB of f32. */
const VALUES_LIMIT = 2 ** 29;

/** @throws RangeError for more than 2^29 values, Error where there is no Web Crypto */
export async function valuesDigest(matrix: Pick<Matrix, "data" | "dtype">): Promise<string> {
  if (matrix.data.length >= VALUES_LIMIT) throw new RangeError(`"values" expected fewer than 2^29 for a digest, got ${matrix.data.length}`);
  if (globalThis.crypto?.subtle === undefined) throw new Error('"crypto.subtle" expected Web Crypto for a digest, got none: pages need https or localhost');
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", unshared(withOneNaN(widen(matrix)))));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The values themselves where none is a NaN, else a copy. By their bits: engines may change a NaN that they pass on as a number. */
function withOneNaN(values: Float32Array): Float32Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  if (!bits.some(isNaNBits)) return values;
  return new Float32Array(bits.map((word) => (isNaNBits(word) ? NAN : word)).buffer);
}

/** Web Crypto refuses memory that other threads may write to. */
function unshared(values: Float32Array): Float32Array<ArrayBuffer> {
  return values.buffer instanceof ArrayBuffer ? (values as Float32Array<ArrayBuffer>) : values.slice();
}

function isNaNBits(word: number): boolean {
  return (word & MAGNITUDE) > INFINITY;
}
