/** The table of bad inputs over the API and every backend. Errors come before any work and leave the sampler usable. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BACKENDS, createSampler, sampleLogits, type Sampler, type SampleOptions, type SamplerOptions } from "../src/index.js";
import { BAD_HEADS, BAD_SAMPLES, GOOD_CALL, GOOD_HEAD, type BadInput } from "./bad-inputs.js";
import { unavailable } from "./require.js";

async function expectError(attempt: Promise<unknown>, { error, message }: BadInput): Promise<void> {
  const caught = await attempt.then(
    () => "no error",
    (reason: Error) => reason,
  );
  expect(caught).toBeInstanceOf(Error);
  expect(`${(caught as Error).name}: ${(caught as Error).message}`).toMatch(new RegExp(`^${error}: .*${message.source}`));
}

describe.each(BACKENDS.map(({ name }) => name))("%s", async (backend) => {
  const entry = BACKENDS.find(({ name }) => name === backend)!;
  describe.skipIf(unavailable(backend, await entry.probe()))("refuses", () => {
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
  });
});

describe("sampleLogits refuses", () => {
  it.each([undefined, null, 5, "logits"])("options %s", async (options) => {
    await expect(sampleLogits(options as never)).rejects.toThrow(/^"options" expected an object with logits, got/);
  });

  it("more rows than one call takes", async () => {
    await expect(sampleLogits({ logits: new Float32Array(2 ** 22 + 1), vocabSize: 1, backend: "reference" })).rejects.toThrow(/"rows" expected at most 4194304/);
  });

  it.each([0, -5, 2.5, 2 ** 31, NaN])("vocabSize %s", async (vocabSize) => {
    await expect(sampleLogits({ logits: new Float32Array(5), vocabSize, backend: "reference" })).rejects.toThrow(/"vocabSize" expected an integer in/);
  });
});
