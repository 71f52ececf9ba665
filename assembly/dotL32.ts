import { Bf16, F16, Int8, decodeEven, decodeOdd } from "./decode";

@inline
function accumulate(sum: v128, weight: v128, hidden: v128): v128 {
  return f32x4.add(sum, f32x4.mul(weight, hidden));
}

export function dotL32<T>(weights: usize, hidden: usize, blocks: u32): f32 {
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  for (const end = hidden + (blocks << 7); hidden < end; hidden += 128) {
    a0 = accumulate(a0, decodeEven<T>(weights), v128.load(hidden));
    a1 = accumulate(a1, decodeOdd<T>(weights), v128.load(hidden, 16));
    a2 = accumulate(a2, decodeEven<T>(weights + 8 * sizeof<T>()), v128.load(hidden, 32));
    a3 = accumulate(a3, decodeOdd<T>(weights + 8 * sizeof<T>()), v128.load(hidden, 48));
    a4 = accumulate(a4, decodeEven<T>(weights + 16 * sizeof<T>()), v128.load(hidden, 64));
    a5 = accumulate(a5, decodeOdd<T>(weights + 16 * sizeof<T>()), v128.load(hidden, 80));
    a6 = accumulate(a6, decodeEven<T>(weights + 24 * sizeof<T>()), v128.load(hidden, 96));
    a7 = accumulate(a7, decodeOdd<T>(weights + 24 * sizeof<T>()), v128.load(hidden, 112));
    weights += 32 * sizeof<T>();
  }
  return tree(f32x4.add(a0, a1), f32x4.add(a2, a3), f32x4.add(a4, a5), f32x4.add(a6, a7));
}

@inline
function pairs(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7));
}

function tree(a: v128, b: v128, c: v128, d: v128): f32 {
  const four = pairs(pairs(a, b), pairs(c, d));
  const two = pairs(four, four);
  return f32x4.extract_lane(two, 0) + f32x4.extract_lane(two, 1);
}
