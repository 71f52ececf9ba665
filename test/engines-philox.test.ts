/**
 * The replays of engines on Philox against what those engines returned: words and uniform numbers to the bit, tokens either proven or a near-tie.
 * The inputs of the recordings are formulas, in the README beside them.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { bitsFromF32 } from "../src/spec/float.js";
import { philox4x32 } from "../src/spec/philox.js";
import * as flashInfer from "../src/verify/engines/flashinfer.js";
import * as flashSampling from "../src/verify/engines/flashsampling.js";
import { decide, exactly, isProven, LOG_ERROR_F32, minusLog, plus, type Approximate, type Prediction } from "../src/verify/engines/philox-streams.js";
import * as triton from "../src/verify/engines/triton.js";
import * as vllm from "../src/verify/engines/vllm-mrv2.js";
import { unavailable } from "./require.js";
import { hex } from "./vector-checks.js";

const shared = process.env["FLASH_SAMPLING_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
const file = `${shared}/engines/recorded.json`;
const lacksRecordings = unavailable("shared", existsSync(file) ? null : `no ${file}`);
// The body of a skipped describe runs as well.
const recorded = lacksRecordings ? { triton: [], curand: [] } : JSON.parse(readFileSync(file, "utf8"));

const f32Hex = (value: number): string => hex(bitsFromF32(value), 8);
const grid = (rows: number, columns: number, at: (i: number, j: number) => number): Float32Array[] =>
  Array.from({ length: rows }, (_, i) => Float32Array.from({ length: columns }, (_, j) => at(i, j)));

const weightsOf = (V: number, D: number) =>
  grid(V, D, (i, j) => ((Math.floor((i * 2654435761 + j * 40503 + ((i * j) % 251) * 977) / 8) % 17) - 8) / 16);
const hiddenOf = (B: number, D: number) => grid(B, D, (i, j) => ((Math.floor((i * 668265263 + j * 374761393 + 17) / 32) % 9) - 4) / 8);
const logitsOf = (B: number, V: number) => grid(B, V, (i, j) => (((i * 7919 + j * 104729 + ((i * j) % 97) * 31) % 2001) - 1000) / 128);

/** Exact in any order. */
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

/** A draw that was recorded: the engine's token, and the replay's. */
interface Draw {
  readonly token: number;
  readonly prediction: Prediction;
}

/** How the draws compare. In a near-tie the engine may have drawn the runner-up. */
function compare(draws: readonly Draw[]) {
  const same = draws.filter(({ token, prediction }) => token === prediction.token);
  const proven = same.filter(({ prediction }) => isProven(prediction)).length;
  const wrong = draws.filter(({ token, prediction }) => token !== prediction.token && (isProven(prediction) || token !== prediction.runnerUp)).length;
  return { draws: draws.length, proven, nearTies: draws.length - proven - wrong, wrong };
}

/** Tells the counts. @throws when a draw is not reproduced */
function expectReproduced(name: string, draws: readonly Draw[], count: number): void {
  const { proven, nearTies, ...result } = compare(draws);
  console.log(`${name}: ${result.draws} draws, ${proven} proven, ${nearTies} near-ties, ${result.wrong} wrong`);
  expect(result).toEqual({ draws: count, wrong: 0 });
}

