/** Numbers of 64 bits as the two words that counter-based generators take. */
import type { Words4 } from "../../spec/philox.js";
import { philox4x32 } from "../../spec/philox.js";

/** The low word and the high one. */
export type Halves = readonly [low: number, high: number];

/**
 * The words of a number of 64 bits, with a sign or without one.
 * @throws RangeError beyond
 */
export function halves(label: string, value: bigint): Halves {
  if (value < -(1n << 63n) || value >> 64n > 0n) throw new RangeError(`"${label}" expected an integer from -2^63 to 2^64 - 1, got ${value}`);
  const bits = BigInt.asUintN(64, value);
  return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
}

/** Philox4x32-10 as cuRAND and Triton number it: the block at an offset, counted in blocks, of a subsequence. The seed is the key. */
export const blockAt = (seed: Halves, offset: Halves, subsequence: Halves): Words4 => philox4x32([...offset, ...subsequence], seed);
