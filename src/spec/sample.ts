/**
 * The oracle: the sampling rule on a whole row, token by token, nothing fused and nothing skipped.
 * Every backend must return what this returns, bit for bit.
 */
import type { RowRequest } from "./request.js";
import { PURPOSE_GUMBEL } from "./constants.js";
import { bitsFromF32 } from "./float.js";
import { argmaxCombine, fix, MASK, scoreOf, tokenGamma, type Scored } from "./score.js";

/** One decision. token and runnerUp are -1 where there is none. */
export interface Draw {
  readonly status: "ok" | "invalid" | "all-masked";
  readonly token: number;
  readonly score: bigint;
  readonly runnerUp: number;
  readonly runnerUpScore: bigint;
}

/** Z of a whole row. null: the row holds NaN or +inf. */
export type RowZ = BigInt64Array | null;

/** Z [V] from given f32 logits [V]. */
export function rowFromLogits(logits: Float32Array): RowZ {
  const fixed = Array.from(logits, (logit) => fix(bitsFromF32(logit)));
  return fixed.every(({ valid }) => valid) ? BigInt64Array.from(fixed, ({ z }) => z) : null;
}

/** The token drawn by the row's sample number `sample` (counted from the request's firstSample). */
export function drawRow(row: RowZ, request: RowRequest, sample: number): Draw {
  const [winner, runnerUp] = drawWithoutReplacement(row, request, sample, 2);
  if (winner === undefined) {
    return { status: row === null ? "invalid" : "all-masked", token: -1, score: 0n, runnerUp: -1, runnerUpScore: 0n };
  }
  return {
    status: "ok",
    token: winner.token,
    score: winner.score,
    runnerUp: runnerUp?.token ?? -1,
    runnerUpScore: runnerUp?.score ?? 0n,
  };
}

/**
 * The tokens of the `count` largest scores, largest first: draws without replacement, one after the other, from
 * softmax(logits / T) (the Gumbel top-k identity). Fewer come back when fewer tokens are unmasked; none for a null row.
 */
export function drawWithoutReplacement(row: RowZ, request: RowRequest, sample: number, count: number): Scored[] {
  if (row === null) return [];
  const scored = rowScores(row, request, sample).filter(({ score }) => score !== MASK);
  return scored.sort((a, b) => (argmaxCombine(a, b) === a ? -1 : 1)).slice(0, count);
}

function rowScores(row: BigInt64Array, request: RowRequest, sample: number): Scored[] {
  return Array.from(row, (z, token) => {
    const draw = {
      seed: request.seed,
      sequence: request.sequence,
      position: request.position,
      sample: (request.firstSample ?? 0) + sample,
      purpose: request.purpose ?? PURPOSE_GUMBEL,
    };
    return { token, score: scoreOf(z, tokenGamma(draw, token).gamma, request.tau) };
  });
}
