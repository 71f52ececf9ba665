/** The mutants of bench/mutants: none changes nothing, the exact check catches each, and the sampler that they are made of is right. */
import { describe, expect, it } from "vitest";
import { MUTANTS } from "../bench/mutants/catalogue.js";
import { checkInput, checkInputNames } from "../bench/mutants/check-inputs.js";
import { complement, fromGamma, gumbel, toGamma } from "../bench/mutants/floats.js";
import { heavyTailZ } from "../bench/mutants/peers/heavy-tail.js";
import { findByCheck } from "../bench/mutants/methods.js";
import { createSampler } from "../bench/mutants/sampler.js";
import { sampleLogits } from "../src/logits.js";
import { gamma26 } from "../src/spec/gumbel.js";
import { tokenWord } from "../src/spec/philox.js";
import { Random } from "../src/verify/invariance/random.js";
import { filteredLogits, ownSampler } from "../src/verify/own-sampler.js";
import type { SamplerCall } from "../src/verify/sampler-under-test.js";

const TEMPERATURES = [0, 1e-4, 0.7, 1, 1.3, 255.9];
const EXTREMES = [-Infinity, -3e38, -1e-40, -0, 1e-45, 1e6, 2 ** 30, 3e38];

/** A call of any shape: extreme logits, ties, masks, filters and shards among them. */
function someCall(problem: number): SamplerCall {
  const random = new Random(271, problem, 0);
  const rows = 1 + random.below(5);
  const vocabSize = 1 + random.below([4, 40, 200, 1200][problem % 4]!);
  const logit = () => (random.below(20) === 0 && problem % 3 === 0 ? EXTREMES[random.below(EXTREMES.length)]! : (random.below(160) - 80) / 16);
  const each = <T>(value: () => T): T[] => Array.from({ length: rows }, value);
  const logits = Float32Array.from({ length: rows * vocabSize }, logit);
  if (problem % 10 === 9) logits[random.below(logits.length)] = problem % 20 === 9 ? NaN : Infinity;
  return {
    logits,
    rows,
    vocabSize,
    numSamples: 1 + random.below(6),
    temperature: each(() => TEMPERATURES[random.below(TEMPERATURES.length)]!),
    seed: each(() => (BigInt(random.word()) << 32n) | BigInt(random.word())),
    sequence: each(() => random.word()),
    position: each(() => random.word()),
    ...(problem % 2 === 0 && { mask: Uint32Array.from({ length: rows * Math.ceil(vocabSize / 32) }, () => random.word()) }),
    ...(problem % 5 === 0 && { topK: each(() => 1 + random.below(vocabSize)) }),
    ...(problem % 7 === 0 && { topP: each(() => (1 + random.below(99)) / 100) }),
    ...(problem % 3 === 1 && { shards: 1 + random.below(Math.min(vocabSize, 7)) }),
  };
}

describe("the sampler without a fault", async () => {
  const sampler = await createSampler();

  it("draws the tokens of sampleLogits", async () => {
    for (let problem = 0; problem < 200; problem++) {
      const { mask, topK, topP, shards, ...call } = someCall(problem);
      const { vocabSize, numSamples, temperature, seed, sequence, position } = call;
      const options = { vocabSize, numSamples, temperature, seed: BigUint64Array.from(seed), sequence, position, onInvalid: "mark", backend: "wasm" } as const;
      const { tokens } = await sampleLogits({ ...options, logits: call.logits });
      expect(await sampler(call), `problem ${problem}`).toEqual(tokens);
    }
  });

  it("draws the tokens of the package behind masks, filters and shards", async () => {
    const own = ownSampler("wasm");
    for (let problem = 0; problem < 200; problem++) {
      const call = someCall(problem);
      expect(await sampler(call), `problem ${problem}`).toEqual(await own(call));
    }
  });

  it.each(checkInputNames)("raises no alarm on the input %s", async (name) => {
    expect(await findByCheck(sampler, name)).toMatchObject({ caught: false, by: [] });
  });
});

describe("an input of the check", () => {
  it.each(checkInputNames)("%s is judged by what its masks and filters leave", (name) => {
    const { call, judged } = checkInput(name);
    expect(judged).toEqual(filteredLogits(call));
  });

  it("holds the extreme words that a search found", () => {
    const { seed, sequence, position } = checkInput("extreme words").call;
    const word = (row: number, token: number, purpose: number) => tokenWord({ seed: seed[row]!, sequence: sequence[row]!, position: position[row]!, sample: 0, purpose }, token);
    expect([word(0, 0, 0), word(0, 0, 1)]).toEqual([0x80000000, 0xff48eb03]);
    expect([word(2, 5, 0), word(2, 5, 1)]).toEqual([0x80000000, 0x775e5f07]);
    expect([word(3, 23, 0), word(3, 23, 1)]).toEqual([0, 0xc201e615]);
  });
});

describe("noise in floats", () => {
  /** Both ends, the middle, and u around 1/2. */
  const WORDS = [0, 1, 2, 0x40000000, 0x7fffffff, 0x80000000, 0x80000001, 0x80010000, 0xc0000000, 0xfffffffe, 0xffffffff];

  it("is that of the integers, within the specification's error", () => {
    for (const high of WORDS) {
      for (const low of WORDS) {
        // Past 1 - 2^-53 the complement itself is needed: -log u is nearly it.
        const small = complement(high, low);
        const value = small < 2 ** -20 ? -Math.log(small + (small * small) / 2) : gumbel(1 - small);
        expect(Math.abs(fromGamma(gamma26(high, low)) - value), `${high} ${low}`).toBeLessThan(4e-8);
      }
    }
    expect(fromGamma(toGamma(1.5))).toBeCloseTo(1.5, 12);
  });
});

describe("the heavy tail of 200,000 tokens", () => {
  /** The same integral by numpy, in steps of 1e-4. */
  it.each([
    ["u-reaches-1", 21.4386],
    ["u-reaches-0", -35.1354],
    ["u-of-24-bits", -8.5578],
    ["u-of-23-bits", -47.9805],
    ["noise-is-capped", -46.0565],
    ["rare-tokens-dropped", -55.1905],
  ])("deviates by what is known for %s", (mutant, z) => {
    expect(Math.abs(heavyTailZ(mutant)! - z)).toBeLessThan(0.02);
  });
});

describe("the mutants", () => {
  it("are many, and each has a name of its own", () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(48);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });

  it.each(MUTANTS)("$name draws other tokens than the correct sampler, and the check catches it", async ({ patch, check }) => {
    const mutant = await createSampler(patch);
    const { call } = checkInput(check);
    expect(await mutant(call)).not.toEqual(await (await createSampler())(call));
    expect(await findByCheck(mutant, check)).toMatchObject({ caught: true });
  });
});
