/** Goodness of fit: what correct tokens give, what the document says, and what is refused. */
import { describe, expect, test } from "vitest";
import { sampleLogits } from "../src/index.js";
import { f32BitsToBf16, f32BitsToF16, bitsFromF32 } from "../src/spec/float.js";
import { SPEC_VERSION } from "../src/spec/constants.js";
import { VERSION } from "../src/version.js";
import { goodnessOfFit } from "../src/verify/gof/gof.js";
import type { GofOptions } from "../src/verify/gof/input.js";
import { normalLogits, prepared, sampler, SETTINGS, softmax, uniforms } from "./gof-draws.js";

const V = 300;
const logits = normalLogits(V, 3, 1);

function drawn(count: number, seed: number, weights = softmax(logits)): Int32Array {
  const draw = sampler(weights, uniforms(seed));
  return Int32Array.from({ length: count }, draw);
}

function judge(options: Partial<GofOptions>) {
  return goodnessOfFit({ tokens: drawn(10_000, 1), logits, ...options });
}

describe("correct tokens pass", () => {
  test("of one distribution", () => {
    const document = judge({});
    expect(document).toMatchObject({ kind: "gof", passed: true, specVersion: SPEC_VERSION, version: VERSION, draws: 10_000, distributions: 1, vocabSize: V, temperature: 1, alpha: 1e-9, looks: 1, stoppedAt: 10_000 });
    expect(document.tests.every(({ passed, detail, pValue }) => passed && detail === null && pValue > 1e-4)).toBe(true);
    expect(document.tests.map(({ name }) => name)).toEqual([
      "support",
      "g-test",
      "tokens",
      ...["20-25", "15-20", "10-15", "5-10"].map((gap) => `tail gap ${gap}`),
      "rare tokens",
      "equal neighbours along sample, even",
      "equal neighbours along sample, odd",
      "pairs along sample",
      "correlation along sample",
    ]);
  });

  test("drawn by this package, with a temperature, in rows and samples", async () => {
    const rows = normalLogits(6 * V, 4, 2);
    const { tokens } = await sampleLogits({ logits: rows, vocabSize: V, temperature: 0.7, seed: 3n, numSamples: 2000, backend: "wasm" });
    const document = goodnessOfFit({ tokens, logits: rows, vocabSize: V, temperature: 0.7, shards: 4 });
    expect(document.tests.filter(({ passed }) => !passed)).toEqual([]);
    expect(document).toMatchObject({ passed: true, distributions: 6, draws: 12_000 });
    expect(document.tests.map(({ name }) => name)).toEqual(expect.arrayContaining(["rows", "shards", "correlation along row", "equal neighbours along row and sample, crosswise, odd"]));
    expect(goodnessOfFit({ tokens, logits: rows, vocabSize: V }).passed).toBe(false);
  });

  test("with masked tokens, a token alone, and two draws", () => {
    const masked = logits.map((logit, token) => (token % 3 === 0 ? logit : -Infinity));
    expect(judge({ logits: masked, tokens: drawn(5000, 4, softmax(masked)) }).passed).toBe(true);
    const alone = judge({ logits: Float32Array.of(3), tokens: new Int32Array(1000) });
    expect(alone).toMatchObject({ passed: true, power: [] });
    expect(alone.tests.map(({ name }) => name)).toEqual(["support"]);
    expect(judge({ tokens: [5, 5] }).passed).toBe(true);
    expect(judge({ tokens: [5], alpha: 0.1 }).draws).toBe(1);
  });

  test("with logits so far apart that only one token can come", () => {
    const document = judge({ logits: Float32Array.of(3e38, -3e38, 0), tokens: new Int32Array(1000) });
    expect(document.passed).toBe(true);
    expect(judge({ logits: Float32Array.of(3e38, -3e38, 0), tokens: [...new Array(999).fill(0), 1] }).passed).toBe(false);
    expect(judge({ logits: Float32Array.of(1, 0), temperature: 1e-300, tokens: [0, 0, 1] }).passed).toBe(false);
  });
});

