/**
 * The replays of JAX, PyTorch and the Mersenne Twister engines: published answers always, and what the engines returned where the recordings are.
 * The inputs of the recordings are formulas, in the README beside them.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bitsFromF32, f32FromBits } from "../src/spec/float.js";
import { philox4x32 } from "../src/spec/philox.js";
import * as jax from "../src/verify/engines/jax.js";
import * as mersenne from "../src/verify/engines/mersenne.js";
import * as torch from "../src/verify/engines/torch.js";
import { unavailable } from "./require.js";
import { hex } from "./vector-checks.js";

const shared = process.env["FLASH_SAMPLING_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
const file = `${shared}/engines/recorded.json`;
const recorded = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
const lacksRecordings = unavailable("shared", recorded === null ? `no ${file}` : null);

const VOCAB_SIZE = 1000;
const logits = [0, 1, 2].map((i) =>
  Float32Array.from({ length: VOCAB_SIZE }, (_, j) => (((i * 7919 + j * 104729 + ((i * j) % 97) * 31) % 2001) - 1000) / 128),
);

const f32Hex = (value: number): string => hex(bitsFromF32(value), 8);
const f32FromHex = (text: string): number => f32FromBits(parseInt(text, 16));
const firstOf = <T>(count: number, at: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => at(index));

interface Draw {
  readonly token: number;
  readonly prediction: jax.Prediction;
}

/** In a near-tie the engine may have drawn the runner-up. */
function compare(draws: readonly Draw[]) {
  const isProven = ({ prediction: { gap, error } }: Draw) => gap > error;
  const isSame = ({ token, prediction }: Draw) => token === prediction.token;
  const isReproduced = (draw: Draw) => isSame(draw) || (!isProven(draw) && draw.token === draw.prediction.runnerUp);
  return {
    proven: draws.filter((draw) => isSame(draw) && isProven(draw)).length,
    nearTies: draws.filter((draw) => isReproduced(draw) && !isProven(draw)).length,
    wrong: draws.filter((draw) => !isReproduced(draw)).length,
  };
}

/** Tells the counts. @throws when a draw is not reproduced */
function expectReproduced(name: string, draws: readonly Draw[], count: number): void {
  const { proven, nearTies, wrong } = compare(draws);
  console.log(`${name}: ${draws.length} draws, ${proven} proven, ${nearTies} near-ties, ${wrong} wrong`);
  expect({ draws: draws.length, wrong }).toEqual({ draws: count, wrong: 0 });
  // A bound that is far too wide would prove nothing.
  expect(proven).toBeGreaterThan(count * 0.9);
}

function expectHeld(values: readonly jax.Approximate[], engineBits: readonly string[]): void {
  expect(engineBits.length).toBe(values.length);
  values.forEach(({ low, high }, index) => {
    const engine = f32FromHex(engineBits[index]!);
    expect(engine).toBeGreaterThanOrEqual(low);
    expect(engine).toBeLessThanOrEqual(high);
  });
}

it("engines say what proves them", () => {
  const states = [jax, torch, mersenne].map(({ engine }) => `${engine.name}: ${engine.status}`);
  console.log(states.join("\n"));
  expect(states).toEqual([
    "JAX threefry2x32, random.categorical: recorded",
    "PyTorch CUDA, torch.multinomial of one sample: recorded",
    "mt19937: llama.cpp's dist sampler, transformers.js: unproven",
  ]);
});

describe("a decision", () => {
  const at = (value: number, error: number): jax.Approximate => ({ value, low: value - error, high: value + error });

  it("names the rival that may be highest, and the error of both", () => {
    expect(jax.decide([at(1, 0.25), at(4, 0.5), at(2, 2), at(3, 0.125)])).toEqual({ token: 1, runnerUp: 2, gap: 2, error: 2.5 });
    expect(jax.decide([at(1, 0), at(1, 0)])).toEqual({ token: 0, runnerUp: 1, gap: 0, error: 0 });
    expect(jax.decide([at(1, 0)])).toEqual({ token: 0, runnerUp: -1, gap: Infinity, error: 0 });
    expect(jax.decide([at(-Infinity, 0), at(1, 0.5)])).toEqual({ token: 1, runnerUp: 0, gap: Infinity, error: 0 });
    expect(() => jax.decide([])).toThrow('"scores" expected at least one, got none');
  });
});

