/**
 * Weights as f32 lanes, an octet (eight columns) at a time: its even columns, then its odd ones, because either half of
 * a bf16 pair then costs one operation. T names the stored format; hidden states and partial sums keep this lane order.
 * The odd columns are the even ones of the octet that begins one column later, if a read past the octet is no harm.
 */

// The stored formats, told apart by a plain type each. Panel: rows decoded before, evens then odds of each octet.
export type Bf16 = u16;
export type F16 = i16;
export type Int8 = i8;
export type Panel = f64;

/** Bytes of an octet. */
// @ts-ignore: decorator
@inline
export function octetBytes<T>(): usize {
  return isFloat<T>() ? 32 : 8 * sizeof<T>();
}

/** Bytes from the even columns of an octet to its odd ones. */
// @ts-ignore: decorator
@inline
export function oddOffset<T>(): usize {
  return isFloat<T>() && sizeof<T>() == 8 ? 16 : sizeof<T>();
}

/** What evens and odds of a narrow format share: one load. Wide formats load for themselves. */
// @ts-ignore: decorator
@inline
export function loadOctet<T>(weights: usize): v128 {
  if (isFloat<T>()) return i32x4.splat(0);
  return sizeof<T>() == 1 ? v128.load8x8_s(weights) : v128.load(weights);
}

/** Columns 0, 2, 4, 6. */
// @ts-ignore: decorator
@inline
export function evens<T>(octet: v128, weights: usize, f16Bits: v128): v128 {
  if (isFloat<T>()) {
    if (sizeof<T>() == 8) return v128.load(weights);
    return v128.shuffle<f32>(v128.load(weights), v128.load(weights, 16), 0, 2, 4, 6);
  }
  const upper = i32x4.shl(octet, 16);
  if (sizeof<T>() == 1) return f32x4.convert_i32x4_s(i32x4.shr_s(upper, 16));
  return isSigned<T>() ? v128.and(i32x4.shr_s(upper, 3), f16Bits) : upper;
}

/** Columns 1, 3, 5, 7. The blend with zero stands for a mask, which V8 would build anew at every use. */
// @ts-ignore: decorator
@inline
export function odds<T>(octet: v128, weights: usize, f16Bits: v128): v128 {
  if (isFloat<T>()) {
    if (sizeof<T>() == 8) return v128.load(weights, 16);
    return v128.shuffle<f32>(v128.load(weights), v128.load(weights, 16), 1, 3, 5, 7);
  }
  if (sizeof<T>() == 1) return f32x4.convert_i32x4_s(i32x4.shr_s(octet, 16));
  if (isSigned<T>()) return v128.and(i32x4.shr_s(octet, 3), f16Bits);
  return v128.shuffle<i16>(octet, i32x4.splat(0), 8, 1, 10, 3, 12, 5, 14, 7);
}

/**
 * The bits that an f16, moved to f32's fields, keeps: sign, 5 of the 8 exponent bits, fraction. So moved it reads as its
 * value times 2^-112, subnormals included, and the hidden state is stored times F16_SCALE = 2^112 to make up for it:
 * 65504 * 2^112 is still finite, and the product of the two is the exact product of both f16. In memory, because V8
 * builds a constant vector anew at every use, but keeps a loaded one.
 */
const F16_BITS = memory.data<u32>([0x8fffe000, 0x8fffe000, 0x8fffe000, 0x8fffe000]);

// @ts-ignore: decorator
@inline
export function loadF16Bits<T>(): v128 {
  if (isFloat<T>() || sizeof<T>() != 2 || !isSigned<T>()) return i32x4.splat(0);
  return v128.load(F16_BITS);
}

/** 2^112 */
export const F16_SCALE_BITS: u32 = 239 << 23;

/** Decodes `blocks` blocks of 32 columns into a panel row. */
export function decodeRow<T>(weights: usize, blocks: u32, panel: usize): void {
  const f16Bits = loadF16Bits<T>();
  for (const end = panel + (usize(blocks) << 7); panel < end; panel += 32) {
    const octet = loadOctet<T>(weights);
    v128.store(panel, evens<T>(octet, weights, f16Bits));
    v128.store(panel, odds<T>(octet, weights, f16Bits), 16);
    weights += octetBytes<T>();
  }
}
