/** The draws that are checked: which tokens, and how they were drawn. */
import { checkCall, checkInteger, DETAIL_LIMIT, type CheckedCall } from "../../arguments.js";
import { describe } from "../../describe.js";
import type { LogitError } from "../logit-error.js";
import type { LogitSource } from "./logit-source.js";
import { DEFAULT_RANKS, type CheckOptions } from "./options.js";
import type { CheckTask } from "./task.js";
import type { Vocabulary } from "./vocabulary.js";

/** @throws TypeError, RangeError for tokens that are not so many as the rows have, or for how they were drawn */
export function callOf(options: CheckOptions, rowCount: number): CheckedCall {
  const { tokens, seed, temperature, sequence, position, numSamples } = options;
  if (seed === undefined) throw new TypeError('"seed" expected that of the draws, got undefined');
  const length = checkLength(tokens);
  const samples = numSamples ?? Math.max(1, Math.floor(length / rowCount));
  const draws = { ...(temperature !== undefined && { temperature }), ...(sequence !== undefined && { sequence }), ...(position !== undefined && { position }) };
  const call = checkCall({ seed, ...draws, numSamples: samples, details: true, onInvalid: "mark" }, rowCount);
  if (length !== rowCount * samples) throw new RangeError(`"tokens" expected ${rowCount} rows * ${samples} ${samples === 1 ? "token" : "tokens"}, got ${length}`);
  return call;
}

function checkLength(tokens: unknown): number {
  const length = (tokens as ArrayLike<unknown> | null)?.length;
  if (typeof tokens !== "object" || typeof length !== "number") throw new TypeError(`"tokens" expected an array of integers, got ${describe(tokens)}`);
  if (!(length >= 1 && length <= DETAIL_LIMIT)) throw new RangeError(`"tokens" expected 1 to ${DETAIL_LIMIT} tokens, got ${length}`);
  return length;
}

/** Integers of any size become the nearest f64: those past 2^53 are out of range as they are. */
function readTokens(tokens: ArrayLike<number | bigint>): Float64Array {
  return Float64Array.from(tokens, (token, index) => {
    if (typeof token !== "bigint" && !Number.isInteger(token)) throw new TypeError(`"tokens" expected integers, got ${describe(token)} at index ${index}`);
    return Number(token);
  });
}

export function taskOf(options: CheckOptions, call: CheckedCall, source: LogitSource, vocabulary: Vocabulary, error: LogitError): CheckTask {
  const { temperature = 1, ranks = DEFAULT_RANKS, tokens, signal } = options;
  checkInteger("ranks", ranks, 0, DETAIL_LIMIT + 1);
  const temperatures = typeof temperature === "number" ? temperature : Array.from(temperature);
  return { source, vocabulary, requests: call.rows, temperature: temperatures, numSamples: call.samples, tokens: readTokens(tokens), error, ranks, signal };
}

/** The same call to a sampler. */
export function drawOptions({ temperature }: CheckTask, { rows, seed, samples }: CheckedCall) {
  return {
    temperature,
    seed,
    sequence: rows.map(({ sequence }) => sequence),
    position: rows.map(({ position }) => position),
    numSamples: samples,
    details: true,
    onInvalid: "mark",
  } as const;
}

