/**
 * A page that shows what the verifying verbs found: one file of HTML that needs nothing else, runs nothing, and looks the same for the same
 * documents. They may come from anywhere: each is checked before anything is drawn, and all of their text stays text.
 */
import { describe, labelText } from "../../describe.js";
import type { VerifyDocument } from "../documents.js";
import { isList, readTexts } from "../values.js";
import { checkSection } from "./check-section.js";
import { corpusSection } from "./corpus-section.js";
import { gofSection } from "./gof-section.js";
import { Html, html, textOf } from "./html.js";
import { invarianceSection } from "./invariance-section.js";
import { counted, whole } from "./numbers.js";
import { readDocument } from "./read-document.js";
import { replaySection } from "./replay-section.js";
import type { Section } from "./section.js";
import { STYLE } from "./style.js";
import { outcome } from "./table.js";

/** No script, no other file, no form: whatever a document holds. Styles are the page's own. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * The documents as a page of HTML, a section each, in their order. The same documents give the same text.
 * documents: 1 to 1000
 * names: of each, a path or an address, for messages, and without folders for the titles of several; by default documents[0] and so on, and none
 * @throws TypeError, RangeError naming the field of a document that is not one, or that contradicts itself
 */
export function report(documents: readonly VerifyDocument[], names?: readonly string[]): string {
  if (!isList(documents)) throw new TypeError(`"documents" expected a list of documents, got ${describe(documents)}`);
  if (documents.length === 0 || documents.length > MOST_DOCUMENTS) throw new RangeError(`"documents" expected 1 to ${MOST_DOCUMENTS}, got ${documents.length}`);
  const given = names === undefined ? undefined : readTexts("names", names, MOST_DOCUMENTS);
  if (given !== undefined && given.length !== documents.length) throw new RangeError(`"names" expected ${documents.length}, one of each document, got ${given.length}`);
  const sections: Section[] = [];
  let size = 0;
  for (const [index, document] of documents.entries()) {
    const name = given?.[index];
    const section = sectionOf(readDocument(document, labelText(name ?? `documents[${index}]`)));
    size += section.content.markup.length;
    if (size > PAGE_LIMIT) throw new RangeError(`"documents" expected no more text than a page of ${PAGE_LIMIT} characters has room for, got more`);
    // A page that is passed on need not tell where its documents lay.
    const isNamed = name !== undefined && documents.length > 1;
    sections.push(isNamed ? { ...section, title: html`${section.title}: ${textOf(name.replace(/.*[/\\]/s, ""))}` } : section);
  }
  return pageOf(sections);
}

const MOST_DOCUMENTS = 1000;
/** Browsers are slow with more. */
const PAGE_LIMIT = 50_000_000;

function sectionOf(document: VerifyDocument): Section {
  switch (document.kind) {
    case "check":
      return checkSection(document);
    case "gof":
      return gofSection(document);
    case "invariance":
      return invarianceSection(document);
    case "corpus-check":
      return corpusSection(document);
    case "replay":
      return replaySection(document);
  }
}

function pageOf(sections: readonly Section[]): string {
  const failed = sections.filter(({ passed }) => !passed).length;
  const sum = failed === 0 ? "passed" : sections.length === 1 ? "failed" : `${whole(failed)} of ${whole(sections.length)} failed`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sampling report: ${sum}</title>
<style>${STYLE_MARKUP}</style>
</head>
<body>
<header><h1>Sampling report: ${sum}</h1>${sections.length === 1 ? null : contents(sections)}</header>
<main>
${sections.map(({ title, content }, index) => html`<section id="section-${index + 1}" aria-labelledby="title-${index + 1}">
<h2 id="title-${index + 1}">${sections.length === 1 ? null : `${index + 1}. `}${title}</h2>
${content}</section>
`)}</main>
</body>
</html>
`;
  return page.markup;
}

/** Nothing of it comes from a document. */
const STYLE_MARKUP = new Html(STYLE);

function contents(sections: readonly Section[]): Html {
  return html`<p>${counted(sections.length, "document")}:</p>
<nav aria-label="Sections"><ul>${sections.map(({ title, passed }, index) => html`<li><a href="#section-${index + 1}">${index + 1}. ${title}</a> ${outcome(passed, passed ? "passed" : "failed")}</li>`)}</ul></nav>`;
}
