/** Reports of made-up documents: what they say, what they refuse, and that nothing in a document gets out of its place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { VerifyDocument } from "../src/verify/documents.js";
import { linearAxis, logAxis } from "../src/verify/report/axis.js";
import { html } from "../src/verify/report/html.js";
import { counted, decimal, powerOfTen, whole } from "../src/verify/report/numbers.js";
import { report } from "../src/verify/report/report.js";
import { deviation, standardized } from "../src/verify/report/statistics.js";
import { corpusCheck, failedCheck, gof, hostile, HOSTILE, invariance, otherInputs, passedCheck, replayed } from "./report-documents.js";

const ALL = {
  check: { ...failedCheck(300), explainedBy: null },
  gof: { ...gof({ bias: 0.8 }), inputs: { tokens: ["t.npy"], logits: "l.npy", axes: null, shards: 1, sequential: false } },
  invariance: { ...invariance(), unasked: ["top-p"] },
  "corpus-check": { ...corpusCheck(), inputs: { tokens: null, command: ["python3", "my_server.py"], server: true, reads: ["samples"], only: null, skip: "top-*" } },
  replay: replayed(),
} as const;
/** Later than the first version of the documents. */
const OPTIONAL = new Set(["check.inputs.position", "check.inputs.sequence", "invariance.seed", "invariance.reads", "invariance.unasked", "check.explainedBy", "gof.inputs", "corpus-check.inputs"]);
const KINDS = Object.keys(ALL) as (keyof typeof ALL)[];

/** Rows of the table with this name, cell by cell, without markup. */
function rowsOf(page: string, name: string): string[][] {
  const table = new RegExp(`<table aria-label="${name}"[^>]*>(.*?)</table>`, "s").exec(page)?.[1];
  if (table === undefined) throw new Error(`no table ${name}`);
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1).map(([, row]) => [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell!.replace(/<[^>]*>/g, "").trim()));
}

