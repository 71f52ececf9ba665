/**
 * MurmurHash3_x86_32 of whole words.
 * Source: Austin Appleby, smhasher, src/MurmurHash3.cpp (public domain).
 */
import { halves } from "./words64.js";

const rotated = (x: number, bits: number): number => (x << bits) | (x >>> (32 - bits));

/** A word mixed into the state, an i32. */
export function mixed(state: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(state ^ scrambled, 13), 5) + 0xe6546b64) | 0;
}

/** The hash, a u32, of a state that `count` words were mixed into. */
export function finished(state: number, count: number): number {
  let hash = state ^ (4 * count);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The hash of words, each of four bytes, the low one first. */
export const murmur3 = (words: readonly number[], seed = 0): number => finished(words.reduce(mixed, seed), words.length);

/** As vLLM and SGLang key it: the hash of the seed's two words, the position's low one, and a token. Gives a token's word, u32. */
export function tokenWords(seed: bigint, position: bigint, domain = 0): (token: number) => number {
  const state = [...halves("seed", seed), halves("position", position)[0]].reduce(mixed, domain);
  return (token) => finished(mixed(state, token), 4);
}
