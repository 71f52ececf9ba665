/**
 * Does a bag of tokens follow softmax(logits / T)? A set of tests whose false-alarm rates are exact or bounded and add up to alpha,
 * and what they can find. How each is made, and why it holds at 1e-9: docs/goodness-of-fit.md.
 */
import { SPEC_VERSION } from "../../spec/constants.js";
import { VERSION } from "../../version.js";
import type { GofDocument, GofTest } from "../documents.js";
import { cellsOf, type Cells } from "./cells.js";
import { coinsFor, type CoinStreams } from "./coins.js";
import { countsOf, type Counts } from "./counts.js";
import { collisionTests, dependencesOf, quantileTests, shardTests, type Dependences } from "./dependence-tests.js";
import { distributionsOf, type Distributions } from "./distributions.js";
import { drawsOf, type Draws } from "./draws.js";
import { binTests, frequenciesOf, rareTests, rowTests, tailTests, type Frequencies } from "./frequency-tests.js";
import { checkGofOptions, type CheckedJudge, type CheckedTokens, type GofOptions } from "./input.js";
import { binsOf, furthestTokens, tailOf } from "./listings.js";
import { powerOf } from "./power.js";
import { rareLimit } from "./rare.js";
import { checkSupport } from "./support.js";
import type { Rates } from "./tail-bias.js";
import { shareOut } from "./weights.js";

/**
 * Tests tokens [B, N] or [N] (or more axes) against softmax(logits / T), logits [B, V] or [V].
 * A token that cannot be drawn (negative, out of range, masked) fails at once, without further tests.
 * @throws TypeError, RangeError naming the option
 */
export function goodnessOfFit(options: GofOptions): GofDocument {
  const { judge, tokens } = checkGofOptions(options);
  return judged(tokens, judge, distributionsOf(judge.logits, judge.vocabSize, judge.temperature), judge.alpha, 1).document();
}

export interface Judged {
  readonly passed: boolean;
  /** its lists and powers take as long as the tests */
  document(): GofDocument;
}

/** alpha: the rate of this look alone. looks: up to this one. */
export function judged(given: CheckedTokens, judge: CheckedJudge, distributions: Distributions, alpha: number, looks: number): Judged {
  const support = checkSupport(given, distributions);
  const head = {
    kind: "gof" as const,
    specVersion: SPEC_VERSION,
    version: VERSION,
    draws: given.given.length,
    distributions: distributions.count,
    vocabSize: judge.vocabSize,
    temperature: judge.temperature,
    alpha: judge.alpha,
    looks,
    stoppedAt: given.given.length,
  };
  if (support.tokens === null) {
    return { passed: false, document: () => ({ ...head, passed: false, tests: [support.test], binCount: 0, bins: [], tail: [], tokens: [], power: [] }) };
  }
  const draws = drawsOf(support.tokens, given.shape, given.axes, distributions);
  const cells = cellsOf(draws);
  const counts = countsOf(draws, cells);
  const { tests, rates } = testsOf(evidenceOf(draws, cells, counts, judge.shards), alpha);
  const passed = tests.every((test) => test.passed);
  const document = () => ({
    ...head,
    passed,
    tests: [support.test, ...tests],
    ...binsOf(counts, draws),
    tail: tailOf(counts, draws),
    tokens: furthestTokens(cells, counts, draws),
    power: powerOf(draws, cells, rates),
  });
  return { passed, document };
}

/** What the tests look at, whatever their rates. */
export interface Evidence {
  readonly cells: Cells;
  readonly coins: CoinStreams;
  readonly frequencies: Frequencies;
  readonly dependences: Dependences;
}

/** shards: 1: none are looked at */
export function evidenceOf(draws: Draws, cells: Cells, counts: Counts, shards: number): Evidence {
  const coins = coinsFor(draws.tokens);
  return { cells, coins, frequencies: frequenciesOf(draws, cells, counts, coins), dependences: dependencesOf(draws, cells, shards, coins) };
}

/** alpha: of all of them. rates: how it is shared among those that look at frequencies. */
export function testsOf({ cells, coins, frequencies, dependences }: Evidence, alpha: number): { tests: GofTest[]; rates: Rates } {
  const shares = shareOut(alpha, {
    bins: frequencies.common.length > 0,
    // One bin alone is all of the bins.
    tokens: frequencies.common.length > 1,
    tail: frequencies.steps.length > 0,
    collisions: dependences.collisions.length > 0,
    quantiles: dependences.quantiles.length > 0,
    rare: rareLimit(cells, alpha) !== null,
    rows: frequencies.apart.degreesOfFreedom > 0,
    shards: dependences.shards !== null,
  });
  const tail = tailTests(frequencies, shares.tail);
  const beside = [
    ...tail,
    ...rareTests(frequencies, shares.rare),
    ...rowTests(frequencies, shares.rows),
    ...collisionTests(dependences, shares.collisions, coins),
    ...quantileTests(dependences, shares.quantiles),
    ...shardTests(dependences, shares.shards, coins),
  ];
  // What the tails could not use goes to the test of all bins, which can use any rate.
  const bins = alpha - beside.reduce((sum, { threshold }) => sum + threshold, shares.tokens);
  const rates = { binCount: frequencies.common.length, bins, tokens: shares.tokens, rareLimit: shares.rare > 0 ? rareLimit(cells, shares.rare) : null, tail: tail.map(({ threshold }) => threshold) };
  return { tests: [...binTests(frequencies, shares.tokens, bins), ...beside], rates };
}
