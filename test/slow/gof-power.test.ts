/**
 * Is what the document's `power` states true? Each stated bias is injected: at 0.8 of it fewer than 9 of 10 bags of tokens may raise
 * an alarm, at 1.2 of it more must. So the bias that is found with probability 0.9 lies within 20 % of the stated one.
 */
import { describe, expect, test } from "vitest";
import { goodnessOfFit } from "../../src/verify/gof/gof.js";
import { prepared, sampler, SETTINGS, uniforms, type Setting } from "../gof-draws.js";

const RUNS = Number(process.env["GOF_RUNS"] ?? 200);
const ALPHAS = [1e-9, 1e-2];
const CHOSEN = SETTINGS.filter(({ rows }) => rows === 1);

type Bias = (probabilities: Float64Array, size: number, uniform: () => number) => Float64Array;

/** What `power` calls a bias, done to a row's probabilities. */
function biasOf(what: string, logits: Float32Array): Bias {
  const token = /increase of token (\d+)/.exec(what);
  if (token !== null) return (probabilities, size) => raisedWhere(probabilities, size, (index) => index === Number(token[1]));
  const gap = /mass at gap (\d+)(?:-(\d+))?/.exec(what);
  const highest = logits.reduce((a, b) => Math.max(a, b));
  if (gap !== null) return (probabilities, size) => raisedWhere(probabilities, size, (index) => highest - logits[index]! >= Number(gap[1]) && highest - logits[index]! < Number(gap[2] ?? Infinity));
  expect(what).toBe("root mean square of relative biases of all tokens, random in sign");
  return spread;
}

function raisedWhere(probabilities: Float64Array, size: number, isRaised: (index: number) => boolean): Float64Array {
  const mass = probabilities.reduce((sum, p, index) => (isRaised(index) ? sum + p : sum), 0);
  return probabilities.map((p, index) => (isRaised(index) ? p * (1 + size) : (p * (1 - mass * (1 + size))) / (1 - mass)));
}

/** Signs at random, centred, with a root mean square of `size`, each token weighted by its probability. */
function spread(probabilities: Float64Array, size: number, uniform: () => number): Float64Array {
  const signs = probabilities.map(() => (uniform() < 0.5 ? -1 : 1));
  const mean = signs.reduce((sum, sign, index) => sum + sign * probabilities[index]!, 0);
  const scale = size / Math.sqrt(1 - mean ** 2);
  return probabilities.map((p, index) => Math.max(0, p * (1 + scale * (signs[index]! - mean))));
}

describe.each(ALPHAS)("the stated bias at alpha %s", (alpha) => {
  test.each(CHOSEN)("$name", (setting) => {
    const bench = prepared(setting, 11);
    for (const { what, smallest } of statedPower(setting, bench, alpha)) {
      const bias = biasOf(what, bench.logits);
      const shares = [0.8, 1, 1.2].map((part) => alarms(bench, bias, part * smallest, alpha));
      console.log(`alpha ${alpha}, ${setting.name}: ${what}, ${smallest.toPrecision(3)}: ${shares.map((share) => `${(100 * share).toFixed(0)} %`).join(", ")}`);
      // Two standard deviations of such a share.
      const slack = 2 * Math.sqrt((0.9 * 0.1) / RUNS);
      expect.soft(shares[0], what).toBeLessThan(0.9 + slack);
      if (!Number.isNaN(shares[2])) expect.soft(shares[2], what).toBeGreaterThan(0.9 - slack);
    }
  });
});

function statedPower({ axes, shards, vocabSize }: Setting, { logits, shape, draw, probabilities }: ReturnType<typeof prepared>, alpha: number) {
  const tokens = draw(probabilities.map((weights) => sampler(weights, uniforms(1))));
  return goodnessOfFit({ tokens, shape, axes, shards, logits, vocabSize, alpha }).power;
}

/** The share of bags that raise an alarm; NaN: there is no such bias. */
function alarms({ probabilities, draw, tests }: ReturnType<typeof prepared>, bias: Bias, size: number, alpha: number): number {
  const uniform = uniforms(77);
  let found = 0;
  for (let run = 0; run < RUNS; run++) {
    const weights = bias(probabilities[0]!, size, uniform);
    if (weights.some((weight) => weight < 0)) return NaN;
    if (tests(draw([sampler(weights, uniform)]), alpha).some(({ passed }) => !passed)) found++;
  }
  return found / RUNS;
}
