/**
 * How often correct tokens raise an alarm: 10,000 bags of each setting, a quarter where a bag has 100,000 draws. At alpha = 0.01 a share
 * of 1 % must, within three standard deviations of such a count; at 1e-9 none may. The seeds are fixed: a pass stays a pass.
 * GOF_RUNS: another number.
 */
import { describe, expect, test } from "vitest";
import { sampleLogits } from "../../src/index.js";
import { SequentialGoodnessOfFit } from "../../src/verify/gof/sequential.js";
import { prepared, sampler, SETTINGS, uniforms } from "../gof-draws.js";

const RUNS = Number(process.env["GOF_RUNS"] ?? 10_000);

describe("alarms of correct tokens", () => {
  test.each(SETTINGS)("$name", (setting) => {
    const bench = prepared(setting, 11);
    const uniform = uniforms(2026);
    const samplers = bench.probabilities.map((probabilities) => sampler(probabilities, uniform));
    const runs = setting.shape[0]! < 100_000 ? RUNS : RUNS / 4;
    let alarms = 0;
    for (let run = 0; run < runs; run++) {
      const tokens = bench.draw(samplers);
      const tests = bench.tests(tokens, 0.01);
      if (tests.some(({ passed }) => !passed)) alarms++;
      // What cannot fail at 1e-9, where no threshold is larger, need not be tested again.
      if (tests.some(({ pValue }) => pValue < 1e-6)) expect(bench.tests(tokens, 1e-9).every(({ passed }) => passed)).toBe(true);
    }
    console.log(`${setting.name}: ${((100 * alarms) / runs).toFixed(2)} %`);
    expectOnePercent(alarms, runs);
  });

  /** The looks share their draws, so that together they alarm less often than the sum of their rates: only one side is sharp. */
  test("in a stream of batches", () => {
    const { logits, probabilities } = prepared({ ...SETTINGS[3]!, vocabSize: 64 }, 6);
    const draw = sampler(probabilities[0]!, uniforms(8));
    let alarms = 0;
    for (let run = 0; run < RUNS; run++) {
      const stream = new SequentialGoodnessOfFit({ logits, alpha: 0.01 });
      for (let batch = 0; batch < 10; batch++) stream.add({ tokens: Int32Array.from({ length: 200 }, draw) });
      if (!stream.finish().passed) alarms++;
    }
    console.log(`a stream of 10 batches: ${((100 * alarms) / RUNS).toFixed(2)} %`);
    expect(alarms / RUNS).toBeGreaterThan(0.004);
    expect(alarms / RUNS).toBeLessThan(0.013);
  });

  test("drawn by the package itself, V = 64", async () => {
    const bench = prepared({ ...SETTINGS[3]!, vocabSize: 64, shape: [1000] }, 5);
    let alarms = 0;
    for (let position = 0; position < RUNS; position++) {
      const { tokens } = await sampleLogits({ logits: bench.logits, seed: 7n, position, numSamples: 1000, backend: "wasm" });
      if (bench.tests(tokens, 0.01).some(({ passed }) => !passed)) alarms++;
    }
    console.log(`the package's own: ${((100 * alarms) / RUNS).toFixed(2)} %`);
    expectOnePercent(alarms, RUNS);
  });
});

/** Of 10,000: 70 to 130. */
function expectOnePercent(alarms: number, runs: number): void {
  const slack = 3 * Math.sqrt(0.01 / runs);
  expect(alarms / runs).toBeGreaterThanOrEqual(0.01 - slack);
  expect(alarms / runs).toBeLessThanOrEqual(0.01 + slack);
}
