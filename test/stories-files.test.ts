/** The pieces of examples/stories: files that lie, and its own exp, sine, cosine and rounding. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { parseHeader, readCheckpoint } from "../examples/stories/checkpoint.js";
import { bf16Bits, f16Bits } from "../examples/stories/head.js";
import { exp, rotaryFrequency, sinCos } from "../examples/stories/maths.js";
import { parseTokenizer } from "../examples/stories/tokenizer.js";
import { bitsFromF32, f16ToF32Bits, f32BitsToBf16, f32BitsToF16, f32FromBits } from "../src/spec/float.js";
import { pseudoRandom } from "./head-fixtures.js";

const folder = mkdtempSync(join(tmpdir(), "flash-sampling-stories-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = fileURLToPath(new URL("../examples/stories", import.meta.url));

/** dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len of a model of 132 floats: 32 of them its embedding */
const SMALL = [4, 3, 1, 2, 1, 8, 2];
const SMALL_BYTES = 28 + 4 * 132;

function header(fields: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(fields).buffer);
}

function changed(index: number, value: number): Uint8Array {
  return header(SMALL.with(index, value));
}

describe("a checkpoint", () => {
  const write = (bytes: Uint8Array) => {
    const path = join(folder, "checkpoint.bin");
    writeFileSync(path, bytes);
    return path;
  };
  const small = (fields: readonly number[], length: number) => {
    const file = new Uint8Array(length);
    file.set(header(fields));
    const floats = new Float32Array(file.buffer, 28);
    floats.forEach((_, index) => (floats[index] = index));
    return file;
  };

  it("of the right size is read, with a shared head or its own", async () => {
    const tied = await readCheckpoint(write(small(SMALL, SMALL_BYTES)));
    expect(tied.head).toBe(tied.tokenEmbedding);
    expect(tied.tokenEmbedding[31]).toBe(31);
    expect(tied.layers[0]!.attentionGain[0]).toBe(32);
    expect(tied.finalGain[0]).toBe(124);
    const own = await readCheckpoint(write(small(SMALL.with(5, -8), SMALL_BYTES + 4 * 32)));
    expect(own.shape).toMatchObject({ vocabSize: 8, sharedHead: false });
    expect(own.head[0]).toBe(132);
  });

  const complete = small(SMALL, SMALL_BYTES);
  it.each([
    ["no bytes", complete.subarray(0, 0), "expected a header of 28 bytes, got 0"],
    ["27 bytes", complete.subarray(0, 27), "expected a header of 28 bytes, got 27"],
    ["28 bytes", complete.subarray(0, 28), `expected ${SMALL_BYTES} bytes, as its header says, got 28`],
    ["half its bytes", complete.subarray(0, SMALL_BYTES / 2), `expected ${SMALL_BYTES} bytes, as its header says, got ${SMALL_BYTES / 2}`],
    ["a byte too many", small(SMALL, SMALL_BYTES + 4), `expected ${SMALL_BYTES} bytes, as its header says, got ${SMALL_BYTES + 4}`],
    ["a head of its own that is missing", small(SMALL.with(5, -8), SMALL_BYTES), `expected ${SMALL_BYTES + 128} bytes, as its header says, got ${SMALL_BYTES}`],
    ["a negative dim", changed(0, -4), "expected a positive dim, got -4"],
    ["a negative hidden_dim", changed(1, -1), "expected a positive hidden_dim, got -1"],
    ["no layers", changed(2, 0), "expected a positive n_layers, got 0"],
    ["2^31 - 1 layers", changed(2, 2 ** 31 - 1), "bytes, as its header says, got 28"],
    ["no heads", changed(3, 0), "expected a positive n_heads, got 0"],
    ["heads that do not divide dim", changed(3, 3), "expected n_heads to divide dim 4, got 3"],
    ["an odd head size", changed(3, 4), "expected an even head size for rotary pairs, got 1"],
    ["key heads that do not divide heads", changed(4, 3), "expected n_kv_heads to divide n_heads 2, got 3"],
    ["a negative n_kv_heads", changed(4, -2), "expected a positive n_kv_heads, got -2"],
    ["no vocabulary", changed(5, 0), "expected a positive vocab_size, got 0"],
    ["a vocabulary of 2^31 - 1", changed(5, 2 ** 31 - 1), "bytes, as its header says, got 28"],
    ["a vocabulary of -2^31", changed(5, -(2 ** 31)), "bytes, as its header says, got 28"],
    ["a seq_len of 0", changed(6, 0), "expected a positive seq_len, got 0"],
    ["2^31 - 1 everywhere", header(SMALL.map(() => 2 ** 31 - 1)), "expected an even head size for rotary pairs, got 1"],
    ["the largest even dim everywhere", header([2 ** 30, 2 ** 31 - 1, 2 ** 31 - 1, 2, 1, 2 ** 31 - 1, 2 ** 31 - 1]), "bytes, as its header says, got 28"],
  ])("with %s is refused", async (_, file, message) => {
    const path = write(file);
    const error = await readCheckpoint(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RangeError);
    expect((error as RangeError).message).toMatch(new RegExp(`^"${path}" `));
    expect((error as RangeError).message).toContain(message);
  });

  it("of an absurd shape is refused from its header alone", () => {
    // The header promises more than any machine has; the size claims to match a small part of it.
    expect(() => parseHeader(header([2 ** 30, 1, 1, 2, 1, 2 ** 31 - 1, 1]), 2 ** 40, "x")).toThrow(/^"x" expected \d+ bytes, as its header says, got 1099511627776$/);
  });

  it("that is bad ends the command with one line and exit 2", () => {
    const path = write(complete.subarray(0, 40));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, path, "--tokenizer", path], { encoding: "utf8" });
    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: `stories: "${path}" expected ${SMALL_BYTES} bytes, as its header says, got 40\n` });
  });
});

