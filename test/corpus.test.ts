/** The edge corpus: what the independent reader says of it, every backend but WebGPU says too, and wrong samplers fail it. */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { SPEC_VERSION } from "../src/index.js";
import { parseJsonObject } from "../src/head/json.js";
import { readNpyFloats } from "../src/head/npy.js";
import { readNpyHeader } from "../src/head/npy-header.js";
import { bytesSource } from "../src/head/source.js";
import { gamma26 } from "../src/spec/gumbel.js";
import { elementsOf, npyOf, wordsOf } from "../src/verify/corpus/arrays.js";
import { CORPUS, ofCorpusRow, type CorpusArray, type DrawCase, type NoiseCase } from "../src/verify/corpus/corpus.js";
import { corpusFiles, exportedFiles } from "../src/verify/corpus/export.js";
import { judge, type Answer } from "../src/verify/corpus/judge.js";
import { valuesDigest } from "../src/verify/receipt-digest.js";
import { answerOf, caseNamed, corpus, DRAW_CASES } from "./corpus.js";
import { describeBackends } from "./each-backend.js";
import { messageOf } from "./head-fixtures.js";
import { unavailable } from "./require.js";

describeBackends("draws the edge corpus", corpus);

const folder = fileURLToPath(new URL("../examples/python-reference/", import.meta.url));

function pythonMissing(): string | null {
  try {
    execFileSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"], { stdio: "ignore" });
    return null;
  } catch {
    return "no python3 of version 3.9 or newer on the path";
  }
}

describe.skipIf(unavailable("python", pythonMissing()))("the committed corpus", () => {
  it("is what the Python reference makes", { timeout: 240_000 }, async () => {
    const { stdout } = await promisify(execFile)("python3", ["-B", "generate_corpus.py", "--check"], { cwd: folder });
    expect(stdout).toBe("cases.json agrees\n");
  });
});

describe("the arrays", () => {
  it("unfold to what their digests say", async () => {
    for (const [name, array] of Object.entries(CORPUS.arrays)) expect(await digestOf(array), name).toBe(array.digest);
  });

  it.each([
    ["3f800000 ff800000*3 00000000", ["3f800000", "ff800000", "ff800000", "ff800000", "00000000"]],
    ["(01 02*2)*2 03", ["1", "2", "2", "1", "2", "2", "3"]],
    ["7f (01)*2 (02 03)*1", ["7f", "1", "1", "2", "3"]],
  ])("%s", (words, expected) => {
    expect([...wordsOf({ dtype: "u32", shape: [expected.length], digest: "", words })]).toEqual(expected.map((word) => parseInt(word, 16)));
  });

  it.each(["01 02", "01 02 03 04", "01*9", "01 xx 03", "01  02 03", "(01)*2"])("refuse %s for three elements", async (words) => {
    expect(await messageOf(() => wordsOf({ dtype: "u32", shape: [3], digest: "", words }))).toMatch(/^RangeError: "words" expected/);
  });

  it("become .npy files that hold their elements", async () => {
    for (const [name, array] of Object.entries(CORPUS.arrays)) {
      const source = bytesSource(npyOf(array), name);
      const { shape, descr } = await readNpyHeader(source);
      expect([shape, descr], name).toEqual([array.shape, { f32: "<f4", f16: "<f2", bf16: "|V2", int8: "|i1", u32: "<u4" }[array.dtype]]);
      if (array.dtype === "f32" || array.dtype === "f16" || array.dtype === "bf16") expect(await valuesDigest(await readNpyFloats(source)), name).toBe(array.digest);
    }
  });
});

async function digestOf(array: CorpusArray): Promise<string> {
  const data = elementsOf(array);
  if (array.dtype === "f32" || array.dtype === "f16" || array.dtype === "bf16") return valuesDigest({ data: data as Float32Array | Uint16Array, dtype: array.dtype });
  return createHash("sha256").update(new Uint8Array(data.buffer)).digest("hex");
}

