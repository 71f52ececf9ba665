/** The draws that are checked: which tokens, and how they were drawn. */
import { checkCall, type CheckedCall } from "../../arguments.js";
import type { LogitError } from "../logit-error.js";
import type { LogitSource } from "./logit-source.js";
import type { CheckGiven } from "./given.js";
import { DEFAULT_RANKS } from "./options.js";
import type { CheckTask } from "./task.js";
import type { Vocabulary } from "./vocabulary.js";

/** @throws TypeError, RangeError for tokens that are not so many as the rows have, or for how they were drawn */
export function callOf(given: CheckGiven, rowCount: number): CheckedCall {
  const { length } = given.tokens.values;
  const { seed, temperature, sequence, position, numSamples: samples = Math.max(1, Math.floor(length / rowCount)) } = given;
  const draws = { ...(temperature !== undefined && { temperature }), ...(sequence !== undefined && { sequence }), ...(position !== undefined && { position }) };
  const call = checkCall({ seed, ...draws, numSamples: samples, details: true, onInvalid: "mark" }, rowCount);
  if (length !== rowCount * samples) throw new RangeError(`"tokens" expected ${rowCount} rows * ${samples} ${samples === 1 ? "token" : "tokens"}, got ${length}`);
  return call;
}

export function taskOf(given: CheckGiven, call: CheckedCall, source: LogitSource, vocabulary: Vocabulary, error: LogitError): CheckTask {
  const { temperature = 1, ranks = DEFAULT_RANKS, tokens, signal } = given;
  const temperatures = typeof temperature === "number" ? temperature : Array.from(temperature);
  return { source, vocabulary, requests: call.rows, temperature: temperatures, numSamples: call.samples, tokens: tokens.values, told: tokens.told, error, ranks, signal };
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