describe("JAX", () => {
  const key = jax.keyOf(0n);
  const placeOf = (row: number, rows = 3): jax.Place => ({ key, row, rows, vocabSize: VOCAB_SIZE, partitionable: true, mode: "low" });

  it.each([
    [[0, 0], [0, 0], [0x6b200159, 0x99ba4efe]],
    [[0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], [0x1cb996fc, 0xbb002be7]],
    [[0x243f6a88, 0x85a308d3], [0x13198a2e, 0x03707344], [0xc4923a9c, 0x483df7a0]],
  ] as [jax.Key, jax.Key, jax.Key][])("threefry2x32 %s with key %s, as Random123 says", (counter, withKey, answer) => {
    expect(jax.threefry2x32(counter, withKey)).toEqual(answer);
  });

  it("splits as its documentation showed before keys were partitionable", () => {
    expect([0, 1].map((index) => jax.split(key, 2, index, false))).toEqual([
      [4146024105, 967050713],
      [2718843009, 1272950319],
    ]);
  });

  it("fills an odd count of words with a counter of 0, in the layout that is not partitionable", () => {
    const place = { ...placeOf(0, 1), vocabSize: 3, partitionable: false };
    const [first, third] = jax.threefry2x32([0, 2], key);
    expect([0, 1, 2].map((token) => jax.words(place, token))).toEqual([[first], [jax.threefry2x32([1, 0], key)[0]], [third]]);
  });

  it('takes a second array of words in mode "high"', () => {
    const [low] = jax.words(placeOf(2), 5);
    // An array of twice the rows holds both: row 5 of it is row 2 of the second.
    const [second] = jax.words(placeOf(5, 6), 5);
    expect(jax.words({ ...placeOf(2), mode: "high" }, 5)).toEqual([low, second]);
  });

  it('reaches 32 in mode "high", 16 in mode "low"', () => {
    expect(jax.highUniform(0.5, 0.75, 2 ** -47)).toBe(0.5);
    expect(jax.highUniform(0, 0, 2 ** -47)).toBe(2 ** -47);
    expect(jax.highUniform(0.25, 0.75, 2 ** -47)).toBe(0.25 + 3 * 2 ** -25);
    expect(jax.uniform(0xffffffff)).toBe(1 - 2 ** -23);
    expect(f32Hex(jax.uniform(0x000001ff))).toBe("00000000");
  });

  it("refuses seeds that are not 64 bits", () => {
    expect(() => jax.keyOf(-1n)).toThrow('"seed" expected');
    expect(jax.keyOf((7n << 32n) | 9n)).toEqual([7, 9]);
    expect(() => jax.keyOf(1n << 64n)).toThrow('"seed" expected');
  });

  describe.skipIf(lacksRecordings)("recordings", () => {
    const { cases, partitionable } = recorded?.jax ?? {};

    it("are of what is replayed", () => {
      expect(partitionable).toBe(true);
      expect(cases.length).toBeGreaterThan(0);
    });

    it("keys, words and uniform numbers to the bit; noise within the bounds", () => {
      for (const { seed, key_data, bits, uniform, gumbel, fold_in_7, split2 } of cases) {
        const caseKey = jax.keyOf(BigInt(seed));
        expect(caseKey).toEqual(key_data);
        const place = { key: caseKey, row: 0, rows: 1, vocabSize: bits.length, partitionable, mode: "low" } as const;
        const words = firstOf(bits.length, (token) => jax.words(place, token)[0]!);
        expect(words).toEqual(bits);
        expect(words.map((word) => f32Hex(jax.uniform(word)))).toEqual(uniform);
        expectHeld(firstOf(gumbel.length, (token) => jax.noise(place, token)), gumbel);
        expect(jax.foldIn(caseKey, 7)).toEqual(fold_in_7);
        expect([0, 1].map((index) => jax.split(caseKey, 2, index))).toEqual(split2);
      }
    });

    const draws = (change: Partial<jax.Place> = {}): Draw[] =>
      cases.flatMap(({ seed, categorical, categorical_shape5 }: any) => [
        ...categorical.map((token: number, row: number) => ({
          token,
          prediction: jax.predict(logits[row]!, { ...placeOf(row), key: jax.keyOf(BigInt(seed)), ...change }),
        })),
        ...categorical_shape5.flat().map((token: number, row: number) => ({
          token,
          prediction: jax.predict(logits[row % 3]!, { ...placeOf(row, 15), key: jax.keyOf(BigInt(seed)), ...change }),
        })),
      ]);

    it("tokens", () => expectReproduced("JAX categorical", draws(), cases.length * 18));

    it.each([{ key: jax.keyOf(1n) }, { partitionable: false }, { mode: "high" }, { vocabSize: VOCAB_SIZE + 1 }] as Partial<jax.Place>[])(
      "with %o are not reproduced",
      (change) => expect(compare(draws(change)).wrong).toBeGreaterThan(5),
    );

    it("are not of words that differ from these in a constant", () => {
      const [{ bits }] = cases;
      // One half of the output, a counter the other way round, the key the other way round.
      expect(firstOf(10, (token) => jax.threefry2x32([0, token], key)[0])).not.toEqual(bits);
      expect(firstOf(10, (token) => jax.threefry2x32([token, 0], key)).map(([a, b]) => (a ^ b) >>> 0)).not.toEqual(bits);
      expect(firstOf(10, (token) => jax.words({ ...placeOf(0), key: [1, 0] }, token)[0])).not.toEqual(bits);
    });
  });
});

