/** `flash-sampling doctor` and `demo`: right cores pass, a core with one wrong constant does not. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { BACKENDS } from "../src/index.js";
import { KNOWN_PROBLEMS } from "../src/cli/known-answers.js";
import { PHILOX_M1, SPEC_VERSION } from "../src/spec/constants.js";
import { useCli } from "./cli-process.js";
import { NO_DRIVER } from "./swiftshader.js";
import { readVectors } from "./vector-checks.js";

const { folder, run, program } = useCli();
const SMALL = ["--vocab-size", "300", "--hidden-size", "64", "--rows", "2"];
let reasons: (string | null)[];
beforeAll(async () => {
  reasons = await Promise.all(BACKENDS.map((entry) => entry.probe()));
});

describe("known answers", () => {
  const { problems } = readVectors("sample");

  test("cover each dtype, scales of rows and of groups, and several temperatures", () => {
    expect(new Set(KNOWN_PROBLEMS.map(({ dtype }) => dtype))).toEqual(new Set(["bf16", "f16", "f32", "int8"]));
    expect(new Set(KNOWN_PROBLEMS.flatMap(({ scales = [] }) => scales.map((row) => row.split(" ").length)))).toEqual(new Set([1, 2]));
    expect(new Set(KNOWN_PROBLEMS.flatMap(({ calls }) => calls.map(({ temperature }) => temperature))).size).toBeGreaterThanOrEqual(4);
  });

  test.each(KNOWN_PROBLEMS.map((problem) => [problem.name, problem] as const))("%s is that of test/vectors/sample.json", (name, problem) => {
    const source = problems.find((candidate: { name: string }) => candidate.name.trim() === name);
    const { dtype, V, D, weights, scales, hidden, calls } = source;
    expect(problem).toEqual({
      name,
      dtype,
      vocabSize: V,
      hiddenSize: D,
      weights,
      ...(scales && { scales }),
      hidden,
      calls: calls.filter((call: any) => parseInt(call.firstSample, 16) <= 2).map(knownCall),
    });
  });
});

// A call of the vector file, its hexadecimal numbers read.
function knownCall({ T, firstSample, samples, rows }: any) {
  return {
    temperature: new Float64Array(BigUint64Array.of(BigInt(`0x${T}`)).buffer)[0],
    firstSample: parseInt(firstSample, 16),
    samples,
    rows: rows.map(({ seed, sequence, position, draws }: any) => ({
      seed,
      sequence: parseInt(sequence, 16),
      position: parseInt(position, 16),
      draws: draws.map(({ token, scoreBits, runnerUp }: any) => ({ token, scoreBits, runnerUp })),
    })),
  };
}

describe("doctor", () => {
  test("says of each backend whether it runs, is right, and how fast it is", async () => {
    const { code, stdout, stderr } = await run(["doctor", "--json", "--require", "reference"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ specVersion: SPEC_VERSION, ok: true, node: process.versions.node });
    expect(document.backends.map(({ name, available }: any) => ({ name, available }))).toEqual(
      BACKENDS.map(({ name }, index) => ({ name, available: reasons[index] === null })),
    );
    for (const { available, reason, selfTest, failures, gigabytesPerSecond, tokensPerSecond } of document.backends) {
      expect({ selfTest, failures }).toEqual({ selfTest: available ? "passed" : "not run", failures: [] });
      expect(reason === null).toBe(available);
      expect(gigabytesPerSecond > 0 && tokensPerSecond > 0).toBe(available);
    }
  });

  // Without a driver of the GPU, whose kernels would be compiled once more.
  test("as text", async () => {
    const { code, stdout } = await run(["doctor"], { variables: NO_DRIVER });
    expect(code).toBe(0);
    for (const { name } of BACKENDS) expect(stdout).toMatch(new RegExp(`^${name} .*(runs here +passed|not here +not run)`, "m"));
    expect(stdout).toMatch(/^reference +runs here +passed/m);
    expect(stdout).not.toContain("\x1b");
  });
});

describe("a package with a core that is wrong, and one that is missing", () => {
  const broken = { program: "" };
  beforeAll(() => {
    const dist = join(folder, "broken", "dist");
    mkdirSync(dist, { recursive: true });
    copyFileSync(join(dirname(program()), "..", "package.json"), join(folder, "broken", "package.json"));
    copyFileSync(program(), join(dist, "cli.js"));
    writeFileSync(join(dist, "core.wasm"), withWrongMultiplier(readFileSync(join(dirname(program()), "core.wasm"))));
    broken.program = join(dist, "cli.js");
  });
  const runBroken = (args: readonly string[]) => run(args, { program: broken.program });

  test("doctor ends with 1 and names the first wrong draw", async () => {
    const { code, stdout } = await runBroken(["doctor", "--json"]);
    expect(code).toBe(1);
    const document = JSON.parse(stdout);
    const wasm = document.backends.find(({ name }: any) => name === "wasm");
    expect(document.ok).toBe(false);
    expect(wasm).toMatchObject({ available: true, selfTest: "failed", gigabytesPerSecond: null });
    expect(wasm.failures).toHaveLength(KNOWN_PROBLEMS.length);
    expect(wasm.failures[0]).toMatch(/row 0, sample \d: expected \{"token":\d+/);
    expect(document.backends.find(({ name }: any) => name === "wasm-relaxed").available).toBe(false);
  });

  test("demo ends with 1", async () => {
    const { code, stdout } = await runBroken(["demo", ...SMALL]);
    expect(code).toBe(1);
    expect(stdout).toContain("DIFFERENT tokens");
  });

  test("a required backend that is missing ends with 1", async () => {
    rmSync(join(folder, "broken", "dist", "core.wasm"));
    const { code, stdout } = await runBroken(["doctor", "--require", "wasm"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^wasm +MISSING/m);
    const sample = await runBroken(["sample", "--logits", "none.npy", "--backend", "wasm"]);
    expect(sample).toMatchObject({ code: 1, stdout: "" });
    expect(sample.stderr).toMatch(/^flash-sampling: "--backend" expected one that runs here/);
  });
});

/** One bit of a Philox multiplier flipped wherever it stands as a constant of i32 (signed LEB128), i64 or v128 lanes. */
function withWrongMultiplier(wasm: Buffer): Buffer {
  const lane = Buffer.alloc(4);
  lane.writeUInt32LE(PHILOX_M1);
  const signed = PHILOX_M1 | 0;
  const leb = Buffer.from(Array.from({ length: 5 }, (_, byte) => ((signed >> (7 * byte)) & 0x7f) | (byte < 4 ? 0x80 : 0)));
  let changed = 0;
  for (const pattern of [lane, leb]) {
    for (let at = wasm.indexOf(pattern); at >= 0; at = wasm.indexOf(pattern, at + 1)) {
      wasm[at]! ^= 1;
      changed++;
    }
  }
  expect(changed).toBeGreaterThan(0);
  return wasm;
}

