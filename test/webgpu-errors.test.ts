/** What a device can do wrong, and callers with its buffers: an error of one kind for each, and nothing that waits for ever. */
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { transform } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSampler, type GpuHiddenStates, type HeadArray, type SampleResult, type Sampler, type SamplerOptions } from "../src/index.js";
import { destroyDevices, openContext } from "../gpu/webgpu/device.js";
import { useGpuPlatform } from "../src/gpu-platform.js";
import { nodeGpu } from "../src/platform/node-gpu.js";
import { unavailable } from "./require.js";
import { bufferOf, countBuffers, deviceObstacle, gpuThatTells, openDevice, USAGE, wordsOf } from "./webgpu-device.js";

const [V, D] = [6, 5];
/** Of the dtype whose kernels compile soonest. */
const HEAD: HeadArray = { data: new Float32Array(V * D).fill(1), dtype: "f32", shape: [V, D] };
const HIDDEN = new Float32Array(2 * D).fill(0.5);
const CALL = { hiddenStates: HIDDEN, seed: 1n, temperature: 1 } as const;
const ONE_ROW = { ...CALL, hiddenStates: HIDDEN.subarray(0, D) } as const;
/** Rows of a call that needs buffers of more than LARGE bytes, which no small one does. */
const [ROWS, LARGE] = [20_000, 70_000];
const LOST = { name: "GpuError", kind: "lost" };

/** How it ended; "pending" when it does not end. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, 20_000, "pending")));
  const ended = await Promise.race([promise.then(() => "done", (error: unknown) => error), late]);
  clearTimeout(timer);
  return ended;
}

/** Lets the device say "no memory" once, of what is submitted or created next. */
function exhaustOnce(device: GPUDevice): void {
  const popErrorScope = device.popErrorScope.bind(device);
  let isInner = true; // the scope of refusals
  device.popErrorScope = async () => {
    if (isInner) {
      isInner = false;
      return popErrorScope();
    }
    delete (device as Partial<GPUDevice>).popErrorScope;
    await popErrorScope();
    return { message: "told by the test" };
  };
}

