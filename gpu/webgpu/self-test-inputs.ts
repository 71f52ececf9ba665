/**
 * What a device is asked before it may sample: heads, hidden states and logits on which wrong arithmetic shows. They are made
 * here and in examples/python-reference/webgpu_self_test.py, which says what is right, by the same few integer operations.
 *
 * Every logit depends on the order of its sums, on each product's last bit and, through scales that cancel between weights and
 * hidden states, on operands from the smallest to the largest that the rule lets through (f16: also its subnormals). Beside it:
 *
 * - every fourth token has columns that nearly cancel their neighbours;
 * - tokens 7 and 70 are the same and tie, token 71 is one unit in the last place better (int8: a little), on hidden row 0;
 * - the last token, alone in its tile with a few others, wins hidden row 1;
 * - on hidden row 2 logits pass the clamp, on row 3 most of their bits are shifted out.
 */
import type { Dtype, HeadShape, LogitsBatch } from "../../src/backend.js";
import { encodeRequest, type RowRequest } from "../../src/spec/request.js";

export const KNOWN_SHAPES = {
  bf16: { dtype: "bf16", vocabSize: 133, hiddenSize: 1100, groupSize: 0 },
  f16: { dtype: "f16", vocabSize: 133, hiddenSize: 1100, groupSize: 0 },
  f32: { dtype: "f32", vocabSize: 133, hiddenSize: 590, groupSize: 0 },
  int8: { dtype: "int8", vocabSize: 77, hiddenSize: 2200, groupSize: 2200 },
  "int8 groups": { dtype: "int8", vocabSize: 133, hiddenSize: 256, groupSize: 128 },
  "int8 narrow": { dtype: "int8", vocabSize: 133, hiddenSize: 1088, groupSize: 544 },
} as const satisfies Record<string, HeadShape>;

export type KnownHead = keyof typeof KNOWN_SHAPES;

/** A row of a call: which hidden states or logits it has, and its request. */
export interface KnownRow {
  readonly input: number;
  readonly request: RowRequest;
}

/** Rows that are drawn once without noise, and rows with noise. The answers stand in this order. */
export interface KnownRows {
  readonly greedy: readonly KnownRow[];
  readonly noisy: readonly KnownRow[];
}

/** Draws of a noisy row. */
export const NOISY_SAMPLES = 12;
const LOGITS_VOCAB = 517;

const WORDS = { weights: 0, hidden: 1, scales: 2, requests: 3, logits: 4 } as const;

/** Powers of two that columns' hidden states have and their weights lack, in turn. */
const CLASSES: Readonly<Record<Dtype, readonly number[]>> = {
  bf16: [0, 30, 0, -30, 0, 17, 0, -17],
  f16: [0, 12, 0, -12, 0, 14, 0, -14],
  f32: [0, 18, 0, -18, 0, 11, 0, -11],
  int8: [0, 3, 0, -3, 0, 2, 0, -2],
};
const LAST_BIT = { bf16: 1 << 16, f16: 1 << 13, f32: 1 } as const;
const NEAR = { bf16: 14, f16: 14, f32: 15 } as const;
const HIDDEN_SCALES = [0, 0, 26, -18, 0, 0];

export const HEAD_ROWS: KnownRows = {
  greedy: [0, 1, 2, 3].map((input, index) => knownRow(index, input, 0)),
  noisy: ([[4, 50 << 24], [5, 120 << 24], [2, 0xffe66666], [3, 1 << 23]] as const).map(([input, tau], index) => knownRow(4 + index, input, tau)),
};
export const LOGITS_ROWS: KnownRows = {
  greedy: [0, 1, 2, 3, 4, 5, 6].map((input, index) => knownRow(index, input, 0)),
  noisy: ([[0, 5 << 24], [1, 0xffe66666], [6, 1 << 24]] as const).map(([input, tau], index) => knownRow(7 + index, input, tau)),
};

