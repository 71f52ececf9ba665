/**
 * The self-test of WebGPU: right devices pass, deliberately miscompiled kernels are refused, and one that is wrong only where
 * its compiler sees the sums ends on the second rung. What needs no GPU runs on the WebAssembly core in its place.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { GpuError } from "../gpu/gpu-error.js";
import * as host from "../gpu/webgpu/host.js";
import { KNOWN_BITS } from "../gpu/webgpu/self-test-answers.js";
import { HEAD_ROWS, knownHidden, knownLogits, KNOWN_SHAPES, knownScales, knownWeights, LOGITS_ROWS, NOISY_SAMPLES } from "../gpu/webgpu/self-test-inputs.js";
import { SelfTest, type CreateSink, type Rung } from "../gpu/webgpu/self-test.js";
import { testedSink } from "../gpu/webgpu/tested-head.js";
import type { Backend, HeadShape } from "../src/backend.js";
import { BACKENDS, createBackend } from "../src/backends/list.js";
import { useCudaPlatform } from "../src/cuda-platform.js";
import { useGpuPlatform } from "../src/gpu-platform.js";
import { addDoctor } from "../src/cli/doctor.js";
import { createSampler } from "../src/index.js";
import * as oracle from "../src/oracle.js";
import { nodeGpu } from "../src/platform/node-gpu.js";
import { QUESTIONS } from "./backend-vectors.js";
import { encodeRequest } from "../src/spec/request.js";
import { Inputs, makeWeights } from "./problems.js";
import { unavailable } from "./require.js";
import { openSharedContext } from "./webgpu-device.js";
import { expectRefusal, miscompilerOf, wrongBits, type Miscompile } from "./webgpu-miscompiled.js";
import { MUTANTS, mutate } from "./webgpu-mutants.js";

useCudaPlatform("automatic choice would take it before WebGPU");

/** The device for all tests. Its GPU stays referenced: Dawn needs it as long as the device is used. */
const opened = await openSharedContext();

describe("the known bits", async () => {
  it.each(Object.entries(KNOWN_SHAPES))("of %s heads are the oracle's", (name, shape: HeadShape) => {
    const head = { ...shape, weights: knownWeights(shape), ...(shape.dtype === "int8" && { scales: knownScales(shape)! }) };
    const z = [0, 1, 2, 3, 4, 5].map((row) => oracle.rowZ(head as oracle.Head, knownHidden(shape, row)));
    expect(drawsOf(HEAD_ROWS, z)).toEqual(KNOWN_BITS[name as keyof typeof KNOWN_BITS]);
  });

  it("of logits are the oracle's", () => {
    const z = LOGITS_ROWS.greedy.map((row) => oracle.rowFromLogits(knownLogits([row], 1).logits));
    expect(drawsOf(LOGITS_ROWS, z)).toEqual(KNOWN_BITS.logits);
  });

  describe.skipIf(unavailable("python", await missingPython()))("by the Python reference", () => {
    it("are those in the file", async () => {
      const cwd = fileURLToPath(new URL("../examples/python-reference/", import.meta.url));
      const { stdout } = await promisify(execFile)("python3", ["-B", "webgpu_self_test.py", "--check"], { cwd });
      expect(stdout).toBe("agrees\n");
    });
  });
});

function drawsOf({ greedy, noisy }: typeof HEAD_ROWS, z: readonly oracle.RowZ[]): string[] {
  return [greedy, noisy].flatMap((rows) =>
    rows.flatMap(({ input, request }) =>
      Array.from({ length: rows === greedy ? 1 : NOISY_SAMPLES }, (_, sample) => {
        const { status, token, score, runnerUp, runnerUpScore } = oracle.drawRow(z[input]!, request, sample);
        const hex = (value: bigint): string => BigInt.asUintN(64, value).toString(16).padStart(16, "0");
        if (status !== "ok") return status;
        return `${token} ${hex(score)}${runnerUp < 0 ? "" : ` ${runnerUp} ${hex(runnerUpScore)}`}`;
      }),
    ),
  );
}

