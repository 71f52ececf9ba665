import { describe, expect, test } from "vitest";
import { DTYPE_BYTES, type Dtype } from "../src/backend.js";
import { prepareRows } from "../src/head/canonical.js";
import { HeadDigest, rowDigest } from "../src/head/digest.js";
import { decodeWeight } from "../src/spec/logit.js";
import { bytesOf, messageOf, pseudoRandom } from "./head-fixtures.js";

type Weights = Uint16Array | Float32Array | Int8Array;

const KINDS = {
  bf16: Uint16Array,
  f16: Uint16Array,
  f32: Float32Array,
  int8: Int8Array,
} as const;

/** prepareRows on a copy: what it leaves, as weights of the dtype. */
function prepare(dtype: Dtype, weights: Weights, rowCount: number, firstRow = 0) {
  const bytes = bytesOf(weights);
  const statistics = prepareRows(dtype, bytes, rowCount, weights.length / rowCount, firstRow);
  return { ...statistics, weights: new KINDS[dtype](bytes.buffer) as Weights, bytes };
}

/** Every bit pattern that is a finite number of a 16-bit format, from the lowest up. */
function finiteHalves(notFinite: number): Uint16Array {
  return Uint16Array.from({ length: 0x10000 }, (_, bits) => bits).filter((bits) => (bits & 0x7fff) < notFinite);
}

const f32 = (bits: number) => new Float32Array(Uint32Array.of(bits).buffer)[0]!;

describe("canonical form", () => {
  test("bf16: all 65,280 finite patterns; below 2^-56 becomes +0, nothing else changes", () => {
    const given = finiteHalves(0x7f80);
    const { weights } = prepare("bf16", given, 1);
    const wrong = given.filter((bits, index) => weights[index] !== (Math.abs(f32(bits << 16)) < 2 ** -56 ? 0 : bits));
    expect(given.length).toBe(65280);
    expect(Array.from(wrong, (bits) => bits.toString(16))).toEqual([]);
    // -0 and the neighbours of the limit, by hand.
    expect(prepare("bf16", Uint16Array.of(0x8000, 0x237f, 0x2380, 0xa37f, 0xa380, 0x0001), 1).weights).toStrictEqual(Uint16Array.of(0, 0, 0x2380, 0, 0xa380, 0));
  });

  test.each([1, 2, 3])("bf16 rows of %i columns: the last one is no exception, and what reads as 0 has no size", (columns) => {
    const tiny = prepare("bf16", new Uint16Array(columns).fill(0xa37f), 1);
    expect(tiny.weights).toStrictEqual(new Uint16Array(columns));
    expect([tiny.largest[0], tiny.norms[0]]).toEqual([0, 0]);
    const ones = prepare("bf16", new Uint16Array(columns).fill(0xbf80), 1);
    expect(ones.largest[0]).toBe(1);
    expect(ones.norms[0]).toBeGreaterThanOrEqual(Math.sqrt(columns));
    expect(prepare("f32", new Float32Array(columns).fill(-(2 ** -41)), 1).largest[0]).toBe(0);
  });

  test("f32: around the limit, subnormals and both zeros", () => {
    const limit = 2 ** -40;
    const below = f32(0x2b7fffff);
    expect(below).toBeLessThan(limit);
    const { weights } = prepare("f32", Float32Array.of(limit, below, -limit, -below, 1e-45, -0, 0, 3e38), 1);
    expect(weights).toStrictEqual(Float32Array.of(limit, 0, -limit, 0, 0, 0, 0, 3e38));
    expect(Object.is(weights[3], 0)).toBe(true);
  });

  test("f16 and int8 stay as they are", () => {
    const halves = finiteHalves(0x7c00);
    expect(halves.length).toBe(63488);
    expect(prepare("f16", halves, 1).weights).toStrictEqual(halves);
    const bytes = Int8Array.from({ length: 256 }, (_, index) => index - 128);
    expect(prepare("int8", bytes, 1).weights).toStrictEqual(bytes);
  });
});

