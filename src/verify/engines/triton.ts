/**
 * Triton's random numbers: tl.randint4x and tl.rand. A stream, no sampler: what a kernel makes of it is the kernel's.
 * Source: triton-lang/triton, python/triton/language/random.py (MIT); recorded with Triton 3.6.0 on CUDA.
 *
 * The key is the seed as 64 bits, the counter the offset in its two lower words, ten rounds. An offset of 32 bits leaves the second word 0, also
 * where it is negative; one of 64 bits fills it. A negative seed is extended by its sign.
 *
 * Not reproduced: older releases that ran a 64-bit Philox for 64-bit offsets, other round counts, tl.randn.
 */
import type { Words4 } from "../../spec/philox.js";
import { blockAt, halves, type Halves } from "./words64.js";

/** The f32 nearest to 4.6566127342e-10, a bit below 2^-31: the largest 31-bit number becomes the last f32 below 1. */
export const SCALE = Math.fround(4.6566127342e-10);

const NO_SUBSEQUENCE: Halves = [0, 0];

/** tl.randint4x(seed, offset) for an offset of 64 bits; tl.randint gives the first. */
export const words = (seed: bigint, offset: bigint): Words4 => blockAt(halves("seed", seed), halves("offset", offset), NO_SUBSEQUENCE);

/** The same for a seed in halves and an offset of 32 bits, u32. */
export const wordsAt = (seed: Halves, offset: number): Words4 => blockAt(seed, [offset, 0], NO_SUBSEQUENCE);

/** tl.rand of a first word, its very bits: an f32 in [0, 1). A word with its upper bit set counts as its complement. */
export function uniformOf(word: number): number {
  const signed = word | 0;
  return Math.fround(Math.fround(signed < 0 ? ~signed : signed) * SCALE);
}

/** tl.rand(seed, offset) for an offset of 64 bits. */
export const uniform = (seed: bigint, offset: bigint): number => uniformOf(words(seed, offset)[0]);
