/** JUnit XML of goodness of fit, invariances and the edge corpus, whatever the texts in it, by Python's parser. */
import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { GofDocument, InvarianceDocument } from "../src/verify/documents.js";
import { junitPieces } from "../src/verify/junit.js";
import { corpusCheck, gof, hostile, invariance } from "./report-documents.js";
import { unavailable } from "./require.js";

/** For each test case its name, and what is in it: tag, message, text. */
const PARSE = `
import sys, json, xml.etree.ElementTree as tree
suite = tree.fromstring(sys.stdin.buffer.read()).find("testsuite")
cases = [[case.get("name"), [[part.tag, part.get("message"), part.text] for part in case]] for case in suite.findall("testcase")]
properties = {entry.get("name"): entry.get("value") for entry in suite.find("properties")}
print(json.dumps({"suite": suite.attrib, "cases": cases, "properties": properties, "output": suite.find("system-out").text}))
`;
type Part = [tag: string, message: string | null, text: string | null];
interface Parsed {
  readonly suite: Record<string, string>;
  readonly cases: readonly [name: string, parts: readonly Part[]][];
  readonly properties: Record<string, string>;
  readonly output: string;
}

const parsed = (document: Parameters<typeof junitPieces>[0]): Parsed =>
  JSON.parse(execFileSync("python3", ["-c", PARSE], { input: Array.from(junitPieces(document)).join(""), encoding: "utf8", env: { ...process.env, PYTHONIOENCODING: "utf-8" } }));
const noPython = spawnSync("python3", ["--version"]).status === 0 ? null : "no python3";

describe.skipIf(unavailable("python", noPython))("JUnit XML", () => {
  test("of a fit has a case a test, and tells what is off and what would have been found", () => {
    const { suite, cases, properties, output } = parsed(gof({ bias: 0.8 }));
    expect(suite).toEqual({ name: "flash-sampling gof", tests: "5", failures: "2", errors: "0", skipped: "0" });
    expect(cases[0]).toEqual(["G-test", [["failure", "token 2600 was drawn 402 times, 511.8 expected", "token 2600 was drawn 402 times, 511.8 expected\np-value 3.1e-41, threshold 0.0004, statistic 10400\nDo tokens come as often as softmax says?"]]]);
    expect(cases.slice(2)).toEqual([["largest deviation", []], ["rows", []], ["positions", []]]);
    expect(properties).toMatchObject({ specVersion: "1.0", draws: "1000000", temperature: "1", alpha: "0.001", stoppedAt: "1000000" });
    expect(output).toMatch(/^FAILED: 2 of 5 tests failed, 1000000 draws, softmax\(logits \/ 1\)\nsmallest bias that so many draws would show \(probability 0\.99\): every token's .*: 1\.1 %\n/);
  });

  test("of invariances has a case each: kept, broken with its smallest case, skipped with why", () => {
    const { suite, cases, properties } = parsed(invariance());
    expect(suite).toMatchObject({ tests: "5", failures: "1", skipped: "1" });
    expect(cases.map(([name, parts]) => [name, parts.map(([tag, message]) => [tag, message])])).toEqual([
      ["batch-permutation", []],
      ["batch-size", [["failure", "one row more: row 0 draws other tokens"]]],
      ["tile-size", []],
      ["top-p", [["skipped", "the sampler takes no topP"]]],
      ["seeds", []],
    ]);
    expect(cases[1]![1][0]![2]).toMatch(/\nthe smallest case, 2 rows of 17 tokens:\n {2}before:\n[^]* {2}row 0 before: 3 3 11 0 5 3 3 16\n {2}row 0 after: {2}3 9 11 0 5 3 1 16$/);
    expect(properties).toMatchObject({ sampler: "python3 sampler.py", calls: "412", seed: "7", reads: "samples,top-k" });
  });

  test("of the corpus has a case a case, with what came and where others failed", () => {
    const { suite, cases } = parsed(corpusCheck());
    expect(suite).toMatchObject({ name: "flash-sampling corpus check", tests: "40", failures: "3", skipped: "4" });
    const lines = (name: string) => cases.find(([one]) => one === name)![1][0]![2]!.split("\n");
    expect(lines("nan-row")).toEqual(["no nan-row.npy", "What goes wrong in case 12.", "project/issues/12"]);
    expect(lines("shards-equal-logits").slice(-3)).toEqual(["230 more", "What goes wrong in case 7.", "project/issues/7"]);
  });

  test("is well-formed for documents whose every text is hostile", () => {
    for (const document of [hostile<GofDocument>(gof({ bias: 0.8 })), hostile<InvarianceDocument>(invariance()), hostile(corpusCheck())]) {
      const { cases } = parsed(document);
      expect(cases[0]![0]).toContain("</title></style></svg></script>");
    }
  });
});