describe("PyTorch", () => {
  it("makes a word its place in the middle of a step, and bounds an exponential number near 0", () => {
    // The smallest and the largest first word of seed 0.
    expect([65460, 53224].map((element) => torch.words(0n, element)[0])).toEqual([2517, 4294962406]);
    expect(torch.uniform(0n, 65460)).toBe(2517.5 * 2 ** -32);
    expect(torch.uniform(0n, 53224)).toBeLessThan(1);
    const { value, low, high } = torch.noise(0n, 53224);
    expect(value).toBeCloseTo(4890 * 2 ** -32, 7);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
  });

  it("refuses elements beyond what is replayed, and logits without a highest one", () => {
    expect(() => torch.words(0n, torch.ELEMENT_LIMIT)).toThrow('"element" expected an integer from 0 to 270335, got 270336');
    expect(() => torch.words(1n << 64n, 0)).toThrow('"seed" expected');
    const place = { seed: 0n, row: 0, vocabSize: 2 };
    expect(() => torch.predict([-Infinity, -Infinity], place)).toThrow('"logits" expected a finite highest one, got -Infinity');
    expect(torch.predict([-Infinity, 0], place)).toMatchObject({ token: 1, runnerUp: 0, gap: Infinity, error: 0 });
  });

  describe.skipIf(lacksRecordings)("recordings", () => {
    const cases: any[] = recorded?.torch ?? [];

    it("rand to the bit; exponential_ within the bounds", () => {
      expect(cases.length).toBeGreaterThan(0);
      for (const { seed, cuda_rand, cuda_exponential } of cases) {
        expect(firstOf(cuda_rand.length, (element) => f32Hex(torch.uniform(BigInt(seed), element)))).toEqual(cuda_rand);
        expectHeld(firstOf(cuda_exponential.length, (element) => torch.noise(BigInt(seed), element)), cuda_exponential);
      }
    });

    const draws = (name: "cuda_multinomial" | "cuda_exp_race", seedStep = 0, rowStep = 0): Draw[] =>
      cases.flatMap((recording) =>
        recording[name].flat().map((token: number, row: number) => ({
          token,
          prediction: torch.predict(logits[row]!, { seed: BigInt(recording.seed + seedStep), row: row + rowStep, vocabSize: VOCAB_SIZE }),
        })),
      );

    it.each(["cuda_multinomial", "cuda_exp_race"] as const)("tokens of %s", (name) => expectReproduced(`PyTorch ${name}`, draws(name), cases.length * 3));

    it("tokens of another seed or place are not reproduced", () => {
      expect(compare(draws("cuda_multinomial", 1)).wrong).toBeGreaterThan(0);
      expect(compare(draws("cuda_multinomial", 0, 1)).wrong).toBeGreaterThan(0);
    });

    it("rand is not of words that differ from these in a constant", () => {
      const [{ cuda_rand }] = cases;
      const rand = (word: number) => f32Hex(Math.fround(Math.fround(word) * 2 ** -32 + 2 ** -33));
      expect(firstOf(8, (element) => rand(torch.words(0n, element)[0]))).toEqual(cuda_rand);
      expect(firstOf(8, (element) => rand(torch.words(0n, element)[1]))).not.toEqual(cuda_rand);
      expect(firstOf(8, (element) => rand(philox4x32([element, 0, 0, 0], [0, 0])[0]))).not.toEqual(cuda_rand);
      expect(firstOf(8, (element) => rand(philox4x32([1, 0, element, 0], [0, 0])[0]))).not.toEqual(cuda_rand);
    });
  });
});

