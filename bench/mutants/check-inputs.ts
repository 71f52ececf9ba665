/** Calls whose tokens the exact check compares, each made to show some faults. */
import { fromGamma } from "./floats.js";
import { tokenGamma } from "../../src/spec/score.js";
import { Random } from "../../src/verify/invariance/random.js";
import type { SamplerCall } from "../../src/verify/sampler-under-test.js";
import { byLogit } from "../../src/verify/by-logit.js";
import { joined, logitsOfWeights, normalLogits, onlyTokens } from "./logits.js";

export interface Input {
  readonly call: SamplerCall;
  /** f32 [rows, vocabSize]: what a right sampler draws from, -Infinity for what masks and filters forbid */
  readonly judged: Float32Array;
}

/** Rows of their own seeds beyond 32 bits, sequences that are not their places, positions and temperatures that differ. */
function callOf(rows: readonly Float32Array[], numSamples: number, more: Partial<SamplerCall> = {}): SamplerCall {
  const numbers = rows.map((_, row) => row);
  return {
    logits: joined(rows),
    rows: rows.length,
    vocabSize: rows[0]!.length,
    numSamples,
    temperature: numbers.map((row) => 1.25 - row / 8),
    seed: numbers.map((row) => 0x5eed_0000_0007n + BigInt(row) * 0x1_0000_0001n),
    sequence: numbers.map((row) => 40 + 3 * ((row * 7) % rows.length)),
    position: numbers.map((row) => 100 + 17 * row),
    ...more,
  };
}

const unfiltered = (call: SamplerCall): Input => ({ call, judged: call.logits });
const normalRows = (rows: number, vocabSize: number, deviation: number, mean = 0): Float32Array[] =>
  Array.from({ length: rows }, (_, row) => normalLogits(vocabSize, deviation, row, mean));

/** V divides neither by 4 nor by 32. */
const V = 1003;
const ROWS = 7;

/** Logits that rise to the last token, so that it and its neighbours win. */
function steepEnd(): Input {
  const rows = normalRows(ROWS, V, 1).map((logits) => logits.map((logit, token) => (token >= V - 4 ? logit + 8 : logit)));
  return unfiltered(callOf(rows, 24));
}

function masked(): Input {
  const random = new Random(1618, 100, 0);
  const rows = normalRows(ROWS, V, 2);
  const words = Math.ceil(V / 32);
  const mask = new Uint32Array(ROWS * words);
  const judged = rows.map((logits, row) => {
    const kept = random.order(V - 4).slice(0, 300);
    for (const token of kept) mask[row * words + (token >>> 5)]! |= 1 << (token & 31);
    return onlyTokens(logits, kept);
  });
  // What is forbidden would be drawn often.
  rows.forEach((logits, row) => logits.forEach((logit, token) => (logits[token] = judged[row]![token]! > -Infinity ? logit : logit + 3)));
  return { call: callOf(rows, 24, { mask }), judged: joined(judged) };
}

function topK(): Input {
  const counts = [2, 3, 5, 20, 100, 4, V];
  const rows = normalRows(ROWS, V, 1);
  return { call: callOf(rows, 24, { topK: counts }), judged: joined(rows.map((logits, row) => onlyTokens(logits, byLogit(logits).slice(0, counts[row])))) };
}

/** The third largest logit is that of three tokens. */
export const EQUAL_LOGITS = Float32Array.of(0, 1, 2, 1, 3, 1, -1, 0);
export const EQUAL_KEPT = [4, 2, 1];

function topKOfEquals(): Input {
  const rows = [EQUAL_LOGITS, EQUAL_LOGITS];
  return { call: callOf(rows, 24, { topK: [3, 3] }), judged: joined(rows.map((logits) => onlyTokens(logits, EQUAL_KEPT))) };
}

/** Shares at the row's temperature, and how many of the heaviest a top-p keeps. */
export interface Nucleus {
  readonly weights: readonly number[];
  readonly temperature: number;
  readonly topP: number;
  readonly topK?: number;
  readonly kept: number;
}

const SHARES = [0.5, 0.25, 0.12, 0.08, 0.05];
export const NUCLEUS: Nucleus = { weights: SHARES, temperature: 2, topP: 0.9, kept: 4 };
const NUCLEI: readonly Nucleus[] = [NUCLEUS, { ...NUCLEUS, topP: 0.4, kept: 1 }, { ...NUCLEUS, temperature: 0.5, topP: 0.8, kept: 3 }];
/** Of the three heaviest the first two have 0.73, of all only 0.55. */
export const NUCLEUS_OF_THREE: Nucleus = { weights: [0.3, 0.25, 0.2, 0.15, 0.1], temperature: 1, topP: 0.7, topK: 3, kept: 2 };

const evenly = (head: number, tokens: number): number[] => [head, ...new Array<number>(tokens).fill((1 - head) / tokens)];
/** A bf16 of 0.5 does not change when one of these is added. */
export const NUCLEUS_OF_HUNDREDS: Nucleus = { weights: evenly(0.5, 600), temperature: 1, topP: 0.7501, kept: 302 };

export function nucleusInput(nuclei: readonly Nucleus[], numSamples: number, more: Partial<SamplerCall> = {}): Input {
  const rows = nuclei.map(({ weights, temperature, kept }, row) => {
    const { logits, places } = logitsOfWeights(weights, temperature, 200 + row);
    // Equal logits are kept by number.
    const order = byLogit(logits);
    return { logits, judged: onlyTokens(logits, weights.length > 100 ? order.slice(0, kept) : places.slice(0, kept)) };
  });
  const filters = { topP: nuclei.map(({ topP }) => topP), ...(nuclei[0]!.topK !== undefined && { topK: nuclei.map(({ topK }) => topK!) }) };
  const call = callOf(rows.map(({ logits }) => logits), numSamples, { ...filters, temperature: nuclei.map(({ temperature }) => temperature), ...more });
  return { call, judged: joined(rows.map(({ judged }) => judged)) };
}

