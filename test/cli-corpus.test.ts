/** `flash-sampling corpus`: an export that is whole, repeatable and never over other files; and the judgement of what a sampler made of it. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { encodeNpy, encodeNpyIntegers } from "../src/head/npy.js";
import { CORPUS } from "../src/verify/corpus/corpus.js";
import type { CorpusCheckDocument } from "../src/verify/documents.js";
import { corpusFiles } from "../src/verify/corpus/export.js";
import { useCli } from "./cli-process.js";
import { writeSampler } from "./invariance-program.js";
import { DRAW_CASES } from "./corpus.js";

const { folder, run } = useCli();
const at = (...path: string[]): string => join(folder, ...path);
const listed = (name: string): string[] => readdirSync(at(name), { recursive: true, encoding: "utf8" }).sort();
const FILES = [...corpusFiles(false)];
const ENTRIES = ["inputs", ...FILES.map(({ path }) => path)].sort();

function expectWhole(name: string): void {
  expect(listed(name)).toEqual(ENTRIES);
  for (const { path, bytes } of FILES) expect(readFileSync(at(name, path)).equals(bytes), path).toBe(true);
}

describe("corpus export", () => {
  test("writes every file, into a folder that is made", async () => {
    const { code, stdout, stderr } = await run(["corpus", "export", "made/deep"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+ cases in \d+ files, \d\.\d MB, in made\/deep\n$/);
    expectWhole("made/deep");
    expect(readdirSync(at("made"))).toEqual(["deep"]);
  });

  test("says in JSON what it wrote, and takes the large cases when asked", async () => {
    const { stdout } = await run(["corpus", "export", "large", "--large", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "corpus-export", corpusVersion: CORPUS.corpusVersion, folder: "large", cases: CORPUS.cases.length, files: [...corpusFiles(true)].length });
    // A smaller one in its place leaves nothing of it.
    expect((await run(["corpus", "export", "large"])).code).toBe(0);
    expectWhole("large");
  });

  test("goes over an older export, whole or broken off, and leaves other files there alone", async () => {
    await run(["corpus", "export", "older"]);
    writeFileSync(at("older", "inputs", FILES[0]!.path.replace("inputs/", "")), "other bytes");
    mkdirSync(at("older", "tokens"));
    writeFileSync(at("older", "tokens", "mine.npy"), "mine");
    expect((await run(["corpus", "export", "older"])).code).toBe(0);
    expect(readFileSync(at("older", "tokens", "mine.npy"), "utf8")).toBe("mine");
    rmSync(at("older", "tokens"), { recursive: true });
    expectWhole("older");
  });

  test.each(["notes.txt", "corpus.json"])("does not go over a folder with %s, unless it is forced", async (name) => {
    const target = `foreign-${name}`;
    mkdirSync(at(target));
    writeFileSync(at(target, name), '{"kind":"somebody else\'s","files":{"inputs/x.npy":{}}}');
    const { code, stdout, stderr } = await run(["corpus", "export", target]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(`flash-sampling: "folder" expected an empty one or an older export, got ${target} with other files: --force writes beside them\n`);
    expect(listed(target)).toEqual([name]);
    expect((await run(["corpus", "export", target, "--force"])).code).toBe(0);
    expect(listed(target)).toEqual([...new Set([...ENTRIES, name])].sort());
  });

  test("removes no file that an index names elsewhere", async () => {
    mkdirSync(at("crafted"));
    writeFileSync(at("outside.npy"), "outside");
    writeFileSync(at("crafted", "corpus.json"), JSON.stringify({ kind: "flash-sampling corpus", files: { "../outside.npy": {}, "inputs/../../outside.npy": {} } }));
    expect((await run(["corpus", "export", "crafted"])).code).toBe(0);
    expect(readFileSync(at("outside.npy"), "utf8")).toBe("outside");
    expectWhole("crafted");
  });

  test("does not follow a link out of the folder", async () => {
    mkdirSync(at("elsewhere"));
    mkdirSync(at("linked"));
    symlinkSync(at("elsewhere"), at("linked", "inputs"));
    const { code, stderr } = await run(["corpus", "export", "linked", "--force"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/"folder" expected a folder, got .*inputs, which is a link/);
    expect([readdirSync(at("elsewhere")), readdirSync(at("linked"))]).toEqual([[], ["inputs"]]);
  });

  test.each<readonly [string, RegExp]>([
    ["file.txt", /"folder" expected a place to write, got file\.txt \((EEXIST|ENOTDIR)\)/],
    ["file.txt/deep", /"folder" expected a place to write, got file\.txt\/deep \(ENOTDIR\)/],
    ["", /"folder" expected the path of a folder, got ""/],
    ...(existsSync("/dev/null") ? ([["/dev/null", /"folder" expected a place to write, got \/dev\/null \(EEXIST\)/]] as const) : []),
    // It denies what is there, whatever is made.
    ...(existsSync("/proc/self") ? (["x", "x/y"].map((name) => [`/proc/self/${name}`, new RegExp(`"folder" expected a place to write, got /proc/self/${name} \\(\\w+\\)`)] as const)) : []),
  ])("refuses %j", async (name, message) => {
    writeFileSync(at("file.txt"), "");
    const { code, stdout, stderr } = await run(["corpus", "export", name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test("leaves nothing where it cannot write all", async () => {
    mkdirSync(at("blocked"));
    writeFileSync(at("blocked", "inputs"), "a file");
    const { code, stderr } = await run(["corpus", "export", "blocked", "--force"]);
    expect([code, readdirSync(at("blocked"))]).toEqual([2, ["inputs"]]);
    expect(stderr).toMatch(/"folder" expected a place to write, got blocked.inputs \(EEXIST\)/);
  });
});

/** The rule's own tokens, as files of a sampler. */
function writeTokens(name: string, change: Record<string, Uint8Array | null> = {}): void {
  mkdirSync(at(name));
  const files = new Map<string, Uint8Array | null>();
  for (const item of DRAW_CASES) {
    if (item.large) continue;
    const { numSamples } = item.parameters;
    const tokens = item.expected?.tokens ?? Array<number>(item.rows * numSamples).fill(item.outcomes[0]!.allowed?.[0]?.[0] ?? -1);
    files.set(item.name, encodeNpyIntegers(tokens, numSamples === 1 ? [item.rows] : [item.rows, numSamples]));
  }
  const noise = CORPUS.cases.find((item) => item.kind === "noise")!;
  files.set(noise.name, floats(Array.from({ length: noise.rows }, (_, row) => row / 2)));
  for (const [file, bytes] of new Map([...files, ...Object.entries(change)])) if (bytes !== null) writeFileSync(at(name, `${file}.npy`), bytes);
}

