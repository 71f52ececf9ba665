/** What judge.wasm computes for `check`, bit for bit that of JavaScript and of plain loops. */
import { afterEach, describe, expect, test } from "vitest";
import type { Dtype } from "../src/backend.js";
import { usePlatform } from "../src/core-module.js";
import { arrayHead, type HeadArray } from "../src/head/head-reader.js";
import { filePlatform } from "../src/platform/files.js";
import { bf16ToF32Bits, bitsFromF32, f16ToF32Bits, f32BitsToBf16, f32BitsToF16, f32FromBits } from "../src/spec/float.js";
import { tokenGamma } from "../src/spec/score.js";
import { check, type CheckOptions } from "../src/verify/check.js";
import { judgeCore } from "../src/verify/check/judge-core.js";
import { scriptGammas, wasmGammas } from "../src/verify/check/noise.js";
import { hiddenRow } from "../src/verify/check/operands.js";
import { createSweep, type Swept } from "../src/verify/check/sweep.js";
import { messageOf, pseudoRandom } from "./head-fixtures.js";

const sourceTree = filePlatform("source tree", new URL("../build/", import.meta.url));
const WAYS = [
  ["WebAssembly", judgeCore],
  ["JavaScript", async () => null],
] as const;

test("judge.wasm is there", async () => expect(await judgeCore()).not.toBeNull());

/** Of either sign, from 2^-20 to 2^8, some of them 0 or far from the others. */
function unevenValues(seed: number, length: number): Float32Array {
  const exponents = pseudoRandom(seed + 1, length);
  return Float32Array.from(pseudoRandom(seed, length), (value, index) => {
    if (index % 17 === 3) return 0;
    if (index % 29 === 5) return value * 2 ** -60;
    return value * 2 ** Math.floor(14 * exponents[index]! - 6);
  });
}

interface Problem {
  readonly weights: HeadArray;
  /** [V][D], without scales */
  readonly values: number[][];
  /** of a token's column */
  scaleOf(token: number, column: number): number;
  /** columns that share one */
  readonly groupSize: number;
}

function problemOf(dtype: Dtype, V: number, D: number, groups: number): Problem {
  const given = unevenValues(V * D, V * D);
  const shape = [V, D] as const;
  const rows = (values: ArrayLike<number>) => Array.from({ length: V }, (_, token) => Array.from({ length: D }, (_, column) => values[token * D + column]!));
  const unscaled = { scaleOf: () => 1, groupSize: D };
  switch (dtype) {
    case "f32":
      return { weights: { data: given, dtype, shape }, values: rows(given), ...unscaled };
    case "bf16": {
      const data = Uint16Array.from(given, (value) => f32BitsToBf16(bitsFromF32(value)));
      return { weights: { data, dtype, shape }, values: rows(Float32Array.from(data, (bits) => f32FromBits(bf16ToF32Bits(bits)))), ...unscaled };
    }
    case "f16": {
      const data = Uint16Array.from(given, (value) => f32BitsToF16(bitsFromF32(value)));
      return { weights: { data, dtype, shape }, values: rows(Float32Array.from(data, (bits) => f32FromBits(f16ToF32Bits(bits)))), ...unscaled };
    }
    case "int8": {
      const data = Int8Array.from(given, (value) => 127 * value);
      const scales = Float32Array.from(pseudoRandom(7, V * groups), (value) => 0.01 * (1.5 + value));
      return { weights: { data, dtype, shape, scales }, values: rows(data), scaleOf: (token, column) => scales[token * groups + Math.floor((column * groups) / D)]!, groupSize: D / groups };
    }
  }
}

/** The order that is promised: tiles of up to 512 columns with one scale, column by column. */
function tiledSum({ groupSize, scaleOf }: Problem, token: number, terms: readonly number[], power: 1 | 2): number {
  let total = 0;
  for (let group = 0; group < terms.length; group += groupSize) {
    for (let start = group; start < group + groupSize; start += 512) {
      let sum = 0;
      for (let column = start; column < Math.min(start + 512, group + groupSize); column++) sum += terms[column]!;
      total += scaleOf(token, start) ** power * sum;
    }
  }
  return total;
}

const bitsOf = ({ logits, norms }: Swept): BigUint64Array[] => [...logits, norms].map((values) => new BigUint64Array(values.buffer));

describe.each<[Dtype, number, number, number, number]>([
  ["bf16", 1, 1, 1, 1],
  ["bf16", 7, 2, 3, 1],
  ["bf16", 131, 45, 4, 1],
  ["bf16", 70, 1025, 9, 1],
  ["f16", 9, 31, 8, 1],
  ["f16", 34, 514, 5, 1],
  ["f32", 130, 33, 6, 1],
  ["f32", 5, 600, 11, 1],
  ["int8", 66, 41, 3, 1],
  ["int8", 66, 96, 8, 3],
  ["int8", 3, 1100, 2, 1],
])("%s, V = %i, D = %i, %i rows, %i scales a token", (dtype, V, D, rowCount, groups) => {
  const problem = problemOf(dtype, V, D, groups);
  const reader = arrayHead(problem.weights);
  const hidden = unevenValues(rowCount, rowCount * D);
  const states = Array.from({ length: rowCount }, (_, row) => hiddenRow(reader.shape, hidden.subarray(row * D, (row + 1) * D))!);

  describe.each(WAYS)("in %s", (_, loadCore) => {
    test.each<[string, (token: number) => boolean]>([
      ["all tokens", () => true],
      ["some tokens", (token) => token % 7 !== 2 && token % 3 !== 1],
      ["the last token", (token) => token === V - 1],
      ["no token", () => false],
    ])("sums of %s are those of plain loops", async (_, isWanted) => {
      const swept = await createSweep(reader, undefined, loadCore)(states, isWanted);
      const logits = states.map(({ values }) =>
        Float64Array.from(problem.values, (weights, token) => (isWanted(token) ? tiledSum(problem, token, weights.map((weight, column) => weight * values[column]!), 1) : -Infinity)),
      );
      const norms = Float64Array.from(problem.values, (weights, token) => (isWanted(token) ? Math.sqrt(tiledSum(problem, token, weights.map((weight) => weight * weight), 2)) * (1 + 2 ** -30) : 0));
      expect(bitsOf(swept)).toEqual(bitsOf({ logits, norms }));
    });

    test("another sweep is not disturbed by the one before", async () => {
      const sweep = createSweep(reader, undefined, loadCore);
      const alone = bitsOf(await sweep(states.slice(0, 1), () => true));
      await sweep([...states, ...states], () => true);
      expect(bitsOf(await sweep(states.slice(0, 1), () => true))).toEqual(alone);
    });
  });
});