describe("measures", () => {
  const odd = 77;
  const cases: [Dtype, Weights][] = [
    ["bf16", finiteHalves(0x7d00)],
    ["f16", finiteHalves(0x7c00)],
    ["f32", Float32Array.from(pseudoRandom(1, 3 * odd), (value) => value * 2 ** (40 * value))],
    ["int8", Int8Array.from(pseudoRandom(2, 3 * odd), (value) => value * 128)],
    ["int8", new Int8Array(200_001).fill(-128)],
    ["bf16", new Uint16Array(10)],
  ];
  test.each(cases)("%s: the norm bounds from above and closely, the largest magnitude is exact", (dtype, given) => {
    const { norms, largest } = prepare(dtype, given, 1);
    const values = Array.from(given, (stored) => decodeWeight(dtype, stored));
    expect(largest[0]).toBe(values.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
    const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
    expect(norms[0]).toBeGreaterThanOrEqual(norm);
    expect(norms[0]).toBeLessThanOrEqual(norm * (1 + 2 ** -22));
  });

  test("a norm that is an f32 number is not below itself, one that is not rounds up", () => {
    expect(prepare("f32", Float32Array.of(3, 4), 1).norms[0]).toBeGreaterThanOrEqual(5);
    const [root] = prepare("f32", Float32Array.of(1, 1), 1).norms;
    expect(root).toBe(Math.fround(Math.SQRT2) >= Math.SQRT2 ? Math.fround(Math.SQRT2) : f32(0x3fb504f4));
  });

  test("a norm past the largest f32 is infinite", () => {
    expect(prepare("bf16", Uint16Array.of(0x7f7f, 0x7f7f), 1)).toMatchObject({ norms: Float32Array.of(Infinity), largest: Float32Array.of(f32(0x7f7f0000)) });
  });

  test("each row has its own", () => {
    const { norms, largest } = prepare("int8", Int8Array.of(3, -4, 0, 0, -128, 0), 3);
    expect(largest).toStrictEqual(Float32Array.of(4, 0, 128));
    expect(norms[1]).toBe(0);
    expect(norms[2]).toBeGreaterThanOrEqual(128);
  });
});

describe("refused", () => {
  test.each([
    ["bf16", Uint16Array, 0x7fc1, "NaN"],
    ["bf16", Uint16Array, 0xff80, "-Infinity"],
    ["bf16", Uint16Array, 0x7f80, "Infinity"],
    ["f16", Uint16Array, 0x7c01, "NaN"],
    ["f16", Uint16Array, 0xfc00, "-Infinity"],
    ["f32", Uint32Array, 0x7fffffff, "NaN"],
    ["f32", Uint32Array, 0xff800000, "-Infinity"],
  ] as const)("%s %s %i as %s, by its place", async (dtype, Kind, bits, value) => {
    for (const [row, column] of [[0, 0], [1, 3], [2, 6]] as const) {
      const weights = new Kind(3 * 7);
      weights[row * 7 + column] = bits;
      weights[20] = bits;
      const given = dtype === "f32" ? new Float32Array(weights.buffer) : (weights as Uint16Array);
      expect(await messageOf(() => prepare(dtype, given, 3, 10))).toBe(`RangeError: "weights" expected finite numbers, got ${value} at row ${10 + row}, column ${column}`);
    }
  });

  test("a block that is no whole number of rows, or not aligned", async () => {
    expect(await messageOf(() => prepareRows("bf16", new Uint8Array(7), 1, 4, 0))).toBe('RangeError: "bytes" expected 8 bytes, got 7');
    expect(await messageOf(() => prepareRows("f32", new Uint8Array(new ArrayBuffer(12), 2, 8), 1, 2, 0))).toMatch(/multiple of 4, got 2$/);
  });
});

/** XXH32 once more, in big integers and one lane after the other. */
function xxh32(bytes: Uint8Array, seed: bigint): number {
  const [p1, p2, p3, p4, p5] = [2654435761n, 2246822519n, 3266489917n, 668265263n, 374761393n] as const;
  const u32 = (value: bigint) => BigInt.asUintN(32, value);
  const rotate = (value: bigint, bits: bigint) => u32(value << bits) | (u32(value) >> (32n - bits));
  const word = (at: number) => BigInt(new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true));
  let at = 0;
  let hash = seed + p5;
  if (bytes.length >= 16) {
    const lanes = [seed + p1 + p2, seed + p2, seed, seed - p1].map(u32);
    for (; at + 16 <= bytes.length; at += 16) {
      lanes.forEach((lane, index) => (lanes[index] = u32(rotate(lane + word(at + 4 * index) * p2, 13n) * p1)));
    }
    hash = [1n, 7n, 12n, 18n].reduce((sum, bits, index) => sum + rotate(lanes[index]!, bits), 0n);
  }
  hash = u32(hash + BigInt(bytes.length));
  for (; at + 4 <= bytes.length; at += 4) hash = u32(rotate(hash + word(at) * p3, 17n) * p4);
  for (; at < bytes.length; at++) hash = u32(rotate(hash + BigInt(bytes[at]!) * p5, 11n) * p1);
  hash = u32((hash ^ (hash >> 15n)) * p2);
  hash = u32((hash ^ (hash >> 13n)) * p3);
  return Number(hash ^ (hash >> 16n));
}

