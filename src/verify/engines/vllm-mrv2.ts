/**
 * The Gumbel sampler of vLLM's model runner v2 with Philox, in f32 and in f64.
 * Source: vllm-project/vllm, vllm/v1/worker/gpu/sample/gumbel.py at 03f97cc (Apache-2.0), before Murmur3 took its place; recorded with Triton 3.6.0.
 *
 * A request's seed and position give one word, and that word, as a 32-bit number, is the seed for all tokens of the row. Seed and position are int64, so that
 * both words of each are used. The noise does not depend on the place of the row in its batch. Drafts have the noise of position + 2^30.
 */
import { exactly, falling, minusLog, plus, type Bounded } from "../bounded.js";
import { choiceOption, expectOneSample, overTemperature } from "./asked.js";
import { LIBRARY_LOG_F32, LOG_F64, QUOTIENT_F32, SUM_F32, SUM_F64 } from "./device-errors.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { SCALE, uniformOf, words, wordsAt } from "./triton.js";
import type { Halves } from "./words64.js";

export type Precision = "f32" | "f64";
export type VllmOptions = { readonly precision: Precision; readonly draft: "no" | "yes" };

export const vllmOptions: EngineReplay<VllmOptions>["options"] = {
  precision: choiceOption("of noise and scores", ["f32", "f64"]),
  draft: choiceOption("a draft's draw, which has noise of its own", ["no", "yes"]),
};

/** What a draft adds to its position. */
const DRAFT_SALT = 1n << 30n;

/** The position that the noise is keyed by, an int64. */
export const noisePosition = (position: bigint, draft: "no" | "yes"): bigint => BigInt.asUintN(64, position + (draft === "yes" ? DRAFT_SALT : 0n));

/** The seed of all tokens of a row. */
export const rowSeed = (seed: bigint, position: bigint): Halves => [words(seed, position)[0], 0];

/** The uniform numbers of a row's draw, their very bits [vocabSize]; 0 becomes the smallest number that the engine allows. */
export function uniforms(seed: Halves, precision: Precision, vocabSize: number): Float64Array {
  const ofToken = precision === "f32" ? uniform32 : uniform64;
  return new Float64Array(vocabSize).map((_, token) => ofToken(wordsAt(seed, token)));
}

const uniform32 = ([word]: readonly number[]): number => Math.max(uniformOf(word!), SCALE);

/** Both words make a number of 64 bits, rounded once. */
const uniform64 = ([low, high]: readonly number[]): number => Math.max((high! * 2 ** 32 + low!) * 2 ** -64, 2 ** -1022);

/** Gumbel noise: -log(-log1p(-u)) in f32, so that the winners come from small u; -log(-log u) in f64. */
export function noise(u: Float64Array, precision: Precision): Bounded {
  if (precision === "f64") return minusLog(minusLog(exactly(u), LOG_F64), LOG_F64);
  return minusLog(falling(exactly(u.map((value) => -value)), (negative) => -Math.log1p(negative), LIBRARY_LOG_F32), LIBRARY_LOG_F32);
}

/** The scores from noise; at temperature 0 the logits themselves. */
export function vllmScores(logits: Bounded, draw: EngineDraw, precision: Precision, noiseOf: () => Bounded): Bounded {
  expectOneSample(draw, "each sample is a request of its own");
  const temperature = Math.fround(draw.temperature);
  if (temperature === 0) return logits;
  return plus(overTemperature(logits, temperature, QUOTIENT_F32), noiseOf(), precision === "f32" ? SUM_F32 : SUM_F64);
}

export const vllmMrv2: EngineReplay<VllmOptions> = {
  name: "vllm-mrv2",
  title: "vLLM's model runner v2, Gumbel sampler on Philox",
  source: { project: "vllm-project/vllm", file: "vllm/v1/worker/gpu/sample/gumbel.py", version: "03f97cc; recorded with Triton 3.6.0", licence: "Apache-2.0" },
  status: "recorded",
  unproven: [],
  limits: ["give the logits that reach the sampler: after penalties, top-k, top-p and the like", "later versions hash with Murmur3: vllm-murmur3"],
  options: vllmOptions,
  scores: (logits, draw, { precision, draft }) =>
    vllmScores(logits, draw, precision, () => noise(uniforms(rowSeed(draw.seed, noisePosition(draw.position, draft)), precision, draw.vocabSize), precision)),
};
