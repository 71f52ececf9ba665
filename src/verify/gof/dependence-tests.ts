/** The tests of whether neighbouring draws know of each other: along each axis, crosswise, and between shards of the vocabulary. */
import type { GofTest } from "../documents.js";
import type { Cells } from "./cells.js";
import type { CoinStreams } from "./coins.js";
import { collisionsOf, type Collisions } from "./collisions.js";
import { contingencyOf } from "./contingency.js";
import { correlationAlong, normalScores } from "./correlation.js";
import { testCount } from "./count-test.js";
import { sourcesOf, type Draws } from "./draws.js";
import { numberText } from "./names.js";
import { pairSets, type PairSet } from "./pairs.js";
import { quantilesOf } from "./quantiles.js";
import { shardWins, type ShardWins } from "./shards.js";
import { chiSquareAbove } from "./special.js";
import { toTest, type Tested } from "./to-test.js";

export interface Dependences {
  readonly collisions: readonly { readonly set: Omit<PairSet, "indices">; readonly found: Collisions }[];
  /** tests that can use all of the rate they get; they lack it */
  readonly quantiles: readonly Omit<Tested, "threshold">[];
  /** null: shards are not looked at */
  readonly shards: ShardWins | null;
}

/** Streams of coins: of one number each, but QUANTILE_COINS; those of tables count upward. */
const [QUANTILE_COINS, COLLISION_COINS, SHARD_COINS, TABLE_COINS] = [4, 5, 6, 16];

export function dependencesOf(draws: Draws, cells: Cells, shards: number, coins: CoinStreams): Dependences {
  if (openDraws(draws, cells) < OPEN_DRAWS) return { collisions: [], quantiles: [], shards: null };
  const sources = sourcesOf(draws);
  const quantiles = quantilesOf(draws, coins(QUANTILE_COINS));
  const collisions: { set: Omit<PairSet, "indices">; found: Collisions }[] = [];
  const tables: Omit<Tested, "threshold">[] = [];
  let streams = 0;
  for (const set of pairSets(draws)) {
    const found = collisionsOf(draws, sources, set);
    collisions.push({ set: { along: set.along, parity: set.parity }, found });
    const table = set.parity === "even" ? contingencyOf(quantiles, set, coins(TABLE_COINS + streams++)) : null;
    if (table !== null) tables.push(tableTest(set.along, table));
  }
  return { collisions, quantiles: [...tables, ...correlations(draws, quantiles)], shards: shards > 1 ? shardWins(draws, sources, shards) : null };
}

/** Expected draws that a second draw of the same distribution would not repeat: with fewer, dependence cannot show. */
const OPEN_DRAWS = 20;

function openDraws({ sizes }: Draws, { groups }: Cells): number {
  return sizes.reduce((sum, size, distribution) => sum + size * (1 - groups.reduce((squares, group) => squares + group.squares[distribution]!, 0)), 0);
}

function tableTest(along: string, { sumOfSquares, degreesOfFreedom }: { sumOfSquares: number; degreesOfFreedom: number }): Omit<Tested, "threshold"> {
  return {
    name: `pairs along ${along}`,
    question: `Are the quantiles of neighbours along ${along} independent, as a table of them?`,
    statistic: sumOfSquares,
    degreesOfFreedom,
    pValue: chiSquareAbove(sumOfSquares, degreesOfFreedom),
    detail: `neighbours along ${along} depend on each other`,
  };
}

function correlations(draws: Draws, quantiles: Float64Array): Omit<Tested, "threshold">[] {
  const scores = normalScores(quantiles);
  return draws.axes.flatMap((name, axis) => {
    const found = correlationAlong(draws, axis, scores);
    if (found === null) return [];
    const question = `Is there no correlation between the quantiles of neighbours along ${name}?`;
    const sign = found.statistic > 0 ? "alike" : "opposite";
    return [{ name: `correlation along ${name}`, question, ...found, detail: `neighbours along ${name} are ${sign}: ${numberText(found.statistic)} standard deviations` }];
  });
}

export function collisionTests({ collisions }: Dependences, offered: number, coins: CoinStreams): GofTest[] {
  const coin = coins(COLLISION_COINS);
  return collisions.map(({ set: { along, parity }, found }) => {
    const { observed, expected, pairs } = found;
    return toTest({
      name: `equal neighbours along ${along}, ${parity}`,
      question: `Are neighbours along ${along} (pairs that begin at ${parity} places) the same token as often as chance has it?`,
      statistic: observed,
      pValue: testCount(observed, found, offered / collisions.length, coin()).pValue,
      // Also where the count cannot use all of it: what it can use depends on the tokens, and no other threshold may.
      threshold: offered / collisions.length,
      detail: `of ${pairs} pairs of neighbours along ${along} ${observed} are the same token, ${numberText(expected)} expected`,
    });
  });
}

export function quantileTests({ quantiles }: Dependences, offered: number): GofTest[] {
  return quantiles.map((test) => toTest({ ...test, threshold: offered / quantiles.length }));
}

export function shardTests({ shards }: Dependences, offered: number, coins: CoinStreams): GofTest[] {
  if (shards === null) return [];
  const { observed, expected, draws } = shards;
  const question = "Of tokens with one place in their shards, does the most probable win only as often as it should?";
  const detail = `the most probable of the tokens with one place in their shards won ${observed} of ${draws} draws, ${numberText(expected)} expected`;
  return [toTest({ name: "shards", question, statistic: observed, pValue: testCount(observed, shards, offered, coins(SHARD_COINS)()).pValue, threshold: offered, detail })];
}
