/**
 * What other projects test their samplers with, written anew after their tests' descriptions: each on its own inputs, made smaller
 * where theirs would take hours here. A test gives what it finds wrong, or null.
 *   FlashInfer     tests/utils/test_sampling.py: frequencies of 111 tokens; 20,000 draws in place of 5,000,000, by which the
 *                  cosine of right tokens is off by 0.001
 *   vLLM           tests/v1/worker/test_gpu_gumbel_sample.py: 999 tokens as there; the heavy tail with its mass, but 63 tokens in place of 200,000,
 *                  for which heavy-tail.ts computes what it would find
 *   FlashSampling  tests/test_core.py, src/fused_mm_sampling/testing.py: as there
 */
import { chiSquareAbove } from "../../src/verify/gof/special.js";
import { Random } from "../../src/verify/invariance/random.js";
import type { SamplerCall, SamplerUnderTest } from "../../src/verify/sampler-under-test.js";
import { drawTokens, rowsOf, type Experiment } from "./experiment.js";
import { ranked, weightsOf } from "./filters.js";
import { joined, normalLogits, onlyTokens } from "./logits.js";

export interface PeerTest {
  readonly name: string;
  find(sampler: SamplerUnderTest): Promise<string | null>;
}

/** softmax(logits / T) [V] */
function probabilities(logits: Float32Array, temperature: number): Float64Array {
  const order = ranked(logits);
  const weights = weightsOf(logits, order, temperature);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const all = new Float64Array(logits.length);
  order.forEach((token, place) => (all[token] = weights[place]! / total));
  return all;
}

/** Counts [V]; null where a token is none of the vocabulary. */
async function counted(sampler: SamplerUnderTest, experiment: Experiment, draws: number): Promise<Float64Array | null> {
  const { tokens } = await drawTokens(sampler, experiment, draws);
  return histogram(tokens, experiment.vocabSize);
}

function histogram(tokens: Int32Array, vocabSize: number): Float64Array | null {
  const counts = new Float64Array(vocabSize);
  for (const token of tokens) {
    if (token < 0 || token >= vocabSize) return null;
    counts[token]!++;
  }
  return counts;
}

const NO_TOKEN = "a token outside the vocabulary";

/** Each draw a row of its own, as with FlashInfer's indices. */
const ofRows = (logits: Float32Array, filters = {}): Experiment => rowsOf(logits, [{ name: "row", size: null }], false, ([sequence]) => ({ sequence: sequence! }), filters);
/** Each draw a position of one request, as vLLM's tests make them. */
const ofPositions = (logits: Float32Array): Experiment => rowsOf(logits, [{ name: "position", size: null }], false, ([position]) => ({ position: position! }));

const COSINE = { vocabSize: 111, draws: 20_000, least: 0.99 };

