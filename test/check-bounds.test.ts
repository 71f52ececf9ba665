/** That logits which an engine may really have are never called wrong, and that the bounds are not wider than they must be. */
import { describe, expect, test } from "vitest";
import type { HeadArray } from "../src/head/head-reader.js";
import { bitsFromF32, f32BitsToBf16, f32FromBits } from "../src/spec/float.js";
import { tensorCoreLogit, tensorCoreOperands } from "../src/spec/tensor-core.js";
import { check } from "../src/verify/check.js";
import { logitErrorOf, type Arithmetic } from "../src/verify/logit-error.js";

const V = 16;
const ROWS = 64;
const CALLS = 20;

/** A small generator of its own: mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const toBf16 = (value: number): number => f32FromBits(f32BitsToBf16(bitsFromF32(Math.fround(value))) << 16);

interface Problem {
  readonly weights: HeadArray;
  /** [V][D], the values */
  readonly rows: number[][];
  readonly hidden: number[][];
}

/** Columns in which the tokens differ. */
const OWN_COLUMNS = 4;
/** Of the hidden states there: so small that the logits are a few roundings apart. */
const SCALES: Readonly<Record<Arithmetic, number>> = { none: 2 ** -21, f32: 2 ** -21, hopper: 2 ** -21, bf16: 2 ** -8 };

function closeTokens(next: () => number, dtype: "bf16" | "f32", D: number, scale: number): Problem {
  const round = dtype === "bf16" ? toBf16 : Math.fround;
  const any = (): number => round((next() - 0.5) * 4);
  const shared = Array.from({ length: D - OWN_COLUMNS }, any);
  const rows = Array.from({ length: V }, () => [...Array.from({ length: OWN_COLUMNS }, any), ...shared]);
  const hidden = Array.from({ length: ROWS }, () => Array.from({ length: D }, (_, column) => round(any() * (column < OWN_COLUMNS ? scale : 1))));
  const values = Float32Array.from(rows.flat());
  const data = dtype === "bf16" ? Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16) : values;
  return { weights: { data, dtype, shape: [V, D] } as HeadArray, rows, hidden };
}

/** An f32 sum of f32 products, pairs of partial sums added in any order. */
function sumInAnyOrder(next: () => number, a: readonly number[], b: readonly number[]): number {
  const parts = a.map((value, column) => Math.fround(value * b[column]!));
  const isChain = next() < 0.3;
  while (parts.length > 1) {
    const first = isChain ? parts.length - 1 : Math.floor(next() * parts.length);
    const [taken] = parts.splice(first, 1);
    const second = isChain ? parts.length - 1 : Math.floor(next() * parts.length);
    parts[second] = Math.fround(parts[second]! + taken!);
  }
  return parts[0]!;
}

const hopper = (_: () => number, a: readonly number[], b: readonly number[]): number => {
  const operands = (values: readonly number[]) => tensorCoreOperands("bf16", Uint16Array.from(values, (value) => f32BitsToBf16(bitsFromF32(value))));
  return tensorCoreLogit(operands(a), operands(b));
};

/** The greedy token of an engine's logits; of equal ones the last, which the rule never takes. */
const greedy = (logits: readonly number[]): number => logits.reduce((best, logit, token) => (logit >= logits[best]! ? token : best), 0);

type LogitOf = (next: () => number, weights: readonly number[], hidden: readonly number[]) => number;

/** arithmetic: the engine's; logitError: the one that is allowed */
async function countsOf(dtype: "bf16" | "f32", D: number, logitOf: LogitOf, arithmetic: Arithmetic, logitError = arithmetic) {
  const next = random(D);
  const counts = { exact: 0, nearTie: 0, wrong: 0 };
  for (let call = 0; call < CALLS; call++) {
    const { weights, rows, hidden } = closeTokens(next, dtype, D, SCALES[arithmetic]);
    const tokens = hidden.map((state) => greedy(rows.map((row) => logitOf(next, row, state))));
    const found = await check({ weights, hiddenStates: Float32Array.from(hidden.flat()), tokens, seed: 1n, temperature: 0, logitError, ranks: 0 });
    for (const name of ["exact", "nearTie", "wrong"] as const) counts[name] += found.counts[name];
  }
  return counts;
}

