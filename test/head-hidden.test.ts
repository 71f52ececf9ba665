import { describe, expect, test } from "vitest";
import type { Dtype } from "../src/backend.js";
import { isInRange, prepareHiddenStates } from "../src/hidden.js";
import { widen, type FloatDtype } from "../src/matrix.js";
import { bf16ToF32Bits, f16ToF32Bits, f32BitsToBf16, f32BitsToF16 } from "../src/spec/float.js";
import { pseudoRandom } from "./head-fixtures.js";

const f32 = (bits: number) => new Float32Array(Uint32Array.of(bits).buffer)[0]!;
const bitsOf = (value: number) => new Uint32Array(Float32Array.of(value).buffer)[0]!;

/** The value of a binary format's bits, from its definition; its numbers fit a double exactly. */
function decode(bits: number, exponentBits: number, fractionBits: number): number {
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = bits >>> (exponentBits + fractionBits) ? -1 : 1;
  const exponent = (bits >>> fractionBits) & (2 ** exponentBits - 1);
  const fraction = bits & (2 ** fractionBits - 1);
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias - fractionBits);
  return sign * (2 ** fractionBits + fraction) * 2 ** (exponent - bias - fractionBits);
}

/** The numbers that a tie-sensitive rounding can get wrong: each magnitude, the middle to the next one, and one step beside it. */
function* aroundEachMiddle(exponentBits: number, fractionBits: number): Generator<{ value: number; expected: number }> {
  const infinity = (2 ** exponentBits - 1) << fractionBits;
  for (let bits = 0; bits < infinity; bits++) {
    const low = decode(bits, exponentBits, fractionBits);
    // Past the largest number, rounding goes as if the exponent could grow.
    const high = bits + 1 === infinity ? 2 ** (2 ** (exponentBits - 1)) : decode(bits + 1, exponentBits, fractionBits);
    const middle = (low + high) / 2;
    yield { value: low, expected: bits };
    yield { value: f32(bitsOf(middle) - 1), expected: bits };
    yield { value: middle, expected: bits % 2 === 0 ? bits : bits + 1 };
    yield { value: f32(bitsOf(middle) + 1), expected: bits + 1 };
  }
}

describe("formats", () => {
  test.each([
    ["f16", f16ToF32Bits, f32BitsToF16, 5, 10],
    ["bf16", bf16ToF32Bits, f32BitsToBf16, 8, 7],
  ] as const)("%s: all 65,536 patterns both ways", (_, widen, narrow, exponentBits, fractionBits) => {
    const wrong: string[] = [];
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = decode(bits, exponentBits, fractionBits);
      const widened = widen(bits);
      if (!Object.is(f32(widened), value)) wrong.push(`${bits.toString(16)} widens to ${f32(widened)}`);
      const back = narrow(widened);
      if (Number.isNaN(value) ? !Number.isNaN(decode(back, exponentBits, fractionBits)) : back !== bits) wrong.push(`${bits.toString(16)} comes back as ${back.toString(16)}`);
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ["f16", f32BitsToF16, 5, 10],
    ["bf16", f32BitsToBf16, 8, 7],
  ] as const)("%s: rounding around the middle of every two neighbours, both signs", (_, narrow, exponentBits, fractionBits) => {
    let count = 0;
    const wrong: string[] = [];
    for (const { value, expected } of aroundEachMiddle(exponentBits, fractionBits)) {
      for (const sign of [1, -1]) {
        const got = narrow(bitsOf(sign * value));
        const signed = expected | (sign < 0 ? 0x8000 : 0);
        count++;
        if (got !== signed) wrong.push(`${sign * value}: ${got.toString(16)}, not ${signed.toString(16)}`);
      }
    }
    expect(count).toBe(8 * ((2 ** exponentBits - 1) << fractionBits));
    expect(wrong.slice(0, 10)).toEqual([]);
  });

  test("f16: the edge of its range", () => {
    expect([65504, 65519.99609375, 65520, 65536].map((value) => f32BitsToF16(bitsOf(value)))).toEqual([0x7bff, 0x7bff, 0x7c00, 0x7c00]);
    expect([2 ** -25, 2 ** -25 * (1 + 2 ** -23), 2 ** -24].map((value) => f32BitsToF16(bitsOf(value)))).toEqual([0, 1, 1]);
  });
});

