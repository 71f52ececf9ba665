/** check: known answers of the Python reader, every verdict, every fault, and what it refuses. */
import { describe, expect, test } from "vitest";
import type { HeadArray } from "../src/head/head-reader.js";
import { scoreOf, tauOf, tokenGamma } from "../src/spec/score.js";
import { check, type CheckOptions } from "../src/verify/check.js";
import { junitPieces } from "../src/verify/junit.js";
import { report } from "../src/verify/report/report.js";
import { messageOf } from "./head-fixtures.js";
import { f32Values, f64Value, readVectors, vectorHead, wide } from "./vector-checks.js";
import { VERSION } from "../src/version.js";

/** Vectors whose samples start at a later number than this would need as many draws before them. */
const FIRST_SAMPLES = 64;

const given = (logits: ArrayLike<number>, tokens: readonly number[], more: Partial<CheckOptions> = {}) =>
  check({ logits: Float32Array.from(logits), tokens, seed: 0n, temperature: 0, ...more });

/** The place of a vector's rows; tokens of samples before the vector's first are not known. */
function placed(call: any, rows: readonly any[]) {
  return {
    seed: BigUint64Array.from(rows, ({ seed }) => BigInt(`0x${seed}`)),
    sequence: rows.map(({ sequence }) => parseInt(sequence, 16)),
    position: rows.map(({ position }) => parseInt(position, 16)),
    temperature: f64Value(call.T),
    numSamples: parseInt(call.firstSample, 16) + call.samples,
  };
}

const isNear = ({ firstSample }: any): boolean => parseInt(firstSample, 16) <= FIRST_SAMPLES;
const expectedTokens = (draws: readonly any[]): number[] => draws.map(({ token }) => token ?? -1);

describe("known answers", () => {
  const problems: any[] = readVectors("sample").problems;
  test.each(problems.map((problem) => [problem.name, problem]))("%s", async (_, problem) => {
    const { dtype, vocabSize, hiddenSize, weights: data, scales } = vectorHead(problem);
    const weights = { data, dtype, shape: [vocabSize, hiddenSize], scales } as HeadArray;
    const hiddenStates = f32Values(problem.hidden.join(" "));
    let draws = 0;
    for (const call of problem.calls.filter(isNear)) {
      const place = placed(call, call.rows);
      const first = place.numSamples - call.samples;
      const rightTokens = call.rows.flatMap(({ draws }: any) => [...Array<number>(first).fill(0), ...expectedTokens(draws)]);
      const known = (_: unknown, index: number): boolean => index % place.numSamples >= first;
      const right = (await check({ weights, hiddenStates, tokens: rightTokens, ...place })).draws.filter(known);
      expect(right.map(({ verdict }) => verdict)).toEqual(right.map(() => "exact"));
      draws += right.length;
      if (vocabSize === 1) continue;

      // Another token: its Z is the reader's as well, and so the gap is known.
      const wrongTokens = rightTokens.map((token: number) => (token + 1) % vocabSize);
      const wrong = (await check({ weights, hiddenStates, tokens: wrongTokens, logitError: "none", ...place })).draws.filter(known);
      const answers = call.rows.flatMap(({ draws }: any) => draws);
      wrong.forEach((draw, index) => {
        const z = BigInt.asIntN(64, wide(problem.Z[draw.row])[Number(draw.given)]!);
        const address = { seed: place.seed[draw.row]!, sequence: place.sequence[draw.row]!, position: place.position[draw.row]!, sample: draw.sample, purpose: 0 };
        const score = scoreOf(z, tokenGamma(address, Number(draw.given)).gamma, tauOf(place.temperature));
        const gap = Number(BigInt.asIntN(64, BigInt(`0x${answers[index].scoreBits}`)) - score) * 2 ** -32;
        expect(draw).toMatchObject({ expected: answers[index].token, verdict: "wrong", fault: null, gap, margin: f64Value(answers[index].margin) });
        if (draw.given === answers[index].runnerUp && draw.rank !== null) expect(draw.rank).toBe(2);
        else if (draw.rank !== null) expect(draw.rank).toBeGreaterThan(2);
      });
    }
    expect(draws).toBeGreaterThan(0);
  });

  const cases: any[] = readVectors("logits").cases;
  test.each(cases.map((known) => [known.name, known]))("logits: %s", async (_, { logits, calls }) => {
    const values = f32Values(logits);
    for (const call of calls.filter(isNear)) {
      const place = placed(call, [call]);
      const first = place.numSamples - call.samples;
      const tokens = [...Array<number>(first).fill(0), ...expectedTokens(call.draws)];
      const { draws } = await check({ logits: values, tokens, ...place });
      expect(draws.slice(first).map(({ verdict, expected }) => ({ verdict, expected }))).toEqual(expectedTokens(call.draws).map((expected) => ({ verdict: "exact", expected })));
    }
  });

  test("the rank is the place of a draw without replacement, the gap that of the scores", async () => {
    let ranks = 0;
    for (const { logits, T, seed, sequence, position, sample, k, tokens, scoreBits } of readVectors("without-replacement").cases) {
      const at = parseInt(sample, 16);
      if (at > FIRST_SAMPLES) continue;
      const scores = wide(scoreBits).map((score) => BigInt.asIntN(64, score));
      for (let place = 1; place < k; place++) {
        const call = { seed: BigUint64Array.of(BigInt(`0x${seed}`)), sequence: parseInt(sequence, 16), position: parseInt(position, 16), temperature: f64Value(T) };
        const asked = Array<number>(at + 1).fill(tokens[place]);
        const draw = (await check({ logits: f32Values(logits), tokens: asked, ...call })).draws[at]!;
        const gap = Number(scores[0]! - scores[place]!) * 2 ** -32;
        expect(draw).toMatchObject({ given: tokens[place], expected: tokens[0], verdict: "wrong", rank: place + 1, gap });
        ranks++;
      }
    }
    expect(ranks).toBeGreaterThan(100);
  });
});

