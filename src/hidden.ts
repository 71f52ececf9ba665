/**
 * Hidden states as the kernels want them: rounded once to the head's operand format, canonical, and inside the range in which
 * no partial sum can overflow (docs/spec.md, "Logits"). Problems are returned for each row; the caller decides whether to throw.
 */
import type { HeadShape } from "./backend.js";
import { RANGE_EXPONENT_LIMIT } from "./spec/constants.js";
import { bitsFromF32 } from "./spec/float.js";
import { roundingOf } from "./spec/logit.js";

export interface HiddenProblem {
  /** "not-finite": as given. "overflow": past the head's operand format. "range": sums of the row could leave f32. */
  readonly reason: "not-finite" | "overflow" | "range";
  /** The first column with the problem; for "range" the first with the row's largest magnitude. */
  readonly column: number;
  /** The value there, as given. */
  readonly value: number;
}

export interface PreparedHiddenStates {
  /** f32 [B, D]; a row with a problem is all zero. */
  readonly values: Float32Array;
  /** For each row null, or what makes it invalid. */
  readonly invalidRow: readonly (HiddenProblem | null)[];
}

/**
 * @param given f32 [B, D], row-major; left as it is
 * @param largestMagnitude max |w| over the whole head (int8: without scale), as loadHead measured it
 */
export function prepareHiddenStates(given: Float32Array, shape: Pick<HeadShape, "dtype" | "hiddenSize">, largestMagnitude: number): PreparedHiddenStates {
  const { hiddenSize } = shape;
  const values = new Float32Array(given.length);
  const invalidRow = Array.from({ length: given.length / hiddenSize }, (_, row) => {
    const target = values.subarray(row * hiddenSize, (row + 1) * hiddenSize);
    const problem = prepareRow(given.subarray(row * hiddenSize, (row + 1) * hiddenSize), shape, largestMagnitude, target);
    if (problem !== null) target.fill(0);
    return problem;
  });
  return { values, invalidRow };
}

function prepareRow(
  given: Float32Array,
  { dtype, hiddenSize }: Pick<HeadShape, "dtype" | "hiddenSize">,
  largestMagnitude: number,
  target: Float32Array,
): HiddenProblem | null {
  // By their bits: finite numbers are those below INFINITY, and magnitudes compare as integers.
  const bits = new Int32Array(given.buffer, given.byteOffset, given.length);
  const rounded = new Int32Array(target.buffer, target.byteOffset, target.length);
  const round = roundingOf(dtype);
  let largest = 0;
  let largestColumn = 0;
  for (let column = 0; column < bits.length; column++) {
    const value = bits[column]!;
    if ((value & MAGNITUDE) >= INFINITY) return { reason: "not-finite", column, value: given[column]! };
    const result = round(value);
    const magnitude = result & MAGNITUDE;
    if (magnitude >= INFINITY) return { reason: "overflow", column, value: given[column]! };
    rounded[column] = result;
    if (magnitude > largest) {
      largest = magnitude;
      largestColumn = column;
    }
  }
  if (largest >>> 23 <= hiddenExponentLimit(largestMagnitude, hiddenSize)) return null;
  return { reason: "range", column: largestColumn, value: given[largestColumn]! };
}

const MAGNITUDE = 0x7fffffff;
const INFINITY = 0x7f800000;

/**
 * max|w| * max|x| * D < 2^127, decided by exponents alone, so that every implementation refuses the same rows.
 * Each factor counts as the power of two above it: the smallest e with max < 2^e, and the smallest c with D <= 2^c.
 */
export function isInRange(largestWeight: number, largestHidden: number, hiddenSize: number): boolean {
  return biasedExponent(largestHidden) <= hiddenExponentLimit(largestWeight, hiddenSize);
}

/** The largest biased exponent that a row's largest magnitude may have, for isInRange. */
export function hiddenExponentLimit(largestWeight: number, hiddenSize: number): number {
  return RANGE_EXPONENT_LIMIT - (biasedExponent(largestWeight) - CEILING_BIAS) - (32 - Math.clz32(hiddenSize - 1)) + CEILING_BIAS;
}

/** From a biased exponent to the smallest e with magnitude < 2^e. Zero gives -126, and so always passes. */
const CEILING_BIAS = 126;

/** Of a normal f32, or 0. */
function biasedExponent(magnitude: number): number {
  return bitsFromF32(magnitude) >>> 23;
}
