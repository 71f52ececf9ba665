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

function whyOf({ findings, passed, unasked = [] }: InvarianceDocument, broken: readonly InvarianceFinding[]): Piece {
  const count = (status: InvarianceFinding["status"]) => findings.filter((finding) => finding.status === status).length;
  const sum = `${whole(count("kept"))} kept, ${whole(broken.length)} broken, ${whole(count("skipped"))} skipped.${unasked.length === 0 ? "" : ` Calls did not suffice to ask ${unasked.join(", ")}.`}`;
  if (broken.length > 0) return [sum, " Broken: ", broken.map(({ name }, index) => [index === 0 ? null : ", ", textOf(name)]), "."];
  return passed || unasked.length > 0 ? sum : `${sum} The document says failed without a broken finding.`;
}

function findingsTable(findings: readonly InvarianceFinding[]): Html {
  const rows = findings.map(({ name, question, status, cases, why }) => [
    status === "skipped" ? html`<span class="outcome">– skipped</span>` : outcome(status === "kept", status),
    textOf(name),
    html`${textOf(question)}${why === null ? null : html`<br><strong>${textOf(why)}</strong>`}`,
    whole(cases),
  ]);
  return titledTable("What must not change what", [{ title: "" }, { title: "name" }, { title: "question", isLong: true }, { title: "cases", isNumber: true }], rows);
}

function smallestCase({ name, why, smallest }: InvarianceFinding): Html | null {
  if (smallest === null) return null;
  const { rows, vocabSize, description, row, before, after } = smallest;
  return html`<h3>The smallest case that breaks ${textOf(name)}</h3>
${why === null ? null : html`<p>${textOf(why)}</p>`}<p>${counted(rows, "row")}, ${counted(vocabSize, "token")}; row ${exact(row)}, ${listsOf(name, before, after).map(([label]) => label).join(" and ")}. ${leftOut(MOST_TOKENS, Math.max(before.length, after.length), "Tokens")}</p>
${tokensTable(name, before, after)}<pre tabindex="0">${textOf(description)}</pre>
`;
}

/** They ask what may be drawn, not what a change leaves: their lists are of the tokens that may be, and of those that were. */
const RESTRICTIONS: ReadonlySet<string> = new Set(["token-range", "infinite-logits", "mask", "top-k", "top-p", "greedy"]);

/** A list of one kind alone is of what was drawn: there is nothing to compare it with. */
function listsOf(name: string, before: readonly number[], after: readonly number[]): readonly (readonly [label: string, tokens: readonly number[]])[] {
  if (before.length === 0 || after.length === 0) return [["drawn", [...before, ...after]]];
  const labels = RESTRICTIONS.has(name) ? (["allowed", "drawn"] as const) : (["before", "after"] as const);
  return [[labels[0], before], [labels[1], after]];
}

/** The two lists one below the other, so that what differs is seen. */
function tokensTable(name: string, before: readonly number[], after: readonly number[]): Html {
  const lists = listsOf(name, before, after);
  const length = Math.min(MOST_TOKENS, Math.max(before.length, after.length));
  // Lists of unlike lengths are of different things: the description says which.
  const differs = (index: number) => !RESTRICTIONS.has(name) && before.length === after.length && before[index] !== after[index];
  const cells = (tokens: readonly number[]) =>
    Array.from({ length }, (_, index): Piece => (index >= tokens.length ? "–" : differs(index) ? html`<mark>${exact(tokens[index]!)}</mark>` : exact(tokens[index]!)));
  const columns = [{ title: "" }, ...Array.from({ length }, (_, index) => ({ title: exact(index), isNumber: true }))];
  return table(`Tokens ${lists.map(([label]) => label).join(" and ")}: ${name}`, columns, lists.map(([label, tokens]) => [label, ...cells(tokens)]));
}