describe.skipIf(lacksRecordings)("recordings", () => {
  describe("Triton", () => {
    const places = recorded.triton.flatMap(({ seed, offsets, words, rand_bits }: any) =>
      offsets.map((offset: number, index: number) => ({
        seed: BigInt(seed),
        offset: BigInt(offset),
        words: words.map((word: number[]) => word[index]),
        uniform: rand_bits[index],
      })),
    );

    test("words and uniform numbers", () => {
      expect(places).toHaveLength(64);
      for (const { seed, offset, words, uniform } of places) {
        expect({ seed, offset, words: triton.words(seed, offset), uniform: f32Hex(triton.uniform(seed, offset)) }).toEqual({ seed, offset, words, uniform });
      }
    });

    test("no other seed, offset or word does", () => {
      for (const { seed, offset, words, uniform } of places) {
        expect(triton.words(seed + 1n, offset)).not.toEqual(words);
        expect(triton.words(seed, offset + 1n)).not.toEqual(words);
        expect(triton.words(seed, offset + (1n << 32n))).not.toEqual(words);
        expect(f32Hex(flashInfer.curandUniform(words[0]))).not.toBe(uniform);
      }
    });
  });

  describe("cuRAND", () => {
    const places = recorded.curand.map(({ seed, subsequence, offset, ...answer }: any) => ({
      place: [BigInt(seed), BigInt(subsequence), BigInt(offset)] as const,
      ...answer,
    }));

    test("words and uniform numbers", () => {
      expect(places).toHaveLength(40);
      for (const { place, words, uniform_bits } of places) {
        const got = flashInfer.curandWords(...(place as [bigint, bigint, bigint]));
        expect({ place, words: got, uniform_bits: got.map((word) => f32Hex(flashInfer.curandUniform(word))) }).toEqual({ place, words, uniform_bits });
      }
    });

    test("an offset within a block continues in the next", () => {
      for (let index = 0; index < places.length; index += 2) {
        const { place, words } = places[index];
        const [seed, subsequence] = place;
        const run = [...words, ...places[index + 1].words];
        for (const offset of [0, 1, 2, 3, 4]) expect(flashInfer.curandWords(seed, subsequence, BigInt(offset))).toEqual(run.slice(offset, offset + 4));
      }
    });

    test("no other seed, subsequence or offset does", () => {
      for (const { place, words } of places) {
        const [seed, subsequence, offset] = place;
        expect(flashInfer.curandWords(seed ^ (1n << 40n), subsequence, offset)).not.toEqual(words);
        expect(flashInfer.curandWords(seed, subsequence ^ (1n << 33n), offset)).not.toEqual(words);
        expect(flashInfer.curandWords(subsequence, seed, offset + 1n)).not.toEqual(words);
      }
    });
  });

  describe("FlashInfer", () => {
    const replay = (change: (place: flashInfer.Place) => Partial<flashInfer.Place> = () => ({})): Draw[] =>
      recorded.flashinfer_sampling_from_logits.flatMap(({ B, V, seed, offset, tokens }: any) =>
        logitsOf(B, V).map((logits, row) => {
          const place = { seed: BigInt(seed), offset: BigInt(offset), row, vocabSize: V, vectorSize: flashInfer.vectorSizeOf(V) };
          return { token: tokens[row], prediction: flashInfer.predict(logits, { ...place, ...change(place) }) };
        }),
      );

    test("tokens", () => expectReproduced("FlashInfer", replay(), 14));

    test.each<[string, (place: flashInfer.Place) => Partial<flashInfer.Place>]>([
      ["vector", ({ vectorSize }) => ({ vectorSize: vectorSize === 4 ? 1 : 4 })],
      ["offset", () => ({ offset: 4n })],
      ["seed", ({ seed }) => ({ seed: seed + 1n })],
      ["row length", ({ vocabSize }) => ({ vocabSize: vocabSize + 4 })],
    ])("another %s does not", (_, change) => expect(compare(replay(change)).wrong).toBeGreaterThan(5));
  });

  describe("vLLM, model runner v2", () => {
    const replay = (precision: vllm.Precision, seedStep = 0n, positionStep = 0n): Draw[] =>
      recorded.vllm_mrv2
        .filter(({ fp64 }: any) => fp64 === (precision === "f64"))
        .flatMap(({ B, V, seeds, pos, temp, tokens }: any) =>
          logitsOf(B, V).map((logits, row) => {
            const place = vllm.placeOf(BigInt(seeds[row]) + seedStep, BigInt(pos[row]) + positionStep, precision);
            return { token: tokens[row], prediction: vllm.predict(logits, place, temp[row]) };
          }),
        );

    test.each(["f32", "f64"] as const)("tokens in %s", (precision) => expectReproduced(`vLLM ${precision}`, replay(precision), 4));

    // The row of temperature 0 takes no noise. It is the near-tie: two of its logits are equal, and the first wins.
    test.each<[string, bigint, bigint]>([
      ["seed", 1n, 0n],
      ["upper half of the seed", 1n << 32n, 0n],
      ["position", 0n, 1n],
      ["upper half of the position", 0n, 1n << 32n],
    ])("another %s does not", (_, seedStep, positionStep) => {
      for (const precision of ["f32", "f64"] as const) expect(compare(replay(precision, seedStep, positionStep))).toMatchObject({ wrong: 3 });
    });

    test("the other precision does not", () => {
      const tokens = replay("f64").map(({ token }) => token);
      expect(compare(replay("f32").map(({ prediction }, row) => ({ token: tokens[row]!, prediction }))).wrong).toBeGreaterThan(1);
    });
  });

  describe("FlashSampling, Triton kernel", () => {
    const logits = new Map<string, number[][]>();
    function logitsOfHead(V: number, D: number, B: number): number[][] {
      const name = `${V} ${D} ${B}`;
      const known = logits.get(name);
      if (known !== undefined) return known;
      const weights = weightsOf(V, D);
      const made = hiddenOf(B, D).map((hidden) => weights.map((weight) => dot(weight, hidden)));
      logits.set(name, made);
      return made;
    }
    const replay = (change: (place: flashSampling.Place) => Partial<flashSampling.Place> = () => ({})): Draw[] =>
      recorded.flashsampling_triton.flatMap(({ V, D, B, num_samples, seed, temperature, block_v: blockV, tokens }: any) =>
        logitsOfHead(V, D, B).flatMap((logits, row) =>
          Array.from({ length: num_samples }, (_, sample) => {
            const place = { seed, sample, row, rows: B, blockV, blockH: flashSampling.blockHOf(B) };
            return { token: tokens[row][sample], prediction: flashSampling.predict(logits, { ...place, ...change(place) }, temperature) };
          }),
        ),
      );

    test("tokens", () => expectReproduced("FlashSampling", replay(), 208));

    test.each<[string, (place: flashSampling.Place) => Partial<flashSampling.Place>]>([
      ["tile height", ({ blockV }) => ({ blockV: 384 - blockV })],
      ["tile width", ({ blockH }) => ({ blockH: blockH === 16 ? 32 : 16 })],
      ["count of rows", ({ rows, blockH }) => ({ rows: rows + blockH })],
      ["sample", ({ sample }) => ({ sample: sample + 1 })],
    ])("another %s does not", (_, change) => expect(compare(replay(change)).wrong).toBeGreaterThan(50));
  });
});

