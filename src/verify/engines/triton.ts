/**
 * Triton's random numbers: tl.randint4x and tl.rand.
 * Source: triton-lang/triton, python/triton/language/random.py (MIT); recorded with Triton 3.6.0 on CUDA.
 *
 * The key is the seed as 64 bits, the counter the offset in its two lower words, ten rounds. An offset of 32 bits leaves the second word 0, one of
 * 64 bits fills it. A negative seed or offset is given here as the unsigned number of the same bits, of 32 bits for an offset of 32 bits.
 *
 * Not reproduced: older releases that ran a 64-bit Philox for 64-bit offsets, other round counts, tl.randn. The recordings hold no seed or
 * offset of 2^31 or more; beyond, the layout is as read in the source.
 */
import type { Words4 } from "../../spec/philox.js";
import { blockAt } from "./philox-streams.js";

/** The f32 nearest to 4.6566127342e-10, a bit below 2^-31: the largest 31-bit number becomes the last f32 below 1. */
export const SCALE = Math.fround(4.6566127342e-10);

/** tl.randint4x(seed, offset); tl.randint gives the first. */
export const words = (seed: bigint, offset: bigint): Words4 => blockAt(seed, offset, 0n);

/** tl.rand(seed, offset), its very bits: an f32 in [0, 1). A word with its upper bit set counts as its complement. */
export function uniform(seed: bigint, offset: bigint): number {
  const word = words(seed, offset)[0] | 0;
  return Math.fround(Math.fround(word < 0 ? ~word : word) * SCALE);
}
