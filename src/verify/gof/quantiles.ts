/**
 * Each draw as a number that is uniform in (0, 1) whatever its distribution: its place in the cumulative distribution over token ids,
 * anywhere inside its token's step.
 */
import type { Coins } from "./coins.js";
import { stretchesOf, type Draws } from "./draws.js";

export function quantilesOf(draws: Draws, coins: Coins): Float64Array {
  const { tokens, distributions } = draws;
  const { vocabSize } = distributions;
  const quantiles = new Float64Array(tokens.length);
  const before = new Float64Array(vocabSize + 1);
  let filled = -1;
  for (const { distribution, start, end } of stretchesOf(draws)) {
    if (filled !== distribution) {
      for (let token = 0; token < vocabSize; token++) before[token + 1] = before[token]! + distributions.probability(distribution, token);
      filled = distribution;
    }
    for (let draw = start; draw < end; draw++) {
      const token = tokens[draw]!;
      const place = (before[token]! + coins() * (before[token + 1]! - before[token]!)) / before[vocabSize]!;
      quantiles[draw] = Math.min(1 - 2 ** -53, Math.max(2 ** -53, place));
    }
  }
  return quantiles;
}
