/**
 * mt19937, and what engines make of its words.
 * Sources: Matsumoto, Nishimura, ACM TOMACS 8(1), 1998, with the authors' seeding of 2002; the C++ standard, [rand.eng.mers], which states the
 * 10000th word.
 *
 * The generator is stateful: a draw's place is how many draws came before it. An engine that draws at other times as well, for other slots
 * or with other samplers, has another count.
 */
import { wholeOrWordOption } from "./asked.js";
import type { EngineOption } from "./engine.js";

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

/** std::uniform_real_distribution<double>(0, 1) of libstdc++: 64 bits, the low word first, rounded to f64; never 1. */
export function uniform53(next: Twister): number {
  const low = next();
  return Math.min((low + next() * 2 ** 32) * 2 ** -64, 1 - 2 ** -53);
}

/** Python's random.random() and transformers.js': 53 bits, the high ones first. */
export function uniformPython(next: Twister): number {
  const high = next() >>> 5;
  return (high * 2 ** 26 + (next() >>> 6)) * 2 ** -53;
}

/** Draws are counted to here, so that no position makes a replay run on and on. */
const DRAW_LIMIT = 2 ** 24;
const WORDS_A_DRAW = 2;

/** How many draws the generator has made before. */
export const drawsBeforeOption = (word: string): EngineOption<number | null> =>
  wholeOrWordOption("draws that the generator has made since it was seeded", word, 0, DRAW_LIMIT);

/** Uniform numbers that are kept of a seed. */
const KEPT_DRAWS = 2 ** 16;

/**
 * The uniform number of a seed's draw, counted from 0. What was asked last is kept: draws mostly follow each other, and rows may share them.
 * @throws RangeError beyond 2^24
 */
export function uniformsOf(seeded: (seed: bigint) => Twister, uniform: (next: Twister) => number): (seed: bigint, draw: bigint) => number {
  const start = (seed: bigint) => ({ seed, next: seeded(seed), draws: 0, known: new Map<number, number>() });
  let kept: ReturnType<typeof start> | null = null;
  return (seed, draw) => {
    if (draw < 0n || draw > BigInt(DRAW_LIMIT)) throw new RangeError(`"draws-before" expected 0 to ${DRAW_LIMIT} draws, got ${draw}`);
    const wanted = Number(draw);
    if (kept === null || kept.seed !== seed) kept = start(seed);
    const known = kept.known.get(wanted);
    if (known !== undefined) return known;
    if (kept.draws > wanted) kept = start(seed);
    if (kept.known.size === KEPT_DRAWS) kept.known.clear();
    for (; kept.draws < wanted; kept.draws++) for (let word = 0; word < WORDS_A_DRAW; word++) kept.next();
    const value = uniform(kept.next);
    kept.draws++;
    kept.known.set(wanted, value);
    return value;
  };
}
