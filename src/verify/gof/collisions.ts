/**
 * Neighbouring draws that are the same token. Given the first of each pair, the second equals it with the probability that its own
 * distribution gives to that token, independently: a sum of binomials. Noise that two draws share shows here whatever the logits are.
 */
import type { Draws } from "./draws.js";
import type { PairSet } from "./pairs.js";
import type { Binomials } from "./binomial-sums.js";

export interface Collisions extends Binomials {
  readonly observed: number;
  readonly expected: number;
  readonly pairs: number;
}

/** First draws that are more probable than this tell nothing: equal ones are the rule there. */
const LARGEST_PROBABILITY = 0.5;

/** sources: the distribution of each draw. */
export function collisionsOf({ tokens, distributions }: Draws, sources: Int32Array, set: PairSet): Collisions {
  const [trials, probabilities]: [number[], number[]] = [[], []];
  let [observed, expected, pairs] = [0, 0, 0];
  // Of the pairs whose second draw has one distribution: how often each token came first, and how often it was met.
  const first = new Int32Array(distributions.vocabSize);
  const met = new Int32Array(distributions.vocabSize);
  for (const [distribution, indices] of bySecondSource(set, sources, distributions.count).entries()) {
    const seen: number[] = [];
    for (let index = 0; index < indices.length; index += 2) {
      const token = tokens[indices[index]!]!;
      if (first[token]!++ === 0) seen.push(token);
      if (tokens[indices[index + 1]!] === token) met[token]!++;
    }
    for (const token of seen) {
      const probability = distributions.probability(distribution, token);
      if (probability <= LARGEST_PROBABILITY) {
        trials.push(first[token]!);
        probabilities.push(probability);
        observed += met[token]!;
        expected += first[token]! * probability;
        pairs += first[token]!;
      }
      first[token] = met[token] = 0;
    }
  }
  return { trials, probabilities, observed, expected, pairs };
}

/** The pairs for each distribution of their second draw. */
function bySecondSource({ indices }: PairSet, sources: Int32Array, count: number): Int32Array[] {
  if (count === 1) return [indices];
  const sizes = new Int32Array(count);
  for (let index = 1; index < indices.length; index += 2) sizes[sources[indices[index]!]!]! += 2;
  const sets = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(count);
  for (let index = 0; index < indices.length; index += 2) {
    const source = sources[indices[index + 1]!]!;
    sets[source]![filled[source]!++] = indices[index]!;
    sets[source]![filled[source]!++] = indices[index + 1]!;
  }
  return sets;
}
