/** What the tests of other projects are made of. */
import type { SamplerCall, SamplerUnderTest } from "../../../src/verify/sampler-under-test.js";
import { drawTokens, type Experiment } from "../experiment.js";
import { ranked, weightsOf } from "../filters.js";
import { joined } from "../logits.js";

/** A test of another project, written anew. */
export interface PeerTest {
  readonly name: string;
  /** what is wrong, or null */
  find(sampler: SamplerUnderTest): Promise<string | null>;
}

/** softmax(logits / T) [V] */
export function probabilities(logits: Float32Array, temperature: number): Float64Array {
  const order = ranked(logits);
  const weights = weightsOf(logits, order, temperature);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const all = new Float64Array(logits.length);
  order.forEach((token, place) => (all[token] = weights[place]! / total));
  return all;
}

/** Counts [V]; null where a token is none of the vocabulary. */
export async function counted(sampler: SamplerUnderTest, experiment: Experiment, draws: number): Promise<Float64Array | null> {
  const { tokens } = await drawTokens(sampler, experiment, draws);
  return histogram(tokens, experiment.vocabSize);
}

export function histogram(tokens: Int32Array, vocabSize: number): Float64Array | null {
  const counts = new Float64Array(vocabSize);
  for (const token of tokens) {
    if (token < 0 || token >= vocabSize) return null;
    counts[token]!++;
  }
  return counts;
}

export const NO_TOKEN = "a token outside the vocabulary";

/** Pearson's chi-square. */
export function pearson(counts: Float64Array, expected: Float64Array): number {
  return counts.reduce((sum, count, bin) => sum + (count - expected[bin]!) ** 2 / expected[bin]!, 0);
}

/** A call of rows that are greedy, one sample each. */
export async function findGreedy(sampler: SamplerUnderTest, rows: readonly Float32Array[]): Promise<string | null> {
  const numbers = rows.map((_, row) => row);
  const call: SamplerCall = {
    logits: joined(rows),
    rows: rows.length,
    vocabSize: rows[0]!.length,
    numSamples: 1,
    temperature: numbers.map(() => 0),
    seed: numbers.map(BigInt),
    sequence: numbers,
    position: numbers,
  };
  const tokens = await sampler(call);
  return rows.every((logits, row) => logits[tokens[row]!] === logits.reduce((a, b) => Math.max(a, b))) ? null : "a greedy token that is not the highest";
}
