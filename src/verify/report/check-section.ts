/** A check: verdicts on each draw of somebody else's sampler. */
import type { CheckDocument, CheckedDraw } from "../documents.js";
import { gapsFigure } from "./gaps-chart.js";
import { html, textOf, type Html, type Piece } from "./html.js";
import { marginsFigure } from "./margins-chart.js";
import { counted, decimal, exact, whole } from "./numbers.js";
import { provenance, type Section } from "./section.js";
import { leftOut, titledTable, verdict } from "./table.js";

/** Rows of the table. */
const MOST_DRAWS = 50;

export function checkSection(document: CheckDocument): Section {
  const { engine, inputs, draws } = document;
  const worst = worstFirst(draws.filter((draw) => draw.verdict !== "exact"));
  return {
    title: html`Check of ${textOf(engine.title)}`,
    passed: document.passed,
    content: html`${verdict(document.passed, whyOf(document))}${statusOf(engine)}
<p>${counted(draws.length, "draw")} (${counted(inputs.rows, "row")}, ${counted(inputs.numSamples, "sample")} each, of ${counted(inputs.vocabSize, "token")})
compared with the tokens that ${inputs.dtype === null ? "the given logits" : "the head"} and the noise of the same seed decide.</p>
<div class="figures">${marginsFigure(document)}${gapsFigure(worst)}</div>
${worst.length === 0 ? null : drawsTable(worst)}${reproduction(document)}`,
  };
}

function whyOf(document: CheckDocument): Piece {
  const { counts, draws, passed } = document;
  if (draws.length === 0) return "There was no draw to check.";
  const parts = [`${whole(counts.exact)} exact`, `${counted(counts.nearTie, "near-tie")} within the stated errors`, `${whole(counts.wrong)} wrong`];
  const sum = `Of ${counted(draws.length, "draw")}: ${parts.join(", ")}.`;
  if (counts.wrong === 0) return passed ? sum : `${sum} The document says failed without a wrong draw.`;
  const faults = [...new Set(draws.flatMap(({ fault }) => fault ?? []))].map((fault) => `${FAULTS[fault]} (${whole(draws.filter((draw) => draw.fault === fault).length)})`);
  return `${sum} A wrong draw is not explained by the stated error of the logits (${errorName(document)}).${document.explainedBy ? ` That of ${document.explainedBy} would explain all of them.` : ""}${faults.length === 0 ? "" : ` Some tokens cannot be drawn at all: ${faults.join(", ")}.`}`;
}

function errorName({ logitError: { name, absolute, relative, rounding = 0 } }: CheckDocument): string {
  return absolute === 0 && relative === 0 && rounding === 0 ? "none" : name;
}

const FAULTS: Readonly<Record<NonNullable<CheckedDraw["fault"]>, string>> = {
  negative: "negative",
  "out-of-range": "past the vocabulary",
  padded: "padding",
  masked: "masked",
  "no-token": "of a row that has no token",
};

/** How far the replay itself is to be trusted. */
function statusOf({ status, unproven }: CheckDocument["engine"]): Html {
  const list = unproven.length === 0 ? null : html`<ul>${unproven.map((what) => html`<li>${textOf(what)}</li>`)}</ul>`;
  switch (status) {
    case "exact":
      return html`<p class="status">Engine status: <strong>exact</strong>. The rule defines each token bit for bit.</p>${list}`;
    case "recorded":
      return html`<div class="status"><p>Engine status: <strong>recorded</strong>. Outputs of the engine itself prove this replay${list === null ? "." : ", but for:"}</p>${list}</div>`;
    case "unproven":
      return html`<div class="status warning" role="note"><p>⚠ Engine status: <strong>unproven</strong>. No outputs of the engine itself prove this replay yet:
a wrong draw may be the replay's fault, not the engine's.${list === null ? null : " Not proven:"}</p>${list}</div>`;
  }
}

/** Wrong ones, of them those that cannot be drawn at all, then by how much of the gap no error explains. */
function worstFirst(draws: CheckedDraw[]): readonly CheckedDraw[] {
  const unexplained = ({ gap, allowed }: CheckedDraw) => (gap === null || allowed === null ? Infinity : gap - allowed);
  const first = (isFirst: (draw: CheckedDraw) => boolean) => (a: CheckedDraw, b: CheckedDraw) => Number(isFirst(b)) - Number(isFirst(a));
  const byVerdict = first(({ verdict }) => verdict === "wrong");
  const byFault = first(({ fault }) => fault !== null);
  return draws.sort((a, b) => byVerdict(a, b) || byFault(a, b) || unexplained(b) - unexplained(a) || a.row - b.row || a.sample - b.sample);
}

function drawsTable(worst: readonly CheckedDraw[]): Html {
  const shown = worst.slice(0, MOST_DRAWS);
  const numbers = ["row", "sample", "given", "expected"].map((title) => ({ title, isNumber: true }));
  const rest = ["gap", "allowed", "margin", "rank", "probability"].map((title) => ({ title, isNumber: true }));
  const rows = shown.map(({ row, sample, given, expected, verdict, fault, gap, allowed, margin, rank, probability }) => [
    ...[row, sample, given, expected].map(exact),
    html`<span class="outcome ${verdict}">${verdict === "wrong" ? "✗" : "△"} ${verdict}${fault === null ? null : `, ${fault}`}</span>`,
    ...[gap, allowed, margin].map(decimal),
    rank === null ? "–" : whole(rank),
    decimal(probability),
  ]);
  return html`${titledTable("Draws that are not the expected ones", [...numbers, { title: "verdict" }, ...rest], rows)}<p class="note">Gap, allowed error and margin are in logits. Rank is the given token's place by score, 1 the winner's;
probability is the given token's in softmax(logits / T). ${leftOut(shown.length, worst.length, "The worst first")}</p>
`;
}

function reproduction(document: CheckDocument): Html {
  const { engine, inputs, logitError } = document;
  const { absolute, relative, rounding = 0 } = logitError;
  return provenance(document, [
    ["engine", html`${textOf(engine.name)}, ${engine.status}`],
    ...Object.entries(engine.options).map(([name, value]) => [html`engine option ${textOf(name)}`, textOf(value)] as const),
    ["seed", textOf(inputs.seed)],
    ["temperature", textOf(String(inputs.temperature))],
    ["position", textOf(String(inputs.position ?? "–"))],
    ["sequence", textOf(String(inputs.sequence ?? "–"))],
    ["rows × samples", `${exact(inputs.rows)} × ${exact(inputs.numSamples)}`],
    ["vocabulary", exact(inputs.vocabSize)],
    ["hidden size", inputs.hiddenSize === null ? "–" : exact(inputs.hiddenSize)],
    ["weights", inputs.dtype === null ? "none: logits were given" : textOf(inputs.dtype)],
    ["digest of the head", inputs.headDigest === null ? "–" : textOf(inputs.headDigest)],
    ["error of logits", html`${textOf(logitError.name)}: ${exact(absolute)} + ${exact(relative)} × ${inputs.dtype === null ? "|logit|" : "sum |w·x|"}${rounding === 0 ? null : ` + ${exact(rounding)} × |logit|`}`],
  ]);
}
