/** Neighbouring draws along the axes of the tokens' array: pairs that have no draw in common, so that those of a set are independent. */
import type { Draws } from "./draws.js";

export interface PairSet {
  /** "sample", or "row and sample, crosswise" */
  readonly along: string;
  /** whether pairs begin at even places (0 and 1, 2 and 3, ...) or at odd ones (1 and 2, ...) */
  readonly parity: "even" | "odd";
  /** indices of draws, two a pair */
  readonly indices: Int32Array;
}

/** Of each axis; and of each two axes crosswise, (i, j + 1) beside (i + 1, j), which a sampler that adds i and j to its seed mixes up. */
export function* pairSets({ shape, axes }: Pick<Draws, "shape" | "axes">): Generator<PairSet> {
  for (const [axis, name] of axes.entries()) {
    yield* parities(name, shape, axis);
    for (let other = axis + 1; other < axes.length; other++) yield* parities(`${name} and ${axes[other]}, crosswise`, shape, axis, other);
  }
}

function* parities(along: string, shape: readonly number[], axis: number, other?: number): Generator<PairSet> {
  for (const parity of ["even", "odd"] as const) {
    const indices = pairsOf(shape, parity === "even" ? 0 : 1, axis, other);
    if (indices.length > 0) yield { along, parity, indices };
  }
}

/** Entries between two neighbours along an axis. */
export function strideOf(shape: readonly number[], axis: number): number {
  return shape.slice(axis + 1).reduce((product, size) => product * size, 1);
}

function pairsOf(shape: readonly number[], start: number, axis: number, other: number | undefined): Int32Array {
  const total = shape.reduce((product, size) => product * size, 1);
  const [size, stride] = [shape[axis]!, strideOf(shape, axis)];
  const [otherSize, otherStride] = other === undefined ? [2, 0] : [shape[other]!, strideOf(shape, other)];
  const indices = new Int32Array(total + 2);
  let length = 0;
  for (let index = 0; index < total; index++) {
    const place = Math.floor(index / stride) % size;
    if (place % 2 !== start || place + 1 >= size) continue;
    if (otherStride > 0 && (Math.floor(index / otherStride) % otherSize) + 1 >= otherSize) continue;
    indices[length++] = index + otherStride;
    indices[length++] = index + stride;
  }
  return indices.slice(0, length);
}
