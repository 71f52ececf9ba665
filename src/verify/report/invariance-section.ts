/** Invariance: what must not change a sampler's tokens, or must. */
import type { InvarianceDocument, InvarianceFinding } from "../documents.js";
import { html, textOf, type Html, type Piece } from "./html.js";
import { counted, exact, whole } from "./numbers.js";
import { provenance, type Section } from "./section.js";
import { leftOut, outcome, table, titledTable, verdict } from "./table.js";

/** Tokens of one list. */
const MOST_TOKENS = 64;

export function invarianceSection(document: InvarianceDocument): Section {
  const { findings, calls, passed } = document;
  const broken = findings.filter(({ status }) => status === "broken");
  return {
    title: html`Invariance of ${textOf(document.sampler)}`,
    passed,
    content: html`${verdict(passed, whyOf(document, broken))}
<p>${counted(findings.length, "promise")} put to the sampler in ${counted(calls, "call")}.</p>
${findings.length === 0 ? null : findingsTable(findings)}${broken.map(smallestCase)}${reproduction(document)}`,
  };
}

function reproduction(document: InvarianceDocument): Html {
  const { sampler, calls, seed, reads } = document;
  return provenance(document, [
    ["sampler", textOf(sampler)],
    ["seed", seed === undefined ? "–" : exact(seed)],
    ["reads", reads === undefined ? "–" : textOf(reads.join(", ") || "none")],
    ["calls", exact(calls)],
  ]);
}

function whyOf({ findings, passed }: InvarianceDocument, broken: readonly InvarianceFinding[]): Piece {
  const count = (status: InvarianceFinding["status"]) => findings.filter((finding) => finding.status === status).length;
  const sum = `${whole(count("kept"))} kept, ${whole(broken.length)} broken, ${whole(count("skipped"))} skipped.`;
  if (broken.length > 0) return [sum, " Broken: ", broken.map(({ name }, index) => [index === 0 ? null : ", ", textOf(name)]), "."];
  return passed ? sum : `${sum} The document says failed without a broken finding.`;
}

function findingsTable(findings: readonly InvarianceFinding[]): Html {
  const rows = findings.map(({ name, question, status, cases, why }) => [
    status === "skipped" ? html`<span class="outcome">– skipped</span>` : outcome(status === "kept", status),
    textOf(name),
    html`${textOf(question)}${why === null ? null : html`<br><strong>${textOf(why)}</strong>`}`,
    whole(cases),
  ]);
  return titledTable("What must not change what", [{ title: "" }, { title: "name" }, { title: "question" }, { title: "cases", isNumber: true }], rows);
}

function smallestCase({ name, why, smallest }: InvarianceFinding): Html | null {
  if (smallest === null) return null;
  const { rows, vocabSize, description, row, before, after } = smallest;
  return html`<h3>The smallest case that breaks ${textOf(name)}</h3>
${why === null ? null : html`<p>${textOf(why)}</p>`}<p>${counted(rows, "row")}, ${counted(vocabSize, "token")}; row ${exact(row)}, before and after. ${leftOut(MOST_TOKENS, Math.max(before.length, after.length), "Tokens")}</p>
${tokensTable(name, before, after)}<pre tabindex="0">${textOf(description)}</pre>
`;
}

/** The two lists one below the other, so that what differs is seen. */
function tokensTable(name: string, before: readonly number[], after: readonly number[]): Html {
  const length = Math.min(MOST_TOKENS, Math.max(before.length, after.length));
  // Lists of unlike lengths are of different things: the description says which.
  const differs = (index: number) => before.length === after.length && before[index] !== after[index];
  const cells = (tokens: readonly number[]) =>
    Array.from({ length }, (_, index): Piece => (index >= tokens.length ? "–" : differs(index) ? html`<mark>${exact(tokens[index]!)}</mark>` : exact(tokens[index]!)));
  const columns = [{ title: "" }, ...Array.from({ length }, (_, index) => ({ title: exact(index), isNumber: true }))];
  return table(`Tokens before and after: ${name}`, columns, [["before", ...cells(before)], ["after", ...cells(after)]]);
}
