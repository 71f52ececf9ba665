/**
 * JAX's jax.random.categorical on f32 logits with threefry2x32 keys: argmax(gumbel + logits).
 * Source: jax-ml/jax, jax/_src/random/{core,threefry2x32}.py (Apache-2.0), read at cec06d1; recorded with JAX 0.11.2 on an H200.
 * The generator: Salmon, Moraes, Dror, Shaw, SC'11; its known answers are Random123's.
 *
 * An element's noise is that of its flat index in the array of all rows' logits, so it depends on the place of the row in its batch.
 */
import { exactly, minusLog, plus, relatively, rising, type Bounded } from "../bounded.js";
import { choiceOption, expectNoPosition, overTemperature } from "./asked.js";
import { QUOTIENT_F32, SUM_F32 } from "./device-errors.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { halves } from "./words64.js";

/** The high word and the low one. */
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

/** jax.random.key(seed); of 32 bits where 64-bit types are off, as by default. */
export function keyOf(seed: bigint, bits: "32" | "64"): Key {
  const [low, high] = halves("seed", seed);
  return bits === "64" ? [high, low] : [0, low];
}

/** jax.random.fold_in(key, data), data a u32 */
export const foldIn = (key: Key, data: number): Key => threefry2x32([0, data >>> 0], key);

/** The high and the low word of an index. */
const counterOf = (index: number): Key => [Math.floor(index / 2 ** 32), index >>> 0];

/** A word of the layout that is not partitionable: counters run over all `count` words, the second half of them in the second word of the first's. */
function halvedWord(key: Key, count: number, index: number): number {
  const half = Math.ceil(count / 2);
  const first = index % half;
  // An odd count is filled up with a counter of 0.
  const second = first + half < count ? first + half : 0;
  return threefry2x32([first, second], key)[index < half ? 0 : 1];
}

/** The word at an index among `count`: jax.random.bits. */
export function wordAt(key: Key, count: number, index: number, partitionable: boolean): number {
  if (!partitionable) return halvedWord(key, count, index);
  const [first, second] = threefry2x32(counterOf(index), key);
  return (first ^ second) >>> 0;
}

/** jax.random.uniform of a word, its very bits: an f32 in [0, 1) with 23 bits. */
export const uniform = (word: number): number => (word >>> 9) * 2 ** -23;

/** The smallest normal f32: uniform numbers of gumbel's are no smaller. */
const TINY = 2 ** -126;
/** Added to small numbers in mode "high", so that they are not 0. Versions of JAX differ: they add this, or TINY. */
const HIGH_FLOOR = 2 ** -47;

/** Relative error of a device's f32 log or log1p: libdevice's and XLA's are off by at most 2 ulp. */
const LOG_F32 = relatively(2 ** -22);

/** jax.random.gumbel in mode "low" of uniform numbers: -log(-log u). */
export const lowNoise = (u: Float64Array): Bounded => minusLog(minusLog(exactly(u.map((value) => Math.max(value, TINY))), LOG_F32), LOG_F32);

/** The same in mode "high", of two uniform numbers: -log(-log1p(-u)), u from the other end, with twice the bits. */
export function highNoise(high: Float64Array, low: Float64Array): Bounded {
  const withFloor = (floor: number): Float64Array => high.map((value, index) => highUniform(value, low[index]!, floor));
  // The bounds hold the noise of all versions.
  const most = withFloor(HIGH_FLOOR);
  const exponential = rising({ value: most, low: withFloor(TINY), high: most }, (u) => -Math.log1p(-u), LOG_F32);
  return minusLog(exponential, LOG_F32);
}

/** The uniform number of mode "high", its very bits for a floor that the version adds. */
export function highUniform(high: number, low: number, floor: number): number {
  return high >= 0.5 ? high : Math.fround(Math.fround(high + low * 2 ** -23) + floor);
}

type Options = { readonly key: "seed" | "fold-in"; readonly "seed-bits": "32" | "64"; readonly mode: "low" | "high"; readonly partitionable: "yes" | "no" };

/** The noise of a row's draw. Several draws a row are the leading axis of a shape: [numSamples, rows]. */
function noiseOf({ row, rows, sample, numSamples, vocabSize }: EngineDraw, key: Key, mode: "low" | "high", partitionable: boolean): Bounded {
  const size = numSamples * rows * vocabSize;
  const first = (sample * rows + row) * vocabSize;
  const uniforms = (count: number, from: number): Float64Array =>
    new Float64Array(vocabSize).map((_, token) => uniform(wordAt(key, count, from + token, partitionable)));
  // Mode "high" has an array of twice the size: its second half holds the low numbers.
  return mode === "low" ? lowNoise(uniforms(size, first)) : highNoise(uniforms(2 * size, first), uniforms(2 * size, size + first));
}

function drawKey({ seed, position }: EngineDraw, options: Options): Key {
  const key = keyOf(seed, options["seed-bits"]);
  if (options.key === "seed") return key;
  if (position < 0n || position >> 32n !== 0n) throw new RangeError(`"position" expected a number of 32 bits to fold in, got ${position}`);
  return foldIn(key, Number(position));
}

const LOGARITHMS = "TPUs, and CPUs in f32: their logarithms are taken to be off by at most 2 ulp";
const OTHER_FLOOR = 'mode "high" of earlier versions, with another floor';

export const jax: EngineReplay<Options> = {
  name: "jax",
  title: "JAX's random.categorical with threefry2x32 keys",
  source: { project: "jax-ml/jax", file: "jax/_src/random/core.py, jax/_src/random/threefry2x32.py", version: "read at cec06d1; recorded with 0.11.2", licence: "Apache-2.0" },
  status: "recorded",
  unproven: [LOGARITHMS, OTHER_FLOOR],
  unprovenIn: (_, { mode }) => (mode === "high" ? [LOGARITHMS, OTHER_FLOOR] : [LOGARITHMS]),
  limits: ["not other key types (rbg, philox4x32), f16, bf16 and f64 logits, mode \"highest\", draws without replacement", "several draws a row: shape=(numSamples, rows)"],
  options: {
    key: choiceOption("key(seed), or fold_in(key(seed), position)", ["seed", "fold-in"]),
    "seed-bits": choiceOption("how much of a seed jax.random.key keeps: 64 with jax_enable_x64", ["32", "64"]),
    mode: choiceOption("of gumbel", ["low", "high"]),
    partitionable: choiceOption("jax_threefry_partitionable, the default since JAX 0.5", ["yes", "no"]),
  },
  scores(logits, draw, options) {
    if (options.key === "seed") expectNoPosition(draw, "key=seed has none; fold-in has");
    const noise = noiseOf(draw, drawKey(draw, options), options.mode, options.partitionable === "yes");
    return plus(overTemperature(logits, Math.fround(draw.temperature), QUOTIENT_F32), noise, SUM_F32);
  },
};
