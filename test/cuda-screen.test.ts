/** Rows whose tokens all score the same, and what is screened beside them: on the CUDA device as by the rule. */
import { describe, expect, test } from "vitest";
import { BACKENDS, createSampler, type BackendName, type DetailedResult, type HeadArray } from "../src/index.js";
import { Inputs, makeWeights } from "./problems.js";
import { unavailable } from "./require.js";

const HIDDEN_SIZE = 40;
/** Every third row is zero and every fifth is refused. */
const isZero = (row: number): boolean => row % 3 === 1;
const isRefused = (row: number): boolean => row % 5 === 2;

function hiddenRows(rows: number): Float32Array {
  const inputs = new Inputs(rows);
  const values = Float32Array.from({ length: rows * HIDDEN_SIZE }, (_, at) => (isZero(Math.floor(at / HIDDEN_SIZE)) ? 0 : inputs.normal()));
  for (let row = 0; row < rows; row++) if (isRefused(row)) values[row * HIDDEN_SIZE + 7] = NaN;
  return values;
}

async function sampleOn(backend: BackendName, weights: HeadArray, rows: number, temperature: number): Promise<DetailedResult> {
  const sampler = await createSampler({ weights, backend });
  const result = await sampler.sample({ hiddenStates: hiddenRows(rows), temperature, seed: 21n, onInvalid: "mark", details: true });
  sampler.dispose();
  return result;
}

describe.skipIf(unavailable("cuda", await BACKENDS.find(({ name }) => name === "cuda")!.probe()))("zero rows on cuda", () => {
  const heads = (["bf16", "f16"] as const).flatMap((dtype) => [1, 2, 1000].map((vocabSize) => [dtype, vocabSize] as const));
  // Rows for each of the screening kernels.
  describe.each(heads)("a head of %s, V = %i", (dtype, vocabSize) => {
    const weights = { data: makeWeights(new Inputs(vocabSize), dtype, vocabSize, HIDDEN_SIZE), dtype, shape: [vocabSize, HIDDEN_SIZE] } as HeadArray;
    test.each([3, 20, 50, 100, 256])("%i rows", async (rows) => {
      for (const temperature of [0, 0.7]) {
        const found = await sampleOn("cuda", weights, rows, temperature);
        expect(found).toEqual(await sampleOn("reference", weights, rows, temperature));
        expect(found.details.filter(({ status }) => status === "invalid")).toHaveLength(Math.floor((rows + 2) / 5));
        const zeros = found.details.filter((_, row) => isZero(row) && !isRefused(row));
        expect(zeros.length).toBeGreaterThan(0);
        for (const { token, runnerUp, scoreBits } of temperature === 0 ? zeros : []) expect([token, runnerUp, scoreBits]).toEqual([0, vocabSize > 1 ? 1 : -1, 0n]);
      }
    });
  });
});
