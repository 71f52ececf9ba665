/**
 * Dot products in the canonical order "L32" (docs/spec.md, "Logits"). Twin of dotL32 in src/spec/logit.ts.
 * The 32 partial sums are eight vectors: vector 2p holds the even, 2p+1 the odd lanes among 8p .. 8p+7. One pass over the
 * columns keeps as many vectors as V8 has registers for (15, operands included), so a row is walked twice here, and four
 * or eight times in a block (dotBlock.ts).
 */
import { evens, loadMask, loadOctet, octetBytes, odds } from "./decode";

/** Blocks of a row that dotRow walks twice in one go. */
const STRETCH: usize = 32;

/** Products of all formats but f32 are exact, so that fusing them with the addition cannot change a bit. */
// @ts-ignore: decorator
@inline
export function isFused<T>(): bool {
  return ASC_FEATURE_RELAXED_SIMD && (!isFloat<T>() || sizeof<T>() == 8);
}

/** sum + weight * hidden */
// @ts-ignore: decorator
@inline
export function accumulate<T>(sum: v128, weight: v128, hidden: v128): v128 {
  if (isFused<T>()) return f32x4.relaxed_madd(weight, hidden, sum);
  return f32x4.add(sum, f32x4.mul(weight, hidden));
}

/** Sums of neighbouring lanes: one step of the tree. */
// @ts-ignore: decorator
@inline
export function pairs(a: v128, b: v128): v128 {
  return f32x4.add(v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(a, b, 1, 3, 5, 7));
}

/** The tree from eight vectors, `step` bytes apart, down to four sums. */
export function fourSums(partial: usize, step: usize): v128 {
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
  const mask = loadMask<T>();
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
        a0 = accumulate<T>(a0, evens<T>(w0, w, mask), evens<H>(x0, x, mask));
        a1 = accumulate<T>(a1, odds<T>(w0, w, mask), odds<H>(x0, x, mask));
        const w1 = loadOctet<T>(w + octetBytes<T>());
        const x1 = loadOctet<H>(x + octetBytes<H>());
        a2 = accumulate<T>(a2, evens<T>(w1, w + octetBytes<T>(), mask), evens<H>(x1, x + octetBytes<H>(), mask));
        a3 = accumulate<T>(a3, odds<T>(w1, w + octetBytes<T>(), mask), odds<H>(x1, x + octetBytes<H>(), mask));
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
