/** Properties of every backend that no shape, batch or order may break. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createSampler, sampleLogits, type BackendName, type SampleDetail } from "../src/index.js";
import { argmaxCombine, type Scored } from "../src/spec/score.js";
import { difference, runProblem, sampleDetails } from "./compare.js";
import { Inputs, makeProblem, makeWeights, type Problem } from "./problems.js";

const smallProblem = fc.nat(1_000_000).map((index) => makeProblem(index, 200, 80));

function expectSame(name: string, expected: readonly SampleDetail[], got: readonly SampleDetail[]): void {
  expect(difference(name, expected, got)).toBeNull();
}

/** The rows of a call in another order or number, each with its own seed, sequence, position and temperature. */
function takeRows({ weights, sample }: Problem, rows: readonly number[]): Problem["sample"] {
  const hiddenSize = weights.shape[1];
  const hidden = sample.hiddenStates as Float32Array;
  const hiddenStates = new Float32Array(rows.length * hiddenSize);
  rows.forEach((row, index) => hiddenStates.set(hidden.subarray(row * hiddenSize, (row + 1) * hiddenSize), index * hiddenSize));
  return { ...sample, hiddenStates, sequence: rows.map((row) => (sample.sequence as number[])[row]!) };
}

function rowCount({ sample }: Problem): number {
  return (sample.sequence as number[]).length;
}

function detailsOfRows(details: readonly SampleDetail[], rows: readonly number[], samples: number): SampleDetail[] {
  return rows.flatMap((row) => details.slice(row * samples, (row + 1) * samples));
}

export function properties(backend: BackendName): void {
  it("whatever the order and number of rows", async () => {
    await fc.assert(
      fc.asyncProperty(smallProblem, fc.array(fc.nat(2), { minLength: 1, maxLength: 9 }), async (problem, picks) => {
        const rows = picks.map((pick) => pick % rowCount(problem));
        const whole = await runProblem(problem, backend);
        const some = await runProblem({ ...problem, sample: takeRows(problem, rows) }, backend);
        expectSame(problem.name, detailsOfRows(whole, rows, problem.sample.numSamples!), some);
      }),
      { numRuns: 60 },
    );
  });

  it("for a row alone", async () => {
    await fc.assert(
      fc.asyncProperty(smallProblem, async (problem) => {
        const whole = await runProblem(problem, backend);
        for (let row = 0; row < rowCount(problem); row++) {
          const alone = await runProblem({ ...problem, sample: takeRows(problem, [row]) }, backend);
          expectSame(`${problem.name}, row ${row}`, detailsOfRows(whole, [row], problem.sample.numSamples!), alone);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("when rows bring their own seeds", async () => {
    const weights = { data: makeWeights(new Inputs(5), "bf16", 300, 40) as Uint16Array, dtype: "bf16", shape: [300, 40] } as const;
    const hiddenStates = Float32Array.from({ length: 160 }, (_, index) => Math.fround(((index * 37) % 23) - 11) / 8);
    const seeds = BigUint64Array.of(1111n, 2222n, 2n ** 64n - 1n, 0n);
    const sampler = await createSampler({ weights, backend });
    const together = await sampleDetails(sampler, { hiddenStates, seed: seeds, position: [0, 1, 2, 3], temperature: [1, 0, 0.7, 2] });
    for (let row = 0; row < 4; row++) {
      const alone = await sampleDetails(sampler, {
        hiddenStates: hiddenStates.subarray(row * 40, (row + 1) * 40),
        seed: seeds[row]!,
        sequence: 0,
        position: row,
        temperature: [1, 0, 0.7, 2][row]!,
      });
      expectSame(`row ${row}`, [together[row]!], alone);
    }
    sampler.dispose();
  });

  it("when D is padded with zeros", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.integer({ min: 1, max: 70 }), async (index, padding) => {
        const problem = makeProblem(index * 4 + (index % 3), 100, 80);
        const { data, dtype, shape } = problem.weights;
        const [vocabSize, hiddenSize] = shape;
        const wide = hiddenSize + padding;
        const padRows = <T extends Uint16Array | Float32Array | Int8Array>(values: T, rows: number): T => {
          const padded = new (values.constructor as new (length: number) => T)(rows * wide);
          for (let row = 0; row < rows; row++) padded.set(values.subarray(row * hiddenSize, (row + 1) * hiddenSize), row * wide);
          return padded;
        };
        const widened: Problem = {
          ...problem,
          weights: { data: padRows(data, vocabSize), dtype, shape: [vocabSize, wide] },
          sample: { ...problem.sample, hiddenStates: padRows(problem.sample.hiddenStates as Float32Array, rowCount(problem)) },
        };
        expectSame(problem.name, await runProblem(problem, backend), await runProblem(widened, backend));
      }),
      { numRuns: 40 },
    );
  });

  it("when the vocabulary is cut into pieces and their winners are combined", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.integer({ min: 1, max: 7 }), async (seed, pieces) => {
        const inputs = new Inputs(seed);
        const vocabSize = 8 + inputs.below(300);
        const logits = Float32Array.from({ length: vocabSize }, () => inputs.normal());
        const call = { seed: BigInt(seed), position: 3, sequence: 9, temperature: inputs.pick([0, 0.7, 1]), details: true, backend } as const;
        const [whole] = (await sampleLogits({ ...call, logits })).details!;
        const winners: Scored[] = [];
        for (let piece = 0; piece < pieces; piece++) {
          // A piece is the whole row with everything else masked: tokens keep their global ids.
          const masked = logits.map((logit, token) => (token % pieces === piece ? logit : -Infinity));
          const [part] = (await sampleLogits({ ...call, logits: masked, onInvalid: "mark" })).details!;
          if (part!.status === "ok") winners.push({ token: part!.token, score: part!.scoreBits! });
        }
        const best = winners.reduce(argmaxCombine);
        expect(best).toEqual({ token: whole!.token, score: whole!.scoreBits });
      }),
      { numRuns: 60 },
    );
  });
}
