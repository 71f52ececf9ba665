/** How many draws fell into each cell. */
import { groupIndex, isOwn, type Cells, type Group } from "./cells.js";
import { stretchesOf, type Draws } from "./draws.js";

export interface GroupCounts {
  readonly group: Group;
  /** [distributions] */
  readonly drawn: Float64Array;
  /** of the own cells, in their order */
  readonly own: Float64Array[];
  /** [distributions] of each shared cell */
  readonly shared: Float64Array[];
  /** [vocabSize], draws that fell into shared cells */
  readonly sharedTokens: Int32Array;
}

export interface Counts {
  readonly groups: readonly GroupCounts[];
  /** [vocabSize], over all distributions */
  readonly tokens: Int32Array;
}

/** draws: none of a masked token. */
export function countsOf(draws: Draws, { groups }: Cells): Counts {
  const { distributions, sizes } = draws;
  const { vocabSize, count } = distributions;
  const byGap = new Map(groups.map((group, index) => [groupIndex(group.fromGap), index]));
  const result = groups.map((group) => ({
    group,
    drawn: new Float64Array(count),
    own: group.own.map((cells) => new Float64Array(cells.length)),
    shared: group.shared.map(() => new Float64Array(count)),
    sharedTokens: new Int32Array(vocabSize),
  }));
  const tokens = new Int32Array(vocabSize);
  const ofDistribution = new Int32Array(vocabSize);
  const finish = (distribution: number, seen: readonly number[]) => {
    for (const token of seen) {
      const drawn = ofDistribution[token]!;
      const counts = result[byGap.get(groupIndex(distributions.gap(distribution, token)))!]!;
      counts.drawn[distribution]! += drawn;
      tokens[token]! += drawn;
      if (isOwn(sizes[distribution]! * distributions.probability(distribution, token))) continue;
      counts.shared[counts.group.sharedCell[token]!]![distribution]! += drawn;
      counts.sharedTokens[token]! += drawn;
    }
    for (const { group, own } of result) group.own[distribution]!.forEach(({ token }, index) => (own[distribution]![index] = ofDistribution[token]!));
    for (const token of seen) ofDistribution[token] = 0;
  };
  const stretches = stretchesOf(draws);
  let seen: number[] = [];
  for (const [index, { distribution, start, end }] of stretches.entries()) {
    for (let draw = start; draw < end; draw++) {
      const token = draws.tokens[draw]!;
      if (ofDistribution[token]!++ === 0) seen.push(token);
    }
    if (stretches[index + 1]?.distribution === distribution) continue;
    finish(distribution, seen);
    seen = [];
  }
  return { groups: result, tokens };
}
