/** The generators of other engines: their published answers, and what the engines returned, to the bit. */
import { describe, expect, it } from "vitest";
import { bitsFromF32 } from "../src/spec/float.js";
import { philox4x32 } from "../src/spec/philox.js";
import * as flashInfer from "../src/verify/engines/flashinfer.js";
import * as flashSampling from "../src/verify/engines/flashsampling.js";
import * as jax from "../src/verify/engines/jax.js";
import * as mersenne from "../src/verify/engines/mersenne.js";
import { murmur3, tokenWords } from "../src/verify/engines/murmur3.js";
import * as torch from "../src/verify/engines/torch.js";
import * as triton from "../src/verify/engines/triton.js";
import * as mrv2 from "../src/verify/engines/vllm-mrv2.js";
import * as vllm from "../src/verify/engines/vllm-murmur3.js";
import { halves } from "../src/verify/engines/words64.js";
import { drawOf, lackOfShared, recording, sharedRecording } from "./engines-recordings.js";
import { unavailable } from "./require.js";
import { f64Value, hex } from "./vector-checks.js";

const lacksShared = unavailable("shared", lackOfShared);
const f32Hex = (value: number): string => hex(bitsFromF32(value), 8);
const firstOf = <T>(count: number, at: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => at(index));
const H200 = 132 * 2048;

describe("Triton", () => {
  const { cases } = recording("triton");

  it("words and uniform numbers as recorded: seeds of 64 bits, offsets of 32 and 64, with signs", () => {
    expect(cases.length).toBe(20);
    for (const { seed, offsetType, offsets, words, rand } of cases) {
      offsets.forEach((text: string, index: number) => {
        // An offset of 32 bits leaves the second word of the counter 0.
        const offset = offsetType === "int32" ? BigInt.asUintN(32, BigInt(text)) : BigInt(text);
        expect(triton.words(BigInt(seed), offset)).toEqual(words.map((ofOffsets: number[]) => ofOffsets[index]));
        expect(f32Hex(triton.uniform(BigInt(seed), offset))).toBe(rand[index]);
        if (offsetType === "int32") expect(triton.wordsAt(halves("seed", BigInt(seed)), Number(offset))).toEqual(triton.words(BigInt(seed), offset));
      });
    }
  });

  it("a flipped bit of the seed or the offset gives other words", () => {
    const words = triton.words(42n, 7n);
    for (let bit = 0n; bit < 64n; bit++) {
      expect(triton.words(42n ^ (1n << bit), 7n)).not.toEqual(words);
      expect(triton.words(42n, 7n ^ (1n << bit))).not.toEqual(words);
    }
  });

  it("its lower words of the counter are the offset, and its key the seed, of Random123's answer", () => {
    expect(triton.words(0n, 0n)).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    expect(triton.words(0x299f31d0a4093822n, 0x85a308d3243f6a88n)).toEqual(philox4x32([0x243f6a88, 0x85a308d3, 0, 0], [0xa4093822, 0x299f31d0]));
  });

  it.skipIf(lacksShared)("words and uniform numbers as recorded before", () => {
    for (const { seed, offsets, words, rand_bits } of sharedRecording?.triton ?? []) {
      offsets.forEach((offset: number, index: number) => {
        expect(triton.words(BigInt(seed), BigInt(offset))).toEqual(words.map((ofOffsets: number[]) => ofOffsets[index]));
        expect(f32Hex(triton.uniform(BigInt(seed), BigInt(offset)))).toBe(rand_bits[index]);
      });
    }
  });
});

describe("cuRAND", () => {
  it.skipIf(lacksShared)("words and uniform numbers as recorded; no bit of the place is idle", () => {
    const places = sharedRecording?.curand ?? [];
    expect(places.length).toBe(40);
    for (const { seed, subsequence, offset, words, uniform_bits } of places) {
      const wordsOf = (seedFlip = 0n, subsequenceFlip = 0n) =>
        flashInfer.curandWords(halves("seed", BigInt(seed) ^ seedFlip), halves("subsequence", BigInt(subsequence) ^ subsequenceFlip), BigInt(offset));
      expect(wordsOf()).toEqual(words);
      expect(words.map((word: number) => f32Hex(flashInfer.curandUniform(word)))).toEqual(uniform_bits);
      for (let bit = 0n; bit < 64n; bit++) {
        expect(wordsOf(1n << bit)).not.toEqual(words);
        expect(wordsOf(0n, 1n << bit)).not.toEqual(words);
      }
    }
  });

  it("the subsequence is the upper half of the counter", () => {
    const words = philox4x32([0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]);
    expect(flashInfer.curandWords([0xa4093822, 0x299f31d0], [0x13198a2e, 0x03707344], 0x05a308d3243f6a88n << 2n)).toEqual(words);
  });

  it("uniform numbers lie above 0 and reach 1; FlashInfer's are lower", () => {
    expect([0, 1, 0xffffff7f, 0xffffff80, 0xffffffff].map(flashInfer.curandUniform)).toEqual([2 ** -33, 3 * 2 ** -33, 1 - 2 ** -24, 1, 1]);
    const words = firstOf(3, (token) => flashInfer.curandWords([0, 0], [token, 0], 0n)[0]);
    const uniforms = flashInfer.uniforms(0n, 0n, 0, 3);
    words.forEach((word, token) => expect(uniforms[token]).toBeLessThan(flashInfer.curandUniform(word)));
  });

  it("FlashInfer's vectors hold four, two or one token, and its subsequences wrap at 2^32", () => {
    expect([1000, 1002, 1001, 1].map(flashInfer.vectorSizeOf)).toEqual([4, 2, 1, 1]);
    // Output 2^31 of 6 tokens: 6 * 2^31 is 2^33 + 2^32, 0 modulo 2^32.
    expect(flashInfer.uniforms(7n, 0n, 2 ** 31, 6)).toEqual(flashInfer.uniforms(7n, 0n, 0, 6));
  });
});