describe("the cases", () => {
  it("are of this rule, have names that serve as file names, and links", () => {
    expect(CORPUS.specVersion).toBe(SPEC_VERSION);
    for (const { name, issue, trouble } of CORPUS.cases) {
      expect(name).toMatch(/^[a-z0-9][a-z0-9-]*$/);
      expect(issue).toMatch(/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/(issues|pull)\/\d+$/);
      expect(trouble).toMatch(/^\S.{10,}\.$/);
    }
  });

  it("say something of every row, and allow what the rule draws", () => {
    for (const item of DRAW_CASES) {
      for (let row = 0; row < item.rows; row++) {
        const own = item.outcomes.filter(({ rows, allowed, refusal }) => rows[0] <= row && row <= rows[1] && (allowed ?? refusal) !== undefined);
        expect(own.length, `${item.name}, row ${row}`).toBe(1);
        expect(own[0]!.refusal === "must" || own[0]!.allowed!.length > 0, item.name).toBe(true);
      }
      if (item.expected === null) continue;
      expect(item.expected.tokens.length).toBe(item.rows * item.parameters.numSamples);
      expect(judge(item, item.expected.tokens, { answerTo: (name) => expectedOf(name), exact: true }), item.name).toEqual([]);
    }
  });

  it("cover every kind", () => {
    const names = CORPUS.cases.map(({ name }) => name);
    for (const start of ["nan-", "plus-infinity", "minus-infinity", "sole-token", "ties-", "tail-masked-8193", "tail-masked-10000", "tail-masked-151936", "temperature-", "past-f16", "largest-f32", "mask-narrower", "seed-a-row", "one-seed-1000-rows", "consecutive-seeds", "positions", "shards-7", "odd-size-", "head-40001x3", "head-int8-", "head-one-ulp", "head-outlier", "head-padding", "top-k-", "top-p-", "noise-words"]) {
      expect(names.some((name) => name.startsWith(start)), start).toBe(true);
    }
  });
});

const expectedOf = (name: string): Answer | undefined => DRAW_CASES.find((item) => item.name === name)?.expected?.tokens;

