/** A check as JUnit XML, as annotations of GitHub and as text, whatever the texts in it. */
import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { checkLines } from "../src/cli/check-text.js";
import { annotations } from "../src/verify/annotations.js";
import type { CheckDocument, CheckedDraw, Fault } from "../src/verify/documents.js";
import { escapeXml, junitPieces } from "../src/verify/junit.js";
import { unavailable } from "./require.js";

const HOSTILE = `]]></failure>&<>"'\u0000\u0007\u001b[2J\ufffe\ud800%0A::error::\r\n\t\u2028`;

const draw = (row: number, verdict: CheckedDraw["verdict"], more: Partial<CheckedDraw> = {}): CheckedDraw => ({
  row,
  sample: 0,
  given: 7,
  expected: 3,
  verdict,
  fault: null,
  margin: 0.5,
  gap: 1.25,
  allowed: 2 ** -20,
  rank: 4,
  probability: 0.001234567,
  ...more,
});

const fault = (row: number, fault: Fault): CheckedDraw => draw(row, "wrong", { fault, gap: null, allowed: null, rank: null, probability: null });

function documentOf(draws: readonly CheckedDraw[], engine: Partial<CheckDocument["engine"]> = {}, numSamples = 1): CheckDocument {
  const count = (verdict: CheckedDraw["verdict"]) => draws.filter((draw) => draw.verdict === verdict).length;
  return {
    kind: "check",
    specVersion: "1.0",
    version: "0.0.0",
    passed: count("wrong") === 0,
    engine: { name: "ours", title: "flash-sampling", status: "exact", unproven: [], options: {}, ...engine },
    inputs: { rows: draws.length / numSamples, numSamples, vocabSize: 10, hiddenSize: null, dtype: null, headDigest: null, seed: "1", temperature: 1 },
    logitError: { name: "given", absolute: 0.5, relative: 0.25 },
    counts: { exact: count("exact"), nearTie: count("near-tie"), wrong: count("wrong") },
    draws,
  };
}

const SOME = documentOf([draw(0, "exact"), draw(1, "wrong"), draw(2, "near-tie"), fault(3, "negative"), fault(4, "masked")]);
const MANY = documentOf(Array.from({ length: 60 }, (_, row) => draw(row, row % 2 === 0 ? "wrong" : "near-tie")));
const UNPROVEN = { name: "someone", status: "unproven", unproven: [HOSTILE], options: { [HOSTILE]: HOSTILE } } as const;

const hintOf = (document: CheckDocument): string | undefined => [...checkLines(document, 20, 16)][1];

/** Of an XML text: for each test case its name, and what is in it. By Python's parser. */
const PARSE = `
import sys, json, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
suite = root.find("testsuite")
cases = [[case.get("name"), [[part.tag, part.get("message"), part.text] for part in case]] for case in suite.findall("testcase")]
properties = {entry.get("name"): entry.get("value") for entry in suite.find("properties")}
print(json.dumps({"root": root.attrib, "suite": suite.attrib, "cases": cases, "properties": properties, "output": suite.find("system-out").text}))
`;
const noPython = spawnSync("python3", ["--version"]).status === 0 ? null : "no python3";

