/**
 * The Gumbel sampler of vLLM's model runner v2 with Murmur3, in f32 and in f64.
 * Source: vllm-project/vllm, vllm/v1/worker/gpu/sample/gumbel.py since pull request 51367 of August 2026 (Apache-2.0); its functions recorded with Triton 3.6.0.
 *
 * A token's word is the hash of the seed's two words, the position's low one and the token; f64 has a second hash, with a seed of its own. In f32 the noise
 * comes from an approximation of -log(1 - u): eight terms of its series below 1/4, a logarithm from there on, which ends at 2^-24.
 */
import { exactly, minusLog, rising, relatively, type Bounded } from "../bounded.js";
import { LIBRARY_LOG_F32, LOG_F64 } from "./device-errors.js";
import type { EngineReplay } from "./engine.js";
import { tokenWords } from "./murmur3.js";
import { noisePosition, vllmOptions, vllmScores, type Precision, type VllmOptions } from "./vllm-mrv2.js";

/** The hash's seed for the upper word in f64. */
const UPPER_DOMAIN = 0x9e3779b9;

/** The uniform numbers of a row's draw, their very bits [vocabSize]. */
export function uniforms(seed: bigint, position: bigint, precision: Precision, vocabSize: number): Float64Array {
  const low = tokenWords(seed, position);
  if (precision === "f32") return new Float64Array(vocabSize).map((_, token) => uniform32(low(token)));
  const high = tokenWords(seed, position, UPPER_DOMAIN);
  return new Float64Array(vocabSize).map((_, token) => uniform64(low(token), high(token)));
}

/** The middle of a word's step in (0, 1), rounded to f32: it can be 1. */
export const uniform32 = (word: number): number => Math.fround((word + 0.5) * 2 ** -32);

/** The middle of the step of 53 bits, rounded to f64, but below 1. */
export const uniform64 = (low: number, high: number): number => Math.min((high * 2 ** 21 + (low >>> 11) + 0.5) * 2 ** -53, 1 - 2 ** -53);

/** -log(1 - u) as the engine approximates it. */
function exponential32(u: number): number {
  if (u >= 0.25) return -Math.log(Math.max(1 - u, 2 ** -24));
  let sum = 0;
  for (let term = 8; term >= 1; term--) sum = u * (1 / term + sum);
  return sum;
}

/** Of that approximation in f32 from the same one here: measured for all words, 1.19e-7 below 1/4 and 2.02e-7 from there on. */
const EXPONENTIAL_ERROR = relatively(2.1e-7);

/** Gumbel noise. */
export function noise(u: Float64Array, precision: Precision): Bounded {
  if (precision === "f64") return minusLog(minusLog(exactly(u), LOG_F64), LOG_F64);
  return minusLog(rising(exactly(u), exponential32, EXPONENTIAL_ERROR), LIBRARY_LOG_F32);
}

export const vllmMurmur3: EngineReplay<VllmOptions> = {
  name: "vllm-murmur3",
  title: "vLLM's model runner v2, Gumbel sampler on Murmur3",
  source: {
    project: "vllm-project/vllm",
    file: "vllm/v1/worker/gpu/sample/gumbel.py",
    version: "since pull request 51367, August 2026; recorded with Triton 3.6.0",
    licence: "Apache-2.0",
  },
  status: "recorded",
  unproven: ["the CPU worker's twin of it"],
  limits: ["give the logits that reach the sampler: after penalties, top-k, top-p and the like", "positions that differ by a multiple of 2^32 have the same noise"],
  options: vllmOptions,
  scores: (logits, draw, { precision, draft }) =>
    vllmScores(logits, draw, precision, () => noise(uniforms(draw.seed, noisePosition(draw.position, draft), precision, draw.vocabSize), precision)),
};
