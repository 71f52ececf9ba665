/**
 * Where a sum of independent binomials with different probabilities lies in its distribution (Poisson-binomial): by convolution where
 * its variance is small, else by the saddlepoint. Counts that convolution would have to run far for get a bound of their tail.
 */
import { saddlepointAbove } from "./special.js";
import { ALL_ABOVE, ALL_BELOW, binomialTail, SURE, type Tail } from "./tails.js";

/** Independent binomials, one for each index. */
export interface Binomials {
  readonly trials: ArrayLike<number>;
  readonly probabilities: ArrayLike<number>;
}

/** P(sum > 0). */
export function someOf({ trials, probabilities }: Binomials): number {
  let logarithm = 0;
  for (let index = 0; index < trials.length; index++) if (trials[index]! > 0) logarithm += trials[index]! * Math.log1p(-probabilities[index]!);
  return -Math.expm1(logarithm);
}

/** Up to this variance of a sum its distribution is computed term by term; above, the saddlepoint is good to 1e-4. */
const EXACT_VARIANCE = 60;

/**
 * The place of count k among the values of the sum of the binomials. Where k is one of so many terms that it cannot come by chance
 * (below 1e-19), `at` is 0 and the tail beyond it, k itself included, an upper bound of its probability.
 */
export function sumTail(k: number, binomials: Binomials): Tail {
  const terms = uncertain(binomials);
  const rest = k - terms.sure;
  if (terms.trials.length === 0) return rest === 0 ? SURE : rest < 0 ? ALL_ABOVE : ALL_BELOW;
  if (terms.trials.length === 1) return binomialTail(rest, terms.trials[0]!, terms.probabilities[0]!);
  if (rest < 0) return ALL_ABOVE;
  if (rest > terms.most) return ALL_BELOW;
  return terms.variance <= EXACT_VARIANCE ? convolvedTail(rest, terms) : saddlepointTail(rest, terms);
}

interface Terms {
  readonly trials: readonly number[];
  readonly probabilities: readonly number[];
  /** successes that are certain, and the most that there can be beside them */
  readonly sure: number;
  readonly most: number;
  readonly mean: number;
  readonly variance: number;
}

function uncertain(binomials: Binomials): Terms {
  const trials: number[] = [];
  const probabilities: number[] = [];
  let [sure, most, mean, variance] = [0, 0, 0, 0];
  for (let index = 0; index < binomials.trials.length; index++) {
    const [n, p] = [binomials.trials[index]!, binomials.probabilities[index]!];
    if (n === 0 || p <= 0) continue;
    if (p >= 1) {
      sure += n;
      continue;
    }
    trials.push(n);
    probabilities.push(p);
    most += n;
    mean += n * p;
    variance += n * p * (1 - p);
  }
  return { trials, probabilities, sure, most, mean, variance };
}

/**
 * Values past the count, or past the mean, that are still summed: what follows is below 1e-12 of the sum. Counts further than that from
 * the mean are not looked for term by term: stale or shared noise over a large vocabulary has 1e5 terms and counts as large.
 */
const REACH = 90;

/** Independent binomials with small probabilities, their mean and the most that their sum can be. */
interface RareSide extends Binomials {
  readonly trials: number[];
  readonly probabilities: number[];
  mean: number;
  most: number;
}

/**
 * sum = (successes of terms with p <= 1/2) + (trials of the others) - (failures of the others): two sums with small means, each
 * by convolution.
 */
function convolvedTail(k: number, terms: Terms): Tail {
  const rare: RareSide = { trials: [], probabilities: [], mean: 0, most: 0 };
  const common: RareSide = { trials: [], probabilities: [], mean: 0, most: 0 };
  for (const [index, p] of terms.probabilities.entries()) {
    const side = p <= 0.5 ? rare : common;
    const n = terms.trials[index]!;
    const smaller = Math.min(p, 1 - p);
    side.trials.push(n);
    side.probabilities.push(smaller);
    side.mean += n * smaller;
    side.most += n;
  }
  // successes - failures = k - (trials of the common ones)
  const difference = k - common.most;
  if (difference > rare.mean + REACH) return { above: boundAtLeast(k, terms), at: 0, below: 1 };
  if (-difference > common.mean + REACH) return { above: 1, at: 0, below: boundAtLeast(terms.most - k, failuresOf(terms)) };
  const successes = convolved(rare, Math.max(0, difference));
  const failures = convolved(common, Math.max(0, -difference));
  let [above, at, below] = [0, 0, 0];
  for (let failed = 0; failed < failures.length; failed++) {
    for (let passed = 0; passed < successes.length; passed++) {
      const product = failures[failed]! * successes[passed]!;
      const value = passed - failed;
      if (value > difference) above += product;
      else if (value < difference) below += product;
      else at += product;
    }
  }
  return { above, at, below };
}

