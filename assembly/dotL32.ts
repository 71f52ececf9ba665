/**
 * Dot products in the canonical order "L32" (docs/spec.md, "Logits"). Twin of dotL32 in src/spec/logit.ts.
 * The 32 partial sums are eight vectors: vector 2p holds the even, 2p+1 the odd lanes among 8p .. 8p+7. One pass over the
 * columns keeps as many vectors as V8 has registers for (15, operands included), so a row is walked two or eight times.
 */
import { evens, loadF16Bits, loadOctet, octetBytes, oddOffset, odds } from "./decode";

/** Hidden rows of a block, at most: 2 weight rows x 4 hidden rows make 8 sums, 6 operands and 1 product. */
export const BLOCK_ROWS: u32 = 4;

/** Blocks of a row that dotRow walks twice in one go. */
const STRETCH: usize = 32;

/** sum + weight * hidden. Products of all formats but f32 are exact, so that fusing cannot change a bit. */
// @ts-ignore: decorator
@inline
function accumulate<T>(sum: v128, weight: v128, hidden: v128): v128 {
  const isExact = !isFloat<T>() || sizeof<T>() == 8;
  if (ASC_FEATURE_RELAXED_SIMD && isExact) return f32x4.relaxed_madd(weight, hidden, sum);
  return f32x4.add(sum, f32x4.mul(weight, hidden));
}

/** Sums of neighbouring lanes: one step of the tree. */
// @ts-ignore: decorator
@inline
function pairs(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7));
}

/** The tree from eight vectors, `step` bytes apart, down to four sums. */
function fourSums(partial: usize, step: usize): v128 {
  const a = f32x4.add(v128.load(partial), v128.load(partial + step));
  const b = f32x4.add(v128.load(partial + 2 * step), v128.load(partial + 3 * step));
  const c = f32x4.add(v128.load(partial + 4 * step), v128.load(partial + 5 * step));
  const d = f32x4.add(v128.load(partial + 6 * step), v128.load(partial + 7 * step));
  return pairs(pairs(a, b), pairs(c, d));
}

/**
 * Writes the dot product of one weight row and one hidden row, stored as H, to `sum`. partial: room for 8 vectors.
 * Two passes over a stretch of the row, then the next stretch: either pass reads half of every cache line, in order, which
 * the hardware's prefetcher follows, and the second finds the line in the first cache.
 */
export function dotRow<T, H>(weights: usize, hidden: usize, blocks: u32, partial: usize, sum: usize): void {
  const f16Bits = loadF16Bits<T>();
  let isFirst = true;
  const rowEnd = weights + usize(blocks) * 4 * octetBytes<T>();
  while (weights < rowEnd) {
    const stretchEnd = min(weights + STRETCH * 4 * octetBytes<T>(), rowEnd);
    for (let pass: usize = 0; pass < 2; pass++) {
      const sums = partial + pass * 64;
      let a0 = isFirst ? f32x4.splat(0) : v128.load(sums);
      let a1 = isFirst ? f32x4.splat(0) : v128.load(sums, 16);
      let a2 = isFirst ? f32x4.splat(0) : v128.load(sums, 32);
      let a3 = isFirst ? f32x4.splat(0) : v128.load(sums, 48);
      let x = hidden + pass * 2 * octetBytes<H>();
      for (let w = weights + pass * 2 * octetBytes<T>(); w < stretchEnd; w += 4 * octetBytes<T>()) {
        const w0 = loadOctet<T>(w);
        const x0 = loadOctet<H>(x);
        a0 = accumulate<T>(a0, evens<T>(w0, w, f16Bits), evens<H>(x0, x, f16Bits));
        a1 = accumulate<T>(a1, odds<T>(w0, w, f16Bits), odds<H>(x0, x, f16Bits));
        const w1 = loadOctet<T>(w + octetBytes<T>());
        const x1 = loadOctet<H>(x + octetBytes<H>());
        a2 = accumulate<T>(a2, evens<T>(w1, w + octetBytes<T>(), f16Bits), evens<H>(x1, x + octetBytes<H>(), f16Bits));
        a3 = accumulate<T>(a3, odds<T>(w1, w + octetBytes<T>(), f16Bits), odds<H>(x1, x + octetBytes<H>(), f16Bits));
        x += 4 * octetBytes<H>();
      }
      v128.store(sums, a0);
      v128.store(sums, a1, 16);
      v128.store(sums, a2, 32);
      v128.store(sums, a3, 48);
    }
    isFirst = false;
    weights = stretchEnd;
    hidden += STRETCH * 4 * octetBytes<H>();
  }
  const four = fourSums(partial, 16);
  const two = pairs(four, four);
  store<f32>(sum, f32x4.extract_lane(two, 0) + f32x4.extract_lane(two, 1));
}

