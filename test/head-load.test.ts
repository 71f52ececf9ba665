import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Dtype } from "../src/backend.js";
import type { HeadArray } from "../src/head/head-reader.js";
import { loadHead, type LoadOptions } from "../src/head/load.js";
import { bytesSource, type ByteSource } from "../src/head/source.js";
import { bytesOf, messageOf, npy, npyDict, pseudoRandom, recordingSinks, safetensors, serveRange, withServer, type TensorBytes } from "./head-fixtures.js";

const STORED = { bf16: "BF16", f16: "F16", f32: "F32", int8: "I8" } as const;

/** Weights of a dtype that CANON leaves as they are, with values of both signs. */
function weightsOf(dtype: Dtype, rows: number, columns: number) {
  const numbers = pseudoRandom(rows * 1000 + columns, rows * columns);
  if (dtype === "f32") return Float32Array.from(numbers);
  if (dtype === "int8") return Int8Array.from(numbers, (value) => value * 128);
  const exponent = dtype === "bf16" ? 0x3c00 : 0x2000;
  return Uint16Array.from(numbers, (value) => (value < 0 ? 0x8000 : 0) | exponent | (Math.abs(value) * 0x3ff));
}

const tensor = (dtype: string, shape: readonly number[], array: ArrayBufferView): TensorBytes => ({ dtype, shape, bytes: bytesOf(array) });

async function load(options: Omit<LoadOptions, "createSink">, maxRows?: number) {
  const { sinks, createSink } = recordingSinks(maxRows);
  const loaded = await loadHead({ ...options, createSink });
  expect(sinks.length).toBe(1);
  return { ...loaded, sink: sinks[0]! };
}

const loading = (tensors: Record<string, TensorBytes>, options: Partial<LoadOptions> = {}) => load({ weights: safetensors(tensors), ...options });

