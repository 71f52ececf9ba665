/**
 * Numbers that an engine's device computes: our values in f64, and bounds that hold the device's; and the decision between such numbers.
 *
 * The floating-point noise of other engines cannot be had bit for bit: the logarithms of their devices are approximations. So their replays, which
 * draw no token of ours, take Math.log in f64 and say how far the device can be from it. All arrays are [vocabSize]; operations make new ones.
 */

/** low <= what the device has <= high, and low <= value <= high, at each index. -Infinity in all three: a masked token. */
export interface Bounded {
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** The values as they are. */
export function exactly(values: ArrayLike<number>): Bounded {
  const value = Float64Array.from(values);
  return { value, low: value, high: value };
}

/** Values and what each may be off by, 0 or more. Infinite values have no error. */
export function around(values: ArrayLike<number>, errors: ArrayLike<number>): Bounded {
  const value = Float64Array.from(values);
  const off = (index: number): number => (Number.isFinite(value[index]!) ? errors[index]! : 0);
  return { value, low: value.map((v, index) => v - off(index)), high: value.map((v, index) => v + off(index)) };
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

/** Whether the engine must have preferred the token. Else it is a near-tie: the engine may have drawn the rival. */
export const isProven = ({ gap, error }: Lead): boolean => gap > error;

/** What lies between two scores. A masked rival is behind by Infinity, and nothing is taken off that. */
export function leadOver({ value, low, high }: Bounded, token: number, rival: number): Lead {
  if (high[rival] === -Infinity) return { gap: value[token] === -Infinity ? 0 : Infinity, error: 0 };
  return { gap: value[token]! - value[rival]!, error: value[token]! - low[token]! + (high[rival]! - value[rival]!) };
}

/**
 * The first token with the highest score, and what could beat it.
 * @throws RangeError where there is no score, or one is not a number
 */
export function decide(scores: Bounded): Prediction {
  if (scores.value.length === 0) throw new RangeError(`"scores" expected at least one, got none`);
  const unordered = scores.value.findIndex(Number.isNaN);
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