async function missingPython(): Promise<string | null> {
  return promisify(execFile)("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).then(() => null, () => "no python3 of version 3.9 or newer on the path");
}

describe("the ladder, on a device that is a WebAssembly core", () => {
  let core: Backend;
  beforeAll(async () => void (core = await createBackend("wasm")));
  const shape: HeadShape = { dtype: "bf16", vocabSize: 9, hiddenSize: 40, groupSize: 0 };

  /** A device whose tokens are wrong where isWrong says so. */
  function device(isWrong: (rung: Rung, rows: number) => boolean): { test: SelfTest; asked: string[] } {
    const asked: string[] = [];
    const createSink: CreateSink = async (headShape, scales, rung) => {
      const sink = await core.createHead(headShape, scales);
      return {
        reserve: sink.reserve.bind(sink),
        commit: sink.commit.bind(sink),
        abort: sink.abort.bind(sink),
        async finish() {
          const head = await sink.finish();
          return {
            dispose: () => head.dispose(),
            async sample(batch) {
              const { length } = oracle.decodeRequest(batch.request).rows;
              asked.push(`${rung}, ${length}`);
              const candidates = await head.sample(batch);
              if (isWrong(rung, length)) candidates.score[candidates.score.length - 1]! ^= 1n;
              return candidates;
            },
          };
        },
      };
    };
    return { test: new SelfTest({ description: "a core", isSoftware: true }, createSink), asked };
  }

  it.each(Object.entries(KNOWN_SHAPES))("right answers: %s heads stand on the first rung", async (_, headShape) => {
    const { test } = device(() => false);
    expect(await test.rungFor(headShape)).toBe("fma");
    expect(Object.values(test.rungs)).toEqual(["fma"]);
    await test.assertRight(headShape, "fma", 17);
  });

  it("wrong sums: the second rung, and a batch of another size is asked again", async () => {
    const { test, asked } = device((rung) => rung === "fma");
    expect(await Promise.all([test.rungFor(shape), test.rungFor(shape)])).toEqual(["opaque sums", "opaque sums"]);
    expect(asked.filter((call) => call.startsWith("fma"))).toEqual(["fma, 1"]);
    asked.length = 0;
    await test.assertRight(shape, "opaque sums", 1);
    expect(asked).toEqual([]);
    await test.assertRight(shape, "opaque sums", 64);
    expect(asked.length).toBeGreaterThan(0);
    expect(test.rungs).toEqual({ bf16: "opaque sums" });
  });

  it("wrong on both rungs: refused, with the first wrong answer", async () => {
    const { test } = device(() => true);
    await expect(test.rungFor(shape)).rejects.toEqual(wrongBits);
    await expect(test.rungFor(shape)).rejects.toThrow(/from a core: bf16, row 0 of those without noise, draw 0: expected 71 [0-9a-f]{16} 7 [0-9a-f]{16}, got 71 /);
    expect(test.rungs).toEqual({});
  });

  it("wrong for large batches only: refused there, and the next head begins on the second rung", async () => {
    const { test } = device((rung, rows) => rung === "fma" && rows > 1);
    expect(await test.rungFor(shape)).toBe("fma");
    await test.assertRight(shape, "fma", 1);
    await expect(test.assertRight(shape, "fma", 64)).rejects.toThrow("A new sampler will compute with opaque sums");
    expect(await test.rungFor(shape)).toBe("opaque sums");
    await test.assertRight(shape, "opaque sums", 64);
  });

  it("a head asks before its first batch of a size", async () => {
    const { test, asked } = device((_, rows) => rows > 1);
    const asSeen: number[] = [];
    const sink = testedSink(await core.createHead(shape, null), (rows) => {
      asSeen.push(rows);
      return test.assertRight(shape, "opaque sums", rows);
    });
    for (let row = 0; row < 9; ) row += sink.reserve(row, 9 - row).rowCount;
    const head = await sink.finish();
    const batch = (rows: number) => ({ hiddenStates: new Float32Array(rows * 40), request: oracle.encodeRequest(Array.from({ length: rows }, () => ({ seed: 0n, sequence: 0, position: 0, tau: 0 })), 1) });
    expect((await head.sample(batch(1))).token).toHaveLength(1);
    await expect(head.sample(batch(40))).rejects.toEqual(wrongBits);
    expect(asSeen).toEqual([1, 40]);
    expect(asked.length).toBeGreaterThan(1);
    head.dispose();
  });

  it("logits: right ones pass once, one wrong bit is refused", async () => {
    const calls: number[] = [];
    const sampleLogits: Backend["sampleLogits"] = (batch) => (calls.push(batch.vocabSize), core.sampleLogits(batch));
    const { test } = device(() => false);
    await test.assertLogitsRight(sampleLogits);
    const { length } = calls;
    await test.assertLogitsRight(sampleLogits);
    expect(calls).toHaveLength(length);
    const wrong = device(() => false).test.assertLogitsRight(async (batch) => {
      const candidates = await core.sampleLogits(batch);
      candidates.runnerUpScore[candidates.runnerUpScore.length - 1]! ^= 1n;
      return candidates;
    });
    await expect(wrong).rejects.toThrow(/logits, row 0 of those without noise, draw 0/);
  });
});

describe("automatic choice", () => {
  afterAll(() => useGpuPlatform(nodeGpu));

  it("goes on to WebAssembly where the GPU finds itself wrong", async () => {
    let disposed = 0;
    const refuse = () => Promise.reject(new GpuError("wrong-bits", "wrong in the last bit"));
    const wrong: Backend = { name: "webgpu", createHead: refuse, sampleLogits: refuse, dispose: () => void disposed++ };
    useGpuPlatform({ loadHost: async () => ({ ...host, webgpuDrawback: async () => null, createWebgpuBackend: async () => wrong }), openGpu: async () => ({}) as GPU });
    const sampler = await createSampler({ weights: { data: Float32Array.of(1, 2, 3), dtype: "f32", shape: [3, 1] } });
    expect(sampler.backend).toMatch(/^wasm/);
    const { tokens } = await sampler.sample({ hiddenStates: Float32Array.of(1), temperature: 0 });
    expect([...tokens]).toEqual([2]);
    expect(disposed).toBe(1);
    sampler.dispose();
    await expect(createSampler({ weights: { data: Float32Array.of(1), dtype: "f32", shape: [1, 1] }, backend: "webgpu" })).rejects.toThrow();
  });

  it("makes room once for calls at the same time", async () => {
    const refuse = () => new Promise<never>((_, reject) => setTimeout(() => reject(new GpuError("wrong-bits", "wrong in the last bit"))));
    const wrong: Backend = { name: "webgpu", createHead: refuse, sampleLogits: refuse, dispose: () => {} };
    useGpuPlatform({ loadHost: async () => ({ ...host, webgpuDrawback: async () => null, createWebgpuBackend: async () => wrong }), openGpu: async () => ({}) as GPU });
    const backend = await createBackend("auto");
    const ask = async () => (await backend.sampleLogits(knownLogits(LOGITS_ROWS.greedy, 1))).token[0];
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([516, 516, 516]);
    const first = (await Promise.all(BACKENDS.map(async ({ name, auto, probe }) => (auto && name !== "webgpu" && (await probe()) === null ? [name] : [])))).flat()[0];
    expect(backend.name).toBe(first);
    backend.dispose();
  });

  it("does not hide other failures", async () => {
    const full = () => Promise.reject(new GpuError("out-of-memory", "no room"));
    const backend: Backend = { name: "webgpu", createHead: full, sampleLogits: full, dispose: () => {} };
    useGpuPlatform({ loadHost: async () => ({ ...host, webgpuDrawback: async () => null, createWebgpuBackend: async () => backend }), openGpu: async () => ({}) as GPU });
    await expect(createSampler({ weights: { data: Float32Array.of(1), dtype: "f32", shape: [1, 1] } })).rejects.toThrow("no room");
  });
});

describe("doctor", () => {
  afterAll(() => useGpuPlatform(nodeGpu));

  it.each([["text", []], ["JSON", ["--json"]]])("names a device and what keeps its sums in order, as %s", async (_, args: string[]) => {
    const core = await createBackend("wasm");
    const device = { adapter: "A GPU", rungs: { bf16: "fma", f16: "fma", f32: "opaque sums" } } as const;
    const named: Backend = { name: "webgpu", createHead: core.createHead.bind(core), sampleLogits: core.sampleLogits.bind(core), dispose: () => {} };
    const fake = { ...host, webgpuObstacle: async () => null, createWebgpuBackend: async () => named, webgpuReport: async () => device };
    useGpuPlatform({ loadHost: async () => fake, openGpu: async () => ({}) as GPU });
    const program = new Command().exitOverride();
    addDoctor(program);
    const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    await program.parseAsync(["doctor", ...args], { from: "user" });
    const text = written.mock.calls.map(([chunk]) => String(chunk)).join("");
    written.mockRestore();
    if (args.length > 0) {
      const devices = JSON.parse(text).backends.map((backend: { device: unknown }) => backend.device);
      expect(devices).toEqual(BACKENDS.map(({ name }) => (name === "webgpu" ? device : null)));
    } else {
      expect(text).toContain("webgpu: on A GPU\nwebgpu: sums in order by fma: bf16, f16\nwebgpu: sums in order by opaque sums: f32\n");
    }
  });
});

describe.skipIf(unavailable("webgpu", typeof opened === "string" ? opened : null))("a WebGPU device", () => {
  const { context } = opened as Exclude<typeof opened, string>;
  let miscompile: Miscompile;
  beforeAll(async () => void (miscompile = await miscompilerOf(context)));

  // A kernel takes long to compile where no GPU is. Those that follow each other are wrong in like ways: test/slow has all.
  it.each(MUTANTS.filter((_, index) => index % 3 === 0))("is refused with $name ($head)", (mutant) => expectRefusal(miscompile, mutant));

  it("passes over no tile that a draw needs: a screen that asks for a little more loses tokens", async () => {
    const inputs = new Inputs(7);
    const shape: HeadShape = { dtype: "bf16", vocabSize: 1500, hiddenSize: 32, groupSize: 0 };
    const weights = makeWeights(inputs, "bf16", shape.vocabSize, shape.hiddenSize) as Uint16Array;
    const hiddenStates = Float32Array.from({ length: 4 * 32 }, () => Math.fround(Math.round(inputs.normal() * 64) / 64));
    const rows = [0, 1, 2, 3].map((row) => ({ seed: 5n, sequence: row, position: 0, tau: (row + 1) << 23, firstSample: 0 }));
    const decide = async (createSink: CreateSink): Promise<unknown[]> => {
      const sink = await createSink(shape, null, "fma");
      for (let row = 0; row < shape.vocabSize; ) {
        const block = sink.reserve(row, shape.vocabSize - row);
        block.bytes.set(new Uint8Array(weights.buffer, row * 64, block.rowCount * 64));
        await sink.commit(block, { norms: new Float32Array(block.rowCount), largest: new Float32Array(block.rowCount) });
        row += block.rowCount;
      }
      const head = await sink.finish();
      const { token, score, runnerUp } = await head.sample({ hiddenStates, request: encodeRequest(rows, 24) });
      head.dispose();
      return Array.from(token, (winner, draw) => `${winner} ${score[draw]} ${runnerUp[draw]}`);
    };
    const core = await createBackend("wasm");
    const expected = await decide(async (...given) => core.createHead(given[0], given[1]));
    expect(await decide(miscompile((code) => code).createSink)).toEqual(expected);
    const strict = await decide(miscompile((code) => mutate(code, { name: "strict", head: "bf16", from: "most >= threshold", to: "most >= threshold + 128u" })).createSink);
    expect(strict.filter((draw, index) => draw !== expected[index]).length).toBeGreaterThan(0);
  });

  it("tests itself when a sampler first needs it, and reports what it found", async () => {
    const entry = BACKENDS.find(({ name }) => name === "webgpu")!;
    expect(await entry.report!()).toEqual({ adapter: context.description, rungs: {} });
    const sampler = await createSampler({ weights: { data: Float32Array.of(1, 3, 2), dtype: "f32", shape: [3, 1] }, backend: "webgpu" });
    const { tokens } = await sampler.sample({ hiddenStates: Float32Array.of(1), temperature: 0 });
    const fromLogits = await sampler.sampleLogits({ logits: Float32Array.of(1, 2, 3), temperature: 0 });
    expect([...tokens, ...fromLogits.tokens]).toEqual([1, 2]);
    expect(await entry.report!()).toEqual({ adapter: context.description, rungs: { f32: "fma" } });
    sampler.dispose();
  });

  it("that reorders the sums it sees ends on the second rung, with right bits; one that is wrong anyway is refused", async () => {
    const reorders = (code: string): string => mutate(code, MUTANTS.find(({ name }) => name === "a tree of distant lanes")!);
    const { test, createSink } = miscompile((code) => (code.includes("const OPAQUE_SUMS = false;") ? reorders(code) : code));
    const rung = await test.rungFor(KNOWN_SHAPES.bf16);
    expect(rung).toBe("opaque sums");
    const question = QUESTIONS.find(({ name }) => name === "sample: bf16 V=6 D=34 large")!;
    const backend = { createHead: (shape: HeadShape, scales: Float32Array | null) => createSink(shape, scales, rung) } as unknown as Backend;
    const { expected, got } = await question.answers(backend);
    expect(got).toEqual(expected);
    const { test: both } = miscompile(reorders);
    await expect(both.rungFor(KNOWN_SHAPES.bf16)).rejects.toThrow(/bf16, row 0 of those without noise, draw 0: expected 71/);
  });
});
