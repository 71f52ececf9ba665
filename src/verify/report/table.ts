/** Tables, lists of facts and verdicts. */
import { html, type Html, type Piece } from "./html.js";
import { whole } from "./numbers.js";

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Sentences: on a narrow screen they have lines of their own, and the cells beside them tell what they are. */
  readonly isLong?: boolean;
}

/** A table with its title above it. */
export function titledTable(title: string, columns: readonly Column[], rows: readonly (readonly Piece[])[]): Html {
  return html`<h3>${title}</h3>
${table(title, columns, rows)}`;
}

/** name: what the table holds, for those who hear it. One that is wider than its place can be moved, by keys as well. */
export function table(name: string, columns: readonly Column[], rows: readonly (readonly Piece[])[]): Html {
  const look = columns.map(({ isNumber, isLong }) => (isNumber ? "number" : isLong ? "text long" : "text"));
  const isLong = columns.some((column) => column.isLong);
  const label = ({ title, isNumber }: Column) => (isLong && isNumber ? html` data-title="${title}"` : null);
  return html`<div class="scroll" role="region" aria-label="${name}" tabindex="0"><table aria-label="${name}"${isLong ? html` class="long"` : null}>
<thead><tr>${columns.map(({ title }, column) => html`<th scope="col" class="${look[column]!}">${title}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell, column) => html`<td class="${look[column]!}"${label(columns[column]!)}>${cell}</td>`)}</tr>
`)}</tbody>
</table></div>
`;
}

/** Names and values. */
export function facts(entries: readonly (readonly [name: Piece, value: Piece])[]): Html {
  return html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`;
}

/** A word with a sign before it, so that no colour has to be told from another. */
export function outcome(isGood: boolean, word: string): Html {
  return html`<span class="outcome ${isGood ? "good" : "bad"}">${isGood ? "✓" : "✗"} ${word}</span>`;
}

/** The first words of a section: whether it passed, and why. */
export function verdict(passed: boolean, why: Piece): Html {
  return html`<p class="verdict ${passed ? "good" : "bad"}"><strong>${passed ? "✓ Passed" : "✗ Failed"}.</strong> ${why}</p>
`;
}

/** A sentence on what a list holds; null when all are there. */
export function leftOut(shown: number, all: number, what: string): string | null {
  return shown < all ? `${what}: ${whole(shown)} of ${whole(all)} are shown.` : null;
}