describe("verdicts on given logits, at temperature 0", () => {
  const LOGITS = [1, 4, 3, 2];

  test("the expected token is exact", async () => {
    const { passed, counts, draws } = await given(LOGITS, [1]);
    expect({ passed, counts }).toEqual({ passed: true, counts: { exact: 1, nearTie: 0, wrong: 0 } });
    expect(draws).toEqual([{ row: 0, sample: 0, given: 1, expected: 1, verdict: "exact", fault: null, margin: 1, gap: 0, allowed: null, rank: null, probability: null }]);
  });

  test("another one is wrong, with its rank", async () => {
    const { passed, draws } = await given(LOGITS, [3]);
    expect(passed).toBe(false);
    expect(draws).toEqual([{ row: 0, sample: 0, given: 3, expected: 1, verdict: "wrong", fault: null, margin: 1, gap: 2, allowed: 0, rank: 3, probability: 0 }]);
  });

  test("its probability is that of the softmax", async () => {
    const logits = [0, Math.log(2), Math.log(5)];
    const { draws } = await given(logits, [0, 1, 2], { temperature: 1, numSamples: 3, ranks: 3 });
    for (const { given, verdict, probability } of draws) if (verdict === "wrong") expect(probability).toBeCloseTo([1, 2, 5][Number(given)]! / 8, 6);
    expect(draws.filter(({ verdict }) => verdict === "wrong").length).toBeGreaterThan(0);
  });

  // Gap 2^-8; both errors are 2^-9, so that nothing is rounded.
  test.each([
    ["at", 2 ** -8, "near-tie"],
    ["just above", 2 ** -8 + 2 ** -20, "wrong"],
    ["just below", 2 ** -8 - 2 ** -20, "near-tie"],
  ])("a gap %s what an absolute error allows", async (_, gap, verdict) => {
    const { draws } = await given([1, 1 - gap], [1], { logitError: { absolute: 2 ** -9, relative: 0 } });
    expect(draws[0]).toMatchObject({ verdict, gap, allowed: 2 ** -8 });
  });

  // (8 - gap) / 32 = gap at 8 / 33.
  test.each([
    ["just above", 0.2425, "wrong"],
    ["just below", 0.2424, "near-tie"],
  ])("a gap %s what a relative error allows", async (_, gap, verdict) => {
    const { draws } = await given([4, 4 - gap], [1], { logitError: { absolute: 0, relative: 2 ** -5 } });
    expect(draws[0]!.verdict).toBe(verdict);
    expect(draws[0]!.allowed).toBeCloseTo((8 - gap) / 32, 6);
  });

  test("equal scores go to the lower token, unless errors may have parted them", async () => {
    expect((await given([2, 2], [1])).draws[0]).toMatchObject({ expected: 0, verdict: "wrong", gap: 0, rank: 2 });
    expect((await given([2, 2], [1], { logitError: { absolute: 1e-9, relative: 0 } })).draws[0]!.verdict).toBe("near-tie");
  });

  test("bf16 allows half a step of bf16 on each side", async () => {
    // bf16 numbers from 256 on are 2 apart: 257 may become 256, 260 stays.
    expect((await given([257, 256], [1], { logitError: "bf16" })).draws[0]).toMatchObject({ verdict: "near-tie", gap: 1 });
    expect((await given([260, 256], [1], { logitError: "bf16" })).draws[0]!.verdict).toBe("wrong");
    expect((await given([257, 256], [1])).draws[0]!.verdict).toBe("wrong");
  });
});

