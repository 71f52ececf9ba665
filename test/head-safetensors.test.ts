import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EMBEDDING_NAMES, HEAD_NAMES, findHead } from "../src/head/find.js";
import { readSafetensors } from "../src/head/safetensors.js";
import { bytesSource, openSource, type ByteSource } from "../src/head/source.js";
import { openTensors } from "../src/head/tensor-file.js";
import { messageOf, rawSafetensors, safetensors } from "./head-fixtures.js";

const read = (bytes: Uint8Array, name = "x.safetensors") => readSafetensors(bytesSource(bytes, name));
const oneTensor = (entry: string, data = new Uint8Array(24)) => rawSafetensors(`{"w":${entry}}`, data);
/** The entry of a tensor without bytes. */
const nothing = '{"dtype":"I8","shape":[0,0],"data_offsets":[0,0]}';
const matrix = (rows: number, columns: number) => ({ dtype: "F32", shape: [rows, columns], bytes: new Uint8Array(4 * rows * columns) });

/** A source that claims a size and counts the bytes that are asked of it. */
function claiming(size: number, bytes: Uint8Array): ByteSource & { asked: number } {
  const source = {
    name: "huge",
    size,
    asked: 0,
    async read(offset: number, target: Uint8Array) {
      source.asked += target.length;
      target.set(bytes.subarray(offset, offset + target.length));
    },
    async close() {},
  };
  return source;
}

describe("a file in order", () => {
  test("tensors, metadata, empty tensors and a scalar", async () => {
    const file = safetensors(
      {
        b: { dtype: "BF16", shape: [2, 3], bytes: new Uint8Array(12) },
        empty: { dtype: "F32", shape: [0, 5], bytes: new Uint8Array(0) },
        scalar: { dtype: "I8", shape: [], bytes: new Uint8Array(1) },
        "未来 \"quoted\"": { dtype: "F4", shape: [4], bytes: new Uint8Array(2) },
        later: { dtype: "F999", shape: [7], bytes: new Uint8Array(3) },
      },
      { format: "pt" },
    );
    const tensors = await read(file);
    const dataStart = file.length - 18;
    expect(tensors.map(({ name, dtype, shape, offset, length }) => [name, dtype, shape, offset - dataStart, length])).toEqual([
      ["b", "BF16", [2, 3], 0, 12],
      ["empty", "F32", [0, 5], 12, 0],
      ["scalar", "I8", [], 12, 1],
      ['未来 "quoted"', "F4", [4], 13, 2],
      ["later", "F999", [7], 15, 3],
    ]);
  });

  test("a header padded with spaces, tensors listed out of order", async () => {
    const header = '{"b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]} , "a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}   ';
    expect((await read(rawSafetensors(header, new Uint8Array(3)))).map((tensor) => tensor.name)).toEqual(["b", "a"]);
  });

  test("as many tensors as are allowed", async () => {
    const header = `{${Array.from({ length: 2 ** 17 }, (_, index) => `"layer:${index}":${nothing}`).join()}}`;
    expect(await read(rawSafetensors(header))).toHaveLength(2 ** 17);
  });

  test("a name that objects treat as special is only a name", async () => {
    const header = '{"__proto__":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}';
    const file = await openTensors(bytesSource(rawSafetensors(header, new Uint8Array(1))));
    expect(file.names).toEqual(["__proto__"]);
    expect((await file.tensor("__proto__")).length).toBe(1);
  });
});

