/** Goodness of fit, bin by bin: observed against expected counts, and below it how many standard deviations lie between them. */
import { area } from "d3-shape";
import type { GofDocument } from "../documents.js";
import { linearAxis, logAxis, numbersAlong, positiveExtent, type Axis } from "./axis.js";
import { ABOVE, BELOW, figure, frame, legendArea, legendLine, legendMark, mark, px, svg, type Canvas } from "./chart.js";
import { html, textOf, type Html } from "./html.js";
import { counted, decimal, whole } from "./numbers.js";
import { BAND, deviation, standardized } from "./statistics.js";
import { leftOut, table } from "./table.js";

interface Bin {
  readonly label: string;
  readonly tokens: number;
  readonly expected: number;
  readonly observed: number;
  /** null: infinite */
  readonly z: number | null;
  readonly isOutside: boolean;
}

/** Bins of a document that has more: the first, which are the most expected. */
const MOST_BINS = 400;
const COUNTS_HEIGHT = 250;
const DEVIATIONS_HEIGHT = 110;

export function countsFigure(document: GofDocument): Html | null {
  const { draws } = document;
  const bins = document.bins.slice(0, MOST_BINS).map((bin): Bin => {
    const z = standardized(bin.expected, bin.observed, draws);
    return { ...bin, z, isOutside: z === null || Math.abs(z) > BAND };
  });
  if (bins.length === 0) return null;
  const outside = bins.filter(({ isOutside }) => isOutside).length;
  const byChance = bins.length * OUTSIDE_BY_CHANCE;
  return figure({
    title: "Observed against expected counts",
    legend: [
      legendMark("circle", "observed", `bin within ${BAND} standard deviations`),
      legendMark("times", "wrong", "bin outside"),
      legendLine("even", "observed = expected"),
      legendArea("band", `${BAND} standard deviations to either side`),
    ],
    alternative: `${counted(bins.length, "bin")}, each with its expected and its observed count; ${whole(outside)} outside of ${BAND} standard deviations, where about ${decimal(byChance)} are expected.`,
    notes: [
      `Each mark is a bin of one or more tokens. Of ${counted(bins.length, "bin")}, ${whole(outside)} ${outside === 1 ? "lies" : "lie"} outside the band; about ${decimal(byChance)} would by chance. The tests above decide.`,
      leftOut(bins.length, Math.max(document.binCount, document.bins.length), "Bins, the most expected first"),
    ],
    draw: (canvas) => drawCounts(canvas, bins, draws),
    table: table(
      "Bins: expected and observed counts",
      [{ title: "bin" }, { title: "tokens", isNumber: true }, { title: "expected", isNumber: true }, { title: "observed", isNumber: true }, { title: "standard deviations", isNumber: true }],
      bins.map(({ label, tokens, expected, observed, z }) => [textOf(label), whole(tokens), decimal(expected), decimal(observed), z === null ? "∞" : decimal(z)]),
    ),
  });
}

/** Of a normal distribution, outside of 3 standard deviations. */
const OUTSIDE_BY_CHANCE = 0.0027;

function drawCounts(canvas: Canvas, bins: readonly Bin[], draws: number): Html {
  const [left, right] = [canvas.isNarrow ? 46 : 56, canvas.width - 14];
  const bottom = ABOVE + COUNTS_HEIGHT;
  const lower = bottom + ABOVE + 10;
  const underflow = { label: "0" };
  const [leastExpected, mostExpected] = positiveExtent(bins.map(({ expected }) => expected));
  const [leastCount, mostCount] = positiveExtent(bins.flatMap(({ expected, observed }) => [expected, observed]));
  const hasZero = (values: readonly number[]) => (values.some((value) => value === 0) ? underflow : null);
  const x = logAxis(leastExpected, mostExpected, { title: "expected count", range: [left, right] }, hasZero(bins.map(({ expected }) => expected)));
  const y = logAxis(leastCount, mostCount, { title: "observed count", range: [bottom, ABOVE] }, hasZero(bins.map(({ observed }) => observed)));
  const reach = bins.reduce((most, { z }) => Math.max(most, Math.abs(z ?? 0)), BAND + 1);
  const z = linearAxis(-reach, reach, { title: "standard deviations from expected", range: [lower + DEVIATIONS_HEIGHT, lower] });
  return svg(canvas, lower + DEVIATIONS_HEIGHT + BELOW, [
    html`<path class="band" d="${bandPath(x, y, draws)}"/>`,
    html`<path class="band" d="M${px(left)} ${px(z.at(BAND))}H${px(right)}V${px(z.at(-BAND))}H${px(left)}Z"/>`,
    frame({ x, y }, false),
    frame({ x, y: z }),
    html`<path class="even" d="${evenPath(x, y)}"/><path class="even" d="M${px(left)} ${px(z.at(0))}H${px(right)}"/>`,
    bins.map((bin) => [x.at(bin.expected), y.at(bin.observed), z.at(bin.z ?? Math.sign(bin.observed - bin.expected) * reach), bin] as const).map(([across, up, off, bin]) => {
      const [shape, look] = bin.isOutside ? (["times", "wrong"] as const) : (["circle", "observed"] as const);
      const hint = canvas.isNarrow ? null : `${bin.label}: expected ${decimal(bin.expected)}, observed ${decimal(bin.observed)}`;
      return [mark(shape, look, across, up, hint), mark(shape, look, across, off, hint)];
    }),
  ]);
}

/** Where counts lie whose standard deviation is that of exact draws. */
function bandPath(x: Axis, y: Axis, draws: number): string {
  const [lowest] = y.domain;
  return area<number>((expected) => x.at(expected), (expected) => y.at(Math.max(lowest, expected - BAND * deviation(expected, draws))), (expected) => y.at(expected + BAND * deviation(expected, draws))).digits(1)(numbersAlong(x))!;
}

function evenPath(x: Axis, y: Axis): string {
  const inside = numbersAlong(x).filter((value) => value >= y.domain[0] && value <= y.domain[1]);
  return inside.map((value, index) => `${index === 0 ? "M" : "L"}${px(x.at(value))} ${px(y.at(value))}`).join("");
}
