/** Made-up rows of logits, the same on every machine. */
import { Random } from "../../src/verify/invariance/random.js";

const WORDS_A_NORMAL = 12;

/** f32 [length], nearly normal, in steps of 1/64: sums of uniform numbers, so that no logarithm decides them. */
export function normalLogits(length: number, deviation: number, stream: number, mean = 0): Float32Array {
  const random = new Random(1618, stream, 0);
  return Float32Array.from({ length }, () => {
    let sum = -WORDS_A_NORMAL / 2;
    for (let word = 0; word < WORDS_A_NORMAL; word++) sum += random.word() / 2 ** 32;
    return Math.round((mean + deviation * sum) * 64) / 64;
  });
}

/** f32 logits at temperature T of tokens that have these shares, in a random order of places. */
export function logitsOfWeights(weights: readonly number[], temperature: number, stream: number): { readonly logits: Float32Array; readonly places: readonly number[] } {
  const places = new Random(1618, stream, 0).order(weights.length);
  const logits = new Float32Array(weights.length);
  weights.forEach((weight, index) => (logits[places[index]!] = temperature * Math.log(weight)));
  return { logits, places };
}

/** One row after the other. */
export function joined(rows: readonly Float32Array[]): Float32Array {
  const [first] = rows;
  const all = new Float32Array(rows.length * first!.length);
  rows.forEach((row, index) => all.set(row, index * first!.length));
  return all;
}

/** -Infinity for all but some tokens. */
export function onlyTokens(logits: Float32Array, kept: readonly number[]): Float32Array {
  const only = new Float32Array(logits.length).fill(-Infinity);
  for (const token of kept) only[token] = logits[token]!;
  return only;
}
