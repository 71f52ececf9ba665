/** Problems for the kernels that GPUs run: software adapters would have smaller ones, which most other tests run. */
import { expect, it } from "vitest";
import type { Dtype } from "../src/index.js";
import { difference, runProblem } from "./compare.js";
import { Inputs, makeWeights, type Problem } from "./problems.js";

/** Several tiles with a part of one at the end, several blocks of hidden rows with a part of one, an odd number of columns. */
export function divisionProblem(dtype: Dtype, rows: number, hiddenSize: number, groupSize = hiddenSize): Problem {
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

export function divisions(problems: readonly Problem[]): void {
  it.each(problems)("$name", { timeout: 120_000 }, async (given) => {
    const expected = await runProblem(given, "reference");
    expect(difference(given.name, expected, await runProblem(given, "webgpu"))).toBeNull();
  });
}
