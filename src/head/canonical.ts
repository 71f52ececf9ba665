/**
 * Rows of a head in canonical form: finite, and with CANON applied (docs/spec.md, "Logits"): bf16 below 2^-56 and f32 below
 * 2^-40 become +0 in place; f16 and int8 stay as they are. Measures each row on the way.
 * These loops see every weight of a head, so they work on bits and tables and allocate nothing per weight.
 */
import { DTYPE_BYTES, type Dtype, type RowStatistics } from "../backend.js";
import { CANON_EXPONENT_BF16, CANON_EXPONENT_F32 } from "../spec/constants.js";
import { bf16ToF32Bits, bitsFromF32, f16ToF32Bits, f32FromBits } from "../spec/float.js";

/** Weights as their bits; int8 as numbers. */
type Weights = Uint16Array | Uint32Array | Int8Array;

/** What a row loop leaves behind. */
interface Measured {
  /** Bits of the largest magnitude; int8: the magnitude itself. */
  largest: number;
  sumOfSquares: number;
}

interface Format {
  readonly view: (buffer: ArrayBufferLike, offset: number, length: number) => Weights;
  readonly prepareRow: (weights: Weights, start: number, end: number, measured: Measured) => void;
  /** Magnitudes from here on are infinities and NaN. */
  readonly notFinite: number;
  readonly toF32Bits: (bits: number) => number;
}

/**
 * Checks, canonicalises and measures rowCount rows in place.
 * @param bytes rowCount * hiddenSize weights, row-major, little-endian, from an offset that is a multiple of a weight's size
 * @param firstRow number of the first row in the head, for messages
 * @throws RangeError that names the first row and column with an infinity or NaN
 */
export function prepareRows(dtype: Dtype, bytes: Uint8Array, rowCount: number, hiddenSize: number, firstRow: number): RowStatistics {
  const size = DTYPE_BYTES[dtype];
  if (bytes.length !== rowCount * hiddenSize * size) throw new RangeError(`"bytes" expected ${rowCount * hiddenSize * size} bytes, got ${bytes.length}`);
  if (bytes.byteOffset % size !== 0) throw new RangeError(`"bytes" expected an offset that is a multiple of ${size}, got ${bytes.byteOffset}`);
  const format = formatOf(dtype);
  const weights = format.view(bytes.buffer, bytes.byteOffset, rowCount * hiddenSize);
  const norms = new Float32Array(rowCount);
  const largest = new Float32Array(rowCount);
  const measured: Measured = { largest: 0, sumOfSquares: 0 };
  for (let row = 0; row < rowCount; row++) {
    const start = row * hiddenSize;
    format.prepareRow(weights, start, start + hiddenSize, measured);
    if (measured.largest >= format.notFinite) refuseRow(format, weights.subarray(start, start + hiddenSize), firstRow + row);
    norms[row] = normUpperBound(measured.sumOfSquares, hiddenSize);
    largest[row] = f32FromBits(format.toF32Bits(measured.largest));
  }
  return { norms, largest };
}

function refuseRow(format: Format, row: Weights, rowNumber: number): never {
  const column = row.findIndex((bits) => !Number.isFinite(f32FromBits(format.toF32Bits(bits))));
  throw notFinite(f32FromBits(format.toF32Bits(row[column]!)), rowNumber, column);
}

/** The error for a weight that is infinite or NaN. */
export function notFinite(value: number, row: number, column: number): RangeError {
  return new RangeError(`"weights" expected finite numbers, got ${value} at row ${row}, column ${column}`);
}

/**
 * A bound from above on the norm, tight to about one f32 step: the squares are exact, each of the at most D sums and the root
 * err by 2^-53 relatively, which the factor more than covers, and the step to f32 rounds up: to infinity past the largest f32.
 */
function normUpperBound(sumOfSquares: number, hiddenSize: number): number {
  const bound = Math.sqrt(sumOfSquares) * (1 + (hiddenSize + 4) * 2 ** -52);
  const rounded = Math.fround(bound);
  return rounded >= bound ? rounded : f32FromBits(bitsFromF32(rounded) + 1);
}

