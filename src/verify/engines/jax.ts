/**
 * JAX's jax.random.categorical on f32 logits with threefry2x32 keys: argmax(gumbel + logits).
 * Source: jax-ml/jax, jax/_src/random/{core,threefry2x32}.py (Apache-2.0), read at cec06d1; recorded with JAX 0.11.2.
 * The generator: Salmon, Moraes, Dror, Shaw, SC'11; its known answers are Random123's.
 *
 * An element's noise is that of its flat index in the array of all rows' logits, so it depends on the place of the row in its batch.
 *
 * Not reproduced: other key types (rbg, philox4x32), f16, bf16 and f64 logits, mode "highest", draws without replacement. The recordings hold
 * seed 0, partitionable keys and mode "low"; the layout from before JAX 0.5 and mode "high" are as read in the source. Where 64-bit types are off, as by
 * default, JAX keeps the lower 32 bits of a seed only: give that number. A logit of NaN or +Infinity is not foreseen.
 *
 * The noise of a device's logarithms cannot be had bit for bit. It is predicted with Math.log in f64 and bounds; no token of ours is drawn here.
 */

export const engine = {
  name: "JAX threefry2x32, random.categorical",
  status: "recorded",
  unproven: ['keys that are not partitionable', 'mode "high"'],
} as const;

export type Key = readonly [number, number];

const ROTATIONS = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;
const PARITY = 0x1bd11bda;
const GROUPS_OF_ROUNDS = 5;

/** Threefry2x32 with 20 rounds: two random u32 words from a counter and a key of two. */
export function threefry2x32(counter: Key, key: Key): Key {
  const schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
  let x0 = (counter[0] + schedule[0]!) | 0;
  let x1 = (counter[1] + schedule[1]!) | 0;
  for (let group = 0; group < GROUPS_OF_ROUNDS; group++) {
    for (const rotation of ROTATIONS[group % 2]!) {
      x0 = (x0 + x1) | 0;
      x1 = ((x1 << rotation) | (x1 >>> (32 - rotation))) ^ x0;
    }
    x0 = (x0 + schedule[(group + 1) % 3]!) | 0;
    x1 = (x1 + schedule[(group + 2) % 3]! + group + 1) | 0;
  }
  return [x0 >>> 0, x1 >>> 0];
}

/** jax.random.key(seed) */
export function keyOf(seed: bigint): Key {
  if (seed < 0n || seed >> 64n !== 0n) throw new RangeError(`"seed" expected an integer from 0 to 2^64 - 1, got ${seed}`);
  return [Number(seed >> 32n), Number(seed & 0xffffffffn)];
}

/** jax.random.fold_in(key, data), data a u32 */
export const foldIn = (key: Key, data: number): Key => threefry2x32([0, data >>> 0], key);

/** jax.random.split(key, count)[index] */
export function split(key: Key, count: number, index: number, partitionable = true): Key {
  if (partitionable) return threefry2x32(halves(index), key);
  return [halvedWord(key, 2 * count, 2 * index), halvedWord(key, 2 * count, 2 * index + 1)];
}

/** The high and the low word of an index. */
const halves = (index: number): Key => [Math.floor(index / 2 ** 32), index >>> 0];

/** A word of the layout that is not partitionable: counters run over all `count` words, the second half of them in the second word of the first's. */
function halvedWord(key: Key, count: number, index: number): number {
  const half = Math.ceil(count / 2);
  const first = index % half;
  // An odd count is filled up with a counter of 0.
  const second = first + half < count ? first + half : 0;
  return threefry2x32([first, second], key)[index < half ? 0 : 1];
}

export type Mode = "low" | "high";

/** Where the noise of a row lies. */
export interface Place {
  readonly key: Key;
  /** index of the row among all rows that the call draws for: sample * batch + row, where a shape asks for several draws a row */
  readonly row: number;
  /** how many rows the call draws for */
  readonly rows: number;
  readonly vocabSize: number;
  /** jax_threefry_partitionable: true by default since JAX 0.5 */
  readonly partitionable: boolean;
  /** "low" unless jax_high_dynamic_range_gumbel is set */
  readonly mode: Mode;
}

