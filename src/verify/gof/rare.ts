/** Tokens that share a cell because few draws are expected of them: was one of them drawn too often, given its cell's count? */
import { groupIndex, isOwn, isRare, type Cells, type Group } from "./cells.js";
import { randomisedAbove, type Coins } from "./coins.js";
import type { CountTest } from "./count-test.js";
import type { Counts } from "./counts.js";
import type { Draws } from "./draws.js";
import { drawnText } from "./names.js";
import { sumTail, type Binomials } from "./binomial-sums.js";
import { binomialAt } from "./tails.js";

export interface RareTest extends CountTest {
  /** draws of the token that is furthest off */
  readonly statistic: number;
  /** of that token */
  readonly detail: string;
}

/**
 * The single p-value that raises an alarm, so that the union over all rare tokens has the rate that is offered: the sum of
 * min(limit, expected count), as a token with fewer expected draws alarms when it is drawn at all. null: no token is rare.
 */
export function rareLimit({ rare }: Cells, offered: number): number | null {
  let below = 0;
  for (let index = 0; index < rare.length; index++) {
    const limit = (offered - below) / (rare.length - index);
    if (limit <= rare[index]!) return limit;
    below += rare[index]!;
  }
  return null;
}

/** limit: of rareLimit */
export function testRare(draws: Draws, counts: Counts, offered: number, limit: number, coins: Coins): RareTest {
  const scale = offered / limit;
  let best = { pValue: 1, statistic: 0, detail: "" };
  for (const { group, shared, sharedTokens } of counts.groups) {
    const sources = shared.map(sourcesIn);
    for (let token = 0; token < sharedTokens.length; token++) {
      const observed = sharedTokens[token]!;
      if (observed === 0 || !isRare(group.shared[group.sharedCell[token]!]!)) continue;
      const coin = coins();
      const binomials = inCell(draws, group, token, sources[group.sharedCell[token]!]!);
      // Most are not as rare as the rarest so far.
      if (scale * coin * leastAt(observed, binomials) > best.pValue) continue;
      const pValue = scale * randomisedAbove(sumTail(observed, binomials), coin);
      if (pValue < best.pValue) best = { pValue, statistic: observed, detail: drawnText(`token ${token}`, observed, group.sharedExpected[token]!) };
    }
  }
  return { ...best, threshold: offered };
}

/** The distributions that have draws in a cell, and how many. */
interface Sources {
  readonly distributions: number[];
  readonly trials: number[];
}

function sourcesIn(drawn: Float64Array): Sources {
  const sources: Sources = { distributions: [], trials: [] };
  for (const [distribution, count] of drawn.entries()) {
    if (count === 0) continue;
    sources.distributions.push(distribution);
    sources.trials.push(count);
  }
  return sources;
}

/** How often the token is drawn, given how many draws of each distribution its cell has. */
function inCell({ distributions, sizes }: Draws, group: Group, token: number, sources: Sources): Binomials {
  const { masses } = group.shared[group.sharedCell[token]!]!;
  const ofGroup = groupIndex(group.fromGap);
  const probabilities = sources.distributions.map((distribution) => {
    const probability = distributions.probability(distribution, token);
    const isHere = groupIndex(distributions.gap(distribution, token)) === ofGroup && !isOwn(sizes[distribution]! * probability);
    return isHere ? Math.min(1, probability / masses[distribution]!) : 0;
  });
  return { trials: sources.trials, probabilities };
}

/**
 * A lower bound of P(sum = k) that is cheap to see, 0 where there is none. For 1, Bonferroni: the expected number of successes, less
 * twice that of pairs of them, which is below its square.
 */
function leastAt(k: number, { trials, probabilities }: Binomials): number {
  if (k > 1) return trials.length === 1 && probabilities[0]! < 1 ? binomialAt(k, trials[0]!, probabilities[0]!) : 0;
  let mean = 0;
  for (let index = 0; index < trials.length; index++) mean += trials[index]! * probabilities[index]!;
  return Math.max(0, mean - mean ** 2);
}
