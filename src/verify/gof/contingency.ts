/**
 * Quantiles of neighbouring draws in a square table. Given its margins each cell is hypergeometric, one after the other: deviates that
 * are exactly normal and independent, of each other and of how often each token came.
 */
import { deviateOf, type Coins } from "./coins.js";
import type { PairSet } from "./pairs.js";
import { hypergeometricTail } from "./tails.js";

/** At most so many bins a side, and so many pairs expected in a cell. */
const LARGEST_SIDE = 8;
const CELL_EXPECTED = 5;

export interface Contingency {
  readonly sumOfSquares: number;
  readonly degreesOfFreedom: number;
}

/** null: too few pairs */
export function contingencyOf(quantiles: Float64Array, { indices }: PairSet, coins: Coins): Contingency | null {
  const side = Math.min(LARGEST_SIDE, Math.floor(Math.sqrt(indices.length / 2 / CELL_EXPECTED)));
  if (side < 2) return null;
  const bin = (index: number) => Math.floor(quantiles[index]! * side);
  const table = Array.from({ length: side }, () => new Array<number>(side).fill(0));
  for (let index = 0; index < indices.length; index += 2) table[bin(indices[index]!)]![bin(indices[index + 1]!)]!++;
  return { sumOfSquares: sumOfSquares(table, coins), degreesOfFreedom: (side - 1) ** 2 };
}

/** Row by row, column by column: a cell given what its row and its column have left. */
function sumOfSquares(table: readonly (readonly number[])[], coins: Coins): number {
  const columns = table[0]!.map((_, column) => table.reduce((sum, row) => sum + row[column]!, 0));
  let sum = 0;
  for (const row of table.slice(0, -1)) {
    let drawn = row.reduce((total, count) => total + count, 0);
    let population = columns.reduce((total, count) => total + count, 0);
    for (const [column, count] of row.slice(0, -1).entries()) {
      sum += deviateOf(hypergeometricTail(count, population, columns[column]!, drawn), coins()) ** 2;
      population -= columns[column]!;
      drawn -= count;
    }
    row.forEach((count, column) => (columns[column]! -= count));
  }
  return sum;
}
