/** `flash-sampling sample`: the tokens of the API, as text, JSON and .npy. */
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readNpyIntegers } from "../src/head/npy.js";
import { bytesSource } from "../src/head/source.js";
import { createSampler, sampleLogits, SPEC_VERSION, type Sampler } from "../src/index.js";
import { B, D, useCli, V, writeInputs } from "./cli-process.js";

const { folder, run } = useCli();
const { weights, hiddenStates, logits } = writeInputs(folder);
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
const HEAD = ["--weights", "head.safetensors", "--hidden", "hidden.npy"];

let sampler: Sampler;
beforeAll(async () => {
  sampler = await createSampler({ weights: { data: weights, dtype: "bf16", shape: [V, D] }, backend: "reference" });
});

async function expectedTokens(options: object): Promise<number[]> {
  return Array.from((await sampler.sample({ hiddenStates, ...options })).tokens);
}

describe("text", () => {
  test("a token a row", async () => {
    const { code, stdout, stderr } = await run(["sample", ...HEAD, "--seed", "42"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`${(await expectedTokens({ seed: 42n })).join("\n")}\n`);
  });

  test("the samples of a row side by side; every option reaches the draw", async () => {
    const options = { seed: 0xfedcba9876543210n, temperature: 0.7, position: 2 ** 32 - 1, sequence: 9, numSamples: 4 };
    const args = ["--seed", "0xfedcba9876543210", "--temperature", "7e-1", "--position", "4294967295", "--sequence", "9", "--num-samples", "4"];
    const { stdout } = await run(["sample", ...HEAD, ...args]);
    const tokens = await expectedTokens(options);
    expect(stdout.trim().split("\n").map((line) => line.split(" ").map(Number))).toEqual(Array.from({ length: B }, (_, row) => tokens.slice(4 * row, 4 * row + 4)));
    expect(new Set(tokens).size).toBeGreaterThan(3);
  });

  test("--sequence rows is the default, a number is another stream", async () => {
    const [rows, plain, zero] = await Promise.all([["--sequence", "rows"], [], ["--sequence", "0"]].map((more) => run(["sample", ...HEAD, "--seed", "5", "--num-samples", "20", ...more])));
    expect(rows!.stdout).toBe(plain!.stdout);
    expect(zero!.stdout).not.toBe(plain!.stdout);
  });

  test("--position rows gives each row its index", async () => {
    const { stdout } = await run(["sample", ...HEAD, "--seed", "5", "--position", "rows", "--sequence", "0"]);
    const tokens = await expectedTokens({ seed: 5n, sequence: 0, position: Array.from({ length: B }, (_, row) => row) });
    expect(stdout).toBe(`${tokens.join("\n")}\n`);
  });

  test("a backend by name gives the same tokens", async () => {
    const args = ["sample", ...HEAD, "--seed", "42", "--num-samples", "7"];
    expect((await run([...args, "--backend", "reference"])).stdout).toBe((await run(args)).stdout);
  });

  test("logits, from a file and from stdin", async () => {
    const { tokens } = await sampleLogits({ logits, vocabSize: V, backend: "reference", seed: 7n });
    const [file, piped] = await Promise.all([
      run(["sample", "--logits", "logits.npy", "--seed", "7"]),
      run(["sample", "--logits", "-", "--seed", "7"], { stdin: readFileSync(join(folder, "logits.npy")) }),
    ]);
    expect(file.stdout).toBe(`${tokens.join("\n")}\n`);
    expect(piped).toEqual(file);
  });

  test("an array of one dimension is one row", async () => {
    const { stdout } = await run(["sample", "--weights", "head.safetensors", "--hidden", "one-row.npy", "--seed", "42"]);
    expect(stdout).toBe(`${(await expectedTokens({ seed: 42n }))[0]}\n`);
  });

  test("scales by the name of a tensor and by a file", async () => {
    const args = ["sample", "--weights", "int8.safetensors", "--tensor", "w", "--hidden", "hidden.npy", "--seed", "1", "--num-samples", "5"];
    const [named, file] = await Promise.all([run([...args, "--scales", "s"]), run([...args, "--scales", "scales.npy"])]);
    expect(named.code).toBe(0);
    expect(file).toEqual(named);
  });
});

describe("a seed that is left out", () => {
  test("is printed, and gives the same tokens again", async () => {
    const first = await run(["sample", ...HEAD, "--num-samples", "9", "--json"]);
    const seed = /^seed (\d+)\n$/.exec(first.stderr)![1]!;
    expect(JSON.parse(first.stdout)).toMatchObject({ seed });
    const again = await run(["sample", ...HEAD, "--num-samples", "9", "--json", "--seed", seed]);
    expect(again).toEqual({ ...first, stderr: "" });
  });

  test("is another one each time", async () => {
    const [a, b] = await Promise.all([run(["sample", ...HEAD]), run(["sample", ...HEAD])]);
    expect(a!.stderr).not.toBe(b!.stderr);
  });
});

describe("--json", () => {
  test("is one document with all it takes to draw again", async () => {
    const { stdout } = await run(["sample", ...HEAD, "--seed", "18446744073709551615", "--num-samples", "2", "--json"]);
    const tokens = await expectedTokens({ seed: 2n ** 64n - 1n, numSamples: 2 });
    const document = JSON.parse(stdout);
    expect(document).toEqual({
      specVersion: SPEC_VERSION,
      version,
      headDigest: sampler.headDigest,
      backend: expect.stringMatching(/^wasm|^reference$/),
      dtype: "bf16",
      V,
      D,
      seed: "18446744073709551615",
      temperature: 1,
      position: 0,
      sequence: "rows",
      numSamples: 2,
      rows: Array.from({ length: B }, (_, row) => ({ row, tokens: tokens.slice(2 * row, 2 * row + 2) })),
    });
    expect(document.headDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  test("given logits have no head", async () => {
    const { stdout } = await run(["sample", "--logits", "logits.npy", "--seed", "1", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ headDigest: null, dtype: null, V, D: null });
  });
});

describe("rows without a token", () => {
  test("end with 1 and the row's place", async () => {
    const { code, stdout, stderr } = await run(["sample", "--weights", "head.safetensors", "--hidden", "nan.npy", "--seed", "42"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^flash-sampling: .*NaN at row 1, column 3\n$/);
  });

  test("are -1 when marked; the others are as ever", async () => {
    const { code, stdout } = await run(["sample", "--weights", "head.safetensors", "--hidden", "nan.npy", "--seed", "42", "--on-invalid", "mark"]);
    const [first, , third] = await expectedTokens({ seed: 42n });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${first}\n-1\n${third}\n` });
  });
});

describe("--out", () => {
  test.each([
    ["1", [B]],
    ["5", [B, 5]],
  ])("%s samples a row: shape %j, the tokens of the API", async (numSamples, shape) => {
    const before = new Set(readdirSync(folder));
    const out = `tokens-${numSamples}.npy`;
    expect((await run(["sample", ...HEAD, "--seed", "42", "--num-samples", numSamples, "--out", out])).code).toBe(0);
    const bytes = readFileSync(join(folder, out));
    expect(bytes.toString("latin1")).toContain("'descr': '<i8'");
    const read = await readNpyIntegers(bytesSource(bytes, out));
    expect(read.shape).toEqual(shape);
    expect(Array.from(read.data)).toEqual(await expectedTokens({ seed: 42n, numSamples: Number(numSamples) }));
    expect(readdirSync(folder).filter((name) => !before.has(name))).toEqual([out]);
  });

  test("takes the place of a file", async () => {
    writeFileSync(join(folder, "there.npy"), "old");
    expect((await run(["sample", ...HEAD, "--seed", "42", "--out", "there.npy"])).code).toBe(0);
    expect(statSync(join(folder, "there.npy")).size).toBe(128 + 8 * B);
  });

  test.each([
    ["a folder that is missing", "missing/tokens.npy", []],
    ["a folder", ".", []],
    ["a file that is no .npy by its name", "tokens.txt", []],
    ["a name that is an ending alone", "./.npy", []],
    ["a run that fails after it has begun", "failed.npy", ["--hidden", "nan.npy"]],
  ])("%s: nothing is left behind", async (_, out, more) => {
    const before = readdirSync(folder, { recursive: true });
    const { code, stdout } = await run(["sample", ...HEAD, ...more, "--seed", "42", "--out", out]);
    expect(code).not.toBe(0);
    expect(stdout).toBe("");
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  });
});
