/** `flash-sampling report`: from files and stdin to one page, written whole or not at all. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { report } from "../src/verify/report/report.js";
import { useCli } from "./cli-process.js";
import { corpusCheck, failedCheck, gof, invariance, passedCheck, replayed } from "./report-documents.js";

const { folder, run } = useCli();
const DOCUMENTS = { "check.json": failedCheck(200), "gof.json": gof(), "invariance.json": invariance(), "corpus.json": corpusCheck(), "replay.json": replayed() };
const BROKEN: Record<string, [text: string, message: string]> = {
  "text.json": ["hello", '"text.json" expected valid JSON, got: '],
  "empty.json": ["", '"empty.json" expected valid JSON, got: '],
  "list.json": ["[]", '"list.json" expected a JSON object, got array'],
  "twice.json": ['{"kind":"check","kind":"gof"}', '"twice.json" expected each JSON key once, got "kind" twice'],
  "other.json": ['{"kind":"receipt"}', '"other.json: kind" expected check, gof, invariance, corpus-check, replay, got "receipt": flash-sampling replay --document writes what comes of it'],
  "short.json": ['{"kind":"gof","specVersion":"1.0"}', '"short.json: gof.version" expected text, got undefined'],
  "null.json": [JSON.stringify({ ...gof(), alpha: NaN }), '"null.json: gof.alpha" expected a number in [0, 1], got null'],
  "lie.json": [JSON.stringify({ ...failedCheck(200), passed: true }), '"lie.json: check.passed" expected false beside wrong draws, got true'],
};
const inputs = () => readdirSync(folder).filter((name) => !name.endsWith(".html") && name !== "package").sort();
let before: string[];

beforeAll(() => {
  for (const [name, document] of Object.entries(DOCUMENTS)) writeFileSync(join(folder, name), JSON.stringify(document));
  for (const [name, [text]] of Object.entries(BROKEN)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "document.html"), JSON.stringify(gof()));
  before = inputs();
});
// No unfinished file stays.
afterEach(() => expect(inputs()).toEqual(before));

test("draws one document, and says how it went", async () => {
  expect(await run(["report", "gof.json", "--out", "one.html"])).toEqual({ code: 0, stdout: "gof passed: one.html\n", stderr: "" });
  expect(readFileSync(join(folder, "one.html"), "utf8")).toBe(report([gof()]));
});

test("draws several as sections of one page; that a document failed is no failure of the report", async () => {
  const { code, stdout, stderr } = await run(["report", ...Object.keys(DOCUMENTS), "--out", "all.html", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const page = readFileSync(join(folder, "all.html"));
  expect(page.toString()).toBe(report(Object.values(DOCUMENTS), Object.keys(DOCUMENTS)));
  const sections = [{ kind: "check", passed: false }, { kind: "gof", passed: true }, { kind: "invariance", passed: false }, { kind: "corpus-check", passed: false }, { kind: "replay", passed: false }];
  expect(JSON.parse(stdout)).toEqual({ out: "all.html", bytes: page.length, sections });
});

test("reads stdin, among files", async () => {
  const stdin = new TextEncoder().encode(JSON.stringify(passedCheck()));
  expect(await run(["report", "gof.json", "-", "--out", "stdin.html"], { stdin })).toEqual({ code: 0, stdout: "gof passed, check passed: stdin.html\n", stderr: "" });
  expect(readFileSync(join(folder, "stdin.html"), "utf8")).toBe(report([gof(), passedCheck()], ["gof.json", "stdin"]));
});

test("replaces a page that is there", async () => {
  writeFileSync(join(folder, "old.html"), "old");
  expect((await run(["report", "invariance.json", "--out", "old.html"])).stdout).toBe("invariance FAILED: old.html\n");
  expect(readFileSync(join(folder, "old.html"), "utf8")).toBe(report([invariance()]));
});

describe("is refused, and what is there stays:", () => {
  async function refused(args: readonly string[], message: string, stdin = new Uint8Array()): Promise<void> {
    writeFileSync(join(folder, "kept.html"), "kept");
    const { code, stdout, stderr } = await run(["report", ...args], { stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^flash-sampling: [^\n]+\n$/);
    expect(stderr).toContain(message);
    expect(readFileSync(join(folder, "kept.html"), "utf8")).toBe("kept");
  }

  test.each(Object.entries(BROKEN))("%s", async (name, [, message]) => {
    await refused(["gof.json", name, "--out", "kept.html"], message);
  });

  test.each<[string, readonly string[], string]>([
    ["no document", ["--out", "kept.html"], '"documents" expected a value, got none'],
    ["no place to write", ["gof.json"], '"--out" expected a value, <file>: it is required, got none'],
    ["a page that is none by its name", ["gof.json", "--out", "kept.txt"], '"--out" expected the path of a page to write, .html, got "kept.txt"'],
    ["a page without a name", ["gof.json", "--out", "./.html"], '"--out" expected the path of a page to write, .html, got "./.html"'],
    ["a document that is not there", ["none.json", "--out", "kept.html"], '"none.json" expected a readable file, got ENOENT'],
    ["a folder", [".", "--out", "kept.html"], '"." expected a file, got a directory'],
    ["stdin twice", ["-", "-", "--out", "kept.html"], '"documents" expected stdin, -, at most once, got it twice'],
    ["no text of a path", ["", "--out", "kept.html"], '"documents" expected a path or a URL, got ""'],
    ["a page in the place of its document", ["gof.json", "document.html", "--out", "./document.html"], '"--out" expected another file than document 2 reads'],
    ["a folder that is not there", ["gof.json", "--out", "none/x.html"], '"--out" expected an existing folder, got none'],
    ["an option of another verb", ["gof.json", "--out", "kept.html", "--seed", "1"], '"--seed" expected an option of this command, got an unknown one'],
  ])("%s", (_, args, message) => refused(args, message));

  test("stdin without a document", () => refused(["-", "--out", "kept.html"], '"stdin" expected valid JSON, got: '));

  test("stdin that breaks off", () => refused(["-", "--out", "kept.html"], '"stdin" expected valid JSON, got: ', new TextEncoder().encode(JSON.stringify(gof()).slice(0, 1000))));

  test("stdin of bytes that are no text", () => refused(["-", "--out", "kept.html"], '"stdin" expected valid JSON, got: ', Uint8Array.of(0xff, 0xfe, 0)));
});

test("has examples in its help", async () => {
  const { code, stdout } = await run(["report", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toContain("$ flash-sampling report result.json --out report.html");
});
