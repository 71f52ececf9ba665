/**
 * The sums of NVIDIA's Hopper tensor cores, bit for bit, for bf16 and f16 operands (docs/spec.md, "Hopper tensor cores"). Found by
 * others for their generation (MMA-Sim, arXiv 2511.10909; arXiv 2512.07004). Not the rule's arithmetic: for judging kernels by their own.
 */
import { bitsFromF32, f32BitsToBf16, f32BitsToF16, f32FromBits } from "./float.js";
import { weightRow, type Head, type LogitOf } from "./logit.js";
import { fix } from "./score.js";

export type TensorCoreDtype = "bf16" | "f16";

/** Columns of one step. */
export const TENSOR_CORE_COLUMNS = 16;

/** Fraction bits and exponent bias of the operands. */
const FORMATS = { bf16: { fraction: 7, bias: 127 }, f16: { fraction: 10, bias: 15 } } as const;
/** A term without a significand counts as one of this exponent. */
const ZERO_EXPONENT = -133;
/** Bits of a term behind the point that is the largest exponent's. */
const KEPT_BITS = 25;
const INFINITY_BITS = 0x7f800000;
/** Every NaN that comes out. */
const NAN_BITS = 0x7fffffff;

/** Numbers as the tensor core takes them apart: value = significand * 2^(exponent - fraction bits). */
export interface TensorCoreOperands {
  readonly dtype: TensorCoreDtype;
  /** signed integers */
  readonly significands: Int32Array;
  readonly exponents: Int32Array;
  /** Otherwise the exponents of what is not are above the format's. */
  readonly isFinite: boolean;
}

/** @param bits bf16 or f16 values */
export function tensorCoreOperands(dtype: TensorCoreDtype, bits: Uint16Array): TensorCoreOperands {
  const { fraction, bias } = FORMATS[dtype];
  const significands = new Int32Array(bits.length);
  const exponents = new Int32Array(bits.length);
  bits.forEach((word, index) => {
    const stored = (word & 0x7fff) >>> fraction;
    const magnitude = (word & ((1 << fraction) - 1)) | (stored === 0 ? 0 : 1 << fraction);
    significands[index] = word & 0x8000 ? -magnitude : magnitude;
    exponents[index] = Math.max(stored, 1) - bias;
  });
  return { dtype, significands, exponents, isFinite: exponents.every((exponent) => exponent <= bias) };
}

/** The dot product of two equally long vectors of one format, added to the f32 of the given bits; f32 bits. */
export function tensorCoreDot(weights: TensorCoreOperands, hidden: TensorCoreOperands, addendBits = 0): number {
  const fraction = 2 * FORMATS[weights.dtype].fraction;
  let bits = addendBits;
  for (let column = 0; column < weights.significands.length; column += TENSOR_CORE_COLUMNS) {
    bits = step(weights, hidden, column, fraction, bits);
  }
  return bits;
}

/** Adds 16 products, or those that are left, to the f32 whose bits are given; f32 bits. */
function step(weights: TensorCoreOperands, hidden: TensorCoreOperands, first: number, fraction: number, sumBits: number): number {
  const end = Math.min(first + TENSOR_CORE_COLUMNS, weights.significands.length);
  if (!weights.isFinite || !hidden.isFinite || !isFiniteF32(sumBits)) {
    const notFinite = stepWithoutNumbers(weights, hidden, first, end, sumBits);
    if (notFinite !== null) return notFinite;
  }
  const sumExponentField = (sumBits >>> 23) & 255;
  const sumMagnitude = (sumBits & 0x7fffff) | (sumExponentField === 0 ? 0 : 0x800000);
  const sumExponent = sumMagnitude === 0 ? ZERO_EXPONENT : Math.max(sumExponentField, 1) - 127;
  let largest = sumExponent;
  for (let column = first; column < end; column++) {
    const isZero = weights.significands[column] === 0 || hidden.significands[column] === 0;
    largest = Math.max(largest, isZero ? ZERO_EXPONENT : weights.exponents[column]! + hidden.exponents[column]!);
  }
  // Every term is below 2^28, so that doubles hold the sum exactly.
  let sum = cut(sumBits >>> 31 ? -sumMagnitude : sumMagnitude, KEPT_BITS - 23 - (largest - sumExponent));
  for (let column = first; column < end; column++) {
    const product = weights.significands[column]! * hidden.significands[column]!;
    if (product !== 0) sum += cut(product, KEPT_BITS - fraction - (largest - weights.exponents[column]! - hidden.exponents[column]!));
  }
  return f32Bits(sum, largest - KEPT_BITS);
}

