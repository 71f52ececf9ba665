/** Correct and biased draws for the tests of goodness of fit, from a generator of its own: nothing of the package draws here. */
import { cellsOf } from "../src/verify/gof/cells.js";
import { countsOf } from "../src/verify/gof/counts.js";
import { distributionsOf } from "../src/verify/gof/distributions.js";
import { drawsOf } from "../src/verify/gof/draws.js";
import { evidenceOf, testsOf } from "../src/verify/gof/gof.js";

/** Uniform numbers in [0, 1) of 53 bits: two of xoshiro128** (Blackman and Vigna) each. */
export function uniforms(seed: number): () => number {
  const state = Uint32Array.from({ length: 4 }, (_, index) => Math.imul(seed + 1, 0x9e3779b9) ^ Math.imul(index + 1, 0x85ebca77));
  const rotated = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits));
  const next = () => {
    const result = Math.imul(rotated(Math.imul(state[1]!, 5), 7), 9) >>> 0;
    const shifted = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = rotated(state[3]!, 11);
    return result;
  };
  for (let index = 0; index < 32; index++) next();
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}

/** Normal logits with the given standard deviation. */
export function normalLogits(count: number, deviation: number, seed: number): Float32Array {
  const uniform = uniforms(seed);
  return Float32Array.from({ length: count }, () => deviation * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()));
}

/** softmax(logits / temperature) of one row, in f64. */
export function softmax(logits: ArrayLike<number>, temperature = 1): Float64Array {
  const highest = Array.from(logits).reduce((a, b) => Math.max(a, b));
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - highest) / temperature));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}

/** Draws a token with the given weights from a uniform number. */
export type Table = (uniform: number) => number;

/** Walker's alias method. */
export function aliasTable(weights: Float64Array): Table {
  const total = weights.reduce((a, b) => a + b);
  const kept = weights.map((weight) => (weight * weights.length) / total);
  const alias = Int32Array.from(weights.keys());
  const [small, large]: [number[], number[]] = [[], []];
  kept.forEach((value, token) => (value < 1 ? small : large).push(token));
  while (small.length > 0 && large.length > 0) {
    const token = small.pop()!;
    const donor = large.at(-1)!;
    alias[token] = donor;
    kept[donor]! += kept[token]! - 1;
    if (kept[donor]! < 1) small.push(large.pop()!);
  }
  for (const token of [...small, ...large]) kept[token] = 1;
  return (uniform) => {
    const place = uniform * weights.length;
    const token = Math.min(weights.length - 1, Math.floor(place));
    return place - token < kept[token]! ? token : alias[token]!;
  };
}

export function sampler(weights: Float64Array, uniform: () => number): () => number {
  const table = aliasTable(weights);
  return () => table(uniform());
}

export interface Setting {
  readonly name: string;
  readonly vocabSize: number;
  /** standard deviation of the logits */
  readonly deviation: number;
  /** rows with different logits */
  readonly rows: number;
  /** sizes of the axes after the first, or of all where there is one row */
  readonly shape: readonly number[];
  readonly axes: readonly string[];
  readonly shards: number;
}

const bag = (vocabSize: number, deviation: number, draws: number): Setting => ({
  name: `V = ${vocabSize}, logits of deviation ${deviation}, ${draws} draws`,
  vocabSize,
  deviation,
  rows: 1,
  shape: [draws],
  axes: ["sample"],
  shards: 1,
});
const matrix = (rows: number, vocabSize: number, deviation: number, samples: number): Setting => ({
  ...bag(vocabSize, deviation, samples),
  name: `${rows} rows, V = ${vocabSize}, logits of deviation ${deviation}, ${samples} draws a row`,
  rows,
  axes: ["row", "sample"],
});

export const SETTINGS: readonly Setting[] = [
  bag(8, 0.3, 1000),
  bag(8, 4, 1000),
  bag(8, 9, 1000),
  bag(512, 1.5, 10_000),
  bag(512, 5, 10_000),
  bag(32_000, 0, 1000),
  bag(32_000, 5, 1000),
  bag(32_000, 2, 10_000),
  { ...matrix(16, 8, 2, 200), shards: 2 },
  { ...matrix(8, 512, 2, 500), shards: 4 },
  { ...matrix(4, 64, 2, 300), name: "4 rows, V = 64, logits of deviation 2, 30 positions, 10 draws each", shape: [30, 10], axes: ["row", "position", "sample"] },
  { ...matrix(200, 128, 2, 1), name: "200 rows, V = 128, logits of deviation 2, one draw a row" },
  bag(512, 1.5, 100_000),
  bag(32_000, 2, 100_000),
];

/** A setting made ready: many bags of tokens are judged by the same distributions. */
export function prepared(setting: Setting, seed: number) {
  const { rows, vocabSize, deviation, shape, axes, shards } = setting;
  const logits = normalLogits(rows * vocabSize, deviation, seed);
  const distributions = distributionsOf(logits, vocabSize, 1);
  const fullShape = rows === 1 ? shape : [rows, ...shape];
  const perRow = shape.reduce((product, size) => product * size, 1);
  const cells = cellsOf(drawsOf(new Int32Array(rows * perRow), fullShape, axes, distributions));
  return {
    logits,
    shape: fullShape,
    probabilities: Array.from({ length: rows }, (_, row) => softmax(logits.subarray(row * vocabSize, (row + 1) * vocabSize))),
    /** perRow draws of each */
    draw(samplers: readonly (() => number)[]): Int32Array {
      const tokens = new Int32Array(rows * perRow);
      for (const [row, sample] of samplers.entries()) for (let index = row * perRow; index < (row + 1) * perRow; index++) tokens[index] = sample();
      return tokens;
    },
    /** goodnessOfFit without its lists: whether a test fails, at each rate. */
    alarms(tokens: Int32Array, alphas: readonly number[]): boolean[] {
      const draws = drawsOf(tokens, fullShape, axes, distributions);
      const evidence = evidenceOf(draws, cells, countsOf(draws, cells), shards);
      return alphas.map((alpha) => testsOf(evidence, alpha).tests.some(({ passed }) => !passed));
    },
  };
}