describe("the page", () => {
  test("is the same for the same documents", () => {
    const documents = Object.values(ALL);
    expect(report(documents)).toBe(report(structuredClone(documents)));
  });

  test("asks for nothing: no script, no address, no style from elsewhere", () => {
    const page = report([...Object.values(ALL), ...Object.values(ALL).map(hostile)]);
    const tags = new Set([...page.matchAll(/<([a-z0-9]+)/gi)].map(([, name]) => name!.toLowerCase()));
    for (const tag of ["script", "img", "link", "iframe", "object", "embed", "base", "form", "use", "image", "foreignobject"]) expect(tags).not.toContain(tag);
    const attributes = new Set([...page.matchAll(/<[a-z0-9]+((?:\s+[\w-]+="[^"]*")*)\s*\/?>/gi)].flatMap(([, all]) => [...all!.matchAll(/([\w-]+)="/g)].map(([, name]) => name!)));
    expect([...attributes].filter((name) => name.startsWith("on") || ["src", "style", "srcset", "action"].includes(name))).toEqual([]);
    expect([...page.matchAll(/href="([^"]*)"/g)].every(([, address]) => /^#section-\d+$/.test(address!))).toBe(true);
    expect(/url\(|@import|https?:/.exec(page)?.[0]).toBeUndefined();
    expect(page.slice(0, 300)).toContain(html`content="${"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"}"`.markup);
  });

  test("has no text of a document but escaped", () => {
    expect(html`${'<a b="c">\'&\u202e\0\ud800'}`.markup).toBe("&lt;a b=&quot;c&quot;&gt;&#39;&amp;\\u{202e}\\u{0}\\u{d800}");
    const page = report(Object.values(ALL).map(hostile));
    const escaped = html`${HOSTILE}`.markup;
    expect(page.split(escaped).length).toBeGreaterThan(30);
    expect(/<script|<img|[\u202e\u2066\0]/.exec(page)?.[0]).toBeUndefined();
  });

  test("begins with the verdict in words, in the order of the documents", () => {
    const page = report([passedCheck(), gof({ bias: 0.8 }), invariance(), corpusCheck(), replayed(), otherInputs(), replayed(true)]);
    expect(page).toContain("<title>Sampling report: 5 of 7 failed</title>");
    expect([...page.matchAll(/<h2[^>]*>(.*?)<\/h2>\s*<p class="verdict (\w+)"><strong>(.*?)<\/strong> (.*?)<\/p>/g)].map(([, title, , word, why]) => [title, word, why].map((text) => text!.replace(/<[^>]*>/g, "")))).toEqual([
      ["1. Check of flash-sampling, rule 1.0", "✓ Passed.", "Of 2,000 draws: 1,998 exact, 2 near-ties within the stated errors, 0 wrong."],
      ["2. Goodness of fit", "✗ Failed.", "2 of 5 tests failed: G-test; tail. G-test: token 2600 was drawn 402 times, 511.8 expected"],
      ["3. Invariance of python3 sampler.py", "✗ Failed.", "3 kept, 1 broken, 1 skipped. Broken: batch-size."],
      ["4. Edge corpus", "✗ Failed.", "33 passed, 2 failed, 1 missing, 4 skipped."],
      ["5. Replay of a receipt", "✗ Failed.", "Of 3 backends: 1 confirmed, 1 could not run, 1 differ or failed: webgpu."],
      ["6. Replay of a receipt", "✗ Failed.", "Not the same logits: the digest is another one."],
      ["7. Replay of a receipt", "✓ Passed.", "Of 3 backends: 2 confirmed, 1 could not run, 0 differ or failed."],
    ]);
  });

  test("tells several documents by their names, without the folders that they lay in", () => {
    const page = report([gof(), gof()], ["/home/me/a.json", "C:\\mine\\b<.json"]);
    expect(page).toContain("1. Goodness of fit: <bdi>a.json</bdi></h2>");
    expect(page).toContain("2. Goodness of fit: <bdi>b&lt;.json</bdi></h2>");
    expect(/home|mine/.exec(page)?.[0]).toBeUndefined();
    expect(report([gof()], ["a.json"])).toBe(report([gof()]));
  });

  test("says of an engine that nothing proves so", () => {
    expect(report([failedCheck(300)])).toMatch(/<div class="status warning" role="note"><p>⚠ Engine status: <strong>unproven<\/strong>[^]*?temperatures other than 1/);
    expect(report([passedCheck()])).not.toContain("⚠");
  });

  test("names all that it takes to reproduce a document", () => {
    const page = report([failedCheck(300)]);
    for (const fact of ["0.2.0", "1.0", "vllm-mrv2", "engine option <bdi>block-v</bdi>", "1024", "42", "0.7", "128256", "5f".repeat(32), "0.000030517578125", "31", "the row&#39;s index"]) expect(page).toContain(fact);
    expect(report([invariance()])).toContain("samples, top-k");
    const command = (document: VerifyDocument) => /<h3>To reproduce<\/h3>\n<pre tabindex="0"><bdi>(.*?)</.exec(report([document]))?.[1];
    expect([gof(), corpusCheck()].map(command)).toEqual([undefined, undefined]);
    const inputs = { tokens: ["/home/me/my tokens.npy", "b.npy"], logits: "C:\\l.npy", axes: ["row", "sample"], shards: 8, sequential: true };
    expect(command({ ...gof(), inputs })).toBe("flash-sampling gof --tokens &#39;my tokens.npy&#39; b.npy --logits l.npy --temperature 1 --alpha 0.001 --axes row,sample --shards 8 --sequential");
    const none = { command: null, server: false, reads: [], only: null, skip: null };
    expect(command({ ...corpusCheck(), exact: true, inputs: { ...none, tokens: "out/tokens/", skip: "head-*" } })).toBe("flash-sampling corpus check --tokens tokens --exact --skip &#39;head-*&#39;");
    expect(command({ ...corpusCheck(), inputs: { ...none, tokens: null, command: ["python3", "my_server.py"], server: true } })).toBe("flash-sampling corpus check --server --reads none -- python3 my_server.py");
  });

  test("takes documents that do not say position, sequence, seed and what is read", () => {
    const { inputs, ...check } = passedCheck();
    const { position: _, sequence: __, ...earlier } = inputs;
    const { seed: ___, reads: ____, ...found } = invariance();
    for (const document of [{ ...check, inputs: earlier }, { ...check, inputs: { ...inputs, sequence: null } }, found]) expect(report([document])).toContain("–</");
    const refused = (value: unknown) => () => report([{ ...check, inputs: { ...inputs, position: value } } as unknown as VerifyDocument]);
    expect(refused(-1)).toThrow(RangeError);
    expect(refused({})).toThrow(/check\.inputs\.position" expected a whole number in \[0, \d+\], or text, got Object/);
  });

  test("has a picture with a name, two widths and its numbers for each figure", () => {
    const page = report(Object.values(ALL));
    const figures = [...page.matchAll(/<figure>.*?<\/figure>/gs)].map(([figure]) => figure);
    expect(figures).toHaveLength(6);
    for (const figure of figures) {
      expect(figure).toMatch(/role="img" aria-label="[^"]{40,}"/);
      expect(figure.match(/<svg class="(wide|narrow)"/g)).toHaveLength(2);
      expect(figure).toMatch(/<details><summary>.*<table/s);
    }
  });
});

describe("a check", () => {
  test("lists what is wrong, the worst first, and tells how many there are beyond", () => {
    const document = failedCheck(3000);
    const page = report([document]);
    const rows = rowsOf(page, "Draws that are not the expected ones");
    expect(rows).toHaveLength(50);
    expect(rows.slice(0, 4).map((row) => [row[0], row[4]])).toEqual([["5", "✗ wrong, out-of-range"], ["8", "✗ wrong, negative"], ["9", "✗ wrong, no-token"], ["10", "✗ wrong, masked"]]);
    const gaps = document.draws.filter(({ verdict, fault }) => verdict === "wrong" && fault === null).sort((a, b) => b.gap! - b.allowed! - (a.gap! - a.allowed!));
    expect(rows.slice(4, 4 + gaps.length).map((row) => [row[0], row[2], row[3]])).toEqual(gaps.map(({ row, given, expected }) => [row, given, expected].map(String)));
    expect(page).toContain(`The worst first: 50 of ${document.counts.wrong + document.counts.nearTie} are shown.`);
  });

  test("counts each margin once, in the bar that it belongs to", () => {
    const document = failedCheck(3000);
    const bars = rowsOf(report([document]), "Margins, in logits").map((row) => row.map((cell) => Number(cell.replaceAll(",", ""))));
    expect([2, 3, 4].map((column) => bars.reduce((sum, bar) => sum + bar[column]!, 0))).toEqual([document.counts.exact, document.counts.nearTie, document.counts.wrong - 1]);
    const between = (from: number, to: number) => document.draws.filter(({ verdict, margin }) => verdict === "exact" && margin! >= from && margin! < to).length;
    expect(bars.find(([from]) => from === 0.1)![2]).toBe(between(0.1, 10 ** -0.75));
    expect(bars.find(([from]) => from === 1)![2]).toBe(between(1, 10 ** 0.25));
  });

  test("of a million draws stays small", () => {
    const draws = failedCheck(1000).draws;
    const many = Array.from({ length: 1_000_000 }, (_, row) => draws[row % 1000]!);
    const { counts } = failedCheck(1000);
    const page = report([{ ...failedCheck(1000), draws: many, counts: { exact: 1000 * counts.exact, nearTie: 1000 * counts.nearTie, wrong: 1000 * counts.wrong } }]);
    expect(page.length).toBeLessThan(1_000_000);
    expect(page).toContain("Draws, the worst first: 1,000 of");
  });

  test("without a draw says so", () => {
    const page = report([{ ...passedCheck(), draws: [], counts: { exact: 0, nearTie: 0, wrong: 0 } }]);
    expect(page).toContain("There was no draw to check.");
    expect(page).not.toContain("<figure>");
  });
});

describe("goodness of fit", () => {
  test("marks a bin by how far it is off", () => {
    const bin = { label: "a", tokens: 1, expected: 250, observed: 250 };
    // sqrt(1000 * 0.25 * 0.75) = 13.69: 291 is 2.99 of them above, 292 is 3.07.
    const page = report([{ ...gof(), draws: 1000, binCount: 900, bins: [bin, { ...bin, label: "b", observed: 291 }, { ...bin, label: "c", observed: 292 }, { ...bin, label: "d", observed: 0 }] }]);
    expect(rowsOf(page, "Bins: expected and observed counts").map((row) => row[4])).toEqual(["0", "2.994", "3.067", "-18.26"]);
    expect(page).toContain("4 bins, each with its expected and its observed count; 2 outside of 3 standard deviations");
    expect(page).toContain("Bins, the most expected first: 4 of 900 are shown.");
  });

  test("puts first what is furthest off", () => {
    const document = gof({ bias: 0.8 });
    const page = report([{ ...document, tests: [...document.tests].reverse() }]);
    const rows = (name: string, picture: RegExp) => [...new RegExp(`<div class="chart" role="img" aria-label="${name}.*?</svg>`, "s").exec(page)![0].matchAll(picture)].map(([, text]) => text);
    expect(rows("p-values", /<text class="row"[^>]*>(.*?)<\/text>/g)).toEqual(["✗ G-test", "✗ tail", "✓ largest deviation", "✓ rows", "✓ positions"]);
    const furthest = [...document.tokens].sort((a, b) => Math.abs(b.z) - Math.abs(a.z)).map(({ token }) => String(token));
    expect(rows("Tokens furthest off", /<text class="number"[^>]*text-anchor="end">(.*?)<\/text>/g)).toEqual(furthest);
  });

  test("names first the test that is strongest for its threshold, and no threshold of a test without one", () => {
    const [first, second, ...rest] = gof({ bias: 0.8 }).tests;
    const tests = [{ ...first!, name: "a, b", pValue: 1e-20 }, { ...second!, name: "c, d", pValue: 1e-25, threshold: 1e-6 }, { ...rest[0]!, name: "support", pValue: 1, threshold: Number.MIN_VALUE }];
    const page = report([{ ...gof({ bias: 0.8 }), tests }]);
    expect(page.replace(/<[^>]*>/g, "")).toContain("2 of 3 tests failed: c, d; a, b. c, d: gaps of 10 to 15: 5136 draws, 6420.1 expected");
    expect(rowsOf(page, "p-values and thresholds").map((row) => row[2])).toEqual(["4e-4", "1e-6", "–"]);
    expect(rowsOf(page, "Tests: one fails when its p-value is below its threshold").map((row) => row[6])).toEqual(["4e-4", "1e-6", "–"]);
    expect(page).not.toContain("4.94e-324");
    expect(page.match(/class="threshold" d="M[^"]*v12/g)).toHaveLength(4);
  });

  test("tells what a pass of few draws is worth, and biases as shares", () => {
    const power = [{ what: "relative increase of token 3, of probability 0.1", smallest: 0.253, probability: 0.9 }, { what: "relative increase of the mass at gap 0-5, of probability 0.9", smallest: 30, probability: 0.9 }];
    const page = report([{ ...gof(), power }]);
    expect(page).toContain("But so few draws show only gross faults.");
    expect(rowsOf(page, "Smallest biases that so many draws would show").map((row) => row[1])).toEqual(["+25.3 %", "31 times as often"]);
    const all = { what: "root mean square of relative biases of all tokens, random in sign", smallest: 0.17, probability: 0.9 };
    expect(report([{ ...gof(), power: [...power, all] }])).not.toContain("gross");
    expect(report([{ ...gof(), power: [{ ...power[0]!, smallest: 0.05 }] }])).not.toContain("gross");
  });

  test("has no picture of what is not there", () => {
    const page = report([{ ...gof(), tests: [], bins: [], binCount: 0, tail: [], tokens: [], power: [] }]);
    expect(page).not.toContain("<figure>");
  });
});

describe("invariance", () => {
  test("shows the smallest case, and which tokens differ", () => {
    const page = report([invariance()]);
    expect(page).toMatch(/<tr><td class="text">after<\/td><td class="number">3<\/td><td class="number"><mark>9<\/mark><\/td><td class="number">11<\/td>/);
    expect(page.match(/<mark>/g)).toHaveLength(4);
    expect(rowsOf(page, "What must not change what").map(([status, name]) => [status, name])).toEqual([
      ["✓ kept", "batch-permutation"],
      ["✗ broken", "batch-size"],
      ["✓ kept", "tile-size"],
      ["– skipped", "top-p"],
      ["✓ kept", "seeds"],
    ]);
  });
});

describe("invariances of what may be drawn, and of what was not asked", () => {
  test("tell allowed and drawn, and mark none of them", () => {
    const [, broken] = invariance().findings;
    const page = report([{ ...invariance(), findings: [{ ...broken!, name: "top-k" }] }]);
    expect(page).toContain("; row 0, allowed and drawn.");
    expect(page).toMatch(/<td class="text">allowed<\/td>.*<\/tr>\n<tr><td class="text">drawn<\/td>/);
    expect(page).not.toContain("<mark>");
  });

  test("tell one list alone as what was drawn", () => {
    const [, broken] = invariance().findings;
    const page = report([{ ...invariance(), findings: [{ ...broken!, name: "token-range", smallest: { ...broken!.smallest!, before: [] } }] }]);
    expect(page).toContain("; row 0, drawn.");
    expect(page).toContain('<table aria-label="Tokens drawn: token-range">');
    expect(page).not.toMatch(/allowed|<td class="text">after/);
  });

  test("name what calls did not suffice for", () => {
    expect(report([{ ...invariance(false), passed: false, unasked: ["top-p"] }])).toContain("1 skipped. Calls did not suffice to ask top-p.</p>");
    expect(() => report([{ ...invariance(false), unasked: ["top-p"] }])).toThrow('"documents[0]: invariance.passed" expected false beside questions that were not asked, got true');
  });
});

describe("a corpus check", () => {
  test("lists what failed, with what came and where others failed, and keeps the rest folded", () => {
    const page = report([corpusCheck()]);
    expect(rowsOf(page, "Cases that failed or have no answer")).toEqual([
      ["✗ failed", "tail-masked-8193", "row 0, sample 0: token 8193 is past the vocabulary of 8193row 1, sample 0: token 8193 is past the vocabulary of 8193What goes wrong in case 3.project/issues/3"],
      ["✗ failed", "shards-equal-logits", `${[0, 1, 2, 3, 4].map((row) => `row ${row}, sample ${row % 2}: token 1 has no probability`).join("")}and 245 moreWhat goes wrong in case 7.project/issues/7`],
      ["✗ missing", "nan-row", "What goes wrong in case 12.project/issues/12"],
    ]);
    const others = rowsOf(page, "Cases that passed or were left out");
    expect(others).toHaveLength(37);
    expect(others.filter(([status]) => status === "– skipped")).toHaveLength(4);
    expect(page).toMatch(/<details><summary>37 cases that passed or were left out<\/summary>/);
  });

  test("that passed has no table of failures; addresses stay text", () => {
    const document = corpusCheck(true);
    const page = report([{ ...document, cases: document.cases.map((one) => ({ ...one, issue: "https://github.com/project/issues/1" })) }]);
    expect(page).not.toContain("Cases that failed");
    expect(page).toContain("<bdi>https://github.com/project/issues/1</bdi>");
    expect(page).not.toContain("<a ");
  });

  test("without a case says so", () => {
    const none = { passed: 0, failed: 0, missing: 0, skipped: 0 };
    expect(report([{ ...corpusCheck(true), counts: none, cases: [] }])).toContain("0 passed, 0 failed, 0 missing, 0 skipped.");
  });
});

describe("a replay", () => {
  test("tells what each backend drew, and the first draw that differs", () => {
    const page = report([replayed()]);
    expect(rowsOf(page, "What each backend drew")).toEqual([
      ["– skipped", "cuda", "this build of the package has no CUDA kernels"],
      ["✗ differs", "webgpu", "12 of 900 draws differ"],
      ["✓ confirmed", "reference", "900 draws alike"],
    ]);
    expect(rowsOf(page, "The first draw of each backend that differs")).toEqual([
      ["webgpu", "1", "3", "in the receipt", "49", "000000080f12f180", "ok"],
      ["webgpu", "1", "3", "drawn", "46", "000000080f12f17f", "ok"],
    ]);
    expect(page.match(/<mark>/g)).toHaveLength(4);
  });

  test("names the input that is another one, without the folder that it lay in", () => {
    const page = report([otherInputs()]);
    for (const text of ["No backend was asked", "<bdi>logits.npy</bdi>", "0".repeat(64), "d6".repeat(32)]) expect(page).toContain(text);
    expect(/home|What each backend drew/.exec(page)?.[0]).toBeUndefined();
  });
});

/** Each place of a value, as the path that an error names. */
function pathsOf(value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Array.isArray(value) ? value.slice(0, 3).map((entry, index) => [entry, `${path}[${index}]`] as const) : Object.entries(value).map(([name, entry]) => [entry, name.includes("-") ? `${path}[${name}]` : `${path}.${name}`] as const);
  return [...(path.includes(".") ? [path] : []), ...below.flatMap(([entry, place]) => pathsOf(entry, place))];
}

/** A copy of the document with another value at the path. */
function spoilt(document: VerifyDocument, path: string, spoil: (value: unknown) => unknown): VerifyDocument {
  const names = [...path.matchAll(/\.([\w-]+)|\[([\w-]+)\]/g)].map(([, field, key]) => field ?? key!);
  const copy = structuredClone(document);
  const parent = names.slice(0, -1).reduce<any>((value, name) => value[name], copy);
  parent[names.at(-1)!] = spoil(parent[names.at(-1)!]);
  return copy;
}

describe.each(KINDS)("a broken %s", (kind) => {
  const document = ALL[kind];
  const paths = pathsOf(document, kind).filter((path) => path !== `${kind}.kind`);

  test("is refused by the name of each field that is of another kind", () => {
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      for (const bad of [() => Symbol("none"), () => () => {}]) {
        const message = `"documents[0]: ${path}" expected `;
        const value = spoilt(document, path, bad);
        expect(() => report([value]), path).toThrow(message);
        expect(() => report([value]), path).toThrow(TypeError);
      }
    }
  });

  test("is refused by the name of each field that is missing", () => {
    for (const path of paths.filter((one) => !/\]$/.test(one) && !OPTIONAL.has(one))) expect(() => report([spoilt(document, path, () => undefined)]), path).toThrow(`"documents[0]: ${path}" expected `);
  });

  test("is refused by the name of each number that is none", () => {
    for (const path of paths) {
      for (const bad of [NaN, Infinity, -Infinity]) expect(() => report([spoilt(document, path, () => bad)]), `${path} ${bad}`).toThrow(`"documents[0]: ${path}" expected `);
    }
  });
});

