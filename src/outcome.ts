/** From a backend's candidates to what callers read: tokens, details, and errors for rows that have no token. */
import { STATUS_ALL_MASKED, STATUS_INVALID, STATUS_OK, type Candidates } from "./backend.js";
import { reportMargin, reportScore } from "./spec/score.js";
import type { CheckedCall } from "./arguments.js";

/** The decision of one draw. */
export interface SampleDetail {
  /** -1 when the row is invalid or all its tokens are masked */
  readonly token: number;
  /** S: the winning score, a signed 64-bit integer in Q31.32; null without a token */
  readonly scoreBits: bigint | null;
  /** logit + T * Gumbel noise of the winner; null without a token */
  readonly score: number | null;
  /** the second-best token, -1 when there is none */
  readonly runnerUp: number;
  /** the winner's lead over the runner-up, in logits; null without a runner-up */
  readonly margin: number | null;
  readonly status: "ok" | "invalid" | "all-masked";
}

export interface SampleResult {
  /** [B * numSamples], the samples of a row side by side */
  readonly tokens: Int32Array;
  /** the seed used: as given, or the one that was drawn */
  readonly seed: bigint | BigUint64Array;
  /** [B * numSamples], when asked for */
  readonly details?: SampleDetail[];
}

/** What a call with details: true gives. */
export type DetailedResult = SampleResult & { readonly details: SampleDetail[] };

/** A row has no token. row: its index in the call. */
export class InvalidRowError extends RangeError {
  override readonly name = "InvalidRowError";
  readonly row: number;
  constructor(row: number, message: string) {
    super(message);
    this.row = row;
  }
}

/** @throws InvalidRowError for the first row without a token, when the call says so */
export function toResult(candidates: Candidates, { samples, rows, seed, details, onInvalid }: CheckedCall): SampleResult {
  if (onInvalid === "throw") {
    const bad = candidates.status.findIndex((status) => status !== STATUS_OK);
    if (bad >= 0) throw rowError(Math.floor(bad / samples), candidates.status[bad]!);
  }
  const result = { tokens: candidates.token, seed };
  if (!details) return result;
  return { ...result, details: Array.from(candidates.token, (_, index) => detail(candidates, index, rows[Math.floor(index / samples)]!.tau)) };
}

function rowError(row: number, status: number): InvalidRowError {
  return status === STATUS_ALL_MASKED
    ? new InvalidRowError(row, `"logits" expected at least one token above -Infinity, got none at row ${row}`)
    : new InvalidRowError(row, `"logits" expected no NaN and no +Infinity, got one at row ${row}`);
}

function detail(candidates: Candidates, index: number, tau: number): SampleDetail {
  const status = candidates.status[index]!;
  if (status !== STATUS_OK) {
    const name = status === STATUS_INVALID ? "invalid" : "all-masked";
    return { token: -1, scoreBits: null, score: null, runnerUp: -1, margin: null, status: name };
  }
  const scoreBits = candidates.score[index]!;
  const runnerUp = candidates.runnerUp[index]!;
  const margin = runnerUp < 0 ? null : reportMargin(scoreBits, candidates.runnerUpScore[index]!);
  return { token: candidates.token[index]!, scoreBits, score: reportScore(scoreBits, tau), runnerUp, margin, status: "ok" };
}