describe("from a head", () => {
  // Sums |w x|: 4 of token 0, 6 of token 1, whose logits are 4 and 4 - 2^-8 at x = (1, 1).
  const weights = { data: Float32Array.of(2, 2, 5 - 2 ** -8, -1), dtype: "f32", shape: [2, 2] } as const;
  const asked = (relative: number) => check({ weights, hiddenStates: Float32Array.of(1, 1), tokens: [1], seed: 0n, temperature: 0, logitError: { absolute: 0, relative } });

  test("a relative error is one of sum |w x|, not of the logit", async () => {
    const allowed = 2 ** -8;
    const sums = 4 + 6 - 2 ** -8;
    expect((await asked((allowed / sums) * (1 + 1e-9))).draws[0]).toMatchObject({ verdict: "near-tie", gap: allowed });
    expect((await asked((allowed / sums) * (1 - 1e-9))).draws[0]).toMatchObject({ verdict: "wrong", gap: allowed, rank: 2 });
  });

  test("the document says what was checked", async () => {
    const { draws: _, ...document } = await asked(0);
    expect(document).toMatchObject({
      kind: "check",
      version: VERSION,
      specVersion: "1.0",
      engine: { name: "ours", status: "exact", unproven: [], options: {} },
      inputs: { rows: 1, numSamples: 1, vocabSize: 2, hiddenSize: 2, dtype: "f32", seed: "0", temperature: 0, position: 0, sequence: 0 },
      logitError: { name: "given", absolute: 0, relative: 0 },
    });
    expect(document.inputs.headDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  test("only so many wrong draws get their rank", async () => {
    const { draws } = await check({ weights, hiddenStates: new Float32Array(10).fill(1), tokens: Array(5).fill(1), seed: 0n, temperature: 0, logitError: "none", ranks: 3 });
    expect(draws.map(({ rank }) => rank)).toEqual([2, 2, 2, null, null]);
    expect(draws.map(({ gap }) => gap)).toEqual(Array(5).fill(2 ** -8));
  });

  test("a row with a hidden state that is not finite has no token", async () => {
    const hiddenStates = Float32Array.of(1, NaN, 1, 1);
    const { draws } = await check({ weights, hiddenStates, tokens: [0, 0], seed: 0n, temperature: 0 });
    expect(draws.map(({ expected, verdict, fault }) => ({ expected, verdict, fault }))).toEqual([
      { expected: -1, verdict: "wrong", fault: "no-token" },
      { expected: 0, verdict: "exact", fault: null },
    ]);
  });
});

describe("faults", () => {
  const LOGITS = [1, -Infinity, 3, 9];

  test("tokens of 64 bits are told digit by digit, whatever holds them", async () => {
    const odd = 2n ** 53n + 1n;
    const more = [BigInt64Array.of(odd, -(2n ** 63n)), BigUint64Array.of(2n ** 64n - 1n, odd), [odd, 2 ** 60]] as const;
    const told = [["9007199254740993", "-9223372036854775808"], ["18446744073709551615", "9007199254740993"], ["9007199254740993", "1152921504606846976"]];
    for (const [index, tokens] of more.entries()) {
      for (const engine of ["ours", "flashinfer"]) {
        const document = await check({ logits: Float32Array.from([...LOGITS, ...LOGITS]), vocabSize: 4, tokens, seed: 0n, engine });
        expect(document.draws.map((draw) => draw.given)).toEqual(told[index]);
        expect(document.draws.every(({ fault }) => fault === "out-of-range" || fault === "negative")).toBe(true);
        expect(report([document])).toContain(told[index]![0]);
        expect([...junitPieces(document)].join("")).toContain(`token ${told[index]![0]} is out of range`);
      }
    }
    expect(await messageOf(() => given(LOGITS, [1e300]))).toBe('RangeError: "tokens[0]" expected an integer of 64 bits, got 1e+300');
  });

  const mask = { data: Uint32Array.of(0b1010), rowCount: 1 };
  test.each<[string, number, Partial<CheckOptions>, object]>([
    ["negative", -1, {}, { fault: "negative", expected: 3, probability: null }],
    ["out of range", 4, {}, { fault: "out-of-range", expected: 3, probability: null }],
    ["far out of range", 2 ** 53 - 1, {}, { fault: "out-of-range", expected: 3 }],
    ["masked by its logit", 1, {}, { fault: "masked", expected: 3, probability: 0 }],
    ["masked by a mask", 2, { mask }, { fault: "masked", expected: 3, probability: 0 }],
    ["padding", 3, { unpaddedSize: 3 }, { fault: "padded", expected: 2, probability: 0 }],
  ])("%s", async (_, token, more, said) => {
    const { draws, passed } = await given(LOGITS, [token], more);
    expect(draws[0]).toMatchObject({ given: token, verdict: "wrong", gap: null, allowed: null, rank: null, ...said });
    expect(passed).toBe(false);
  });

  test("garbage of 64 bits is out of range or negative, no error", async () => {
    const tokens = BigInt64Array.of(2n ** 63n - 1n, -(2n ** 63n), 0x7ff8000000000000n, 3n);
    const { draws } = await given([...LOGITS, ...LOGITS, ...LOGITS, ...LOGITS], [], { tokens, vocabSize: 4 });
    expect(draws.map(({ fault }) => fault)).toEqual(["out-of-range", "negative", "out-of-range", null]);
    expect(() => JSON.parse(JSON.stringify(draws))).not.toThrow();
  });

  test.each([
    ["masked by logits", [-Infinity, -Infinity], {}],
    ["masked by a mask", [1, 2], { mask: { data: Uint8Array.of(0, 0), rowCount: 1 } }],
    ["not a number", [1, NaN], {}],
    ["infinite", [1, Infinity], {}],
  ])("a row without a token, %s: -1 is right, and nothing else", async (_, logits, more) => {
    const faults = async (token: number) => (await given(logits, [token], more)).draws[0]!;
    expect(await faults(-1)).toMatchObject({ verdict: "exact", expected: -1, fault: null, gap: null });
    expect(await faults(1)).toMatchObject({ verdict: "wrong", expected: -1, fault: "no-token" });
    expect(await faults(-2)).toMatchObject({ verdict: "wrong", expected: -1, fault: "negative" });
    expect(await faults(2)).toMatchObject({ verdict: "wrong", expected: -1, fault: "out-of-range" });
  });
});

describe("shapes", () => {
  test("the samples of a row are side by side", async () => {
    const { draws, inputs } = await given([5, 1, 1, 5], [0, 1, 0, 1, 1, 1], { vocabSize: 2 });
    expect(inputs).toMatchObject({ rows: 2, numSamples: 3 });
    expect(draws.map(({ row, sample, verdict }) => [row, sample, verdict])).toEqual([
      [0, 0, "exact"],
      [0, 1, "wrong"],
      [0, 2, "exact"],
      [1, 0, "exact"],
      [1, 1, "exact"],
      [1, 2, "exact"],
    ]);
  });

  test("without vocabSize a token is a row's, or as many as are said", async () => {
    const logits = [5, 1, 1, 5, 2, 3];
    expect((await given(logits, [0, 1])).inputs).toMatchObject({ rows: 2, numSamples: 1, vocabSize: 3 });
    expect((await given(logits, [0, 1], { numSamples: 2 })).inputs).toMatchObject({ rows: 1, numSamples: 2, vocabSize: 6 });
    expect((await given(logits, [0, 0, 1, 1, 1, 1], { temperature: [0, 0, 0] })).inputs).toMatchObject({ rows: 3, numSamples: 2, vocabSize: 2 });
    expect((await given(logits, [0, 0, 1, 1, 1, 1], { mask: { data: new Uint8Array(6).fill(1), rowCount: 3 } })).inputs).toMatchObject({ rows: 3, numSamples: 2, vocabSize: 2 });
    expect(await messageOf(() => given(logits, [0, 0, 0, 0]))).toBe('RangeError: "vocabSize" expected the columns of the logits, as 6 of them are no whole number for each of 4 rows, got undefined');
  });

  test("temperatures that differ from row to row are told as such", async () => {
    const temperature = async (values: NonNullable<CheckOptions["temperature"]>) => (await given([5, 1, 1, 5], [0, 1], { vocabSize: 2, temperature: values })).inputs.temperature;
    expect(await temperature(0.5)).toBe(0.5);
    expect(await temperature([0.5, 0.5])).toBe(0.5);
    expect(await temperature(Float32Array.of(0.5, 0.25))).toBe("one a row");
  });

  const refusals: [string, () => Promise<unknown>, string][] = [
    ["too few tokens", () => given([1, 2, 3, 4], [0], { vocabSize: 2 }), 'RangeError: "tokens" expected 2 rows * 1 token, got 1'],
    ["tokens for half a row", () => given([1, 2, 3, 4], [0, 1, 0], { vocabSize: 2 }), 'RangeError: "tokens" expected 2 rows * 1 token, got 3'],
    ["other samples than said", () => given([1, 2], [0, 1], { numSamples: 3 }), 'RangeError: "tokens" expected 1 rows * 3 tokens, got 2'],
    ["no tokens", () => given([1, 2], []), 'RangeError: "tokens" expected 1 to 4194304 tokens, got 0'],
    ["a fraction", () => given([1, 2], [0.5]), 'TypeError: "tokens[0]" expected an integer, got 0.5'],
    ["no seed", () => given([1, 2], [0], { seed: undefined as never }), 'TypeError: "seed" expected the seed of the draws, got undefined'],
    ["a mask of another width", () => given([1, 2], [0], { mask: { data: new Uint8Array(3), rowCount: 1 } }), 'RangeError: "mask" expected 2 values a row, got 3'],
    ["a mask of other rows", () => given([1, 2], [0], { vocabSize: 2, mask: { data: new Uint32Array(3), rowCount: 3 } }), 'RangeError: "mask" expected 1 or 1 rows, got 3'],
    ["a mask of floats", () => given([1, 2], [0], { mask: { data: new Float32Array(2), rowCount: 1 } as never }), 'TypeError: "mask.data" expected a Uint32Array of words or a Uint8Array, got Float32Array'],
    ["padding past the end", () => given([1, 2], [0], { unpaddedSize: 3 }), 'RangeError: "unpaddedSize" expected an integer in [1, 3), got 3'],
    ["an engine that is not known", () => given([1, 2], [0], { engine: "nobody" }), 'RangeError: "engine" expected one of ours,'],
    ["options of the rule", () => given([1, 2], [0], { engineOptions: ["a=b"] }), 'RangeError: "engineOptions" expected none for ours, got "a=b"'],
    ["sums of given logits", () => given([1, 2], [0], { logitError: "f32" }), 'RangeError: "logitError" expected none, bf16 or { absolute, relative } for given logits'],
    ["a negative error", () => given([1, 2], [0], { logitError: { absolute: -1, relative: 0 } }), 'RangeError: "logitError.absolute" expected a finite number of 0 or more, got -1'],
    ["an error that is none", () => given([1, 2], [0], { logitError: { absolute: 0, relative: NaN } }), 'RangeError: "logitError.relative" expected'],
    ["a misspelt option", () => given([1, 2], [0], { temprature: 1 } as never), 'TypeError: "options" expected only'],
    ["neither head nor logits", () => check({ tokens: [0], seed: 0n }), 'TypeError: "weights" expected a head, and hiddenStates beside it (or logits alone in their place), got none'],
    ["a sequence of an engine that reads none", () => check({ logits: new Float32Array(2), vocabSize: 2, tokens: [0], seed: 0n, engine: "jax", sequence: 0 }), 'RangeError: "sequence" expected none for jax, whose noise has no sequence, got one'],
    ["weights that are nothing", () => check({ weights: null as never, hiddenStates: new Float32Array(1), tokens: [0], seed: 0n }), 'TypeError: "weights" expected { data, dtype, shape }, a path'],
    ["a tensor of an array", () => check({ weights: { data: new Float32Array(1), dtype: "f32", shape: [1, 1] }, tensor: "x", hiddenStates: new Float32Array(1), tokens: [0], seed: 0n }), 'TypeError: "weights" expected a file together with tensor or scales, got an array'],
    ["a tensor of logits", () => given([1, 2], [0], { tensor: "x" }), 'TypeError: "tensor" expected weights beside it, got logits'],
  ];
  test.each(refusals)("%s", async (_, attempt, message) => {
    expect(await messageOf(attempt)).toContain(message);
  });

  test("hopper is for bf16 and f16 heads", async () => {
    const weights = { data: new Float32Array(4), dtype: "f32", shape: [2, 2] } as const;
    const attempt = () => check({ weights, hiddenStates: new Float32Array(2), tokens: [0], seed: 0n, logitError: "hopper" });
    expect(await messageOf(attempt)).toContain("for weights of f32, got hopper");
  });
});
