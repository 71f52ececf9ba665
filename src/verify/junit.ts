/** A check as JUnit XML, which CI systems read: a test case a row, failed where a draw of it is wrong. */
import { caveats, drawText, placeText, summaryText } from "./check/sentences.js";
import type { CheckDocument, CheckedDraw } from "./documents.js";

const NAME = "flash-sampling check";

/** In pieces: a row each. */
export function* junitPieces(document: CheckDocument): Generator<string> {
  const { inputs, engine, draws } = document;
  const rows = Array.from({ length: inputs.rows }, (_, row) => draws.slice(row * inputs.numSamples, (row + 1) * inputs.numSamples));
  const failures = rows.filter((row) => row.some(({ verdict }) => verdict === "wrong")).length;
  const counts = `tests="${rows.length}" failures="${failures}" errors="0" skipped="0"`;
  const name = engine.status === "unproven" ? `${NAME} (UNPROVEN engine ${engine.name})` : NAME;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n<testsuite name="${escapeXml(name)}" ${counts}>\n`;
  yield* properties(document);
  for (const [row, draws] of rows.entries()) yield testCase(document, row, draws);
  yield `<system-out>${escapeXml([summaryText(document), ...caveats(document)].join("\n"))}</system-out>\n</testsuite>\n</testsuites>\n`;
}

function* properties({ specVersion, version, engine, inputs, logitError }: CheckDocument): Generator<string> {
  const options = Object.entries(engine.options).map(([name, value]) => [`engine option ${name}`, value] as const);
  const { headDigest, seed, temperature, position, sequence, vocabSize, hiddenSize, dtype } = inputs;
  const values = { specVersion, version, engine: engine.title, "engine status": engine.status, "logit error": logitError.name, seed, temperature, position, sequence, vocabSize, hiddenSize, dtype, headDigest };
  yield "<properties>\n";
  for (const [name, value] of [...Object.entries(values), ...options]) {
    if (value !== null && value !== undefined) yield `<property name="${escapeXml(name)}" value="${escapeXml(String(value))}"/>\n`;
  }
  yield "</properties>\n";
}

function testCase(document: CheckDocument, row: number, draws: readonly CheckedDraw[]): string {
  const lines = (verdict: CheckedDraw["verdict"]): string[] => draws.filter((draw) => draw.verdict === verdict).map((draw) => `${placeText(draw, document)}: ${drawText(draw, document)}`);
  const wrong = lines("wrong");
  const nearTies = lines("near-tie").map((line) => `near-tie: ${line}`);
  const open = `<testcase classname="${NAME}" name="row ${row}"`;
  if (wrong.length + nearTies.length === 0) return `${open}/>\n`;
  const failure = wrong.length === 0 ? "" : `<failure type="wrong" message="${escapeXml(wrong[0]!)}">${escapeXml(wrong.join("\n"))}</failure>`;
  const output = nearTies.length === 0 ? "" : `<system-out>${escapeXml(nearTies.join("\n"))}</system-out>`;
  return `${open}>${failure}${output}</testcase>\n`;
}

/** All that XML 1.0 does not allow, not even escaped, and halves of surrogate pairs. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\r": "&#13;", "\t": "&#9;" };

/** Text as XML, in an attribute as well. Line ends stay, which an attribute reads as spaces. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"'\r\t]/g, (character) => ENTITIES[character]!);
}
