import { describe, expect, test } from "vitest";
import { readNpyHeader } from "../src/head/npy-header.js";
import { encodeNpyIntegers, readNpyFloats, readNpyIntegers } from "../src/head/npy.js";
import { bytesSource } from "../src/head/source.js";
import { bytesOf, messageOf, npy, npyDict } from "./head-fixtures.js";

const open = (bytes: Uint8Array) => bytesSource(bytes, "x.npy");
const swapped = (array: ArrayBufferView, size: number) => {
  const bytes = bytesOf(array);
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
  return bytes;
};

describe("reading floats", () => {
  const values = Float32Array.of(1, -0, NaN, Infinity, -Infinity, 1e-45);
  test.each([
    ["<f4", bytesOf(values)],
    ["=f4", bytesOf(values)],
    [">f4", swapped(values, 4)],
    ["<f8", bytesOf(Float64Array.from(values))],
    [">f8", swapped(Float64Array.from(values), 8)],
  ])("%s", async (descr, data) => {
    const { data: got, dtype, shape } = await readNpyFloats(open(npy(npyDict(descr, "(2, 3)"), data)));
    expect([dtype, shape]).toEqual(["f32", [2, 3]]);
    expect(got).toStrictEqual(values);
  });

  test("f8 rounds once, ties to even, and past the largest f32 to infinity", async () => {
    const doubles = Float64Array.of(1 + 2 ** -24, 1 + 3 * 2 ** -24, 1 + 2 ** -24 + 2 ** -50, 2 ** 128, 2 ** -150, 2 ** -150 + 2 ** -200);
    const { data } = await readNpyFloats(open(npy(npyDict("<f8", "(6,)"), bytesOf(doubles))));
    expect(data).toStrictEqual(Float32Array.of(1, 1 + 2 ** -22, 1 + 2 ** -23, Infinity, 0, 2 ** -149));
  });

  test.each([["<f2", "f16"], ["|V2", "bf16"], ["<V2", "bf16"]])("%s keeps its bits as %s", async (descr, dtype) => {
    const bits = Uint16Array.of(0, 0x8000, 0x7fff, 0x3c00, 0x0001, 0xffff);
    const got = await readNpyFloats(open(npy(npyDict(descr, "(6,)"), bytesOf(bits))));
    expect(got).toStrictEqual({ data: bits, dtype, shape: [6] });
  });

  test(">f2 is swapped", async () => {
    const bits = Uint16Array.of(0x3c00, 0x0001);
    expect((await readNpyFloats(open(npy(npyDict(">f2", "(2,)"), swapped(bits, 2))))).data).toStrictEqual(bits);
  });

  test("Fortran order of two and three dimensions", async () => {
    const two = npy(npyDict("<f4", "(2, 3)", "True"), bytesOf(Float32Array.of(11, 21, 12, 22, 13, 23)));
    expect((await readNpyFloats(open(two))).data).toStrictEqual(Float32Array.of(11, 12, 13, 21, 22, 23));
    const size = [2, 3, 4] as const;
    const rowMajor = Float32Array.from({ length: 24 }, (_, index) => index);
    const fortran = new Float32Array(24);
    for (let i = 0; i < 2; i++) for (let j = 0; j < 3; j++) for (let k = 0; k < 4; k++) fortran[i + 2 * (j + 3 * k)] = rowMajor[(i * 3 + j) * 4 + k]!;
    const three = npy(npyDict("<f4", `(${size.join(", ")})`, "True"), bytesOf(fortran));
    expect((await readNpyFloats(open(three))).data).toStrictEqual(rowMajor);
    const one = npy(npyDict("<f4", "(3,)", "True"), bytesOf(Float32Array.of(1, 2, 3)));
    expect((await readNpyFloats(open(one))).data).toStrictEqual(Float32Array.of(1, 2, 3));
  });

  test("versions, key order, quotes, white space, empty and scalar shapes", async () => {
    const data = bytesOf(Float32Array.of(7));
    for (const version of [[1, 0], [2, 0], [3, 0]] as const) {
      expect((await readNpyFloats(open(npy(npyDict("<f4", "(1, 1)"), data, version)))).shape).toEqual([1, 1]);
    }
    const loose = `  {"shape" : ( 1 , 1 , ),\n 'fortran_order':False , "descr":"<f4"}   `;
    expect((await readNpyFloats(open(npy(loose, data)))).shape).toEqual([1, 1]);
    expect(await readNpyFloats(open(npy(npyDict("<f4", "()"), data)))).toStrictEqual({ data: Float32Array.of(7), dtype: "f32", shape: [] });
    expect((await readNpyFloats(open(npy(npyDict("<f4", "(0, 9)"), new Uint8Array(0))))).data.length).toBe(0);
    expect((await readNpyFloats(open(npy(npyDict("<f4", "(9007199254740991, 0, 9007199254740991)"), new Uint8Array(0))))).data.length).toBe(0);
  });
});

