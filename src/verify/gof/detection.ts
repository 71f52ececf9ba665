/** How often the tests find what is wrong: powers, by binomials and noncentral chi-square distributions. */
import { limitOfLargest, sumPointAbove } from "./joint.js";
import { noncentralChiSquareAbove } from "./special.js";
import { binomialAt, binomialTail, type Tail } from "./tails.js";

/** The smallest k with P(X >= k) <= rate, and with which part of it the next smaller k raises an alarm as well. */
export interface Critical {
  readonly count: number;
  readonly part: number;
}

function criticalCount(trials: number, probability: number, rate: number): Critical {
  return criticalOf(trials, (count) => binomialTail(count, trials, probability), rate);
}

/** Of one of several, which has the given share of them, when all others together are drawn `others` times. */
export function criticalBeside(others: number, share: number, draws: number, rate: number): Critical {
  return criticalOf(draws - others, (count) => binomialTail(count, others + count, share), rate);
}

/** tailAt: P(X >= count) under the hypothesis falls with the count. */
function criticalOf(most: number, tailAt: (count: number) => Tail, rate: number): Critical {
  let [low, high] = [0, most + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const { above, at } = tailAt(middle);
    if (above + at <= rate) high = middle;
    else low = middle;
  }
  const { above, at } = tailAt(high - 1);
  return { count: high, part: Math.min(1, Math.max(0, (rate - above) / at)) };
}

/** P(a count is past its critical one), drawn with another probability. */
export function passes({ count, part }: Critical, trials: number, probability: number): number {
  const { above, at } = binomialTail(count - 1, trials, probability);
  return above + part * at;
}

/** As testCount (count-test.ts) judges: of both sides where a count of 0 is unlikely enough. */
export function countDetected(trials: number, probability: number, actual: number, rate: number): number {
  if (trials === 0 || rate === 0) return 0;
  const isTwoSided = binomialAt(0, trials, probability) <= rate / 2;
  const upper = passes(criticalCount(trials, probability, isTwoSided ? rate / 2 : rate), trials, actual);
  return isTwoSided ? upper + passes(criticalCount(trials, 1 - probability, rate / 2), trials, 1 - actual) : upper;
}

/** The tests of single bins and of all of them, as they judge `count` deviates. */
export interface BinLimits {
  readonly count: number;
  /** of a single deviate; Infinity: they are not judged one by one */
  readonly limit: number;
  /** of the sum of squares */
  readonly sum: number;
}

export function binLimits(count: number, tokenRate: number, sumRate: number): BinLimits {
  const limit = tokenRate > 0 ? limitOfLargest(tokenRate, count) : Infinity;
  return { count, limit, sum: sumPointAbove(sumRate, count, limit) };
}

/** Many small shifts: noncentrality is the sum of their squares, in standard deviations. */
export function shiftsDetected({ count, sum }: BinLimits, noncentrality: number): number {
  return noncentralChiSquareAbove(sum, count, noncentrality);
}

/** Values of a count that are looked at, one by one or in steps. */
const VALUES = 300;

/**
 * One bin is drawn with another probability; others shift with `noncentrality`. Over the values of its count, whose deviate is
 * taken as the signed root of its likelihood ratio.
 */
export function binDetected({ count, limit, sum }: BinLimits, trials: number, probability: number, actual: number, noncentrality: number): number {
  const deviation = Math.sqrt(trials * actual * (1 - actual));
  const from = Math.max(0, Math.floor(trials * actual - 8 * deviation - 10));
  const to = Math.min(trials, Math.ceil(trials * actual + 8 * deviation + 10));
  const step = Math.max(1, Math.round((to - from) / VALUES));
  let missed = 0;
  for (let k = from; k <= to; k += step) {
    const squared = likelihoodRatio(trials, k / trials, probability);
    if (squared >= limit ** 2 || squared >= sum) continue;
    missed += step * binomialAt(k, trials, actual) * (1 - noncentralChiSquareAbove(sum - squared, count - 1, noncentrality));
  }
  return Math.min(1, Math.max(0, 1 - missed));
}

/** G of a share of so many trials, where another is expected. */
export function likelihoodRatio(trials: number, observed: number, expected: number): number {
  const part = (actual: number, under: number) => (actual <= 0 ? 0 : actual * Math.log(actual / under));
  return Math.max(0, 2 * trials * (part(observed, expected) + part(1 - observed, 1 - expected)));
}

/** The smallest value in (0, most] at which detected, which rises, reaches the probability; null: there is none. */
export function smallest(detected: (value: number) => number, probability: number, most: number): number | null {
  if (!(most > 0) || detected(most) < probability) return null;
  let [low, high] = [Math.log(most) - 25, Math.log(most)];
  while (high - low > 1e-3) {
    const middle = (low + high) / 2;
    if (detected(Math.exp(middle)) >= probability) high = middle;
    else low = middle;
  }
  return Math.exp(high);
}
