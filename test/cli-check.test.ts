/** `flash-sampling check`: what it reads, what it says, and how it ends. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSampler, sampleLogits } from "../src/index.js";
import { B, D, useCli, V, writeInputs, type Ended } from "./cli-process.js";
import { bytesOf, npy, npyDict } from "./head-fixtures.js";

const { folder, run, runMany } = useCli();
const { weights, hiddenStates, logits } = writeInputs(folder);
const HEAD = ["check", "--weights", "head.safetensors", "--hidden", "hidden.npy", "--backend", "wasm"];
const LOGITS = ["check", "--logits", "logits.npy", "--backend", "wasm"];

function write(name: string, descr: string, shape: string, data: ArrayBufferView): string {
  writeFileSync(join(folder, name), npy(npyDict(descr, shape), bytesOf(data)));
  return name;
}

async function headTokens(options: { numSamples?: number } = {}): Promise<Int32Array> {
  const sampler = await createSampler({ weights: { data: weights, dtype: "bf16", shape: [V, D] } });
  return (await sampler.sample({ hiddenStates, seed: 42n, ...options })).tokens;
}

const logitTokens = async (options: object = {}) => (await sampleLogits({ logits, vocabSize: V, seed: 42n, ...options })).tokens;

write("positions.npy", "<u4", `(${B},)`, Uint32Array.of(5, 4294967295, 0));

const changed = (tokens: Int32Array, index: number): Int32Array => tokens.map((token, at) => (at === index ? (token + 1) % V : token));

const lines = (text: string): string[] => text.trimEnd().split("\n");

function jsonOf({ code, stdout, stderr }: Ended) {
  expect(stderr).toBe("");
  return { code, document: JSON.parse(stdout) };
}

const json = async (args: readonly string[]) => jsonOf(await run([...args, "--json"]));

describe("tokens", () => {
  test("that are right pass, with exit code 0", async () => {
    const tokens = write("right.npy", "<i8", `(${B},)`, BigInt64Array.from(await headTokens(), BigInt));
    const { code, stdout, stderr } = await run([...HEAD, "--tokens", tokens, "--seed", "42"]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "passed: 0 wrong, 0 near-tie, 3 exact of 3 draws: 3 rows x 1 sample, V = 50 (engine ours, logit error f32)\n", stderr: "" });
  });

  test("of which one is wrong fail, with exit code 1 and the place", async () => {
    const right = await headTokens();
    const tokens = write("wrong.npy", "<i4", `(${B},)`, changed(right, 1));
    const { code, stdout } = await run([...HEAD, "--tokens", tokens, "--seed", "42"]);
    expect(code).toBe(1);
    expect(lines(stdout)).toEqual([expect.stringMatching(/^FAILED: 1 wrong, 0 near-tie, 2 exact/), expect.stringMatching(`^wrong     row 1: token ${(right[1]! + 1) % V}, ${right[1]} expected, gap .*, errors allow .*, rank \\d+, probability `)]);
  });

  describe("of every type, two samples a row", () => {
    const typed: [descr: string, toArray: (tokens: number[]) => ArrayBufferView, shape: string][] = [
      ["|i1", (tokens) => Int8Array.from(tokens), "(6,)"],
      ["|u1", (tokens) => Uint8Array.from(tokens), `(${B}, 2)`],
      ["<i2", (tokens) => Int16Array.from(tokens), `(${B}, 2)`],
      ["<u4", (tokens) => Uint32Array.from(tokens), "(6,)"],
      ["<u8", (tokens) => BigUint64Array.from(tokens, BigInt), `(${B}, 2)`],
      [">i4", (tokens) => new Uint8Array(new Uint8Array(Int32Array.from(tokens).buffer).reduce<number[]>((bytes, _, at, all) => [...bytes, all[(at & ~3) + 3 - (at & 3)]!], [])), "(6,)"],
    ];
    const ended = runMany(async () => {
      const right = [...(await headTokens({ numSamples: 2 }))];
      return typed.map(([descr, toArray, shape], index) => [...HEAD, "--tokens", write(`typed-${index}.npy`, descr, shape, toArray(right)), "--seed", "42", "--json"]);
    });

    test.each(typed.map(([descr], index) => [descr, index] as const))("%s", async (_, index) => {
      const { code, document } = jsonOf(await ended(index));
      expect(code).toBe(0);
      expect(document).toMatchObject({ inputs: { rows: B, numSamples: 2 }, counts: { exact: 6 } });
    });
  });

  test("come from stdin as well", async () => {
    const tokens = npy(npyDict("<i4", `(${B},)`), bytesOf(await headTokens()));
    const { code, stdout } = await run([...HEAD, "--tokens", "-", "--seed", "42", "--json"], { stdin: tokens });
    expect([code, JSON.parse(stdout).counts.exact]).toEqual([0, B]);
  });

  test("that are garbage of 64 bits are called by name", async () => {
    const tokens = write("garbage.npy", "<i8", `(${B},)`, BigInt64Array.of(2n ** 62n, -(2n ** 63n), BigInt((await headTokens())[2]!)));
    const { code, stdout } = await run([...HEAD, "--tokens", tokens, "--seed", "42"]);
    expect(code).toBe(1);
    expect(lines(stdout).slice(1)).toEqual([expect.stringContaining("row 0: token 4611686018427387904 is out of range, of 50 tokens"), expect.stringContaining("row 1: token -9223372036854775808 is negative")]);
  });

  test("of rows without a token", async () => {
    const tokens = write("none.npy", "<i4", `(${B},)`, Int32Array.of((await logitTokens())[0]!, -1, 5));
    const { code, document } = await json(["check", "--logits", "masked.npy", "--tokens", tokens, "--seed", "42"]);
    expect(code).toBe(1);
    expect(document.draws.map(({ verdict, fault }: any) => [verdict, fault])).toEqual([
      ["exact", null],
      ["exact", null],
      ["wrong", "no-token"],
    ]);
  });
});

describe("how they were drawn", () => {
  const drawn: [name: string, args: string[], options: object][] = [
    ["temperature, position and sequence", ["--temperature", "0.5", "--position", "7", "--sequence", "3"], { temperature: 0.5, position: 7, sequence: 3 }],
    ["rows", ["--position", "rows"], { position: [0, 1, 2] }],
    ["files of positions and sequences", ["--positions", "positions.npy", "--sequences", "sequences.npy"], { position: [5, 4294967295, 0], sequence: [9, 8, 7] }],
    ["a file of temperatures in f64", ["--temperatures", "temperatures.npy"], { temperature: [0.7, 0, 1.3] }],
    ["a seed in hexadecimal", ["--seed", "0xffffffffffffffff"], { seed: 2n ** 64n - 1n }],
    ["a seed a row, and the sequence 0 then", ["--seeds", "seeds.npy"], { seed: BigUint64Array.of(1n, 2n ** 64n - 1n, 3n) }],
    ["a seed a row and a sequence", ["--seeds", "seeds.npy", "--sequence", "rows"], { seed: BigUint64Array.of(1n, 2n ** 64n - 1n, 3n), sequence: [0, 1, 2] }],
  ];
  const ended = runMany(async () => {
    write("sequences.npy", "<i8", `(${B},)`, BigInt64Array.of(9n, 8n, 7n));
    write("temperatures.npy", "<f8", `(${B},)`, Float64Array.of(0.7, 0, 1.3));
    write("seeds.npy", "<i8", `(${B},)`, BigInt64Array.of(1n, -1n, 3n));
    const lists: string[][] = [];
    for (const [index, [, args, options]] of drawn.entries()) {
      const tokens = write(`drawn-${index}.npy`, "<i4", `(${B},)`, await logitTokens(options));
      const seed = args.some((arg) => arg.startsWith("--seed")) ? [] : ["--seed", "42"];
      lists.push([...LOGITS, "--tokens", tokens, ...args, ...seed], [...LOGITS, "--tokens", tokens, "--seed", "43"]);
    }
    return lists;
  });

  test.each(drawn.map(([name], index) => [name, index] as const))("%s", async (_, index) => {
    expect((await ended(2 * index)).code).toBe(0);
    // The same tokens at another place are wrong: the options count.
    expect((await ended(2 * index + 1)).code).toBe(1);
  });
});

test("the document says position and sequence, and an engine's no sequence", async () => {
  const tokens = write("placed.npy", "<i4", `(${B},)`, await logitTokens());
  const asked = [[], ["--position", "rows", "--sequence", "3"], ["--positions", "positions.npy"], ["--engine", "flashinfer", "--position", "7"]];
  const ended = runMany(() => asked.map((args) => [...LOGITS, "--tokens", tokens, "--seed", "42", "--json", ...args]));
  const inputs = async (index: number) => jsonOf(await ended(index)).document.inputs;
  expect(await inputs(0)).toMatchObject({ position: 0, sequence: "the row's index" });
  expect(await inputs(1)).toMatchObject({ position: "the row's index", sequence: 3 });
  expect(await inputs(2)).toMatchObject({ position: "one a row" });
  expect(await inputs(3)).toMatchObject({ position: 7, sequence: null });
});

describe("masks and padding", () => {
  const allowed = (row: number, token: number): boolean => token % 3 === row % 3 && token < 48;
  const masked = logits.map((logit, index) => (allowed(Math.floor(index / V), index % V) ? logit : -Infinity));
  const words = new Uint32Array(B * 2);
  for (let row = 0; row < B; row++) for (let token = 0; token < V; token++) if (token % 3 === row % 3) words[2 * row + (token >> 5)]! |= 1 << (token & 31);

  const masks: [name: string, descr: string, shape: string, data: ArrayBufferView][] = [
    ["words", "<u4", `(${B}, 2)`, words],
    ["signed words", "<i4", `(${B}, 2)`, words],
    ["truth values", "|b1", `(${B}, ${V})`, Uint8Array.from({ length: B * V }, (_, index) => Number((index % V) % 3 === Math.floor(index / V) % 3))],
    ["bytes without the padding", "|u1", `(${B}, 48)`, Uint8Array.from({ length: B * 48 }, (_, index) => Number((index % 48) % 3 === Math.floor(index / 48) % 3))],
  ];
  const ended = runMany(async () => {
    const { tokens } = await sampleLogits({ logits: masked, vocabSize: V, seed: 42n });
    const right = write("masked-tokens.npy", "<i4", `(${B},)`, tokens);
    // 48 is padding, and 1 is not 0 mod 3.
    const bad = write("bad-tokens.npy", "<i4", `(${B},)`, Int32Array.of(1, 48, tokens[2]!));
    const one = write("one-mask.npy", "|u1", `(${V},)`, Uint8Array.from({ length: V }, (_, token) => Number(token === 7)));
    const sevens = [...HEAD, "--tokens", write("sevens.npy", "<i4", `(${B},)`, Int32Array.of(7, 7, 7)), "--seed", "1"];
    const lists = masks.flatMap(([, descr, shape, data], index) => {
      const args = [...LOGITS, "--seed", "42", "--mask", write(`mask-${index}.npy`, descr, shape, data), "--vocab-size", "48", "--json", "--tokens"];
      return [[...args, right], [...args, bad]];
    });
    return [...lists, [...sevens, "--mask", one], sevens];
  });

  test.each(masks.map(([name], index) => [name, index] as const))("%s", async (_, index) => {
    expect((await ended(2 * index)).code).toBe(0);
    const { document } = jsonOf(await ended(2 * index + 1));
    expect(document.draws.map(({ fault }: any) => fault)).toEqual(["masked", "padded", null]);
  });

  test("one row serves all", async () => {
    expect((await ended(2 * masks.length)).code).toBe(0);
    expect((await ended(2 * masks.length + 1)).code).toBe(1);
  });
});

describe("outputs", () => {
  test("--document and --junit are written beside the text, --github after it", async () => {
    const tokens = write("some-wrong.npy", "<i4", `(${B},)`, changed(await headTokens(), 0));
    const args = [...HEAD, "--tokens", tokens, "--seed", "42"];
    const { code, stdout, stderr } = await run([...args, "--document", "found.json", "--junit", "found.xml", "--github"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(lines(stdout).map((line) => line.slice(0, 8))).toEqual(["FAILED: ", "wrong   ", "::error "]);
    const document = JSON.parse(readFileSync(join(folder, "found.json"), "utf8"));
    expect(document).toEqual((await json(args)).document);
    expect(document.draws).toHaveLength(B);
    expect(readFileSync(join(folder, "found.xml"), "utf8")).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>[^]*<testcase [^]*<failure [^]*<\/testsuites>\n$/);
  });

  test("one row of logits for many tokens is told as such, and asked about", async () => {
    const one = write("one.npy", "<f4", `(${V},)`, logits.subarray(0, V));
    const tokens = write("long.npy", "<i4", "(64,)", new Int32Array(64).fill(V + 9));
    const { code, stdout } = await run(["check", "--logits", one, "--tokens", tokens, "--seed", "1"]);
    expect(code).toBe(1);
    expect(lines(stdout).slice(0, 2)).toEqual([
      "FAILED: 64 wrong, 0 near-tie, 0 exact of 64 draws: 1 row x 64 samples, V = 50 (engine ours, logit error none)",
      "all tokens are out of range: is this the logits file of these tokens?",
    ]);
  });

  describe("as text", () => {
    const ended = runMany(async () => {
      const many = [...LOGITS, "--tokens", write("many.npy", "<i4", `(${B}, 10)`, new Int32Array(10 * B).fill(V)), "--seed", "42"];
      const near = [...LOGITS, "--tokens", write("near.npy", "<i4", `(${B},)`, changed(await logitTokens(), 0)), "--seed", "42"];
      return [many, [...many, "--all"], [...near, "--ranks", "0"], [...near, "--logit-error", "100,0"], ["check", "--engines"], ["check", "--help"]];
    });

    test("no more than twenty lines of a verdict, unless --all", async () => {
      expect(lines((await ended(0)).stdout)).toHaveLength(1 + 1 + 20 + 1 + 1);
      expect(lines((await ended(1)).stdout)).toHaveLength(1 + 1 + 30 + 1);
    });

    test("--ranks 0 looks for none, and says so", async () => {
      const { stdout } = await ended(2);
      expect(stdout).not.toMatch(/rank \d/);
      expect(stdout).toContain("of the first 0 at most (--ranks)");
    });

    test("a near-tie by the error that is given passes", async () => {
      const right = (await logitTokens())[0]!;
      const { code, stdout } = await ended(3);
      expect(code).toBe(0);
      expect(lines(stdout)).toEqual([expect.stringContaining("0 wrong, 1 near-tie, 2 exact"), expect.stringContaining(`near-tie  row 0: token ${(right + 1) % V}, ${right} expected`)]);
    });

    test("--engines lists them all within 80 columns", async () => {
      const { code, stdout } = await ended(4);
      expect(code).toBe(0);
      for (const name of ["ours", "flashinfer", "flashsampling", "vllm-mrv2", "jax", "torch"]) expect(stdout).toContain(`\n${name}: `.slice(name === "ours" ? 1 : 0));
      expect(lines(stdout).filter((line) => line.length > 80)).toEqual([]);
    });

    test("--help has examples, explains rank and gap, and fits 80 columns", async () => {
      const { code, stdout } = await ended(5);
      expect(code).toBe(0);
      expect(stdout).toContain("$ flash-sampling check --tokens");
      expect(stdout).toContain("rank  place of the token by score (logit + noise): 1 is the winner\n");
      expect(stdout).toMatch(/\n {2}gap {3}[^\n]{20,74}\n/);
      expect(lines(stdout).filter((line) => line.length > 80)).toEqual([]);
    });
  });
});

describe("is refused, with exit code 2 and nothing written", () => {
  write("right.npy", "<i4", `(${B},)`, new Int32Array(B));
  write("floats.npy", "<f4", `(${B},)`, new Float32Array(B));
  write("right-positions.npy", "<u4", `(${B},)`, Uint32Array.of(1, 1, 1));
  write("four.npy", "<i4", "(4,)", new Int32Array(4));
  write("transposed.npy", "<i4", `(2, ${B})`, new Int32Array(2 * B));
  write("empty.npy", "<i4", "(0,)", new Int32Array(0));
  write("huge-mask.npy", "<u4", "(1, 3)", new Uint32Array(3));
  write("nan-temperatures.npy", "<f8", `(${B},)`, Float64Array.of(1, NaN, 1));
  const ASKED = ["--tokens", "right.npy", "--seed", "1"];

  const refused: [what: string, args: string[], message: string][] = [
    ["no tokens", [...LOGITS, "--seed", "1"], '"--tokens" expected the tokens to check, got none'],
    ["two arrays from stdin", ["check", "--logits", "-", "--tokens", "-", "--seed", "1"], '"--tokens" expected one array from stdin, got more'],
    ["no seed", [...LOGITS, "--tokens", "right.npy"], '"--seed" expected the seed of the draws (or --seeds with one a row), got none'],
    ["two seeds", [...LOGITS, ...ASKED, "--seeds", "right.npy"], '"--seeds" expected no --seed beside it, got both'],
    ["two positions", [...LOGITS, ...ASKED, "--position", "0", "--positions", "right.npy"], '"--positions" expected no --position beside it, got both'],
    ["neither head nor logits", ["check", ...ASKED], '"--weights" expected a head, and --hidden beside it (or --logits alone in their place), got none'],
    ["tokens that are floats", [...LOGITS, "--seed", "1", "--tokens", "floats.npy"], "expected integers (i1 to i8, u1 to u8), got <f4"],
    ["tokens of another count", [...LOGITS, "--seed", "1", "--tokens", "four.npy"], '"--tokens" expected shape [B], [B, samples] or [B * samples] for B = 3 rows, got [4]'],
    ["tokens the other way round", [...LOGITS, "--seed", "1", "--tokens", "transposed.npy"], "for B = 3 rows, got [2, 3]: transpose it, if it is [samples, B]"],
    ["an empty file of tokens", [...LOGITS, "--seed", "1", "--tokens", "empty.npy"], "got [0]"],
    ["tokens that are missing", [...LOGITS, "--seed", "1", "--tokens", "nowhere.npy"], "ENOENT"],
    ["a head for tokens", [...LOGITS, "--seed", "1", "--tokens", "head.safetensors"], "expected a .npy file"],
    ["an array shorter than it says", [...LOGITS, "--seed", "1", "--tokens", "lying.npy"], "got 7"],
    ["other samples than said", [...LOGITS, ...ASKED, "--num-samples", "2"], "for B = 3 rows and 2 samples, got [3]"],
    ["hidden states of another D", ["check", "--weights", "head.safetensors", "--hidden", "wide.npy", ...ASKED], "expected D = 40 columns"],
    ["a mask of floats", [...LOGITS, ...ASKED, "--mask", "logits.npy"], "expected words (u4, i4) or values (b1, u1, i1) of a mask, got <f4"],
    ["a mask too wide", [...LOGITS, ...ASKED, "--mask", "huge-mask.npy"], '"--mask" expected 2 words of 32 tokens a row, got 3'],
    ["padding past the end", [...LOGITS, ...ASKED, "--vocab-size", "51"], '"--vocab-size" expected at most V = 50, got 51'],
    ["a temperature that is none", [...LOGITS, ...ASKED, "--temperatures", "nan-temperatures.npy"], '"--temperatures[1]" expected a number in [0, 256), got NaN'],
    ["positions of other rows", [...LOGITS, ...ASKED, "--positions", "four.npy"], '"--positions" expected shape [3], one a row, got [4]'],
    ["an engine that is not known", [...LOGITS, ...ASKED, "--engine", "nobody"], '"--engine" expected ours, '],
    ["an engine that was begun", [...LOGITS, ...ASKED, "--engine", "vllm"], 'got "vllm" (did you mean vllm-murmur3 or vllm-mrv2?): check --engines describes them'],
    ["a position of an engine without", [...LOGITS, ...ASKED, "--engine", "flashsampling", "--position", "7"], '"--position" expected 0: '],
    ["positions of an engine without", [...LOGITS, ...ASKED, "--engine", "flashsampling", "--positions", "right-positions.npy"], '"--positions" expected 0: '],
    ["a file called like an option", ["check", "--logits", "tokens", ...ASKED], '"tokens" expected a readable file, got ENOENT'],
    ["a sequence of an engine that reads none", [...LOGITS, ...ASKED, "--engine", "vllm-mrv2", "--sequence", "0"], '"--sequence" expected none for vllm-mrv2, whose noise has no sequence, got one'],
    ["sequences of an engine that reads none", [...LOGITS, ...ASKED, "--engine", "jax", "--sequences", "right.npy"], '"--sequences" expected none for jax, '],
    ["an option that the engine lacks", [...LOGITS, ...ASKED, "--engine", "flashinfer", "--engine-option", "colour=red"], '"--engine-option" expected one of '],
    ["an option without a value", [...LOGITS, ...ASKED, "--engine", "flashinfer", "--engine-option", "offset"], '"--engine-option" expected NAME=VALUE, got "offset"'],
    ["an error that is none", [...LOGITS, ...ASKED, "--logit-error", "1"], '"--logit-error" expected none, f32, hopper, bf16, or ABSOLUTE,RELATIVE, got "1"'],
    ["a negative error", [...LOGITS, ...ASKED, "--logit-error", "0,-1"], '"--logit-error" expected'],
    ["an infinite error", [...LOGITS, ...ASKED, "--logit-error", "0,1e999"], '"--logit-error" expected'],
    ["sums of given logits", [...LOGITS, ...ASKED, "--logit-error", "f32"], '"--logit-error" expected none, bf16 or { absolute, relative } for given logits, whose sums nobody knows, got f32'],
    ["annotations in a document", [...LOGITS, ...ASKED, "--json", "--github"], '"--github" expected no --json beside it, got both'],
    ["a document over the tokens", [...LOGITS, ...ASKED, "--document", "right.npy"], '"--document" expected another file than --tokens reads'],
    ["JUnit over the logits", [...LOGITS, ...ASKED, "--junit", "logits.npy"], '"--junit" expected another file than --logits reads'],
    ["both outputs in one file", [...LOGITS, ...ASKED, "--junit", "x.out", "--document", "./x.out"], '"--junit" expected another file than --document writes'],
    ["an output in no folder", [...LOGITS, ...ASKED, "--junit", "nowhere/x.xml"], '"--junit" expected an existing folder'],
  ];
  let before: string[];
  const ended = runMany(() => {
    before = readdirSync(folder);
    return refused.map(([, args]) => args);
  });

  test.each(refused.map(([what, , message], index) => [what, message, index] as const))("%s", async (_, message, index) => {
    const { code, stdout, stderr } = await ended(index);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^flash-sampling: [^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(readdirSync(folder)).toEqual(before);
  });
});
