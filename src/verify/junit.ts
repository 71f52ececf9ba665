/** What the verifying verbs find as JUnit XML, which CI systems read. */
import type { CheckDocument, CorpusCheckDocument, GofDocument, InvarianceDocument } from "./documents.js";
import { checkSuite } from "./junit/check.js";
import { corpusSuite } from "./junit/corpus.js";
import { gofSuite } from "./junit/gof.js";
import { invarianceSuite } from "./junit/invariance.js";
import type { JunitCase, JunitSuite } from "./junit/suite.js";

/** In pieces: a test case each. */
export function* junitPieces(document: CheckDocument | GofDocument | InvarianceDocument | CorpusCheckDocument): Generator<string> {
  const { verb, remark, tests, failures, skipped, properties, cases, output } = suiteOf(document);
  const name = `flash-sampling ${verb}`;
  const counts = `tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}"`;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n<testsuite name="${escapeXml(name + remark)}" ${counts}>\n<properties>\n`;
  for (const [property, value] of [["specVersion", document.specVersion], ["version", document.version], ...properties] as const) {
    if (value !== null && value !== undefined) yield `<property name="${escapeXml(property)}" value="${escapeXml(String(value))}"/>\n`;
  }
  yield "</properties>\n";
  for (const testCase of cases) yield caseOf(name, testCase);
  yield `<system-out>${escapeXml(output)}</system-out>\n</testsuite>\n</testsuites>\n`;
}

function suiteOf(document: Parameters<typeof junitPieces>[0]): JunitSuite {
  switch (document.kind) {
    case "check":
      return checkSuite(document);
    case "gof":
      return gofSuite(document);
    case "invariance":
      return invarianceSuite(document);
    case "corpus-check":
      return corpusSuite(document);
  }
}

function caseOf(classname: string, { name, skipped, failure, output }: JunitCase): string {
  const parts = [
    skipped === undefined ? "" : `<skipped message="${escapeXml(skipped)}"/>`,
    failure === undefined ? "" : `<failure type="${failure.type}" message="${escapeXml(failure.lines[0]!)}">${escapeXml(failure.lines.join("\n"))}</failure>`,
    output === undefined ? "" : `<system-out>${escapeXml(output)}</system-out>`,
  ].join("");
  const open = `<testcase classname="${classname}" name="${escapeXml(name)}"`;
  return parts === "" ? `${open}/>\n` : `${open}>${parts}</testcase>\n`;
}

/** All that XML 1.0 does not allow, not even escaped, and halves of surrogate pairs. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\r": "&#13;", "\t": "&#9;" };

/** Text as XML, in an attribute as well. Line ends stay, which an attribute reads as spaces. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"'\r\t]/g, (character) => ENTITIES[character]!);
}