describe("Murmur3", () => {
  // Published test vectors of MurmurHash3_x86_32: bytes, seed, hash.
  it.each([
    [[], 0, 0],
    [[], 1, 0x514e28b7],
    [[], 0xffffffff, 0x81f16f39],
    [[0xffffffff], 0, 0x76293b50],
    [[0x87654321], 0, 0xf55b516b],
    [[0x87654321], 0x5082edee, 0x2362f9de],
    [[0], 0, 0x2362f9de],
    [[0x74736574], 0, 0xba6bd213],
    [[0x74736574], 0x9747b28c, 0x704b81dc],
    [[0x61616161], 0x9747b28c, 0x5a97808a],
  ])("of the words %j with seed %d", (words, seed, hash) => expect(murmur3(words, seed)).toBe(hash));

  it("vLLM's words as recorded, in both domains", () => {
    const { words: cases } = recording("vllm-murmur3");
    expect(cases.length).toBe(20);
    for (const { seed, position, domain, words } of cases) expect(firstOf(8, tokenWords(BigInt(seed), BigInt(position), domain))).toEqual(words);
  });

  it("SGLang's words as recorded, and the largest word", () => {
    const { columns, words: cases, largest } = recording("sglang");
    expect(cases.length).toBe(10);
    for (const { seed, position, words } of cases) expect(columns.map(tokenWords(BigInt(seed), BigInt(position)))).toEqual(words);
    expect(tokenWords(BigInt(largest.seed), BigInt(largest.position))(largest.token)).toBe(largest.word);
  });

  it("a flipped bit of the seed, the position's low word or the token gives another word", () => {
    const word = tokenWords(42n, 7n)(5);
    for (let bit = 0n; bit < 64n; bit++) expect(tokenWords(42n ^ (1n << bit), 7n)(5)).not.toBe(word);
    for (let bit = 0; bit < 32; bit++) {
      expect(tokenWords(42n, 7n ^ (1n << BigInt(bit)))(5)).not.toBe(word);
      expect(tokenWords(42n, 7n)((5 ^ (1 << bit)) >>> 0)).not.toBe(word);
    }
    expect(tokenWords(42n, 7n + (1n << 32n))(5)).toBe(word);
  });
});

describe("vLLM", () => {
  it.each(["vllm-mrv2", "vllm-murmur3"])("uniform numbers of %s as recorded, in f32 and f64", (name) => {
    const { noise: cases } = recording(name);
    expect(cases.length).toBe(4);
    for (const { seed, position, precision, uniform } of cases) {
      const uniforms =
        name === "vllm-mrv2"
          ? mrv2.uniforms(mrv2.rowSeed(BigInt(seed), BigInt(position)), precision, uniform.length)
          : vllm.uniforms(BigInt(seed), BigInt(position), precision, uniform.length);
      if (precision === "f32") expect(Array.from(uniforms, f32Hex)).toEqual(uniform);
      else expect([...uniforms]).toEqual(uniform.map(f64Value));
    }
  });

  it("Murmur3's uniform numbers end at 1 in f32, below it in f64", () => {
    expect([0, 1, 0xffffff7f, 0xffffffff].map(vllm.uniform32)).toEqual([2 ** -33, 3 * 2 ** -33, 1 - 2 ** -24, 1]);
    expect(vllm.uniform64(0xffffffff, 0xffffffff)).toBe(1 - 2 ** -53);
    expect(vllm.uniform64(0, 0)).toBe(2 ** -54);
  });

  it("a draft has the noise of position + 2^30", () => {
    expect(mrv2.noisePosition(5n, "yes")).toBe(5n + (1n << 30n));
    expect(mrv2.noisePosition(5n, "no")).toBe(5n);
  });
});

