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
export function evens<T>(octet: v128, weights: usize, mask: v128): v128 {
  if (isFloat<T>()) {
    if (sizeof<T>() == 8) return v128.load(weights);
    return v128.shuffle<f32>(v128.load(weights), v128.load(weights, 16), 0, 2, 4, 6);
  }
  const upper = i32x4.shl(octet, 16);
  if (sizeof<T>() == 1) return f32x4.convert_i32x4_s(i32x4.shr_s(upper, 16));
  return isSigned<T>() ? v128.and(i32x4.shr_s(upper, 3), mask) : upper;
}

/** Columns 1, 3, 5, 7. */
// @ts-ignore: decorator
@inline
export function odds<T>(octet: v128, weights: usize, mask: v128): v128 {
  if (isFloat<T>()) {
    if (sizeof<T>() == 8) return v128.load(weights, 16);
    return v128.shuffle<f32>(v128.load(weights), v128.load(weights, 16), 1, 3, 5, 7);
  }
  if (sizeof<T>() == 1) return f32x4.convert_i32x4_s(i32x4.shr_s(octet, 16));
  return v128.and(isSigned<T>() ? i32x4.shr_s(octet, 3) : octet, mask);
}

/**
 * The bits that the odd columns keep. A bf16 is the upper half of an f32. An f16, moved to f32's fields, keeps sign, 5 of
 * the 8 exponent bits and the fraction. So moved it reads as its value times 2^-112, subnormals included, and the hidden
 * state is stored times F16_SCALE = 2^112 to make up for it: 65504 * 2^112 is still finite, and the product of the two is
 * the exact product of both f16. In memory, because V8 builds a constant vector anew at every use, but keeps a loaded one.
 */
const BF16_MASK = memory.data<u32>([0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000]);
const F16_MASK = memory.data<u32>([0x8fffe000, 0x8fffe000, 0x8fffe000, 0x8fffe000]);

// @ts-ignore: decorator
@inline
export function loadMask<T>(): v128 {
  if (isFloat<T>() || sizeof<T>() != 2) return i32x4.splat(0);
  return v128.load(isSigned<T>() ? F16_MASK : BF16_MASK);
}

/** 2^112 */
export const F16_SCALE_BITS: u32 = 239 << 23;

/** Decodes `blocks` blocks of 32 columns into a panel row. */
export function decodeRow<T>(weights: usize, blocks: u32, panel: usize): void {
  const mask = loadMask<T>();
  for (const end = panel + (usize(blocks) << 7); panel < end; panel += 32) {
    const octet = loadOctet<T>(weights);
    v128.store(panel, evens<T>(octet, weights, mask));
    v128.store(panel, odds<T>(octet, weights, mask), 16);
    weights += octetBytes<T>();
  }
}
