/**
 * vLLM, tests/v1/worker/test_gpu_gumbel_sample.py: 999 tokens as there; the heavy tail with its mass, but 63 tokens in place of 200,000, for
 * which heavy-tail.ts computes what it would find.
 */
import { Random } from "../../../src/verify/invariance/random.js";
import type { SamplerUnderTest } from "../../../src/verify/sampler-under-test.js";
import { drawTokens, rowsOf, type Experiment } from "../experiment.js";
import { normalLogits, onlyTokens } from "../logits.js";
import { counted, findGreedy, NO_TOKEN, pearson, probabilities, type PeerTest } from "./peer-test.js";

/** Each draw a position of one request, as vLLM's tests make them. */
const ofPositions = (logits: Float32Array): Experiment => rowsOf(logits, [{ name: "position", size: null }], false, ([position]) => ({ position: position! }));

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

export function vllm(): PeerTest[] {
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

async function findForbidden(sampler: SamplerUnderTest, logits: Float32Array, draws: number): Promise<string | null> {
  const { tokens } = await drawTokens(sampler, ofPositions(logits), draws);
  return tokens.every((token) => logits[token]! > -Infinity) ? null : "a token that is not allowed";
}