describe("FlashSampling", () => {
  const tiles = { blockV: 128, blockH: 16 };

  it("sample 1 of seed 0 is sample 0 of seed 1", () => {
    const uniforms = flashSampling.uniforms(drawOf(300, { seed: 0n, sample: 1, row: 3, rows: 4 }), tiles);
    expect(uniforms).toEqual(flashSampling.uniforms(drawOf(300, { seed: 1n, sample: 0, row: 3, rows: 4 }), tiles));
    expect(uniforms[99]).toBe(triton.uniform(1n, 99n * 16n + 3n));
  });

  it("offsets run over tiles of rows, then over tiles of tokens, and wrap", () => {
    expect(flashSampling.offsetOf(3, 3, tiles, 99)).toBe(99 * 16 + 3);
    expect(flashSampling.offsetOf(17, 20, tiles, 128)).toBe(3 * 128 * 16 + 1);
    expect(flashSampling.offsetOf(3, 3, tiles, 2 ** 28 + 99)).toBe(99 * 16 + 3);
    expect([1, 16, 17, 32, 33, 1000].map(flashSampling.blockHOf)).toEqual([16, 16, 32, 32, 64, 64]);
  });
});

describe("PyTorch", () => {
  it("rand and exponential_ as recorded: later calls, more elements than threads, a second block of words", () => {
    const { calls } = recording("torch");
    expect(calls.length).toBe(28);
    for (const { seed, n, offset, offsetExponential, at, rand, exponential } of calls) {
      const key = halves("seed", BigInt(seed));
      const launch = { elements: n, gpuThreads: H200 };
      expect(offsetExponential - offset).toBe(torch.advanceOf(launch));
      const wordAt = (from: number) => (element: number) => torch.wordsOf(key, BigInt(from), launch, element, 1)[0]!;
      expect(at.map(wordAt(offset)).map(torch.uniformOf).map(f32Hex)).toEqual(rand);
      const { low, high } = torch.exponentials(Float64Array.from(at, wordAt(offsetExponential)));
      exponential.forEach((bits: string, index: number) => {
        const value = new Float32Array(Uint32Array.of(parseInt(bits, 16)).buffer)[0]!;
        expect(value).toBeGreaterThanOrEqual(low[index]!);
        expect(value).toBeLessThanOrEqual(high[index]!);
        expect(high[index]! - low[index]!).toBeLessThan(6e-7 * Math.max(1, value));
      });
    }
  });

  it("makes one word after the other where a thread has several elements", () => {
    const launch = { elements: 5000, gpuThreads: 512 };
    const words = torch.wordsOf([7, 0], 8n, launch, 0, 5000);
    const block = (number: number, thread: number) => philox4x32([number, 0, thread, 0], [7, 0]);
    expect([words[3], words[512 + 3], words[1536 + 3], words[2048 + 3]]).toEqual([block(2, 3)[0], block(2, 3)[1], block(2, 3)[3], block(3, 3)[0]]);
    expect(torch.advanceOf(launch)).toBe(12);
  });

  it("a word's place is the middle of a step in rand; 1 becomes 0, and the smallest exponential is 2^-24", () => {
    expect(torch.uniformOf(2517)).toBe(2517.5 * 2 ** -32);
    expect(torch.uniformOf(0xffffffff)).toBe(0);
    const { value, low, high } = torch.exponentials(Float64Array.of(0xffffffff, 0xffffff00, 0xfffffe00));
    expect([value[0], low[0], high[0]]).toEqual([2 ** -24, 2 ** -24, 2 ** -24]);
    expect([value[1], low[1], high[1]]).toEqual([2 ** -24, 2 ** -24, 2 ** -24]);
    expect(low[2]).toBeGreaterThan(0);
    expect(low[2]).toBeLessThan(high[2]!);
  });
});

