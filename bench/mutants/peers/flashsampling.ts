/** FlashSampling, tests/test_core.py and src/fused_mm_sampling/testing.py: as there, but for its two processes. */
import { chiSquareAbove } from "../../../src/verify/gof/special.js";
import type { SamplerCall, SamplerUnderTest } from "../../../src/verify/sampler-under-test.js";
import { joined } from "../logits.js";
import { findGreedy, histogram, NO_TOKEN, pearson, probabilities, type PeerTest } from "./peer-test.js";

const CHI_SQUARE = { draws: 10_000, leastExpected: 5, leastP: 0.001 };
const TOP = { k: 10, p: 0.9, draws: 5000 };

/** Logits that rise, or fall, by 1 a token; all of them negative. */
const ramp = (vocabSize: number, isRising: boolean): Float32Array => Float32Array.from({ length: vocabSize }, (_, token) => (isRising ? token - vocabSize / 2 : vocabSize / 2 - token) - vocabSize);

export function flashSampling(): PeerTest[] {
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