/** 2000 bags at 0.1: 200 alarms, standard deviation 13. bench/gof/measure.mjs has more, and more kinds. */
test.each(SETTINGS.filter(({ name }) => /^V = 8, logits of deviation (0.3|4)/.test(name)))("alarms of correct tokens: $name", (setting) => {
  const bench = prepared(setting, 11);
  const samplers = bench.probabilities.map((weights) => sampler(weights, uniforms(31)));
  let alarms = 0;
  for (let run = 0; run < 2000; run++) if (bench.alarms(bench.draw(samplers), [0.1])[0]) alarms++;
  expect(alarms).toBeGreaterThan(150);
  expect(alarms).toBeLessThan(240);
});

describe("the document", () => {
  const document = judge({});

  test("thresholds add up to alpha", () => {
    for (const alpha of [1e-9, 1e-2]) {
      const sum = judge({ alpha }).tests.reduce((total, { threshold }) => total + threshold, 0);
      expect(sum / alpha).toBeCloseTo(1, 9);
    }
  });

  test("bins hold all draws, and all that are expected", () => {
    expect(document.binCount).toBe(document.bins.length);
    const sum = (of: (bin: (typeof document.bins)[number]) => number) => document.bins.reduce((total, bin) => total + of(bin), 0);
    expect(sum(({ observed }) => observed)).toBe(10_000);
    expect(sum(({ expected }) => expected)).toBeCloseTo(10_000, 6);
    expect(sum(({ tokens }) => tokens)).toBe(V);
    expect(document.bins.every(({ expected }, index) => index === 0 || expected <= document.bins[index - 1]!.expected)).toBe(true);
    // Rare ones are pooled, and named so.
    expect(document.bins.some(({ label, tokens }) => tokens > 1 && label.endsWith(`${tokens} tokens`))).toBe(true);
  });

  test("the tail is told by gap", () => {
    const probabilities = softmax(logits);
    const highest = logits.reduce((a, b) => Math.max(a, b));
    for (const { fromGap, toGap, expected } of document.tail) {
      const mass = probabilities.reduce((sum, p, token) => (highest - logits[token]! >= fromGap && highest - logits[token]! < (toGap ?? Infinity) ? sum + p : sum), 0);
      expect(expected / (10_000 * mass)).toBeCloseTo(1, 6);
    }
    expect(document.tail.reduce((sum, { observed }) => sum + observed, 0)).toBe(10_000);
  });

  test("names the tokens that are furthest off", () => {
    const probabilities = softmax(logits);
    const rare = probabilities.findIndex((p) => p > 1e-4 && p < 2e-4);
    const tokens = drawn(10_000, 1);
    for (let index = 0; index < 60; index++) tokens[index * 150] = rare;
    const spoilt = judge({ tokens });
    expect(spoilt.passed).toBe(false);
    expect(spoilt.tokens[0]).toMatchObject({ token: rare, expected: expect.closeTo(10_000 * probabilities[rare]!, 3) });
    expect(spoilt.tests.find(({ name }) => name === "rare tokens")!.detail).toContain(`token ${rare} was drawn`);
    expect(document.tokens).toHaveLength(20);
  });

  test("is the same for the same tokens, and does not change them", () => {
    const tokens = drawn(10_000, 1);
    expect(judge({ tokens })).toEqual(document);
    expect(tokens).toEqual(drawn(10_000, 1));
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  test("at most 400 bins are listed", () => {
    const flat = new Float32Array(1000);
    const { bins, binCount } = judge({ logits: flat, tokens: drawn(10_000, 2, softmax(flat)) });
    expect([bins.length, binCount]).toEqual([400, 1000]);
  });

  test("tells what can be found, and more draws find less", () => {
    const smallestOf = (draws: number) => new Map(judge({ tokens: drawn(draws, 1) }).power.map(({ what, smallest }) => [what, smallest]));
    const [few, many] = [smallestOf(10_000), smallestOf(40_000)];
    expect(document.power.every(({ probability, smallest }) => probability === 0.9 && smallest > 0)).toBe(true);
    expect(few.size).toBeGreaterThan(5);
    for (const [what, smallest] of few) expect(many.get(what)!, what).toBeLessThan(smallest);
  });

  /** Noncentrality rises with draws and with the square of the bias; below 2 as more draws also have more bins. */
  test("a spread of biases is told where many tokens share the mass", () => {
    const spread = "root mean square of relative biases of all tokens, random in sign";
    const even = normalLogits(V, 1, 8);
    const smallestOf = (draws: number) => judge({ logits: even, tokens: drawn(draws, 1, softmax(even)) }).power.find(({ what }) => what === spread)!.smallest;
    expect(smallestOf(10_000) / smallestOf(40_000)).toBeGreaterThan(1.7);
    expect(document.power.some(({ what }) => what === spread)).toBe(false);
  });
});

describe("what comes in", () => {
  const tokens = drawn(10_000, 1);

  test("any kind of integers, and of floats", () => {
    const whole = judge({ tokens }).tests;
    expect(judge({ tokens: BigInt64Array.from(tokens, BigInt) }).tests).toEqual(whole);
    expect(judge({ tokens: Uint16Array.from(tokens) }).tests).toEqual(whole);
    expect(judge({ tokens: Array.from(tokens) }).tests).toEqual(whole);
    expect(judge({ logits: Float64Array.from(logits) }).tests).toEqual(whole);
    const bf16 = { data: Uint16Array.from(logits, (logit) => f32BitsToBf16(bitsFromF32(logit))), dtype: "bf16" as const };
    const f16 = { data: Uint16Array.from(logits, (logit) => f32BitsToF16(bitsFromF32(logit))), dtype: "f16" as const };
    for (const rounded of [bf16, f16]) expect(judge({ logits: rounded }).vocabSize).toBe(V);
  });

  test("rows with equal logits are one distribution, with pooled counts", () => {
    const twice = new Float32Array(2 * V);
    twice.set(logits);
    twice.set(logits, V);
    const document = judge({ logits: twice, vocabSize: V });
    expect(document.distributions).toBe(1);
    const { bins, tail } = judge({});
    expect({ bins: document.bins, tail: document.tail }).toEqual({ bins, tail });
  });

  test.each<[string, GofOptions["tokens"], string]>([
    ["negative", [1, 2, -1, 3], "token -1 at [2] is negative"],
    ["out of range", [1, 300], "token 300 at [1] is out-of-range: V = 300"],
    ["out of 32 bits", BigUint64Array.of(1n, 2n ** 63n), "token 9223372036854775808 at [1] is out-of-range: V = 300"],
  ])("a token that is %s fails at once", (_, bad, detail) => {
    const document = judge({ tokens: bad });
    expect(document).toMatchObject({ passed: false, bins: [], power: [], tests: [{ name: "support", pValue: 0, passed: false, statistic: 1, detail }] });
    expect(document.tests).toHaveLength(1);
  });

  test("a masked token fails at once, by its place", () => {
    const two = Float32Array.of(0, 0, -Infinity, 0, -Infinity, 0);
    const document = judge({ logits: two, vocabSize: 3, tokens: [0, 1, 0, 2, 1, 2], axes: ["row", "sample"] });
    expect(document.tests[0]!.detail).toBe("token 1 at [1, 1] is masked");
    const more = judge({ logits: two, vocabSize: 3, tokens: [0, 2, 2, 2, 1, 2] });
    expect(more.tests[0]!.detail).toBe("token 2 at [0, 1] is masked, the first of 3 tokens that cannot be drawn");
  });

  const bad: [string, Record<string, unknown>, new () => Error, RegExp][] = [
    ["tokens of text", { tokens: "12" }, TypeError, /^"tokens" expected an array of integers, got "12"$/],
    ["tokens that are floats", { tokens: new Float32Array(3) }, TypeError, /^"tokens" expected an array of integers, got Float32Array$/],
    ["a token that is no integer", { tokens: [1, 2.5] }, TypeError, /^"tokens\[1\]" expected an integer, got 2\.5$/],
    ["a hole", { tokens: [1, , 3] }, TypeError, /^"tokens\[1\]" expected an integer, got undefined$/],
    ["no tokens", { tokens: [] }, RangeError, /^"tokens" expected at least one, got none$/],
    ["no logits", { logits: new Float32Array(0) }, RangeError, /^"logits" expected/],
    ["logits of another kind", { logits: [1, 2] }, TypeError, /^"logits" expected a Float32Array/],
    ["NaN", { logits: Float32Array.of(1, NaN) }, RangeError, /^"logits" expected finite numbers or -Infinity, got NaN in row 0, token 1$/],
    ["+Infinity", { logits: Float32Array.of(1, 2, 3, Infinity), vocabSize: 2, tokens: [0, 0] }, RangeError, /got Infinity in row 1, token 1$/],
    ["a row of masks", { logits: Float32Array.of(-Infinity) }, RangeError, /got -Infinity alone in row 0$/],
    ["V that does not divide", { vocabSize: 7 }, RangeError, /^"logits" expected a positive multiple of V = 7 values, got 300$/],
    ["V of 0", { vocabSize: 0 }, RangeError, /^"vocabSize" expected an integer/],
    ["greedy", { temperature: 0 }, RangeError, /^"temperature" expected a number in \(0, 256\): a greedy sampler draws nothing, got 0$/],
    ["temperature of text", { temperature: "1" }, TypeError, /^"temperature" expected a number/],
    ["NaN as temperature", { temperature: NaN }, RangeError, /^"temperature"/],
    ["alpha 0", { alpha: 0 }, RangeError, /^"alpha" expected a number from 1e-12 to 0\.1, got 0$/],
    ["alpha 1", { alpha: 1 }, RangeError, /^"alpha"/],
    ["shards 0", { shards: 0 }, RangeError, /^"shards" expected an integer/],
    ["more shards than tokens", { shards: 301 }, RangeError, /^"shards"/],
    ["a shape that does not fit", { shape: [3, 3] }, RangeError, /^"shape" expected positive sizes whose product is the 10000 tokens, got \[3, 3\]$/],
    ["a shape of no array", { shape: 5 }, TypeError, /^"shape" expected an array/],
    ["two names for one axis", { axes: ["a", "b"] }, RangeError, /^"axes" expected 1 names for tokens of shape \[10000\], got a,b$/],
    ["one name twice", { axes: ["a", "a"] }, RangeError, /^"axes" expected 1 to 4 different names, got a,a$/],
    ["axes of text", { axes: "row" }, TypeError, /^"axes" expected an array/],
    ["a name with a line end", { axes: ["a\nb"] }, RangeError, /^"axes" expected names of letters and digits, got "a\\nb"$/],
    ["rows that differ from the logits'", { logits: new Float32Array(6), vocabSize: 2, shape: [5000, 2] }, RangeError, /^"tokens" expected 3 places on the first axis/],
    ["an option misspelt", { temprature: 1 }, TypeError, /^"options" expected only tokens/],
  ];
  test.each(bad)("%s is refused", (_, options, kind, message) => {
    const run = () => judge(options as Partial<GofOptions>);
    expect(run).toThrow(kind);
    expect(run).toThrow(message);
  });

  test("rows of logits without as many tokens each are refused", () => {
    expect(() => judge({ logits: new Float32Array(6), vocabSize: 2, tokens: [0, 1, 0, 1] })).toThrow('"shape" expected positive sizes whose product is the 4 tokens, got [3, 1.333');
  });
});
