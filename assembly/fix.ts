/**
 * From a logit to Z, Q31.32 (docs/spec.md, "Scores"). Twin of fix in src/spec/score.ts and scaledSum in src/spec/logit.ts.
 * NaN and +inf never come here: the caller has refused their row.
 */
import { FIX_CLAMP_EXPONENT, FIX_LEFT_EXPONENT, INT8_EXPONENT_OFFSET, Z_LIMIT_BITS } from "../src/spec/constants";

/** Z of a token that must not be drawn: below every score. */
export const MASK: i64 = i64.MIN_VALUE;
const Z_LIMIT: i64 = (<i64>1) << i64(Z_LIMIT_BITS);

// @ts-ignore: decorator
@inline
function clampZ(z: i64): i64 {
  return max(min(z, Z_LIMIT), -Z_LIMIT);
}

// @ts-ignore: decorator
@inline
function significand(bits: u32): u64 {
  return u64((bits & 0x7fffff) | 0x800000);
}

// @ts-ignore: decorator
@inline
function withSign(magnitude: i64, bits: u32): i64 {
  return i32(bits) < 0 ? -magnitude : magnitude;
}

/** A logit as Q31.32, truncated toward zero; -inf is MASK. */
export function fix(logit: f32): i64 {
  const bits = reinterpret<u32>(logit);
  const exponent = (bits >>> 23) & 255;
  if (exponent == 255) return MASK;
  if (exponent == 0) return 0;
  let magnitude: i64;
  if (exponent >= u32(FIX_CLAMP_EXPONENT)) magnitude = Z_LIMIT;
  else if (exponent >= u32(FIX_LEFT_EXPONENT)) magnitude = significand(bits) << u64(exponent - u32(FIX_LEFT_EXPONENT));
  else magnitude = significand(bits) >>> u64(min<u32>(u32(FIX_LEFT_EXPONENT) - exponent, 63));
  return withSign(magnitude, bits);
}

/** sum * scale in Q31.32, truncated toward zero and clamped: an exact product of two 24-bit significands. */
// @ts-ignore: decorator
@inline
function scaledSum(sum: f32, scale: f32): i64 {
  if (sum == 0) return 0;
  const sumBits = reinterpret<u32>(sum);
  const scaleBits = reinterpret<u32>(scale);
  const product = significand(sumBits) * significand(scaleBits);
  const shift = i32((sumBits >>> 23) & 255) + i32((scaleBits >>> 23) & 255) - INT8_EXPONENT_OFFSET;
  let magnitude: i64;
  // The product has 47 or 48 bits: from 16 on a left shift passes 2^62, from 48 on a right shift leaves nothing.
  if (shift >= 16) magnitude = Z_LIMIT;
  else if (shift >= 0) magnitude = min(product << u64(shift), u64(Z_LIMIT));
  else magnitude = product >>> u64(min(-shift, 63));
  return withSign(magnitude, sumBits);
}

/** Z after one more group of columns: both terms lie within +-2^62, so halves cannot overflow where the sum could. */
export function addGroup(z: i64, sum: f32, scale: f32): i64 {
  const term = scaledSum(sum, scale);
  if (z > 0 && term > Z_LIMIT - z) return Z_LIMIT;
  if (z < 0 && term < -Z_LIMIT - z) return -Z_LIMIT;
  return z + term;
}
