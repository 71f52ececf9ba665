/** Draws that are not the expected ones: how far the given token is behind, against what errors in the logits can explain. */
import { area } from "d3-shape";
import type { CheckedDraw } from "../documents.js";
import { logAxis, numbersAlong, positiveExtent, type Axis } from "./axis.js";
import { ABOVE, BELOW, figure, frame, legendArea, legendMark, mark, svg, type Canvas } from "./chart.js";
import { html, type Html } from "./html.js";
import { counted, decimal, exact, whole } from "./numbers.js";
import { leftOut, table } from "./table.js";

/** A draw that has a place in the picture. */
type Placed = CheckedDraw & { readonly gap: number; readonly allowed: number };

/** Marks and rows of the table: enough to see a pattern. */
const MOST_POINTS = 1000;
const MOST_ROWS = 200;
const HEIGHT = 260;

/** draws: those that are not exact, the worst first */
export function gapsFigure(draws: readonly CheckedDraw[]): Html | null {
  const placed = draws.filter((draw): draw is Placed => draw.gap !== null && draw.allowed !== null);
  if (placed.length === 0) return null;
  const points = placed.slice(0, MOST_POINTS);
  const wrong = placed.filter(({ verdict }) => verdict === "wrong").length;
  return figure({
    title: "Gap against allowed error",
    legend: [legendMark("triangle", "near-tie", "near-tie"), legendMark("times", "wrong", "wrong"), legendArea("band", "explained by errors in the logits")],
    alternative: `${counted(placed.length, "draw")} that differ from the expected ones: ${whole(wrong)} wrong, ${whole(placed.length - wrong)} near-ties.`,
    notes: [
      "The gap is how far the given token's score lies below the expected one's, in logits.",
      leftOut(points.length, placed.length, "Draws, the worst first"),
      draws.length === placed.length ? null : `Without a gap, and so in the list alone: ${counted(draws.length - placed.length, "draw")}.`,
    ],
    draw: (canvas) => drawGaps(canvas, points),
    table: table(
      `Gaps and allowed errors${points.length > MOST_ROWS ? ` of the ${MOST_ROWS} worst` : ""}`,
      [{ title: "row", isNumber: true }, { title: "sample", isNumber: true }, { title: "gap", isNumber: true }, { title: "allowed", isNumber: true }, { title: "verdict" }],
      points.slice(0, MOST_ROWS).map(({ row, sample, gap, allowed, verdict }) => [exact(row), exact(sample), decimal(gap), decimal(allowed), verdict]),
    ),
  });
}

function drawGaps(canvas: Canvas, points: readonly Placed[]): Html {
  const [left, right] = [canvas.isNarrow ? 46 : 56, canvas.width - 14];
  const bottom = ABOVE + HEIGHT;
  const axis = (values: readonly number[], title: string, range: readonly [number, number]): Axis => logAxis(...positiveExtent(values), { title, range }, values.some((value) => value <= 0) ? { label: "≤ 0" } : null);
  const x = axis(points.map(({ allowed }) => allowed), "allowed error, in logits", [left, right]);
  const y = axis(points.map(({ gap }) => gap), "gap, in logits", [bottom, ABOVE]);
  // The near-ties last: they are fewer wherever both are many.
  const marks = [...points].reverse().map(({ row, sample, gap, allowed, verdict }) => {
    const [shape, look] = verdict === "wrong" ? (["times", "wrong"] as const) : (["triangle", "near-tie"] as const);
    return mark(shape, look, x.at(allowed), y.at(gap), canvas.isNarrow ? null : `row ${row}, sample ${sample}: gap ${decimal(gap)}, allowed ${decimal(allowed)}`);
  });
  return svg(canvas, bottom + BELOW, [html`<path class="band" d="${explainedPath(x, y)}"/>`, frame({ x, y }), marks]);
}

/** Below the diagonal: gap <= allowed. */
function explainedPath(x: Axis, y: Axis): string {
  return area<number>((allowed) => x.at(allowed), y.range[0], (allowed) => (allowed < y.domain[0] ? y.range[0] : y.at(allowed))).digits(1)(numbersAlong(x))!;
}
