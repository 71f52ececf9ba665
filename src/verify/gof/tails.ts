/** Where a count lies in its distribution, binomial or hypergeometric. Small tails keep their relative precision. */
import betainc from "@stdlib/math-base-special-betainc";
import gammaln from "@stdlib/math-base-special-gammaln";

/** The probabilities of more than the count, of the count itself, and of less. */
export interface Tail {
  readonly above: number;
  readonly at: number;
  readonly below: number;
}

function logChoose(n: number, k: number): number {
  return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1);
}

/** P(X = k), X binomial; 0 < probability < 1. */
export function binomialAt(k: number, trials: number, probability: number): number {
  if (k < 0 || k > trials) return 0;
  return Math.exp(logChoose(trials, k) + k * Math.log(probability) + (trials - k) * Math.log1p(-probability));
}

export function binomialTail(k: number, trials: number, probability: number): Tail {
  if (probability <= 0 || trials === 0) return k === 0 ? SURE : k < 0 ? ALL_ABOVE : ALL_BELOW;
  if (probability >= 1) return mirrored(binomialTail(trials - k, trials, 0));
  const at = binomialAt(k, trials, probability);
  if (k > trials * probability) {
    const least = betainc(probability, k, trials - k + 1);
    return { above: Math.max(0, least - at), at, below: 1 - least };
  }
  const most = k === trials ? 1 : betainc(probability, k + 1, trials - k, true, true);
  return { above: 1 - most, at, below: Math.max(0, most - at) };
}

export const SURE: Tail = { above: 0, at: 1, below: 0 };
export const ALL_ABOVE: Tail = { above: 1, at: 0, below: 0 };
export const ALL_BELOW: Tail = { above: 0, at: 0, below: 1 };

function mirrored({ above, at, below }: Tail): Tail {
  return { above: below, at, below: above };
}

/** k marked ones among `drawn` out of a population of which `marked` are marked. */
export function hypergeometricTail(k: number, population: number, marked: number, drawn: number): Tail {
  const least = Math.max(0, drawn + marked - population);
  const most = Math.min(drawn, marked);
  const at = Math.exp(logChoose(marked, k) + logChoose(population - marked, drawn - k) - logChoose(population, drawn));
  let above = 0;
  for (let j = k, term = at; j < most && term > above * Number.EPSILON; j++) {
    term *= ((marked - j) * (drawn - j)) / ((j + 1) * (population - marked - drawn + j + 1));
    above += term;
  }
  let below = 0;
  for (let j = k, term = at; j > least && term > below * Number.EPSILON; j--) {
    term *= (j * (population - marked - drawn + j)) / ((marked - j + 1) * (drawn - j + 1));
    below += term;
  }
  return { above, at, below };
}
