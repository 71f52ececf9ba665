/** How often a shift of mass between groups is found. */
import type { Cells } from "./cells.js";
import { countDetected } from "./detection.js";

/** The rates that the tests of frequencies were given. */
export interface Rates {
  /** deviates of bins */
  readonly binCount: number;
  readonly bins: number;
  readonly tokens: number;
  /** of a single rare token; null: there is none */
  readonly rareLimit: number | null;
  /** of each group but the nearest, the deepest first */
  readonly tail: readonly number[];
}

/** The groups' expected counts where one has more by a relative bias and all others less, in proportion. */
export function raised({ groups }: Cells, index: number, bias: number): number[] {
  const total = groups.reduce((sum, { expected }) => sum + expected, 0);
  const more = groups[index]!.expected * (1 + bias);
  return groups.map(({ expected }, other) => (other === index ? more : (expected * (total - more)) / (total - groups[index]!.expected)));
}

/** P(some test of a tail mass fails), the groups' expected counts being `actual`. */
export function massDetected({ groups }: Cells, { tail }: Rates, draws: number, actual: readonly number[]): number {
  let missed = 1;
  let left = draws;
  let actualLeft = actual.reduce((sum, count) => sum + count, 0);
  let expectedLeft = groups.reduce((sum, { expected }) => sum + expected, 0);
  for (const [step, rate] of tail.entries()) {
    const index = groups.length - 1 - step;
    missed *= 1 - Math.min(1, countDetected(Math.round(left), groups[index]!.expected / expectedLeft, Math.min(1, actual[index]! / actualLeft), rate));
    expectedLeft -= groups[index]!.expected;
    actualLeft -= actual[index]!;
    left = actualLeft;
  }
  return 1 - missed;
}
