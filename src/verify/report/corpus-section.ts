/** The edge corpus: what a sampler made of inputs that others failed on. */
import type { CorpusCheckDocument, CorpusVerdict } from "../documents.js";
import { commandLine, fileName } from "./command-line.js";
import { html, textOf, type Html, type Piece } from "./html.js";
import { counted, exact, whole } from "./numbers.js";
import { provenance, type Section } from "./section.js";
import { outcome, table, titledTable, verdict } from "./table.js";

/** Faults of one case. */
const MOST_FAULTS = 5;

export function corpusSection(document: CorpusCheckDocument): Section {
  const { corpusVersion, passed, exact: isExact, cases } = document;
  const bad = cases.filter(({ status }) => status === "failed" || status === "missing");
  const others = cases.filter(({ status }) => status === "passed" || status === "skipped");
  return {
    title: html`Edge corpus`,
    passed,
    content: html`${verdict(passed, whyOf(document))}
<p>${counted(cases.length, "case")} on which samplers have failed in public, judged by ${isExact ? "the tokens that the rule draws" : "the tokens that any correct sampler may draw"}.</p>
${bad.length === 0 ? null : titledTable("Cases that failed or have no answer", CASE_COLUMNS, bad.map(badRow))}${others.length === 0 ? null : othersTable(others)}${provenance(document, [
      ["corpus", textOf(corpusVersion)],
      ["judged by the rule", isExact ? "yes" : "no"],
      ["cases", exact(cases.length)],
    ], commandOf(document))}`,
  };
}

/** A folder by its name alone. */
function commandOf({ inputs, exact: isExact }: CorpusCheckDocument): Html | null {
  if (inputs === undefined) return null;
  const { tokens, command, server, reads, only, skip } = inputs;
  return commandLine("corpus check", [
    ["--tokens", tokens === null ? null : fileName(tokens)],
    ["--server", server ? [] : null],
    ["--reads", command === null ? null : reads.join(",") || "none"],
    ["--exact", isExact ? [] : null],
    ["--only", only],
    ["--skip", skip],
  ], command === null ? [] : ["--", ...command]);
}

function whyOf({ passed, counts }: CorpusCheckDocument): Piece {
  const sum = `${whole(counts.passed)} passed, ${whole(counts.failed)} failed, ${whole(counts.missing)} missing, ${whole(counts.skipped)} skipped.`;
  if (passed || counts.failed + counts.missing > 0) return sum;
  return `${sum} The document says failed without a case that failed.`;
}

const CASE_COLUMNS = [{ title: "" }, { title: "case" }, { title: "what came, and what goes wrong in practice", isLong: true }];

function badRow({ name, status, trouble, issue, faultCount, faults }: CorpusVerdict): Piece[] {
  const shown = faults.slice(0, MOST_FAULTS);
  const left = Math.max(faultCount, faults.length) - shown.length;
  const lines = shown.map(({ row, sample, why }) => html`<strong>row ${exact(row)}, sample ${exact(sample)}: ${textOf(why)}</strong><br>`);
  return [outcome(false, status), textOf(name), html`${lines}${left === 0 ? null : html`and ${whole(left)} more<br>`}${textOf(trouble)}<br>${textOf(issue)}`];
}

/** Closed at first: nothing is wrong with them. */
function othersTable(cases: readonly CorpusVerdict[]): Html {
  const rows = cases.map(({ name, status, trouble, issue }) => [status === "passed" ? outcome(true, status) : html`<span class="outcome">– ${status}</span>`, textOf(name), html`${textOf(trouble)}<br>${textOf(issue)}`]);
  return html`<details><summary>${counted(cases.length, "case")} that passed or were left out</summary>${table("Cases that passed or were left out", [{ title: "" }, { title: "case" }, { title: "what goes wrong in practice", isLong: true }], rows)}</details>
`;
}
