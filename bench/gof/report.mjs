/**
 * What measure.mjs found, as the tables of docs/goodness-of-fit.md:
 *   node bench/gof/report.mjs results.json [more.json] [--into docs/goodness-of-fit.md]
 * Prints them; --into puts them between the marks <!-- rates --> and <!-- /rates --> (and power likewise) of that file instead.
 * Exit code 2 for a file that has no results, or no marks for them.
 */
import { parseArgs } from "node:util";
import { placeTexts, readResults, refuse } from "../documents.mjs";

/** Biases, by how a document's `power` calls them. */
const KINDS = [
  ["a token", /^relative increase of token/],
  ["the mass of a gap group", /^relative increase of the mass/],
  ["all tokens", /^root mean square/],
];

const { values: options, positionals: files } = parseArgs({ allowPositionals: true, options: { into: { type: "string" } } });
const results = Object.assign({}, ...files.map(readResults));
const TABLES = { rates: ratesTable, power: powerTable };
const found = Object.keys(TABLES).filter((name) => results[name] !== undefined);
if (found.length === 0) refuse(`"results" expected files of measure.mjs with rates or power, got ${files.join(", ") || "none"}`);

const tables = Object.fromEntries(found.map((name) => [name, TABLES[name](results[name])]));
if (options.into === undefined) console.log(Object.values(tables).join("\n\n"));
else placeTexts(options.into, tables);

function ratesTable({ runs, alphas, cases }) {
  const head = ["correct tokens", ...alphas.map((alpha) => `alarms at ${alpha}`)];
  const all = cases.map(({ alarms }) => alarms);
  const rows = cases.map(({ name, alarms }) => [name, ...alarms.map((count) => shareText(count, runs))]);
  const sums = alphas.map((_, index) => all.reduce((sum, alarms) => sum + alarms[index], 0));
  return `${grouped(runs)} bags of each kind:\n\n${table(head, [...rows, ["together", ...sums.map((sum) => shareText(sum, runs * cases.length))]])}`;
}

/** Two digits of a percentage; none where there was no alarm. */
function shareText(count, runs) {
  return count === 0 ? "none" : `${((100 * count) / runs).toFixed(2)} %`;
}

function powerTable({ runs, parts, lines }) {
  const head = ["bias of", "alpha", "stated", ...parts.map((part) => (part === 1 ? "the stated bias" : `${part} of it`))];
  const alphas = [...new Set(lines.map(({ alpha }) => alpha))];
  const rows = KINDS.flatMap(([kind, pattern]) =>
    alphas.map((alpha) => {
      const chosen = lines.filter((line) => line.alpha === alpha && pattern.test(line.what));
      return [kind, alpha, chosen.length, ...parts.map((_, part) => spreadText(chosen.flatMap(({ alarms }) => (alarms[part] === null ? [] : [alarms[part] / runs]))))];
    }),
  );
  return `${runs} bags of each bias; the smallest share of alarms, the median and the largest over those that are stated:\n\n${table(head, rows)}`;
}

function spreadText(shares) {
  const sorted = shares.toSorted((a, b) => a - b);
  const percent = (share) => (100 * share).toFixed(0);
  return sorted.length === 0 ? "" : `${percent(sorted[0])}, ${percent(sorted[sorted.length >> 1])}, ${percent(sorted.at(-1))} %`;
}

function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}
