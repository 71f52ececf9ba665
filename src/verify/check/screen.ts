/**
 * The rule's decision among all tokens of a row from f64 logits: only tokens whose order these leave open get their score of 64 bits, as
 * in docs/spec.md, section 10.
 */
import { NOISE_SHIFT, SCORE_FRACTION_BITS, Z_LIMIT_BITS } from "../../spec/constants.js";
import type { RowRequest } from "../../spec/request.js";
import { argmaxCombine, MASK, type Scored } from "../../spec/score.js";
import type { LogitSource, RowLogits } from "./logit-source.js";
import { addressOf, rowGammas, tokenScore } from "./noise.js";

const CLAMP = 2 ** (Z_LIMIT_BITS - SCORE_FRACTION_BITS);
/** S leaves out less than one unit, 2^-32, of the noise, and the noise, below 2^14, is rounded to f64. */
const SCORE_SLACK = 2 ** -31;

interface Screened {
  /** about S 2^-32, f64 [V]; -Infinity for masked tokens */
  readonly scores: Float64Array;
  /** how far S 2^-32 may be from it */
  distance(token: number): number;
  exact(token: number): Promise<Scored>;
}

async function screen(source: LogitSource, row: RowLogits, request: RowRequest, sample: number): Promise<Screened> {
  const gammas = await rowGammas(addressOf(request, sample), source.vocabSize);
  const unit = request.tau * 2 ** -(NOISE_SHIFT + SCORE_FRACTION_BITS);
  const scores = row.logits.map((logit, token) => (logit === -Infinity ? logit : Math.min(Math.max(logit, -CLAMP), CLAMP) + gammas[token]! * unit));
  return {
    scores,
    distance: (token) => row.distance(token) + SCORE_SLACK + Math.abs(scores[token]!) * 2 ** -52,
    exact: async (token) => ({ token, score: tokenScore((await source.at(row.row, token)).z, request, sample, token) }),
  };
}

/** The winner and the runner-up, as many as there are. */
export async function bestTwo(source: LogitSource, row: RowLogits, request: RowRequest, sample: number): Promise<Scored[]> {
  const { scores, distance, exact } = await screen(source, row, request, sample);
  const tokens = Array.from(scores.keys()).filter((token) => scores[token] !== -Infinity);
  let [largest, threshold] = [-Infinity, -Infinity];
  for (const token of tokens) {
    const lower = scores[token]! - distance(token);
    threshold = Math.max(threshold, Math.min(lower, largest));
    largest = Math.max(largest, lower);
  }
  const open: Scored[] = [];
  for (const token of tokens) if (scores[token]! + distance(token) >= threshold) open.push(await exact(token));
  return open.sort((a, b) => (argmaxCombine(a, b) === a ? -1 : 1)).slice(0, 2);
}

/** The place of a token by score, 1 the winner's. given: with its S */
export async function rankOf(source: LogitSource, row: RowLogits, request: RowRequest, sample: number, given: Scored): Promise<number> {
  const { scores, distance, exact } = await screen(source, row, request, sample);
  const own = Number(given.score) * 2 ** -SCORE_FRACTION_BITS;
  let rank = 1;
  for (let token = 0; token < scores.length; token++) {
    if (token === given.token || scores[token] === -Infinity) continue;
    const ahead = scores[token]! - own;
    const slack = distance(token);
    if (ahead < -slack) continue;
    if (ahead > slack) rank++;
    else {
      const other = await exact(token);
      if (other.score !== MASK && argmaxCombine(other, given) === other) rank++;
    }
  }
  return rank;
}

/** Of a token in softmax(logits / T), from f64; at T = 0 the greedy token's is 1. */
export function probabilityOf(logits: Float64Array, temperature: number, token: number): number {
  const highest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  if (temperature === 0) return logits.indexOf(highest) === token ? 1 : 0;
  const sum = logits.reduce((total, logit) => total + Math.exp((logit - highest) / temperature), 0);
  return Math.exp((logits[token]! - highest) / temperature) / sum;
}
