/**
 * The Gumbel sampler of vLLM's model runner v2, in f32 and in f64.
 * Source: vllm-project/vllm, vllm/v1/worker/gpu/sample/gumbel.py at 03f97cc (Apache-2.0); recorded with Triton 3.6.0.
 *
 * A request's seed and position give one word, and that word, as a 32-bit number, is the seed for all tokens of the row. Seed and position are int64, so that
 * both words of each are used. The noise does not depend on the place of the row in its batch.
 * The sampler of drafts adds 2^30 to the position: name that position here.
 *
 * Not reproduced: later versions, which hash with Murmur3; what comes before (penalties, top-k, top-p): give the logits that reach the sampler.
 */
import type { Words4 } from "../../spec/philox.js";
import {
  decide,
  ERROR_F32,
  ERROR_F64,
  exactly,
  LOG_ERROR_F32,
  LOG_ERROR_F64,
  minusLog,
  plus,
  within,
  type Approximate,
  type Prediction,
} from "./philox-streams.js";
import * as triton from "./triton.js";

export type Precision = "f32" | "f64";

/** Where the noise of a row lies. */
export interface Place {
  /** the seed of all tokens of the row */
  readonly rowSeed: bigint;
  readonly precision: Precision;
}

/** The place of a request's draw; seed and position are int64. */
export function placeOf(seed: bigint, position: bigint, precision: Precision): Place {
  return { rowSeed: BigInt(triton.words(BigInt.asUintN(64, seed), BigInt.asUintN(64, position))[0]), precision };
}

export const words = ({ rowSeed }: Place, token: number): Words4 => triton.words(rowSeed, BigInt(token));

/** The uniform number of a token, its very bits; 0 becomes the smallest number that the engine allows. */
export function uniform(place: Place, token: number): number {
  if (place.precision === "f32") return Math.max(triton.uniform(place.rowSeed, BigInt(token)), triton.SCALE);
  const [low, high] = words(place, token);
  return Math.max(Number((BigInt(high) << 32n) | BigInt(low)) * 2 ** -64, 2 ** -1022);
}

/** Gumbel noise: -log(-log1p(-u)) in f32, so that the winners come from small u; -log(-log u) in f64. */
export function noise(place: Place, token: number): Approximate {
  const u = uniform(place, token);
  if (place.precision === "f32") return minusLog(within(-Math.log1p(-u), ERROR_F32), LOG_ERROR_F32);
  return minusLog(minusLog(exactly(u), LOG_ERROR_F64), LOG_ERROR_F64);
}

/** The token drawn for a row of f32 logits. At temperature 0 no noise is added, and the first of equal logits wins. */
export function predict(logits: ArrayLike<number>, place: Place, temperature: number): Prediction {
  const divisor = Math.fround(temperature);
  if (divisor === 0) return decide(Array.from(logits, exactly));
  const rounding = place.precision === "f32" ? ERROR_F32 : ERROR_F64;
  return decide(Array.from(logits, (logit, token) => plus(within(logit / divisor, ERROR_F32), noise(place, token), rounding)));
}
