/** The ceiling: reads memory as fast as WebAssembly SIMD can, by three unrollings; the bench takes the best. AssemblyScript. */

/** One stream, four vectors a step. */
export function read1x4(start: usize, bytes: usize): i32 {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (const end = start + bytes; start < end; start += 64) {
    a = v128.xor(a, v128.load(start));
    b = v128.xor(b, v128.load(start, 16));
    c = v128.xor(c, v128.load(start, 32));
    d = v128.xor(d, v128.load(start, 48));
  }
  return fold(v128.xor(v128.xor(a, b), v128.xor(c, d)));
}

/** One stream, eight vectors a step. */
export function read1x8(start: usize, bytes: usize): i32 {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (const end = start + bytes; start < end; start += 128) {
    a = v128.xor(a, v128.xor(v128.load(start), v128.load(start, 64)));
    b = v128.xor(b, v128.xor(v128.load(start, 16), v128.load(start, 80)));
    c = v128.xor(c, v128.xor(v128.load(start, 32), v128.load(start, 96)));
    d = v128.xor(d, v128.xor(v128.load(start, 48), v128.load(start, 112)));
  }
  return fold(v128.xor(v128.xor(a, b), v128.xor(c, d)));
}

/** Four streams, a quarter of the memory each, four vectors a step. */
export function read4x4(start: usize, bytes: usize): i32 {
  const quarter = bytes >>> 2;
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (const end = start + quarter; start < end; start += 64) {
    a = v128.xor(a, line(start));
    b = v128.xor(b, line(start + quarter));
    c = v128.xor(c, line(start + 2 * quarter));
    d = v128.xor(d, line(start + 3 * quarter));
  }
  return fold(v128.xor(v128.xor(a, b), v128.xor(c, d)));
}

// @ts-ignore: decorator
@inline
function line(at: usize): v128 {
  return v128.xor(v128.xor(v128.load(at), v128.load(at, 16)), v128.xor(v128.load(at, 32), v128.load(at, 48)));
}

// @ts-ignore: decorator
@inline
function fold(x: v128): i32 {
  return i32x4.extract_lane(x, 0) ^ i32x4.extract_lane(x, 1) ^ i32x4.extract_lane(x, 2) ^ i32x4.extract_lane(x, 3);
}