describe("JAX", () => {
  it.each([
    [[0, 0], [0, 0], [0x6b200159, 0x99ba4efe]],
    [[0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff], [0x1cb996fc, 0xbb002be7]],
    [[0x243f6a88, 0x85a308d3], [0x13198a2e, 0x03707344], [0xc4923a9c, 0x483df7a0]],
  ] as [jax.Key, jax.Key, jax.Key][])("threefry2x32 %s with key %s, as Random123 says", (counter, withKey, answer) => {
    expect(jax.threefry2x32(counter, withKey)).toEqual(answer);
  });

  it("keys, words and uniform numbers as recorded, in both layouts", () => {
    const { cases } = recording("jax");
    expect(cases.length).toBe(10);
    for (const { seed, partitionable, key: ofCase, key32, bits, uniform, foldIn7 } of cases) {
      const parts = partitionable === "yes";
      const caseKey = jax.keyOf(BigInt(seed), "64");
      expect(caseKey).toEqual(ofCase);
      expect(jax.keyOf(BigInt(seed), "32")).toEqual(key32);
      const words = firstOf(9, (index) => jax.wordAt(caseKey, 9, index, parts));
      expect(words).toEqual(bits);
      expect(words.map((word) => f32Hex(jax.uniform(word)))).toEqual(uniform);
      expect(jax.foldIn(caseKey, 7)).toEqual(foldIn7);
    }
  });

  it("uniform numbers of mode high keep small ones", () => {
    expect(jax.highUniform(0.5, 0.75, 2 ** -47)).toBe(0.5);
    expect(jax.highUniform(0, 0, 2 ** -47)).toBe(2 ** -47);
    expect(jax.highUniform(0.25, 0.75, 2 ** -47)).toBe(0.25 + 3 * 2 ** -25);
    expect(jax.uniform(0xffffffff)).toBe(1 - 2 ** -23);
    expect(jax.uniform(0x000001ff)).toBe(0);
  });
});

describe("mt19937", () => {
  it("has the 10000th word that the C++ standard states, and no other seed has", () => {
    const tenThousandth = (seed: number) => firstOf(10_000, mersenne.twister(seed)).at(-1);
    expect(tenThousandth(5489)).toBe(4123659995);
    expect(tenThousandth(5488)).not.toBe(4123659995);
  });

  it("seeded by words has the authors' first words", () => {
    expect(firstOf(5, mersenne.twisterOfWords([0x123, 0x234, 0x345, 0x456]))).toEqual([1067595299, 955945823, 477289528, 4107218783, 4228976476]);
    expect(() => mersenne.twisterOfWords([])).toThrow('"key" expected 1 to 624 words, got 0');
  });

  it("gives transformers.js' numbers, which are Python's", () => {
    const numbers = (key: number[], count: number) => firstOf(count, ((next) => () => mersenne.uniformPython(next))(mersenne.twisterOfWords(key)));
    for (const { seed, random } of recording("transformersjs").numbers) {
      const [low, high] = halves("seed", BigInt(seed));
      expect(numbers(high === 0 ? [low] : [low, high], 3)).toEqual(random);
    }
    expect(numbers([42], 2)).toEqual([0.6394267984578837, 0.025010755222666936]);
  });

  it("gives libstdc++'s numbers", () => {
    const next = mersenne.twister(42);
    expect(firstOf(2, () => mersenne.uniform53(next))).toEqual([0.796542984287846, 0.18343478789336848]);
    expect(mersenne.uniform53(() => 0xffffffff)).toBe(1 - 2 ** -53);
  });

  it("finds a draw's number in any order of asking, two words each, and no more than 2^24 of them", () => {
    const asked: bigint[] = [];
    const seeded = (seed: bigint) => {
      asked.push(seed);
      return mersenne.twister(Number(seed));
    };
    const uniformOf = mersenne.uniformsOf(seeded, mersenne.uniform53);
    const expected = (seed: number) => firstOf(200_000, ((next) => () => mersenne.uniform53(next))(mersenne.twister(seed)));
    const [ofOne, ofTwo] = [expected(1), expected(2)];
    for (const draw of [3, 4, 3, 0, 100, 199_999, 7]) expect(uniformOf(1n, BigInt(draw))).toBe(ofOne[draw]);
    expect(asked).toEqual([1n, 1n, 1n]); // 3 was known; 0 and 7 were behind
    for (const draw of [9, 8, 9]) expect([uniformOf(2n, BigInt(draw)), uniformOf(1n, BigInt(draw))]).toEqual([ofTwo[draw], ofOne[draw]]);
    for (let draw = 0; draw < 200_000; draw++) if (uniformOf(1n, BigInt(draw)) !== ofOne[draw]) throw new Error(`draw ${draw}`);
    expect(() => uniformOf(1n, (1n << 24n) + 1n)).toThrow('"draws-before" expected 0 to 16777216 draws, got 16777217');
    expect(() => uniformOf(1n, -1n)).toThrow(RangeError);
  });
});

it("numbers of 64 bits may have a sign, and no more bits", () => {
  expect(halves("seed", -1n)).toEqual([0xffffffff, 0xffffffff]);
  expect(halves("seed", (7n << 32n) | 9n)).toEqual([9, 7]);
  expect(() => halves("seed", 1n << 64n)).toThrow(new RangeError('"seed" expected an integer from -2^63 to 2^64 - 1, got 18446744073709551616'));
  expect(() => halves("seed", -(1n << 63n) - 1n)).toThrow(RangeError);
});
