/**
 * Serial correlation along an axis: the sum of products of neighbouring normal scores. The scores are independent standard normal, so
 * the sum is a quadratic form with eigenvalues cos(pi k / (n + 1)) for lines of n draws, and its tails follow from its cumulants.
 */
import { strideOf } from "./pairs.js";
import { normalPointAbove, saddlepointAbove } from "./special.js";
import type { Draws } from "./draws.js";

export interface Correlation {
  /** of the sum, as a multiple of its standard deviation */
  readonly statistic: number;
  /** two-sided */
  readonly pValue: number;
}

/** Of each draw. */
export function normalScores(quantiles: Float64Array): Float64Array {
  return quantiles.map((quantile) => (quantile < 0.5 ? -normalPointAbove(quantile) : normalPointAbove(1 - quantile)));
}

/** scores: of all draws. null: the axis has one place */
export function correlationAlong({ shape }: Pick<Draws, "shape">, axis: number, scores: Float64Array): Correlation | null {
  const length = shape[axis]!;
  if (length < 2) return null;
  const stride = strideOf(shape, axis);
  let sum = 0;
  for (let index = 0; index + stride < scores.length; index++) {
    if (Math.floor(index / stride) % length < length - 1) sum += scores[index]! * scores[index + stride]!;
  }
  const lines = scores.length / length;
  return { statistic: sum / Math.sqrt(lines * (length - 1)), pValue: Math.min(1, 2 * productSumAbove(Math.abs(sum), lines, length)) };
}

/** P(sum > x), x >= 0. Eigenvalues come in pairs of either sign: K(s) = -lines / 2 sum ln(1 - (2 s e)^2) over the positive ones. */
function productSumAbove(x: number, lines: number, length: number): number {
  const eigenvalues = Float64Array.from({ length: Math.floor(length / 2) }, (_, k) => Math.cos((Math.PI * (k + 1)) / (length + 1)));
  let [low, high] = [0, 0.5 / eigenvalues[0]!];
  let s = Math.min(x / (lines * (length - 1)), high / 2);
  for (let round = 0; round < 200; round++) {
    const { mean, variance } = slopes(s, eigenvalues, lines);
    if (Math.abs(mean - x) <= 1e-11 * Math.sqrt(variance)) break;
    if (mean < x) low = s;
    else high = s;
    const next = s + (x - mean) / variance;
    s = next > low && next < high ? next : (low + high) / 2;
  }
  const w = Math.sqrt(Math.max(0, 2 * (s * x - cumulantFunction(s, eigenvalues, lines))));
  return saddlepointAbove(w, s * Math.sqrt(slopes(s, eigenvalues, lines).variance), 0);
}

function cumulantFunction(s: number, eigenvalues: Float64Array, lines: number): number {
  let logarithm = 0;
  for (const eigenvalue of eigenvalues) logarithm += Math.log1p(-((2 * s * eigenvalue) ** 2));
  return (-lines * logarithm) / 2;
}

/** K'(s) and K''(s). */
function slopes(s: number, eigenvalues: Float64Array, lines: number) {
  let [mean, variance] = [0, 0];
  for (const eigenvalue of eigenvalues) {
    const square = 4 * eigenvalue * eigenvalue;
    const room = 1 - square * s * s;
    mean += (square * s) / room;
    variance += (square * (1 + square * s * s)) / (room * room);
  }
  return { mean: lines * mean, variance: lines * variance };
}
