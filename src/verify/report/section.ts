/** What the sections of a page have in common. */
import type { VerifyDocument } from "../documents.js";
import { html, textOf, type Html, type Piece } from "./html.js";
import { facts } from "./table.js";

/** One document, drawn. */
export interface Section {
  readonly title: Html;
  readonly passed: boolean;
  readonly content: Html;
}

/** All that it takes to come to the same document again. command: null where the document does not tell it */
export function provenance({ version, specVersion }: VerifyDocument, entries: readonly (readonly [name: Piece, value: Piece])[], command: Html | null = null): Html {
  return html`<h3>To reproduce</h3>
${command === null ? null : html`<pre tabindex="0">${command}</pre>`}${facts([["flash-sampling", textOf(version)], ["rule", textOf(specVersion)], ...entries])}`;
}
