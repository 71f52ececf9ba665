/**
 * Shards of the vocabulary that share noise. Cut into equal parts, tokens with one place inside their parts form a class. Given the
 * class of a draw, its most probable token comes with a known probability; shared noise always lets it win.
 */
import type { Draws } from "./draws.js";
import type { Binomials } from "./binomial-sums.js";

export interface ShardWins extends Binomials {
  readonly observed: number;
  readonly expected: number;
  readonly draws: number;
}

/** sources: the distribution of each draw. shards: into so many parts of ceil(vocabSize / shards) tokens, the last one shorter; 2 or more. */
export function shardWins(draws: Draws, sources: Int32Array, shards: number): ShardWins {
  const { tokens, distributions } = draws;
  const { vocabSize } = distributions;
  const width = Math.ceil(vocabSize / shards);
  const classes = new Map<number, { trials: number; probability: number; winner: number }>();
  let observed = 0;
  for (const [index, token] of tokens.entries()) {
    const distribution = sources[index]!;
    const key = distribution * width + (token % width);
    let found = classes.get(key);
    if (found === undefined) classes.set(key, (found = { trials: 0, ...classWinner(draws, distribution, token % width, width) }));
    // A class of one token tells nothing.
    if (found.probability === 1) continue;
    found.trials++;
    if (token === found.winner) observed++;
  }
  const all = [...classes.values()].filter(({ trials }) => trials > 0);
  const trials = Float64Array.from(all, (one) => one.trials);
  const probabilities = Float64Array.from(all, (one) => one.probability);
  const sum = (of: (index: number) => number) => all.reduce((total, _, index) => total + of(index), 0);
  return { trials, probabilities, observed, draws: sum((index) => trials[index]!), expected: sum((index) => trials[index]! * probabilities[index]!) };
}

function classWinner({ distributions }: Draws, distribution: number, place: number, width: number): { winner: number; probability: number } {
  let winner = place;
  let [largest, total] = [0, 0];
  for (let token = place; token < distributions.vocabSize; token += width) {
    const probability = distributions.probability(distribution, token);
    total += probability;
    if (probability > largest) [winner, largest] = [token, probability];
  }
  return { winner, probability: largest / total };
}
