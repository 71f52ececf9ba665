/** Hidden states and tokens in memory of callers on the CUDA device: the same bits as from memory. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, PointerBatch } from "../src/backend.js";
import { createReferenceBackend } from "../src/backends/reference.js";
import { BACKENDS, createSampler, type HeadArray, type SampleOptions } from "../src/index.js";
import { createSamplerOn } from "../src/sampler.js";
import { CudaMemory } from "./cuda-memory.js";
import { POINTER_CHECKS } from "./cuda-pointers.js";
import { unavailable } from "./require.js";

const HEAD: HeadArray = { data: Uint16Array.of(0x3f80, 0x4000), dtype: "bf16", shape: [2, 1] };
const HIDDEN = { pointer: 64n, dtype: "f16", shape: [3, 1] } as const;

describe.skipIf(unavailable("cuda", await BACKENDS.find(({ name }) => name === "cuda")!.probe()))("cuda", () => {
  let memory: CudaMemory;
  beforeAll(() => {
    memory = new CudaMemory();
  });
  test.each(POINTER_CHECKS)("$name", ({ run }) => run(memory));
});

describe("pointers elsewhere than on cuda", () => {
  const calls: readonly (readonly [string, object])[] = [
    ["hiddenStates.pointer", { hiddenStates: HIDDEN }],
    ["tokensTo.pointer", { hiddenStates: Float32Array.of(1), tokensTo: { pointer: 64n } }],
    ["stream", { hiddenStates: Float32Array.of(1), stream: 0n }],
  ];
  test.each(calls)("%s", async (name, options) => {
    const sampler = await createSampler({ weights: HEAD, backend: "reference" });
    const error = await sampler.sample(options as SampleOptions).catch((reason: Error) => reason);
    expect(error).toMatchObject({ name: "RangeError", message: `"${name}" expected a sampler on the backend cuda, got one on reference` });
  });
});

describe("what a backend with pointers is given", () => {
  const batches: PointerBatch[] = [];
  const reference = createReferenceBackend();
  /** The reference, but for batches with pointers, which it keeps. */
  const backend: Backend = {
    name: "cuda",
    createHead: async (shape, scales) => {
      const sink = await reference.createHead(shape, scales);
      const finish = async () => {
        const head = await sink.finish();
        const sampleAtPointers = async (batch: PointerBatch) => (batches.push(batch), { candidates: null, invalidRow: [] });
        return { sample: head.sample.bind(head), sampleAtPointers, dispose: () => head.dispose() };
      };
      return { reserve: sink.reserve.bind(sink), commit: sink.commit.bind(sink), finish, abort: () => sink.abort() };
    },
    sampleLogits: (batch) => reference.sampleLogits(batch),
    dispose: () => {},
  };
  const sampler = createSamplerOn(async () => backend, { weights: HEAD });
  afterAll(async () => (await sampler).dispose());

  test("hidden states at a pointer", async () => {
    const result = await (await sampler).sample({ hiddenStates: HIDDEN, tokensTo: { pointer: 128n }, stream: 0n, seed: 4n, numSamples: 2 });
    expect(result).toEqual({ seed: 4n });
    expect(batches.at(-1)).toMatchObject({ hiddenStates: { pointer: 64n, dtype: "f16" }, tokensTo: { pointer: 128n }, stream: 0n, largestMagnitude: 2 });
  });

  test("rows from memory, rounded, and which of them were refused", async () => {
    await (await sampler).sample({ hiddenStates: Float32Array.of(1 + 2 ** -9, NaN), tokensTo: { pointer: 128n } });
    expect(batches.at(-1)).toMatchObject({ hiddenStates: { values: Float32Array.of(1, 0), isRefused: [false, true] }, stream: null });
  });

  const refusals: readonly (readonly [object, RegExp])[] = [
    [{ hiddenStates: { ...HIDDEN, pointer: 64 } }, /"hiddenStates.pointer" expected a bigint, got 64/],
    [{ hiddenStates: { ...HIDDEN, pointer: -2n } }, /"hiddenStates.pointer" expected an address in \(0, 2\^64\) that is a multiple of 2, got -2n/],
    [{ hiddenStates: { ...HIDDEN, pointer: 3n } }, /"hiddenStates.pointer" expected an address .*, got 3n/],
    [{ hiddenStates: { ...HIDDEN, pointer: 1n << 64n } }, /"hiddenStates.pointer" expected an address/],
    [{ hiddenStates: { ...HIDDEN, dtype: "int8" } }, /"hiddenStates.dtype" expected f32, f16 or bf16, got "int8"/],
    [{ hiddenStates: { ...HIDDEN, shape: [3, 2] } }, /"hiddenStates.shape" expected \[B, 1\]/],
    [{ hiddenStates: HIDDEN, tokensTo: { pointer: 66n } }, /"tokensTo.pointer" expected an address .* multiple of 4, got 66n/],
    [{ hiddenStates: HIDDEN, tokensTo: 5 }, /"tokensTo" expected { pointer }, got 5/],
    [{ hiddenStates: HIDDEN, tokensTo: { pointer: 64n }, details: true }, /"details" expected false with tokensTo, got true/],
    [{ hiddenStates: HIDDEN, tokensTo: { pointer: 64n }, onInvalid: "throw" }, /"onInvalid" expected "mark" with tokensTo, got "throw"/],
    [{ hiddenStates: HIDDEN, stream: 5 }, /"stream" expected a bigint, got 5/],
    [{ hiddenStates: HIDDEN, stream: -1n }, /"stream" expected a CUstream \(0n, 1n, 2n or an address in \[2\^16, 2\^57\)\), got -1n/],
    [{ hiddenStates: HIDDEN, stream: 3n }, /"stream" expected a CUstream .*, got 3n/],
    [{ hiddenStates: HIDDEN, stream: 4096n }, /"stream" expected a CUstream .*, got 4096n/],
    [{ hiddenStates: HIDDEN, stream: 1n << 63n }, /"stream" expected a CUstream/],
    [{ hiddenStates: Float32Array.of(1), stream: 0n }, /"stream" expected hidden states or tokens at a pointer, got neither/],
    [{ hiddenStates: { buffer: {}, dtype: "f32", shape: [1, 1] } }, /"hiddenStates" expected a buffer only with a sampler that was created with its device/],
  ];
  test.each(refusals)("refuses %o", async (options, message) => {
    const before = batches.length;
    await expect((await sampler).sample(options as SampleOptions)).rejects.toThrow(message);
    expect(batches.length).toBe(before);
  });
});
