/**
 * The partition of all (distribution, token) pairs by which counts are judged.
 *   groups: by how far logit / T lies below the highest
 *   own cells: a token of one distribution, where at least MIN_EXPECTED draws are expected of it
 *   shared cells: of what is left in a group, a token of all distributions, or several tokens that are neighbours in expected counts
 */
import type { Draws } from "./draws.js";

/** The usual minimum for a bin's expected count. */
const MIN_EXPECTED = 5;
/** Groups are so many wide in logit / T; the last has no end. */
const GROUP_WIDTH = 5;
const GROUP_LIMIT = 9;
/** Shared cells times distributions: what is held in memory. */
const MASS_LIMIT = 1 << 24;

export interface OwnCell {
  readonly distribution: number;
  readonly token: number;
  readonly probability: number;
  /** of what comes after it in its distribution's group */
  readonly later: number;
  readonly expected: number;
}

export interface SharedCell {
  /** -1: several tokens */
  token: number;
  tokenCount: number;
  expected: number;
  /** [distributions], the probability of the cell in each */
  readonly masses: Float64Array;
}

export interface Group {
  readonly fromGap: number;
  /** null: no end */
  readonly toGap: number | null;
  /** [distributions], its probability in each */
  readonly masses: Float64Array;
  /** [distributions], the sum of its tokens' squared probabilities */
  readonly squares: Float64Array;
  expected: number;
  /** by distribution, the most probable first */
  readonly own: OwnCell[][];
  /** the most expected first */
  shared: SharedCell[];
  /** [vocabSize], the expected count of what is in shared cells, and the index of the cell; -1: none */
  readonly sharedExpected: Float64Array;
  readonly sharedCell: Int32Array;
}

export interface Cells {
  /** those with a token, the nearest to the highest logit first */
  readonly groups: readonly Group[];
  /** [vocabSize], the expected count of each token over all distributions */
  readonly expected: Float64Array;
  /** the expected counts of tokens that share a cell which draws enough to tell them apart, the smallest first */
  readonly rare: Float64Array;
}

/** -1 for a masked token. */
export function groupIndex(gap: number): number {
  return gap === Infinity ? -1 : Math.min(GROUP_LIMIT - 1, Math.floor(gap / GROUP_WIDTH));
}

/** Which cell a token that is not masked falls into: an own one of its distribution, or a shared one of its group. */
export function isOwn(expected: number): boolean {
  return expected >= MIN_EXPECTED;
}

export function cellsOf(draws: Draws): Cells {
  const { distributions, sizes, tokens } = draws;
  const { vocabSize, count } = distributions;
  const byIndex: (Group | undefined)[] = [];
  const expected = new Float64Array(vocabSize);
  for (let distribution = 0; distribution < count; distribution++) {
    const size = sizes[distribution]!;
    for (let token = 0; token < vocabSize; token++) {
      const index = groupIndex(distributions.gap(distribution, token));
      if (index < 0) continue;
      const probability = distributions.probability(distribution, token);
      const group = (byIndex[index] ??= emptyGroup(index, count, vocabSize));
      group.masses[distribution]! += probability;
      group.squares[distribution]! += probability ** 2;
      group.expected += size * probability;
      expected[token]! += size * probability;
      if (isOwn(size * probability)) group.own[distribution]!.push({ distribution, token, probability, later: 0, expected: size * probability });
      else group.sharedExpected[token]! += size * probability;
    }
  }
  const groups = byIndex.filter((group) => group !== undefined);
  const minimum = Math.max(MIN_EXPECTED, (tokens.length * count) / MASS_LIMIT);
  for (const group of groups) pool(group, minimum, count);
  addMasses(draws, groups, byIndex);
  for (const group of groups) orderOwn(group);
  return { groups, expected, rare: rareOf(groups) };
}

/** Bins with fewer expected draws are judged by their counts alone. */
const RARE_BIN_EXPECTED = 1;

/** Whether a shared cell has several tokens, and draws enough to tell them apart. */
export function isRare({ token, expected }: SharedCell): boolean {
  return token < 0 && expected >= RARE_BIN_EXPECTED;
}

function rareOf(groups: readonly Group[]): Float64Array {
  const expected: number[] = [];
  for (const { shared, sharedCell, sharedExpected } of groups) {
    for (let token = 0; token < sharedCell.length; token++) {
      const cell = sharedCell[token]!;
      if (cell >= 0 && isRare(shared[cell]!)) expected.push(sharedExpected[token]!);
    }
  }
  return Float64Array.from(expected).sort();
}

function emptyGroup(index: number, count: number, vocabSize: number): Group {
  return {
    fromGap: index * GROUP_WIDTH,
    toGap: index === GROUP_LIMIT - 1 ? null : (index + 1) * GROUP_WIDTH,
    masses: new Float64Array(count),
    squares: new Float64Array(count),
    expected: 0,
    own: Array.from({ length: count }, () => []),
    shared: [],
    sharedExpected: new Float64Array(vocabSize),
    sharedCell: new Int32Array(vocabSize).fill(-1),
  };
}

/** Makes shared cells with at least `minimum` expected draws; what is left at the end joins the last. */
function pool(group: Group, minimum: number, count: number): void {
  const { sharedExpected, sharedCell, shared } = group;
  const members = Int32Array.from(sharedExpected.keys()).filter((token) => sharedExpected[token]! > 0);
  members.sort((a, b) => sharedExpected[b]! - sharedExpected[a]! || a - b);
  let left = 0;
  for (const token of members) left += sharedExpected[token]!;
  let open: SharedCell | undefined;
  for (const token of members) {
    const expected = sharedExpected[token]!;
    if (open === undefined) {
      open = { token, tokenCount: 0, expected: 0, masses: new Float64Array(count) };
      shared.push(open);
    }
    sharedCell[token] = shared.length - 1;
    if (++open.tokenCount > 1) open.token = -1;
    open.expected += expected;
    left -= expected;
    if (open.expected >= minimum && left >= minimum) open = undefined;
  }
}

function addMasses({ distributions, sizes }: Draws, groups: readonly Group[], byIndex: readonly (Group | undefined)[]): void {
  if (groups.every(({ shared }) => shared.length === 0)) return;
  for (let distribution = 0; distribution < distributions.count; distribution++) {
    for (let token = 0; token < distributions.vocabSize; token++) {
      const index = groupIndex(distributions.gap(distribution, token));
      if (index < 0) continue;
      const probability = distributions.probability(distribution, token);
      if (isOwn(sizes[distribution]! * probability)) continue;
      const group = byIndex[index]!;
      group.shared[group.sharedCell[token]!]!.masses[distribution]! += probability;
    }
  }
}

/** Sums what comes later from the small end, so that the small keeps its digits. */
function orderOwn(group: Group): void {
  for (const [distribution, cells] of group.own.entries()) {
    cells.sort((a, b) => b.probability - a.probability || a.token - b.token);
    let later = 0;
    for (const { masses } of group.shared) later += masses[distribution]!;
    for (let index = cells.length - 1; index >= 0; index--) {
      const cell = cells[index]!;
      cells[index] = { ...cell, later };
      later += cell.probability;
    }
  }
}
