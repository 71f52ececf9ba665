/** Checks of what callers pass for each row: one place that knows the ranges and words the errors. */
import { SAMPLE_LIMIT, TEMPERATURE_LIMIT } from "./spec/constants.js";
import type { RowRequest } from "./spec/request.js";
import { tauOf } from "./spec/score.js";

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

export interface CheckedDraws {
  readonly seed: bigint | BigUint64Array;
  readonly samples: number;
  readonly rows: readonly RowRequest[];
}

const U32_LIMIT = 2 ** 32;

/** @throws TypeError, RangeError naming the argument */
export function checkDraws(options: DrawOptions, rowCount: number): CheckedDraws {
  const { numSamples: samples = 1, temperature: temperatures = 1, position: positions = 0 } = options;
  checkInteger("numSamples", samples, 1, SAMPLE_LIMIT + 1);
  const seed = checkSeed(options.seed, rowCount);
  const seedOfRow = (row: number) => (typeof seed === "bigint" ? seed : seed[row]!);
  const temperature = perRow("temperature", temperatures, rowCount, checkTemperature);
  const position = perRow("position", positions, rowCount, checkU32);
  const sequence =
    options.sequence === undefined
      ? (row: number) => (typeof seed === "bigint" ? row : 0)
      : perRow("sequence", options.sequence, rowCount, checkU32);
  const rows = Array.from({ length: rowCount }, (_, row) => ({
    seed: seedOfRow(row),
    sequence: sequence(row),
    position: position(row),
    tau: tauOf(temperature(row)),
  }));
  return { seed, samples, rows };
}

function checkSeed(seed: DrawOptions["seed"], rowCount: number): bigint | BigUint64Array {
  if (seed === undefined) return crypto.getRandomValues(new BigUint64Array(1))[0]!;
  if (seed instanceof BigUint64Array) {
    if (seed.length !== rowCount) throw new RangeError(`"seed" expected ${rowCount} seeds, one a row, got ${seed.length}`);
    return seed.slice();
  }
  if (typeof seed === "bigint") {
    if (seed < 0n || seed >= 1n << 64n) throw new RangeError(`"seed" expected a bigint in [0, 2^64), got ${seed}`);
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

function perRow(name: string, value: PerRow, rowCount: number, check: (name: string, value: unknown) => void): (row: number) => number {
  if (typeof value === "number") {
    check(name, value);
    return () => value;
  }
  if (!isArrayLike(value)) throw new TypeError(`"${name}" expected a number or an array with one a row, got ${describe(value)}`);
  if (value.length !== rowCount) throw new RangeError(`"${name}" expected ${rowCount} values, one a row, got ${value.length}`);
  for (let row = 0; row < rowCount; row++) check(`${name}[${row}]`, value[row]);
  return (row) => value[row]!;
}

function isArrayLike(value: unknown): value is ArrayLike<number> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
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

/** What came, for an error: short, and never a value that could throw on its way to text. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "object") return value.constructor?.name ?? "an object";
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  return typeof value === "function" || typeof value === "symbol" ? `a ${typeof value}` : String(value);
}
