/** Goodness of fit in the tail: bars of expected and observed counts by how far tokens lie below the most probable one. */
import { scaleBand } from "d3-scale";
import type { GofDocument } from "../documents.js";
import { logAxis, positiveExtent, type Axis } from "./axis.js";
import { ABOVE, BELOW, figure, frame, legendArea, legendLine, px, svg, type Canvas } from "./chart.js";
import { html, type Html } from "./html.js";
import { counted, decimal } from "./numbers.js";
import { BAND, deviation } from "./statistics.js";
import { leftOut, outcome, table } from "./table.js";

type Gap = GofDocument["tail"][number];

const HEIGHT = 230;
/** Bars that there is room for. */
const MOST_GAPS = 24;
/** Fewer is as good as none. */
const LEAST_COUNT = 0.1;
/** Half the width of the ends of an error bar, pixels. */
const CAP = 4;

export function tailFigure({ tail, draws }: GofDocument): Html | null {
  if (tail.length === 0) return null;
  const gaps = tail.slice(0, MOST_GAPS);
  const far = tail.filter(isFar);
  return figure({
    title: "Counts by distance from the most probable token",
    legend: [
      legendArea("expected", "expected"),
      legendLine("error", `${BAND} standard deviations to either side`),
      legendArea("observed", "observed"),
      legendArea("wrong", "observed, further off than that (✗)"),
    ],
    alternative: `${counted(tail.length, "range")} of gaps; further off than ${BAND} standard deviations: ${far.length === 0 ? "none" : far.slice(0, MOST_GAPS).map(labelOf).join(", ")}.`,
    notes: ["A gap is how far a token's logit divided by the temperature lies below the highest one. The axis of counts is logarithmic.", leftOut(gaps.length, tail.length, "Ranges")],
    draw: (canvas) => drawTail(canvas, gaps, draws),
    table: table(
      "Counts by gap",
      [{ title: "gap" }, { title: "expected", isNumber: true }, { title: "observed", isNumber: true }, { title: "standard deviations", isNumber: true }, { title: "" }],
      tail.map((gap) => [labelOf(gap), decimal(gap.expected), decimal(gap.observed), decimal(gap.z), isFar(gap) ? outcome(false, "far off") : null]),
    ),
  });
}

const isFar = ({ z }: Gap): boolean => Math.abs(z) > BAND;

function labelOf({ fromGap, toGap }: Gap): string {
  return toGap === null ? `≥ ${decimal(fromGap)}` : `${decimal(fromGap)} to ${decimal(toGap)}`;
}

function drawTail(canvas: Canvas, gaps: readonly Gap[], draws: number): Html {
  const [left, right] = [canvas.isNarrow ? 46 : 56, canvas.width - 8];
  const bottom = ABOVE + HEIGHT;
  const highest = ({ expected }: Gap) => expected + BAND * deviation(expected, draws);
  const [least, most] = positiveExtent(gaps.flatMap((gap) => [gap.expected, gap.observed, highest(gap)]).map((count) => Math.max(count, LEAST_COUNT)));
  const y = logAxis(least, most, { title: "count", range: [bottom, ABOVE] }, { label: "≈ 0" });
  const band = scaleBand(gaps.map((_, index) => index), [left, right]).paddingInner(0.25).paddingOuter(0.15);
  const width = band.bandwidth();
  // Labels of ranges need about 7 pixels a letter.
  const stride = Math.ceil((Math.max(...gaps.map((gap) => labelOf(gap).length)) * 7) / band.step());
  const groups = gaps.map((gap, index) => {
    const start = band(index)!;
    const isLabelled = index % stride === 0;
    return [
      bar("expected", start, width / 2, gap.expected, y),
      errorBar(start + width / 4, gap, draws, y),
      bar(isFar(gap) ? "wrong" : "observed", start + width / 2, width / 2, gap.observed, y),
      isFar(gap) ? html`<text class="far" x="${px(start + (3 * width) / 4)}" y="${px(y.at(gap.observed) - 5)}" text-anchor="middle">✗</text>` : null,
      isLabelled ? html`<text class="number" x="${px(start + width / 2)}" y="${px(bottom + 20)}" text-anchor="middle">${labelOf(gap)}</text>` : null,
    ];
  });
  return svg(canvas, bottom + BELOW, [frame({ x: { title: "gap", ticks: [], range: [left, right] }, y }), groups]);
}

function bar(look: string, start: number, width: number, count: number, y: Axis): Html {
  const top = count === 0 ? y.range[0] - 1 : y.at(count);
  return html`<rect class="${look}" x="${px(start)}" y="${px(top)}" width="${px(width)}" height="${px(y.range[0] - top)}"/>`;
}

function errorBar(x: number, { expected }: Gap, draws: number, y: Axis): Html {
  const reach = BAND * deviation(expected, draws);
  const [top, bottom] = [y.at(expected + reach), expected - reach > 0 ? y.at(expected - reach) : y.range[0]];
  return html`<path class="error" d="M${px(x - CAP)} ${px(top)}h${2 * CAP}M${px(x)} ${px(top)}V${px(bottom)}m${-CAP} 0h${2 * CAP}"/>`;
}
