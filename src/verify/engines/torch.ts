/**
 * PyTorch's CUDA generator on f32 tensors: rand, exponential_, and multinomial for one sample a row, argmax(probabilities / exponential).
 * Source: pytorch/pytorch, aten/src/ATen/native/cuda/{DistributionTemplates.h, Distributions.cpp} and aten/src/ATen/core/TransformationHelper.h
 * (BSD-3-Clause); recorded with torch 2.11.0+cu130 on an H200. The generator: Philox4x32-10, Salmon, Moraes, Dror, Shaw, SC'11, as cuRAND numbers it.
 *
 * A CUDA thread makes one element of the tensor from the first word of its subsequence, as long as there are as many threads as elements. So
 * the noise of a token is that of its flat index in the tensor of all rows.
 *
 * Not reproduced: what comes after the first random call. All recordings are of the first call after manual_seed, up to 3000 elements: they prove the
 * offset 0 only. Nor tensors beyond ELEMENT_LIMIT, where a thread makes several elements; other GPUs have other limits. Nor the CPU
 * generator, f16, bf16 and f64, multinomial for several samples with replacement.
 *
 * The logarithm in exponential_ is an instruction of the GPU that is not exact, and the recordings show it: its bits cannot be had.
 * It is predicted with Math.log in f64 and bounds; no token of ours is drawn here.
 */
import { philox4x32, type Words4 } from "../../spec/philox.js";
import { curandUniform } from "./flashinfer.js";
import { decide, type Approximate, type Prediction } from "./jax.js";

export const engine = {
  name: "PyTorch CUDA, torch.multinomial of one sample",
  status: "recorded",
  unproven: ["a call that is not the first after manual_seed", "more than 3000 elements"],
} as const;

/** Threads of an H200 in one launch: 132 multiprocessors of 2048. */
export const ELEMENT_LIMIT = 132 * 2048;

/** Where the noise of a row lies. */
export interface Place {
  /** of torch.manual_seed. A negative one is given here as the unsigned number of the same 64 bits. */
  readonly seed: bigint;
  readonly row: number;
  readonly vocabSize: number;
}

/** The words of an element's subsequence; of the first call, the first of them counts. */
export function words(seed: bigint, element: number): Words4 {
  if (seed < 0n || seed >> 64n !== 0n) throw new RangeError(`"seed" expected an integer from 0 to 2^64 - 1, got ${seed}`);
  if (!Number.isInteger(element) || element < 0 || element >= ELEMENT_LIMIT) {
    throw new RangeError(`"element" expected an integer from 0 to ${ELEMENT_LIMIT - 1}, got ${element}`);
  }
  return philox4x32([0, 0, element, 0], [Number(seed & 0xffffffffn), Number(seed >> 32n)]);
}

/** torch.rand, its very bits: cuRAND's number, but 1 becomes 0. */
export function uniform(seed: bigint, element: number): number {
  const value = curandUniform(words(seed, element)[0]);
  return value === 1 ? 0 : value;
}

/** The smallest exponential number, of uniform ones from 1 - 2^-24 on. */
const FLOOR = 2 ** -24;
/** CUDA's bounds for the logarithm instruction, in [1/2, 2] and elsewhere (3 ulp). */
const LOG_ERROR_NEAR_1 = 2 ** -21.41;
const LOG_ERROR = 3 * 2 ** -23;

/** Tensor.exponential_() */
export function noise(seed: bigint, element: number): Approximate {
  const u = curandUniform(words(seed, element)[0]);
  if (u >= 1 - FLOOR) return { value: FLOOR, low: FLOOR, high: FLOOR };
  const value = -Math.log(u);
  const error = u >= 0.5 ? LOG_ERROR_NEAR_1 : value * LOG_ERROR;
  return { value, low: Math.max(0, value - error), high: value + error };
}

/**
 * Relative error of what softmax and the division do on the GPU: exp (2 ulp), the division in softmax and the one after it. The sum in softmax is common
 * to a row, so it does not count.
 */
const RATIO_ERROR = 5 * 2 ** -23;

/** The token of torch.multinomial(torch.softmax(logits, -1), 1) for a row of f32 logits. Scores are logarithms of probability / exponential. */
export function predict(logits: ArrayLike<number>, { seed, row, vocabSize }: Place): Prediction {
  const highest = Array.from(logits).reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(highest)) throw new RangeError(`"logits" expected a finite highest one, got ${highest}`);
  return decide(
    Array.from(logits, (logit, token) => {
      const exponential = noise(seed, row * vocabSize + token);
      const logProbability = logit - highest;
      // The difference is rounded to f32 before exp. Probabilities that are subnormal there never win.
      const error = logProbability === -Infinity ? 0 : RATIO_ERROR - logProbability * 2 ** -24;
      return {
        value: logProbability - Math.log(exponential.value),
        low: logProbability - error - Math.log(exponential.high),
        high: logProbability + error - Math.log(exponential.low),
      };
    }),
  );
}
