/** `flash-sampling oracle`: the decision with its numbers, and what --explain says of one token. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSampler, sampleLogits } from "../src/index.js";
import { gamma26 } from "../src/spec/gumbel.js";
import { philox4x32 } from "../src/spec/philox.js";
import { B, D, useCli, V, writeInputs } from "./cli-process.js";
import { bytesOf, npy, npyDict, safetensors } from "./head-fixtures.js";
import { f32Values, f64Value, readVectors, words } from "./vector-checks.js";

const { folder, run } = useCli();
const { weights, hiddenStates, logits } = writeInputs(folder);
const HEAD = ["--weights", "head.safetensors", "--hidden", "hidden.npy", "--seed", "42"];
const LOGITS = ["--logits", "logits.npy", "--seed", "42"];

async function json(args: readonly string[]) {
  const { code, stdout, stderr } = await run(["oracle", ...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe("rows", () => {
  test("are those of the API's details", async () => {
    const sampler = await createSampler({ weights: { data: weights, dtype: "bf16", shape: [V, D] }, backend: "reference" });
    const { details } = await sampler.sample({ hiddenStates, seed: 42n, numSamples: 2, temperature: 0.5, details: true });
    const document = await json([...HEAD, "--num-samples", "2", "--temperature", "0.5"]);
    expect(document).toMatchObject({ backend: "reference", dtype: "bf16", V, D, seed: "42", headDigest: sampler.headDigest });
    expect(document.rows).toEqual(
      details!.map((detail, index) => ({
        row: Math.floor(index / 2),
        sample: index % 2,
        ...detail,
        scoreBits: BigInt.asUintN(64, detail.scoreBits!).toString(16).padStart(16, "0"),
      })),
    );
  });

  test("name no sample where there is one", async () => {
    const { rows } = await json(LOGITS);
    expect(rows).toHaveLength(B);
    expect(Object.keys(rows[0])).toEqual(["row", "token", "score", "scoreBits", "runnerUp", "margin", "status"]);
  });

  test("a negative score is in two's complement", async () => {
    const { rows } = await json(["--logits", "logits.npy", "--seed", "42", "--temperature", "0"]);
    const { details } = await sampleLogits({ logits, vocabSize: V, seed: 42n, temperature: 0, backend: "reference", details: true });
    expect(rows.map((row: { scoreBits: string }) => BigInt.asIntN(64, BigInt(`0x${row.scoreBits}`)))).toEqual(details!.map((detail) => detail.scoreBits));
    const { explanation } = await json([...LOGITS, "--temperature", "0", "--explain", `0:${logits.findIndex((logit) => logit < 0)}`]);
    expect(explanation.scoreBits).toMatch(/^f[0-9a-f]{15}$/);
    expect(explanation.score).toBeLessThan(0);
  });

  test("without a token end with 1, or say why when marked", async () => {
    expect((await run(["oracle", "--logits", "masked.npy", "--seed", "42"])).code).toBe(1);
    const { rows } = await json(["--logits", "masked.npy", "--seed", "42", "--on-invalid", "mark"]);
    const none = { token: -1, score: null, scoreBits: null, runnerUp: -1, margin: null };
    expect(rows[0].status).toBe("ok");
    expect(rows.slice(1)).toEqual([
      { row: 1, ...none, status: "all-masked" },
      { row: 2, ...none, status: "invalid" },
    ]);
  });

  test("are a table without --json", async () => {
    const { rows } = await json(LOGITS);
    const { stdout } = await run(["oracle", ...LOGITS]);
    const lines = stdout.trimEnd().split("\n").map((line) => line.trim().split(/\s+/));
    expect(lines[0]).toEqual(["row", "token", "score", "scoreBits", "runnerUp", "margin", "status"]);
    expect(lines.slice(1).map(([row, token, , scoreBits, runnerUp, , status]) => ({ row: Number(row), token: Number(token), scoreBits, runnerUp: Number(runnerUp), status }))).toEqual(
      rows.map(({ row, token, scoreBits, runnerUp, status }: Record<string, unknown>) => ({ row, token, scoreBits, runnerUp, status })),
    );
    expect(lines.slice(1)).toHaveLength(B);
  });
});

describe("--explain", () => {
  test("the winner: its score is the row's, nothing is ahead of it", async () => {
    const { rows } = await json(HEAD);
    const { explanation } = await json([...HEAD, "--explain", `1:${rows[1].token}`]);
    expect(explanation).toMatchObject({ row: 1, sample: 0, token: rows[1].token, winner: rows[1].token, behind: 0, score: rows[1].score, scoreBits: rows[1].scoreBits });
  });

  test("the runner-up is behind by the margin", async () => {
    const { rows } = await json([...HEAD, "--num-samples", "3"]);
    const { row, sample, runnerUp, margin } = rows[5];
    const { explanation } = await json([...HEAD, "--num-samples", "3", "--explain", `${row}:${runnerUp}:${sample}`]);
    expect(explanation).toMatchObject({ row: 1, sample: 2, behind: margin });
  });

  test("the numbers follow from one another", async () => {
    const { explanation } = await json([...LOGITS, "--temperature", "2", "--explain", "2:7"]);
    const { high, low, gamma, leadingZeros, gumbel, logitBits, logit, z, tau, scoreBits, score, key, counter } = explanation;
    const words = (text: string) => text.split(" ").map((word) => parseInt(word, 16));
    expect([explanation.sequence, explanation.position]).toEqual([2, 0]);
    expect(philox4x32(words(counter) as never, words(key) as never)[7 % 4]).toBe(parseInt(high, 16));
    expect(logit).toBe(logits[2 * V + 7]);
    expect(parseInt(logitBits, 16)).toBe(new Uint32Array(Float32Array.of(logit).buffer)[0]);
    expect(parseInt(gamma, 16)).toBe(gamma26(parseInt(high, 16), parseInt(low, 16)));
    expect(leadingZeros).toBe(Math.clz32(parseInt(high, 16)));
    expect(tau).toBe(2 * 2 ** 24);
    const noise = (BigInt(`0x${gamma}`) * BigInt(tau)) >> 18n;
    expect(BigInt.asUintN(64, BigInt(`0x${z}`) + noise)).toBe(BigInt(`0x${scoreBits}`));
    expect(score).toBeCloseTo(logit + 2 * gumbel, 6);
  });

  test("an int8 head has a Z and no logit of one f32", async () => {
    const { explanation, rows } = await json(["--weights", "int8.safetensors", "--tensor", "w", "--scales", "s", "--hidden", "hidden.npy", "--seed", "1", "--explain", "0:3"]);
    expect(explanation).toMatchObject({ logitBits: null, logit: null, winner: rows[0].token });
    expect(explanation.z).toMatch(/^[0-9a-f]{16}$/);
  });

  test("a masked token is never drawn", async () => {
    const { explanation } = await json(["--logits", "masked.npy", "--seed", "42", "--on-invalid", "mark", "--explain", "1:3"]);
    expect(explanation).toMatchObject({ z: "8000000000000000", scoreBits: "8000000000000000", score: null, winner: -1, behind: null });
  });

  test("a token of an invalid row is called so, whatever its logit", async () => {
    for (const token of [0, 1]) {
      const args = ["--logits", "masked.npy", "--seed", "42", "--on-invalid", "mark", "--explain", `2:${token}`];
      expect((await json(args)).explanation).toMatchObject({ status: "invalid", score: null, winner: -1, behind: null });
      const { stdout } = await run(["oracle", ...args]);
      expect(stdout).toMatch(/^S .* invalid: no token of this row is drawn$/m);
      expect(stdout).not.toContain("masked");
    }
    const hidden = await run(["oracle", "--weights", "head.safetensors", "--hidden", "nan.npy", "--seed", "1", "--on-invalid", "mark", "--explain", "1:0"]);
    expect(hidden.stdout).toMatch(/^S .* invalid: /m);
    const masked = await run(["oracle", "--logits", "masked.npy", "--seed", "42", "--on-invalid", "mark", "--explain", "1:3"]);
    expect(masked.stdout).toMatch(/^S .* masked: never drawn$/m);
  });

  test("as text", async () => {
    const { explanation } = await json([...HEAD, "--explain", "0:7"]);
    const { stdout } = await run(["oracle", ...HEAD, "--explain", "0:7"]);
    for (const part of [explanation.high, explanation.low, explanation.gamma, explanation.logitBits, explanation.z, explanation.scoreBits]) expect(stdout).toContain(part);
  });
});

describe("--arithmetic", () => {
  const { problems } = readVectors("tensor-core");

  /** The files of a known answer, and the arguments that name them. */
  function writeProblem({ dtype, V: rows, D: columns, weights: lists, hidden }: any): string[] {
    const bytes = bytesOf(Uint16Array.from(words(lists.join(" "))));
    writeFileSync(join(folder, "problem.safetensors"), safetensors({ "lm_head.weight": { dtype: dtype.toUpperCase(), shape: [rows, columns], bytes } }));
    writeFileSync(join(folder, "problem.npy"), npy(npyDict("<f4", `(${hidden.length}, ${columns})`), bytesOf(f32Values(hidden.join(" ")))));
    return ["--weights", "problem.safetensors", "--hidden", "problem.npy"];
  }

  test.each<any>(problems)("hopper gives the known draws, $dtype $name", async (problem) => {
    const files = writeProblem(problem);
    for (const { T, seed, position, samples, rows } of problem.calls) {
      const args = ["--temperature", String(f64Value(T)), "--seed", `0x${seed}`, "--position", String(position), "--num-samples", String(samples)];
      const document = await json([...files, ...args, "--arithmetic", "hopper"]);
      expect(document).toMatchObject({ arithmetic: "hopper", backend: "reference", dtype: problem.dtype });
      const expected = rows.flat().map(({ token, scoreBits, runnerUp }: any) => ({ token, scoreBits, runnerUp }));
      expect(document.rows.map(({ token, scoreBits, runnerUp }: any) => ({ token, scoreBits, runnerUp }))).toEqual(expected);
      expect((await json([...files, ...args])).rows).not.toEqual(document.rows);
    }
  });

  test("hopper explains its own logit", async () => {
    const [problem] = problems;
    const args = [...writeProblem(problem), "--seed", "1", "--explain", "1:3"];
    const { explanation } = await json([...args, "--arithmetic", "hopper"]);
    expect(explanation.logitBits).toBe(problem.logits[1].split(" ")[3]);
    expect(explanation.z).toBe(problem.Z[1].split(" ")[3]);
  });

  test("is L32 unless it is named", async () => {
    const document = await json(HEAD);
    expect(document.arithmetic).toBe("L32");
    expect(await json([...HEAD, "--arithmetic", "L32"])).toEqual(document);
    expect((await json(LOGITS)).arithmetic).toBeNull();
  });

  test("hopper refuses rows as ever", async () => {
    const bad = ["oracle", "--weights", "head.safetensors", "--hidden", "nan.npy", "--seed", "1"];
    const hopper = await run([...bad, "--arithmetic", "hopper"]);
    expect(hopper).toMatchObject({ code: 1, stdout: "" });
    expect(hopper.stderr).toBe((await run(bad)).stderr);
    const { rows } = await json([...bad.slice(1), "--arithmetic", "hopper", "--on-invalid", "mark"]);
    expect(rows.map((row: { status: string }) => row.status)).toEqual(["ok", "invalid", "ok"]);
  });

  test.each([
    ["int8 weights", "hopper", ["--weights", "int8.safetensors", "--tensor", "w", "--scales", "s", "--hidden", "hidden.npy"], "expected L32 for weights of int8, got hopper"],
    ["f32 weights", "hopper", ["--weights", "f32.npy", "--hidden", "hidden.npy"], "expected L32 for weights of f32, got hopper"],
    ["given logits", "hopper", ["--logits", "logits.npy"], "expected L32 for given logits, got hopper"],
    ["another name", "ampere", HEAD, 'expected L32, hopper, got "ampere"'],
  ])("is refused for %s", async (_, arithmetic, inputs, message) => {
    writeFileSync(join(folder, "f32.npy"), npy(npyDict("<f4", `(${V}, ${D})`), bytesOf(new Float32Array(V * D))));
    const { code, stdout, stderr } = await run(["oracle", ...inputs, "--arithmetic", arithmetic]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `flash-sampling: "--arithmetic" ${message}\n` });
  });
});