describe("a tokenizer", () => {
  /** lengths: what the file says, where it is not the truth. */
  const file = (texts: readonly string[], lengths: Readonly<Record<number, number>> = {}, longest = 8) => {
    const encoded = texts.map((text) => new TextEncoder().encode(text));
    const bytes = new Uint8Array(4 + encoded.reduce((total, { length }) => total + 8 + length, 0));
    const view = new DataView(bytes.buffer);
    view.setInt32(0, longest, true);
    let offset = 4;
    encoded.forEach((text, token) => {
      view.setFloat32(offset, -token, true);
      view.setInt32(offset + 4, lengths[token] ?? text.length, true);
      bytes.set(text, offset + 8);
      offset += 8 + text.length;
    });
    return bytes;
  };
  const TEXTS = ["<unk>", "\n<s>\n", "\n</s>\n", "<0xE2>", " ", "a", "b", " a", "ab"];
  const good = file(TEXTS);

  it("merges the pair with the best score first", () => {
    expect(parseTokenizer(good, TEXTS.length, "t").encode("ab")).toEqual([7, 6]);
    expect(() => parseTokenizer(good, TEXTS.length, "t").encode("ac")).toThrow('"prompt" expected characters that t has tokens for, got "c"');
  });

  it.each([
    ["no bytes", good.subarray(0, 0), `expected ${TEXTS.length} tokens, got a file of 0 bytes`],
    ["3 bytes", good.subarray(0, 3), "got a file of 3 bytes"],
    ["half its bytes", good.subarray(0, good.length / 2), `expected ${TEXTS.length} tokens, got a file of ${good.length >> 1} bytes`],
    ["a byte too few", good.subarray(0, good.length - 1), "expected token 8 to have 1 to 1 bytes, got 2"],
    ["a byte too many", Uint8Array.of(...good, 0), "expected to end after 9 tokens, got 1 more bytes"],
    ["an empty token", file(TEXTS, { 5: 0 }), "expected token 5 to have 1 to 8 bytes, got 0"],
    ["a negative length", file(TEXTS, { 5: -1 }), "expected token 5 to have 1 to 8 bytes, got -1"],
    ["a length of 2^31 - 1", file(TEXTS, { 0: 2 ** 31 - 1 }), "expected token 0 to have 1 to 8 bytes, got 2147483647"],
    ["a length past the longest", file(TEXTS, {}, 4), "expected token 0 to have 1 to 4 bytes, got 5"],
    ["a length that eats the rest", file(TEXTS, { 2: 67 }, 100), "expected 9 tokens, got an end after 3"],
  ])("with %s is refused", (_, bytes, message) => {
    const parse = () => parseTokenizer(bytes, TEXTS.length, "t");
    expect(parse).toThrow(RangeError);
    expect(parse).toThrow(message);
  });

  it("for another vocabulary is refused before anything is built", () => {
    expect(() => parseTokenizer(good, 2 ** 31 - 1, "t")).toThrow('"t" expected 2147483647 tokens, got a file of');
  });
});

describe("the example's own arithmetic", () => {
  it("is within 1e-15 of the engine's", () => {
    let worst = 0;
    for (let index = 0; index <= 20000; index++) {
      const x = -708 + index * 0.07085;
      const angle = index * 1.37;
      const { sin, cos } = sinCos(angle);
      const errors = [exp(x) / Math.exp(x) - 1, sin - Math.sin(angle), cos - Math.cos(angle)];
      worst = errors.reduce((largest, error) => (Math.abs(error) <= largest ? largest : Math.abs(error)), worst);
    }
    expect(worst).toBeLessThan(1e-15);
    expect([exp(0), exp(-800), exp(800), exp(NaN)]).toEqual([1, 0, Infinity, NaN]);
    expect(Math.abs(rotaryFrequency(0.75) - 0.001)).toBeLessThan(1e-18);
  });

  it("rounds to bf16 and f16 as the rule does", () => {
    const halves = Array.from({ length: 0x7c00 }, (_, bits) => f32FromBits(f16ToF32Bits(bits)));
    const ties = halves.slice(1).map((value, index) => (value + halves[index]!) / 2);
    const random = Array.from(pseudoRandom(1, 20000), (value) => f32FromBits(Math.floor((value + 1) * 2 ** 31)));
    const edges = [65504, 65519.996, 65520, 3.4e38, Infinity, 2 ** -25, 2 ** -25 + 2 ** -40, 2 ** -149];
    for (const value of [...halves, ...ties, ...random, ...edges].filter((value) => value === value).flatMap((value) => [value, -value])) {
      const bits = bitsFromF32(value);
      const rounded = [value, bf16Bits(Math.fround(value)), f16Bits(Math.fround(value))];
      if (rounded[1] !== f32BitsToBf16(bits) || rounded[2] !== f32BitsToF16(bits)) expect(rounded).toEqual([value, f32BitsToBf16(bits), f32BitsToF16(bits)]);
    }
  });
});
