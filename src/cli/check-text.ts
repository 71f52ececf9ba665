/** A check for people: the answer first, then what is wrong, then what was close. */
import { caveats, drawText, hintText, placeText, summaryText } from "../verify/check/sentences.js";
import type { CheckDocument, CheckedDraw } from "../verify/documents.js";
import { engines } from "../verify/engines/list.js";
import { green, red } from "./color.js";
import { toLine } from "./exit.js";

/** limit: so many lines of each verdict. ranks: how many wrong draws were to get their rank. */
export function* checkLines(document: CheckDocument, limit: number, ranks: number): Generator<string> {
  yield `${(document.passed ? green : red)(summaryText(document))}\n`;
  const hint = hintText(document);
  // Options of an engine are anybody's text.
  if (hint !== null) yield `${toLine(hint)}\n`;
  for (const caveat of caveats(document)) yield `${caveat.startsWith("UNPROVEN") ? red(toLine(caveat)) : toLine(caveat)}\n`;
  yield* verdictLines(document, "wrong", limit);
  if (document.counts.wrong > ranks) yield `rank and probability: of the first ${ranks} at most (--ranks)\n`;
  yield* verdictLines(document, "near-tie", limit);
}

function* verdictLines(document: CheckDocument, verdict: CheckedDraw["verdict"], limit: number): Generator<string> {
  let count = 0;
  for (const draw of document.draws) {
    if (draw.verdict !== verdict) continue;
    count++;
    if (count <= limit) yield `${verdict.padEnd(8)}  ${placeText(draw, document)}: ${drawText(draw, document)}\n`;
  }
  if (count > limit) yield `${verdict.padEnd(8)}  ${count - limit} more (--all)\n`;
}

const WIDTH = 80;

/** What --engines prints. */
export function* engineLines(): Generator<string> {
  yield "ours: flash-sampling's own rule, docs/spec.md\n";
  for (const { name, title, source, status, unproven, limits, options } of engines) {
    yield `\n${name}: ${title}\n`;
    yield* paragraph(`${source.project}, ${source.file}, ${source.version}`);
    yield* paragraph(status === "unproven" ? red("UNPROVEN: no recording of it proves the replay") : "proven by recordings");
    for (const part of unproven) yield* paragraph(`not proven: ${part}`);
    for (const part of limits) yield* paragraph(`not reproduced: ${part}`);
    for (const [option, { description, default: value }] of Object.entries(options)) yield* paragraph(`--engine-option ${option}=${value}   ${description}`);
  }
}

function* paragraph(text: string): Generator<string> {
  let line = " ";
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > WIDTH && line !== " ") {
      yield `${line}\n`;
      line = "   ";
    }
    line += ` ${word}`;
  }
  yield `${line}\n`;
}
