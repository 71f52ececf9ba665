/**
 * SGLang's seeded sampler, which deterministic inference uses: multinomial_with_seed on the softmax of logits over temperature.
 * Source: sgl-project/sglang, python/sglang/srt/layers/sampler.py and python/sglang/kernels/ops/sampling/murmur_hash.py (Apache-2.0), since pull request 33423,
 * which clamps; its functions recorded with torch 2.11.0 and Triton 3.6.0.
 *
 * A token's word is the Murmur3 hash of the seed's two words, the position's low one and the token. Noise and scores are f64, so their bits are nearly ours.
 */
import { exactly, minusLog, plus, type Bounded } from "../bounded.js";
import { expectOneSample, overTemperature } from "./asked.js";
import { LOG_F64, QUOTIENT_F32, SUM_F64 } from "./device-errors.js";
import type { EngineReplay } from "./engine.js";
import { tokenWords } from "./murmur3.js";
import { throughSoftmax } from "./softmax.js";

/** The uniform numbers of a row's draw [vocabSize], in [0, 1]. */
export function uniforms(seed: bigint, position: bigint, vocabSize: number): Float64Array {
  const word = tokenWords(seed, position);
  return new Float64Array(vocabSize).map((_, token) => word(token) / 0xffffffff);
}

/** The largest f64, and the step of a word: -log u is kept between these. */
const LARGEST = Number.MAX_VALUE;
const SMALLEST = 2 ** -32;

/** Gumbel noise, -log(-log u). */
export function noise(u: Float64Array): Bounded {
  const { value, low, high } = minusLog(exactly(u), LOG_F64);
  const clamp = (exponential: number): number => Math.min(Math.max(exponential, SMALLEST), LARGEST);
  return minusLog({ value: value.map(clamp), low: low.map(clamp), high: high.map(clamp) }, LOG_F64);
}

export const sglang: EngineReplay = {
  name: "sglang",
  title: "SGLang's seeded sampler (deterministic inference)",
  source: {
    project: "sgl-project/sglang",
    file: "python/sglang/srt/layers/sampler.py",
    version: "since pull request 33423; recorded with torch 2.11.0, Triton 3.6.0",
    licence: "Apache-2.0",
  },
  status: "recorded",
  unproven: ["multinomial_with_seed as torch.compile makes it: its plain form was recorded", "the path of on-policy training, whose softmax is of bf16 logits"],
  limits: [
    "with top-k or top-p it takes the rank of a token in place of the token: not reproduced",
    "before pull request 33423 a hash of 2^32 - 1 always won",
    "positions that differ by a multiple of 2^32 have the same noise",
  ],
  options: {},
  scores(logits, draw) {
    expectOneSample(draw, "each sample is a request of its own");
    const scaled = throughSoftmax(overTemperature(logits, Math.fround(draw.temperature), QUOTIENT_F32));
    return plus(scaled, noise(uniforms(draw.seed, draw.position, draw.vocabSize)), SUM_F64);
  },
};
