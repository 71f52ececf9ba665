/** What all charts are made of: a canvas in two widths, axes with a grid, marks, and a figure around them. */
import { symbol, symbolCircle, symbolTimes, symbolTriangle, type SymbolType } from "d3-shape";
import type { Ruler } from "./axis.js";
import { html, type Html, type Piece } from "./html.js";

/** Each chart is drawn for wide and for narrow places: letters keep their size, and the style sheet shows one of the two. */
export interface Canvas {
  /** pixels, when it is not scaled */
  readonly width: number;
  readonly isNarrow: boolean;
}

const WIDE: Canvas = { width: 600, isNarrow: false };
const NARROW: Canvas = { width: 300, isNarrow: true };

export interface Figure {
  readonly title: string;
  /** what the marks mean */
  readonly legend: readonly Html[];
  /** what the picture shows, in words, for those who cannot see it */
  readonly alternative: string;
  /** sentences below the picture; null: none */
  readonly notes: readonly (Html | string | null)[];
  readonly draw: (canvas: Canvas) => Html;
  /** the numbers behind it */
  readonly table: Html;
}

export function figure({ title, legend, alternative, notes, draw, table }: Figure): Html {
  return html`<figure>
<figcaption>${title}</figcaption>
${legend.length === 0 ? null : html`<ul class="legend">${legend}</ul>`}
<div class="chart" role="img" aria-label="${title}: ${alternative}">${draw(WIDE)}${draw(NARROW)}</div>
<p class="note">${notes.map((note) => (note === null ? null : [note, " "]))}</p>
<details><summary>The numbers of this picture</summary>${table}</details>
</figure>
`;
}

export function svg({ width, isNarrow }: Canvas, height: number, content: Piece): Html {
  return html`<svg class="${isNarrow ? "narrow" : "wide"}" viewBox="0 0 ${width} ${px(height)}" aria-hidden="true">${content}</svg>`;
}

/** A place, to a tenth of a pixel. */
export function px(place: number): string {
  return String(Math.round(place * 10) / 10);
}

/** Grid lines, the numbers at their ends, and titles; x to the right, y up. hasNumbers: whether x has its numbers and title here. */
export function frame({ x, y }: { readonly x: Ruler; readonly y: Ruler }, hasNumbers = true): Html {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const across = y.ticks.map(({ at }) => `M${px(left)} ${px(at)}H${px(right)}`);
  const upright = x.ticks.map(({ at }) => `M${px(at)} ${px(bottom)}V${px(top)}`);
  const number = (label: string, x: number, y: number, anchor: string) => (label === "" ? null : html`<text class="number" x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${label}</text>`);
  return html`<path class="grid" d="${[...across, ...upright].join("")}"/>
${y.ticks.map(({ at, label }) => number(label, left - 6, at + 4, "end"))}${hasNumbers ? x.ticks.map(({ at, label }) => number(label, at, bottom + 20, "middle")) : null}
<path class="axis" d="M${px(left)} ${px(top)}V${px(bottom)}H${px(right)}"/>
${hasNumbers ? html`<text class="title" x="${px(right)}" y="${px(bottom + 38)}" text-anchor="end">${x.title}</text>` : null}
${y.title === "" ? null : html`<text class="title" x="0" y="${px(top - 14)}">${y.title}</text>`}`;
}

/** Space below a frame for x's numbers and title. */
export const BELOW = 44;
/** Space above a frame for y's title. */
export const ABOVE = 28;

export type Mark = "circle" | "times" | "triangle";

const SYMBOLS: Readonly<Record<Mark, SymbolType>> = { circle: symbolCircle, times: symbolTimes, triangle: symbolTriangle };
/** Square pixels. */
const MARK_SIZES: Readonly<Record<Mark, number>> = { circle: 26, times: 44, triangle: 40 };
const PATHS = Object.fromEntries(Object.entries(SYMBOLS).map(([name, type]) => [name, symbol(type, MARK_SIZES[name as Mark]).digits(2)()!])) as Readonly<Record<Mark, string>>;

/** look: its class in the style sheet. hint: shown where a pointer rests on it. */
export function mark(shape: Mark, look: string, x: number, y: number, hint: string | null = null): Html {
  return html`<path class="${shape} ${look}" transform="translate(${px(x)} ${px(y)})" d="${PATHS[shape]}">${hint === null ? null : html`<title>${hint}</title>`}</path>`;
}

export function legendMark(shape: Mark, look: string, label: string): Html {
  return legendEntry(mark(shape, look, 8, 8), label);
}

export function legendArea(look: string, label: string): Html {
  return legendEntry(html`<rect class="${look}" x="1" y="2" width="14" height="12"/>`, label);
}

export function legendLine(look: string, label: string): Html {
  return legendEntry(html`<path class="${look}" d="M0 8H16"/>`, label);
}

function legendEntry(sample: Html, label: string): Html {
  return html`<li><svg viewBox="0 0 16 16" aria-hidden="true">${sample}</svg>${label}</li>`;
}