// 256 KiB each, made on first use; the entries that real weights hit fit a first-level cache.
const tables = new Map<Dtype, Float64Array>();

/** The exact square of each 16-bit magnitude; 0 where CANON reads 0. */
function squaresOf(dtype: Dtype, toF32Bits: (bits: number) => number, canonBelow: number): Float64Array {
  let table = tables.get(dtype);
  if (table === undefined) {
    table = Float64Array.from({ length: 0x8000 }, (_, bits) => (bits < canonBelow ? 0 : f32FromBits(toF32Bits(bits)) ** 2));
    tables.set(dtype, table);
  }
  return table;
}

function formatOf(dtype: Dtype): Format {
  switch (dtype) {
    case "bf16": {
      const canonBelow = CANON_EXPONENT_BF16 << 7;
      return halfFormat(bf16ToF32Bits, 0x7f80, squaresOf(dtype, bf16ToF32Bits, canonBelow), canonBelow);
    }
    case "f16":
      return halfFormat(f16ToF32Bits, 0x7c00, squaresOf(dtype, f16ToF32Bits, 0), 0);
    case "f32":
      return { view: (...range) => new Uint32Array(...range), prepareRow: prepareF32, notFinite: 0x7f800000, toF32Bits: (bits) => bits };
    case "int8":
      return { view: (...range) => new Int8Array(...range), prepareRow: measureInt8, notFinite: Infinity, toF32Bits: bitsFromF32 };
  }
}

function halfFormat(toF32Bits: (bits: number) => number, notFinite: number, squares: Float64Array, canonBelow: number): Format {
  return {
    view: (...range) => new Uint16Array(...range),
    prepareRow: (weights, start, end, measured) => prepareHalves(weights as Uint16Array, start, end, measured, squares, canonBelow),
    notFinite,
    toF32Bits,
  };
}

/** bf16 and f16. Two sums, because each addition waits for the one before it. */
function prepareHalves(words: Uint16Array, start: number, end: number, measured: Measured, squares: Float64Array, canonBelow: number): void {
  let largest = 0;
  let even = 0;
  let odd = 0;
  let at = start;
  for (; at < end - 1; at += 2) {
    const first = words[at]! & 0x7fff;
    const second = words[at + 1]! & 0x7fff;
    if (first < canonBelow) words[at] = 0;
    if (second < canonBelow) words[at + 1] = 0;
    if (first > largest) largest = first;
    if (second > largest) largest = second;
    even += squares[first]!;
    odd += squares[second]!;
  }
  if (at < end) {
    const last = words[at]! & 0x7fff;
    if (last < canonBelow) words[at] = 0;
    if (last > largest) largest = last;
    even += squares[last]!;
  }
  measured.largest = largest < canonBelow ? 0 : largest;
  measured.sumOfSquares = even + odd;
}

function prepareF32(words: Weights, start: number, end: number, measured: Measured): void {
  const canonBelow = CANON_EXPONENT_F32 << 23;
  const values = new Float32Array(words.buffer, words.byteOffset, words.length);
  let largest = 0;
  let sum = 0;
  for (let at = start; at < end; at++) {
    const magnitude = words[at]! & 0x7fffffff;
    if (magnitude < canonBelow) words[at] = 0;
    if (magnitude > largest) largest = magnitude;
    sum += values[at]! * values[at]!;
  }
  measured.largest = largest < canonBelow ? 0 : largest;
  measured.sumOfSquares = sum;
}

/** Squares up to 2^14: the sum of 2^16 of them still is a 32-bit integer. */
const INT8_CHUNK = 1 << 16;

function measureInt8(weights: Weights, start: number, end: number, measured: Measured): void {
  let largestSquare = 0;
  let sum = 0;
  for (let from = start; from < end; from += INT8_CHUNK) {
    const to = Math.min(end, from + INT8_CHUNK);
    let chunkSum = 0;
    for (let at = from; at < to; at++) {
      const square = Math.imul(weights[at]!, weights[at]!);
      if (square > largestSquare) largestSquare = square;
      chunkSum = (chunkSum + square) | 0;
    }
    sum += chunkSum;
  }
  measured.largest = Math.sqrt(largestSquare);
  measured.sumOfSquares = sum;
}