/** The sum of what is not finite in a step, f32 bits; null where all is. */
function stepWithoutNumbers(weights: TensorCoreOperands, hidden: TensorCoreOperands, first: number, end: number, sumBits: number): number | null {
  let sum = isFiniteF32(sumBits) ? 0 : f32FromBits(sumBits);
  for (let column = first; column < end; column++) {
    const product = significandOrNone(weights, column) * significandOrNone(hidden, column);
    if (!Number.isFinite(product)) sum += product;
  }
  if (Number.isNaN(sum)) return NAN_BITS;
  return sum === 0 ? null : bitsFromF32(sum);
}

/** The significand; an infinity or NaN where the operand is one. */
function significandOrNone({ dtype, significands, exponents }: TensorCoreOperands, column: number): number {
  const { fraction, bias } = FORMATS[dtype];
  const significand = significands[column]!;
  if (exponents[column]! <= bias) return significand;
  return Math.abs(significand) === 1 << fraction ? significand * Infinity : NaN;
}

function isFiniteF32(bits: number): boolean {
  return (bits & INFINITY_BITS) !== INFINITY_BITS;
}

/** value * 2^shift toward zero; |value| < 2^33, shift <= 11. */
function cut(value: number, shift: number): number {
  return shift < -40 ? 0 : Math.trunc(value * powerOfTwo(shift));
}

/** 2^exponent by the bits of a double, -1022 <= exponent <= 1023. */
function powerOfTwo(exponent: number): number {
  WORDS[1] = (exponent + 1023) << 20;
  return DOUBLE[0]!;
}
const DOUBLE = new Float64Array(1);
/** Little-endian, as every platform that runs this: the upper word is the second. */
const WORDS = new Int32Array(DOUBLE.buffer);

/** The f32 bits of sum * 2^exponent, cut toward zero, which has no sign; an infinity from 2^128 on. */
function f32Bits(sum: number, exponent: number): number {
  if (sum === 0) return 0;
  const sign = sum < 0 ? 0x80000000 : 0;
  const magnitude = Math.abs(sum); // an integer below 2^33
  const bitLength = magnitude >= 0x100000000 ? 33 : 32 - Math.clz32(magnitude);
  const leading = exponent + bitLength - 1;
  if (leading > 127) return (sign | INFINITY_BITS) >>> 0;
  const unit = Math.max(leading - 23, -149); // exponent of the last bit that is kept
  const kept = Math.trunc(magnitude * powerOfTwo(exponent - unit));
  if (kept === 0) return 0;
  const field = kept >= 0x800000 ? unit + 150 : 0;
  return (sign | (field << 23) | (kept & 0x7fffff)) >>> 0;
}

/** The same as a number. */
export function tensorCoreLogit(weights: TensorCoreOperands, hidden: TensorCoreOperands): number {
  return f32FromBits(tensorCoreDot(weights, hidden));
}

/** Z of one token of a bf16 or f16 head with these sums in place of the order L32, and the f32 logit it came from. */
export function tensorCoreLogitOf(head: Head, hidden: Float32Array, token: number): ReturnType<LogitOf> {
  const dtype = head.dtype as TensorCoreDtype;
  const logitBits = tensorCoreDot(operandsOf(dtype, weightRow(head, token)), operandsOf(dtype, hidden));
  return { z: fix(logitBits).z, logitBits };
}

/** values: numbers of the format. */
function operandsOf(dtype: TensorCoreDtype, values: Float32Array): TensorCoreOperands {
  const encode = dtype === "bf16" ? f32BitsToBf16 : f32BitsToF16;
  return tensorCoreOperands(dtype, Uint16Array.from(values, (value) => encode(bitsFromF32(value))));
}
