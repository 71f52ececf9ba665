/**
 * What the replays of engines on Philox4x32-10 share: the words at a place of a stream, numbers with bounds for what a device
 * made of them, and the decision between such numbers.
 *
 * The floating-point noise of other engines cannot be had bit for bit: the logarithms of their devices are approximations. So these
 * files, which draw no token themselves, take Math.log in f64 and say how far the device can be from it.
 */
import { philox4x32, type Words4 } from "../../spec/philox.js";

/** The two words of an unsigned 64-bit number, the low one first. */
function halves(label: string, value: bigint): readonly [number, number] {
  if (value < 0n || value >> 64n !== 0n) throw new RangeError(`"${label}" expected an integer from 0 to 2^64 - 1, got ${value}`);
  return [Number(value & 0xffffffffn), Number(value >> 32n)];
}

/** The block of four words at an offset, counted in blocks, of a subsequence: both make the counter, and the seed is the key. */
export function blockAt(seed: bigint, offset: bigint, subsequence: bigint): Words4 {
  return philox4x32([...halves("offset", offset), ...halves("subsequence", subsequence)], halves("seed", seed));
}

/** A number that a device computes: our value of it, and bounds that hold the device's. */
export interface Approximate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Of one f32 logarithm on an NVIDIA device, as a multiple of max(1, |log|). CUDA's intrinsics are off by up to 2^-21.41 (ln) and 2^-22 (log2) for
 * arguments in [1/2, 2], by 3 ulp elsewhere; its library functions, which an engine may be built with as well, by 1 ulp.
 */
export const LOG_ERROR_F32 = 2 ** -21.4;
/** Of one f64 logarithm: 1 ulp on the device, and as much here. */
export const LOG_ERROR_F64 = 2 ** -51;
/** Relative, of an f32 division, product or log1p: at most 2 ulp on the device. Larger by half, for the arithmetic here. */
export const ERROR_F32 = 1.5 * 2 ** -22;
/** Relative, of an f64 sum: half an ulp on the device, and as much here. */
export const ERROR_F64 = 2 ** -52;

export const exactly = (value: number): Approximate => ({ value, low: value, high: value });

/** Any number that differs from the value by a relative error. */
export const within = (value: number, relative: number): Approximate => widen(exactly(value), relative, 0);

/** Moves the bounds apart by relative * max(floor, |bound|). Infinite ones stay. */
function widen({ value, low, high }: Approximate, relative: number, floor: number): Approximate {
  const slack = (bound: number): number => (Number.isFinite(bound) ? relative * Math.max(floor, Math.abs(bound)) : 0);
  return { value, low: low - slack(low), high: high + slack(high) };
}

/** -log x, where the logarithm is off by error * max(1, |log|). Where x may be negative, so that the device has NaN, all is possible. */
export function minusLog(x: Approximate, error: number, log: (x: number) => number = Math.log): Approximate {
  const value = -log(Math.max(x.value, 0));
  if (x.low < 0) return { value, low: -Infinity, high: Infinity };
  return widen({ value, low: -log(x.high), high: -log(x.low) }, error, 1);
}

/** x * factor, factor > 0, rounded. */
export function times(x: Approximate, factor: number, relative: number): Approximate {
  return widen({ value: x.value * factor, low: x.low * factor, high: x.high * factor }, relative, 0);
}

/** a + b, rounded. */
export function plus(a: Approximate, b: Approximate, relative: number): Approximate {
  return widen({ value: a.value + b.value, low: a.low + b.low, high: a.high + b.high }, relative, 0);
}

/** The token with the highest score. */
export interface Prediction {
  readonly token: number;
  /** of the others, the one that may have the highest score; -1 where there is no other */
  readonly runnerUp: number;
  /** how far the token's score lies above the runner-up's */
  readonly gap: number;
  /** how much of that the device's arithmetic may take away */
  readonly error: number;
}

/** Whether the engine must have drawn the token. Else it is a near-tie: the engine may have drawn another one. */
export const isProven = ({ gap, error }: Prediction): boolean => gap > error;

/** The first token with the highest score, and what could beat it. */
export function decide(scores: readonly Approximate[]): Prediction {
  if (scores.length === 0) throw new RangeError(`"scores" expected at least one, got none`);
  const token = indexOfHighest(scores, ({ value }) => value, -1);
  const runnerUp = indexOfHighest(scores, ({ high }) => high, token);
  if (runnerUp < 0) return { token, runnerUp, gap: Infinity, error: 0 };
  const best = scores[token]!;
  const rival = scores[runnerUp]!;
  return { token, runnerUp, gap: best.value - rival.value, error: distance(best.value, best.low) + distance(rival.high, rival.value) };
}

function indexOfHighest(scores: readonly Approximate[], key: (score: Approximate) => number, except: number): number {
  let highest = -1;
  for (let index = 0; index < scores.length; index++) {
    if (index !== except && (highest < 0 || key(scores[index]!) > key(scores[highest]!))) highest = index;
  }
  return highest;
}

/** a - b; 0 where both are the same infinity. */
const distance = (a: number, b: number): number => (a === b ? 0 : a - b);
