/**
 * Scores of engines that walk along the weights until they reach their share: minus the distance of the uniform number from a token's part of [0, 1]. It is 0 inside
 * of the part, so that the token drawn has the highest score, and the rule for scores holds for these engines as well.
 */
import type { Bounded } from "../bounded.js";

/** A number and its bounds. */
export interface Span {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** An engine's uniform number. */
export const spanOf = (value: number, error: number): Span => ({ value, low: value - error, high: value + error });

/** What an engine's exp is off by: relative error by the distance below the highest, and absolute. */
export interface ExpError {
  relative(distance: number): number;
  readonly absolute: number;
}

/**
 * exp(logit - the highest) [vocabSize], as the engine has it; 0 for masked tokens.
 * @throws RangeError where no logit is finite
 */
export function weightsOf(logits: Bounded, error: ExpError): Bounded {
  const highest = logits.value.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(highest)) throw new RangeError(`"logits" expected a finite highest one, got ${highest}`);
  const weigh = (values: Float64Array, sign: number): Float64Array =>
    values.map((logit) => {
      if (logit === -Infinity) return 0;
      const off = sign * error.relative(Math.abs(highest - logit));
      return Math.max(0, Math.exp(logit - highest) * (1 + off) + sign * error.absolute);
    });
  return { value: weigh(logits.value, 0), low: weigh(logits.low, -1), high: weigh(logits.high, 1) };
}

/** How the tokens lie on the walk. */
export interface Walk {
  /** the sum of the weights before each */
  readonly before: Bounded;
  /** and of all on it */
  readonly total: Span;
  /** whether each token is on it, where not all are: by our values, perhaps, surely */
  readonly on?: { readonly byValue: Uint8Array; readonly perhaps: Uint8Array; readonly surely: Uint8Array };
}

/** In the order of ids. */
export function walkById(weights: Bounded): Walk {
  const sums = { value: summed(weights.value), low: summed(weights.low), high: summed(weights.high) };
  const before = (sum: Float64Array): Float64Array => sum.subarray(0, -1);
  const total = (sum: Float64Array): number => sum.at(-1)!;
  return {
    before: { value: before(sums.value), low: before(sums.low), high: before(sums.high) },
    total: { value: total(sums.value), low: total(sums.low), high: total(sums.high) },
  };
}

/** The sums of the first 0, 1, ... values. */
function summed(values: Float64Array): Float64Array {
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, index) => (sums[index + 1] = sums[index]! + value));
  return sums;
}

/** How equal logits lie: in the order of their ids, or in any. */
export type Ties = "by-id" | "any";

/** The `kept` highest, the highest first. Where bounds overlap, or equal ones lie in any order, all orders are held. */
export function walkByRank(logits: Bounded, weights: Bounded, kept: number, ties: Ties): Walk {
  const size = logits.value.length;
  const value = ranked(logits.value, weights.value);
  const open = ties === "any";
  const low = logits.low === logits.value ? { ...value, sums: sumsAlong(value.ids, weights.low) } : ranked(logits.low, weights.low);
  const high = logits.high === logits.value ? { ...value, sums: sumsAlong(value.ids, weights.high) } : ranked(logits.high, weights.high);
  const before = { value: new Float64Array(size), low: new Float64Array(size), high: new Float64Array(size) };
  const on = { byValue: new Uint8Array(size), perhaps: new Uint8Array(size), surely: new Uint8Array(size) };
  for (let token = 0; token < size; token++) {
    const rank = countAhead(value, logits.value[token]!, token);
    const fewest = countAhead(low, logits.high[token]!, open ? 0 : token);
    const withItself = countAhead(high, logits.low[token]!, open ? size : token);
    const itself = open || logits.high[token]! > logits.low[token]! ? 1 : 0;
    const most = withItself - itself;
    before.value[token] = value.sums[Math.min(rank, kept)]!;
    before.low[token] = low.sums[Math.min(fewest, kept)]!;
    before.high[token] = most < kept ? high.sums[withItself]! - itself * weights.high[token]! : high.sums[kept - 1]!;
    on.byValue[token] = Number(rank < kept);
    on.perhaps[token] = Number(fewest < kept);
    on.surely[token] = Number(most < kept);
  }
  return { before, total: { value: value.sums[kept]!, low: low.sums[kept]!, high: high.sums[kept]! }, on };
}

/** Tokens, the highest first, and the sums of their weights along. */
interface Ranked {
  readonly logits: Float64Array;
  readonly ids: Uint32Array;
  readonly sums: Float64Array;
}

function ranked(logits: Float64Array, weights: Float64Array): Ranked {
  const ids = new Uint32Array(logits.length).map((_, id) => id).sort((a, b) => (logits[b]! > logits[a]! ? 1 : logits[b]! < logits[a]! ? -1 : a - b));
  return { logits, ids, sums: sumsAlong(ids, weights) };
}

const sumsAlong = (ids: Uint32Array, weights: Float64Array): Float64Array => summed(Float64Array.from(ids, (id) => weights[id]!));

/** How many are ahead of a logit and its id. */
function countAhead({ logits, ids }: Ranked, logit: number, id: number): number {
  let from = 0;
  let to = ids.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const other = ids[middle]!;
    if (logits[other]! > logit || (logits[other] === logit && other < id)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Of f64 sums, and of the differences that a walk may take instead, relative to the total: half an ulp for each step, here and there. */
const walkError = (steps: number): number => steps * 2 ** -51;

/** The scores [vocabSize] of a walk to a uniform number. Masked tokens, and others that are not on it, are -Infinity. */
export function walkScores(weights: Bounded, walk: Walk, uniform: Span): Bounded {
  const size = weights.value.length;
  const scores = { value: new Float64Array(size), low: new Float64Array(size), high: new Float64Array(size) };
  for (let token = 0; token < size; token++) {
    const part = partOf(weights, walk, token);
    const masked = weights.high[token] === 0;
    const value = -distance(uniform.value, part.from.value, part.to.value);
    scores.value[token] = masked || walk.on?.byValue[token] === 0 ? -Infinity : value;
    scores.high[token] = masked || walk.on?.perhaps[token] === 0 ? -Infinity : Math.max(value, -Math.max(0, part.from.low - uniform.high, uniform.low - part.to.high));
    scores.low[token] = masked || walk.on?.surely[token] === 0 ? -Infinity : Math.min(value, -Math.max(0, part.from.high - uniform.low, uniform.high - part.to.low));
  }
  return scores;
}

/** A token's part of [0, 1]. */
function partOf(weights: Bounded, { before, total }: Walk, token: number): { readonly from: Span; readonly to: Span } {
  const error = walkError(weights.value.length);
  const shares = (values: Span): Span => ({
    value: values.value / total.value,
    low: values.low / total.high - error,
    high: values.high / Math.max(total.low, Number.MIN_VALUE) + error,
  });
  const from = { value: before.value[token]!, low: before.low[token]!, high: before.high[token]! };
  const to = { value: from.value + weights.value[token]!, low: from.low + weights.low[token]!, high: from.high + weights.high[token]! };
  return { from: shares(from), to: shares(to) };
}

const distance = (point: number, from: number, to: number): number => Math.max(0, from - point, point - to);