describe("layouts that no recording reaches", () => {
  test("Triton: a 64-bit offset fills the second word, a 64-bit seed the second of the key", () => {
    expect(triton.words(0n, 0n)).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    expect(triton.words(0x299f31d0a4093822n, 0x85a308d3243f6a88n)).toEqual(philox4x32([0x243f6a88, 0x85a308d3, 0, 0], [0xa4093822, 0x299f31d0]));
  });

  test("cuRAND: the subsequence is the upper half of the counter", () => {
    const words = philox4x32([0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]);
    expect(flashInfer.curandWords(0x299f31d0a4093822n, 0x0370734413198a2en, 0x05a308d3243f6a88n << 2n)).toEqual(words);
  });

  test("cuRAND: uniform numbers lie above 0 and reach 1, those of FlashInfer are lower", () => {
    expect([0, 1, 0xffffff7f, 0xffffff80, 0xffffffff].map(flashInfer.curandUniform)).toEqual([2 ** -33, 3 * 2 ** -33, 1 - 2 ** -24, 1, 1]);
    const place = { seed: 0n, offset: 0n, row: 0, vocabSize: 3, vectorSize: 1 };
    for (const token of [0, 1, 2]) expect(flashInfer.uniform(place, token)).toBeLessThan(flashInfer.curandUniform(flashInfer.words(place, token)[0]));
  });

  test("FlashInfer: vectors of two for even sizes, and subsequences wrap", () => {
    expect([1000, 1002, 1001, 1].map(flashInfer.vectorSizeOf)).toEqual([4, 2, 1, 1]);
    const place = { seed: 7n, offset: 0n, row: 2, vocabSize: 2 ** 31, vectorSize: 2 };
    expect(flashInfer.words(place, 5)).toEqual(flashInfer.curandWords(7n, 4n, 0n));
  });

  test("FlashSampling: sample 1 of seed 0 is sample 0 of seed 1, and offsets wrap", () => {
    const place = { seed: 0, sample: 1, row: 3, rows: 3, blockV: 128, blockH: 16 };
    expect(flashSampling.words(place, 99)).toEqual(flashSampling.words({ ...place, seed: 1, sample: 0 }, 99));
    expect(flashSampling.words(place, 99)).toEqual(triton.words(1n, 99n * 16n + 3n));
    expect(flashSampling.words(place, 2 ** 28 + 99)).toEqual(flashSampling.words(place, 99));
  });

  test("vLLM: int64 may be negative", () => {
    expect(vllm.placeOf(-1n, -2n, "f32").rowSeed).toBe(BigInt(triton.words(2n ** 64n - 1n, 2n ** 64n - 2n)[0]));
  });

  test("numbers out of range are refused", () => {
    expect(() => triton.words(-1n, 0n)).toThrow(`"seed" expected an integer from 0 to 2^64 - 1, got -1`);
    expect(() => triton.words(0n, 1n << 64n)).toThrow(`"offset" expected an integer from 0 to 2^64 - 1, got 18446744073709551616`);
    const place = { seed: 2 ** 31 - 1, sample: 1, row: 0, rows: 1, blockV: 128, blockH: 16 };
    expect(() => flashSampling.words(place, 0)).toThrow(`"seed" expected seed + sample from 0 to 2^31 - 1, got 2147483648`);
    expect(() => decide([])).toThrow(`"scores" expected at least one, got none`);
  });
});

