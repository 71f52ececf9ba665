/**
 * Operands as an engine has them: each hidden value rounded once to the head's format, and nothing set to 0 (docs/spec.md, section 4.1, does
 * that for the rule alone). An int8 weight is taken times its scale, exactly.
 */
import type { HeadShape } from "../../backend.js";
import { notFinite } from "../../head/canonical.js";
import { bf16ToF32Bits, bitsFromF32, f16ToF32Bits, f32BitsToBf16, f32BitsToF16, f32FromBits } from "../../spec/float.js";
import { roundHidden, type WeightData } from "../../spec/logit.js";

/** A row of hidden states. */
export interface HiddenRow {
  /** as the rule reads it, f32 [D] */
  readonly canonical: Float32Array;
  /** [D] */
  readonly values: Float64Array;
  /** Euclidean, of values */
  readonly norm: number;
}

const throughBf16 = (bits: number): number => bf16ToF32Bits(f32BitsToBf16(bits));
const ROUNDINGS = { bf16: throughBf16, int8: throughBf16, f16: (bits: number) => f16ToF32Bits(f32BitsToF16(bits)), f32: (bits: number) => bits } as const;

/** @param given f32 [D]. Null where a value is not finite, before or after rounding. */
export function hiddenRow({ dtype }: HeadShape, given: Float32Array): HiddenRow | null {
  const values = Float64Array.from(given, (value) => f32FromBits(ROUNDINGS[dtype](bitsFromF32(value))));
  const norm = euclidean(values);
  return Number.isFinite(norm) ? { canonical: given.map((value) => roundHidden(dtype, value)), values, norm } : null;
}

/** Rounded up. */
export function euclidean(values: Float64Array): number {
  let sum = 0;
  for (let column = 0; column < values.length; column++) sum += values[column]! * values[column]!;
  return Math.sqrt(sum) * NORM_SLACK;
}

/** For the roundings of a sum of at most 2^20 squares, and of the root. */
export const NORM_SLACK = 1 + 2 ** -30;

/** One row of weights as values. scales: of the row, for int8; without them it is as it is stored. */
export function widenWeights({ dtype, groupSize }: HeadShape, stored: WeightData, scales: Float32Array | null): Float64Array {
  switch (dtype) {
    case "bf16":
      return Float64Array.from(stored, (bits) => f32FromBits(bf16ToF32Bits(bits)));
    case "f16":
      return Float64Array.from(stored, (bits) => f32FromBits(f16ToF32Bits(bits)));
    case "f32":
      return Float64Array.from(stored);
    case "int8":
      return Float64Array.from(stored, (value, column) => value * (scales?.[Math.floor(column / groupSize)] ?? 1));
  }
}

/** @throws RangeError for the first weight of a row that is not finite, where there is one */
export function refuseNotFinite(values: Float64Array, token: number): void {
  const column = values.findIndex((value) => !Number.isFinite(value));
  if (column >= 0) throw notFinite(values[column]!, token, column);
}
