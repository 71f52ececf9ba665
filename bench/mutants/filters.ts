/** What a row may draw: mask, top-k and top-p, all as logits of -Infinity. */
import { byLogit } from "../../src/verify/by-logit.js";
import type { SamplerCall } from "../../src/verify/sampler-under-test.js";

/** Words of one row's mask. */
export const maskWords = (vocabSize: number): number => Math.ceil(vocabSize / 32);

/** @param isAllowed by default the bit of the call's mask */
export function forbid(logits: Float32Array, isAllowed: (token: number) => boolean): void {
  for (let token = 0; token < logits.length; token++) if (!isAllowed(token)) logits[token] = -Infinity;
}

/** Whether the mask allows a token: bit token % 32 of word token / 32. */
export function maskBit({ mask, vocabSize }: SamplerCall, row: number, token: number): boolean {
  return ((mask![row * maskWords(vocabSize) + (token >>> 5)]! >>> (token & 31)) & 1) === 1;
}

/** Tokens that can be drawn, the highest logit first, equal ones by number. */
export function ranked(logits: Float32Array): number[] {
  return byLogit(logits).filter((token) => logits[token]! > -Infinity);
}

/** Keeps the first `count` tokens of ranked(). */
export function keepFirst(logits: Float32Array, order: readonly number[], count: number): void {
  for (const token of order.slice(count)) logits[token] = -Infinity;
}

/** exp((logit - highest) / T) of tokens in the order given, the highest first; at T = 0 only those that equal the highest have any weight. */
export function weightsOf(logits: Float32Array, order: readonly number[], temperature: number): number[] {
  const highest = logits[order[0]!]!;
  return order.map((token) => (logits[token] === highest ? 1 : Math.exp((logits[token]! - highest) / temperature)));
}

/** How many of the weights, in this order, have a sum of at least p times the whole; at least 1. */
export function crossing(weights: readonly number[], p: number, rounded: (sum: number) => number = (sum) => sum): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const last = weights.findIndex((weight) => (sum = rounded(sum + weight / total)) >= p);
  return last < 0 ? weights.length : last + 1;
}
