/** A check: a test case a row, failed where a draw of it is wrong. */
import { caveats, drawText, hintText, placeText, summaryText } from "../check/sentences.js";
import type { CheckDocument, CheckedDraw } from "../documents.js";
import type { JunitCase, JunitSuite } from "./suite.js";

export function checkSuite(document: CheckDocument): JunitSuite {
  const { engine, inputs, logitError, draws } = document;
  const rows = Array.from({ length: inputs.rows }, (_, row) => draws.slice(row * inputs.numSamples, (row + 1) * inputs.numSamples));
  const { headDigest, seed, temperature, position, sequence, vocabSize, hiddenSize, dtype } = inputs;
  return {
    verb: "check",
    remark: engine.status === "unproven" ? ` (UNPROVEN engine ${engine.name})` : "",
    tests: rows.length,
    failures: rows.filter((row) => row.some(({ verdict }) => verdict === "wrong")).length,
    skipped: 0,
    properties: [
      ...Object.entries({ engine: engine.title, "engine status": engine.status, "logit error": logitError.name, seed, temperature, position, sequence, vocabSize, hiddenSize, dtype, headDigest }),
      ...Object.entries(engine.options).map(([name, value]) => [`engine option ${name}`, value] as const),
    ],
    cases: rowCases(document, rows),
    output: [summaryText(document), hintText(document) ?? [], caveats(document)].flat().join("\n"),
  };
}

/** Texts of a row are made when it is written: there may be millions. */
function* rowCases(document: CheckDocument, rows: readonly (readonly CheckedDraw[])[]): Generator<JunitCase> {
  for (const [row, draws] of rows.entries()) {
    const lines = (verdict: CheckedDraw["verdict"]): string[] => draws.filter((draw) => draw.verdict === verdict).map((draw) => `${placeText(draw, document)}: ${drawText(draw, document)}`);
    const [wrong, nearTies] = [lines("wrong"), lines("near-tie")];
    yield {
      name: `row ${row}`,
      ...(wrong.length > 0 && { failure: { type: "wrong", lines: wrong } }),
      ...(nearTies.length > 0 && { output: nearTies.map((line) => `near-tie: ${line}`).join("\n") }),
    };
  }
}
