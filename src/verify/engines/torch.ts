/**
 * PyTorch's CUDA generator on f32 tensors: rand, exponential_, and multinomial for one sample a row, argmax(probabilities / exponential).
 * Source: pytorch/pytorch, aten/src/ATen/native/cuda/{DistributionTemplates.h, Distributions.cpp} and aten/src/ATen/core/TransformationHelper.h
 * (BSD-3-Clause); recorded with torch 2.11.0+cu130 on an H200. The generator: Philox4x32-10, Salmon, Moraes, Dror, Shaw, SC'11, as cuRAND numbers it.
 *
 * A launch has at most as many threads as the GPU can hold. Thread t has subsequence t, and makes the elements t, t + threads, t + 2 threads and
 * t + 3 threads from one block of words, the four after from the next. So beyond that many elements the noise depends on the GPU. Each call moves the
 * generator's offset on by 4 words a block.
 */
import { exactly, minusLog, plus, type Bounded } from "../bounded.js";
import { choiceOption, expectOneSample, overTemperature, wholeOption, wholeOrWordOption } from "./asked.js";
import { FAST_LOG_BELOW_1, LOG_F64, QUOTIENT_F32, SUM_F64 } from "./device-errors.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { curandUniform } from "./flashinfer.js";
import { throughSoftmax } from "./softmax.js";
import { blockAt, halves, type Halves } from "./words64.js";

const BLOCK_THREADS = 256;
const WORDS_A_BLOCK = 4;

/** A call that makes random numbers for so many elements. */
export interface Launch {
  readonly elements: number;
  /** how many the GPU holds at once: its multiprocessors times their threads */
  readonly gpuThreads: number;
}

/** The threads of a launch. */
const threadsOf = ({ elements, gpuThreads }: Launch): number =>
  Math.min(Math.floor(gpuThreads / BLOCK_THREADS), Math.ceil(elements / BLOCK_THREADS)) * BLOCK_THREADS;

/** By how much a call moves the generator's offset. */
export const advanceOf = (launch: Launch): number => (Math.floor((launch.elements - 1) / (threadsOf(launch) * WORDS_A_BLOCK)) + 1) * WORDS_A_BLOCK;

/** The words of `count` elements of the call from the first on; offset: the generator's before it, a multiple of 4. */
export function wordsOf(seed: Halves, offset: bigint, launch: Launch, first: number, count: number): Float64Array {
  const threads = threadsOf(launch);
  const blocks = Array.from({ length: Math.floor((first + count - 1) / threads / WORDS_A_BLOCK) + 1 }, (_, block) => halves("offset", (offset >> 2n) + BigInt(block)));
  return new Float64Array(count).map((_, index) => {
    const turn = Math.floor((first + index) / threads);
    return blockAt(seed, blocks[Math.floor(turn / WORDS_A_BLOCK)]!, [(first + index) % threads, 0])[turn % WORDS_A_BLOCK]!;
  });
}

/** torch.rand of a word, its very bits: cuRAND's number, but 1 becomes 0. */
export function uniformOf(word: number): number {
  const value = curandUniform(word);
  return value === 1 ? 0 : value;
}

/** The smallest exponential number, of uniform ones from 1 - 2^-24 on. */
const FLOOR = 2 ** -24;

/** Tensor.exponential_() of words. */
export function exponentials(words: Float64Array): Bounded {
  const u = words.map(curandUniform);
  const { value, low, high } = minusLog(exactly(u), FAST_LOG_BELOW_1);
  u.forEach((uniform, index) => {
    if (uniform >= 1 - FLOOR) value[index] = low[index] = high[index] = FLOOR;
  });
  return { value, low, high };
}

type Options = {
  readonly offset: number | null;
  readonly generator: "call" | "row";
  readonly multiprocessors: number;
  readonly "threads-per-multiprocessor": number;
};

export const torch: EngineReplay<Options> = {
  name: "torch",
  title: "PyTorch on CUDA, torch.multinomial of one sample",
  source: {
    project: "pytorch/pytorch",
    file: "aten/src/ATen/native/cuda/DistributionTemplates.h, aten/src/ATen/native/Distributions.cpp",
    version: "recorded with 2.11.0+cu130",
    licence: "BSD-3-Clause",
  },
  status: "recorded",
  unproven: ["other GPUs than the H200, whose logarithm may differ more than the bounds allow"],
  limits: [
    "not the CPU generator; not f16, bf16 or f64; not several samples with replacement",
    "calls on the generator between the steps move its offset: name the offset then",
    "beyond 2^31 elements a call is split: not reproduced",
  ],
  options: {
    offset: wholeOrWordOption("the generator's offset before the call, a multiple of 4; position: after as many like calls as the position says", "position", 0, 2 ** 52),
    generator: choiceOption("one for the call, or one a row, as vLLM's first model runner has for requests with a seed", ["call", "row"]),
    multiprocessors: wholeOption("of the GPU", 132, 1, 2 ** 12),
    "threads-per-multiprocessor": wholeOption("of the GPU", 2048, BLOCK_THREADS, 2 ** 14),
  },
  scores(logits, draw, options) {
    expectOneSample(draw, "several samples a row are drawn in another way");
    const rows = options.generator === "row" ? { row: 0, rows: 1 } : draw;
    const launch = { elements: rows.rows * draw.vocabSize, gpuThreads: options.multiprocessors * options["threads-per-multiprocessor"] };
    const offset = offsetOf(draw, options.offset, launch);
    const seed = halves("seed", draw.seed);
    const words = wordsOf(seed, offset, launch, rows.row * draw.vocabSize, draw.vocabSize);
    const probabilities = throughSoftmax(overTemperature(logits, Math.fround(draw.temperature), QUOTIENT_F32));
    return raced(probabilities, exponentials(words));
  },
};

/** log(probability / exponential). */
const raced = (logProbabilities: Bounded, exponential: Bounded): Bounded => plus(logProbabilities, minusLog(exponential, LOG_F64), SUM_F64);

function offsetOf({ position }: EngineDraw, offset: number | null, launch: Launch): bigint {
  if (launch.elements >= 2 ** 31) throw new RangeError(`"vocabSize" expected fewer than 2^31 elements in the call, got ${launch.elements}`);
  if (offset === null) return position * BigInt(advanceOf(launch));
  if (offset % WORDS_A_BLOCK !== 0) throw new RangeError(`"offset" expected a multiple of 4, got ${offset}`);
  return BigInt(offset);
}