/** P(sum = 0), P(sum = 1), ... up to well past the mean and `from`. */
function convolved({ trials, probabilities, mean, most }: RareSide, from: number): Float64Array {
  const size = 1 + Math.min(most, Math.ceil(Math.max(mean, from)) + REACH);
  const sum = new Float64Array(size);
  sum[0] = 1;
  let filled = 1;
  for (let index = 0; index < trials.length; index++) {
    const [n, p] = [trials[index]!, probabilities[index]!];
    const reached = Math.min(size, filled + n);
    if (n <= SINGLY) for (let trial = 0; trial < n; trial++) addTrial(sum, reached, p);
    else addTerm(sum, filled, reached, binomialStart(n, p, size));
    filled = reached;
  }
  return sum;
}

/** Binomials with so few trials are added trial by trial. */
const SINGLY = 6;

function addTrial(sum: Float64Array, reached: number, probability: number): void {
  for (let to = reached - 1; to > 0; to--) sum[to] = (1 - probability) * sum[to]! + probability * sum[to - 1]!;
  sum[0]! *= 1 - probability;
}

function addTerm(sum: Float64Array, filled: number, reached: number, term: readonly number[]): void {
  // Downward: what is read has not been written yet.
  for (let to = reached - 1; to >= 0; to--) {
    let value = 0;
    for (let step = Math.max(0, to - filled + 1); step < term.length && step <= to; step++) value += term[step]! * sum[to - step]!;
    sum[to] = value;
  }
}

/** P(X = 0), P(X = 1), ... of a binomial, while they matter. */
function binomialStart(trials: number, probability: number, limit: number): number[] {
  const odds = probability / (1 - probability);
  let value = Math.exp(trials * Math.log1p(-probability));
  const values = [value];
  for (let k = 0; k < trials && values.length < limit; k++) {
    value *= ((trials - k) / (k + 1)) * odds;
    if (value < 1e-40 && k > trials * probability) break;
    values.push(value);
  }
  return values;
}

function saddlepointTail(k: number, terms: Terms): Tail {
  const least = sumAtLeast(k, terms);
  const more = sumAtLeast(k + 1, terms);
  if (k > terms.mean) return { above: more, at: Math.max(0, least - more), below: 1 - least };
  const most = sumAtMost(k, terms);
  const less = sumAtMost(k - 1, terms);
  return { above: 1 - most, at: Math.max(0, most - less), below: less };
}

function sumAtMost(k: number, terms: Terms): number {
  return sumAtLeast(terms.most - k, failuresOf(terms));
}

function failuresOf({ trials, probabilities, sure, most, mean, variance }: Terms): Terms {
  return { trials, probabilities: probabilities.map((p) => 1 - p), sure, most, mean: most - mean, variance };
}

/**
 * At least P(sum >= k), for k above the mean: exp(K(s) - s k) bounds it for each s > 0 (Chernoff, 1952), and least where K'(s) = k.
 * It is too large by a factor of about sqrt(2 pi K''(s)) (Bahadur and Rao, 1960), and never 0.
 */
function boundAtLeast(k: number, terms: Terms): number {
  const s = saddlepointOf(k, terms);
  return Math.max(Number.MIN_VALUE, Math.exp(cumulants(s, terms).logarithm - s * k));
}

/** P(sum >= k), by the saddlepoint for whole numbers with its second continuity correction (Daniels, 1987). */
function sumAtLeast(k: number, terms: Terms): number {
  if (k <= 0) return 1;
  if (k > terms.most) return 0;
  const x = k - 0.5;
  const s = saddlepointOf(x, terms);
  const { logarithm, variance, third } = cumulants(s, terms);
  const w = Math.sign(s) * Math.sqrt(Math.max(0, 2 * (s * x - logarithm)));
  return saddlepointAbove(w, 2 * Math.sinh(s / 2) * Math.sqrt(variance), third / variance ** 1.5);
}

/** Newton's method for K'(s) = x, which rises with s; halved where a step leaves what is known to hold the root. */
function saddlepointOf(x: number, terms: Terms): number {
  let [low, high] = [-700, 700];
  let s = Math.min(700, Math.max(-700, (x - terms.mean) / terms.variance));
  for (let round = 0; round < 100; round++) {
    const { mean, variance } = cumulants(s, terms);
    if (Math.abs(mean - x) <= 1e-11 * Math.sqrt(terms.variance)) break;
    if (mean < x) low = s;
    else high = s;
    const next = s + (x - mean) / variance;
    s = next > low && next < high ? next : (low + high) / 2;
  }
  return s;
}

/** K(s) = sum n ln(1 - p + p e^s) and its derivatives. */
function cumulants(s: number, { trials, probabilities }: Terms) {
  const growth = Math.expm1(s);
  let [logarithm, mean, variance, third] = [0, 0, 0, 0];
  for (let index = 0; index < trials.length; index++) {
    const [n, p] = [trials[index]!, probabilities[index]!];
    const tilted = (p * (1 + growth)) / (1 + p * growth);
    const spread = n * tilted * (1 - tilted);
    logarithm += n * Math.log1p(p * growth);
    mean += n * tilted;
    variance += spread;
    third += spread * (1 - 2 * tilted);
  }
  return { logarithm, mean, variance, third };
}
