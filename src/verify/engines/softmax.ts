/** What an f32 softmax, and an f32 logarithm of it, do to logits. */
import type { Bounded } from "../bounded.js";

/**
 * Of what is common to a row nothing counts. Of the rest: exp (2 ulp), the division (2 ulp), and for the logarithm or another division 2 ulp more.
 * The difference to the highest logit is rounded before exp, and a logarithm of the probability after it.
 */
const RATIO_ERROR = 6 * 2 ** -23;
const DIFFERENCE_ERROR = 1.6 * 2 ** -23;
/** Further below the highest a probability may be subnormal in f32: it may become 0, or grow to the next subnormal. */
const SUBNORMAL_FROM = -64;
const SUBNORMAL_GROWTH = 1.5;
/** log of a vocabulary's size, at most. */
const LOG_SIZE = 23;

/**
 * Logits with the bounds of log softmax(logits), but for what is common to all.
 * @throws RangeError where no logit is finite
 */
export function throughSoftmax({ value, low, high }: Bounded): Bounded {
  const highest = high.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(highest)) throw new RangeError(`"logits" expected a finite highest one, got ${highest}`);
  const error = (logit: number): number => RATIO_ERROR + (highest - logit + LOG_SIZE) * DIFFERENCE_ERROR;
  return {
    value,
    low: low.map((logit) => (logit - highest < SUBNORMAL_FROM ? -Infinity : logit - error(logit))),
    high: high.map((logit, index) => (logit === -Infinity ? -Infinity : low[index]! - highest < SUBNORMAL_FROM ? logit + SUBNORMAL_GROWTH : logit + error(low[index]!))),
  };
}
