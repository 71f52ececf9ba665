/** A check as workflow commands of GitHub Actions: lines that become annotations. */
import { caveats, drawText, hintText, placeText } from "./check/sentences.js";
import type { CheckDocument, CheckedDraw } from "./documents.js";

/** limit: so many lines of wrong draws, and so many of near-ties. */
export function* annotations(document: CheckDocument, limit: number): Generator<string> {
  for (const text of caveats(document)) yield annotation("warning", `unproven in ${document.engine.name}`, text);
  const hint = hintText(document);
  if (hint !== null) yield annotation("warning", "about the wrong draws", hint);
  yield* verdictLines(document, "wrong", "error", limit);
  yield* verdictLines(document, "near-tie", "warning", limit);
}

function* verdictLines(document: CheckDocument, verdict: CheckedDraw["verdict"], level: Level, limit: number): Generator<string> {
  const draws = document.draws.filter((draw) => draw.verdict === verdict);
  for (const draw of draws.slice(0, limit)) yield annotation(level, `${verdict} in ${placeText(draw, document).replace(",", "")}`, drawText(draw, document));
  if (draws.length > limit) yield annotation(level, `more that are ${verdict}`, `${draws.length - limit} more draws are ${verdict}`);
}

type Level = "error" | "warning";

function annotation(level: Level, title: string, message: string): string {
  return `::${level} title=${escapeProperty(title)}::${escapeData(message)}`;
}

/** As GitHub's own toolkit escapes (actions/toolkit, packages/core/src/command.ts). */
const escapeData = (text: string): string => text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
const escapeProperty = (text: string): string => escapeData(text).replace(/:/g, "%3A").replace(/,/g, "%2C");
