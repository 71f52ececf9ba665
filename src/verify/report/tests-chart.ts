/** p-values of tests against the thresholds below which they fail. */
import type { GofTest } from "../documents.js";
import { logAxis, positiveExtent } from "./axis.js";
import { BELOW, figure, frame, legendLine, legendMark, mark, px, svg, type Canvas } from "./chart.js";
import { html, type Html } from "./html.js";
import { counted, decimal, whole } from "./numbers.js";
import { leftOut, outcome, table } from "./table.js";

/** Rows that there is room for. */
const MOST_TESTS = 40;
const ROW_HEIGHT = 36;
/** Smaller p-values are all alike. */
const LEAST_P = 1e-20;
const LEFT = 14;

export function testsFigure(tests: readonly GofTest[]): Html | null {
  if (tests.length === 0) return null;
  const shown = strongestFirst(tests).slice(0, MOST_TESTS);
  const failed = tests.filter(({ passed }) => !passed).length;
  return figure({
    title: "p-values against their thresholds",
    legend: [legendMark("circle", "observed", "passed"), legendMark("times", "wrong", "failed"), legendLine("threshold", "threshold: fails to the left of it")],
    alternative: `${counted(tests.length, "test")}, ${whole(failed)} with a p-value below its threshold.`,
    notes: ["A p-value is the probability that exact draws look at least so unlikely. The closest to their thresholds come first.", leftOut(shown.length, tests.length, "Tests")],
    draw: (canvas) => drawTests(canvas, shown),
    table: table(
      "p-values and thresholds",
      [{ title: "test" }, { title: "p-value", isNumber: true }, { title: "threshold", isNumber: true }, { title: "" }],
      tests.map(({ name, pValue, threshold, passed }) => [name, decimal(pValue), thresholdText(threshold), outcome(passed, passed ? "passed" : "failed")]),
    ),
  });
}

/** Lower, a test has no rate of its own: it fails by what cannot be, or never. */
const LEAST_THRESHOLD = 1e-300;

export function thresholdText(threshold: number): string {
  return decimal(threshold < LEAST_THRESHOLD ? null : threshold);
}

/** By p-value over threshold; those that failed before all others. */
export function strongestFirst(tests: readonly GofTest[]): readonly GofTest[] {
  const ratio = ({ pValue, threshold }: GofTest) => (threshold === 0 ? Number.MAX_VALUE : pValue / threshold);
  return [...tests].sort((a, b) => Number(a.passed) - Number(b.passed) || ratio(a) - ratio(b));
}

/** What the axis must have room for. */
const pointsOf = ({ pValue, threshold }: GofTest): number[] => (threshold < LEAST_THRESHOLD ? [pValue] : [pValue, threshold]);

function drawTests(canvas: Canvas, tests: readonly GofTest[]): Html {
  const bottom = tests.length * ROW_HEIGHT + 8;
  const right = canvas.width - 14;
  const [least] = positiveExtent(tests.flatMap(pointsOf).map((p) => Math.max(p, LEAST_P)));
  const isUnderflow = tests.some((test) => pointsOf(test).some((p) => p < LEAST_P));
  const x = logAxis(least, 1, { title: "p-value", range: [LEFT, right] }, isUnderflow ? { label: "≈ 0" } : null);
  // Letters that there is room for.
  const letters = canvas.isNarrow ? 36 : 76;
  const rows = tests.map((test, index) => {
    const middle = index * ROW_HEIGHT + 26;
    const name = test.name.length > letters ? `${test.name.slice(0, letters - 1)}…` : test.name;
    const threshold = test.threshold < LEAST_THRESHOLD ? null : html`<path class="threshold" d="M${px(x.at(test.threshold))} ${px(middle - 6)}v12"/>`;
    const [shape, look] = test.passed ? (["circle", "observed"] as const) : (["times", "wrong"] as const);
    const hint = canvas.isNarrow ? null : `${test.name}: p ${decimal(test.pValue)}, threshold ${thresholdText(test.threshold)}`;
    return [
      html`<text class="row" x="${LEFT}" y="${px(middle - 10)}">${test.passed ? "✓" : "✗"} ${name}</text><path class="row" d="M${LEFT} ${px(middle)}H${px(right)}"/>`,
      threshold,
      mark(shape, look, x.at(test.pValue), middle, hint),
    ];
  });
  return svg(canvas, bottom + BELOW, [frame({ x, y: { title: "", ticks: [], range: [bottom, 0] } }), rows]);
}