describe("what is refused", () => {
  test.each<[string, unknown, string]>([
    ["no list", null, '"documents" expected a list of documents, got null'],
    ["a document by itself", passedCheck(), '"documents" expected a list of documents, got Object'],
    ["no document", [], '"documents" expected 1 to 1000, got 0'],
    ["null", [null], '"documents[0]: kind" expected check, gof, invariance, corpus-check, replay, got undefined'],
    ["another document", [passedCheck(), { kind: "receipt" }], '"documents[1]: kind" expected check, gof, invariance, corpus-check, replay, got "receipt": flash-sampling replay --document writes what comes of it'],
    ["a verdict of another version", [{ ...ALL.check, draws: [{ ...ALL.check.draws[0], verdict: "odd" }] }], '"documents[0]: check.draws[0].verdict" expected exact, near-tie, wrong, got "odd"'],
    ["too many bins", [{ ...ALL.gof, bins: Array.from({ length: 1001 }, () => ALL.gof.bins[0]) }], '"documents[0]: gof.bins" expected a list of at most 1000, got 1001'],
    ["an endless name", [{ ...ALL.invariance, version: "x".repeat(1001) }], '"documents[0]: invariance.version" expected text of at most 1000 characters, got 1001'],
    ["a fraction of a draw", [{ ...ALL.gof, draws: 1.5 }], '"documents[0]: gof.draws" expected a whole number in [0, 9007199254740991], got 1.5'],
    ["a p-value above 1", [{ ...ALL.gof, tests: [{ ...ALL.gof.tests[0], pValue: 1.01 }] }], '"documents[0]: gof.tests[0].pValue" expected a number in [0, 1], got 1.01'],
    ["counts that its draws deny", [{ ...passedCheck(), counts: { exact: 2000, nearTie: 0, wrong: 0 } }], '"documents[0]: check.counts.exact" expected 1998, as its draws say, got 2000'],
    ["a check that passed with wrong draws", [{ ...ALL.check, passed: true }], '"documents[0]: check.passed" expected false beside wrong draws, got true'],
    ["a fit that passed with a failed test", [{ ...ALL.gof, passed: true }], '"documents[0]: gof.passed" expected false beside tests that failed, got true'],
    ["counts that its cases deny", [{ ...corpusCheck(), counts: { ...corpusCheck().counts, missing: 0 } }], '"documents[0]: corpus-check.counts.missing" expected 1, as its cases say, got 0'],
    ["a corpus check that passed with a failed case", [{ ...corpusCheck(), passed: true }], '"documents[0]: corpus-check.passed" expected false beside cases that failed or are missing, got true'],
    ["a replay that passed with another draw", [{ ...replayed(), passed: true }], '"documents[0]: replay.passed" expected false beside backends that differ or failed, got true'],
    ["a replay that passed with another input", [{ ...otherInputs(), passed: true }], `"documents[0]: replay.passed" expected false beside an input that is not the receipt's, got true`],
    ["a replay that passed without a backend", [{ ...replayed(true), backends: [] }], '"documents[0]: replay.passed" expected false beside no backend that confirmed it, got true'],
    ["an invariance that passed with a broken finding", [{ ...ALL.invariance, passed: true }], '"documents[0]: invariance.passed" expected false beside broken findings, got true'],
  ])("%s", (_, documents, message) => {
    expect(() => report(documents as VerifyDocument[])).toThrow(message);
  });

  test("more than a page has room for", () => {
    const finding = { name: "x", question: "<".repeat(100_000), status: "kept", cases: 1, why: "&".repeat(100_000), smallest: null } as const;
    const large = { ...invariance(false), findings: Array.from({ length: 1000 }, () => finding) };
    expect(() => report([large, large, large, large])).toThrow('"documents" expected no more text than a page of 50000000 characters');
  });

  test("by the names that are given", () => {
    expect(() => report([{ ...passedCheck(), version: 7 } as never], ["result.json"])).toThrow('"result.json: check.version" expected text, got 7');
  });
});

