/** Weights, hidden states and tokens in the buffers of a caller's device: the same bits as from memory. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSampler, type Dtype, type FloatDtype, type GpuHead, type HeadArray, type SampleOptions, type Sampler } from "../src/index.js";
import { prepareHiddenStates } from "../src/hidden.js";
import { widen } from "../src/matrix.js";
import { bitsFromF32, f32FromBits } from "../src/spec/float.js";
import type { WeightData } from "../src/spec/logit.js";
import { adversarial, asFormat, FLOATS } from "./hidden-inputs.js";
import { DTYPES, Inputs, makeWeights } from "./problems.js";
import { unavailable } from "./require.js";
import { arrangeInMemory, arrangeOnDevice, bufferOf, deviceObstacle, openDevice, prepareOnDevice, USAGE, wordsOf } from "./webgpu-device.js";

const CALL = { seed: 77n, sequence: 5, position: 3, details: true, onInvalid: "mark" } as const;

const inMemory = (data: Float32Array | Uint16Array, dtype: FloatDtype) => ({ data, dtype }) as Exclude<SampleOptions["hiddenStates"], { buffer: object }>;

describe("webgpu", async () => {
  describe.skipIf(unavailable("webgpu", await deviceObstacle()))("on the caller's device", () => {
    let device: GPUDevice;
    beforeAll(async () => {
      device = await openDevice();
    }, 60_000);
    afterAll(() => device.destroy());

    const reference = (weights: HeadArray) => createSampler({ weights, backend: "reference" });
    const samplers = async (weights: HeadArray): Promise<[Sampler, Sampler]> => [await reference(weights), await createSampler({ weights, device })];

    // The kernel's own output, bit for bit: scores would not show all of it. D = 93 is not a multiple of a workgroup.
    describe.each(FLOATS)("hidden states in %s are prepared as in memory", (format) => {
      const data = adversarial(format);
      const given = widen({ data, dtype: format });
      test.each(DTYPES)("for a head of %s", async (dtype) => {
        const largest = 2 ** 63;
        const compare = async (rowsOf: typeof data, hiddenSize: number): Promise<void> => {
          const rows = rowsOf.length / hiddenSize;
          const shape = { dtype, vocabSize: 1, hiddenSize, groupSize: 0 };
          const expected = prepareHiddenStates(widen({ data: rowsOf, dtype: format }), shape, largest);
          const { values, problems } = await prepareOnDevice(device, { buffer: bufferOf(device, rowsOf), byteOffset: 0, dtype: format }, shape, rows, largest);
          const wrong = Array.from(new Uint32Array(expected.values.buffer)).flatMap((word, at) =>
            word === values[at] ? [] : [`${widen({ data: rowsOf.subarray(at, at + 1) as never, dtype: format })[0]} gives ${values[at]!.toString(16)}, not ${word.toString(16)}`],
          );
          expect(wrong.slice(0, 5)).toEqual([]);
          expect(problems).toEqual(expected.invalidRow);
        };
        // A value that makes its row invalid hides what its neighbours become: each has a row of its own.
        const { invalidRow } = prepareHiddenStates(given, { dtype, hiddenSize: 1 }, largest);
        const good = data.filter((_, at) => invalidRow[at] === null);
        const bad = data.filter((_, at) => invalidRow[at] !== null);
        expect(Math.min(good.length, bad.length)).toBeGreaterThan(20);
        await compare(good.subarray(good.length % 93), 93);
        await compare(good.subarray(0, 93), 93);
        await compare(bad.filter((_, at) => at % Math.ceil(bad.length / 300) === 0), 1);
      });
    });

    describe("refused rows", () => {
      const shape = [4, 3] as const;
      const weights: HeadArray = { data: new Uint16Array(12).fill(0x4c80), dtype: "bf16", shape }; // 2^26
      const good = [7, 8, 9];
      test.each([
        [[4, NaN, Infinity], "NaN at row 1, column 1"],
        [[-Infinity, 1, NaN], "-Infinity at row 1, column 0"],
        [[1, 2, 3.4e38], `${Math.fround(3.4e38)} at row 1, column 2`],
        [[2 ** 99, -(2 ** 100), 2 ** 100], `${-(2 ** 100)} at row 1, column 1`],
      ])("are named as from memory: %s", async (bad, place) => {
        const sampler = await createSampler({ weights, device });
        const data = Float32Array.from([...good, ...bad, ...good, NaN, NaN, NaN, ...good]);
        const hiddenStates = { buffer: bufferOf(device, data), dtype: "f32", shape: [5, 3] } as const;
        const error = await sampler.sample({ hiddenStates: data, seed: 1n }).catch((reason: Error) => reason);
        expect(error).toMatchObject({ name: "InvalidRowError", row: 1, message: expect.stringContaining(`got ${place}`) });
        const found = await sampler.sample({ hiddenStates, seed: 1n }).catch((reason: Error) => reason);
        expect(found).toMatchObject({ name: "InvalidRowError", row: 1, message: (error as Error).message });
        const marked = await sampler.sample({ hiddenStates: data, numSamples: 2, ...CALL });
        expect([...marked.tokens].map((token) => token < 0)).toEqual([false, false, true, true, false, false, true, true, false, false]);
        expect(await sampler.sample({ hiddenStates, numSamples: 2, ...CALL })).toEqual(marked);
      });
    });

    describe.each([
      { name: "STORAGE", usage: USAGE.storage },
      { name: "COPY_SRC", usage: USAGE.copySrc },
    ])("buffers of usage $name", ({ usage }) => {
      test.each(FLOATS)("hold hidden states in %s at an offset", async (format) => {
        const inputs = new Inputs(9);
        const [rows, hiddenSize, vocabSize] = [5, 37, 70];
        const weights = { data: makeWeights(inputs, "bf16", vocabSize, hiddenSize), dtype: "bf16", shape: [vocabSize, hiddenSize] } as HeadArray;
        const data = asFormat(format, Float32Array.from({ length: rows * hiddenSize }, () => inputs.normal()));
        const [expected, sampler] = await samplers(weights);
        const wanted = await expected.sample({ hiddenStates: inMemory(data, format), numSamples: 3, ...CALL });
        for (const byteOffset of [0, data.BYTES_PER_ELEMENT, 256 + 6 * data.BYTES_PER_ELEMENT]) {
          const buffer = bufferOf(device, data, usage, byteOffset);
          expect(await sampler.sample({ hiddenStates: { buffer, dtype: format, shape: [rows, hiddenSize], byteOffset }, numSamples: 3, ...CALL })).toEqual(wanted);
        }
      });

      test("take tokens", async () => {
        const inputs = new Inputs(10);
        const weights = { data: makeWeights(inputs, "bf16", 50, 40), dtype: "bf16", shape: [50, 40] } as HeadArray;
        const hidden = Float32Array.from({ length: 9 * 40 }, () => inputs.normal());
        hidden[45] = NaN;
        hidden[8 * 40] = 3.4e38;
        const [expected, sampler] = await samplers(weights);
        const call = { seed: 3n, numSamples: 2 };
        const { tokens } = await expected.sample({ hiddenStates: hidden, onInvalid: "mark", ...call });
        expect(tokens.filter((token) => token === -1).length).toBe(4);
        const buffer = bufferOf(device, hidden);
        const outUsage = usage === USAGE.storage ? USAGE.storage | USAGE.copySrc : USAGE.copyDst | USAGE.copySrc;
        for (const hiddenStates of [hidden, { buffer, dtype: "f32", shape: [9, 40] } as const]) {
          const out = device.createBuffer({ size: 4 * (tokens.length + 8), usage: outUsage });
          expect(await sampler.sample({ hiddenStates, tokensTo: { buffer: out, byteOffset: 12 }, ...call })).toEqual({ seed: 3n });
          const words = await wordsOf(device, out);
          expect(words.subarray(3, 3 + tokens.length)).toEqual(tokens);
          expect([...words.subarray(0, 3), ...words.subarray(3 + tokens.length)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
        }
      });
    });

    describe("weights in a buffer", () => {
      const HEADS: readonly [Dtype, number, number, number?][] = [
        ["bf16", 67, 1], ["bf16", 5, 131], ["f16", 33, 97], ["f16", 1, 1], ["f32", 66, 35], ["f32", 1, 1],
        ["int8", 9, 41], ["int8", 1, 1], ["int8", 21, 96, 32], ["int8", 10, 512, 128],
      ];
      test.each(HEADS)("of %s [%i, %i] lie as from memory", async (dtype, vocabSize, hiddenSize, groupSize = hiddenSize) => {
        const data = makeWeights(new Inputs(vocabSize * 1000 + hiddenSize), dtype, vocabSize, hiddenSize);
        plantTiny(dtype, data);
        const shape = { dtype, vocabSize, hiddenSize, groupSize: dtype === "int8" ? groupSize : 0 };
        const expected = arrangeInMemory(shape, data);
        for (const [usage, values] of [[USAGE.storage, 0], [USAGE.copySrc, 0], [USAGE.storage, 3], [USAGE.copySrc, 301]] as const) {
          const byteOffset = values * data.BYTES_PER_ELEMENT;
          expect(await arrangeOnDevice(device, { buffer: bufferOf(device, data, usage, byteOffset), byteOffset }, shape)).toEqual(expected);
        }
      });

      test.each([["bf16", undefined], ["int8", 32]] as const)("of %s give the same decisions", async (dtype, groupSize) => {
        const [vocabSize, hiddenSize] = [67, 96];
        const inputs = new Inputs(11);
        const data = makeWeights(inputs, dtype, vocabSize, hiddenSize);
        const scales = Float32Array.from({ length: groupSize === undefined ? 0 : (vocabSize * hiddenSize) / groupSize }, () => (1 + inputs.below(1000)) / 4096);
        const kind = { dtype, shape: [vocabSize, hiddenSize], ...(dtype === "int8" && { scales }) } as const;
        const hiddenStates = Float32Array.from({ length: 3 * hiddenSize }, () => inputs.normal() * 8);
        const wanted = await (await reference({ data, ...kind } as HeadArray)).sample({ hiddenStates, numSamples: 2, ...CALL });
        const buffer = bufferOf(device, data);
        const sampler = await createSampler({ weights: { buffer, ...kind } as GpuHead, device });
        buffer.destroy();
        expect(sampler).toMatchObject({ backend: "webgpu", dtype, vocabSize, hiddenSize, headDigest: null });
        expect(await sampler.sample({ hiddenStates, numSamples: 2, ...CALL })).toEqual(wanted);
        const hidden = { buffer: bufferOf(device, hiddenStates), dtype: "f32", shape: [3, hiddenSize] } as const;
        expect(await sampler.sample({ hiddenStates: hidden, numSamples: 2, ...CALL })).toEqual(wanted);
      });

      test.each(["bf16", "f16", "f32"] as const)("of %s that are not finite are named as in memory", async (dtype) => {
        const clean = asFormat(dtype, new Float32Array(6 * 50).fill(0.5));
        for (const [bad, value] of [[[299, 120], NaN], [[140, 170], -Infinity]] as const) {
          const data = clean.slice();
          for (const at of bad) data[at] = asFormat(dtype, Float32Array.of(value))[0]!;
          const error = await reference({ data, dtype, shape: [6, 50] } as HeadArray).catch((reason: Error) => reason);
          expect(error).toMatchObject({ message: expect.stringContaining(`got ${value} at row 2, column ${Math.min(...bad) - 100}`) });
          await expect(createSampler({ weights: { buffer: bufferOf(device, data), dtype, shape: [6, 50] }, device })).rejects.toEqual(error);
        }
      });

      test("give the range rule their largest magnitude", async () => {
        const data = new Uint16Array(40).fill(0x3f80);
        data[33] = 0xf180; // -2^100
        const sampler = await createSampler({ weights: { buffer: bufferOf(device, data), dtype: "bf16", shape: [20, 2] }, device });
        const expected = await reference({ data, dtype: "bf16", shape: [20, 2] });
        for (const size of [2 ** 23, 2 ** 24, 2 ** 25, 2 ** 26]) {
          const call = { hiddenStates: Float32Array.of(1, 1, size, 1, 1, 1), ...CALL };
          expect(await sampler.sample(call), `${size}`).toEqual(await expected.sample(call));
        }
      });

      test("report progress, and an abort ends the copying", async () => {
        const buffer = bufferOf(device, new Uint16Array(20).fill(0x3f80));
        const weights: GpuHead = { buffer, dtype: "bf16", shape: [10, 2] };
        const seen: object[] = [];
        (await createSampler({ weights, device, onProgress: (progress) => seen.push(progress) })).dispose();
        expect(seen).toEqual([{ bytes: 40, totalBytes: 40 }]);
        const abort = new AbortController();
        const loading = createSampler({ weights, device, signal: abort.signal });
        abort.abort(new Error("enough"));
        await expect(loading).rejects.toThrow("enough");
      });
    });

    test("a sampler of a device draws from logits too", async () => {
      const [expected, sampler] = await samplers({ data: new Uint16Array(3), dtype: "bf16", shape: [3, 1] });
      const logits = Float32Array.of(-1, 2, 1, -Infinity, -Infinity, -Infinity);
      expect(await sampler.sampleLogits({ logits, ...CALL })).toEqual(await expected.sampleLogits({ logits, ...CALL }));
    });

    test("1,024 rows", async () => {
      const inputs = new Inputs(4);
      const weights = { data: makeWeights(inputs, "bf16", 7, 3), dtype: "bf16", shape: [7, 3] } as HeadArray;
      const [expected, sampler] = await samplers(weights);
      const hiddenStates = Float32Array.from({ length: 1024 * 3 }, () => inputs.normal());
      const wanted = await expected.sample({ hiddenStates, ...CALL });
      expect(await sampler.sample({ hiddenStates: { buffer: bufferOf(device, hiddenStates), dtype: "f32", shape: [1024, 3] }, ...CALL })).toEqual(wanted);
    });
  });

  describe.skipIf(unavailable("webgpu", await deviceObstacle()))("on a device of small limits", () => {
    // Pieces, parts and grids as a large head on a small device has them, told of a small head. One device: it compiles once.
    const limits = { maxStorageBufferBindingSize: 0, maxBufferSize: 1 << 20, maxComputeWorkgroupsPerDimension: 7 };
    let device: GPUDevice;
    beforeAll(async () => {
      device = await openDevice(limits);
    }, 60_000);
    afterAll(() => device.destroy());

    test.each([
      { name: "pieces of a few tokens, grids seven wide", bindingBytes: 12_000, vocabSize: 150, numSamples: 5 },
      { name: "pieces of a thousand tokens, grids seven wide", bindingBytes: 300_000, vocabSize: 1200, numSamples: 4 },
    ])("$name", async ({ bindingBytes, vocabSize, numSamples }) => {
      limits.maxStorageBufferBindingSize = bindingBytes;
      const inputs = new Inputs(5);
      const [hiddenSize, rows] = [35, 8];
      const data = makeWeights(inputs, "bf16", vocabSize, hiddenSize) as Uint16Array;
      const hiddenStates = Float32Array.from({ length: rows * hiddenSize }, () => inputs.normal());
      const shape = [vocabSize, hiddenSize] as const;
      const call = { numSamples, ...CALL };
      const wanted = await (await createSampler({ weights: { data, dtype: "bf16", shape }, backend: "reference" })).sample({ hiddenStates, ...call });
      const fromMemory = await createSampler({ weights: { data, dtype: "bf16", shape }, device });
      expect(await fromMemory.sample({ hiddenStates, ...call })).toEqual(wanted);
      const onDevice = await createSampler({ weights: { buffer: bufferOf(device, data), dtype: "bf16", shape }, device });
      const hidden = { buffer: bufferOf(device, hiddenStates), dtype: "f32", shape: [rows, hiddenSize] } as const;
      expect(await onDevice.sample({ hiddenStates: hidden, ...call })).toEqual(wanted);
      const out = device.createBuffer({ size: 4 * rows * numSamples, usage: USAGE.storage | USAGE.copySrc });
      const { details: _, onInvalid: __, ...submit } = call;
      await onDevice.sample({ hiddenStates: hidden, tokensTo: { buffer: out }, ...submit });
      expect(await wordsOf(device, out)).toEqual(wanted.tokens);
    });
  });
});

/** Numbers that CANON reads as 0, those that it just keeps, and -0. */
function plantTiny(dtype: Dtype, data: WeightData): void {
  const plants = { bf16: [0x8000, 0x237f, 0x2380, 0xa37f], f16: [0x8000, 1, 0x83ff], f32: [-0, 2 ** -40, f32FromBits(bitsFromF32(2 ** -40) - 1), 1e-45], int8: [-128, 127] }[dtype];
  if (data.length > 2 * plants.length) data.set(plants, data.length - plants.length);
}
