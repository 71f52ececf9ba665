/** A replay: whether a receipt's tokens and scores come out again. */
import type { ReplayDocument, ReplayOutcome } from "../documents.js";
import type { ReceiptDraw } from "../receipt.js";
import { html, textOf, type Html, type Piece } from "./html.js";
import { counted, exact, whole } from "./numbers.js";
import { provenance, type Section } from "./section.js";
import { facts, outcome, titledTable, verdict } from "./table.js";

export function replaySection(document: ReplayDocument): Section {
  const { passed, receipt, draws, input, backends } = document;
  const differing = backends.filter(({ draw }) => draw !== null);
  return {
    title: html`Replay of a receipt`,
    passed,
    content: html`${verdict(passed, whyOf(document))}
<p>The receipt says ${counted(draws, "draw")}, made by the backend ${textOf(receipt.backend)}. ${input === null ? "Its inputs were the same ones, by their digests." : "No backend was asked: an input is another one."}</p>
${input === null ? null : otherInput(input)}${backends.length === 0 ? null : backendsTable(backends, draws)}${differing.length === 0 ? null : drawsTable(differing)}${provenance(document, [
      ["receipt's version", textOf(receipt.version)],
      ["receipt's rule", textOf(receipt.specVersion)],
      ["receipt's backend", textOf(receipt.backend)],
      ["draws", exact(draws)],
    ])}`,
  };
}

function whyOf({ passed, input, backends }: ReplayDocument): Piece {
  if (input !== null) return html`Not the same ${input.input}: the ${input.property === "digest" ? "digest" : html`value of ${input.property}`} is another one.`;
  const named = (...statuses: ReplayOutcome["status"][]) => backends.filter(({ status }) => statuses.includes(status));
  const [confirmed, other, skipped] = [named("confirmed"), named("differs", "failed"), named("skipped")];
  const sum = [`${whole(confirmed.length)} confirmed`, `${whole(skipped.length)} could not run`, `${whole(other.length)} differ or failed`].join(", ");
  const names = other.map(({ backend }, index) => [index === 0 ? ": " : ", ", textOf(backend)]);
  return html`Of ${counted(backends.length, "backend")}: ${sum}${names}.${passed || other.length > 0 || confirmed.length === 0 ? null : " The document says failed all the same."}`;
}

function otherInput({ input, property, expected, got, place }: NonNullable<ReplayDocument["input"]>): Html {
  const value = (one: string | number | null): Piece => (one === null ? "–" : textOf(String(one)));
  // A page that is passed on need not tell in which folders inputs lay.
  const file = place.replace(/.*[/\\]/s, "");
  return html`<h3>The input that is another one</h3>
${facts([["input", input], ["file", textOf(file)], ["property", property], ["in the receipt", value(expected)], ["in the file", value(got)]])}`;
}

function backendsTable(backends: readonly ReplayOutcome[], draws: number): Html {
  const rows = backends.map(({ backend, status, why, draw }) => [
    status === "skipped" ? html`<span class="outcome">– skipped</span>` : outcome(status === "confirmed", status),
    textOf(backend),
    why !== null ? textOf(why) : draw !== null ? `${whole(draw.count)} of ${counted(draws, "draw")} differ` : `${counted(draws, "draw")} alike`,
  ]);
  return titledTable("What each backend drew", [{ title: "" }, { title: "backend" }, { title: "" }], rows);
}

function drawsTable(differing: readonly ReplayOutcome[]): Html {
  const columns = [{ title: "backend" }, { title: "row", isNumber: true }, { title: "sample", isNumber: true }, { title: "" }, { title: "token", isNumber: true }, { title: "score", isNumber: true }, { title: "status" }];
  const rows = differing.flatMap(({ backend, draw }) => {
    const { row, sample, expected, got } = draw!;
    const cells = (what: string, { token, scoreBits, status }: ReceiptDraw, other: ReceiptDraw): Piece[] => [
      ...[textOf(backend), exact(row), exact(sample), what],
      marked(exact(token), token !== other.token),
      marked(scoreBits === null ? "–" : textOf(scoreBits), scoreBits !== other.scoreBits),
      marked(status, status !== other.status),
    ];
    return [cells("in the receipt", expected, got), cells("drawn", got, expected)];
  });
  return titledTable("The first draw of each backend that differs", columns, rows);
}

const marked = (piece: Piece, differs: boolean): Piece => (differs ? html`<mark>${piece}</mark>` : piece);