describe("hostile headers", () => {
  const data = new Uint8Array(24);
  const file = (dict: string, version: readonly [number, number] = [1, 0], length?: number) => npy(dict, data, version, length);
  const good = npyDict("<f4", "(2, 3)");
  const header = /expected a \.npy header with descr, fortran_order and shape, got "/;
  const table: [what: string, file: Uint8Array, message: RegExp][] = [
    ["empty", new Uint8Array(0), /expected a \.npy file, got 0 bytes/],
    ["another file", new Uint8Array(64).fill(65), /expected a \.npy file, got bytes that start with "AAAAAAAA"$/],
    ["magic alone", file(good).subarray(0, 9), /expected a \.npy file, got 9 bytes/],
    ["version 4.0", file(good, [4, 0]), /version 1\.0, 2\.0 or 3\.0, got 4\.0$/],
    ["version 0.0", file(good, [0, 0]), /got 0\.0$/],
    ["version 1.1", file(good, [1, 1]), /got 1\.1$/],
    ["header length 0", file(good, [1, 0], 0), /header of 1 to \d+ bytes, got a length of 0$/],
    ["header past the file", file(good, [1, 0], 65535), /got a length of 65535$/],
    ["header of 4 GiB", file(good, [2, 0], 0xffffffff), /got a length of 4294967295$/],
    ["header past numpy's limit", npy(good.padEnd(20_000), data, [2, 0]), /header of 1 to 10000 bytes, got a length of 20001$/],
    ["version 2 cut in its length", file(good, [2, 0]).subarray(0, 11), /got a length of 0$/],
    ["no dict", file("(2, 3)"), header],
    ["empty dict", file("{}"), header],
    ["missing key", file("{'descr': '<f4', 'shape': (2, 3), }"), header],
    ["extra key", file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': '1'}"), header],
    ["key twice", file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (2, 3)}"), header],
    ["wrong kinds", file("{'descr': False, 'fortran_order': '<f4', 'shape': (2, 3), }"), header],
    ["no comma", file("{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3), }"), header],
    ["two commas", file("{'descr': '<f4',, 'fortran_order': False, 'shape': (2, 3), }"), header],
    ["text after the dict", file(`${good} + 1`), header],
    ["unterminated string", file("{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3), }"), header],
    ["unterminated dict", file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "), header],
    ["mixed quotes", file(`{'descr": '<f4', 'fortran_order': False, 'shape': (2, 3), }`), header],
    ["escapes", file("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 3), }"), header],
    ["code", file("{'descr': __import__('os').system('id'), 'fortran_order': False, 'shape': (2, 3), }"), header],
    ["code in the shape", file(npyDict("<f4", "(2, exit(3))")), header],
    ["shape a list", file(npyDict("<f4", "[2, 3]")), header],
    ["shape a number", file(npyDict("<f4", "(6)")), header],
    ["shape with a hole", file(npyDict("<f4", "(2,, 3)")), header],
    ["shape with spaces for commas", file(npyDict("<f4", "(2 3,)")), header],
    ["shape negative", file(npyDict("<f4", "(-2, -3)")), header],
    ["shape fractional", file(npyDict("<f4", "(1.5, 4)")), header],
    ["shape in hexadecimal", file(npyDict("<f4", "(0x2, 3)")), header],
    ["shape past 2^53", file(npyDict("<f4", "(9007199254740993,)")), header],
    ["shape with an exponent", file(npyDict("<f4", "(1e18,)")), header],
    ["rank 33", file(npyDict("<f4", `(${"1, ".repeat(33)})`)), header],
    ["structured type", file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }"), header],
    ["text type", file(npyDict("<U5", "(2, 3)")), /expected numbers of 1, 2, 4 or 8 bytes, got the type "<U5"$/],
    ["object type", file(npyDict("|O", "(2, 3)")), /got the type "\|O"$/],
    ["complex type", file(npyDict("<c8", "(3,)")), /got the type "<c8"$/],
    ["10^15 elements", file(npyDict("<f4", "(1000000000000000,)")), /expected 4000000000000000 bytes of data for <f4 \(1000000000000000\), got 24$/],
    ["product past 2^64", file(npyDict("<f4", "(4294967296, 4294967296)")), /expected 73786976294838210000 bytes of data .*, got 24$/],
    ["data cut", file(good).subarray(0, -1), /expected 24 bytes of data for <f4 \(2, 3\), got 23$/],
    ["data too long", npy(good, new Uint8Array(25)), /expected 24 bytes .*, got 25$/],
  ];
  test.each(table)("%s", async (_, bytes, message) => {
    const got = await messageOf(() => readNpyFloats(open(bytes)));
    expect(got).toMatch(/^RangeError: "x\.npy" /);
    expect(got).toMatch(message);
  });

  test("cut at every byte", async () => {
    const whole = file(good);
    await readNpyHeader(open(whole));
    for (let length = 0; length < whole.length; length++) {
      expect(await messageOf(() => readNpyHeader(open(whole.subarray(0, length)))), `${length} bytes`).toMatch(/^RangeError: "x\.npy" expected /);
    }
  });

  test("a long run of spaces is refused in no time", async () => {
    expect(await messageOf(() => readNpyFloats(open(npy(npyDict("<f4", `(${" ".repeat(9000)}x)`), data))))).toMatch(header);
  });

  test("kinds of numbers that do not fit the question", async () => {
    expect(await messageOf(() => readNpyFloats(open(npy(npyDict("<i4", "(6,)"), data))))).toBe('RangeError: "x.npy" expected f2, f4, f8 or bf16 (V2), got <i4');
    expect(await messageOf(() => readNpyIntegers(open(npy(npyDict("<f4", "(6,)"), data))))).toBe('RangeError: "x.npy" expected integers (i1 to i8, u1 to u8), got <f4');
  });
});

describe("integers", () => {
  const values = Int32Array.of(-1, 0, 127, -128);
  test.each([
    ["<i8", BigInt64Array],
    ["<i4", Int32Array],
    ["<i2", Int16Array],
    ["|i1", Int8Array],
  ] as const)("%s", async (descr, Kind) => {
    const array = Kind === BigInt64Array ? BigInt64Array.from(values, BigInt) : (Kind as Int32ArrayConstructor).from(values);
    expect(await readNpyIntegers(open(npy(npyDict(descr, "(2, 2)"), bytesOf(array))))).toStrictEqual({ data: values, shape: [2, 2] });
    const big = npy(npyDict(descr.replace("<", ">"), "(2, 2)"), swapped(array, Kind.BYTES_PER_ELEMENT));
    expect((await readNpyIntegers(open(big))).data).toStrictEqual(values);
  });

  test("unsigned, and the ends of 32 bits", async () => {
    expect((await readNpyIntegers(open(npy(npyDict("|u1", "(2,)"), Uint8Array.of(255, 0))))).data).toStrictEqual(Int32Array.of(255, 0));
    expect((await readNpyIntegers(open(npy(npyDict("<u4", "(1,)"), bytesOf(Uint32Array.of(2 ** 31 - 1)))))).data).toStrictEqual(Int32Array.of(2 ** 31 - 1));
    expect(await messageOf(() => readNpyIntegers(open(npy(npyDict("<u4", "(2,)"), bytesOf(Uint32Array.of(1, 2 ** 31))))))).toBe(
      'RangeError: "x.npy" expected integers of 32 bits, got 2147483648 at index 1',
    );
    for (const value of [2n ** 31n, -(2n ** 31n) - 1n, 2n ** 32n, 2n ** 53n + 1n]) {
      expect(await messageOf(() => readNpyIntegers(open(npy(npyDict("<i8", "(1,)"), bytesOf(BigInt64Array.of(value))))))).toMatch(`got ${value} at index 0`);
    }
    expect((await readNpyIntegers(open(npy(npyDict("<i8", "(1,)"), bytesOf(BigInt64Array.of(-(2n ** 31n))))))).data).toStrictEqual(Int32Array.of(-(2 ** 31)));
  });

  test("written as numpy writes them, and read back", async () => {
    for (const shape of [[4], [2, 2], [4, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]]) {
      const bytes = encodeNpyIntegers(values, shape);
      expect((bytes.length - 32) % 64).toBe(0);
      expect(await readNpyIntegers(open(bytes))).toStrictEqual({ data: values, shape });
    }
    const text = String.fromCharCode(...encodeNpyIntegers([7], [1]));
    expect(text).toBe(`\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }${" ".repeat(60)}\n\x07\0\0\0\0\0\0\0`);
    expect(await messageOf(() => encodeNpyIntegers(values, [3]))).toBe('RangeError: "shape" expected sizes whose product is 4, got (3)');
  });
});
