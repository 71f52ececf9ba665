/** HTML that is escaped where it is put together: whatever is not Html already becomes text. */

/** A piece of a page that may stand in it as it is. html`` makes them; nobody makes one of what a document holds. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** null: nothing */
export type Piece = Html | string | number | null | readonly Piece[];

/** html`<b>${text}</b>`: text is escaped for content and for quoted attributes, the only two places that a piece may stand in. */
export function html(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return new Html(strings.reduce((markup, string, index) => `${markup}${markupOf(pieces[index - 1]!)}${string}`));
}

function markupOf(piece: Piece): string {
  if (piece === null) return "";
  if (piece instanceof Html) return piece.markup;
  if (typeof piece === "object") return piece.map(markupOf).join("");
  return String(piece).replace(INVISIBLE, codeOf).replace(SPECIAL, (character) => ENTITIES[character]!);
}

const SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** Controls but tab and line feed, halves of pairs, and marks that would turn the order of the text around them. */
const INVISIBLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;

function codeOf(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** Text of a document, which may run from right to left, kept from moving what stands beside it. */
export function textOf(text: string): Html {
  return html`<bdi>${text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}… (${text.length} characters)` : text}</bdi>`;
}

/** Characters of one text that a page shows. */
const TEXT_SHOWN = 2000;
