/** The tests of how often tokens come: tail masses, bins, single tokens, rare tokens, rows among themselves. */
import type { GofTest } from "../documents.js";
import type { Cells } from "./cells.js";
import type { CoinStreams } from "./coins.js";
import { testCount } from "./count-test.js";
import type { Counts } from "./counts.js";
import { deviatesOf, groupSteps, rotated, type Deviate, type GroupStep, type Rotated } from "./deviates.js";
import type { Draws } from "./draws.js";
import { largestAbove, limitOfLargest, sumAboveWithin } from "./joint.js";
import { deviateName, drawnText, gapText } from "./names.js";
import { rareLimit, testRare } from "./rare.js";
import { chiSquareAbove } from "./special.js";
import { toTest } from "./to-test.js";

/** Counts made ready for tests. */
export interface Frequencies extends Rotated {
  readonly draws: Draws;
  readonly cells: Cells;
  readonly counts: Counts;
  readonly steps: readonly GroupStep[];
  readonly coins: CoinStreams;
}

/** Streams of coins. */
const [STEP_COINS, CELL_COINS, RARE_COINS] = [1, 2, 3];

export function frequenciesOf(draws: Draws, cells: Cells, counts: Counts, coins: CoinStreams): Frequencies {
  return { draws, cells, counts, coins, steps: groupSteps(cells, counts, draws.sizes), ...rotated(deviatesOf(counts, coins(CELL_COINS))) };
}

/** One for each group but that of the highest logit; what one cannot use of the rate goes to those after it. */
export function tailTests({ steps, coins }: Frequencies, offered: number): GofTest[] {
  const coin = coins(STEP_COINS);
  let left = offered;
  return steps.map((step, index) => {
    const { group, drawn } = step;
    const test = testCount(drawn, step, left / (steps.length - index), coin());
    left -= test.threshold;
    const name = gapText(group);
    const question = `Do the tokens whose logit / T lies ${group.fromGap}${group.toGap === null ? " or more" : ` to ${group.toGap}`} below the highest have their mass?`;
    return toTest({ name: `tail ${name}`, question, statistic: drawn, ...test, detail: drawnText(`a token at ${name}`, drawn, group.expected) });
  });
}

/** None where no token is rare. */
export function rareTests({ draws, cells, counts, coins }: Frequencies, offered: number): GofTest[] {
  const limit = rareLimit(cells, offered);
  if (limit === null) return [];
  const test = testRare(draws, counts, offered, limit, coins(RARE_COINS));
  return [toTest({ name: "rare tokens", question: "Is no rare token drawn too often, given how often its bin is?", ...test })];
}

/** None where there is one distribution, or no token that is frequent in two of them. */
export function rowTests({ apart }: Frequencies, threshold: number): GofTest[] {
  const { sumOfSquares: statistic, degreesOfFreedom } = apart;
  if (degreesOfFreedom === 0) return [];
  const pValue = chiSquareAbove(statistic, degreesOfFreedom);
  const question = "Do rows with different logits differ among themselves as they should?";
  return [toTest({ name: "rows", question, statistic, degreesOfFreedom, pValue, threshold, detail: "the rows' tokens do not fit their own logits" })];
}

/** Single bins and all of them, which share their rates exactly: joint.ts. */
export function binTests({ common, draws }: Frequencies, tokenRate: number, sumRate: number): GofTest[] {
  const count = common.length;
  if (count === 0) return [];
  const statistic = common.reduce((sum, { z }) => sum + z * z, 0);
  const worst = common.toSorted((a, b) => Math.abs(b.z) - Math.abs(a.z)).slice(0, 3);
  const told = (deviate: Deviate) => drawnText(deviateName(deviate, draws.distributions), deviate.observed, deviate.expected);
  const largest = Math.abs(worst[0]!.z);
  const limit = tokenRate > 0 ? limitOfLargest(tokenRate, count) : Infinity;
  const pValue = largest < limit && tokenRate > 0 ? sumAboveWithin(statistic, count, limit) : chiSquareAbove(statistic, count);
  const sum = toTest({
    name: "g-test",
    question: "Do the counts of all bins together fit, given those of the tails?",
    statistic,
    degreesOfFreedom: count,
    pValue,
    threshold: sumRate,
    detail: worst.map(told).join("; "),
  });
  if (tokenRate === 0) return [sum];
  const question = "Does no single bin come too often or too seldom?";
  return [sum, toTest({ name: "tokens", question, statistic: largest, pValue: largestAbove(largest, count), threshold: tokenRate, detail: told(worst[0]!) })];
}
