/** How many draws were how close: a histogram of their margins for each verdict, each with a scale of its own, so that few are seen beside many. */
import type { CheckDocument, Verdict } from "../documents.js";
import { linearAxis, logAxis, positiveExtent, type Axis } from "./axis.js";
import { ABOVE, BELOW, figure, frame, px, svg, type Canvas } from "./chart.js";
import { html, type Html } from "./html.js";
import { counted, decimal, whole } from "./numbers.js";
import { table } from "./table.js";

const VERDICTS: readonly Verdict[] = ["exact", "near-tie", "wrong"];
const PANEL_HEIGHT = 80;
/** A factor of ten has so many bars. */
const BARS_A_DECADE = 4;
/** Margins below all others, 0 among them, have one bar. */
const LEAST_MARGIN = 1e-12;

interface Bar {
  /** 0 for the bar of all that is below LEAST_MARGIN */
  readonly from: number;
  readonly to: number;
  readonly counts: Readonly<Record<Verdict, number>>;
}

export function marginsFigure({ draws, counts }: CheckDocument): Html | null {
  const { bars, without } = countMargins(draws);
  if (bars.length === 0) return null;
  const totals = { exact: counts.exact, "near-tie": counts.nearTie, wrong: counts.wrong };
  return figure({
    title: "Margins: the expected token's lead over the runner-up",
    legend: [],
    alternative: `${VERDICTS.map((verdict) => `${whole(totals[verdict])} ${verdict}${rangeOf(bars, verdict)}`).join("; ")}.`,
    notes: [
      "Each verdict has its own vertical scale. Errors in logits can only change a draw with a small margin: wrong draws with large ones are faults of another kind.",
      without === 0 ? null : `Without a runner-up, and so not in the picture: ${counted(without, "draw")}.`,
    ],
    draw: (canvas) => drawMargins(canvas, bars, totals),
    table: table(
      "Margins, in logits",
      [{ title: "from", isNumber: true }, { title: "to", isNumber: true }, ...VERDICTS.map((title) => ({ title, isNumber: true }))],
      bars.map(({ from, to, counts }) => [decimal(from), decimal(to), ...VERDICTS.map((verdict) => whole(counts[verdict]))]),
    ),
  });
}

function rangeOf(bars: readonly Bar[], verdict: Verdict): string {
  const its = bars.filter(({ counts }) => counts[verdict] > 0);
  return its.length === 0 ? "" : `, with margins from ${decimal(its[0]!.from)} to ${decimal(its.at(-1)!.to)}`;
}

function countMargins(draws: CheckDocument["draws"]): { bars: readonly Bar[]; without: number } {
  const counts = new Map<number, Record<Verdict, number>>();
  let without = 0;
  for (const { margin, verdict } of draws) {
    if (margin === null) {
      without++;
      continue;
    }
    const index = margin < LEAST_MARGIN ? -Infinity : Math.floor(Math.log10(margin) * BARS_A_DECADE);
    const bar = counts.get(index) ?? { exact: 0, "near-tie": 0, wrong: 0 };
    bar[verdict]++;
    counts.set(index, bar);
  }
  const edge = (index: number) => 10 ** (index / BARS_A_DECADE);
  const bars = [...counts].sort(([a], [b]) => a - b).map(([index, its]): Bar => ({ from: edge(index), to: index === -Infinity ? LEAST_MARGIN : edge(index + 1), counts: its }));
  return { bars, without };
}

function drawMargins(canvas: Canvas, bars: readonly Bar[], totals: Readonly<Record<Verdict, number>>): Html {
  const [left, right] = [canvas.isNarrow ? 46 : 60, canvas.width - 10];
  const [least, greatest] = positiveExtent(bars.flatMap(({ from, to }) => [from, from === 0 ? 0 : to]));
  const underflow = bars[0]!.from === 0 ? { label: "≈ 0" } : null;
  const x = logAxis(least, greatest, { title: "margin, in logits", range: [left, right] }, underflow);
  const panels = VERDICTS.map((verdict, index) => {
    const top = ABOVE + index * (PANEL_HEIGHT + ABOVE + 8);
    const most = Math.max(1, ...bars.map(({ counts }) => counts[verdict]));
    const y = linearAxis(0, most, { title: "", range: [top + PANEL_HEIGHT, top] }, true);
    const titled = { ...y, title: `${verdict}: ${counted(totals[verdict], "draw")}` };
    return [frame({ x, y: titled }, index === VERDICTS.length - 1), bars.map((bar) => drawBar(bar, verdict, x, y, canvas.isNarrow))];
  });
  return svg(canvas, VERDICTS.length * (PANEL_HEIGHT + ABOVE + 8) - 8 + BELOW, panels);
}

function drawBar({ from, to, counts }: Bar, verdict: Verdict, x: Axis, y: Axis, isNarrow: boolean): Html | null {
  const count = counts[verdict];
  if (count === 0) return null;
  const [start, end] = from === 0 ? [x.at(0) - BAR_OF_ZERO / 2, x.at(0) + BAR_OF_ZERO / 2] : [x.at(from), x.at(to)];
  // One draw among many is still a line.
  const top = Math.min(y.at(count), y.range[0] - 1.5);
  const hint = isNarrow ? null : html`<title>margins from ${decimal(from)} to ${decimal(to)}: ${counted(count, "draw")}</title>`;
  return html`<rect class="${verdict}" x="${px(start)}" y="${px(top)}" width="${px(end - start)}" height="${px(y.range[0] - top)}">${hint}</rect>`;
}

/** Pixels. */
const BAR_OF_ZERO = 10;