describe("any numbers", () => {
  const amount = fc.oneof(fc.constantFrom(0, 5e-324, 1e-300, 1e-12, 1, 3, 1e6, 1e300), fc.double({ min: 0, max: 1e300, noNaN: true }), fc.double({ min: 0, max: 1000, noNaN: true }));
  const difference = fc.oneof(amount, amount.map((value) => -value));
  const share = fc.oneof(fc.constantFrom(0, 1, 5e-324, 1e-19, 1e-21), fc.double({ min: 0, max: 1, noNaN: true }));
  const count = fc.oneof(fc.constantFrom(0, 1, 2, 1000, Number.MAX_SAFE_INTEGER), fc.nat());
  const few = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 6 });
  const draw = fc.record({
    row: count, sample: count, given: fc.integer(), expected: fc.integer(), verdict: fc.constantFrom("exact" as const, "near-tie" as const, "wrong" as const), fault: fc.constantFrom(null, "masked" as const),
    margin: fc.option(amount), gap: fc.option(difference), allowed: fc.option(amount), rank: fc.option(fc.constantFrom(1, 2, 1e9)), probability: fc.option(share),
  });
  const testOf = fc.record({ name: fc.string({ maxLength: 200 }), question: fc.string(), statistic: difference, degreesOfFreedom: fc.option(amount), pValue: share, threshold: share, passed: fc.boolean(), detail: fc.option(fc.string()) });

  /** A page whose pictures have no place that is no number. */
  function expectPlaces(document: VerifyDocument): void {
    const page = report([document]);
    const pictures = [...page.matchAll(/<svg.*?<\/svg>/gs)].map(([picture]) => picture.replace(/<(title|text)[^>]*>.*?<\/\1>/gs, "")).join("");
    expect(/NaN|Infinity|undefined|null|e[+-]\d/.exec(pictures)?.[0]).toBeUndefined();
    expect(/\bNaN\b|\bInfinity\b|\bundefined\b/.exec(page.replace(/<bdi>.*?<\/bdi>/gs, ""))?.[0]).toBeUndefined();
  }

  test("of a check have a place", () => {
    fc.assert(
      fc.property(few(draw), (draws) => {
        const of = (verdict: string) => draws.filter((one) => one.verdict === verdict).length;
        expectPlaces({ ...passedCheck(), passed: false, counts: { exact: of("exact"), nearTie: of("near-tie"), wrong: of("wrong") }, draws });
      }),
      { seed: 1, numRuns: 150 },
    );
  });

  test("of a fit have a place", () => {
    const bin = fc.record({ label: fc.constant("bin"), tokens: count, expected: amount, observed: amount });
    const gap = fc.record({ fromGap: difference, toGap: fc.option(difference), expected: amount, observed: amount, z: difference });
    const token = fc.record({ token: fc.maxSafeInteger(), expected: amount, observed: amount, z: difference });
    fc.assert(
      fc.property(fc.record({ draws: count, tests: few(testOf), bins: few(bin), tail: few(gap), tokens: few(token) }), (fields) => {
        expectPlaces({ ...gof(), passed: false, ...fields, tests: fields.tests.map((one) => ({ ...one, name: one.name.replace(/NaN|Infinity|undefined/g, "") })) });
      }),
      { seed: 2, numRuns: 150 },
    );
  });
});

