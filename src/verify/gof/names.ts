/** How cells and numbers are called in documents. */
import type { Group } from "./cells.js";
import type { Deviate } from "./deviates.js";
import type { Distributions } from "./distributions.js";

/** Three digits, or all of a whole number. */
export function numberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : String(Number(value.toPrecision(3)));
}

export function gapText({ fromGap, toGap }: Pick<Group, "fromGap" | "toGap">): string {
  return toGap === null ? `gap ${fromGap} and more` : `gap ${fromGap}-${toGap}`;
}

export function drawnText(name: string, observed: number, expected: number): string {
  return `${name} was drawn ${observed} times, ${numberText(expected)} expected`;
}

/** Of a cell with one token. distribution: -1 where all have it. */
export function tokenName(token: number, distribution: number, { count, rowOf }: Distributions): string {
  return distribution < 0 || count === 1 ? `token ${token}` : `row ${rowOf[distribution]}, token ${token}`;
}

export function sharedName(group: Group, index: number): string {
  const { token, tokenCount } = group.shared[index]!;
  return token >= 0 ? `${gapText(group)}, token ${token}` : `${gapText(group)}, ${tokenCount} tokens`;
}

export function deviateName(deviate: Deviate, distributions: Distributions): string {
  if (deviate.shared >= 0) return sharedName(deviate.group, deviate.shared);
  return tokenName(deviate.token, deviate.distribution, distributions);
}