const floats = (values: number[]): Uint8Array => encodeNpy("<f8", [values.length], new Uint8Array(Float64Array.from(values).buffer));
const tokens = (...values: number[]): Uint8Array => encodeNpyIntegers(values, [values.length]);
const small = CORPUS.cases.filter((item) => item.large === undefined);

describe("corpus check", () => {
  beforeAll(() => writeTokens("right"));

  test("passes what may come out", async () => {
    expect(await run(["corpus", "check", "--tokens", "right"])).toEqual({ code: 0, stdout: `${small.length} passed, 0 failed, 0 missing, 0 skipped\n`, stderr: "" });
    const { stdout } = await run(["corpus", "check", "--tokens", "right", "--json"]);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ kind: "corpus-check", passed: true, exact: false, corpusVersion: CORPUS.corpusVersion, counts: { passed: small.length, failed: 0, missing: 0, skipped: 0 } });
    expect(document.cases.map(({ name }: { name: string }) => name)).toEqual(small.map(({ name }) => name));
  });

  test("names each failing case, what is wrong, and the issue behind it", async () => {
    writeTokens("wrong", { "tail-masked-8193": tokens(8193, 8193), "shards-equal-logits": tokens(...Array<number>(256).fill(1)) });
    const { code, stdout, stderr } = await run(["corpus", "check", "--tokens", "wrong"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const tail = small.find(({ name }) => name === "tail-masked-8193")!;
    expect(stdout).toContain(`tail-masked-8193: row 0, sample 0: token 8193 is past the vocabulary of 8193, and 1 more\n    ${tail.trouble}\n    https://github.com/vllm-project/vllm/pull/44744\n`);
    expect(stdout).toContain("shards-equal-logits: row 0, sample 0: 1 different tokens in rows 0 to 255, at least 2 expected\n");
    expect(stdout).toMatch(new RegExp(`\\n${small.length - 2} passed, 2 failed, 0 missing, 0 skipped\\n$`));
    const { passed, cases } = JSON.parse((await run(["corpus", "check", "--tokens", "wrong", "--json"])).stdout);
    expect(passed).toBe(false);
    expect(cases.find(({ name }: { name: string }) => name === tail.name)).toMatchObject({ status: "failed", faultCount: 2, issue: tail.issue, faults: [{ row: 0, sample: 0 }, { row: 1 }] });
  });

  test("writes its document and JUnit XML beside what is printed", async () => {
    writeTokens("written", { "tail-masked-8193": tokens(8193, 8193), "nan-row": null });
    const { code, stdout, stderr } = await run(["corpus", "check", "--tokens", "written", "--skip", "head-*", "--json", "--document", "found.json", "--junit", "found.xml"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(readFileSync(at("found.json"), "utf8")).toBe(stdout);
    const { counts } = JSON.parse(stdout) as CorpusCheckDocument;
    const xml = readFileSync(at("found.xml"), "utf8");
    expect(xml).toContain(`<testsuites tests="${small.length}" failures="2" errors="0" skipped="${counts.skipped}">`);
    expect(xml).toContain('<testcase classname="flash-sampling corpus check" name="nan-row"><failure type="missing" message="no nan-row.npy">');
    expect(xml).toMatch(/name="tail-masked-8193"><failure type="failed" message="row 0, sample 0: token 8193 is past the vocabulary of 8193">[^<]*https:\/\/github\.com\/vllm-project\/vllm\/pull\/44744<\/failure>/);
    expect(xml).toContain('<skipped message="left out"/>');
  });

  test("misses a case without a file, unless it is skipped", async () => {
    writeTokens("partly", { "nan-row": null, ...Object.fromEntries(small.filter(({ name }) => name.startsWith("head-")).map(({ name }) => [name, null])) });
    const missing = await run(["corpus", "check", "--tokens", "partly"]);
    expect(missing.code).toBe(1);
    expect(missing.stdout).toContain("nan-row: no nan-row.npy\n");
    const heads = small.filter(({ name }) => name.startsWith("head-")).length;
    expect(missing.stdout).toContain(`${heads} head cases have no file: --skip 'head-*' leaves out all that are called so\n`);
    expect(missing.stdout.split("\n")).toHaveLength(4);
    const { code, stdout } = await run(["corpus", "check", "--tokens", "partly", "--skip", "head-*, nan-row"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ passed, 0 failed, 0 missing, \d+ skipped\n$/);
  });

  test("only judges what it names", async () => {
    const { code, stdout } = await run(["corpus", "check", "--tokens", "right", "--only", "nan-row,top-*", "--skip", "top-p-*", "--json"]);
    expect(code).toBe(0);
    const { cases } = JSON.parse(stdout) as CorpusCheckDocument;
    const judged = cases.filter(({ status }) => status === "passed").map(({ name }) => name);
    expect(judged).toEqual(small.map(({ name }) => name).filter((name) => name === "nan-row" || name.startsWith("top-k-")));
    expect(cases).toHaveLength(small.length);
  });

  test("exact asks for the rule's tokens, and its noise", async () => {
    const { code, stdout } = await run(["corpus", "check", "--tokens", "right", "--exact"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^noise-words: .* is not the rule's gamma/);
    const noise = CORPUS.cases.find((item) => item.kind === "noise")!;
    writeTokens("exact", { [noise.name]: encodeNpyIntegers((noise.expected as { gamma: string }).gamma.split(" ").map((digits) => parseInt(digits, 16)), [noise.rows]) });
    expect((await run(["corpus", "check", "--tokens", "exact", "--exact"])).code).toBe(0);
  });

  test("takes any integers, an empty array for a refused call, and tokens that no vocabulary has", async () => {
    const u32 = (values: number[], shape: number[]) => encodeNpy(">u4", shape, new Uint8Array(Uint32Array.from(values, (value) => ((value & 0xff) << 24) | ((value >> 8) << 16)).buffer));
    const huge = encodeNpy("<u8", [4], new Uint8Array(BigUint64Array.of(2n ** 63n, 1n, 0n, 0n).buffer));
    writeTokens("kinds", { "equal-1000": u32([1, 0, 4], [3, 1]), "nan-row": tokens(), "largest-f32": huge });
    const { code, stdout } = await run(["corpus", "check", "--tokens", "kinds"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^largest-f32: row 0, sample 0: token 9223372036854775808 is past/);
    expect(stdout).toContain(`${small.length - 1} passed, 1 failed`);
  });

  test("judges a large case where it is there", async () => {
    writeTokens("with-large", { "tail-masked-262144": tokens(262143) });
    const { code, stdout } = await run(["corpus", "check", "--tokens", "with-large"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^tail-masked-262144: .*has no probability/);
    expect((await run(["corpus", "check", "--tokens", "right", "--large"])).stdout).toContain("tail-masked-262144: no tail-masked-262144.npy\n");
  });

  test.each([
    ["another shape", { "equal-1000": tokens(0, 0) }, /equal-1000\.npy" expected shape \[3, 1\], got \[2\]/],
    ["floats", { "equal-1000": floats([0, 0, 0]) }, /equal-1000\.npy" expected integers/],
    ["no array", { "equal-1000": new TextEncoder().encode("0\n0\n0\n") }, /equal-1000\.npy" expected a \.npy file/],
    ["a cut array", { "equal-1000": tokens(0, 0, 0).subarray(0, 140) }, /equal-1000\.npy" expected 24 bytes of data/],
  ])("refuses %s", async (what, change, message) => {
    const name = `bad-${what.replace(" ", "-")}`;
    writeTokens(name, change);
    const { code, stdout, stderr } = await run(["corpus", "check", "--tokens", name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test.each([
    [["--tokens", "nowhere"], /"--tokens" expected a folder that can be read, got nowhere \(ENOENT\)/],
    [["--tokens", "empty"], /"--tokens" expected a folder with NAME\.npy for each case, got none in empty/],
    [["--tokens", "right", "--skip", "nan-rows"], /"--skip" expected names of cases, with \* at the end for all that begin so, got "nan-rows", and no case is called so/],
    [["--tokens", "right", "--only", "nan-row,nan"], /"--only" expected names of cases, .* got "nan", and no case is called so/],
    [["--tokens", "right", "--only", "nan-row", "--skip", "nan-*"], /"--only" expected to leave a case that can be judged, got none/],
    [["--only", "head-*", "--", "python3"], /"--only" expected to leave a case that can be judged, got none/],
    [[], /"--tokens" expected a folder, or a command after --, got neither/],
    [["--tokens", "right", "--", "python3"], /"--tokens" expected no command beside it, got one/],
    [["--tokens", "right", "--server"], /"--tokens" expected no --server beside it, got one/],
    [["--tokens", "right", "--document", "right/nan-row.npy"], /"--document" expected another file than --tokens \(nan-row\) reads, got right\/nan-row\.npy/],
    [["--tokens", "right", "--document", "x.out", "--junit", "x.out"], /"--junit" expected another file than --document writes, got x\.out/],
  ])("refuses %j", async (args, message) => {
    if (!existsSync(at("empty"))) mkdirSync(at("empty"));
    const { code, stdout, stderr } = await run(["corpus", "check", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n").length).toBe(1);
  });
});

describe("corpus check of a command", () => {
  writeSampler(folder);
  const check = async (options: readonly string[], mode: string) => run(["corpus", "check", ...options, "--", process.execPath, "sampler.mjs", mode]);

  test("puts the cases of given logits to it, what it reads alone, and skips the others", async () => {
    // It draws at a temperature of -1 and a top-p of NaN, and knows no shards.
    const { code, stdout, stderr } = await check(["--server", "--reads", "samples,sequence,position,mask,top-k,top-p", "--json", "--document", "drawn.json"], "serve-right");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const { cases, counts, inputs } = JSON.parse(stdout) as CorpusCheckDocument;
    expect(readFileSync(at("drawn.json"), "utf8")).toBe(stdout);
    const named = (status: string) => cases.filter((one) => one.status === status).map(({ name }) => name);
    expect(named("failed")).toEqual(["temperature-negative", "top-p-nan"]);
    const isSkipped = (name: string) => /^(head-|noise-)/.test(name) || /^shards-(2|3|7|equal-logits)$/.test(name);
    expect(named("skipped")).toEqual(small.map(({ name }) => name).filter(isSkipped));
    expect(counts.passed).toBe(small.length - named("skipped").length - 2);
    expect(inputs).toMatchObject({ tokens: null, server: true, command: [process.execPath, "sampler.mjs", "serve-right"], only: null });
  });

  test("draws what the rule does, once a call", async () => {
    const { code, stdout } = await check(["--only", "nan-in-one-row,temperature-tiny", "--reads", "none"], "right");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `2 passed, 0 failed, 0 missing, ${small.length - 2} skipped\n` });
  });

  test("takes a call that fails as refused, and says why where it must not be", async () => {
    const { code, stdout } = await check(["--server", "--only", "odd-size-2,odd-size-3,nan-row"], "serve-odd");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^odd-size-3: row 0, sample 0: refused as a whole, with nothing in it to refuse: "command" expected an answer, got exit code 1 /);
    expect(stdout).toContain(`2 passed, 1 failed, 0 missing, ${small.length - 3} skipped\n`);
  });

  test.each([
    ["a command that does not draw", [], "exit", /"command" expected exit code 0, got exit code 3 \(ValueError: no kernel for this\)/],
    ["a server that answers nothing", ["--server", "--timeout", "1"], "serve-hang", /"command" expected an answer within 1 s/],
    ["a shape that is another one", [], "shape", /"tokens\.npy" expected shape/],
  ])("refuses %s", async (_, options, mode, message) => {
    const { code, stdout, stderr } = await run(["corpus", "check", "--only", "nan-row", ...options, "--", process.execPath, "sampler.mjs", mode], { variables: { PIDS: at("pids") } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});
