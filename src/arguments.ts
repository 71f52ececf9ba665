/** Checks of what callers pass for each row: one place that knows the ranges and words the errors. */
import { describe, nameText } from "./describe.js";
import { SAMPLE_LIMIT, TEMPERATURE_LIMIT } from "./spec/constants.js";
import type { RowRequest } from "./spec/request.js";
import { tauOf } from "./spec/score.js";
import { ownView, typedArrayKind } from "./typed-arrays.js";

/** A value for all rows, or one a row. */
export type PerRow = number | ArrayLike<number>;

/** How the rows of a call are drawn. */
export interface DrawOptions {
  /** 0 <= T < 256; 0 is greedy. Default 1. */
  readonly temperature?: PerRow;
  /**
   * bigint in [0, 2^64), non-negative safe integer, or one a row as BigUint64Array.
   * Left out: drawn from the platform's cryptographic generator and returned.
   */
  readonly seed?: bigint | number | BigUint64Array;
  /** Stream of a request, u32. Default: the row's index with one seed, 0 with a seed a row. */
  readonly sequence?: PerRow;
  /** Decode step, u32. Default 0. */
  readonly position?: PerRow;
  /** Draws a row, 1..2^24, with replacement. Default 1. */
  readonly numSamples?: number;
}

/** "throw": an error for the first row without a token. "mark": token -1 for that row, the others as if it were not there. */
export type OnInvalid = "throw" | "mark";

/** How the outcome is told. */
export interface ResultOptions {
  /** Also return score, runner-up and margin of each draw. Default false. */
  readonly details?: boolean;
  /** What becomes of a row that has no token. Default "throw". */
  readonly onInvalid?: OnInvalid;
}

/** Everything a call asks for, copied: what the caller does to its options afterwards no longer matters. */
export interface CheckedCall {
  readonly seed: bigint | BigUint64Array;
  readonly samples: number;
  readonly rows: readonly RowRequest[];
  readonly details: boolean;
  readonly onInvalid: OnInvalid;
}

const U32_LIMIT = 2 ** 32;
/** Draws of one call: 25 bytes each while they are decided. */
export const DRAW_LIMIT = 2 ** 26;
/** Draws of one call with details, each an object; and rows of one call. */
export const DETAIL_LIMIT = 2 ** 22;

/** @throws TypeError, RangeError naming the argument */
export function checkCall(options: DrawOptions & ResultOptions, rowCount: number): CheckedCall {
  const { numSamples: samples = 1, details = false, onInvalid = "throw" } = options;
  const { seed: givenSeed, temperature: temperatures = 1, position: positions = 0, sequence: sequences } = options;
  checkInteger("numSamples", samples, 1, SAMPLE_LIMIT + 1);
  if (typeof details !== "boolean") throw new TypeError(`"details" expected true or false, got ${describe(details)}`);
  if (onInvalid !== "throw" && onInvalid !== "mark") throw new RangeError(`"onInvalid" expected "throw" or "mark", got ${describe(onInvalid)}`);
  checkDrawCount(rowCount, samples, details);
  const seed = checkSeed(givenSeed, rowCount);
  const temperature = perRow("temperature", temperatures, rowCount, checkTemperature);
  const position = perRow("position", positions, rowCount, checkU32);
  const sequence = sequences === undefined ? null : perRow("sequence", sequences, rowCount, checkU32);
  const rows = Array.from({ length: rowCount }, (_, row) => ({
    seed: typeof seed === "bigint" ? seed : seed[row]!,
    sequence: sequence === null ? (typeof seed === "bigint" ? row : 0) : sequence(row),
    position: position(row),
    tau: tauOf(temperature(row)),
  }));
  return { seed, samples, rows, details, onInvalid };
}

/** @throws RangeError when one call cannot return so many draws */
export function checkDrawCount(rowCount: number, samples: number, details: boolean): void {
  if (rowCount > DETAIL_LIMIT) throw new RangeError(`"rows" expected at most ${DETAIL_LIMIT} in one call, got ${rowCount}`);
  const limit = details ? DETAIL_LIMIT : DRAW_LIMIT;
  if (rowCount * samples > limit) {
    throw new RangeError(`"numSamples" expected at most ${limit} draws in one call${details ? " with details" : ""}, got ${rowCount} rows * ${samples}`);
  }
}

function checkSeed(seed: DrawOptions["seed"], rowCount: number): bigint | BigUint64Array {
  if (seed === undefined) return crypto.getRandomValues(new BigUint64Array(1))[0]!;
  if (typedArrayKind(seed) === "BigUint64Array") {
    const seeds = ownView(seed, BigUint64Array).slice();
    if (seeds.length !== rowCount) throw new RangeError(`"seed" expected ${rowCount} seeds, one a row, got ${seeds.length}`);
    return seeds;
  }
  if (typeof seed === "bigint") {
    if (seed < 0n || seed >= 1n << 64n) throw new RangeError(`"seed" expected a bigint in [0, 2^64), got ${describe(seed)}`);
    return seed;
  }
  if (typeof seed !== "number") {
    throw new TypeError(`"seed" expected a bigint, a non-negative safe integer or a BigUint64Array, got ${describe(seed)}`);
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(`"seed" expected a non-negative safe integer (or a bigint for more), got ${seed}`);
  }
  return BigInt(seed);
}

/** Values are read once, and it is the copy that is checked. */
function perRow(name: string, value: PerRow, rowCount: number, check: (name: string, value: unknown) => void): (row: number) => number {
  if (typeof value === "number") {
    check(name, value);
    return () => value;
  }
  if (!Array.isArray(value) && typedArrayKind(value) === undefined) {
    throw new TypeError(`"${name}" expected a number or an array with one a row, got ${describe(value)}`);
  }
  const { length } = value;
  if (length !== rowCount) throw new RangeError(`"${name}" expected ${rowCount} values, one a row, got ${length}`);
  const values = Array.from({ length }, (_, row) => value[row]);
  values.forEach((element, row) => check(`${name}[${row}]`, element));
  return (row) => values[row]!;
}

function checkTemperature(name: string, value: unknown): void {
  if (typeof value !== "number") throw new TypeError(`"${name}" expected a number in [0, ${TEMPERATURE_LIMIT}), got ${describe(value)}`);
  if (!(value >= 0 && value < TEMPERATURE_LIMIT)) throw new RangeError(`"${name}" expected a number in [0, ${TEMPERATURE_LIMIT}), got ${value}`);
}

function checkU32(name: string, value: unknown): void {
  checkInteger(name, value, 0, U32_LIMIT);
}

/** An integer in [from, to). */
export function checkInteger(name: string, value: unknown, from: number, to: number): asserts value is number {
  if (typeof value !== "number") throw new TypeError(`"${name}" expected an integer in [${from}, ${to}), got ${describe(value)}`);
  if (!Number.isInteger(value) || value < from || value >= to) {
    throw new RangeError(`"${name}" expected an integer in [${from}, ${to}), got ${value}`);
  }
}

/** The options of every call that draws. */
export const CALL_OPTIONS = ["temperature", "seed", "sequence", "position", "numSamples", "details", "onInvalid"] as const;

/**
 * known: the option the call needs, then all others it takes. A misspelt option would be ignored without a word. label: of the object
 * @throws TypeError unless options is an object without others
 */
export function checkOptions(options: unknown, known: readonly string[], label = "options"): void {
  if (typeof options !== "object" || options === null) throw new TypeError(`"${label}" expected an object with ${known[0]}, got ${describe(options)}`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`"${label}" expected only ${known.join(", ")}, got ${nameText(unknown)}`);
}