describe("demo", () => {
  /** Each backend, and whether the demo runs it. */
  const shown = () => Promise.all(BACKENDS.map(async ({ name, probe, autoProbe }) => ({ name, runs: (await (autoProbe ?? probe)()) === null })));

  test("shows equal tokens and a histogram, within 80 columns and without colour", async () => {
    const { code, stdout, stderr } = await run(["demo", ...SMALL, "--seed", "7"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const runs = await shown();
    for (const { name } of BACKENDS) expect(stdout).toMatch(new RegExp(`^${name} `, "m"));
    const ran = runs.filter((backend) => backend.runs).map(({ name }) => name);
    expect(stdout).toContain(ran.length === 1 ? `Only ${ran[0]} runs here` : `Equal tokens on ${ran.slice(0, -1).join(", ")} and ${ran.at(-1)}.`);
    for (const { name, runs: isRun } of runs) expect(new RegExp(`^Left out: ${name} \\(.+\\)\\.$`, "m").test(stdout)).toBe(!isRun);
    expect(stdout).toContain("20,000 draws");
    expect(stdout).not.toContain("\x1b");
    // Why one was left out is a line as long as the reason.
    const lines = stdout.split("\n").filter((line) => !line.startsWith("Left out: "));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("as one JSON document", async () => {
    const { stdout } = await run(["demo", ...SMALL, "--seed", "7", "--json"]);
    const { equal, seed, vocabSize, hiddenSize, rows, backends, histogram } = JSON.parse(stdout);
    expect({ equal, seed, vocabSize, hiddenSize, rows }).toEqual({ equal: true, seed: "7", vocabSize: 300, hiddenSize: 64, rows: 2 });
    expect(backends.map(({ name, reason }: any) => ({ name, runs: reason === null }))).toEqual(await shown());
    for (const { reason, tokens, sampleMilliseconds } of backends) expect([tokens, sampleMilliseconds].every((found) => (found === null) === (reason !== null))).toBe(true);
    const ran = backends.filter(({ reason }: any) => reason === null);
    expect(new Set(ran.map(({ tokens }: any) => tokens.join())).size).toBe(1);
    expect(ran[0].tokens).toHaveLength(2);
    expect(histogram.counts.reduce((sum: number, count: number) => sum + count)).toBe(20_000);
    // A fixed seed: a fixed statistic. Above 31.3 for one seed in a thousand.
    expect(histogram.chiSquare).toBeLessThan(31.3);
  });
});
