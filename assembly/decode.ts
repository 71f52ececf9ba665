/**
 * Weights as f32 lanes, eight columns at a time: the even columns, then the odd ones, because a bf16 pair then costs
 * one shift and nothing more. T names the stored format; hidden states and partial sums follow the same lane order.
 */

// The stored formats, told apart by a plain type each: u16 bf16, i16 f16, f32, i8.
export type Bf16 = u16;
export type F16 = i16;
export type Int8 = i8;

/** Columns 0, 2, 4, 6 of the eight at `weights`. */
// @ts-ignore: decorator
@inline
export function decodeEven<T>(weights: usize): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<f32>(v128.load(weights), v128.load(weights, 16), 0, 2, 4, 6);
  if (sizeof<T>() == 1) return f32x4.convert_i32x4_s(i32x4.shr_s(i32x4.shl(v128.load8x8_s(weights), 16), 16));
  if (isSigned<T>()) return f16ToF32(i32x4.shl(v128.load(weights), 16));
  return i32x4.shl(v128.load(weights), 16);
}

/** Columns 1, 3, 5, 7 of the eight at `weights`. */
// @ts-ignore: decorator
@inline
export function decodeOdd<T>(weights: usize): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<f32>(v128.load(weights), v128.load(weights, 16), 1, 3, 5, 7);
  if (sizeof<T>() == 1) return f32x4.convert_i32x4_s(i32x4.shr_s(v128.load8x8_s(weights), 16));
  if (isSigned<T>()) return f16ToF32(v128.load(weights));
  return v128.and(v128.load(weights), i32x4.splat(0xffff0000));
}

/**
 * Exact f32 of the f16 in the upper half of each lane; finite values only, no arithmetic on f32 subnormals.
 * Rebiased as if it had a hidden bit, a subnormal reads n = (1 + m) 2^-15 and means m 2^-14 = 2n - 2^-14; for every
 * normal 2n - 2^-14 >= n. So the smaller magnitude of the two is right in both cases; same-signed floats order as u32.
 */
// @ts-ignore: decorator
@inline
function f16ToF32(upper: v128): v128 {
  const moved = v128.and(i32x4.shr_s(upper, 3), i32x4.splat(0x8fffe000));
  const normal = i32x4.add(moved, i32x4.splat(112 << 23));
  const smallest = v128.or(v128.and(normal, i32x4.splat(0x80000000)), i32x4.splat(113 << 23));
  const subnormal = f32x4.add(normal, f32x4.sub(normal, smallest));
  return i32x4.min_u(normal, subnormal);
}