/** The finaliser of MurmurHash3 (Appleby) on a counter. */
function word(stream: number, index: number): number {
  let x = (Math.imul(index, 0x9e3779b1) + Math.imul(stream, 0x85ebca77)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

function knownRow(index: number, input: number, tau: number): KnownRow {
  const [low, high, sequence, position, first] = [0, 1, 2, 3, 4].map((i) => word(WORDS.requests, index * 5 + i)) as [number, number, number, number, number];
  return { input, request: { seed: (BigInt(high) << 32n) | BigInt(low), sequence, position, tau: tau >>> 0, firstSample: first & 0xffff00 } };
}

function columnClass(dtype: Dtype, column: number): number {
  return CLASSES[dtype][((column >> 1) + (column >> 5)) & 7]!;
}

/** Bits of +-2^exponent * 1.fraction in the format, the rest of the 23-bit fraction cut off. */
function numberBits(dtype: "bf16" | "f16" | "f32", sign: number, exponent: number, fraction: number): number {
  if (dtype !== "f16") {
    const bits = ((sign << 31) | ((exponent + 127) << 23) | fraction) >>> 0;
    return dtype === "bf16" ? bits >>> 16 : bits;
  }
  const short = fraction >>> 13;
  const limited = Math.min(exponent, 15);
  if (limited >= -14) return (sign << 15) | ((limited + 15) << 10) | short;
  return (sign << 15) | ((1024 | short) >> Math.min(31, -14 - limited));
}

/** Some neighbouring columns are equal: weights that differ in sign then nearly cancel. */
function hiddenWord(hiddenSize: number, row: number, column: number): number {
  return word(WORDS.hidden, row * hiddenSize + (column & 1 && !(column & 4) ? column - 1 : column));
}

function hiddenValue({ dtype, hiddenSize }: HeadShape, row: number, column: number): number {
  const bits = hiddenWord(hiddenSize, row, column);
  const exponent = -2 + ((bits >>> 23) & 3) + columnClass(dtype, column) + HIDDEN_SCALES[row]!;
  const format = dtype === "int8" ? "bf16" : dtype;
  const stored = numberBits(format, bits >>> 31, exponent, bits & 0x7fffff);
  if (format === "bf16") return f32Of(stored << 16);
  if (format === "f32") return f32Of(stored);
  const magnitude = stored & 0x7fff;
  const value = magnitude < 1024 ? magnitude * 2 ** -24 : f32Of((magnitude << 13) + (112 << 23));
  return stored & 0x8000 ? -value : value;
}

/** Tokens 7, 70 and 71 have the same weights but for the last one. */
function sourceToken(token: number): number {
  return token === 70 || token === 71 ? 7 : token;
}

/** The hidden row whose signs a token's weights have. */
function alignedRow(token: number, vocabSize: number): number | null {
  if (sourceToken(token) === 7) return 0;
  return token === vocabSize - 1 ? 1 : null;
}

function weightBits({ dtype, vocabSize, hiddenSize }: HeadShape, token: number, column: number): number {
  const at = sourceToken(token) * hiddenSize + column;
  const row = alignedRow(token, vocabSize);
  if (row !== null) {
    const sign = hiddenWord(hiddenSize, row, column) >>> 31;
    const isLast = column === hiddenSize - 1;
    const bits = word(WORDS.weights, at);
    if (dtype === "int8") {
      const magnitude = isLast ? Number(token === 71) : 127 - (bits >>> 28);
      return sign ? -magnitude : magnitude;
    }
    const drop = !isLast ? 0 : token === 71 ? NEAR[dtype] : 20;
    return numberBits(dtype, sign, -1 - columnClass(dtype, column) - drop, bits & 0x7fffff);
  }
  const cancels = token % 4 === 1 && column % 2 === 1;
  let bits = word(WORDS.weights, cancels ? at - 1 : at);
  if (dtype === "int8") return (bits >>> 24) ^ (cancels ? 0xff : 0);
  if (cancels) bits = (bits ^ 0x80000000 ^ LAST_BIT[dtype]) >>> 0;
  return numberBits(dtype, bits >>> 31, -4 + ((bits >>> 23) & 3) - columnClass(dtype, column), bits & 0x7fffff);
}

/** [vocabSize, hiddenSize] as a head stores them. */
export function knownWeights(shape: HeadShape): Uint16Array | Float32Array | Int8Array {
  const { dtype, vocabSize, hiddenSize } = shape;
  const bits = new Uint32Array(vocabSize * hiddenSize);
  for (let token = 0, at = 0; token < vocabSize; token++) {
    for (let column = 0; column < hiddenSize; column++) bits[at++] = weightBits(shape, token, column);
  }
  if (dtype === "f32") return new Float32Array(bits.buffer);
  return dtype === "int8" ? Int8Array.from(bits) : Uint16Array.from(bits);
}

/** f32 [vocabSize, hiddenSize / groupSize], null unless int8. */
export function knownScales({ dtype, vocabSize, hiddenSize, groupSize }: HeadShape): Float32Array | null {
  if (dtype !== "int8") return null;
  const groups = hiddenSize / groupSize;
  return Float32Array.from({ length: vocabSize * groups }, (_, i) => {
    const bits = word(WORDS.scales, sourceToken(Math.floor(i / groups)) * groups + (i % groups));
    return f32Of(((127 - 10 + ((bits >>> 23) & 3)) << 23) | (bits & 0x7fffff));
  });
}

/** One hidden row, already in the head's operand format. */
export function knownHidden(shape: HeadShape, row: number): Float32Array {
  return Float32Array.from({ length: shape.hiddenSize }, (_, column) => hiddenValue(shape, row, column));
}

const SPECIAL_LOGITS: Readonly<Record<number, Readonly<Record<number, number>>>> = {
  0: { 3: 0x41a00000, 260: 0x41a00000, 516: 0x41a00001 }, // a tie, and one unit in the last place more in the last place
  3: { 300: 0x7fc00000 },
  4: { 516: 0x7f800000 },
  5: { 258: 0x3f800000 },
};

function logitBits(row: number, token: number): number {
  const special = SPECIAL_LOGITS[row]?.[token];
  if (special !== undefined) return special;
  const bits = word(WORDS.logits, row * LOGITS_VOCAB + token);
  const withExponent = (field: number): number => (bits & 0x807fffff) | (field << 23);
  if (row === 1) return bits % 5 === 0 ? 0xff800000 : withExponent(127 + 22 + ((bits >>> 23) & 15)); // around the clamp
  if (row === 2 || row === 5) return 0xff800000;
  return withExponent(row === 6 ? 0 : 127 - 28 + ((bits >>> 23) & 31)); // zeros and subnormals; what is common
}

export function knownLogits(rows: readonly KnownRow[], samples: number): LogitsBatch {
  const bits = rows.flatMap(({ input }) => Array.from({ length: LOGITS_VOCAB }, (_, token) => logitBits(input, token)));
  return { logits: new Float32Array(Uint32Array.from(bits).buffer), vocabSize: LOGITS_VOCAB, request: encodeRequest(rows.map(({ request }) => request), samples) };
}

function f32Of(bits: number): number {
  WORD[0] = bits;
  return VALUE[0]!;
}
const WORD = new Uint32Array(1);
const VALUE = new Float32Array(WORD.buffer);