describe("what arrives", () => {
  const [rows, columns] = [37, 45];
  test.each(["bf16", "f16", "f32", "int8"] as const)("%s: from a file, an array, an odd place, in blocks of any size, with the same digest", async (dtype) => {
    const weights = weightsOf(dtype, rows, columns);
    const scales = Float32Array.from({ length: rows }, (_, row) => 2 ** -row * 1.5);
    const file = safetensors({
      "a.first": tensor("I8", [3], new Uint8Array(3)),
      "lm_head.weight": tensor(STORED[dtype], [rows, columns], weights),
      ...(dtype === "int8" && { "lm_head.weight_scale": tensor("F32", [rows, 1], scales) }),
    });
    const groupSize = dtype === "int8" ? columns : 0;
    const shape = { dtype, vocabSize: rows, hiddenSize: columns, groupSize };
    const digests = new Set<string | null>();
    for (const maxRows of [undefined, 1, 5, 36]) {
      const array = { data: weights, dtype, shape: [rows, columns], ...(dtype === "int8" && { scales }) } as HeadArray;
      for (const input of [file, new Blob([file]), array]) {
        const loaded = await load({ weights: input }, maxRows);
        expect(loaded.shape).toEqual(shape);
        expect(loaded.sink.shape).toEqual(shape);
        expect(loaded.sink.scales).toEqual(dtype === "int8" ? scales : null);
        expect(Buffer.compare(loaded.sink.bytes, bytesOf(weights))).toBe(0);
        expect(loaded.statistics.norms).toStrictEqual(loaded.sink.norms);
        expect(loaded.statistics.largestMagnitude).toBe(Math.max(...loaded.sink.largest));
        expect(loaded.statistics.largestMagnitude).toBeGreaterThan(0);
        expect(loaded.sink.log.at(-1)).toBe("finish");
        expect(loaded.sink.log.filter((line) => line.startsWith("reserve")).length).toBe(maxRows === undefined ? 1 : Math.ceil(rows / maxRows));
        digests.add(loaded.statistics.digest);
      }
    }
    expect([...digests]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const changed = weights.slice();
    changed[100] = changed[100]! ^ 1;
    const data = dtype === "f32" ? weights.map((w, index) => (index === 100 ? -w : w)) : changed;
    const other = await load({ weights: { data, dtype, shape: [rows, columns], ...(dtype === "int8" && { scales }) } as HeadArray });
    expect(digests.has(other.statistics.digest)).toBe(false);
  });

  test("values that CANON zeroes arrive as zero, and the caller's array keeps them", async () => {
    const data = Uint16Array.of(0x3f80, 0x0001, 0x8000, 0x237f);
    const copy = data.slice();
    const { sink, statistics } = await load({ weights: { data, dtype: "bf16", shape: [2, 2] } });
    expect(new Uint16Array(sink.bytes.buffer)).toStrictEqual(Uint16Array.of(0x3f80, 0, 0, 0));
    expect(data).toStrictEqual(copy);
    expect(statistics.largestMagnitude).toBe(1);
    const clean = await load({ weights: { data: Uint16Array.of(0x3f80, 0, 0, 0), dtype: "bf16", shape: [2, 2] } });
    expect(statistics.digest).toBe(clean.statistics.digest);
  });

  test("a head without a nonzero weight", async () => {
    expect((await load({ weights: { data: new Float32Array(6), dtype: "f32", shape: [2, 3] } })).statistics.largestMagnitude).toBe(0);
  });

  const Half = (globalThis as unknown as { Float16Array?: new (values: number[]) => Uint16Array }).Float16Array;
  test("f16 as a Float16Array", async ({ skip }) => {
    skip(Half === undefined, "this runtime has no Float16Array");
    const { sink } = await load({ weights: { data: new Half!([1, 2 ** -24]), dtype: "f16", shape: [1, 2] } });
    expect(new Uint16Array(sink.bytes.buffer)).toStrictEqual(Uint16Array.of(0x3c00, 0x0001));
    expect(await messageOf(() => load({ weights: { data: new Half!([1, 2]), dtype: "bf16", shape: [1, 2] } }))).toMatch(/expected Uint16Array for bf16, got Float16Array$/);
  });

  test("without Web Crypto the head loads, without a digest", async () => {
    vi.stubGlobal("crypto", undefined);
    try {
      expect((await load({ weights: { data: Float32Array.of(1), dtype: "f32", shape: [1, 1] } })).statistics.digest).toBe(null);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("the same numbers under another dtype, shape or scale are another head", async () => {
    const bits = Uint16Array.of(0x3c00, 0x3c01, 0x3c02, 0x3c03);
    const scale = (value: number) => ({ data: Int8Array.of(1, 2), dtype: "int8" as const, shape: [1, 2], scales: Float32Array.of(value) });
    const digests = await Promise.all(
      [{ data: bits, dtype: "bf16", shape: [2, 2] }, { data: bits, dtype: "f16", shape: [2, 2] }, { data: bits, dtype: "bf16", shape: [1, 4] }, scale(1), scale(2)].map(
        async (weights) => (await load({ weights: weights as unknown as HeadArray })).statistics.digest,
      ),
    );
    expect(new Set(digests).size).toBe(5);
  });

  test("from a .npy file", async () => {
    const weights = weightsOf("bf16", 4, 3);
    const { sink, shape } = await load({ weights: npy(npyDict("|V2", "(4, 3)"), bytesOf(weights)) });
    expect(shape).toEqual({ dtype: "bf16", vocabSize: 4, hiddenSize: 3, groupSize: 0 });
    expect(Buffer.compare(sink.bytes, bytesOf(weights))).toBe(0);
    expect(await messageOf(() => load({ weights: npy(npyDict("<f4", "(2, 2)", "True"), new Uint8Array(16)) }))).toMatch(/expected an array in C order/);
    expect(await messageOf(() => load({ weights: npy(npyDict("<f8", "(2, 2)"), new Uint8Array(32)) }))).toMatch(/expected BF16, F16, F32 or I8 for array, got <f8$/);
  });
});

describe("scales of int8 heads", () => {
  const weights = tensor("I8", [4, 64], weightsOf("int8", 4, 64));
  const per = (groups: number) => Float32Array.from({ length: 4 * groups }, (_, index) => (index + 1) * 0.25);

  test.each([
    ["[V]", "lm_head.weight_scale", [4], 1, 64],
    ["[V, 1]", "lm_head.weight_scales", [4, 1], 1, 64],
    ["[V, D/32]", "lm_head.scales", [4, 2], 2, 32],
    ["[V]", "lm_head.scale", [4], 1, 64],
  ])("%s as %s", async (_, name, shape, groups, groupSize) => {
    const loaded = await loading({ "lm_head.weight": weights, [name]: tensor("F32", shape, per(groups)) });
    expect(loaded.shape.groupSize).toBe(groupSize);
    expect(loaded.sink.scales).toStrictEqual(per(groups));
  });

  test("F16 and BF16 widen exactly, f16 subnormals included", async () => {
    const half = await loading({ "lm_head.weight": weights, "lm_head.weight_scale": tensor("F16", [4], Uint16Array.of(0x3c00, 0x0001, 0x03ff, 0x7bff)) });
    expect(half.sink.scales).toStrictEqual(Float32Array.of(1, 2 ** -24, 1023 * 2 ** -24, 65504));
    const brain = await loading({ "lm_head.weight": weights, "lm_head.weight_scale": tensor("BF16", [4], Uint16Array.of(0x3f80, 0x0080, 0x7f7f, 0x3f81)) });
    expect(brain.sink.scales).toStrictEqual(Float32Array.of(1, 2 ** -126, 255 * 2 ** 120, 1 + 2 ** -7));
  });

  test("named by the caller, in this file or another", async () => {
    const named = { "lm_head.weight": weights, "lm_head.weight_scale": tensor("F32", [4], per(1)), other: tensor("F32", [4, 2], per(2)) };
    expect((await loading(named, { scales: "other" })).shape.groupSize).toBe(32);
    const alone = { "lm_head.weight": weights };
    const inNpy = npy(npyDict("<f4", "(4, 2)"), bytesOf(per(2)));
    expect((await loading(alone, { scales: { source: inNpy } })).sink.scales).toStrictEqual(per(2));
    const inTensors = safetensors({ a: tensor("F32", [4], per(1)), b: tensor("F32", [4, 2], per(2)) });
    expect((await loading(alone, { scales: { source: inTensors, tensor: "b" } })).sink.scales).toStrictEqual(per(2));
    expect(await messageOf(() => loading(alone, { scales: { source: inTensors } }))).toMatch(/"scales" expected a file with one tensor in bytes, got a, b$/);
    expect(await messageOf(() => loading(alone, { scales: { source: inTensors, tensor: "c" } }))).toMatch(/"scales" expected tensor c in bytes, got a, b$/);
    expect(await messageOf(() => loading(alone, { scales: "gone" }))).toBe('RangeError: "scales" expected a tensor named gone beside lm_head.weight, got none');
  });

  const scaled = (dtype: string, shape: readonly number[], array: ArrayBufferView) => () => loading({ "lm_head.weight": weights, "lm_head.weight_scale": tensor(dtype, shape, array) });
  const bad = (bits: number) => {
    const values = per(2);
    new Uint32Array(values.buffer)[5] = bits;
    return scaled("F32", [4, 2], values);
  };
  const refused: [what: string, action: () => Promise<unknown>, message: RegExp][] = [
    ["none", () => loading({ "lm_head.weight": weights }), /"scales" expected a tensor named lm_head\.weight_scale or lm_head\.weight_scales or lm_head\.scale or lm_head\.scales beside lm_head\.weight, got none$/],
    ["too few rows", scaled("F32", [3], new Float32Array(3)), /"scales" expected shape \[4\], \[4, 1\] or \[4, D \/ group\], got \[3\]$/],
    ["rank 3", scaled("F32", [4, 1, 1], per(1)), /got \[4, 1, 1\]$/],
    ["a scalar", scaled("F32", [], Float32Array.of(1)), /got \[\]$/],
    ["groups of 16 columns", scaled("F32", [4, 4], per(4)), /groups of a multiple of 32 columns, got 4 a row of 64 columns$/],
    ["groups that do not divide", scaled("F32", [4, 3], per(3)), /got 3 a row of 64 columns$/],
    ["no group", scaled("F32", [4, 0], new Float32Array(0)), /got 0 a row of 64 columns$/],
    ["a dtype without fractions", scaled("I32", [4], new Int32Array(4)), /"scales" expected F32, F16 or BF16, got I32$/],
    ["zero", bad(0), /expected positive finite numbers of at least 2\^-126, got 0 at row 2, column 1$/],
    ["minus zero", bad(0x80000000), /got 0 at row 2, column 1$/],
    ["negative", bad(0xbf800000), /got -1 at row 2, column 1$/],
    ["subnormal", bad(0x007fffff), /got 1\.175\S+e-38 at row 2, column 1$/],
    ["infinite", bad(0x7f800000), /got Infinity at row 2, column 1$/],
    ["NaN", bad(0x7fc00000), /got NaN at row 2, column 1$/],
    ["a zero point", () => loading({ "lm_head.weight": weights, "lm_head.weight_zero_point": tensor("I8", [4], new Int8Array(4)), "lm_head.weight_scale": tensor("F32", [4], per(1)) }), /expected symmetric int8 weights, got a zero point: lm_head\.weight_zero_point$/],
    ["scales for floats", () => loading({ "lm_head.weight": tensor("F32", [4, 1], per(1)) }, { scales: "x" }), /"scales" expected weights of dtype I8, got F32$/],
  ];
  test.each(refused)("refused: %s", async (_, action, message) => {
    expect(await messageOf(action)).toMatch(message);
  });
});

describe("refused before the backend is asked for anything", () => {
  const f32 = (shape: readonly number[], dtype = "F32") => () => loading({ "lm_head.weight": { dtype, shape, bytes: new Uint8Array(4 * shape.reduce((a, b) => a * b, 1)) } });
  const array = (change: object) => () => load({ weights: { data: new Float32Array(6), dtype: "f32", shape: [2, 3], ...change } as never });
  const refused: [what: string, action: () => Promise<unknown>, message: RegExp][] = [
    ["V = 0", f32([0, 4]), /^RangeError: "lm_head\.weight" expected shape \[V, D\] with 1 <= V < 2\^31 and 1 <= D <= 2\^20, got \[0, 4\]$/],
    ["D = 0", f32([4, 0]), /got \[4, 0\]$/],
    ["D past 2^20", f32([1, 2 ** 20 + 1]), /got \[1, 1048577\]$/],
    ["rank 1", f32([4]), /got \[4\]$/],
    ["rank 3", f32([2, 1, 2]), /got \[2, 1, 2\]$/],
    ["dtype I32", f32([2, 2], "I32"), /expected BF16, F16, F32 or I8 for lm_head\.weight, got I32$/],
    ["bf16 as Float32Array", array({ dtype: "bf16" }), /^TypeError: "weights\.data" expected Uint16Array for bf16, got Float32Array$/],
    ["f32 as Float64Array", array({ data: new Float64Array(6) }), /^TypeError: "weights\.data" expected Float32Array for f32, got Float64Array$/],
    ["f16 as a list", array({ data: [1, 2, 3, 4, 5, 6], dtype: "f16" }), /^TypeError: "weights\.data" expected Uint16Array or Float16Array for f16, got Array$/],
    ["int8 as Uint8Array", array({ data: new Uint8Array(6), dtype: "int8" }), /^TypeError: "weights\.data" expected Int8Array for int8, got Uint8Array$/],
    ["an unknown dtype", array({ dtype: "toString" }), /^RangeError: "weights\.dtype" expected bf16, f16, f32 or int8, got "toString"$/],
    ["a length that does not match", array({ shape: [2, 4] }), /"weights\.data" expected 2 \* 4 weights, got 6$/],
    ["no shape", array({ shape: undefined }), /^TypeError: "weights\.shape" expected an array \[V, D\], got undefined$/],
    ["a fractional shape", array({ shape: [1.5, 4] }), /"weights" expected shape .*, got \[1\.5, 4\]$/],
    ["int8 without scales", array({ data: new Int8Array(6), dtype: "int8" }), /^TypeError: "weights\.scales" expected a Float32Array for int8, got undefined$/],
    ["scales of a wrong length", array({ data: new Int8Array(6), dtype: "int8", scales: new Float32Array(3) }), /"weights\.scales" expected a multiple of 2 scales, got 3$/],
    ["a scale of zero", array({ data: new Int8Array(6), dtype: "int8", scales: new Float32Array(2) }), /"scales" expected positive finite numbers of at least 2\^-126, got 0 at row 0, column 0$/],
    ["scales for f32", array({ scales: new Float32Array(2) }), /"weights\.scales" expected only with int8, got them with f32$/],
    ["a tensor name for an array", () => load({ weights: { data: new Float32Array(6), dtype: "f32", shape: [2, 3] }, tensor: "x" }), /^TypeError: "weights" expected a file together with tensor or scales, got an array$/],
  ];
  test.each(refused)("%s", async (_, action, message) => {
    expect(await messageOf(action)).toMatch(message);
  });

  test("no sink is made for them", async () => {
    const { sinks, createSink } = recordingSinks();
    await messageOf(() => loadHead({ weights: safetensors({ "lm_head.weight": tensor("F32", [0, 4], new Float32Array(0)) }), createSink }));
    await messageOf(() => loadHead({ weights: new Uint8Array(100), createSink }));
    expect(sinks).toEqual([]);
  });
});

describe("failures on the way", () => {
  const rows = 4000;
  const columns = 1031;
  const weights = weightsOf("bf16", rows, columns);
  let folder: string;
  let path: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "head-load-"));
    path = join(folder, "model.safetensors");
    await writeFile(path, safetensors({ "lm_head.weight": tensor("BF16", [rows, columns], weights) }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Loads, must fail, and tells what the sink saw. */
  async function failing(options: Omit<LoadOptions, "createSink">, prepare?: (sink: ReturnType<typeof recordingSinks>["sinks"][number]) => void) {
    const { sinks, createSink } = recordingSinks();
    const create: LoadOptions["createSink"] = (shape, scales) => {
      const sink = createSink(shape, scales);
      prepare?.(sink);
      return sink;
    };
    const message = await messageOf(() => loadHead({ ...options, createSink: create }));
    return { message, log: sinks[0]?.log ?? [] };
  }

  test("a file loads in blocks of at most 4 MiB, and says how far it is", async () => {
    const seen: number[] = [];
    const { sink } = await load({ weights: path, onProgress: ({ bytes, totalBytes }) => (expect(totalBytes).toBe(weights.byteLength), seen.push(bytes)) });
    expect(Buffer.compare(sink.bytes, bytesOf(weights))).toBe(0);
    expect(seen.at(-1)).toBe(weights.byteLength);
    expect(seen).toEqual(Array.from(seen, (_, index) => Math.min(weights.byteLength, (index + 1) * seen[0]!)));
    expect(seen[0]).toBeLessThanOrEqual(4 << 20);
    expect(seen[0]).toBeGreaterThan(3 << 20);
  });

  test("an abort in the middle of a file aborts the sink", async () => {
    const controller = new AbortController();
    const { message, log } = await failing({ weights: path, signal: controller.signal, onProgress: () => controller.abort() });
    expect(message).toMatch(/^AbortError: /);
    expect(log.map((line) => line.split(" ")[0])).toEqual(["reserve", "commit", "abort"]);
  });

  test("an abort before the start, while the sink is made, and after the last row", async () => {
    expect(await failing({ weights: path, signal: AbortSignal.abort() })).toMatchObject({ message: expect.stringMatching(/^AbortError/), log: [] });
    const early = new AbortController();
    expect(await failing({ weights: path, signal: early.signal }, () => early.abort())).toMatchObject({ message: expect.stringMatching(/^AbortError/), log: ["abort"] });
    const late = new AbortController();
    const { message, log } = await failing({ weights: path, signal: late.signal, onProgress: ({ bytes, totalBytes }) => bytes === totalBytes && late.abort() });
    expect(message).toMatch(/^AbortError/);
    expect(log.at(-1)).toBe("abort");
    expect(log).not.toContain("finish");
    const last = new AbortController();
    const digest = vi.spyOn(crypto.subtle, "digest").mockImplementation(async () => (last.abort(), new ArrayBuffer(32)));
    const duringDigest = await failing({ weights: path, signal: last.signal });
    digest.mockRestore();
    expect(duringDigest.message).toMatch(/^AbortError/);
    expect(duringDigest.log).not.toContain("finish");
  });

  test("a timer can abort a load from memory", async () => {
    const data = new Uint16Array(2 ** 25);
    const { message, log } = await failing({ weights: { data, dtype: "bf16", shape: [2 ** 15, 2 ** 10] }, signal: AbortSignal.timeout(0) });
    expect(message).toMatch(/^TimeoutError/);
    expect(log.at(-1)).toBe("abort");
    expect(log.filter((line) => line.startsWith("commit")).length).toBeLessThan(16);
  });

  test("NaN in the file names its place and aborts the sink", async () => {
    const bytes = safetensors({ "lm_head.weight": tensor("BF16", [rows, columns], weights) });
    new DataView(bytes.buffer).setUint16(bytes.length - weights.byteLength + 2 * (3999 * columns + 1030), 0x7fff, true);
    const { message, log } = await failing({ weights: bytes });
    expect(message).toBe('RangeError: "weights" expected finite numbers, got NaN at row 3999, column 1030');
    expect(log.at(-1)).toBe("abort");
  });

  test.each([
    ["more rows than asked", (first: number, count: number, bytes: Uint8Array) => ({ firstRow: first, rowCount: count + 1, bytes })],
    ["no row", (first: number) => ({ firstRow: first, rowCount: 0, bytes: new Uint8Array(0) })],
    ["another row", (first: number, count: number, bytes: Uint8Array) => ({ firstRow: first + 1, rowCount: count, bytes })],
    ["too few bytes", (first: number, count: number, bytes: Uint8Array) => ({ firstRow: first, rowCount: count, bytes: bytes.subarray(1) })],
  ])("a sink that reserves %s", async (_, spoil) => {
    const { message, log } = await failing({ weights: path }, (sink) => {
      const { reserve } = sink;
      sink.reserve = (firstRow, rowCount) => {
        const block = reserve.call(sink, firstRow, rowCount);
        return spoil(block.firstRow, block.rowCount, block.bytes);
      };
    });
    expect(message).toMatch(/^RangeError: "block" expected 1\.\.\d+ rows of 2062 bytes from 0 on, got /);
    expect(log.at(-1)).toBe("abort");
  });

  test("a sink that fails to commit or to finish", async () => {
    const fail = () => Promise.reject(new Error("device lost"));
    expect(await failing({ weights: path }, (sink) => (sink.commit = fail))).toMatchObject({ message: "Error: device lost", log: [expect.any(String), "abort"] });
    const { message, log } = await failing({ weights: path }, (sink) => (sink.finish = fail as never));
    expect([message, log.at(-1)]).toEqual(["Error: device lost", "abort"]);
  });

  test("what the load opened is closed, what the caller opened is not", async () => {
    let closed = 0;
    const inner = bytesSource(safetensors({ "lm_head.weight": tensor("F32", [1, 1], Float32Array.of(1)) }));
    const source: ByteSource = { ...inner, close: async () => void closed++ };
    await load({ weights: source });
    expect(closed).toBe(0);
    const index: ByteSource = { ...bytesSource(new TextEncoder().encode('{"weight_map":{"lm_head.weight":"a.safetensors"}}')), sibling: async () => source };
    await load({ weights: index });
    expect(closed).toBe(1);
    expect(await messageOf(() => load({ weights: index, tensor: "absent" }))).toMatch(/^RangeError: "tensor"/);
    expect(closed).toBe(2);
  });

  test("a stream that the load opened is given up when the head is complete", async () => {
    const file = safetensors({ "lm_head.weight": tensor("F32", [1, 1], Float32Array.of(1)), rest: tensor("I8", [100], new Int8Array(100)) });
    let givenUp: Promise<unknown> = Promise.resolve("never asked");
    await withServer((_, response) => {
      givenUp = new Promise((resolve) => response.on("close", () => resolve("closed")));
      response.writeHead(200, { "Content-Length": file.length });
      response.write(file.subarray(0, -50));
    }, async (base) => {
      await load({ weights: base });
      expect(await givenUp).toBe("closed");
    });
  });

  test("over http, with ranges and without, and cut off in the middle", async () => {
    const file = safetensors({ first: tensor("I8", [3_000_000], new Int8Array(3_000_000)), "lm_head.weight": tensor("BF16", [rows, columns], weights) });
    const { statistics } = await load({ weights: { data: weights as Uint16Array, dtype: "bf16", shape: [rows, columns] } });
    await withServer((request, response) => serveRange(file, request, response), async (base, requests) => {
      expect((await load({ weights: `${base}/m.safetensors` })).statistics.digest).toBe(statistics.digest);
      expect(requests.length).toBe(2);
    });
    await withServer((_, response) => response.end(file), async (base) => {
      expect((await load({ weights: new URL(base) })).statistics.digest).toBe(statistics.digest);
    });
    await withServer((_, response) => {
      response.writeHead(200, { "Content-Length": file.length });
      response.write(file.subarray(0, file.length - 1_000_000), () => response.destroy());
    }, async (base) => {
      const { message, log } = await failing({ weights: base });
      expect(message).toMatch(/expected \d+ bytes, got \d+ and then /);
      expect(log.at(-1)).toBe("abort");
    });
  });
});