describe("before a GPU is looked for", () => {
  let asked = 0;
  beforeAll(() => {
    const openGpu = async () => {
      asked++;
      throw new Error("none in this test");
    };
    useGpuPlatform({ ...nodeGpu, openGpu });
  });
  afterEach(() => (asked = 0));
  afterAll(() => useGpuPlatform(nodeGpu));

  test.each<[string, Record<string, unknown>, RegExp]>([
    ["no weights", {}, /"weights" expected .*, got undefined/],
    ["weights of a wrong shape", { weights: { ...HEAD, shape: [V, D + 1] } }, /"weights/],
    ["a file that is none", { weights: new Uint8Array(3) }, /./],
    ["a backend of no such name", { weights: HEAD, backend: "gpu" }, /"backend" expected auto, .*, got "gpu"/],
    ["a signal that is none", { weights: HEAD, signal: 1 }, /"signal" expected an AbortSignal, got 1/],
  ])("createSampler() refuses %s", async (_, options, message) => {
    await expect(createSampler(options as never)).rejects.toThrow(message);
    expect(asked).toBe(0);
  });

  test("but a good head is looked for", async () => {
    (await createSampler({ weights: HEAD })).dispose();
    expect(asked).toBe(1);
  });
});

test("a GpuError has its name in minified code, for consoles too", async () => {
  const source = readFileSync(new URL("../gpu/gpu-error.ts", import.meta.url), "utf8");
  const { code } = await transform(source, { loader: "ts", minify: true, format: "esm", target: "es2022" });
  const { GpuError } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as typeof import("../gpu/gpu-error.js");
  expect(inspect(new GpuError("lost", "gone"))).toMatch(/^GpuError: gone/);
});

describe("webgpu", async () => {
  describe.skipIf(unavailable("webgpu", await deviceObstacle()))("errors", () => {
    let device: GPUDevice;
    let sampler: Sampler;
    let tokens: Int32Array;
    beforeAll(async () => {
      device = await openDevice();
      sampler = await createSampler({ weights: HEAD, device });
      tokens = (await (await createSampler({ weights: HEAD, backend: "reference" })).sample(CALL)).tokens;
    }, 60_000);
    afterAll(() => device.destroy());
    const hidden = (buffer: GPUBuffer): GpuHiddenStates => ({ buffer, dtype: "f32", shape: [2, D] });

    describe("a lost device", () => {
      test("before the sampler is created", async () => {
        const lost = await openDevice();
        lost.destroy();
        expect(await outcome(createSampler({ weights: HEAD, device: lost }))).toMatchObject(LOST);
        expect(await outcome(createSampler({ weights: HEAD, device: lost }))).toMatchObject(LOST);
      });

      test("while the sampler is created, at any moment", async () => {
        for (let turns = 0; turns < 12; turns += 2) {
          const lost = await openDevice();
          const weights = turns % 4 === 0 ? HEAD : ({ buffer: bufferOf(lost, HEAD.data), dtype: "f32", shape: [V, D] } as const);
          const creating = outcome(createSampler({ weights, device: lost }));
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
          if (turns > 6) await new Promise((resolve) => setTimeout(resolve));
          lost.destroy();
          const ended = await creating;
          if (ended !== "done") expect(ended).toMatchObject(LOST);
        }
      });

      test("of all samplers is opened again", async () => {
        const opened: GPUDevice[] = [];
        useGpuPlatform({ ...nodeGpu, openGpu: async () => gpuThatTells(opened) });
        try {
          const first = await createSampler({ weights: HEAD, backend: "webgpu" });
          expect((await first.sample(ONE_ROW)).tokens).toEqual(tokens.subarray(0, 1));
          opened.at(-1)!.destroy();
          expect(await outcome(first.sample(ONE_ROW))).toMatchObject(LOST);
          const count = opened.length;
          const again = await Promise.all([createSampler({ weights: HEAD, backend: "webgpu" }), createSampler({ weights: HEAD, backend: "webgpu" })]);
          for (const next of again) expect((await next.sample(ONE_ROW)).tokens).toEqual(tokens.subarray(0, 1));
          expect(opened.length).toBe(count + 1);
          expect(await outcome(first.sample(ONE_ROW))).toMatchObject(LOST);
        } finally {
          useGpuPlatform(nodeGpu);
          opened.at(-1)?.destroy();
        }
      });
    });

    // Without it, one process in five ends with a signal when it throws with calls under way on SwiftShader.
    test("the devices opened here are destroyed when the process ends", async () => {
      const gpu = await nodeGpu.openGpu();
      const { device: opened } = await openContext(gpu);
      expect(process.listeners("exit")).toContain(destroyDevices);
      destroyDevices();
      expect(await opened.lost).toMatchObject({ reason: "destroyed" });
      expect(gpu).toBeDefined(); // Dawn needs it until here
    });

    describe("buffers that cannot be used", () => {
      test.each<[string, (device: GPUDevice) => GPUBuffer, RegExp]>([
        ["without STORAGE or COPY_SRC", (on) => on.createBuffer({ size: 64, usage: USAGE.copyDst }), /"hiddenStates.buffer" expected usage STORAGE or COPY_SRC, got neither/],
        ["too small", (on) => on.createBuffer({ size: 36, usage: USAGE.storage }), /"hiddenStates.buffer" expected at least 40 bytes, got 36/],
      ])("%s", async (_, make, message) => {
        await expect(sampler.sample({ ...CALL, hiddenStates: hidden(make(device)) })).rejects.toThrow(message);
      });

      test("too small for tokens, or not to be written", async () => {
        const small = device.createBuffer({ size: 4, usage: USAGE.storage });
        await expect(sampler.sample({ ...CALL, tokensTo: { buffer: small } })).rejects.toThrow(/"tokensTo.buffer" expected at least 8 bytes, got 4/);
        const readOnly = device.createBuffer({ size: 8, usage: USAGE.copySrc });
        await expect(sampler.sample({ ...CALL, tokensTo: { buffer: readOnly } })).rejects.toThrow(/"tokensTo.buffer" expected usage STORAGE or COPY_DST/);
        await expect(sampler.sample({ ...CALL, tokensTo: { buffer: small, byteOffset: 2 } })).rejects.toThrow(/"tokensTo.byteOffset" expected a multiple of 4, got 2/);
      });

      test("destroyed, or of another device", async () => {
        const other = await openDevice();
        const foreign = (usage: number) => bufferOf(other, HIDDEN, usage);
        const gone = (usage: number) => {
          const buffer = bufferOf(device, HIDDEN, usage);
          buffer.destroy();
          return buffer;
        };
        const out = bufferOf(device, HIDDEN);
        for (const [make, fault] of [[foreign, 'a buffer of "device", got one of another device'], [gone, "a buffer in use, got one that was destroyed"]] as const) {
          const refusal = (argument: string) => ({ name: "GpuError", kind: "refused", message: `"${argument}.buffer" expected ${fault}`, cause: { kind: "refused" } });
          for (const usage of [USAGE.storage, USAGE.copySrc]) {
            await expect(sampler.sample({ ...CALL, hiddenStates: hidden(make(usage)) })).rejects.toMatchObject(refusal("hiddenStates"));
            await expect(createSampler({ weights: { buffer: make(usage), dtype: "f32", shape: [2, D] }, device })).rejects.toMatchObject(refusal("weights"));
          }
          for (const usage of [USAGE.storage, USAGE.copyDst]) {
            await expect(sampler.sample({ ...CALL, tokensTo: { buffer: make(usage) } })).rejects.toMatchObject(refusal("tokensTo"));
            await expect(sampler.sample({ ...CALL, hiddenStates: hidden(out), tokensTo: { buffer: make(usage) } })).rejects.toMatchObject(refusal("tokensTo"));
          }
          expect((await sampler.sample(CALL)).tokens).toEqual(tokens);
        }
        other.destroy();
      });

      test("on a sampler without their device", async () => {
        const plain = await createSampler({ weights: HEAD, backend: "reference" });
        await expect(plain.sample({ ...CALL, hiddenStates: hidden(bufferOf(device, HIDDEN)) })).rejects.toThrow(/"hiddenStates" expected a buffer only with a sampler that was created with its device/);
        await expect(plain.sample({ ...CALL, tokensTo: { buffer: bufferOf(device, HIDDEN) } })).rejects.toThrow(/"tokensTo" expected a buffer only/);
      });
    });

    test.each<[string, Record<string, unknown>, RegExp]>([
      ["hidden states of no format", { hiddenStates: { dtype: "int8", shape: [2, D] } }, /"hiddenStates.dtype" expected f32, f16 or bf16, got "int8"/],
      ["hidden states of another D", { hiddenStates: { dtype: "f32", shape: [2, D + 1] } }, /"hiddenStates.shape" expected \[B, 5\].*got \[2, 6\]/],
      ["no hidden state", { hiddenStates: { dtype: "f32", shape: [0, D] } }, /"hiddenStates.shape".*got \[0, 5\]/],
      ["a shape that is none", { hiddenStates: { dtype: "f32", shape: D } }, /"hiddenStates.shape" expected an array/],
      ["an odd offset", { hiddenStates: { dtype: "f32", shape: [2, D], byteOffset: 6 } }, /"hiddenStates.byteOffset" expected a multiple of 4, got 6/],
      ["no buffer", { hiddenStates: { buffer: 7, dtype: "f32", shape: [2, D] } }, /"hiddenStates.buffer" expected a GPUBuffer, got 7/],
      ["tokens and details", { tokensTo: {}, details: true }, /"details" expected false with tokensTo, got true/],
      ["tokens and errors for rows", { tokensTo: {}, onInvalid: "throw" }, /"onInvalid" expected "mark" with tokensTo, got "throw"/],
      ["tokens to nowhere", { tokensTo: 5 }, /"tokensTo" expected { buffer, byteOffset\? }, got 5/],
    ])("bad call: %s", async (_, bad, message) => {
      const buffer = bufferOf(device, HIDDEN);
      const call = Object.fromEntries(Object.entries(bad).map(([name, value]) => [name, typeof value === "object" ? { buffer, ...value } : value]));
      await expect(sampler.sample({ ...CALL, ...call } as never)).rejects.toThrow(message);
    });

    test.each<[string, Record<string, unknown>, RegExp]>([
      ["device a string", { device: "gpu" }, /"device" expected a GPUDevice, got "gpu"/],
      ["another backend", { backend: "wasm" }, /"backend" expected "webgpu" or "auto" with a device, got "wasm"/],
      ["a buffer without a device", { device: undefined, weights: { dtype: "f32", shape: [V, D] } }, /"device" expected the GPUDevice of "weights.buffer", got undefined/],
      ["a buffer and a tensor's name", { tensor: "x", weights: { dtype: "f32", shape: [V, D] } }, /"weights" expected a file together with tensor or scales/],
      ["weights of no dtype", { weights: { dtype: "f64", shape: [V, D] } }, /"weights.dtype" expected bf16, f16, f32 or int8, got "f64"/],
      ["weights of no shape", { weights: { dtype: "f32", shape: [0, D] } }, /"weights" expected shape \[V, D\]/],
      ["int8 without scales", { weights: { dtype: "int8", shape: [V, D] } }, /"weights.scales" expected a Float32Array for int8/],
      ["scales without int8", { weights: { dtype: "f32", shape: [V, D], scales: new Float32Array(V) } }, /"weights.scales" expected only with int8/],
    ])("bad sampler: %s", async (_, bad, message) => {
      const weights = "weights" in bad ? { buffer: bufferOf(device, HEAD.data), ...(bad["weights"] as object) } : HEAD;
      await expect(createSampler({ device, ...bad, weights } as SamplerOptions)).rejects.toThrow(message);
    });

    describe("no memory", () => {
      test("for a head or a call, and then again some", async () => {
        exhaustOnce(device);
        expect(await outcome(createSampler({ weights: HEAD, device }))).toMatchObject({ name: "GpuError", kind: "out-of-memory" });
        for (const call of [CALL, { ...CALL, hiddenStates: hidden(bufferOf(device, HIDDEN)) }]) {
          exhaustOnce(device);
          expect(await outcome(sampler.sample(call))).toMatchObject({ name: "GpuError", kind: "out-of-memory" });
          expect((await sampler.sample(call)).tokens).toEqual(tokens);
        }
      });
    });

    describe("no memory for one buffer of a large call: its neighbours are decided", () => {
      const small = Array.from({ length: 12 }, (_, seed) => ({ ...CALL, seed: BigInt(seed), numSamples: 1 + (seed % 5) }));
      let own: GPUDevice;
      let mine: Sampler;
      let expected: SampleResult[];
      beforeAll(async () => {
        own = await openDevice();
        mine = await createSampler({ weights: HEAD, device: own });
        const reference = await createSampler({ weights: HEAD, backend: "reference" });
        expected = await Promise.all(small.map((call) => reference.sample(call)));
      }, 60_000);
      // Kernels and buffers to read back are there then: nothing waits before it is submitted.
      beforeEach(async () => void (await Promise.all([fromMemory(), fromBuffers()])), 60_000);
      afterEach(() => void delete (own as Partial<GPUDevice>).createBuffer);
      afterAll(() => own.destroy());
      const onDevice = (rows: number): GpuHiddenStates => ({ buffer: bufferOf(own, new Float32Array(rows * D).fill(0.5)), dtype: "f32", shape: [rows, D] });
      const fromMemory = () => Promise.all(small.map((call) => mine.sample(call)));
      const fromBuffers = () => Promise.all(small.map((call) => mine.sample({ ...call, hiddenStates: onDevice(2) })));

      test.each<[string, () => Promise<SampleResult[]>]>([
        ...["input", "candidates", "draws", "decisions", "read back"].map((label) => [label, fromMemory] as [string, typeof fromMemory]),
        ["hidden states", fromBuffers],
        ["reports", fromBuffers],
        ["tokens", fromBuffers],
      ])("%s", async (label, decide) => {
        const besides: Promise<SampleResult[]>[] = [];
        const createBuffer = own.createBuffer.bind(own);
        const tokensTo = { buffer: own.createBuffer({ size: 4 * ROWS, usage: USAGE.copyDst }) };
        own.createBuffer = (descriptor) => {
          if (descriptor.label !== label || descriptor.size < LARGE) return createBuffer(descriptor);
          besides.push(Promise.resolve().then(decide)); // right after the call was submitted
          exhaustOnce(own);
          return createBuffer({ ...descriptor, size: 2 ** 40 });
        };
        const hiddenStates = label === "input" ? new Float32Array(ROWS * D) : onDevice(ROWS);
        const call = mine.sample({ ...CALL, hiddenStates, ...(label === "tokens" && { tokensTo }) });
        await expect(call).rejects.toMatchObject({ name: "GpuError", kind: "out-of-memory" });
        expect(await Promise.all(besides)).toEqual([expected]);
        expect(await decide()).toEqual(expected);
      });
    });

    describe("a sampler", () => {
      test("answers calls that overlap", async () => {
        const buffer = bufferOf(device, HIDDEN);
        const calls = Array.from({ length: 12 }, (_, index) => ({ ...CALL, seed: BigInt(index), numSamples: 1 + (index % 5) }));
        const reference = await createSampler({ weights: HEAD, backend: "reference" });
        const expected = await Promise.all(calls.map((call) => reference.sample(call)));
        const outs = calls.map(() => device.createBuffer({ size: 64, usage: USAGE.storage | USAGE.copySrc }));
        const [fromMemory, fromBuffer] = await Promise.all([
          Promise.all(calls.map((call) => sampler.sample(call))),
          Promise.all(calls.map((call) => sampler.sample({ ...call, hiddenStates: hidden(buffer) }))),
          Promise.all(calls.map((call, index) => sampler.sample({ ...call, hiddenStates: hidden(buffer), tokensTo: { buffer: outs[index]! } }))),
        ]);
        expect(fromMemory).toEqual(expected);
        expect(fromBuffer).toEqual(expected);
        for (const [index, out] of outs.entries()) expect((await wordsOf(device, out)).subarray(0, expected[index]!.tokens.length)).toEqual(expected[index]!.tokens);
      });

      test.each([4097, 5000, 9000])("draws %i samples of each row, which one sweep or several take", async (numSamples) => {
        const reference = await createSampler({ weights: HEAD, backend: "reference" });
        const call = { ...CALL, numSamples };
        const [expected, { tokens: drawn }] = await Promise.all([reference.sample(call), sampler.sample(call)]);
        expect(drawn).toEqual(expected.tokens);
        expect(new Set(drawn).size).toBe(V);
      });

      test("disposed of with calls under way", async () => {
        const brief = await createSampler({ weights: HEAD, device });
        const pending = [brief.sample(CALL), brief.sample({ ...CALL, hiddenStates: hidden(bufferOf(device, HIDDEN)) })].map(outcome);
        brief.dispose();
        brief.dispose();
        for (const ended of await Promise.all(pending)) {
          if (ended !== "done") expect(ended).toMatchObject({ message: expect.stringContaining('"sampler" expected to be in use') });
        }
        await expect(brief.sample(CALL)).rejects.toThrow('"sampler" expected to be in use, got one that was disposed');
      });

      test("leaves no buffer behind, 200 times", async () => {
        const alive = countBuffers(device);
        const [weights, given] = [bufferOf(device, HEAD.data), bufferOf(device, HIDDEN)];
        const out = device.createBuffer({ size: 64, usage: USAGE.storage });
        const numberless = { ...HEAD, data: new Float32Array(V * D).fill(NaN) } as HeadArray;
        const sizes: number[] = [];
        for (let round = 0; round < 200; round++) {
          const brief = await createSampler({ weights: round % 2 ? HEAD : { buffer: weights, dtype: "f32", shape: [V, D] }, device });
          await brief.sample({ ...CALL, hiddenStates: hidden(given) });
          if (round % 10 < 2) {
            await Promise.all([brief.sample(CALL), brief.sample({ ...CALL, tokensTo: { buffer: out } }), brief.sampleLogits({ logits: new Float32Array(V), seed: 1n })]);
            await createSampler({ weights: numberless, device }).catch(() => {});
          }
          brief.dispose();
          sizes.push(alive.size);
        }
        delete (device as Partial<GPUDevice>).createBuffer;
        expect(sizes[199]).toBeLessThanOrEqual(sizes[3]!);
        expect(sizes[199]).toBeLessThan(20);
      });

      test("of one number and one token", async () => {
        const weights: HeadArray = { data: Float32Array.of(1), dtype: "f32", shape: [1, 1] };
        const tiny = await createSampler({ weights, device });
        const call = { hiddenStates: Float32Array.of(2), seed: 1n, details: true } as const;
        expect(await tiny.sample(call)).toEqual(await (await createSampler({ weights, backend: "reference" })).sample(call));
      });
    });

    // Last: it destroys the device of the tests above.
    test("a device that is lost with calls under way, and after them", async () => {
      const doomed = await createSampler({ weights: HEAD, device });
      const buffer = bufferOf(device, HIDDEN);
      const out = device.createBuffer({ size: 64, usage: USAGE.storage });
      const call = () => [
        doomed.sample(CALL),
        doomed.sample({ ...CALL, hiddenStates: hidden(buffer) }),
        doomed.sample({ ...CALL, tokensTo: { buffer: out } }),
        doomed.sampleLogits({ logits: new Float32Array(V), seed: 1n }),
      ];
      await Promise.all(call()); // all kernels are there
      const pending = [...call(), ...call()].map(outcome);
      await new Promise((resolve) => setTimeout(resolve));
      const more = call().map(outcome);
      device.destroy();
      for (const ended of await Promise.all([...pending, ...more])) {
        if (ended !== "done") expect(ended).toMatchObject(LOST);
      }
      for (const ended of await Promise.all(call().map(outcome))) expect(ended).toMatchObject(LOST);
      doomed.dispose();
      doomed.dispose();
    });
  });
});
