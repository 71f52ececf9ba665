/**
 * Numbers that an engine's device computes: our values in f64, and bounds that hold the device's; and the decision between such numbers.
 *
 * The floating-point noise of other engines cannot be had bit for bit: the logarithms of their devices are approximations. So their replays, which
 * draw no token of ours, take Math.log in f64 and say how far the device can be from it. All arrays are [vocabSize]; operations make new ones.
 */

import { describe } from "../describe.js";
import { ownView, typedArrayKind } from "../typed-arrays.js";
import { fieldsOf, isList, isRecord } from "./values.js";

/** low <= what the device has <= high, and low <= value <= high, at each index. -Infinity in all three: a masked token. */
export interface Bounded {
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** The values as they are. @throws TypeError, RangeError for what is no array of numbers, or holds NaN */
export function exactly(values: ArrayLike<number>): Bounded {
  const value = readNumbers("values", values);
  refuseNaN("values", value);
  return { value, low: value, high: value };
}

/**
 * Values and what each may be off by, 0 or more. Infinite values have no error.
 * @throws TypeError, RangeError for what are no arrays of numbers, or not of one length; for NaN and errors below 0
 */
export function around(values: ArrayLike<number>, errors: ArrayLike<number>): Bounded {
  const value = readNumbers("values", values);
  refuseNaN("values", value);
  const given = readNumbers("errors", errors);
  if (given.length !== value.length) throw new RangeError(`"errors" expected ${value.length}, as there are values, got ${given.length}`);
  const off = given.map((error, index) => (Number.isFinite(value[index]!) ? error : 0));
  const wrong = off.findIndex((error) => !(error >= 0));
  if (wrong >= 0) throw new RangeError(`"errors[${wrong}]" expected a number of 0 or more, got ${off[wrong]}`);
  return { value, low: value.map((v, index) => v - off[index]!), high: value.map((v, index) => v + off[index]!) };
}

/** A copy. */
function readNumbers(label: string, values: unknown): Float64Array {
  const kind = typedArrayKind(values);
  if (kind === "Float64Array") return ownView(values, Float64Array).slice();
  if (!isList(values) && (kind === undefined || kind.startsWith("Big"))) throw new TypeError(`"${label}" expected an array of numbers, got ${describe(values)}`);
  const { length } = values as ArrayLike<unknown>;
  // Iterators of detached arrays throw.
  if (length === 0) return new Float64Array(0);
  return Float64Array.from(Array.from(values as ArrayLike<unknown>, (value, index) => {
    if (typeof value !== "number") throw new TypeError(`"${label}[${index}]" expected a number, got ${describe(value)}`);
    return value;
  }));
}

function refuseNaN(label: string, values: Float64Array): void {
  const index = values.findIndex(Number.isNaN);
  if (index >= 0) throw new RangeError(`"${label}[${index}]" expected a number, got NaN`);
}

/**
 * Numbers and bounds from outside.
 * @throws TypeError, RangeError unless they are three f64 arrays of one length. What they hold is the caller's to check.
 */
export function checkBounded(label: string, x: unknown): asserts x is Bounded {
  if (!isRecord(x)) throw new TypeError(`"${label}" expected { value, low, high }, got ${describe(x)}`);
  const fields = fieldsOf(x, ["value", "low", "high"]);
  let expected = -1;
  for (const name of ["value", "low", "high"] as const) {
    const array = fields[name];
    if (typedArrayKind(array) !== "Float64Array") throw new TypeError(`"${label}.${name}" expected a Float64Array, got ${describe(array)}`);
    const { length } = array as Float64Array;
    if (name === "value") expected = length;
    if (length !== expected) throw new RangeError(`"${label}.${name}" expected ${expected} numbers, as ${label}.value has, got ${length}`);
  }
}

/** How far the result of an operation on the device is from the exact one, at most, by the size of the exact one. */
export type Slack = (size: number) => number;

export const relatively = (error: number): Slack => (size) => error * size;

/** Moves the bounds apart, in place. Infinite ones stay. */
function widen(x: Bounded, slack: Slack): Bounded {
  const { low, high } = x;
  for (let index = 0; index < low.length; index++) {
    const lower = low[index]!;
    const upper = high[index]!;
    if (Number.isFinite(lower)) low[index] = lower - slack(Math.abs(lower));
    if (Number.isFinite(upper)) high[index] = upper + slack(Math.abs(upper));
  }
  return x;
}

/** f(x), f rising, as the device computes it. */
export function rising(x: Bounded, f: (x: number) => number, slack: Slack): Bounded {
  return widen({ value: x.value.map(f), low: x.low.map(f), high: x.high.map(f) }, slack);
}

/** f(x), f falling, as the device computes it. */
export function falling(x: Bounded, f: (x: number) => number, slack: Slack): Bounded {
  return widen({ value: x.value.map(f), low: x.high.map(f), high: x.low.map(f) }, slack);
}

/** -log x. Where x may be negative, so that the device has NaN, all is possible. */
export function minusLog(x: Bounded, slack: Slack, log: (x: number) => number = Math.log): Bounded {
  const result = falling(x, (number) => -log(Math.max(number, 0)), slack);
  x.low.forEach((low, index) => {
    if (low >= 0) return;
    result.low[index] = -Infinity;
    result.high[index] = Infinity;
  });
  return result;
}

/** x * factor, factor > 0. */
export const times = (x: Bounded, factor: number, slack: Slack): Bounded => rising(x, (number) => number * factor, slack);

/** x / divisor, divisor > 0. */
export const over = (x: Bounded, divisor: number, slack: Slack): Bounded => rising(x, (number) => number / divisor, slack);

/** a + b. A masked token stays masked, whatever is added. */
export function plus(a: Bounded, b: Bounded, slack: Slack): Bounded {
  const sum = (left: Float64Array, right: Float64Array): Float64Array =>
    left.map((number, index) => (number === -Infinity || right[index] === -Infinity ? -Infinity : number + right[index]!));
  return widen({ value: sum(a.value, b.value), low: sum(a.low, b.low), high: sum(a.high, b.high) }, slack);
}

/** How a token stands to a rival. */
export interface Lead {
  /** how far the token's score lies above the rival's */
  readonly gap: number;
  /** how much of that the device's arithmetic may take away */
  readonly error: number;
}

/** The token with the highest score. */
export interface Prediction extends Lead {
  readonly token: number;
  /** of the others, the one that may have the highest score; -1 where there is no other */
  readonly runnerUp: number;
}

/**
 * Whether the engine must have preferred the token. Else it is a near-tie: the engine may have drawn the rival.
 * @throws TypeError, RangeError for what is no lead
 */
export function isProven(lead: Lead): boolean {
  if (!isRecord(lead)) throw new TypeError(`"lead" expected { gap, error }, got ${describe(lead)}`);
  const { gap, error } = fieldsOf(lead, ["gap", "error"]);
  for (const [name, value] of Object.entries({ gap, error })) {
    if (typeof value !== "number") throw new TypeError(`"lead.${name}" expected a number, got ${describe(value)}`);
    if (Number.isNaN(value)) throw new RangeError(`"lead.${name}" expected a number, got NaN`);
  }
  return (gap as number) > (error as number);
}

/** What lies between two scores. A masked rival is behind by Infinity, and nothing is taken off that. */
export function leadOver({ value, low, high }: Bounded, token: number, rival: number): Lead {
  if (high[rival] === -Infinity) return { gap: value[token] === -Infinity ? 0 : Infinity, error: 0 };
  return { gap: apart(value[token]!, value[rival]!), error: apart(value[token]!, low[token]!) + apart(high[rival]!, value[rival]!) };
}

/** Infinities that are the same are no way apart. */
const apart = (more: number, less: number): number => (more === less ? 0 : more - less);

/**
 * The first token with the highest score, and what could beat it.
 * @throws TypeError for what are no bounded scores; RangeError where there is no score, or one is not a number
 */
export function decide(scores: Bounded): Prediction {
  checkBounded("scores", scores);
  if (scores.value.length === 0) throw new RangeError(`"scores" expected at least one, got none`);
  const unordered = scores.value.findIndex((value, token) => Number.isNaN(value) || Number.isNaN(scores.low[token]!) || Number.isNaN(scores.high[token]!));
  if (unordered >= 0) throw new RangeError(`"scores" expected numbers, got NaN for token ${unordered}`);
  const token = indexOfHighest(scores.value, -1);
  const runnerUp = indexOfHighest(scores.high, token);
  return { token, runnerUp, ...(runnerUp < 0 ? { gap: Infinity, error: 0 } : leadOver(scores, token, runnerUp)) };
}

function indexOfHighest(values: Float64Array, except: number): number {
  let highest = -1;
  for (let index = 0; index < values.length; index++) {
    if (index !== except && (highest < 0 || values[index]! > values[highest]!)) highest = index;
  }
  return highest;
}