/** An f32 in [1/2, 1) does not change when one of these is added, 2.9e-8. The middle of one of them reaches p. */
const NUCLEUS_OF_MANY: Nucleus = { weights: evenly(0.9981, 65_535), temperature: 1, topP: 0.9981 + (31_043.5 * 0.0019) / 65_535, kept: 31_045 };
/** Where a token behind those wins if none is left out: once in a thousand positions. */
const POSITION_OF_MANY = 2333;

/** Numbers whose noise is at an end: found by a search of 2^32 words, seed 2011, sequence 0, sample 0. */
const EXTREME = { seed: 2011n, sequence: 0, vocabSize: 64 };
/** High word 80000000, low word ff48eb03: the largest noise but for the low word, 22.18. */
const LARGEST = { position: 15_983_133, token: 0 };
/** High word 80000000, low word 775e5f07: noise 22.94. */
const LARGER = { position: 65_389_762, token: 5 };
/** High word 0: the smallest noise. */
const SMALLEST = { position: 20_151_779, token: 23 };

function gumbelAt(position: number, token: number): number {
  return fromGamma(tokenGamma({ seed: EXTREME.seed, sequence: EXTREME.sequence, position, sample: 0, purpose: 0 }, token).gamma);
}

/** Two tokens: one of large noise, whose score lies `lead` above the other's, which has an ordinary noise. */
function duel({ position, token }: typeof LARGEST, lead: number): Float32Array {
  const rival = Array.from({ length: EXTREME.vocabSize }, (_, index) => index).find((index) => index !== token && Math.abs(gumbelAt(position, index) - 1) < 0.5)!;
  const logits = new Float32Array(EXTREME.vocabSize).fill(-Infinity);
  logits[rival] = 0;
  logits[token] = gumbelAt(position, rival) - gumbelAt(position, token) + lead;
  return logits;
}

function extremeWords(): Input {
  const single = onlyTokens(new Float32Array(EXTREME.vocabSize), [SMALLEST.token]);
  const duels = [
    { ...LARGEST, logits: duel(LARGEST, 3) },
    { ...LARGEST, logits: duel(LARGEST, -0.3) },
    { ...LARGER, logits: duel(LARGER, 0.03) },
    { ...SMALLEST, logits: single },
  ];
  return unfiltered(
    callOf(duels.map(({ logits }) => logits), 1, {
      temperature: duels.map(() => 1),
      seed: duels.map(() => EXTREME.seed),
      sequence: duels.map(() => EXTREME.sequence),
      position: duels.map(({ position }) => position),
    }),
  );
}

function rowsWithoutToken(): Input {
  const [plain, other, spoiled] = normalRows(3, V, 2);
  spoiled![500] = NaN;
  return unfiltered(callOf([plain!, spoiled!, new Float32Array(V).fill(-Infinity), other!], 4));
}

const INPUTS = {
  plain: () => unfiltered(callOf(normalRows(ROWS, V, 2), 12)),
  flat: () => unfiltered(callOf(normalRows(5, 16, 0.5), 40)),
  shards: () => unfiltered(callOf(normalRows(ROWS, 1008, 2), 12, { shards: 3 })),
  "late positions": () => unfiltered(callOf(normalRows(4, V, 2), 8, { position: [2 ** 24 + 1, 2 ** 25 + 3, 65_536 + 9, 2 ** 32 - 1] })),
  "late sequences": () => unfiltered(callOf(normalRows(3, V, 2), 8, { sequence: [65_536, 2 ** 31 + 5, 2 ** 32 - 1] })),
  "many samples": () => unfiltered(callOf(normalRows(1, 32, 1), 300)),
  "many rows": () => unfiltered(callOf(normalRows(20, 130, 1), 2, { temperature: new Array<number>(20).fill(1) })),
  "thousand draws": () => unfiltered(callOf(normalRows(4, 64, 2), 1000)),
  "steep end": steepEnd,
  "large logits": () => unfiltered(callOf(normalRows(ROWS, V, 2, 40), 24)),
  "low logits": () => unfiltered(callOf(normalRows(ROWS, V, 2, -30), 12)),
  "equal logits": () => unfiltered(callOf(normalRows(3, 40, 1).map((logits) => logits.map(Math.round)), 2, { temperature: [0, 0, 0] })),
  "greedy batchmate": () => unfiltered(callOf(normalRows(3, 64, 1), 8, { temperature: [1, 0, 0.5] })),
  "extreme words": extremeWords,
  "rows without a token": rowsWithoutToken,
  mask: masked,
  "top-k": topK,
  "top-k of equals": topKOfEquals,
  "top-p": () => nucleusInput(NUCLEI, 40),
  "top-p of hundreds": () => nucleusInput([NUCLEUS_OF_HUNDREDS], 40),
  "top-p of many": () => nucleusInput([NUCLEUS_OF_MANY], 1, { position: [POSITION_OF_MANY] }),
  "top-k and top-p": () => nucleusInput([NUCLEUS_OF_THREE], 40),
} satisfies Record<string, () => Input>;

export type CheckInput = keyof typeof INPUTS;

export const checkInputNames = Object.keys(INPUTS) as CheckInput[];

const made = new Map<CheckInput, Input>();

/** Made once. Whoever judges it leaves it as it is. */
export function checkInput(name: CheckInput): Input {
  let input = made.get(name);
  if (input === undefined) made.set(name, (input = INPUTS[name]()));
  return input;
}