function cosine(a: Float64Array, b: Float64Array): number {
  const dot = (x: Float64Array, y: Float64Array) => x.reduce((sum, value, index) => sum + value * y[index]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** allowed: the logits that are left; a token of another is an error. */
function cosineTest(name: string, logits: Float32Array, allowed: Float32Array, filters = {}): PeerTest {
  return {
    name,
    async find(sampler) {
      const counts = await counted(sampler, ofRows(logits, filters), COSINE.draws);
      if (counts === null) return NO_TOKEN;
      if (counts.some((count, token) => count > 0 && allowed[token] === -Infinity)) return "a token that is not allowed";
      const similarity = cosine(counts, probabilities(allowed, 1));
      return similarity > COSINE.least ? null : `cosine ${similarity.toFixed(4)}`;
    },
  };
}

function flashInfer(): PeerTest[] {
  return [1, 5].flatMap((deviation) => {
    const logits = normalLogits(COSINE.vocabSize, deviation, 400 + deviation);
    const half = onlyTokens(logits, new Random(1618, 410, 0).order(COSINE.vocabSize).slice(0, Math.ceil(COSINE.vocabSize / 2)));
    const order = ranked(logits);
    const weights = probabilities(logits, 1);
    let mass = 0;
    const nucleus = order.filter((token) => (mass += weights[token]!) - weights[token]! < 0.9);
    return [
      cosineTest(`frequencies, N(0, ${deviation})`, logits, logits),
      cosineTest(`half of N(0, ${deviation}) masked`, half, half),
      cosineTest(`top-k 10 of N(0, ${deviation})`, logits, onlyTokens(logits, order.slice(0, 10)), { topK: 10 }),
      cosineTest(`top-p 0.9 of N(0, ${deviation})`, logits, onlyTokens(logits, nucleus), { topP: 0.9 }),
    ];
  });
}

/** Logits of integer counts in [low, high). */
function logitsOfCounts(length: number, low: number, high: number, stream: number): Float32Array {
  const random = new Random(1618, stream, 0);
  return Float32Array.from({ length }, () => Math.log(low + random.below(high - low)));
}

/** vLLM's tail of 200,000 tokens lies 18 below the head: 63 tokens of the same mass. */
const TAIL = { tokens: 63, gap: 18 - Math.log(200_000 / 63), draws: 500_000, sigmas: 10 };
const BLOCKS = { vocabSize: 999, draws: 50_000 };

function heavyTail(): Float32Array {
  const logits = logitsOfCounts(1 + TAIL.tokens, 1, 4, 420);
  logits[0] = TAIL.gap;
  return logits;
}

function vllm(): PeerTest[] {
  const heavy = heavyTail();
  const blocks = logitsOfCounts(BLOCKS.vocabSize, 20, 200, 421);
  const evens = onlyTokens(heavy, Array.from(heavy.keys()).filter((token) => token % 2 === 0));
  const one = onlyTokens(heavy, [41]);
  return [
    { name: "heavy tail", find: (sampler) => findTailMass(sampler, heavy) },
    { name: "all tokens", find: (sampler) => findChiSquare(sampler, blocks) },
    { name: "zero counts", find: (sampler) => findForbidden(sampler, evens, TAIL.draws / 10) },
    { name: "one token", find: (sampler) => findForbidden(sampler, one, 10_000) },
    { name: "greedy", find: (sampler) => findGreedy(sampler, Array.from({ length: 128 }, (_, row) => normalLogits(BLOCKS.vocabSize, 1, 500 + row))) },
    // There a NaN row has some token of the vocabulary; here it may have none.
    { name: "NaN", find: async (sampler) => ((await drawTokens(sampler, ofPositions(blocks.map(() => NaN)), 4)).tokens.some((token) => token >= BLOCKS.vocabSize) ? NO_TOKEN : null) },
  ];
}

async function findTailMass(sampler: SamplerUnderTest, logits: Float32Array): Promise<string | null> {
  const counts = await counted(sampler, ofPositions(logits), TAIL.draws);
  if (counts === null) return NO_TOKEN;
  const tail = 1 - probabilities(logits, 1)[0]!;
  const z = (TAIL.draws - counts[0]! - TAIL.draws * tail) / Math.sqrt(TAIL.draws * tail * (1 - tail));
  return Math.abs(z) < TAIL.sigmas ? null : `z ${z.toFixed(1)}`;
}

async function findChiSquare(sampler: SamplerUnderTest, logits: Float32Array): Promise<string | null> {
  const counts = await counted(sampler, ofPositions(logits), BLOCKS.draws);
  if (counts === null) return NO_TOKEN;
  const chiSquare = pearson(counts, probabilities(logits, 1).map((probability) => probability * BLOCKS.draws));
  const degrees = logits.length - 1;
  return chiSquare < degrees + TAIL.sigmas * Math.sqrt(2 * degrees) ? null : `chi-square ${chiSquare.toFixed(0)}`;
}

function pearson(counts: Float64Array, expected: Float64Array): number {
  return counts.reduce((sum, count, bin) => sum + (count - expected[bin]!) ** 2 / expected[bin]!, 0);
}

async function findForbidden(sampler: SamplerUnderTest, logits: Float32Array, draws: number): Promise<string | null> {
  const { tokens } = await drawTokens(sampler, ofPositions(logits), draws);
  return tokens.every((token) => logits[token]! > -Infinity) ? null : "a token that is not allowed";
}

/** A call of rows that are greedy, one sample each. */
async function findGreedy(sampler: SamplerUnderTest, rows: readonly Float32Array[]): Promise<string | null> {
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

const CHI_SQUARE = { draws: 10_000, leastExpected: 5, leastP: 0.001 };
const TOP = { k: 10, p: 0.9, draws: 5000 };

/** Logits that rise, or fall, by 1 a token; all of them negative. */
const ramp = (vocabSize: number, isRising: boolean): Float32Array => Float32Array.from({ length: vocabSize }, (_, token) => (isRising ? token - vocabSize / 2 : vocabSize / 2 - token) - vocabSize);

function flashSampling(): PeerTest[] {
  const chiSquares = [100, 256, 512].map((vocabSize) => ({ name: `chi-square, V = ${vocabSize}`, find: (sampler: SamplerUnderTest) => findByChiSquare(sampler, vocabSize) }));
  const tops = [100, 256].map((vocabSize) => ({ name: `top-k and top-p, V = ${vocabSize}`, find: (sampler: SamplerUnderTest) => findTop(sampler, vocabSize) }));
  const greedy = { name: "greedy", find: (sampler: SamplerUnderTest) => findGreedy(sampler, [ramp(256, true), ramp(256, false)]) };
  return [...chiSquares, ...tops, greedy];
}

/** Two rows of one call, all samples of each at once. */
function ramps(vocabSize: number, numSamples: number, temperature: number, filters = {}): SamplerCall {
  const logits = joined([ramp(vocabSize, true), ramp(vocabSize, false)]);
  const more = { temperature: [temperature, temperature], seed: [0n, 0n], sequence: [0, 1], position: [0, 0] };
  return { logits, rows: 2, vocabSize, numSamples, ...more, ...filters };
}

async function findByChiSquare(sampler: SamplerUnderTest, vocabSize: number): Promise<string | null> {
  const temperature = vocabSize / 20;
  const tokens = await sampler(ramps(vocabSize, CHI_SQUARE.draws, temperature));
  for (const row of [0, 1]) {
    const counts = histogram(tokens.subarray(row * CHI_SQUARE.draws, (row + 1) * CHI_SQUARE.draws), vocabSize);
    if (counts === null) return NO_TOKEN;
    const expected = probabilities(ramp(vocabSize, row === 0), temperature).map((probability) => probability * CHI_SQUARE.draws);
    const isKept = expected.map((count) => (count >= CHI_SQUARE.leastExpected ? 1 : 0));
    const [keptCounts, keptExpected] = [counts, expected].map((values) => values.filter((_, bin) => isKept[bin] === 1)) as [Float64Array, Float64Array];
    const scale = sumOf(keptCounts) / sumOf(keptExpected);
    const p = chiSquareAbove(pearson(keptCounts, keptExpected.map((count) => count * scale)), keptCounts.length - 1);
    if (!(p > CHI_SQUARE.leastP)) return `p ${p.toExponential(1)}`;
  }
  return null;
}

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);

/** The tokens that come are those that may, all of them. */
async function findTop(sampler: SamplerUnderTest, vocabSize: number): Promise<string | null> {
  const tokens = await sampler(ramps(vocabSize, TOP.draws, 1, { topK: [TOP.k, TOP.k], topP: [TOP.p, TOP.p] }));
  // 1 - 1/e = 0.63, 1 - 1/e^2 = 0.86, 1 - 1/e^3 = 0.95 of the mass: three tokens.
  const expected = [[vocabSize - 3, vocabSize - 2, vocabSize - 1], [0, 1, 2]];
  const isRight = expected.every((allowed, row) => {
    const drawn = new Set(tokens.subarray(row * TOP.draws, (row + 1) * TOP.draws));
    return drawn.size === allowed.length && allowed.every((token) => drawn.has(token));
  });
  return isRight ? null : "another set of tokens";
}

export const PEERS: readonly { readonly name: string; readonly tests: readonly PeerTest[] }[] = [
  { name: "FlashInfer", tests: flashInfer() },
  { name: "vLLM", tests: vllm() },
  { name: "FlashSampling", tests: flashSampling() },
];

/** The first of a peer's tests that finds something wrong, as "test: what"; null. */
export async function findByPeer(sampler: SamplerUnderTest, tests: readonly PeerTest[]): Promise<string | null> {
  for (const { name, find } of tests) {
    const found = await find(sampler);
    if (found !== null) return `${name}: ${found}`;
  }
  return null;
}