describe("hostile files", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const good = '{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}';
  const table: [what: string, file: Uint8Array, message: RegExp][] = [
    ["empty", new Uint8Array(0), /expected a safetensors file of at least 8 bytes, got 0$/],
    ["7 bytes", new Uint8Array(7), /at least 8 bytes, got 7$/],
    ["header length 0", rawSafetensors("{}", undefined, 0n), /header of 2 to 2 bytes, got a length of 0$/],
    ["header length 1", rawSafetensors("{}", undefined, 1n), /got a length of 1$/],
    ["header one byte past the file", rawSafetensors("{}", undefined, 3n), /got a length of 3$/],
    ["header length 2^31", rawSafetensors("{}", undefined, 1n << 31n), /got a length of 2147483648$/],
    ["header length 2^53 + 1", rawSafetensors("{}", undefined, (1n << 53n) + 1n), /got a length of 9007199254740992$/],
    ["header length 2^63", rawSafetensors("{}", undefined, 1n << 63n), /got a length of 9223372036854776000$/],
    ["header length 2^64 - 1", rawSafetensors("{}", undefined, (1n << 64n) - 1n), /got a length of 18446744073709552000$/],
    ["not JSON", rawSafetensors("{]"), /expected valid JSON, got: /],
    ["JSON cut off", rawSafetensors(`{"w":${good}`), /expected valid JSON/],
    ["two JSON values", rawSafetensors("{} {}"), /expected valid JSON/],
    ["byte order mark", rawSafetensors("\ufeff{}"), /expected valid JSON/],
    ["not UTF-8", rawSafetensors('{"?": 0}').map((byte) => (byte === 0x3f ? 0xff : byte)), /expected valid JSON/],
    ["deep nesting", rawSafetensors(`{"w":${"[".repeat(200_000)}${"]".repeat(200_000)}}`), /expected JSON of at most 64 levels, got more$/],
    ["65 levels of objects", rawSafetensors(`${'{"w":'.repeat(65)}0${"}".repeat(65)}`), /expected JSON of at most 64 levels, got more$/],
    ["64 levels", oneTensor(nested(63)), /expected an object for the entry of tensor w, got "array"$/],
    ["brackets in strings are no levels", rawSafetensors(`{"\\"${"[{".repeat(99)}":1}`), /expected an object for the entry of tensor "\\"\[\{/],
    ["a string without an end", rawSafetensors('{"w'), /expected valid JSON/],
    ["a string that ends in its escape", rawSafetensors('{"w\\'), /expected valid JSON/],
    ["a deep dtype", oneTensor(`{"dtype":${nested(62)},"shape":[6],"data_offsets":[0,24]}`), /expected a string for dtype of tensor w, got \[Array\]$/],
    ["a deep shape", oneTensor(`{"dtype":"F32","shape":${nested(62)},"data_offsets":[0,24]}`), /sizes for shape of tensor w, got \[Array\]$/],
    ["deep offsets", oneTensor(`{"dtype":"F32","shape":[6],"data_offsets":${nested(10_000)}}`), /expected JSON of at most 64 levels, got more$/],
    ["more tensors than there are", rawSafetensors(`{${Array.from({ length: 2 ** 17 + 1 }, (_, index) => `"${index}":${nothing}`).join()}}`), /expected at most 1048576 JSON values \(as many as 131072 tensors have\), got more$/],
    ["many keys in one tensor", oneTensor(`{${'"k":0,'.repeat(2 ** 20)}"k":0}`), /expected at most 1048576 JSON values/],
    ["many objects in one tensor", oneTensor(`[${"{},".repeat(2 ** 19)}{}]`), /expected at most 1048576 JSON values/],
    ["many sizes of one tensor", oneTensor(`{"shape":[${"0,".repeat(2 ** 20)}0]}`), /expected at most 1048576 JSON values/],
    ["an array", rawSafetensors("[]"), /expected a JSON object, got array$/],
    ["null", rawSafetensors("null"), /expected a JSON object, got null$/],
    ["a number", rawSafetensors("123"), /expected a JSON object, got number$/],
    ["a tensor twice", rawSafetensors(`{"w":${good},"w":${good}}`, new Uint8Array(24)), /expected each JSON key once, got "w" twice$/],
    ["a tensor twice, written differently", rawSafetensors(`{"w":${good},"\\u0077" :${good}}`, new Uint8Array(24)), /got "w" twice$/],
    ["a tensor with quotes in its name twice", rawSafetensors(`{"q\\"w":${good},"q\\"w":${good}}`, new Uint8Array(24)), /got "q\\"w" twice$/],
    ["a field twice", oneTensor('{"dtype":"F32","shape":[2,3],"shape":[6,1],"data_offsets":[0,24]}'), /got "shape" twice$/],
    ["entry is no object", oneTensor("[1]"), /expected an object for the entry of tensor w, got "array"$/],
    ["entry is null", oneTensor("null"), /expected an object for the entry of tensor w, got "null"$/],
    ["no dtype", oneTensor('{"shape":[2,3],"data_offsets":[0,24]}'), /expected a string for dtype of tensor w, got undefined$/],
    ["no shape", oneTensor('{"dtype":"F32","data_offsets":[0,24]}'), /sizes for shape of tensor w, got undefined$/],
    ["no offsets", oneTensor('{"dtype":"F32","shape":[2,3]}'), /offsets for data_offsets of tensor w, got undefined$/],
    ["negative size", oneTensor('{"dtype":"F32","shape":[-2,-3],"data_offsets":[0,24]}'), /sizes for shape of tensor w, got \[-2,-3\]$/],
    ["fractional size", oneTensor('{"dtype":"F32","shape":[1.5,4],"data_offsets":[0,24]}'), /sizes for shape of tensor w, got \[1.5,4\]$/],
    ["size as text", oneTensor('{"dtype":"F32","shape":["2",3],"data_offsets":[0,24]}'), /sizes for shape of tensor w, got \["2",3\]$/],
    ["size 1e300", oneTensor('{"dtype":"F32","shape":[1e300],"data_offsets":[0,24]}'), /sizes for shape of tensor w, got \[1e\+300\]$/],
    ["rank 17", oneTensor(`{"dtype":"F32","shape":[6${",1".repeat(16)}],"data_offsets":[0,24]}`), /at most 16 sizes for shape/],
    ["product past 2^53", oneTensor('{"dtype":"F32","shape":[9007199254740991,9007199254740991],"data_offsets":[0,24]}'), /to match the 24 bytes/],
    ["product that wraps at 2^64", oneTensor('{"dtype":"I8","shape":[4294967296,4294967296],"data_offsets":[0,0]}', new Uint8Array(0)), /to match the 0 bytes/],
    ["product that wraps at 2^32", oneTensor('{"dtype":"I8","shape":[65536,65536],"data_offsets":[0,0]}', new Uint8Array(0)), /to match the 0 bytes/],
    ["product too small", oneTensor('{"dtype":"F32","shape":[2,2],"data_offsets":[0,24]}'), /expected F32 \[2,2\] to match the 24 bytes of tensor w/],
    ["three offsets", oneTensor('{"dtype":"F32","shape":[2,3],"data_offsets":[0,24,24]}'), /two ascending offsets for data_offsets of tensor w/],
    ["descending offsets", oneTensor('{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]}'), /two ascending offsets/],
    ["negative offset", oneTensor('{"dtype":"F32","shape":[2,3],"data_offsets":[-1,23]}'), /two ascending offsets/],
    ["fractional offset", oneTensor('{"dtype":"F32","shape":[2,3],"data_offsets":[0.5,24.5]}'), /two ascending offsets/],
    ["offset 1e300", oneTensor('{"dtype":"F32","shape":[2,3],"data_offsets":[0,1e300]}'), /two ascending offsets/],
    ["offsets past the file", oneTensor('{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}', new Uint8Array(23)), /within the file's 23 bytes of data of tensor w, got \[0,24\]$/],
    ["overlap", rawSafetensors('{"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}}', new Uint8Array(4)), /got an overlap before tensor b$/],
    ["two names for the same bytes", rawSafetensors('{"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"I8","shape":[3],"data_offsets":[0,3]}}', new Uint8Array(3)), /got an overlap before tensor b$/],
    ["a hole", rawSafetensors('{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}}', new Uint8Array(4)), /got a hole of 1 bytes before tensor b$/],
    ["bytes after the last tensor", oneTensor(good, new Uint8Array(25)), /got 1 bytes after them$/],
    ["GGUF", Uint8Array.from(Buffer.from("GGUF\x03\0\0\0\0\0\0\0\0\0\0\0")), /expected a safetensors file, got a GGUF file\. Convert the head with Python: .*safetensors\.torch\.save_file\({"lm_head\.weight": W}, "head\.safetensors"\)$/],
    ["ONNX by its bytes", Uint8Array.from(Buffer.from("\x08\x07\x12\x07pytorch", "latin1")), /got an ONNX file\. Convert/],
    ["torch.save", Uint8Array.from(Buffer.from("PK\x03\x04\0\0\0\0\0\0", "latin1")), /got a zip archive, as torch\.save/],
    ["pickle", Uint8Array.from(Buffer.from("\x80\x02}q\0(X\x03\0\0", "latin1")), /got a Python pickle/],
    ["Git LFS pointer", Uint8Array.from(Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:0")), /got a Git LFS pointer\. Fetch the file itself/],
    ["web page", Uint8Array.from(Buffer.from("\n<!DOCTYPE html><html>")), /got a web page/],
  ];
  test.each(table)("%s", async (_, file, message) => {
    const got = await messageOf(() => read(file));
    expect(got).toMatch(/^RangeError: "x\.safetensors" /);
    expect(got).toMatch(message);
  });

  test("ONNX by its name", async () => {
    expect(await messageOf(() => read(new Uint8Array(30), "model.onnx"))).toMatch(/got an ONNX file/);
  });

  test("cut at every byte", async () => {
    const file = safetensors({ a: matrix(2, 3), b: matrix(1, 1) });
    await read(file);
    for (let length = 0; length < file.length; length++) {
      expect(await messageOf(() => read(file.subarray(0, length))), `${length} bytes`).toMatch(/^RangeError: "x\.safetensors" expected /);
    }
  });

  test("a tensor of 10^15 bytes costs no memory", async () => {
    const header = '{"lm_head.weight":{"dtype":"I8","shape":[1000000000,1000000],"data_offsets":[0,1000000000000000]}}';
    const source = claiming(1_000_000, rawSafetensors(header));
    expect(await messageOf(() => readSafetensors(source))).toMatch(/within the file's \d+ bytes of data/);
    expect(source.asked).toBe(8 + header.length);
    const long = claiming(1e15, rawSafetensors("{}", undefined, 100_000_001n));
    expect(await messageOf(() => readSafetensors(long))).toMatch(/expected a safetensors file with a header of 2 to 100000000 bytes, got a length of 100000001$/);
    expect(long.asked).toBe(8 + 64);
  });
});

describe("finding the head", () => {
  const find = async (tensors: Parameters<typeof safetensors>[0], asked?: string) =>
    findHead(await openTensors(bytesSource(safetensors(tensors), "m.safetensors")), asked);

  test("every usual name is found, by its priority", async () => {
    const names = [...HEAD_NAMES, ...EMBEDDING_NAMES];
    expect(new Set(names).size).toBe(names.length);
    for (const [priority, name] of names.entries()) {
      const rest = names.slice(priority).reverse();
      const tensors = Object.fromEntries([...rest, "other.weight", "another.weight"].map((key) => [key, matrix(2, 2)]));
      expect((await find(tensors)).name).toBe(name);
    }
  });

  test("a name that is asked for wins", async () => {
    expect((await find({ "lm_head.weight": matrix(2, 2), mine: matrix(3, 3) }, "mine")).name).toBe("mine");
    expect(await messageOf(() => find({ a: matrix(2, 2), b: matrix(300, 3), v: { ...matrix(1, 4), shape: [4] } }, "mine"))).toBe(
      'RangeError: "tensor" expected the name of a tensor in m.safetensors, got mine. Its 2-D tensors: b F32 [300, 3]; a F32 [2, 2]',
    );
  });

  test("the only matrix of a file is the head", async () => {
    expect((await find({ bias: { ...matrix(1, 4), shape: [4] }, W: matrix(4, 2) })).name).toBe("W");
    expect(await messageOf(() => find({ a: matrix(2, 2), b: matrix(3, 2) }))).toBe(
      'RangeError: "m.safetensors" expected a head under one of the usual names, got none: name the tensor. Its 2-D tensors: b F32 [3, 2]; a F32 [2, 2]',
    );
    expect(await messageOf(() => find({}))).toMatch(/The file has no 2-D tensor$/);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`t${index}`, matrix(1, index + 1)]));
    expect(await messageOf(() => find(many))).toMatch(/: t49 F32 \[1, 50\]; .*; t30 F32 \[1, 31\], and 30 smaller ones$/);
  });

  test("a packed head is not taken for a tied one, nor a head with a bias for one without", async () => {
    const packed = { "lm_head.qweight": matrix(2, 2), "lm_head.scales": matrix(1, 2), "model.embed_tokens.weight": matrix(2, 2) };
    expect(await messageOf(() => find(packed))).toMatch(/as one matrix lm_head\.weight, got lm_head\.qweight, lm_head\.scales/);
    expect((await find(packed, "model.embed_tokens.weight")).name).toBe("model.embed_tokens.weight");
    const biased = { "lm_head.weight": matrix(2, 2), "lm_head.bias": { ...matrix(1, 2), shape: [2] } };
    expect(await messageOf(() => find(biased))).toMatch(/expected a head without bias, got lm_head\.bias: name lm_head\.weight/);
    expect((await find(biased, "lm_head.weight")).name).toBe("lm_head.weight");
  });
});

describe("shards", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "head-shards-"));
    await writeFile(join(folder, "model-00001-of-00002.safetensors"), safetensors({ a: matrix(1, 1) }));
    await writeFile(join(folder, "model-00002-of-00002.safetensors"), safetensors({ "lm_head.weight": matrix(5, 2) }));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const openIndex = async (index: unknown) => {
    const path = join(folder, "model.safetensors.index.json");
    await writeFile(path, typeof index === "string" ? index : JSON.stringify(index, null, 2));
    const source = await openSource(path);
    const file = await openTensors(source);
    return { file, close: () => Promise.all([file.close(), source.close()]) };
  };
  const both = { a: "model-00001-of-00002.safetensors", "lm_head.weight": "model-00002-of-00002.safetensors" };

  test("the head comes out of its shard", async () => {
    const { file, close } = await openIndex({ metadata: { total_size: 44 }, weight_map: both });
    const head = await findHead(file, undefined);
    expect([head.name, head.shape, head.source.name]).toEqual(["lm_head.weight", [5, 2], join(folder, "model-00002-of-00002.safetensors")]);
    await close();
  });

  test.each(["../model.safetensors", "..", ".", "", "/etc/passwd.safetensors", "a/b.safetensors", "a\\b.safetensors", "c:x.safetensors", "a.safetensors\0", ".hidden.safetensors", "https://host/a.safetensors", "model.bin", 7, null, ["a.safetensors"]])(
    "shard name %j is refused",
    async (shard) => {
      expect(await messageOf(() => openIndex({ weight_map: { "lm_head.weight": shard } }))).toMatch(/^RangeError: .*expected a plain \.safetensors file name as the shard of lm_head\.weight, got /);
    },
  );

  test("what else an index can get wrong", async () => {
    expect(await messageOf(() => openIndex({ metadata: {} }))).toMatch(/expected an object weight_map, got undefined$/);
    expect(await messageOf(() => openIndex({ weight_map: [] }))).toMatch(/expected an object weight_map, got array$/);
    expect(await messageOf(() => openIndex('{"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}}'))).toMatch(/got "a" twice$/);
    expect(await messageOf(() => openIndex('{"weight_map": {'))).toMatch(/expected valid JSON/);
    const missing = await openIndex({ weight_map: { "lm_head.weight": "model-00003-of-00002.safetensors" } });
    expect(await messageOf(() => findHead(missing.file, undefined))).toMatch(/model-00003-of-00002\.safetensors" expected a readable file, got ENOENT$/);
    await missing.close();
    const lying = await openIndex({ weight_map: { "lm_head.weight": both.a } });
    expect(await messageOf(() => findHead(lying.file, undefined))).toMatch(/00001-of-00002\.safetensors" expected tensor lm_head\.weight, as .* says, got none$/);
    await lying.close();
    const alone = await openTensors(bytesSource(new TextEncoder().encode(JSON.stringify({ weight_map: both })), "index"));
    expect(await messageOf(() => findHead(alone, undefined))).toMatch(/expected its shard .* beside it, got an index without a folder$/);
  });
});
