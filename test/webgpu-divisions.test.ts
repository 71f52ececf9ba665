/** The kernels that GPUs run, on whatever adapter is here: software adapters would have smaller ones, which all other tests run. */
import { afterAll, describe, expect, it, vi } from "vitest";
import { BACKENDS, type BackendName } from "../src/index.js";
import { difference, runProblem } from "./compare.js";
import { DTYPES, Inputs, makeWeights, type Problem } from "./problems.js";
import { unavailable } from "./require.js";

vi.mock("../gpu/webgpu/tuning.js", async (importOriginal) => {
  const tuning = await importOriginal<typeof import("../gpu/webgpu/tuning.js")>();
  return { ...tuning, divisionFor: (rows: number) => tuning.divisionFor(rows, false) };
});
afterAll(() => void vi.restoreAllMocks());

const webgpu = BACKENDS.find(({ name }) => name === "webgpu")!;

/** Several tiles with a part of one at the end, several blocks of hidden rows with a part of one, an odd number of columns. */
function problem(dtype: (typeof DTYPES)[number], rows: number, hiddenSize: number, groupSize: number): Problem {
  const inputs = new Inputs(1000 * rows + hiddenSize);
  const vocabSize = 600 + rows;
  const data = makeWeights(inputs, dtype, vocabSize, hiddenSize);
  const scales = Float32Array.from({ length: (vocabSize * hiddenSize) / groupSize }, () => (1 + inputs.below(1000)) / 4096);
  return {
    name: `${dtype}, ${rows} rows, D = ${hiddenSize}`,
    weights: { data, dtype, shape: [vocabSize, hiddenSize], ...(dtype === "int8" && { scales }) },
    sample: {
      hiddenStates: Float32Array.from({ length: rows * hiddenSize }, () => inputs.normal()),
      temperature: 0.7,
      seed: 99n,
      sequence: Array.from({ length: rows }, (_, row) => row),
      position: rows,
      numSamples: 2,
      details: true,
    },
  };
}

describe("the kernels of GPUs", async () => {
  describe.skipIf(unavailable("webgpu", await webgpu.probe()))("webgpu", () => {
    it.each([
      ...[1, 2, 3, 9].map((rows) => problem("bf16", rows, 200, 200)),
      ...[problem("f16", 1, 321, 321), problem("f32", 5, 97, 97), problem("int8", 1, 160, 32), problem("int8", 1, 512, 256)],
    ])("$name", { timeout: 120_000 }, async (given) => {
      const expected = await runProblem(given, "reference");
      const got = await runProblem(given, "webgpu" as BackendName);
      expect(difference(given.name, expected, got)).toBeNull();
    });
  });
});