/**
 * Writes the dot products of two weight rows, rowBytes apart, and `count` (2..4) hidden rows: sums [count][sumBytes], two f32 each.
 * hidden: [8][blocks][count] vectors, passBytes from each pass to the next. partial: room for 8 * 2 * count vectors.
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
  // Each call is inlined with its count, so that a loop holds no branch.
  if (count == 2) passes<T>(2, weights, rowBytes, hidden, passBytes, blocks, partial);
  else if (count == 3) passes<T>(3, weights, rowBytes, hidden, passBytes, blocks, partial);
  else passes<T>(4, weights, rowBytes, hidden, passBytes, blocks, partial);
  const step = usize(count) << 5;
  for (let i: u32 = 0; i < count; i++) {
    const column = partial + (i << 4);
    const four = pairs(fourSums(column, step), fourSums(column + (step >>> 1), step));
    const two = pairs(four, four);
    v128.store64_lane(sums, two, 0);
    sums += sumBytes;
  }
}

/** Leaves the partial sums [8][2][count] of the two weight rows. */
// @ts-ignore: decorator
@inline
function passes<T>(count: u32, weights: usize, rowBytes: usize, hidden: usize, passBytes: usize, blocks: u32, partial: usize): void {
  const f16Bits = loadF16Bits<T>();
  for (let pass: usize = 0; pass < 8; pass++) {
    let x = hidden + pass * passBytes;
    let w = weights + (pass >>> 1) * octetBytes<T>() + (pass & 1) * oddOffset<T>();
    let a0 = f32x4.splat(0);
    let a1 = a0;
    let a2 = a0;
    let a3 = a0;
    let b0 = a0;
    let b1 = a0;
    let b2 = a0;
    let b3 = a0;
    for (const end = w + usize(blocks) * 4 * octetBytes<T>(); w < end; w += 4 * octetBytes<T>()) {
      const a = evens<T>(loadOctet<T>(w), w, f16Bits);
      const b = evens<T>(loadOctet<T>(w + rowBytes), w + rowBytes, f16Bits);
      const x0 = v128.load(x);
      a0 = accumulate<T>(a0, a, x0);
      b0 = accumulate<T>(b0, b, x0);
      const x1 = v128.load(x, 16);
      a1 = accumulate<T>(a1, a, x1);
      b1 = accumulate<T>(b1, b, x1);
      if (count > 2) {
        const x2 = v128.load(x, 32);
        a2 = accumulate<T>(a2, a, x2);
        b2 = accumulate<T>(b2, b, x2);
      }
      if (count > 3) {
        const x3 = v128.load(x, 48);
        a3 = accumulate<T>(a3, a, x3);
        b3 = accumulate<T>(b3, b, x3);
      }
      x += count << 4;
    }
    v128.store(partial, a0);
    v128.store(partial, a1, 16);
    if (count > 2) v128.store(partial, a2, 32);
    if (count > 3) v128.store(partial, a3, 48);
    partial += count << 4;
    v128.store(partial, b0);
    v128.store(partial, b1, 16);
    if (count > 2) v128.store(partial, b2, 32);
    if (count > 3) v128.store(partial, b3, 48);
    partial += count << 4;
  }
}
