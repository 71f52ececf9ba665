/** The table of bad inputs over the API, on any backend. Errors come before any work and leave the sampler usable. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSampler, type BackendName, type Sampler, type SampleOptions, type SamplerOptions } from "../src/index.js";
import { BAD_HEADS, BAD_SAMPLES, GOOD_CALL, GOOD_HEAD, type BadInput } from "./bad-inputs.js";

async function expectError(attempt: Promise<unknown>, { error, message }: BadInput): Promise<void> {
  const caught = await attempt.then(
    () => "no error",
    (reason: Error) => reason,
  );
  expect(caught).toBeInstanceOf(Error);
  expect(`${(caught as Error).name}: ${(caught as Error).message}`).toMatch(new RegExp(`^${error}: .*${message.source}`));
}

export function refusals(backend: BackendName): void {
  let sampler: Sampler;
  let expected: Int32Array;
  beforeAll(async () => {
    sampler = await createSampler({ weights: GOOD_HEAD, backend } as SamplerOptions);
    expected = (await sampler.sample(GOOD_CALL)).tokens;
  });
  afterAll(() => sampler.dispose());

  it.each(BAD_SAMPLES)("$name", async (bad) => {
    await expectError(sampler.sample({ ...GOOD_CALL, ...bad.call } as SampleOptions), bad);
    expect((await sampler.sample(GOOD_CALL)).tokens).toEqual(expected);
  });

  it.each(BAD_HEADS)("a head with $name", async (bad) => {
    await expectError(createSampler({ backend, ...bad.options } as unknown as SamplerOptions), bad);
  });

  it("a call after dispose", async () => {
    const disposed = await createSampler({ weights: GOOD_HEAD, backend } as SamplerOptions);
    disposed.dispose();
    disposed.dispose();
    await expect(disposed.sample(GOOD_CALL)).rejects.toThrow(/"sampler" expected to be in use, got one that was disposed/);
  });

  it("logits whose rows do not fit the head", async () => {
    await expect(sampler.sampleLogits({ logits: new Float32Array(6), seed: 1n })).rejects.toThrow(/"logits" expected a positive multiple of V = 5/);
  });

  it("nothing of a call's neighbours when told to mark", async () => {
    const hiddenStates = Float32Array.of(0.5, 0.5, 0.5, NaN, 0, 0, 0.5, 0.5, 0.5);
    const { tokens, details } = await sampler.sample({ hiddenStates, seed: 1n, sequence: [0, 1, 0], onInvalid: "mark", details: true });
    expect(tokens[1]).toBe(-1);
    expect(details![1]).toEqual({ token: -1, scoreBits: null, score: null, runnerUp: -1, margin: null, status: "invalid" });
    expect(details![0]).toEqual(details![2]);
    expect(tokens[0]).toBe(expected[0]);
  });
}
