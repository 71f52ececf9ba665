/**
 * FlashInfer's sampling_from_logits on f32 logits, and the cuRAND generator under it.
 * Source: flashinfer-ai/flashinfer, include/flashinfer/sampling.cuh (Apache-2.0); recorded with the kernel of 2026-08-22 and CUDA 13.0.
 *
 * A thread handles `vectorSize` neighbouring tokens, the greatest common divisor of 4 and the vocabulary size, and takes their noise from one
 * block of the subsequence that the first of them names: row * vocabSize + token, modulo 2^32. So vocabularies of other sizes draw other tokens.
 *
 * Not reproduced: the kernel's choice among equal scores, f16 and bf16 logits inside of the kernel (its Python API converts to f32), the
 * samplers that take probabilities. The recordings hold vectors of 4 and of 1.
 */
import type { Words4 } from "../../spec/philox.js";
import {
  blockAt,
  decide,
  ERROR_F32,
  exactly,
  LOG_ERROR_F32,
  minusLog,
  plus,
  times,
  type Approximate,
  type Prediction,
} from "./philox-streams.js";

/** curand4 after curand_init(seed, subsequence, offset) on Philox4_32_10: the four words of the subsequence from the offset on. */
export function curandWords(seed: bigint, subsequence: bigint, offset: bigint): Words4 {
  const skipped = Number(offset & 3n);
  const block = blockAt(seed, offset >> 2n, subsequence);
  if (skipped === 0) return block;
  const both = [...block, ...blockAt(seed, (offset >> 2n) + 1n, subsequence)];
  return [both[skipped]!, both[skipped + 1]!, both[skipped + 2]!, both[skipped + 3]!];
}

/** curand_uniform of a word, its very bits: an f32 in (0, 1]. */
export const curandUniform = (word: number): number => Math.fround(Math.fround(word) * 2 ** -32 + 2 ** -33);

/** Where the noise of a row lies. */
export interface Place {
  readonly seed: bigint;
  readonly offset: bigint;
  /** index of the output: of the row in the call, unless `indices` are given */
  readonly row: number;
  readonly vocabSize: number;
  /** how many tokens share a block of words: vectorSizeOf(vocabSize) */
  readonly vectorSize: number;
}

/** As the launcher chooses it for f32 logits. */
export const vectorSizeOf = (vocabSize: number): number => (vocabSize % 4 === 0 ? 4 : vocabSize % 2 === 0 ? 2 : 1);

/** The words of the vector that the token is in: its own is that of token mod vectorSize. */
export function words({ seed, offset, row, vocabSize, vectorSize }: Place, token: number): Words4 {
  const first = token - (token % vectorSize);
  return curandWords(seed, BigInt.asUintN(32, BigInt(row) * BigInt(vocabSize) + BigInt(first)), offset);
}

/** The uniform number of a token, less a factor that keeps it below 1: the very bits. */
export function uniform(place: Place, token: number): number {
  return Math.fround(curandUniform(words(place, token)[token % place.vectorSize]!) * (1 - 2 ** -23));
}

const LN2_F32 = Math.fround(0.6931471806);

/** Gumbel noise, -ln 2 log2(-log2 u), from two approximate logarithms. */
export function noise(place: Place, token: number): Approximate {
  const exponential = minusLog(exactly(uniform(place, token)), LOG_ERROR_F32, Math.log2);
  return times(minusLog(exponential, LOG_ERROR_F32, Math.log2), LN2_F32, ERROR_F32);
}

/** The token drawn for a row of f32 logits. */
export function predict(logits: ArrayLike<number>, place: Place): Prediction {
  return decide(Array.from(logits, (logit, token) => plus(exactly(logit), noise(place, token), ERROR_F32)));
}