describe.each(WAYS)("weights that are not finite, in %s", (_, loadCore) => {
  const hidden = (shape: ReturnType<typeof arrayHead>["shape"]) => [hiddenRow(shape, new Float32Array(shape.hiddenSize).fill(1))!];
  test.each<[HeadArray, string]>([
    [{ data: Uint16Array.of(0x3f80, 0x3f80, 0x3f80, 0xff80), dtype: "bf16", shape: [2, 2] }, "-Infinity at row 1, column 1"],
    [{ data: Uint16Array.of(0x3f80, 0x7fc1, 0x3f80, 0x3f80), dtype: "bf16", shape: [4, 1] }, "NaN at row 1, column 0"],
    [{ data: Uint16Array.of(0x7bff, 0x7c00, 0, 0, 0, 0), dtype: "f16", shape: [2, 3] }, "Infinity at row 0, column 1"],
    [{ data: Uint16Array.of(0, 0, 0xfbff, 0, 0, 0xfe00), dtype: "f16", shape: [2, 3] }, "NaN at row 1, column 2"],
    [{ data: Float32Array.of(1, 1, NaN), dtype: "f32", shape: [1, 3] }, "NaN at row 0, column 2"],
  ])("are named: %#", async (weights, place) => {
    const reader = arrayHead(weights);
    expect(await messageOf(() => createSweep(reader, undefined, loadCore)(hidden(reader.shape), () => true))).toContain(place);
  });

  test("are not where the largest f16 and bf16 are", async () => {
    for (const weights of [{ data: Uint16Array.of(0x7bff, 0xfbff), dtype: "f16", shape: [2, 1] }, { data: Uint16Array.of(0x7f7f, 0xff7f), dtype: "bf16", shape: [2, 1] }] as const) {
      const reader = arrayHead(weights);
      const { logits } = await createSweep(reader, undefined, loadCore)(hidden(reader.shape), () => true);
      expect(Array.from(logits[0]!).map(Math.abs)).toEqual([weights.dtype === "f16" ? 65504 : 255 * 2 ** 120, weights.dtype === "f16" ? 65504 : 255 * 2 ** 120]);
    }
  });
});

describe.each([1, 16, 37, 4096, 9001])("noise of %i tokens", (V) => {
  test.each([
    { seed: 42n, sequence: 0, position: 0, sample: 0, purpose: 0 },
    { seed: 2n ** 64n - 1n, sequence: 2 ** 32 - 1, position: 2 ** 31, sample: 2 ** 24 - 1, purpose: 0 },
    { seed: 0x9e3779b97f4a7c15n, sequence: 7, position: 2 ** 32 - 1, sample: 3, purpose: 0 },
  ])("is the rule's: %o", async (address) => {
    const expected = Uint32Array.from({ length: V }, (_, token) => tokenGamma(address, token).gamma);
    expect(scriptGammas(address, V)).toEqual(expected);
    expect(wasmGammas((await judgeCore())!, address, V)).toEqual(expected);
  });
});

describe("a document is the same without judge.wasm", () => {
  afterEach(() => usePlatform(sourceTree));
  const V = 300;
  const rows = 9;
  const tokens = Array.from(pseudoRandom(11, rows), (value) => Math.floor((value + 1) * 0.5 * V));
  const mask = { data: Uint8Array.from({ length: V }, (_, token) => Number(token % 5 !== 1)), rowCount: 1 };
  const ofHead = (dtype: Dtype, D: number, groups = 1) => ({ weights: problemOf(dtype, V, D, groups).weights, hiddenStates: Float32Array.from(pseudoRandom(13, rows * D)) });
  const logits = Float32Array.from(pseudoRandom(17, rows * V), (value, index) => (index % 11 === 4 ? -Infinity : 3 * value));

  test.each<[string, Omit<CheckOptions, "tokens" | "seed">]>([
    ["bf16", ofHead("bf16", 70)],
    ["bf16 with a mask and padding", { ...ofHead("bf16", 45), mask, unpaddedSize: V - 13 }],
    ["f16", { ...ofHead("f16", 33), mask }],
    ["f32", ofHead("f32", 530)],
    ["int8", ofHead("int8", 96, 3)],
    ["an engine", { ...ofHead("bf16", 64), engine: "flashinfer" }],
    ["given logits", { logits, vocabSize: V, mask }],
  ])("%s", async (_, input) => {
    const asked = { ...input, tokens, seed: 5n, temperature: 0.8, logitError: "none" as const, ranks: rows };
    const found = await check(asked);
    expect(found.draws.filter(({ rank, probability }) => rank !== null && probability! > 0).length).toBeGreaterThan(2);
    const { loadJudge: _judge, ...without } = sourceTree;
    usePlatform(without);
    expect(await judgeCore()).toBeNull();
    expect(await check(asked)).toEqual(found);
  });
});
