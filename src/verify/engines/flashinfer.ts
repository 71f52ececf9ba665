/**
 * FlashInfer's sampling_from_logits on f32 logits, and the cuRAND generator under it.
 * Source: flashinfer-ai/flashinfer, include/flashinfer/sampling.cuh (Apache-2.0); recorded with the kernel of 2026-08-22 and CUDA 13.0.
 *
 * A thread handles `vectorSize` neighbouring tokens, the greatest common divisor of 4 and the vocabulary size, and takes their noise from one
 * block of the subsequence that the first of them names: row * vocabSize + token, modulo 2^32. So vocabularies of other sizes draw other tokens.
 */
import { exactly, minusLog, plus, times, type Bounded } from "../bounded.js";
import type { Words4 } from "../../spec/philox.js";
import { overTemperature, wholeOrWordOption } from "./asked.js";
import { FAST_LOG2, FAST_LOG2_BELOW_1, QUOTIENT_F32, SUM_F32 } from "./device-errors.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { blockAt, halves, type Halves } from "./words64.js";

/** curand4 after curand_init(seed, subsequence, offset) on Philox4_32_10: the four words of the subsequence from the offset on, which counts words. */
export function curandWords(seed: Halves, subsequence: Halves, offset: bigint): Words4 {
  const skipped = Number(offset & 3n);
  const block = blockAt(seed, halves("offset", offset >> 2n), subsequence);
  if (skipped === 0) return block;
  const both = [...block, ...blockAt(seed, halves("offset", (offset >> 2n) + 1n), subsequence)];
  return [both[skipped]!, both[skipped + 1]!, both[skipped + 2]!, both[skipped + 3]!];
}

/** curand_uniform of a word, its very bits: an f32 in (0, 1]. */
export const curandUniform = (word: number): number => Math.fround(Math.fround(word) * 2 ** -32 + 2 ** -33);

/** How many tokens share a block of words, as the launcher chooses it for f32 logits. */
export const vectorSizeOf = (vocabSize: number): number => (vocabSize % 4 === 0 ? 4 : vocabSize % 2 === 0 ? 2 : 1);

/** Below 1, so that no uniform number is 1. */
const KEEP_BELOW_1 = 1 - 2 ** -23;

/** The uniform numbers of an output, their very bits [vocabSize]: `output` is its index in the call. */
export function uniforms(seed: bigint, offset: bigint, output: number, vocabSize: number): Float64Array {
  const key = halves("seed", seed);
  const vectorSize = vectorSizeOf(vocabSize);
  const values = new Float64Array(vocabSize);
  for (let first = 0; first < vocabSize; first += vectorSize) {
    const words = curandWords(key, [(output * vocabSize + first) % 2 ** 32, 0], offset);
    for (let lane = 0; lane < vectorSize; lane++) values[first + lane] = Math.fround(curandUniform(words[lane]!) * KEEP_BELOW_1);
  }
  return values;
}

const LN2_F32 = Math.fround(0.6931471806);

/** Gumbel noise, -ln 2 log2(-log2 u), from two approximate logarithms. */
export function noise(u: Float64Array): Bounded {
  const exponential = minusLog(exactly(u), FAST_LOG2_BELOW_1, Math.log2);
  return times(minusLog(exponential, FAST_LOG2, Math.log2), LN2_F32, QUOTIENT_F32);
}

/** The largest offset: 2^53 - 1. */
const OFFSET_LIMIT = Number.MAX_SAFE_INTEGER;

type Options = { readonly offset: number | null };

const OFFSETS = "offsets other than 0 in the sampler: its generator's words were recorded with them";
const PAIRS = "vocabularies of an even size that 4 does not divide";
const SAMPLES = "several samples a row: indices that name each row numSamples times, side by side";

export const flashInfer: EngineReplay<Options> = {
  name: "flashinfer",
  title: "FlashInfer's sampling_from_logits",
  source: { project: "flashinfer-ai/flashinfer", file: "include/flashinfer/sampling.cuh", version: "of 2026-08-22; recorded with CUDA 13.0", licence: "Apache-2.0" },
  status: "recorded",
  unproven: [OFFSETS, PAIRS, SAMPLES],
  unprovenIn: ({ numSamples, vocabSize, positions }, { offset }) => [
    ...((offset === null ? positions : [offset]).some((own) => own !== 0) ? [OFFSETS] : []),
    ...(vectorSizeOf(vocabSize) === 2 ? [PAIRS] : []),
    ...(numSamples > 1 ? [SAMPLES] : []),
  ],
  limits: [
    "not its choice among equal scores",
    "not f16 and bf16 logits inside of the kernel (its Python API converts to f32), nor the samplers that take probabilities",
    "give the logits over temperature, or the temperature: it is divided by in f32 before the call",
  ],
  options: { offset: wholeOrWordOption("the call's philox offset", "position", 0, OFFSET_LIMIT) },
  scores(logits, draw, { offset }) {
    const u = uniforms(draw.seed, offset === null ? draw.position : BigInt(offset), outputOf(draw), draw.vocabSize);
    return plus(overTemperature(logits, Math.fround(draw.temperature), QUOTIENT_F32), noise(u), SUM_F32);
  },
};

const outputOf = ({ row, numSamples, sample }: EngineDraw): number => row * numSamples + sample;
