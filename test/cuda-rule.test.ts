/** The CUDA twins of the rule's functions, compiled for the host by a C++ compiler, put to the known answers of test/vectors. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeConstants } from "../scripts/build-cuda.mjs";
import { Inputs } from "./problems.js";
import { unavailable } from "./require.js";
import { hex, readVectors, wide, words } from "./vector-checks.js";

const COMPILERS = ["c++", "g++", "clang++"];
const compiler = COMPILERS.find((name) => spawnSync(name, ["--version"]).status === 0);

describe.skipIf(unavailable("c++", compiler === undefined ? `none of ${COMPILERS.join(", ")} on the path` : null))("rule.cuh", () => {
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
});