describe("prepareHiddenStates", () => {
  const prepare = (input: Float32Array | Uint16Array, dtype: FloatDtype, head: Dtype, rows = 1, largest = 1) =>
    prepareHiddenStates(widen({ data: input, dtype }), { dtype: head, hiddenSize: input.length / rows }, largest);

  test.each([
    ["bf16", Float32Array.of(1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -(2 ** -56), -(2 ** -57), 1e-45), Float32Array.of(1, 1, 1 + 2 ** -6, -(2 ** -56), 0, 0)],
    ["int8", Float32Array.of(1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -(2 ** -56), -(2 ** -57), 1e-45), Float32Array.of(1, 1, 1 + 2 ** -6, -(2 ** -56), 0, 0)],
    ["f16", Float32Array.of(1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 2 ** -24, 2 ** -25, 65519), Float32Array.of(1, 1, 1 + 2 ** -9, 2 ** -24, 0, 65504)],
    ["f32", Float32Array.of(1, 1 + 2 ** -23, -(2 ** -40), -(2 ** -41), 1e-45, -0), Float32Array.of(1, 1 + 2 ** -23, -(2 ** -40), 0, 0, 0)],
  ] as const)("%s heads: rounded once, then canonical", (head, given, expected) => {
    const copy = given.slice();
    const { values, invalidRow } = prepare(given, "f32", head);
    expect(values).toStrictEqual(expected);
    expect(invalidRow).toEqual([null]);
    expect(given).toStrictEqual(copy);
  });

  test("a value that rounds up to the limit stays", () => {
    expect(prepare(Float32Array.of(f32(bitsOf(2 ** -56) - 1)), "f32", "bf16").values[0]).toBe(2 ** -56);
    expect(prepare(Float32Array.of(f32(bitsOf(2 ** -40) - 1)), "f32", "f32").values[0]).toBe(0);
  });

  test("halves come in as bits", () => {
    expect(prepare(Uint16Array.of(0x3f80, 0xbf81, 0x0001), "bf16", "bf16").values).toStrictEqual(Float32Array.of(1, -1 - 2 ** -7, 0));
    expect(prepare(Uint16Array.of(0x3c00, 0x0001, 0x7bff), "f16", "f16").values).toStrictEqual(Float32Array.of(1, 2 ** -24, 65504));
    // 65504 is past the middle of 65280 and 65536, its neighbours in bf16.
    expect(prepare(Uint16Array.of(0x3c00, 0x0001, 0x7bff), "f16", "bf16").values).toStrictEqual(Float32Array.of(1, 2 ** -24, 65536));
    expect(prepare(Uint16Array.of(0x0001, 0x3f81), "bf16", "f16").values).toStrictEqual(Float32Array.of(0, 1 + 2 ** -7));
  });

  test("rows with a problem are named and zero; the others are untouched by them", () => {
    const rows = [
      [1, 2, 3],
      [1, NaN, Infinity],
      [1, 2, -Infinity],
      [70000, 1, 2],
      [4, 5, 6],
    ];
    const { values, invalidRow } = prepare(Float32Array.from(rows.flat()), "f32", "f16", 5);
    expect(values).toStrictEqual(Float32Array.of(1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 6));
    expect(invalidRow).toEqual([
      null,
      { reason: "not-finite", column: 1, value: NaN },
      { reason: "not-finite", column: 2, value: -Infinity },
      { reason: "overflow", column: 0, value: 70000 },
      null,
    ]);
    const largestF32 = f32(0x7f7fffff);
    expect(prepare(Float32Array.of(0, -largestF32), "f32", "bf16").invalidRow).toEqual([{ reason: "overflow", column: 1, value: -largestF32 }]);
    expect(prepare(Uint16Array.of(0x7c00), "f16", "f32").invalidRow).toEqual([{ reason: "not-finite", column: 0, value: Infinity }]);
    expect(prepare(Uint16Array.of(0xff81), "bf16", "f32").invalidRow).toEqual([{ reason: "not-finite", column: 0, value: NaN }]);
  });

  test("no row at all", () => {
    expect(prepareHiddenStates(new Float32Array(0), { dtype: "bf16", hiddenSize: 4 }, 1)).toEqual({ values: new Float32Array(0), invalidRow: [] });
  });

  test("the range rule names the largest column", () => {
    // Ceilings: 2^1 for the weights, c = 1 for D = 2, so x may be below 2^125.
    const { values, invalidRow } = prepare(Float32Array.of(1, 2 ** 124, -(2 ** 125), 2 ** 125), "f32", "f32", 2);
    expect(values).toStrictEqual(Float32Array.of(1, 2 ** 124, 0, 0));
    expect(invalidRow).toEqual([null, { reason: "range", column: 0, value: -(2 ** 125) }]);
  });
});

describe("isInRange", () => {
  test("by ceilings: each power of two counts as the next one, D as itself", () => {
    expect(isInRange(1, 1, 1)).toBe(true);
    expect(isInRange(2 ** 63, 2 ** 62, 1)).toBe(true); // 64 + 63 + 0
    expect(isInRange(2 ** 63, 2 ** 63, 1)).toBe(false);
    expect(isInRange(2 ** 63 - 2 ** 40, 2 ** 62, 2)).toBe(true); // 63 + 63 + 1
    expect(isInRange(2 ** 63 - 2 ** 40, 2 ** 62, 3)).toBe(false); // 63 + 63 + 2
    expect(isInRange(2 ** 63 - 2 ** 40, 2 ** 61, 4)).toBe(true);
    expect(isInRange(2 ** 63 - 2 ** 40, 2 ** 61, 5)).toBe(false);
    expect(isInRange(2 ** 127, 2 ** -2, 1)).toBe(true); // 128 - 1 + 0
    expect(isInRange(2 ** 127, 2 ** -1, 1)).toBe(false); // 128 + 0 + 0
  });

  test("zero passes beside anything, as do the smallest numbers", () => {
    expect(isInRange(0, 3e38, 4096)).toBe(true);
    expect(isInRange(3e38, 0, 4096)).toBe(true);
    expect(isInRange(2 ** 127, 2 ** -24, 2 ** 20)).toBe(true);
  });

  test("what passes is below 2^127, and what is refused is at least 2^124", () => {
    const numbers = pseudoRandom(5, 60_000);
    let passed = 0;
    for (let trial = 0; trial < numbers.length; trial += 3) {
      const [weight, hidden] = [numbers[trial]!, numbers[trial + 1]!].map((number) => Math.fround(2 ** (126 * number))) as [number, number];
      const size = 1 + Math.floor(Math.abs(numbers[trial + 2]!) * 9000);
      const log2 = Math.log2(weight) + Math.log2(hidden) + Math.log2(size);
      const pass = isInRange(weight, hidden, size);
      if (pass) passed++;
      expect(pass ? log2 < 127 : log2 >= 124, `${weight} ${hidden} ${size}`).toBe(true);
    }
    expect(passed).toBeGreaterThan(1000);
  });
});
