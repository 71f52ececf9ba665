/**
 * The floating-point formats of a head, by their bits (docs/spec.md, "Numbers").
 * Decoding and rounding use integers only: hardware that flushes subnormals cannot change a bit.
 */
import { CANON_EXPONENT_BF16, CANON_EXPONENT_F32 } from "./constants.js";

const f32View = new Float32Array(1);
const bitsView = new Uint32Array(f32View.buffer);

export function f32FromBits(bits: number): number {
  bitsView[0] = bits;
  return f32View[0]!;
}

/** The bits of value rounded to f32, nearest even. */
export function bitsFromF32(value: number): number {
  f32View[0] = value;
  return bitsView[0]!;
}

/** bf16 is the upper half of an f32. */
export function bf16ToF32Bits(bits: number): number {
  return (bits << 16) >>> 0;
}

/** f16 (1 sign, 5 exponent, 10 fraction bits) widened exactly; a subnormal is normalised by shifting. */
export function f16ToF32Bits(bits: number): number {
  const sign = (bits & 0x8000) << 16;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return (sign | 0x7f800000 | (fraction << 13)) >>> 0;
  if (exponent !== 0) return (sign | ((exponent + 112) << 23) | (fraction << 13)) >>> 0;
  if (fraction === 0) return sign >>> 0;
  const shift = Math.clz32(fraction) - 21;
  return (sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13)) >>> 0;
}

/** Rounds f32 bits to bf16 bits, nearest even; past the largest finite value comes infinity, NaN stays NaN. */
export function f32BitsToBf16(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return ((bits >>> 16) | 0x40) & 0xffff;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Rounds f32 bits to f16 bits, nearest even; |x| >= 65520 becomes infinity, below 2^-24 - tie it becomes zero. */
export function f32BitsToF16(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  const exponent = magnitude >>> 23;
  if (exponent >= 113) {
    return sign | roundShift(magnitude - (112 << 23), 13);
  }
  // The result is subnormal: its unit is 2^-24, so shift the whole significand there.
  const shift = 126 - exponent;
  return shift > 24 ? sign : sign | roundShift((magnitude & 0x7fffff) | 0x800000, shift);
}

/** value / 2^shift rounded to nearest, ties to even; 1 <= shift <= 24. */
function roundShift(value: number, shift: number): number {
  const half = 1 << (shift - 1);
  return (value + half - 1 + ((value >>> shift) & 1)) >>> shift;
}

/** CANON for bf16 operands, on f32 bits: anything below 2^-56 reads as +0. */
export function canonBf16(bits: number): number {
  return ((bits >>> 23) & 255) < CANON_EXPONENT_BF16 ? 0 : bits;
}

/** CANON for both operands of an f32 head, on f32 bits: anything below 2^-40 reads as +0. */
export function canonF32(bits: number): number {
  return ((bits >>> 23) & 255) < CANON_EXPONENT_F32 ? 0 : bits;
}
