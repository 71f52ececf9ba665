/** What is said of a draw: exact, near-tie or wrong, and why. */
import type { CheckedDraw, Fault, Verdict } from "./documents.js";

/** What the rule or an engine draws. */
export interface Decision {
  /** -1: the row has no token */
  readonly token: number;
  /** its lead over the runner-up, in logits; null where there is none, or where it is not known */
  readonly margin: number | null;
}

/** How far the given token is behind the expected one, and how much of that errors may take away. */
export interface Comparison {
  readonly gap: number;
  readonly allowed: number;
}

/** Errors that are none settle every tie by the rule: the lower token. */
export function verdictOf({ gap, allowed }: Comparison): Verdict {
  return allowed > 0 && gap <= allowed ? "near-tie" : "wrong";
}

interface Place {
  readonly row: number;
  readonly sample: number;
}

/** A draw that needs no score: the expected token, or one that cannot have been drawn. null: scores must be compared. */
export function settledDraw(place: Place, given: number, decision: Decision, fault: Fault | null): CheckedDraw | null {
  const hasToken = decision.token >= 0;
  if (given === decision.token) return toDraw(place, given, decision, { verdict: "exact", gap: hasToken ? 0 : null });
  if (fault !== null && (hasToken || fault !== "masked")) return toDraw(place, given, decision, { verdict: "wrong", fault, probability: fault === "masked" || fault === "padded" ? 0 : null });
  return hasToken ? null : toDraw(place, given, decision, { verdict: "wrong", fault: "no-token" });
}

/** A draw of another token than the expected one. */
export function comparedDraw(place: Place, given: number, decision: Decision, comparison: Comparison): CheckedDraw {
  const { gap, allowed } = comparison;
  return toDraw(place, given, decision, { verdict: verdictOf(comparison), gap: orNull(gap), allowed: orNull(allowed) });
}

/** JSON has no infinities. */
const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

type Said = Pick<CheckedDraw, "verdict"> & Partial<CheckedDraw>;

function toDraw({ row, sample }: Place, given: number, { token, margin }: Decision, said: Said): CheckedDraw {
  return { row, sample, given, expected: token, fault: null, margin, gap: null, allowed: null, rank: null, probability: null, ...said };
}
