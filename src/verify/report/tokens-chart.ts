/** The tokens whose counts are furthest off, by standard deviations. */
import type { GofDocument } from "../documents.js";
import { linearAxis } from "./axis.js";
import { BELOW, figure, frame, legendArea, legendMark, mark, px, svg, type Canvas } from "./chart.js";
import { html, type Html } from "./html.js";
import { counted, decimal } from "./numbers.js";
import { BAND } from "./statistics.js";
import { leftOut, table } from "./table.js";

type Token = GofDocument["tokens"][number];

const MOST_TOKENS = 20;
const ROW_HEIGHT = 18;
const TOP = 6;

export function tokensFigure(document: GofDocument): Html | null {
  const tokens = [...document.tokens].sort((a, b) => Math.abs(b.z) - Math.abs(a.z)).slice(0, MOST_TOKENS);
  const furthest = tokens[0];
  if (furthest === undefined) return null;
  return figure({
    title: "Tokens furthest off",
    legend: [legendMark("circle", "observed", `within ${BAND}`), legendMark("times", "wrong", "outside"), legendArea("band", `${BAND} standard deviations to either side`)],
    alternative: `${counted(tokens.length, "token")}; the furthest is token ${furthest.token}, ${decimal(furthest.z)} standard deviations from its expected count.`,
    notes: ["The furthest of many tokens are far off by chance alone: the tests above take their number into account.", leftOut(tokens.length, document.tokens.length, "Tokens")],
    draw: (canvas) => drawTokens(canvas, tokens),
    table: table(
      "Tokens furthest off",
      [{ title: "token", isNumber: true }, { title: "expected", isNumber: true }, { title: "observed", isNumber: true }, { title: "standard deviations", isNumber: true }],
      tokens.map(({ token, expected, observed, z }) => [String(token), decimal(expected), decimal(observed), decimal(z)]),
    ),
  });
}

function drawTokens(canvas: Canvas, tokens: readonly Token[]): Html {
  const left = 10 + 7.5 * Math.max(...tokens.map(({ token }) => String(token).length));
  const right = canvas.width - 14;
  const bottom = TOP + tokens.length * ROW_HEIGHT;
  const reach = Math.max(BAND + 1, ...tokens.map(({ z }) => Math.abs(z)));
  const x = linearAxis(-reach, reach, { title: "standard deviations from expected", range: [left, right] });
  const places = tokens.map((_, index) => TOP + (index + 0.5) * ROW_HEIGHT);
  const ticks = tokens.map(({ token }, index) => ({ at: places[index]!, label: String(token) }));
  const rows = tokens.map(({ token, expected, observed, z }, index) => {
    const [shape, look] = Math.abs(z) > BAND ? (["times", "wrong"] as const) : (["circle", "observed"] as const);
    const hint = canvas.isNarrow ? null : `token ${token}: expected ${decimal(expected)}, observed ${decimal(observed)}`;
    return html`<path class="stem" d="M${px(x.at(0))} ${px(places[index]!)}H${px(x.at(z))}"/>${mark(shape, look, x.at(z), places[index]!, hint)}`;
  });
  const band = html`<path class="band" d="M${px(x.at(-BAND))} ${px(bottom)}V${TOP}H${px(x.at(BAND))}V${px(bottom)}Z"/>`;
  return svg(canvas, bottom + BELOW, [band, frame({ x, y: { title: "", ticks, range: [bottom, TOP] } }), html`<path class="even" d="M${px(x.at(0))} ${TOP}V${px(bottom)}"/>`, rows]);
}
