/** The tokens to judge, and which distribution each was drawn from. */
import type { Distributions } from "./distributions.js";

export interface Draws {
  readonly tokens: Int32Array;
  /** sizes of the axes, row-major; where there are several rows of logits the first axis has one place for each */
  readonly shape: readonly number[];
  readonly axes: readonly string[];
  readonly distributions: Distributions;
  /** how many draws each distribution has */
  readonly sizes: Float64Array;
}

export function drawsOf(tokens: Int32Array, shape: readonly number[], axes: readonly string[], distributions: Distributions): Draws {
  const sizes = new Float64Array(distributions.count);
  const perRow = tokens.length / distributions.ofRow.length;
  for (const distribution of distributions.ofRow) sizes[distribution]! += perRow;
  return { tokens, shape, axes, distributions, sizes };
}

/** The distribution of each draw. */
export function sourcesOf({ tokens, distributions: { ofRow } }: Draws): Int32Array {
  const sources = new Int32Array(tokens.length);
  const perRow = tokens.length / ofRow.length;
  ofRow.forEach((distribution, row) => sources.fill(distribution, row * perRow, (row + 1) * perRow));
  return sources;
}

/** A distribution and one of its stretches of draws. */
export interface Stretch {
  readonly distribution: number;
  readonly start: number;
  readonly end: number;
}

/** The rows of draws, those of one distribution one after the other. */
export function stretchesOf({ tokens, distributions: { ofRow } }: Draws): Stretch[] {
  const perRow = tokens.length / ofRow.length;
  const stretches = Array.from(ofRow, (distribution, row) => ({ distribution, start: row * perRow, end: (row + 1) * perRow }));
  return stretches.sort((a, b) => a.distribution - b.distribution || a.start - b.start);
}
