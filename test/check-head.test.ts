/** Masks, padding, ranks and probabilities of draws from a head, against the plain rule on all tokens. */
import { describe, expect, test } from "vitest";
import type { Dtype } from "../src/backend.js";
import { arrayHead, type HeadArray } from "../src/head/head-reader.js";
import { bitsFromF32, f32BitsToBf16, f32BitsToF16 } from "../src/spec/float.js";
import { rowZ, type Head } from "../src/spec/logit.js";
import { drawWithoutReplacement } from "../src/spec/sample.js";
import { MASK, reportMargin, tauOf } from "../src/spec/score.js";
import { check, type TokenMask } from "../src/verify/check.js";
import { judgeCore } from "../src/verify/check/judge-core.js";
import { hiddenRow } from "../src/verify/check/operands.js";
import { createSweep } from "../src/verify/check/sweep.js";
import { ruleDistance } from "../src/verify/logit-error.js";
import { messageOf, pseudoRandom } from "./head-fixtures.js";

const SEED = 99n;
const ROWS = 11;
const SAMPLES = 2;

/** A head of values in [-1, 1), of any dtype, with scales for groups of 32 where D is a multiple of them. */
function headOf(dtype: Dtype, V: number, D: number): { weights: HeadArray; head: Head } {
  const values = Float32Array.from(pseudoRandom(V + D, V * D));
  const shape = [V, D] as const;
  if (dtype === "int8") {
    const groups = D % 32 === 0 ? D / 32 : 1;
    const data = Int8Array.from(values, (value) => 127 * value);
    const scales = Float32Array.from(pseudoRandom(7, V * groups), (value) => 0.01 * (1.5 + value));
    return { weights: { data, dtype, shape, scales }, head: { dtype, vocabSize: V, hiddenSize: D, weights: data, scales, groupSize: D / groups } };
  }
  const encode = dtype === "bf16" ? f32BitsToBf16 : f32BitsToF16;
  const data = dtype === "f32" ? values : Uint16Array.from(values, (value) => encode(bitsFromF32(value)));
  return { weights: { data, dtype, shape } as HeadArray, head: { dtype, vocabSize: V, hiddenSize: D, weights: data } };
}

const isSet = ({ data, rowCount }: TokenMask, row: number, token: number, V: number): boolean => {
  const at = rowCount === 1 ? 0 : row;
  return data instanceof Uint32Array ? ((data[at * Math.ceil(V / 32) + Math.floor(token / 32)]! >>> (token % 32)) & 1) === 1 : data[at * V + token] !== 0;
};

const everyThird = (V: number): TokenMask => ({ data: Uint8Array.from({ length: V }, (_, token) => Number(token % 3 === 1)), rowCount: 1 });
const words = (V: number): TokenMask => ({ data: Uint32Array.from(pseudoRandom(5, ROWS * Math.ceil(V / 32)), (value) => value * 2 ** 31), rowCount: ROWS });
const twoTokens = (V: number): TokenMask => ({ data: Uint8Array.from({ length: V }, (_, token) => Number(token === 2 || token === V - 1)), rowCount: 1 });

