/** Tokens that share a cell because few draws are expected of them: was one of them drawn too often, given its cell's count? */
import { groupIndex, isOwn, isRare, type Cells } from "./cells.js";
import { randomisedAbove, type Coins } from "./coins.js";
import type { CountTest } from "./count-test.js";
import type { Counts, GroupCounts } from "./counts.js";
import type { Draws } from "./draws.js";
import { drawnText } from "./names.js";
import { sumTail, type Binomials } from "./binomial-sums.js";

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

/** How far the first guess of a probability may be off without hiding a smaller one. */
const SLACK = 10;

/** limit: of rareLimit */
export function testRare(draws: Draws, counts: Counts, offered: number, limit: number, coins: Coins): RareTest {
  const scale = offered / limit;
  let best = { pValue: 1, statistic: 0, detail: "" };
  for (const groupCounts of counts.groups) {
    const { group, shared, sharedTokens } = groupCounts;
    const drawn = shared.map((ofCell) => ofCell.reduce((sum, count) => sum + count, 0));
    for (let token = 0; token < sharedTokens.length; token++) {
      const observed = sharedTokens[token]!;
      if (observed === 0) continue;
      const index = group.sharedCell[token]!;
      const cell = group.shared[index]!;
      if (!isRare(cell)) continue;
      const expected = group.sharedExpected[token]!;
      const coin = coins();
      if (scale * coin * poissonAt(observed, (drawn[index]! * expected) / cell.expected) > SLACK * best.pValue) continue;
      const pValue = scale * randomisedAbove(sumTail(observed, inCell(draws, groupCounts, token)), coin);
      if (pValue < best.pValue) best = { pValue, statistic: observed, detail: drawnText(`token ${token}`, observed, expected) };
    }
  }
  return { ...best, threshold: offered };
}

/** P(X = k) of a Poisson variable, k >= 1. */
function poissonAt(k: number, mean: number): number {
  let value = Math.exp(-mean);
  for (let factor = 1; factor <= k; factor++) value *= mean / factor;
  return value;
}

/** How often the token is drawn, given how many draws of each distribution its cell has. */
function inCell({ distributions, sizes }: Draws, { group, shared }: GroupCounts, token: number): Binomials {
  const cell = group.sharedCell[token]!;
  const trials = shared[cell]!;
  const ofGroup = groupIndex(group.fromGap);
  const probabilities = trials.map((_, distribution) => {
    const probability = distributions.probability(distribution, token);
    const isHere = groupIndex(distributions.gap(distribution, token)) === ofGroup && !isOwn(sizes[distribution]! * probability);
    return isHere ? Math.min(1, probability / group.shared[cell]!.masses[distribution]!) : 0;
  });
  return { trials, probabilities };
}