describe.each([
  ["f32 sums in any order, bf16", "bf16", sumInAnyOrder, "f32"],
  ["f32 sums in any order, f32", "f32", sumInAnyOrder, "f32"],
  ["Hopper tensor cores", "bf16", hopper, "hopper"],
  ["logits rounded to bf16", "bf16", (next, a, b) => toBf16(sumInAnyOrder(next, a, b)), "bf16"],
] as [string, "bf16" | "f32", LogitOf, Arithmetic][])("%s", (_, dtype, logitOf, arithmetic) => {
  test.each([33, 96])("tokens of such logits are never wrong, D = %i", async (D) => {
    const counts = await countsOf(dtype, D, logitOf, arithmetic);
    expect(counts.wrong).toBe(0);
    // Else nothing was put to the test.
    expect(counts.nearTie).toBeGreaterThan(CALLS);
  });

  test("and without the bound they are", async () => {
    expect((await countsOf(dtype, 96, logitOf, arithmetic, "none")).wrong).toBeGreaterThan(CALLS);
  });
});

test("bf16 logits are wrong by the bound of f32 sums", async () => {
  expect((await countsOf("bf16", 96, (next, a, b) => toBf16(sumInAnyOrder(next, a, b)), "bf16", "f32")).wrong).toBeGreaterThan(CALLS);
});

describe("an f32 sum that loses what it can", () => {
  // 1 + 2^-24 + 2^-24 + ...: added one after the other, each term is lost. So the engine's logit is 1.
  const D = 4096;
  const logitsOf = (rival: number) => {
    const token = new Float32Array(2 * D);
    token.fill(2 ** -24, 0, D)[0] = 1;
    token[D] = rival;
    return { data: Uint16Array.from(new Uint32Array(token.buffer), (bits) => bits >>> 16), dtype: "bf16", shape: [2, D] } as const;
  };
  const verdictAgainst = async (rival: number) => {
    const asked = { weights: logitsOf(rival), hiddenStates: new Float32Array(D).fill(1), tokens: [1], seed: 1n, temperature: 0 };
    return (await check(asked)).draws[0]!;
  };

  test("is inside its bound, which is no more than five times as wide", async () => {
    const lost = (D - 1) * 2 ** -24;
    const { relative } = logitErrorOf("f32", { dtype: "bf16", vocabSize: 2, hiddenSize: D, groupSize: 0 });
    expect(relative).toBeGreaterThan(lost);
    expect(relative).toBeLessThan(1.1 * lost);
    // The rival is 1 by itself, so that the engine may take it.
    const draw = await verdictAgainst(1);
    expect(draw).toMatchObject({ expected: 0, verdict: "near-tie" });
    expect(draw.gap).toBeGreaterThan(0.9 * lost);
    expect(draw.allowed).toBeLessThan(5 * draw.gap!);
  });

  test("a rival further away is wrong", async () => {
    expect((await verdictAgainst(1 - 2 ** -8)).verdict).toBe("wrong");
  });
});

test("bounds by name, at D = 4096", () => {
  const shape = { dtype: "bf16", vocabSize: 1, hiddenSize: 4096, groupSize: 0 } as const;
  const u = 2 ** -24;
  const g = (n: number): number => (n * u) / (1 - n * u);
  expect(logitErrorOf("f32", shape).relative).toBeCloseTo(g(4095) + g(132), 9);
  // docs/spec.md, section 10: 1.7e-4.
  expect(logitErrorOf("hopper", shape).relative).toBeCloseTo(1.7e-4, 5);
  expect(logitErrorOf("bf16", shape)).toMatchObject({ rounding: 2 ** -8 });
  expect(logitErrorOf(undefined, shape).name).toBe("f32");
  expect(logitErrorOf(undefined, null)).toMatchObject({ name: "none", absolute: 0, relative: 0, rounding: 0 });
});
