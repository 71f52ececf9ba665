/** A draw's decision as GPU kernels leave it: score, token, flags; score, token, 0. A score's sign bit is flipped. */
import { STATUS_INVALID, STATUS_OK, type Candidates } from "../src/backend.js";

/** Of a decision, and of each of a draw's candidates. */
export const DECISION_BYTES = 32;
const NO_TOKEN = 0xffffffff;
const FLAG_INVALID = 1;
const SIGN = 1n << 63n;

/** Reads the decisions of draws that follow each other, the first of which is number firstDraw of `candidates`. */
export function readDecisions(words: Uint32Array, candidates: Candidates, firstDraw: number): void {
  const score = (low: number, high: number): bigint => BigInt.asIntN(64, ((BigInt(high) << 32n) | BigInt(low)) ^ SIGN);
  for (let at = 0, draw = firstDraw; at < words.length; at += 8, draw++) {
    const [low, high, token, flags, low2, high2, runnerUp] = words.subarray(at, at + 7) as unknown as [number, number, number, number, number, number, number];
    if (flags & FLAG_INVALID) {
      candidates.status[draw] = STATUS_INVALID;
      continue;
    }
    if (token === NO_TOKEN) continue;
    candidates.status[draw] = STATUS_OK;
    candidates.token[draw] = token;
    candidates.score[draw] = score(low, high);
    if (runnerUp === NO_TOKEN) continue;
    candidates.runnerUp[draw] = runnerUp;
    candidates.runnerUpScore[draw] = score(low2, high2);
  }
}