describe("JUnit XML", () => {
  const parsed = (document: CheckDocument) =>
    JSON.parse(execFileSync("python3", ["-c", PARSE], { input: Array.from(junitPieces(document)).join(""), encoding: "utf8", env: { ...process.env, PYTHONIOENCODING: "utf-8" } }));

  describe.skipIf(unavailable("python", noPython))("read back", () => {
    test("a test case a row, failed where a draw is wrong", () => {
      const { root, suite, cases, output } = parsed(SOME);
      expect(suite).toEqual({ name: "flash-sampling check", tests: "5", failures: "3", errors: "0", skipped: "0" });
      expect(root).toMatchObject({ tests: "5", failures: "3" });
      const wrong = "row 1: token 7, 3 expected, gap 1.25, errors allow 9.537e-7, rank 4, probability 0.001235";
      expect(cases).toEqual([
        ["row 0", []],
        ["row 1", [["failure", wrong, wrong]]],
        ["row 2", [["system-out", null, "near-tie: row 2: token 7, 3 expected, gap 1.25, errors allow 9.537e-7, rank 4, probability 0.001235"]]],
        ["row 3", [["failure", "row 3: token 7 is negative, 3 expected", "row 3: token 7 is negative, 3 expected"]]],
        ["row 4", [["failure", "row 4: token 7 is masked, 3 expected", "row 4: token 7 is masked, 3 expected"]]],
      ]);
      expect(output).toBe("FAILED: 3 wrong, 1 near-tie, 1 exact of 5 draws: 5 rows x 1 sample, V = 10 (engine ours, logit error 0.5,0.25)");
    });

    test("all samples of a row are one case", () => {
      const draws = [draw(0, "wrong"), draw(0, "wrong", { sample: 1 }), draw(1, "exact"), draw(1, "near-tie", { sample: 1 })];
      const { suite, cases } = parsed(documentOf(draws, {}, 2));
      expect(suite).toMatchObject({ tests: "2", failures: "1" });
      expect(cases[0][1][0][2].split("\n")).toHaveLength(2);
      expect(cases[1][1]).toHaveLength(1);
    });

    test("properties tell position and sequence, where there are any", () => {
      const document = documentOf([draw(0, "exact")]);
      expect(parsed({ ...document, inputs: { ...document.inputs, position: 7, sequence: "one a row" } }).properties).toMatchObject({ seed: "1", position: "7", sequence: "one a row" });
      const { properties } = parsed({ ...document, inputs: { ...document.inputs, position: 0, sequence: null } });
      expect([properties.position, "sequence" in properties]).toEqual(["0", false]);
      expect("position" in parsed(document).properties).toBe(false);
    });

    test("is well-formed whatever the texts, and says what is unproven", () => {
      const { suite, properties, output } = parsed(documentOf([draw(0, "exact")], UNPROVEN));
      expect(suite.name).toBe("flash-sampling check (UNPROVEN engine someone)");
      expect(output).toContain("UNPROVEN: no recording of someone");
      expect(output).toContain("]]></failure>&<>\"'");
      expect(Object.keys(properties).some((name) => name.includes("]]></failure>"))).toBe(true);
    });
  });

  test("characters that XML does not have are replaced", () => {
    expect(escapeXml("a\u0000\u0008\u000b\ufffe\uffff\ud800b\u{1f600}")).toBe("a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdb\u{1f600}");
    expect(escapeXml(`<&>"'\t\r\n`)).toBe("&lt;&amp;&gt;&quot;&apos;&#9;&#13;\n");
  });
});

describe("annotations", () => {
  test("errors of wrong draws, warnings of near-ties", () => {
    expect([...annotations(SOME, 20)]).toEqual([
      "::error title=wrong in row 1::token 7, 3 expected, gap 1.25, errors allow 9.537e-7, rank 4, probability 0.001235",
      "::error title=wrong in row 3::token 7 is negative, 3 expected",
      "::error title=wrong in row 4::token 7 is masked, 3 expected",
      "::warning title=near-tie in row 2::token 7, 3 expected, gap 1.25, errors allow 9.537e-7, rank 4, probability 0.001235",
    ]);
  });

  test("a title needs no escapes where a row has many samples", () => {
    const [line] = annotations(documentOf([draw(0, "exact"), draw(0, "wrong", { sample: 1 })], {}, 2), 20);
    expect(line).toMatch(/^::error title=wrong in row 0 sample 1::token 7/);
  });

  test("no text ends its line, its title or its command", () => {
    const lines = [...annotations(documentOf([draw(0, "exact")], { ...UNPROVEN, name: `a,b:c\n%` }), 20)];
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).not.toMatch(/[\r\n]/);
      expect(line.startsWith("::warning title=unproven in a%2Cb%3Ac%0A%25::")).toBe(true);
    }
    expect(lines[1]).toContain("%250A::error::%0D%0A");
  });

  test("no more than so many", () => {
    const lines = [...annotations(MANY, 20)];
    expect(lines.filter((line) => line.startsWith("::error"))).toHaveLength(21);
    expect(lines[20]).toBe("::error title=more that are wrong::10 more draws are wrong");
    expect([...annotations(MANY, Infinity)]).toHaveLength(60);
  });
});

