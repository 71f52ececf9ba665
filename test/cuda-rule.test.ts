/** The CUDA twins of the rule's functions, compiled for the host by a C++ compiler, put to the known answers of test/vectors. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeConstants } from "../scripts/build-cuda.mjs";
import { FORMATS, operandFormat, problemsOf } from "../gpu/hidden-on-device.js";
import { hiddenExponentLimit, prepareHiddenStates } from "../src/hidden.js";
import { widen, type FloatDtype } from "../src/matrix.js";
import { bitsFromF32 } from "../src/spec/float.js";
import { adversarial, asFormat, FLOATS } from "./hidden-inputs.js";
import { DTYPES, Inputs } from "./problems.js";
import { unavailable } from "./require.js";
import { hex, readVectors, wide, words } from "./vector-checks.js";

const COMPILERS = ["c++", "g++", "clang++"];
const compiler = COMPILERS.find((name) => spawnSync(name, ["--version"]).status === 0);

describe.skipIf(unavailable("c++", compiler === undefined ? `none of ${COMPILERS.join(", ")} on the path` : null))("rule.cuh and hidden.cuh", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "flash-sampling-cuda-"));
    const source = fileURLToPath(new URL("../gpu/cuda/probe.cpp", import.meta.url));
    execFileSync(compiler!, ["-std=c++17", "-O1", "-I", await writeConstants(), "-o", join(folder, "probe"), source], { stdio: "pipe" });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const ask = (questions: readonly (readonly [string, ...string[]])[]): string[] => {
    const input = questions.map(([kind, ...args]) => `${kind} ${args.length} ${args.join(" ")}\n`).join("");
    return execFileSync(join(folder, "probe"), { input, encoding: "utf8", maxBuffer: 1 << 28 }).trimEnd().split("\n");
  };
  const as32 = (values: readonly number[]): string[] => values.map((value) => hex(value, 8));

  it("philox4x32", () => {
    const cases = readVectors("philox").cases as { counter: string; key: string; output: string }[];
    expect(ask(cases.map(({ counter, key }) => ["philox", ...as32(words(counter)), ...as32(words(key))]))).toEqual(cases.map(({ output }) => output));
  });

  it("gamma26, its polynomial, and its bound", () => {
    const { hi, lo, gamma, q32 } = readVectors("gamma26");
    const lows = words(lo);
    const answers = ask(words(hi).map((word, index) => ["gamma", hex(word, 8), hex(lows[index]!, 8)]));
    expect(answers.map((answer) => answer.split(" ")[0])).toEqual(as32(words(gamma)));
    expect(answers.filter((answer) => answer.split(" ")[0]! > answer.split(" ")[1]!)).toEqual([]);
    expect(ask(words(q32.t).map((t) => ["q32", hex(t, 8)]))).toEqual(as32(words(q32.q)));
  });

  it("fix", () => {
    const { bits, z } = readVectors("fix");
    const finite = words(bits).flatMap((word, index) => ((word & 0x7f800000) === 0x7f800000 ? [] : [{ word, expected: z.split(" ")[index] as string }]));
    expect(finite.length).toBeGreaterThan(1000);
    expect(ask(finite.map(({ word }) => ["fix", hex(word, 8)]))).toEqual(finite.map(({ expected }) => expected));
  });

  it("orderedScore, and ranks in the order of scores", () => {
    const { Z, gamma, tau, S } = readVectors("score");
    const [gammas, taus, scores] = [words(gamma), words(tau), wide(S)];
    const answers = ask(wide(Z).map((z, index) => ["score", hex(BigInt.asUintN(64, z), 16), hex(gammas[index]!, 8), hex(taus[index]!, 8)])).map((answer) => answer.split(" "));
    expect(answers.map(([score]) => score)).toEqual(scores.map((score) => hex(BigInt.asUintN(64, score), 16)));
    const least = -(1n << 55n);
    const rank = (score: bigint): number => (score < least ? 0 : score >= -least ? 0xffffffff : Number((score - least) >> 24n));
    expect(answers.map(([, found]) => found)).toEqual(as32(scores.map((score) => rank(BigInt.asIntN(64, score)))));
  });

  it("scaledSum of int8 heads, and groups that are added within the limits", () => {
    const { sum, scale, zGroup } = readVectors("int8").scaled;
    const scales = words(scale);
    expect(ask(words(sum).map((bits, index) => ["scaled", hex(bits, 8), hex(scales[index]!, 8)]))).toEqual(zGroup.split(" "));
    const limit = 1n << 62n;
    const inputs = new Inputs(35);
    const random = (): bigint => ((BigInt(inputs.word()) << 32n) | BigInt(inputs.word())) - (1n << 63n);
    const terms = [limit, -limit, 0n, 1n, -1n, limit - 1n, ...Array.from({ length: 20 }, () => random() / 2n)];
    const pairs = terms.flatMap((a) => terms.map((b) => [a, b] as const));
    const clamp = (value: bigint): bigint => (value > limit ? limit : value < -limit ? -limit : value);
    const bits = (value: bigint): string => hex(BigInt.asUintN(64, value), 16);
    expect(ask(pairs.map(([a, b]) => ["add", bits(a), bits(b)]))).toEqual(pairs.map(([a, b]) => bits(clamp(a + b))));
  });

  describe.each(FLOATS)("hidden states in %s are rounded and checked as in memory", (format) => {
    const largest = 2 ** 63;
    const bitsOf = (data: Float32Array | Uint16Array): number[] => Array.from(data instanceof Float32Array ? new Uint32Array(data.buffer, data.byteOffset, data.length) : data);
    const matrix = (data: Float32Array | Uint16Array, dtype: FloatDtype) => ({ data, dtype }) as Parameters<typeof widen>[0];

    it.each(DTYPES)("for a head of %s", (dtype) => {
      const compare = (data: Float32Array | Uint16Array, hiddenSize: number): void => {
        const shape = { dtype, hiddenSize };
        const { values, invalidRow } = prepareHiddenStates(widen(matrix(data, format)), shape, largest);
        const settings = [FORMATS[format], FORMATS[operandFormat(dtype)], hiddenExponentLimit(largest, hiddenSize)];
        const rows = invalidRow.map((_, row) => bitsOf(data.subarray(row * hiddenSize, (row + 1) * hiddenSize)));
        const answers = ask(rows.map((row) => ["row", ...as32([...settings, ...row])])).map((answer) => answer.split(" ").map((word) => parseInt(word, 16)));
        expect(problemsOf(Uint32Array.from(answers.flatMap((answer) => [...answer.slice(0, 3), 0])))).toEqual(invalidRow);
        const rounded = answers.flatMap((answer, row) => (invalidRow[row] === null ? answer.slice(3) : new Array<number>(hiddenSize).fill(0)));
        expect(rounded).toEqual(Array.from(new Uint32Array(values.buffer)));
      };
      const data = adversarial(format);
      compare(data, 1);
      const { invalidRow } = prepareHiddenStates(widen(matrix(data, format)), { dtype, hiddenSize: 1 }, largest);
      expect(invalidRow.filter((problem) => problem !== null).length).toBeGreaterThan(20);
      const good = data.filter((_, at) => invalidRow[at] === null);
      compare(good.subarray(good.length % 93), 93);
      // Where among others the problem is, and which of two is told.
      const most = format === "f16" ? 60000 : 2 ** 100;
      for (const bad of [[4, NaN, Infinity], [-Infinity, 1, NaN], [1, 2, 3.4e38], [1, 70000, -Infinity], [most / 2, -most, most], [0, -0, 0], [-1e-17, 2 ** -56, 2 ** -57]]) {
        compare(asFormat(format, Float32Array.from(bad)), 3);
      }
    });
  });

  it("rounds hidden states as written down", () => {
    const [f32, f16, bf16] = [FORMATS.f32, FORMATS.f16, FORMATS.bf16];
    const least = 2 ** -56;
    const cases: readonly [given: number, operand: number, value: number, rounded: number][] = [
      [f32, bf16, 1 + 2 ** -8, 1], // ties to even
      [f32, bf16, 1 + 3 * 2 ** -8, 1 + 2 ** -6],
      [f32, bf16, -(1 + 2 ** -8 + 2 ** -20), -(1 + 2 ** -7)],
      [f32, bf16, least, least],
      [f32, bf16, -least * (1 - 2 ** -9), -least], // rounded first
      [f32, bf16, -least * (1 - 2 ** -7), 0], // +0
      [f32, f16, 65519, 65504],
      [f32, f16, 65520, Infinity],
      [f32, f16, 2 ** -25, 0],
      [f32, f16, 3 * 2 ** -25, 2 ** -23],
      [f32, f16, -(2 ** -24), -(2 ** -24)],
      [f32, f32, 2 ** -40, 2 ** -40],
      [f32, f32, -(2 ** -40) * (1 - 2 ** -24), 0],
    ];
    const limit = 254;
    const answers = ask(cases.map(([given, operand, value]) => ["row", ...as32([given, operand, limit, bitsFromF32(value)])]));
    expect(answers.map((answer) => answer.split(" ")[3])).toEqual(as32(cases.map(([, , , rounded]) => bitsFromF32(rounded))));
  });
});