describe("axes", () => {
  test("a logarithmic one puts powers of ten evenly apart", () => {
    const axis = logAxis(3, 700, { title: "", range: [0, 300] });
    expect([1, 10, 100, 1000].map((value) => Math.round(axis.at(value)))).toEqual([0, 100, 200, 300]);
    expect(axis.ticks.filter(({ label }) => label !== "").map(({ label }) => label)).toEqual(["1", "10", "100", "1,000"]);
    expect([axis.at(0), axis.at(1e-5), axis.at(1e9)].map(Math.round)).toEqual([0, 0, 300]);
  });

  test("a logarithmic one has a place for zero below all others, where it is asked to", () => {
    const axis = logAxis(1, 100, { title: "", range: [0, 244] }, { label: "0" });
    expect([0, 1, 10, 100].map((value) => Math.round(axis.at(value)))).toEqual([11, 44, 144, 244]);
    expect(axis.ticks[0]).toEqual({ at: 11, label: "0" });
  });

  test("a linear one ends with round numbers", () => {
    const axis = linearAxis(-4.2, 4.2, { title: "", range: [0, 420] });
    expect([-6, 0, 6].map((value) => axis.at(value))).toEqual([0, 210, 420]);
    expect(axis.ticks.map(({ label }) => label)).toEqual(["−6", "−4", "−2", "0", "2", "4", "6"]);
  });
});

