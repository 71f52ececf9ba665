/**
 * Draws from the Mersenne Twister mt19937: the dist sampler of llama.cpp, std::discrete_distribution, and the sampler of transformers.js.
 * Sources: Matsumoto, Nishimura, ACM TOMACS 8(1), 1998, with the authors' seeding of 2002; the C++ standard, [rand.eng.mers], which states the
 * 10000th word; ggml-org/llama.cpp, src/llama-sampler.cpp (MIT), the sampler on the host; huggingface/transformers.js 4.2,
 * packages/transformers/src/{utils/random.js, generation/logits_sampler.js} (Apache-2.0).
 *
 * The generators are stateful: a draw's place is how many draws came before it. An engine that draws at other times as well, for other slots
 * or with other samplers, has another count.
 *
 * Not proven: no recording of these engines exists here. Words are proven by published answers; what the engines make of them is as read in the sources.
 * uniform53 is that of libstdc++; other C++ libraries may differ in the last bit.
 *
 * Exponentials differ between C libraries, so they are predicted with Math.exp in f64 and a bound; no token of ours is drawn here.
 */
import type { Prediction } from "./jax.js";

export const engine = {
  name: "mt19937: llama.cpp's dist sampler, transformers.js",
  status: "unproven",
} as const;

const SIZE = 624;
const SHIFT = 397;
const TWIST = 0x9908b0df;

/** mt19937, one u32 word a call. */
export type Twister = () => number;

/** As std::mt19937(seed), seed a u32. */
export const twister = (seed: number): Twister => twisterOf(linearState(seed));

/** As the authors' init_by_array: Python's random.seed(n) and transformers.js' take the 32-bit words of n, the low one first. */
export function twisterOfWords(key: readonly number[]): Twister {
  if (key.length === 0 || key.length > SIZE) throw new RangeError(`"key" expected 1 to ${SIZE} words, got ${key.length}`);
  const state = linearState(19650218);
  let at = 1;
  const step = (multiplier: number, plus: number): void => {
    const before = state[at - 1]!;
    state[at] = (state[at]! ^ Math.imul(before ^ (before >>> 30), multiplier)) + plus;
    at += 1;
    if (at === SIZE) {
      state[0] = state[SIZE - 1]!;
      at = 1;
    }
  };
  for (let count = 0; count < SIZE; count++) step(1664525, key[count % key.length]! + (count % key.length));
  for (let count = 1; count < SIZE; count++) step(1566083941, -at);
  state[0] = 0x80000000;
  return twisterOf(state);
}

function linearState(seed: number): Uint32Array {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1]! ^ (state[i - 1]! >>> 30)) + i;
  return state;
}

function twisterOf(state: Uint32Array): Twister {
  let next = SIZE;
  return () => {
    if (next === SIZE) {
      for (let i = 0; i < SIZE; i++) {
        const joined = (state[i]! & 0x80000000) | (state[(i + 1) % SIZE]! & 0x7fffffff);
        state[i] = state[(i + SHIFT) % SIZE]! ^ (joined >>> 1) ^ (joined & 1 ? TWIST : 0);
      }
      next = 0;
    }
    let word = state[next++]!;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    word ^= word >>> 18;
    return word >>> 0;
  };
}

/** The first words of a stream. */
export const words = (next: Twister, count: number): number[] => Array.from({ length: count }, next);

/** std::uniform_real_distribution<double>(0, 1) and std::generate_canonical of libstdc++: 64 bits, the low word first, rounded to f64; never 1. */
export function uniform53(next: Twister): number {
  const low = next();
  return Math.min((low + next() * 2 ** 32) * 2 ** -64, 1 - 2 ** -53);
}

/** Python's random.random() and transformers.js': 53 bits, the high ones first. */
export function uniformPython(next: Twister): number {
  const high = next() >>> 5;
  return (high * 2 ** 26 + (next() >>> 6)) * 2 ** -53;
}

/** Of an f32 exp, its argument's rounding, and the softmax's division, relative for each unit of the argument. */
const EXP_ERROR = 2 ** -21;
const ROUNDING = 2 ** -24;

/**
 * The first token where the sum of the weights up to it reaches target, a share of all. The gap is how far the target is from the nearer of the two ends of
 * the token's part, as a share of all; runnerUp is the token beyond that end, -1 where there is none. `error`: how far the engine's share of an end may be off.
 */
function atShare(weights: readonly number[], target: number, error: number): Prediction {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const ends: number[] = [];
  weights.reduce((sum, weight) => (ends.push((sum + weight) / total), sum + weight), 0);
  const reached = ends.findIndex((end) => end >= target);
  const token = reached < 0 ? weights.length - 1 : reached;
  const start = token === 0 ? 0 : ends[token - 1]!;
  const previous = weights.findLastIndex((weight, index) => index < token && weight > 0);
  const following = weights.findIndex((weight, index) => index > token && weight > 0);
  const below = previous < 0 ? Infinity : target - start;
  const above = following < 0 ? Infinity : ends[token]! - target;
  return below < above ? { token, runnerUp: previous, gap: below, error } : { token, runnerUp: following, gap: above, error };
}

/** exp(logit - the highest), and how far the shares of the engine's f32 may be from those of these. */
function softmaxWeights(logits: readonly number[]): { weights: number[]; error: number } {
  const highest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(highest)) throw new RangeError(`"logits" expected a finite highest one, got ${highest}`);
  const weights = logits.map((logit) => Math.exp(logit - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const off = weights.reduce((sum, weight, index) => sum + (weight > 0 ? weight * (EXP_ERROR + (highest - logits[index]!) * ROUNDING) : 0), 0);
  return { weights, error: (2 * off) / total };
}

/**
 * llama.cpp's dist sampler on the logits that reach it, in the order in which they reach it: the index of the drawn one. Takes two words, for a single logit as
 * well. Versions differ in whether they round the uniform number to f32: the error holds both.
 */
export function predictLlamaCpp(logits: ArrayLike<number>, next: Twister): Prediction {
  const { weights, error } = softmaxWeights(Array.from(logits));
  return atShare(weights, uniform53(next), error + ROUNDING);
}

/** std::discrete_distribution of libstdc++: the index of a weight. It sums shares in f64. Takes two words, but none for a single weight. */
export function predictDiscrete(weights: readonly number[], next: Twister): Prediction {
  if (weights.length < 2) return { token: 0, runnerUp: -1, gap: Infinity, error: 0 };
  return atShare(weights, uniform53(next), weights.length * 2 ** -51);
}

/**
 * transformers.js' sampler with do_sample, on the logits that its processors leave: the drawn token. It takes the topK highest, the highest first, equal ones in
 * the order of their ids, and then the weighted choice over these. Takes two words.
 */
export function predictTransformersJs(logits: ArrayLike<number>, topK: number, next: Twister): Prediction {
  const ids = Array.from(logits, (_, id) => id).sort((a, b) => logits[b]! - logits[a]! || a - b);
  const kept = topK > 0 ? ids.slice(0, topK) : ids;
  const { weights, error } = softmaxWeights(kept.map((id) => logits[id]!));
  const { token, runnerUp, ...rest } = atShare(weights, uniformPython(next), error);
  return { token: kept[token]!, runnerUp: runnerUp < 0 ? -1 : kept[runnerUp]!, ...rest };
}
