/**
 * Tails of the normal and the chi-square distribution, down to the smallest f64.
 * The special functions are those of stdlib-js, relative error below 2e-11 where they are used here (docs/goodness-of-fit.md).
 */
import erfc from "@stdlib/math-base-special-erfc";
import erfcinv from "@stdlib/math-base-special-erfcinv";
import gammainc from "@stdlib/math-base-special-gammainc";

/** P(Z > z) of a standard normal Z. */
export function normalAbove(z: number): number {
  return erfc(z * Math.SQRT1_2) / 2;
}

/** The z with P(Z > z) = probability, 0 <= probability <= 1. */
export function normalPointAbove(probability: number): number {
  return Math.SQRT2 * erfcinv(2 * probability);
}

export function normalDensity(z: number): number {
  return Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
}

/**
 * P(X > x) from a cumulant generating function K at its saddlepoint s, K'(s) = x (Lugannani and Rice, 1980).
 * w: sign(s) sqrt(2 (s x - K(s))). u: s sqrt(K''(s)), or what takes its place for whole numbers. skewness: of X, for x at the mean.
 */
export function saddlepointAbove(w: number, u: number, skewness: number): number {
  const correction = Math.abs(w) < 1e-4 ? -skewness / 6 : 1 / u - 1 / w;
  return Math.min(1, Math.max(0, normalAbove(w) + normalDensity(w) * correction));
}

/** Past this x / 2 stdlib's gammainc is off by up to 2 percent, and the saddlepoint by less than 1e-5. */
const GAMMAINC_LIMIT = 1000;

/** P(X > x), X chi-square with so many degrees of freedom; 0 degrees: X is 0. */
export function chiSquareAbove(x: number, degrees: number): number {
  if (x <= 0) return 1;
  if (degrees === 0) return 0;
  if (x <= 2 * GAMMAINC_LIMIT) return gammainc(x / 2, degrees / 2, true, true);
  const ratio = (x - degrees) / degrees;
  const w = Math.sign(ratio) * Math.sqrt(Math.max(0, degrees * (ratio - Math.log1p(ratio))));
  return saddlepointAbove(w, (ratio / 2) * Math.sqrt(2 * degrees), Math.sqrt(8 / degrees));
}

/**
 * P(X > x), X noncentral chi-square, by its saddlepoint, which is the root of a quadratic equation. For powers: the absolute error is
 * below 0.003 with one degree of freedom and falls with more.
 */
export function noncentralChiSquareAbove(x: number, degrees: number, noncentrality: number): number {
  if (noncentrality === 0 || x <= 0) return chiSquareAbove(x, degrees);
  // 1 / (1 - 2 s)
  const t = (2 * x) / (degrees + Math.sqrt(degrees ** 2 + 4 * noncentrality * x));
  const s = (1 - 1 / t) / 2;
  const logarithm = (degrees / 2) * Math.log(t) + noncentrality * s * t;
  const variance = 2 * degrees * t ** 2 + 4 * noncentrality * t ** 3;
  const w = Math.sign(s) * Math.sqrt(Math.max(0, 2 * (s * x - logarithm)));
  return saddlepointAbove(w, s * Math.sqrt(variance), (8 * degrees + 24 * noncentrality) / (2 * degrees + 4 * noncentrality) ** 1.5);
}