describe("the noise of the words", () => {
  const item = caseNamed("noise-words") as NoiseCase;
  const words = wordsOf(CORPUS.arrays[item.files.words]!);
  const gammas = item.expected.gamma.split(" ").map((digits) => parseInt(digits, 16));

  it("is gamma26, finite, and rises with what the words stand for", () => {
    expect(gammas).toEqual(Array.from({ length: item.rows }, (_, row) => gamma26(words[2 * row]!, words[2 * row + 1]!)));
    // Section 3: u = 2^-J (1 - w/2), in units of 2^-96.
    const numbers = Array.from({ length: item.rows }, (_, row) => {
      const [high, low] = [words[2 * row]!, words[2 * row + 1]!];
      const leading = BigInt(Math.clz32(high | 1));
      const pair = ((BigInt(high) << 33n) | (BigInt(low) << 1n) | 64n) & (2n ** 64n - 1n);
      return ((1n << 96n) - (((pair << leading) & (2n ** 64n - 1n)) << 31n)) >> leading;
    });
    for (let row = 1; row < item.rows; row++) {
      expect(numbers[row]! >= numbers[row - 1]!).toBe(true);
      expect(gammas[row]!).toBeGreaterThanOrEqual(gammas[row - 1]!);
    }
    expect(new Set(Array.from({ length: item.rows }, (_, row) => words[2 * row]))).toEqual(new Set([0, 1, 0x7fffffff, 0x80000000, 0xffffff7f, 0xffffff80, 0xffffffff]));
  });

  it("passes exactly, and one unit off only where nothing exact is asked", () => {
    const judged = (answer: Answer, exact: boolean) => judge(item, answer, { answerTo: () => undefined, exact });
    expect(judged(gammas, true)).toEqual([]);
    const off = gammas.with(3, gammas[3]! + 1);
    expect(judged(off, false)).toEqual([]);
    expect(judged(off, true)).toMatchObject([{ row: 3, why: expect.stringMatching(/is not the rule's gamma/) }]);
    expect(judged(gammas.with(0, Infinity), false)).toMatchObject([{ row: 0, why: expect.stringMatching(/noise Infinity of the words .* is not finite/) }]);
  });

  it("is infinite by the naive transform in f32, and fails", () => {
    const naive = Array.from({ length: item.rows }, (_, row) => -Math.log(-Math.log(Math.fround(Math.fround(words[2 * row]! + 0.5) / 2 ** 32))));
    expect(judge(item, naive, { answerTo: () => undefined, exact: false }).length).toBeGreaterThan(3);
  });
});

describe("wrong samplers fail", () => {
  /** A sampler of logits with a fault, and the case that shows it. */
  const failures: [what: string, name: string, answer: (item: DrawCase) => number[] | Promise<number[]>, why: RegExp][] = [
    ["an argmax of NaN", "nan-row", () => [999, 999], /token 999 is past the vocabulary of 999/],
    ["a token out of NaN", "nan-among-masked", () => [0, 0], /token 0 came out of a row that has none/],
    ["a masked token", "masked-40-of-50", ({ parameters }) => Array(parameters.numSamples).fill(0), /token 0 has no probability/],
    ["padding behind the last token", "tail-masked-8193", () => [8193, 8193], /token 8193 is past/],
    ["the empty tail", "tail-masked-10000", () => [9999, 8191], /token 9999 has no probability/],
    ["no token at T = 0", "temperature-zero", () => [-1, 1], /no token came out, and one must/],
    ["the last token for a temperature of NaN", "temperature-nan", () => [2], /token 2 came out of a row that has none/],
    ["a wrong greedy token", "temperature-tiny", () => [1, 1, 1, 1, 3], /token 3 has no probability/],
    ["the first seed for all rows", "seed-a-row", async () => Array(4).fill(await tokenOf("seed-1111")), /token \d+, and token \d+ in row 0 of seed-2222/],
    ["noise by the place in the batch", "batch-reversed", (item) => [...item.expected!.tokens].reverse(), /in row 4 of batch-of-five/],
    ["one noise for all rows", "one-seed-1000-rows", () => Array(1000).fill(7), /1 different tokens in rows 0 to 999, at least 24 expected/],
    ["one noise for all ranks", "shards-equal-logits", () => Array(256).fill(0), /1 different tokens/],
    ["seeds of 32 bits", "seed-large", async (item) => [await firstOf(item), await firstOf(item), await firstOf(item), await firstOf(item)], /1 different tokens/],
    ["flushed subnormals", "head-f16-subnormals", () => [1, 3], /token 1 has no probability/],
    ["scales left out", "head-int8-scale-matters", () => [0, 1], /token 0 has no probability/],
    ["zeros that fill the head up", "head-padding-bf16", () => [100, 127], /token 100 is past the vocabulary of 100/],
    ["NaN that spreads", "nan-in-one-row", () => [32, 10, -1, -1], /no token came out, and one must/],
    ["a mask that is read past its end", "mask-narrower-than-vocabulary", () => [97], /token 97 has no probability/],
    ["another path for one row", "head-batch-of-17", (item) => item.expected!.tokens.with(16, 1), /token 1, and token 2 in row 0 of head-batch-of-1/],
    ["a token of 2^62", "largest-f32", () => [2 ** 62, 0, 0, 0], /token 4611686018427\d+ is past the vocabulary of 2/],
  ];

  const firstOf = async (item: DrawCase): Promise<number> => item.expected!.tokens[0]!;
  const tokenOf = async (name: string): Promise<number> => firstOf(caseNamed(name) as DrawCase);

  it.each(failures)("%s", async (_, name, answer, why) => {
    const item = caseNamed(name) as DrawCase;
    const faults = judge(item, await answer(item), { answerTo: expectedOf, exact: false });
    expect(faults.map((fault) => fault.why).join("\n")).toMatch(why);
  });

  it("with other tokens, where exactly the rule's are asked for", () => {
    const item = caseNamed("equal-1000") as DrawCase;
    const other = item.expected!.tokens.with(2, (item.expected!.tokens[2]! + 1) % 5);
    const judged = (exact: boolean) => judge(item, other, { answerTo: expectedOf, exact });
    expect(judged(false)).toEqual([]);
    expect(judged(true)).toMatchObject([{ row: 2, sample: 0, why: expect.stringMatching(/^token \d, and the rule draws token \d$/) }]);
  });

  it("an answer of another length is none", async () => {
    expect(await messageOf(() => judge(caseNamed("equal-1000"), [1], { answerTo: () => undefined, exact: false }))).toBe('RangeError: "equal-1000" expected 3 numbers, got 1');
  });

  it("a refused call passes only where something may be refused", () => {
    const judged = (name: string) => judge(caseNamed(name), null, { answerTo: () => undefined, exact: true });
    for (const name of ["nan-in-one-row", "plus-infinity", "temperature-nan", "top-k-zero", "head-hidden-past-f16"]) expect(judged(name), name).toEqual([]);
    for (const name of ["equal-1000", "noise-words", "head-1x1-f32"]) expect(judged(name), name).toMatchObject([{ why: "refused as a whole, with nothing in it to refuse" }]);
  });
});

describe("another correct sampler passes", () => {
  it("with its own noise: the rule's at another position, rows marked as they must be", async () => {
    const moved = (item: DrawCase): DrawCase => ({ ...item, parameters: { ...item.parameters, position: Array.from({ length: item.rows }, (_, row) => ofCorpusRow(item.parameters.position, row) + 1_000_000) } });
    const answers = new Map<string, Answer>();
    for (const item of DRAW_CASES) if (item.expected !== null) answers.set(item.name, await answerOf(moved(item), "wasm"));
    const faults = [...answers].flatMap(([name, answer]) => judge(caseNamed(name), answer, { answerTo: (other) => answers.get(other), exact: false }).map((fault) => ({ name, ...fault })));
    expect(faults).toEqual([]);
  });
});

describe("an export", () => {
  const files = (large: boolean) => [...corpusFiles(large)];
  const total = (large: boolean) => files(large).reduce((sum, { bytes }) => sum + bytes.length, 0);

  it("is below 5 MB, more with the large cases, and the same each time", () => {
    expect(total(false)).toBeLessThan(5e6);
    expect(total(true)).toBeGreaterThan(total(false) + 1e6);
    expect(files(false).map(({ bytes }) => Buffer.from(bytes).toString("base64"))).toEqual(files(false).map(({ bytes }) => Buffer.from(bytes).toString("base64")));
  });

  it("has an index that names each file, and only those", () => {
    for (const large of [false, true]) {
      const all = files(large);
      const index = parseJsonObject(all.at(-1)!.bytes, "corpus.json");
      expect(all.at(-1)!.path).toBe("corpus.json");
      expect(exportedFiles(index)).toEqual(all.slice(0, -1).map(({ path }) => path));
      const named = (index.get("cases") as { files: Record<string, string> }[]).flatMap((item) => Object.values(item.files));
      expect(new Set(named)).toEqual(new Set(exportedFiles(index)));
      expect(index.get("corpusVersion")).toBe(CORPUS.corpusVersion);
      expect((index.get("cases") as unknown[]).length).toBe(CORPUS.cases.filter((item) => large || item.large === undefined).length);
    }
  });

  it("knows an index by its kind, and takes no names from it that it would not give", () => {
    const index = (kind: string, files: unknown) => exportedFiles(new Map<string, unknown>([["kind", kind], ["files", files]]));
    expect(index("flash-sampling corpus", { "inputs/a.npy": {}, "../b.npy": {}, "inputs/../c.npy": {}, "inputs/d/e.npy": {}, "corpus.json": {}, "/f.npy": {} })).toEqual(["inputs/a.npy"]);
    expect(index("check", {})).toBeNull();
    expect(index("flash-sampling corpus", null)).toBeNull();
  });
});