describe("digest", () => {
  const digestOf = (bytes: Uint8Array) => rowDigest(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);

  test("XXH32's published answers for seed 0", () => {
    for (const [text, expected] of [["", 0x02cc5d05], ["a", 0x550d7456], ["abc", 0x32d153ff], ["Nobody inspects the spammish repetition", 0xe2293b2f]] as const) {
      const bytes = new TextEncoder().encode(text);
      expect(xxh32(bytes, 0n)).toBe(expected);
      expect(digestOf(bytes)[0]).toBe(expected);
    }
  });

  test("both seeds agree with a second implementation at every length and alignment", () => {
    const bytes = Uint8Array.from(pseudoRandom(3, 80), (value) => value * 128 + 128);
    for (let start = 0; start < 4; start++) {
      for (let end = start; end <= bytes.length; end++) {
        const part = bytes.subarray(start, end);
        expect(digestOf(part)).toEqual([xxh32(part, 0n), xxh32(part, 1n)]);
      }
    }
  });

  test("the head digest is SHA-256 of the documented message, however the rows are cut", async () => {
    const [rows, columns] = [7, 5];
    const weights = Int8Array.from(pseudoRandom(4, rows * columns), (value) => value * 128);
    const scales = Float32Array.from({ length: rows }, (_, row) => row + 0.5);
    const words: number[] = [];
    for (const [array, size] of [[weights, columns], [scales, 1]] as const) {
      for (let row = 0; row < rows; row++) {
        const bytes = bytesOf(array.subarray(row * size, (row + 1) * size));
        words.push(xxh32(bytes, 0n), xxh32(bytes, 1n));
      }
    }
    const message = Buffer.concat([Buffer.from("flash-sampling head 1\nint8 7 5 5\n"), bytesOf(Uint32Array.from(words))]);
    const expected = Buffer.from(await crypto.subtle.digest("SHA-256", message)).toString("hex");
    for (const cut of [1, 2, 3, 7]) {
      const digest = new HeadDigest({ dtype: "int8", vocabSize: rows, hiddenSize: columns, groupSize: columns });
      for (let row = 0; row < rows; row += cut) {
        const count = Math.min(cut, rows - row);
        digest.addRows(bytesOf(weights.subarray(row * columns, (row + count) * columns)), count);
      }
      expect(await digest.finish(scales)).toBe(expected);
    }
  });

  test("a digest of too few rows is no digest", async () => {
    const digest = new HeadDigest({ dtype: "bf16", vocabSize: 2, hiddenSize: 1, groupSize: 0 });
    digest.addRows(new Uint8Array(DTYPE_BYTES.bf16), 1);
    await expect(digest.finish(null)).rejects.toThrow(/"digest" expected/);
  });
});