/** The words of a token: one in mode "low", in mode "high" a second one, from a second array of the same shape. */
export function words({ key, row, rows, vocabSize, partitionable, mode }: Place, token: number): number[] {
  const size = rows * vocabSize;
  const element = row * vocabSize + token;
  const elements = mode === "low" ? [element] : [element, size + element];
  return elements.map((index) => {
    if (!partitionable) return halvedWord(key, elements.length * size, index);
    const [first, second] = threefry2x32(halves(index), key);
    return (first ^ second) >>> 0;
  });
}

/** jax.random.uniform of a word, its very bits: an f32 in [0, 1) with 23 bits. */
export const uniform = (word: number): number => (word >>> 9) * 2 ** -23;

/** The smallest normal f32: uniform numbers of gumbel's are no smaller. */
const TINY = 2 ** -126;
/** Added to small numbers in mode "high", so that they are not 0. Versions of JAX differ: they add this, or TINY. */
const HIGH_FLOOR = 2 ** -47;

/** A number that a device computes: our value of it, and bounds that hold the device's. */
export interface Approximate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Relative error of a device's f32 log or log1p: libdevice's and XLA's are off by at most 2 ulp. */
const LOG_ERROR = 2 ** -22;
/** Relative error of an f32 sum. */
const ROUNDING = 2 ** -24;

function widened(value: number, low: number, high: number, error: number): Approximate {
  return { value, low: low - Math.abs(low) * error, high: high + Math.abs(high) * error };
}

/** -log of a number in bounds, all positive. */
function minusLog({ value, low, high }: Approximate): Approximate {
  return widened(-Math.log(value), -Math.log(high), -Math.log(low), LOG_ERROR);
}

/** jax.random.gumbel: -log(-log u); in mode "high" u comes from the other end, with twice the bits. */
export function noise(place: Place, token: number): Approximate {
  const [first, second] = words(place, token).map(uniform);
  if (second === undefined) {
    const exponential = -Math.log(Math.max(first!, TINY));
    return minusLog(widened(exponential, exponential, exponential, LOG_ERROR));
  }
  // The bounds hold the noise of all versions.
  const largest = -Math.log1p(-highUniform(first!, second, HIGH_FLOOR));
  const smallest = -Math.log1p(-highUniform(first!, second, TINY));
  return minusLog(widened(largest, smallest, largest, LOG_ERROR));
}

/** The uniform number of mode "high", its very bits for a floor that the version adds. */
export function highUniform(high: number, low: number, floor: number): number {
  return high >= 0.5 ? high : Math.fround(Math.fround(high + low * 2 ** -23) + floor);
}

/** The token with the highest score. */
export interface Prediction {
  readonly token: number;
  /** of the others, the one that may have the highest score; -1 where there is no other */
  readonly runnerUp: number;
  /** how far the token's score lies above the runner-up's. The engine must have drawn the token when gap > error; else it is a near-tie. */
  readonly gap: number;
  /** how much of the gap the device's arithmetic may take away */
  readonly error: number;
}

/** The first token with the highest score, and what could beat it. */
export function decide(scores: readonly Approximate[]): Prediction {
  if (scores.length === 0) throw new RangeError(`"scores" expected at least one, got none`);
  const token = indexOfHighest(scores.map(({ value }) => value), -1);
  const runnerUp = indexOfHighest(scores.map(({ high }) => high), token);
  if (runnerUp < 0) return { token, runnerUp, gap: Infinity, error: 0 };
  const best = scores[token]!;
  const rival = scores[runnerUp]!;
  // A masked rival has the score -Infinity, exactly: then nothing of an infinite gap is lost.
  const error = rival.high === -Infinity ? 0 : best.value - best.low + (rival.high - rival.value);
  return { token, runnerUp, gap: best.value - rival.value, error };
}

function indexOfHighest(values: readonly number[], except: number): number {
  let highest = -1;
  for (let index = 0; index < values.length; index++) {
    if (index !== except && (highest < 0 || values[index]! > values[highest]!)) highest = index;
  }
  return highest;
}

/** The token drawn for a row of f32 logits. */
export function predict(logits: ArrayLike<number>, place: Place): Prediction {
  return decide(
    Array.from(logits, (logit, token) => {
      const { value, low, high } = noise(place, token);
      return widened(value + logit, low + logit, high + logit, ROUNDING);
    }),
  );
}
