/**
 * Dot products of two weight rows and several hidden rows, in the order of dotL32.ts: what a block multiplies in one pass
 * over the columns is a matter of registers, and differs where multiply-adds are fused.
 */
import { evens, loadMask, loadOctet, octetBytes, oddOffset } from "./decode";
import { accumulate, fourSums, isFused, pairs } from "./dotL32";

// Numbers of rows as types, told by the size of a class: each makes a loop of its own, without a branch in it.
@unmanaged
export class Rows2 {
  bytes: u16;
}
@unmanaged
class Rows3 {
  bytes: u16;
  last: u8;
}
@unmanaged
export class Rows4 {
  bytes: u32;
}
@unmanaged
class Rows5 {
  bytes: u32;
  last: u8;
}
@unmanaged
class Rows6 {
  bytes: u32;
  last: u16;
}

/**
 * Hidden rows of a block, at most. 2 weight rows x 4 hidden rows make 8 sums, 6 operands and 1 product. Engines that fuse
 * keep the order of the loads, so that 12 sums need 3 operands; fewer than 8 would wait for each other.
 */
// @ts-ignore: decorator
@inline
export function mostBlockRows<T>(): u32 {
  return isFused<T>() ? 6 : 4;
}

/**
 * The most hidden rows for which weights are decoded at each use; for more they are decoded once, into a panel. Measured
 * (docs/performance.md). bf16 and f16 come here only where bounds did not pay: the panel's code is then shared by all.
 */
// @ts-ignore: decorator
@inline
export function directRows<T>(): u32 {
  if (isFloat<T>()) return u32.MAX_VALUE;
  if (sizeof<T>() == 2) return 0;
  return ASC_FEATURE_RELAXED_SIMD ? 4 : 3;
}

/** Vectors of a weight row in one pass over it with `count` hidden rows. */
// @ts-ignore: decorator
@inline
export function passVectors<T>(count: u32): u32 {
  return isFused<T>() && count < 4 ? 2 : 1;
}

/**
 * Writes the dot products of two weight rows, rowBytes apart, and `count` (2..6) hidden rows: sums [count][sumBytes], two f32 each.
 * hidden: [8 / vectors][blocks][vectors][count] vectors, vectors = passVectors(count), passBytes from each pass to the next.
 * partial: room for 8 * 2 * count vectors.
 */
export function dotBlock<T>(
  count: u32,
  weights: usize,
  rowBytes: usize,
  hidden: usize,
  passBytes: usize,
  blocks: u32,
  partial: usize,
  sums: usize,
  sumBytes: usize,
): void {
  // The first row of all is not in a block. What cannot come is not compiled.
  const most = min(mostBlockRows<T>(), directRows<T>() - 1);
  if (most == 2 || count == 2) passes<T, Rows2>(weights, rowBytes, hidden, passBytes, blocks, partial);
  else if (most == 3 || count == 3) passes<T, Rows3>(weights, rowBytes, hidden, passBytes, blocks, partial);
  else if (most == 4 || count == 4) passes<T, Rows4>(weights, rowBytes, hidden, passBytes, blocks, partial);
  else if (count == 5) passes<T, Rows5>(weights, rowBytes, hidden, passBytes, blocks, partial);
  else passes<T, Rows6>(weights, rowBytes, hidden, passBytes, blocks, partial);
  const step = usize(count) << 5;
  for (let i: u32 = 0; i < count; i++) {
    const column = partial + (i << 4);
    const four = pairs(fourSums(column, step), fourSums(column + (step >>> 1), step));
    const two = pairs(four, four);
    v128.store64_lane(sums, two, 0);
    sums += sumBytes;
  }
}

/** Leaves the partial sums [8][2][count] of the two weight rows. A step takes vectors * count vectors of the hidden rows. */
function passes<T, Count>(weights: usize, rowBytes: usize, hidden: usize, passBytes: usize, blocks: u32, partial: usize): void {
  const count = u32(offsetof<Count>());
  const vectors = passVectors<T>(count);
  const mask = loadMask<T>();
  for (let pass: u32 = 0; pass < 8; pass += vectors) {
    let x = hidden + usize(pass / vectors) * passBytes;
    let w = weights + usize(pass >>> 1) * octetBytes<T>() + usize(pass & 1) * oddOffset<T>();
    let a0 = f32x4.splat(0);
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    let a4 = a0;
    let a5 = a0;
    let b0 = a0;
    let b1 = a0;
    let b2 = a0;
    let b3 = a0;
    let b4 = a0;
    let b5 = a0;
    for (const end = w + usize(blocks) * 4 * octetBytes<T>(); w < end; w += 4 * octetBytes<T>()) {
      let a = evenAt<T>(w, mask);
      let b = evenAt<T>(w + rowBytes, mask);
      const x0 = v128.load(x);
      a0 = accumulate<T>(a0, a, x0);
      b0 = accumulate<T>(b0, b, x0);
      const x1 = v128.load(x, 16);
      a1 = accumulate<T>(a1, a, x1);
      b1 = accumulate<T>(b1, b, x1);
      if (vectors * count > 2) {
        // Read anew, a column later: an octet read once would stay in a register beside its even columns.
        if (count == 2) {
          a = evenAt<T>(w + oddOffset<T>(), mask);
          b = evenAt<T>(w + oddOffset<T>() + rowBytes, mask);
        }
        const x2 = v128.load(x, 32);
        a2 = accumulate<T>(a2, a, x2);
        b2 = accumulate<T>(b2, b, x2);
      }
      if (vectors * count > 3) {
        if (count == 3) {
          a = evenAt<T>(w + oddOffset<T>(), mask);
          b = evenAt<T>(w + oddOffset<T>() + rowBytes, mask);
        }
        const x3 = v128.load(x, 48);
        a3 = accumulate<T>(a3, a, x3);
        b3 = accumulate<T>(b3, b, x3);
      }
      if (vectors * count > 4) {
        const x4 = v128.load(x, 64);
        a4 = accumulate<T>(a4, a, x4);
        b4 = accumulate<T>(b4, b, x4);
      }
      if (vectors * count > 5) {
        const x5 = v128.load(x, 80);
        a5 = accumulate<T>(a5, a, x5);
        b5 = accumulate<T>(b5, b, x5);
      }
      x += (vectors * count) << 4;
    }
    put(count, partial, 0, a0, b0);
    put(count, partial, 1, a1, b1);
    if (vectors * count > 2) put(count, partial, 2, a2, b2);
    if (vectors * count > 3) put(count, partial, 3, a3, b3);
    if (vectors * count > 4) put(count, partial, 4, a4, b4);
    if (vectors * count > 5) put(count, partial, 5, a5, b5);
    partial += (vectors * count) << 5;
  }
}

// @ts-ignore: decorator
@inline
function evenAt<T>(weights: usize, mask: v128): v128 {
  return evens<T>(loadOctet<T>(weights), weights, mask);
}

/** The sums of vector index / count and hidden row index % count. */
// @ts-ignore: decorator
@inline
function put(count: u32, partial: usize, index: u32, a: v128, b: v128): void {
  const at = partial + (((index / count) * count + index) << 4);
  v128.store(at, a);
  v128.store(at + (count << 4), b);
}