describe.each<[Dtype, number, number]>([
  ["bf16", 257, 45],
  ["f16", 100, 64],
  ["f32", 130, 600],
  ["int8", 90, 96],
  ["int8", 90, 41],
])("%s, V = %i, D = %i", (dtype, V, D) => {
  const { weights, head } = headOf(dtype, V, D);
  const hiddenStates = Float32Array.from(pseudoRandom(3, ROWS * D), (value) => 2 * value);
  const z = Array.from({ length: ROWS }, (_, row) => rowZ(head, hiddenStates.subarray(row * D, (row + 1) * D)));
  /** All allowed tokens of a draw, best first. */
  const ordered = (row: number, sample: number, isAllowed: (token: number) => boolean) =>
    drawWithoutReplacement(
      z[row]!.map((value, token) => (isAllowed(token) ? value : MASK)),
      { seed: SEED, sequence: row, position: 0, tau: tauOf(0.7) },
      sample,
      V,
    );
  const asked = (tokens: readonly number[], more: object) => check({ weights, hiddenStates, tokens, seed: SEED, temperature: 0.7, numSamples: SAMPLES, ranks: ROWS * SAMPLES, ...more });
  const draws = Array.from({ length: ROWS * SAMPLES }, (_, index) => [Math.floor(index / SAMPLES), index % SAMPLES] as const);

  test.each<[string, TokenMask | undefined, number]>([
    ["all tokens", undefined, V],
    ["padding", undefined, V - 60],
    ["a mask of values", everyThird(V), V],
    ["a mask of words for each row, and padding", words(V), V - 1],
    ["two tokens", twoTokens(V), V],
  ])("%s", async (_, mask, limit) => {
    const isAllowed = (row: number) => (token: number) => token < limit && (mask === undefined || isSet(mask, row, token, V));
    const places = draws.map(([row, sample]) => ordered(row, sample, isAllowed(row)));
    const more = { ...(mask && { mask }), unpaddedSize: limit };
    const right = await asked(places.map(([best]) => best!.token), more);
    expect(right.counts).toEqual({ exact: draws.length, nearTie: 0, wrong: 0 });
    right.draws.forEach(({ margin }, index) => {
      const [best, second] = places[index]!;
      if (margin !== null) expect(margin).toBe(reportMargin(best!.score, second!.score));
    });

    // The tokens of the places 2, 3, ...: gap and rank follow from the rule's order.
    const later = places.map((place, index) => 1 + (index % (place.length - 1)));
    const wrong = await asked(later.map((at, index) => places[index]![at]!.token), { ...more, logitError: "none" });
    wrong.draws.forEach((draw, index) => {
      const place = places[index]!;
      expect(draw).toMatchObject({ verdict: "wrong", fault: null, expected: place[0]!.token, rank: later[index]! + 1, gap: reportMargin(place[0]!.score, place[later[index]!]!.score) });
      const weightsOf = place.map(({ token }) => Math.exp((Number(z[draw.row]![token]!) * 2 ** -32) / 0.7));
      expect(draw.probability).toBeCloseTo(weightsOf[later[index]!]! / weightsOf.reduce((sum, weight) => sum + weight), 5);
    });
  });

  describe.each([
    ["WebAssembly", judgeCore],
    ["JavaScript", async () => null],
  ])("a sweep by %s", (name, loadCore) => {
    const reader = arrayHead(weights);
    const states = Array.from({ length: ROWS }, (_, row) => hiddenRow(reader.shape, hiddenStates.subarray(row * D, (row + 1) * D))!);

    test("is what it is called", async () => expect((await loadCore()) !== null).toBe(name === "WebAssembly"));

    test("is as near to the rule's logits as it says", async () => {
      const { logits, norms } = await createSweep(reader, undefined, loadCore)(states, () => true);
      for (const [row, state] of states.entries()) {
        const distance = ruleDistance(reader.shape, state.norm);
        logits[row]!.forEach((logit, token) => expect(Math.abs(logit - Number(z[row]![token]!) * 2 ** -32)).toBeLessThanOrEqual(distance(norms[token]!)));
      }
    });

    test("leaves out what nobody wants", async () => {
      const { logits } = await createSweep(reader, undefined, loadCore)(states.slice(0, 1), (token) => token === 5);
      expect(Array.from(logits[0]!.keys()).filter((token) => logits[0]![token] !== -Infinity)).toEqual([5]);
    });
  });
});

test("a row that is out of the head's range has no token", async () => {
  const weights = { data: Float32Array.of(2 ** 100, 1), dtype: "f32", shape: [2, 1] } as const;
  const { draws } = await check({ weights, hiddenStates: Float32Array.of(2 ** 60, 1), tokens: [0, 0], seed: 0n, temperature: 0 });
  expect(draws.map(({ expected, fault }) => [expected, fault])).toEqual([
    [-1, "no-token"],
    [0, null],
  ]);
});

test("a weight that is not finite is named, whoever looks at it first", async () => {
  const data = new Float32Array(6).fill(1);
  data[5] = NaN;
  const asked = { weights: { data, dtype: "f32", shape: [3, 2] } as const, hiddenStates: Float32Array.of(1, 1), tokens: [0], seed: 0n };
  expect(await messageOf(() => check(asked))).toContain("NaN at row 2, column 1");
  expect(await messageOf(() => check({ ...asked, engine: "flashinfer" }))).toContain("NaN at row 2, column 1");
});

test("an abort ends the work", async () => {
  const { weights } = headOf("bf16", 50, 40);
  const controller = new AbortController();
  const asked = { weights, hiddenStates: new Float32Array(40), tokens: [1], seed: 0n, engine: "flashinfer", signal: controller.signal };
  controller.abort();
  expect(await messageOf(() => check(asked))).toContain("AbortError");
});
