/**
 * Counts as independent standard normal deviates. Counts are taken one after the other, each as a binomial (or a sum of them over
 * the distributions) given those before it: a chain in which each place is uniform, whatever came before, and however small the
 * expected counts are. Their squares add up as the G statistic does, to first order the very same: docs/goodness-of-fit.md.
 */
import type { Cells, Group } from "./cells.js";
import { deviateOf, type Coins } from "./coins.js";
import type { Counts, GroupCounts } from "./counts.js";
import { sumTail, type Binomials } from "./binomial-sums.js";
import { binomialTail } from "./tails.js";

/** The draws of a group among those that no deeper group has. */
export interface GroupStep extends Binomials {
  readonly group: Group;
  readonly drawn: number;
}

/** The deepest first; the group of the highest logit has what the others leave. */
export function groupSteps({ groups }: Cells, counts: Counts, sizes: Float64Array): GroupStep[] {
  const nearer = groups.map(({ masses }) => masses.slice());
  for (let index = 1; index < groups.length; index++) nearer[index]!.forEach((mass, distribution) => (nearer[index]![distribution] = mass + nearer[index - 1]![distribution]!));
  const left = sizes.slice();
  const steps: GroupStep[] = [];
  for (let index = groups.length - 1; index > 0; index--) {
    const { group, drawn } = counts.groups[index]!;
    steps.push({ group, drawn: sum(drawn), trials: left.slice(), probabilities: group.masses.map((mass, distribution) => share(mass, nearer[index]![distribution]!)) });
    drawn.forEach((number, distribution) => (left[distribution]! -= number));
  }
  return steps;
}

/** A cell's count as a deviate. */
export interface Deviate {
  readonly z: number;
  readonly expected: number;
  readonly observed: number;
  readonly group: Group;
  /** -1: several tokens */
  readonly token: number;
  /** whose own cell it is; -1: all distributions' */
  readonly distribution: number;
  /** the index of a shared cell in its group; -1: own cells */
  readonly shared: number;
}

/** Inside each group, given how many draws of each distribution it has. */
export function deviatesOf(counts: Counts, coins: Coins): Deviate[] {
  const deviates: Deviate[] = [];
  for (const groupCounts of counts.groups) {
    const left = groupCounts.drawn.slice();
    pushOwn(deviates, groupCounts, left, coins);
    pushShared(deviates, groupCounts, left, coins);
  }
  return deviates;
}

/** left: the draws of each distribution; those of own cells are taken off. */
function pushOwn(deviates: Deviate[], { group, own }: GroupCounts, left: Float64Array, coins: Coins): void {
  for (const [distribution, cells] of group.own.entries()) {
    for (const [index, { token, probability, later, expected }] of cells.entries()) {
      const observed = own[distribution]![index]!;
      // The last cell has what the others leave.
      if (later > 0) {
        const z = deviateOf(binomialTail(observed, left[distribution]!, probability / (probability + later)), coins());
        deviates.push({ z, expected, observed, group, token, distribution, shared: -1 });
      }
      left[distribution]! -= observed;
    }
  }
}

function pushShared(deviates: Deviate[], { group, shared }: GroupCounts, left: Float64Array, coins: Coins): void {
  const rest = laterMasses(group);
  for (const [index, { masses, expected, token }] of group.shared.entries()) {
    const drawn = shared[index]!;
    const probabilities = masses.map((mass, distribution) => share(mass, mass + rest[index]![distribution]!));
    if (probabilities.some((probability) => probability > 0 && probability < 1)) {
      const observed = sum(drawn);
      const z = deviateOf(sumTail(observed, { trials: left, probabilities }), coins());
      deviates.push({ z, expected, observed, group, token, distribution: -1, shared: index });
    }
    drawn.forEach((number, distribution) => (left[distribution]! -= number));
  }
}

/** For each shared cell the mass of those after it, in each distribution. */
function laterMasses({ shared }: Group): Float64Array[] {
  const later: Float64Array[] = [];
  for (let index = shared.length - 1; index >= 0; index--) {
    const next = later[index + 1];
    later[index] = next === undefined ? shared[index]!.masses.map(() => 0) : next.map((mass, distribution) => mass + shared[index + 1]!.masses[distribution]!);
  }
  return later;
}

export interface Rotated {
  /** one for each token that has own cells, over its distributions, and the shared cells */
  readonly common: readonly Deviate[];
  /** what is left of own cells: how distributions differ among themselves */
  readonly apart: { readonly sumOfSquares: number; readonly degreesOfFreedom: number };
}

/**
 * Turns the deviates of a token's own cells so that one of them is their sum, weighted by how large the same relative bias would show
 * in each. A rotation leaves independent normal deviates independent and normal.
 */
export function rotated(deviates: readonly Deviate[]): Rotated {
  const common: Deviate[] = [];
  const byToken = new Map<number, Deviate[]>();
  for (const deviate of deviates) {
    const cells = byToken.get(deviate.token);
    if (deviate.shared >= 0) common.push(deviate);
    else if (cells === undefined) byToken.set(deviate.token, [deviate]);
    else cells.push(deviate);
  }
  let sumOfSquares = 0;
  let degreesOfFreedom = 0;
  for (const cells of byToken.values()) {
    if (cells.length === 1) {
      common.push(cells[0]!);
      continue;
    }
    const total = (of: (cell: Deviate) => number) => cells.reduce((sum, cell) => sum + of(cell), 0);
    const expected = total((cell) => cell.expected);
    const z = total((cell) => Math.sqrt(cell.expected / expected) * cell.z);
    common.push({ ...cells[0]!, z, expected, observed: total((cell) => cell.observed), distribution: -1 });
    sumOfSquares += total((cell) => cell.z ** 2) - z ** 2;
    degreesOfFreedom += cells.length - 1;
  }
  return { common, apart: { sumOfSquares, degreesOfFreedom } };
}

function share(part: number, whole: number): number {
  return whole > 0 ? Math.min(1, part / whole) : 0;
}

function sum(numbers: Float64Array): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
