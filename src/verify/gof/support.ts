/** Tokens that cannot be drawn at all: one is enough. */
import type { Fault, GofTest } from "../documents.js";
import { toldToken } from "../tokens.js";
import type { Distributions } from "./distributions.js";
import type { CheckedTokens } from "./input.js";

export interface Support {
  /** null where some token cannot be drawn */
  readonly tokens: Int32Array | null;
  readonly test: GofTest;
}

export function checkSupport({ given, shape }: CheckedTokens, distributions: Distributions): Support {
  const tokens = new Int32Array(given.length);
  let impossible = 0;
  let first: string | null = null;
  for (let index = 0; index < given.length; index++) {
    const fault = faultOf(given[index]!, rowAt(index, given.length, distributions), distributions);
    if (fault === null) {
      tokens[index] = Number(given[index]);
      continue;
    }
    impossible++;
    first ??= `token ${toldToken(given[index]!)} at [${placeOf(index, shape).join(", ")}] is ${fault}${fault === "out-of-range" ? `: V = ${distributions.vocabSize}` : ""}`;
  }
  const test: GofTest = {
    name: "support",
    question: "Can each token be drawn at all?",
    statistic: impossible,
    degreesOfFreedom: null,
    pValue: impossible === 0 ? 1 : 0,
    // Never by chance: it takes nothing of alpha.
    threshold: Number.MIN_VALUE,
    passed: impossible === 0,
    detail: impossible > 1 ? `${first}, the first of ${impossible} tokens that cannot be drawn` : first,
  };
  return { tokens: impossible === 0 ? tokens : null, test };
}

function rowAt(index: number, draws: number, { ofRow }: Distributions): number {
  return Math.floor((index * ofRow.length) / draws);
}

function faultOf(token: number | bigint, row: number, { ofRow, gap, vocabSize }: Distributions): Fault | null {
  if (token < 0) return "negative";
  if (token >= vocabSize) return "out-of-range";
  return gap(ofRow[row]!, Number(token)) === Infinity ? "masked" : null;
}

function placeOf(index: number, shape: readonly number[]): number[] {
  const place: number[] = [];
  for (const size of shape.toReversed()) {
    place.unshift(index % size);
    index = Math.floor(index / size);
  }
  return place;
}
