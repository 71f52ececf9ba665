/** What the draws at hand can find: the smallest biases that raise an alarm with probability POWER. */
import type { GofDocument } from "../documents.js";
import { OF_ALL, OF_MASS, OF_TOKEN } from "./biases.js";
import type { Cells } from "./cells.js";
import { binLimits, shiftsDetected, smallest, type BinLimits } from "./detection.js";
import type { Draws } from "./draws.js";
import { gapText, numberText } from "./names.js";
import { massDetected, raised, type Rates } from "./tail-bias.js";
import { tokenBias } from "./token-bias.js";

const POWER = 0.9;

/** A token of a mean probability near each of these is named. */
const PROBABILITIES = [1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

export function powerOf(draws: Draws, cells: Cells, rates: Rates): GofDocument["power"] {
  const limits = rates.binCount > 0 && rates.bins > 0 ? binLimits(rates.binCount, rates.tokens, rates.bins) : null;
  const found: { what: string; smallest: number | null }[] = [];
  for (const token of exampleTokens(cells, draws.tokens.length)) {
    const probability = cells.expected[token]! / draws.tokens.length;
    const what = `${OF_TOKEN} ${token}, of probability ${numberText(probability)}`;
    found.push({ what, smallest: smallest(tokenBias(draws, cells, rates, limits, token), POWER, (1 - 1e-9) / probability - 1) });
  }
  for (const [index, { expected }] of cells.groups.entries()) {
    const share = expected / draws.tokens.length;
    const what = `${OF_MASS} at ${gapText(cells.groups[index]!)}, of probability ${numberText(share)}`;
    const detected = (bias: number) => massDetected(cells, rates, draws.tokens.length, raised(cells, index, bias));
    found.push({ what, smallest: cells.groups.length > 1 ? smallest(detected, POWER, (1 - 1e-9) / share - 1) : null });
  }
  if (limits !== null && manyTokens(cells)) found.push({ what: OF_ALL, smallest: smallestSpread(draws, cells, limits) });
  return found.flatMap(({ what, smallest }) => (smallest === null ? [] : [{ what, smallest, probability: POWER }]));
}

/** The most probable token, and the nearest to each power of ten below it. */
function exampleTokens({ expected }: Cells, draws: number): number[] {
  const nearest = PROBABILITIES.map((probability) => {
    let best = 0;
    const distance = (token: number) => (expected[token]! > 0 ? Math.abs(Math.log(expected[token]! / draws / probability)) : Infinity);
    for (let token = 1; token < expected.length; token++) if (distance(token) < distance(best)) best = token;
    return { token: best, isNear: probability === 1 || distance(best) < Math.log(2) };
  });
  return [...new Set(nearest.filter(({ isNear }) => isNear).map(({ token }) => token))];
}

/** Whether the tokens beside the most probable one are as many as this, counted by their probabilities: with few, signs decide. */
const FEWEST_TOKENS = 5;

function manyTokens({ expected }: Cells): boolean {
  let [largest, sum, squares] = [0, 0, 0];
  for (const value of expected) {
    largest = Math.max(largest, value);
    sum += value;
    squares += value ** 2;
  }
  return (sum - largest) ** 2 >= FEWEST_TOKENS * (squares - largest ** 2);
}

/** Of biases that are independent from token to token, centred, and weighted by probability. */
function smallestSpread({ sizes, tokens }: Draws, { groups }: Cells, limits: BinLimits): number | null {
  let shown = 0;
  let squares = 0;
  for (const { own, shared, sharedExpected, sharedCell, masses, squares: ofGroup } of groups) {
    for (const cells of own) for (const { expected } of cells) shown += expected * keptOf(expected);
    const sharedSquares = new Float64Array(shared.length);
    for (const [token, cell] of sharedCell.entries()) if (cell >= 0) sharedSquares[cell]! += sharedExpected[token]! ** 2;
    shared.forEach(({ expected }, cell) => (shown += (sharedSquares[cell]! / expected) * keptOf(expected)));
    ofGroup.forEach((square, distribution) => {
      shown -= square > 0 ? (sizes[distribution]! * square) / masses[distribution]! : 0;
      squares += (sizes[distribution]! / tokens.length) * square;
    });
  }
  const noncentrality = (bias: number) => (bias ** 2 * Math.max(0, shown)) / (1 - squares);
  return smallest((bias) => shiftsDetected(limits, noncentrality(bias)), POWER, 1);
}

/** What a count's steps, filled by coins, leave of a shift: the variance inside a step is 1/12. */
function keptOf(expected: number): number {
  return 1 / (1 + 1 / (12 * expected));
}