describe("text", () => {
  test("the answer first, then what is wrong, then near-ties", () => {
    expect([...checkLines(SOME, 20, 16)].map((line) => line.split(":")[0]!.trimEnd())).toEqual(["FAILED", "wrong     row 1", "wrong     row 3", "wrong     row 4", "near-tie  row 2"]);
  });

  test("no more lines than asked for, and the rest counted", () => {
    const lines = [...checkLines(MANY, 20, 16)];
    expect(lines.filter((line) => line.startsWith("wrong     row"))).toHaveLength(20);
    expect(lines).toContain("wrong     10 more (--all)\n");
    expect(lines).toContain("near-tie  10 more (--all)\n");
    expect(lines).toContain("rank and probability: of the first 16 at most (--ranks)\n");
    expect([...checkLines(MANY, Infinity, 60)]).toHaveLength(61);
  });

  test("what is unproven comes second, and moves nothing on a terminal", () => {
    const lines = [...checkLines(documentOf([draw(0, "exact")], UNPROVEN), 20, 16)];
    expect(lines[0]).toMatch(/^passed: /);
    expect(lines[1]).toBe("UNPROVEN: no recording of someone proves what is expected here\n");
    expect(lines[2]!.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });

  test("most draws wrong by tokens that could have been drawn: asks for other inputs", () => {
    const hint = " draws differ: another seed, position, sequence, temperature, order of rows or engine?\n";
    const some = (wrong: number, count: number) => Array.from({ length: count }, (_, row) => draw(row, row < wrong ? "wrong" : "exact"));
    expect(hintOf(documentOf(some(5, 8)))).toBe(`most${hint}`);
    for (const count of [2, 3, 4, 8]) expect(hintOf(documentOf(some(count, count)))).toBe(`all${hint}`);
    for (const draws of [some(1, 1), some(2, 3), some(4, 8), [...some(8, 8), fault(8, "out-of-range")], [...some(8, 8), fault(8, "masked")]]) {
      expect([...checkLines(documentOf(draws), 20, 16)].join("")).not.toContain("differ");
    }
  });

  test("asks for what the engine has: its options, its positions, and the order of what there are several of", () => {
    const wrong = (engine: Partial<CheckDocument["engine"]>, rows: number, numSamples: number) => hintOf(documentOf(Array.from({ length: rows * numSamples }, (_, index) => draw(Math.floor(index / numSamples), "wrong")), engine, numSamples));
    expect(wrong({ name: "vllm-mrv2", options: { precision: "f32", draft: "no" } }, 3, 1)).toBe("all draws differ: another seed, position, temperature, engine option (here precision=f32, draft=no), order of rows or engine?\n");
    expect(wrong({ name: "flashsampling", options: { "block-v": "128" } }, 1, 4)).toBe("all draws differ: another seed, temperature, engine option (here block-v=128), order of samples or engine?\n");
    expect(wrong({ name: "sglang" }, 2, 2)).toBe("all draws differ: another seed, position, temperature, order of rows, order of samples or engine?\n");
    expect(wrong(UNPROVEN, 2, 1)).not.toMatch(/[\p{Cc}\p{Zl}](?!$)/u);
  });

  test("asks for the file of logits, or the head, where most tokens are out of range", () => {
    const outside = (count: number, of: number) => documentOf(Array.from({ length: of }, (_, row) => (row < count ? fault(row, "out-of-range") : draw(row, "exact"))));
    expect(hintOf(outside(64, 64))).toBe("all tokens are out of range: is this the logits file of these tokens?\n");
    const most = outside(2, 3);
    expect(hintOf({ ...most, inputs: { ...most.inputs, dtype: "bf16" } })).toBe("most tokens are out of range: is this the head of these tokens?\n");
    expect([...checkLines(outside(2, 4), 20, 16)].join("")).not.toContain("is this");
  });

  test("an error that explains all wrong draws is told in every format, and before all else", () => {
    const document: CheckDocument = { ...documentOf([draw(0, "wrong"), draw(1, "wrong")]), explainedBy: "bf16" };
    const hint = "all 2 wrong draws would be near-ties with --logit-error bf16";
    expect(hintOf(document)).toBe(`${hint}\n`);
    expect([...annotations(document, 20)][0]).toBe(`::warning title=about the wrong draws::${hint}`);
    expect([...junitPieces(document)].join("")).toContain(`\n${hint}`);
    expect(hintOf({ ...documentOf([draw(0, "wrong")]), explainedBy: "bf16" })).toBe("the wrong draw would be a near-tie with --logit-error bf16\n");
  });

  test("where numbers are not known it says so", () => {
    const [, line] = checkLines(documentOf([draw(0, "wrong", { gap: null, rank: null, probability: null })]), 20, 16);
    expect(line).toContain("gap unknown");
    expect(line).not.toMatch(/null|NaN|rank/);
  });
});
