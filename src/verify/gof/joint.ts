/**
 * The largest and the sum of squares of the same independent deviates, as two tests that share a false-alarm rate exactly: the sum is
 * judged given that no single deviate is past its limit.
 */
import { chiSquareAbove, normalAbove, normalDensity, normalPointAbove } from "./special.js";

/** P(some |z| of `count` independent deviates is as large). */
export function largestAbove(z: number, count: number): number {
  return -Math.expm1(count * Math.log1p(-Math.min(1, 2 * normalAbove(z))));
}

/** The limit that some |z| passes with the given probability. */
export function limitOfLargest(probability: number, count: number): number {
  return normalPointAbove(-Math.expm1(Math.log1p(-probability) / count) / 2);
}

/**
 * P(sum of squares > x given that all |z| <= limit), Bonferroni's first two terms: too small by less than half the square of
 * the probability that some |z| is past the limit, and never too large.
 */
export function sumAboveWithin(x: number, count: number, limit: number): number {
  const outside = count * sumAboveAndOutside(x, count, limit);
  return Math.max(0, chiSquareAbove(x, count) - outside) / (1 - largestAbove(limit, count));
}

/** The x at which sumAboveWithin is `probability`. */
export function sumPointAbove(probability: number, count: number, limit: number): number {
  let [low, high] = [0, count + 100 + 20 * Math.sqrt(count)];
  for (let round = 0; round < 40; round++) {
    const middle = (low + high) / 2;
    if (sumAboveWithin(middle, count, limit) > probability) low = middle;
    else high = middle;
  }
  return high;
}

const STEPS = 200;

/** P(sum of squares > x and |z_1| > limit): over z_1, Simpson's rule. */
function sumAboveAndOutside(x: number, count: number, limit: number): number {
  const root = Math.sqrt(Math.max(0, x));
  if (root <= limit) return 2 * normalAbove(limit);
  // Six standard deviations past the limit nothing is left.
  const end = Math.min(root, limit + 6);
  const width = (end - limit) / STEPS;
  let total = 0;
  for (let step = 0; step <= STEPS; step++) {
    const z = limit + step * width;
    const weight = step === 0 || step === STEPS ? 1 : step % 2 === 1 ? 4 : 2;
    total += weight * normalDensity(z) * chiSquareAbove(x - z * z, count - 1);
  }
  return 2 * ((total * width) / 3 + normalAbove(end));
}