test("numbers as text", () => {
  expect([0, 7, 999, 1000, 1234567].map(whole)).toEqual(["0", "7", "999", "1,000", "1,234,567"]);
  expect([null, 0, 1, 0.5, 12.3456, 999.96, 12345.6, -1234.5, 0.00012345, 1e6, 5e-324, -0.001].map(decimal)).toEqual(["–", "0", "1", "0.5", "12.35", "1000", "12,346", "-1,234", "1.23e-4", "1e6", "4.94e-324", "-0.001"]);
  expect([3, -12, 0].map(powerOfTen)).toEqual(["10³", "10⁻¹²", "10⁰"]);
  expect([0, 1, 2000].map((count) => counted(count, "draw"))).toEqual(["0 draws", "1 draw", "2,000 draws"]);
});

test("standard deviations of counts", () => {
  // Binomial: sqrt(n p (1 - p)).
  expect(deviation(250, 1000)).toBeCloseTo(Math.sqrt(187.5), 12);
  expect(deviation(1000, 1000)).toBe(0);
  expect([deviation(1000.001, 1000), deviation(0, 0)]).toEqual([0, 0]);
  expect(standardized(1000, 1000, 1000)).toBe(0);
  expect(standardized(1000, 999, 1000)).toBeNull();
  expect(standardized(0, 3, 1000)).toBeNull();
  expect(standardized(500, 531.622776601684, 1000)).toBeCloseTo(2, 12);
});