describe("mt19937", () => {
  it("has the 10000th word that the C++ standard states, and no other seed has", () => {
    const tenThousandth = (seed: number) => mersenne.words(mersenne.twister(seed), 10_000).at(-1);
    expect(tenThousandth(5489)).toBe(4123659995);
    expect(tenThousandth(5488)).not.toBe(4123659995);
  });

  it("seeded by words has the authors' first words", () => {
    expect(mersenne.words(mersenne.twisterOfWords([0x123, 0x234, 0x345, 0x456]), 5)).toEqual([1067595299, 955945823, 477289528, 4107218783, 4228976476]);
    expect(() => mersenne.twisterOfWords([])).toThrow('"key" expected 1 to 624 words, got 0');
  });

  it("gives Python's numbers, which are transformers.js'", () => {
    const numbers = (key: number[]) => firstOf(2, ((next) => () => mersenne.uniformPython(next))(mersenne.twisterOfWords(key)));
    expect(numbers([42])).toEqual([0.6394267984578837, 0.025010755222666936]);
    expect(numbers([0])).toEqual([0.8444218515250481, 0.7579544029403025]);
    // 2^32 + 5
    expect(numbers([5, 1])).toEqual([0.15727238718789782, 0.2824866316461999]);
  });

  it("gives libstdc++'s numbers and its weighted choices", () => {
    const next = mersenne.twister(42);
    expect(firstOf(2, () => mersenne.uniform53(next))).toEqual([0.796542984287846, 0.18343478789336848]);
    expect(mersenne.uniform53(() => 0xffffffff)).toBe(1 - 2 ** -53);
    const choices = (seed: number) => {
      const from = mersenne.twister(seed);
      return firstOf(8, () => mersenne.predictDiscrete([1, 2, 3, 4], from)).map(({ token }) => token);
    };
    expect(choices(1)).toEqual([3, 3, 1, 3, 1, 2, 2, 3]);
    expect(choices(42)).toEqual([3, 1, 3, 2, 2, 0, 2, 2]);
  });

  it("tells how near a draw is to the next token's part", () => {
    const word = (u: number) => () => Math.floor(u * 2 ** 32);
    const draw = (u: number) => mersenne.predictDiscrete([1, 0, 2, 1], word(u));
    expect(draw(0.125)).toMatchObject({ token: 0, runnerUp: 2 });
    expect(draw(0.375)).toMatchObject({ token: 2, runnerUp: 0 });
    expect(draw(0.625)).toMatchObject({ token: 2, runnerUp: 3 });
    expect(draw(0.875)).toMatchObject({ token: 3, runnerUp: 2 });
    expect(draw(0.375).gap).toBeCloseTo(0.125, 8);
    expect(mersenne.predictDiscrete([5], word(0.5))).toEqual({ token: 0, runnerUp: -1, gap: Infinity, error: 0 });
  });

  it("chooses along the logits in llama.cpp's order, and among the highest in transformers.js'", () => {
    const row = [0, Math.log(3), -Infinity, Math.log(4)];
    const shares = [0.1, 0.2, 0.6];
    const llamaCpp = shares.map((u) => mersenne.predictLlamaCpp(row, () => u * 2 ** 32).token);
    const transformersJs = shares.map((u) => mersenne.predictTransformersJs(row, 0, () => u * 2 ** 32).token);
    expect({ llamaCpp, transformersJs }).toEqual({ llamaCpp: [0, 1, 3], transformersJs: [3, 3, 1] });
    expect(mersenne.predictTransformersJs(row, 1, () => 0.99 * 2 ** 32).token).toBe(3);
    expect(mersenne.predictTransformersJs([5, 5, 5], 2, () => 0.9 * 2 ** 32)).toMatchObject({ token: 1, runnerUp: 0 });
    expect(() => mersenne.predictLlamaCpp([-Infinity], () => 0)).toThrow('"logits" expected a finite highest one, got -Infinity');
  });

  it("counts a draw on the border as a near-tie, and others as proven", () => {
    const from = mersenne.twister(1);
    const predictions = firstOf(1000, (index) => mersenne.predictLlamaCpp(logits[index % 3]!, from));
    expect(predictions.filter(({ gap, error }) => gap > error).length).toBeGreaterThan(950);
    const { gap, error } = mersenne.predictLlamaCpp([0, 0], () => 2 ** 31);
    expect(gap).toBeLessThan(error);
  });
});
