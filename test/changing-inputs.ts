/** Inputs that change while a call is under way, or from one look to the next: a call goes by what it was given. */
import vm from "node:vm";
import { expect, it } from "vitest";
import { createSampler, sampleLogits, type BackendName, type SampleOptions } from "../src/index.js";
import { GOOD_CALL, GOOD_HEAD } from "./bad-inputs.js";

/** Younger than the language level of the types here. */
const ResizableBuffer = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer & { resize(bytes: number): void };

export function changingInputs(backend: BackendName): void {
  it("when logits are overwritten at once", async () => {
    const sampler = await createSampler({ weights: GOOD_HEAD, backend });
    for (const sample of [sampler.sampleLogits.bind(sampler), (options: any) => sampleLogits({ ...options, backend })]) {
      const logits = Float32Array.of(0, 0, 0, 0, 500);
      const options = { logits, seed: 1n as unknown, details: true };
      const drawing = sample(options as never);
      logits.set([500, 0, NaN, 0, 0]);
      options.seed = "x";
      options.details = false;
      const { tokens, details } = await drawing;
      expect([tokens[0], details?.[0]?.token]).toEqual([4, 4]);
    }
  });

  it("when a buffer is transferred or shrunk at once", async () => {
    const buffer = new ResizableBuffer(20, { maxByteLength: 20 });
    const logits = new Float32Array(buffer);
    logits[3] = 500;
    const drawing = sampleLogits({ logits, seed: 1n, backend });
    buffer.resize(0);
    expect((await drawing).tokens).toEqual(Int32Array.of(3));
  });

  it("when hidden states are overwritten at once", async () => {
    const sampler = await createSampler({ weights: GOOD_HEAD, backend });
    const expected = await sampler.sample({ ...GOOD_CALL, details: true });
    const hiddenStates = GOOD_CALL.hiddenStates.slice();
    const options = { ...GOOD_CALL, hiddenStates, details: true };
    const drawing = sampler.sample(options);
    hiddenStates.fill(NaN);
    options.details = false;
    expect(await drawing).toEqual(expected);
  });

  it("when a value would be another at the second look", async () => {
    const sampler = await createSampler({ weights: GOOD_HEAD, backend });
    for (const [name, first, second] of [["temperature", 1, NaN], ["position", 3, "zz"], ["sequence", 3, -1]] as const) {
      let looks = 0;
      const changing: unknown[] = [first, first];
      Object.defineProperty(changing, 0, { get: () => (looks++ === 0 ? first : second) });
      const drawn = await sampler.sample({ ...GOOD_CALL, [name]: changing, details: true } as SampleOptions);
      expect(drawn, name).toEqual(await sampler.sample({ ...GOOD_CALL, [name]: [first, first], details: true }));
    }
  });

  it("when an array claims another length", async () => {
    const sampler = await createSampler({ weights: GOOD_HEAD, backend });
    const hiddenStates = Object.defineProperty(GOOD_CALL.hiddenStates.slice(), "length", { value: 3e9 });
    expect(await sampler.sample({ ...GOOD_CALL, hiddenStates })).toEqual(await sampler.sample(GOOD_CALL));
  });

  it("when scales are overwritten after the load", async () => {
    const scales = new Float32Array(5).fill(0.5);
    const weights = { data: Int8Array.from({ length: 15 }, (_, i) => i), dtype: "int8", shape: [5, 3], scales } as const;
    const sampler = await createSampler({ weights, backend });
    const before = await sampler.sample({ ...GOOD_CALL, details: true });
    scales.fill(1e9);
    expect(await sampler.sample({ ...GOOD_CALL, details: true })).toEqual(before);
  });

  it("when weights shrink while they are loaded: an error, not zeros", async () => {
    const buffer = new ResizableBuffer(64 << 20, { maxByteLength: 64 << 20 });
    const weights = { data: new Uint16Array(buffer), dtype: "bf16", shape: [1 << 15, 1 << 10] } as const;
    const onProgress = () => buffer.resize(0);
    await expect(createSampler({ weights, backend, onProgress })).rejects.toThrow(/"weights.data" expected to stay as it was/);
  });

  it("when arrays come from another realm", async () => {
    const context = vm.createContext({});
    const [data, hiddenStates, seed] = vm.runInContext(
      "[new Uint16Array(15).fill(0x3f80), new Float32Array(6).fill(0.5), BigUint64Array.of(1n, 1n)]",
      context,
    ) as [Uint16Array, Float32Array, BigUint64Array];
    const sampler = await createSampler({ weights: { data, dtype: "bf16", shape: [5, 3] }, backend });
    const here = await createSampler({ weights: GOOD_HEAD, backend });
    const options = { details: true, sequence: [0, 1] };
    const { details } = await sampler.sample({ hiddenStates, seed, ...options });
    expect(details).toEqual((await here.sample({ ...GOOD_CALL, ...options })).details);
  });
}
