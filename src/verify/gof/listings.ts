/** What documents list beside the tests: bins, tail groups, and the tokens that are furthest off. */
import type { GofDocument } from "../documents.js";
import type { Cells } from "./cells.js";
import { deviateOf } from "./coins.js";
import type { Counts } from "./counts.js";
import type { Draws } from "./draws.js";
import { sharedName, tokenName } from "./names.js";
import { binomialTail } from "./tails.js";

const BIN_LIMIT = 400;
const TOKEN_LIMIT = 20;

/** The bins of the document, the most expected first. */
export function binsOf(counts: Counts, { distributions }: Draws): Pick<GofDocument, "bins" | "binCount"> {
  const places: { expected: number; place: () => GofDocument["bins"][number] }[] = [];
  for (const { group, own, shared } of counts.groups) {
    for (const [distribution, cells] of group.own.entries()) {
      cells.forEach(({ token, expected }, index) =>
        places.push({ expected, place: () => ({ label: tokenName(token, distribution, distributions), tokens: 1, expected, observed: own[distribution]![index]! }) }),
      );
    }
    group.shared.forEach(({ expected, tokenCount }, index) =>
      places.push({ expected, place: () => ({ label: sharedName(group, index), tokens: tokenCount, expected, observed: total(shared[index]!) }) }),
    );
  }
  places.sort((a, b) => b.expected - a.expected);
  return { binCount: places.length, bins: places.slice(0, BIN_LIMIT).map(({ place }) => place()) };
}

export function tailOf({ groups }: Counts, { sizes, tokens }: Draws): GofDocument["tail"] {
  return groups.map(({ group: { fromGap, toGap, masses, expected }, drawn }) => {
    const variance = masses.reduce((sum, mass, distribution) => sum + sizes[distribution]! * mass * (1 - Math.min(1, mass)), 0);
    const observed = total(drawn);
    return { fromGap, toGap, expected: Math.min(expected, tokens.length), observed, z: variance > 0 ? (observed - expected) / Math.sqrt(variance) : 0 };
  });
}

/** By the likelihood ratio of each token alone. z: the normal deviate that is as unlikely. */
export function furthestTokens(cells: Cells, counts: Counts, { tokens: { length: draws } }: Draws): GofDocument["tokens"] {
  const ratios = cells.expected.map((expected, token) => {
    const observed = counts.tokens[token]!;
    return expected === 0 ? 0 : expected - observed + (observed === 0 ? 0 : observed * Math.log(observed / expected));
  });
  return largest(ratios, TOKEN_LIMIT)
    .filter((token) => ratios[token]! > 0)
    .map((token) => {
      const expected = cells.expected[token]!;
      const observed = counts.tokens[token]!;
      return { token, expected, observed, z: deviateOf(binomialTail(observed, draws, Math.min(1, expected / draws)), 0.5) };
    });
}

/** Indices of the largest values, the largest first. */
function largest(values: Float64Array, limit: number): number[] {
  const found: number[] = [];
  for (let index = 0; index < values.length; index++) {
    if (found.length === limit && values[index]! <= values[found[limit - 1]!]!) continue;
    let place = found.length;
    while (place > 0 && values[found[place - 1]!]! < values[index]!) place--;
    found.splice(place, 0, index);
    found.length = Math.min(found.length, limit);
  }
  return found;
}

function total(numbers: Float64Array): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
