/**
 * Logits in the canonical order "L32", and their step into integers (docs/spec.md, "Logits").
 * A dot product has 32 partial sums; lane = column mod 32; then a pairwise tree in lane order. Every step rounds to f32.
 */
import type { Dtype } from "../backend.js";
import { DOT_LANES, INT8_EXPONENT_OFFSET } from "./constants.js";
import { bf16ToF32Bits, bitsFromF32, canonBf16, canonF32, f16ToF32Bits, f32BitsToBf16, f32BitsToF16, f32FromBits } from "./float.js";
import { clampZ, fix } from "./score.js";

/** Weights [V, D], row-major: bf16 and f16 as their bits. */
export type WeightData = Uint16Array | Float32Array | Int8Array;

/** Weights in a buffer, as the kind of array their dtype is kept in. */
export function weightsIn(buffer: ArrayBuffer, dtype: Dtype): WeightData {
  switch (dtype) {
    case "bf16":
    case "f16":
      return new Uint16Array(buffer);
    case "f32":
      return new Float32Array(buffer);
    case "int8":
      return new Int8Array(buffer);
  }
}

export interface Head {
  readonly dtype: Dtype;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly weights: WeightData;
  /** int8: f32 [V * D / groupSize] */
  readonly scales?: Float32Array;
  /** int8: columns that share a scale */
  readonly groupSize?: number;
}

/** The operand a weight stands for, as an f32 value. */
export function decodeWeight(dtype: Dtype, stored: number): number {
  switch (dtype) {
    case "bf16":
      return f32FromBits(canonBf16(bf16ToF32Bits(stored)));
    case "f16":
      return f32FromBits(f16ToF32Bits(stored));
    case "f32":
      return f32FromBits(canonF32(bitsFromF32(stored)));
    case "int8":
      return stored;
  }
}

/** Rounds a hidden state, once, to the operand format of the head: bf16 for bf16 and int8, f16 for f16, f32 for f32. */
export function roundHidden(dtype: Dtype, value: number): number {
  return f32FromBits(roundingOf(dtype)(bitsFromF32(value)));
}

/** roundHidden on f32 bits. */
export function roundingOf(dtype: Dtype): (bits: number) => number {
  return ROUNDINGS[dtype];
}

const roundToBf16 = (bits: number): number => canonBf16(bf16ToF32Bits(f32BitsToBf16(bits)));
const roundToF16 = (bits: number): number => f16ToF32Bits(f32BitsToF16(bits));
const ROUNDINGS = { bf16: roundToBf16, int8: roundToBf16, f16: roundToF16, f32: canonF32 } as const;

/** The L32 dot product of two equally long vectors of f32 values. */
export function dotL32(weights: Float32Array, hidden: Float32Array): number {
  let sums = new Float32Array(DOT_LANES);
  for (let column = 0; column < weights.length; column++) {
    const lane = column % DOT_LANES;
    // fround(double product) is the f32 product: 24 + 24 bits fit in a double. The same holds for the sum.
    const product = Math.fround(weights[column]! * hidden[column]!);
    sums[lane] = Math.fround(sums[lane]! + product);
  }
  while (sums.length > 1) {
    sums = Float32Array.from({ length: sums.length / 2 }, (_, j) => Math.fround(sums[2 * j]! + sums[2 * j + 1]!));
  }
  return sums[0]!;
}

/** The operands of one row of the head, f32 [D]. */
export function weightRow(head: Head, token: number): Float32Array {
  const row = new Float32Array(head.hiddenSize);
  const start = token * head.hiddenSize;
  for (let column = 0; column < row.length; column++) row[column] = decodeWeight(head.dtype, head.weights[start + column]!);
  return row;
}

/** Z of one token, Q31.32, and the f32 logit it came from (null for int8, whose Z is made of scaled group sums). hidden: rounded. */
export type LogitOf = (head: Head, hidden: Float32Array, token: number) => { z: bigint; logitBits: number | null };

/** The rule's. */
export function logitOf(head: Head, hidden: Float32Array, token: number): ReturnType<LogitOf> {
  const weights = weightRow(head, token);
  if (head.dtype !== "int8") {
    const logitBits = bitsFromF32(dotL32(weights, hidden));
    return { z: fix(logitBits).z, logitBits };
  }
  const groupSize = head.groupSize!;
  const groups = head.hiddenSize / groupSize;
  let z = 0n;
  for (let group = 0; group < groups; group++) {
    const columns = [group * groupSize, (group + 1) * groupSize] as const;
    const sum = dotL32(weights.subarray(...columns), hidden.subarray(...columns));
    z = clampZ(z + scaledSum(sum, head.scales![token * groups + group]!));
  }
  return { z, logitBits: null };
}

/** Z [V] from one hidden state [D], which is rounded here to the head's operand format (again is harmless). */
export function rowZ(head: Head, hiddenState: Float32Array, zOf: LogitOf = logitOf): BigInt64Array {
  const hidden = hiddenState.map((value) => roundHidden(head.dtype, value));
  return BigInt64Array.from({ length: head.vocabSize }, (_, token) => zOf(head, hidden, token).z);
}

/** sum * scale in Q31.32, truncated toward zero and clamped: an exact product of two 24-bit significands. */
export function scaledSum(sum: number, scale: number): bigint {
  if (sum === 0) return 0n;
  const sumBits = bitsFromF32(sum);
  const scaleBits = bitsFromF32(scale);
  const product = significand(sumBits) * significand(scaleBits);
  const shift = ((sumBits >>> 23) & 255) + ((scaleBits >>> 23) & 255) - INT8_EXPONENT_OFFSET;
  const magnitude = shift >= 0 ? product << BigInt(shift) : product >> BigInt(-shift);
  return clampZ(sumBits >>> 31 ? -magnitude : magnitude);
}

function significand(bits: number): bigint {
  return BigInt((bits & 0x7fffff) | 0x800000);
}
