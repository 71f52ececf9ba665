/**
 * Philox4x32-10, the counter-based generator behind every draw (docs/spec.md, "Random words").
 * Source: Salmon, Moraes, Dror, Shaw, SC'11; its known answers are in test/vectors.
 */
import { PHILOX_M0, PHILOX_M1, PHILOX_ROUNDS, PHILOX_W0, PHILOX_W1, PURPOSE_BITS } from "./constants.js";

/** floor(a * b / 2^32) of two u32: four 16-bit partial products, each exact in a JavaScript number. */
export function mulhi(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const middle2 = (middle & 0xffff) + aLow * bHigh;
  return aHigh * bHigh + (middle >>> 16) + (middle2 >>> 16);
}

export type Words4 = readonly [number, number, number, number];

/** Four random u32 words from a counter of four u32 words and a key of two. */
export function philox4x32(counter: Words4, key: readonly [number, number]): Words4 {
  let [x0, x1, x2, x3] = counter;
  let [key0, key1] = key;
  for (let round = 0; round < PHILOX_ROUNDS; round++) {
    const high0 = mulhi(PHILOX_M0, x0);
    const low0 = Math.imul(PHILOX_M0, x0);
    const high1 = mulhi(PHILOX_M1, x2);
    const low1 = Math.imul(PHILOX_M1, x2);
    x0 = (high1 ^ x1 ^ key0) >>> 0;
    x1 = low1 >>> 0;
    x2 = (high0 ^ x3 ^ key1) >>> 0;
    x3 = low0 >>> 0;
    key0 = (key0 + PHILOX_W0) >>> 0;
    key1 = (key1 + PHILOX_W1) >>> 0;
  }
  return [x0, x1, x2, x3];
}

/** Where a random word comes from. All are u32 but seed (u64), sample (u24) and purpose (u8). */
export interface DrawAddress {
  readonly seed: bigint;
  readonly sequence: number;
  readonly position: number;
  readonly sample: number;
  readonly purpose: number;
}

/** Philox's inputs for one token's word: four neighbouring tokens share them. */
export function wordAddress(draw: DrawAddress, token: number): { counter: Words4; key: readonly [number, number] } {
  return {
    counter: [token >>> 2, draw.position, draw.sequence, ((draw.sample << PURPOSE_BITS) | draw.purpose) >>> 0],
    key: [Number(draw.seed & 0xffffffffn), Number(draw.seed >> 32n)],
  };
}

/** The word of one token: its own among the four that it shares a counter with. */
export function tokenWord(draw: DrawAddress, token: number): number {
  const { counter, key } = wordAddress(draw, token);
  return philox4x32(counter, key)[token & 3]!;
}