describe("numbers with bounds", () => {
  const holds = ({ low, high }: Approximate, value: number): boolean => low <= value && value <= high;
  const width = ({ low, high }: Approximate): number => high - low;
  const tokens = Array.from({ length: 2000 }, (_, token) => token);

  test("hold what exact roundings give, and are narrow but for the noise of tokens that win", () => {
    const sampling = { seed: 5, sample: 0, row: 0, rows: 1, blockV: 128, blockH: 16 };
    const infer = { seed: 5n, offset: 0n, row: 0, vocabSize: 2000, vectorSize: 4 };
    const f32 = vllm.placeOf(5n, 0n, "f32");
    const f64 = vllm.placeOf(5n, 0n, "f64");
    const log = (x: number): number => Math.fround(Math.log(x));
    const log2 = (x: number): number => Math.fround(Math.log2(x));
    for (const token of tokens) {
      expect(flashSampling.noise(sampling, token)).toSatisfy((noise: Approximate) => holds(noise, -log(-log(flashSampling.uniform(sampling, token)))));
      expect(flashInfer.noise(infer, token)).toSatisfy((noise: Approximate) =>
        holds(noise, Math.fround(-Math.fround(0.6931471806) * log2(-log2(flashInfer.uniform(infer, token))))),
      );
      expect(vllm.noise(f32, token)).toSatisfy((noise: Approximate) => holds(noise, -log(Math.fround(-Math.log1p(-vllm.uniform(f32, token))))));
      expect(vllm.noise(f64, token)).toSatisfy((noise: Approximate) => holds(noise, -Math.log(-Math.log(vllm.uniform(f64, token)))));
      const relativeWidth = (noise: Approximate): number => width(noise) / (1 + Math.exp(noise.value));
      // Noise lies above -3.2, so the outer logarithm and the rounding of its product add at most 5e-6.
      expect(relativeWidth(flashSampling.noise(sampling, token))).toBeLessThan(6e-6);
      expect(relativeWidth(flashInfer.noise(infer, token))).toBeLessThan(6e-6);
      expect(relativeWidth(vllm.noise(f64, token))).toBeLessThan(1e-14);
      expect(width(vllm.noise(f32, token))).toBeLessThan(1e-5);
    }
  });

  test("a logarithm turns the bounds around and adds its own error", () => {
    expect(minusLog({ value: 1, low: 0.25, high: 4 }, 2 ** -20, Math.log2)).toEqual({ value: -0, low: -2 - 2 ** -19, high: 2 + 2 ** -19 });
    expect(minusLog(exactly(1), 2 ** -20, Math.log2)).toEqual({ value: -0, low: -(2 ** -20), high: 2 ** -20 });
  });

  test("a logarithm of what may be 0 or negative is unbounded", () => {
    expect(minusLog({ value: 1e-9, low: 0, high: 2e-9 }, LOG_ERROR_F32).high).toBe(Infinity);
    expect(minusLog({ value: 1e-9, low: -1e-9, high: 2e-9 }, LOG_ERROR_F32)).toMatchObject({ low: -Infinity, high: Infinity });
    expect(minusLog(minusLog(exactly(0), LOG_ERROR_F32), LOG_ERROR_F32)).toEqual(exactly(-Infinity));
  });

  test("decide between the best and what may beat it", () => {
    const scores = [exactly(1), { value: 2, low: 1.75, high: 2.5 }, { value: 1.5, low: 1, high: 1.625 }];
    expect(decide(scores)).toEqual({ token: 1, runnerUp: 2, gap: 0.5, error: 0.375 });
    expect(isProven(decide(scores))).toBe(true);
    // Lower than another, but it may be higher than the best.
    expect(decide([...scores, { value: 0, low: 0, high: 2 }])).toEqual({ token: 1, runnerUp: 3, gap: 2, error: 2.25 });
    expect(isProven(decide([...scores, { value: 0, low: 0, high: 2 }]))).toBe(false);
    expect(isProven(decide([exactly(1), exactly(1)]))).toBe(false);
    expect(decide([exactly(1), exactly(1)]).token).toBe(0);
  });

  test("masked tokens take no part", () => {
    const masked = plus(exactly(-Infinity), { value: 3, low: 2, high: 4 }, 2 ** -23);
    expect(decide([masked, { value: -5, low: -6, high: -4 }])).toEqual({ token: 1, runnerUp: 0, gap: Infinity, error: 1 });
    expect(decide([exactly(0)])).toEqual({ token: 0, runnerUp: -1, gap: Infinity, error: 0 });
  });
});
