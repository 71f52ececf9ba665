/**
 * What a run of bench.mjs measured, as Markdown, beside the limits it must keep:
 *   node bench/h200/report.mjs results.json
 * README.md describes the file. Exit code 0 when every limit was measured and kept, 1 when not, 2 for a file or arguments that are none.
 */
import { readFileSync } from "node:fs";

const LARGE_HEAD_OF_GEMM = [
  { rows: [1, 32], limit: 1.03 },
  { rows: [64, 64], limit: 1.06 },
  { rows: [128, 128], limit: 1.12 },
  { rows: [256, 256], limit: 1.25 },
];
const LARGE_HEAD_OF_COPY = [{ rows: [1, 1], limit: 0.95 }];

/**
 * Limits of bf16 heads. mostOfGemm: ours / GEMM, for B in `rows`. leastOfMultinomial: multinomial / ours.
 * leastOfCopy: the rate at which ours reads the weights at B = 1 / the rate of a copy on the device, read and written bytes.
 */
const LIMITS = [
  {
    D: 4096,
    V: 151936,
    mostOfGemm: LARGE_HEAD_OF_GEMM,
    leastOfMultinomial: [
      { rows: [1, 1], limit: 1.2 },
      { rows: [256, 256], limit: 1.9 },
    ],
    leastOfCopy: LARGE_HEAD_OF_COPY,
  },
  {
    D: 8192,
    V: 128256,
    mostOfGemm: LARGE_HEAD_OF_GEMM,
    leastOfMultinomial: [
      { rows: [1, 1], limit: 1.15 },
      { rows: [256, 256], limit: 1.3 },
    ],
    leastOfCopy: LARGE_HEAD_OF_COPY,
  },
  {
    D: 1024,
    V: 151936,
    mostOfGemm: [
      { rows: [1, 16], limit: 1.1 },
      { rows: [256, 256], limit: 1.6 },
    ],
    leastOfMultinomial: [],
    leastOfCopy: [],
  },
];

/** The fused Triton kernel of the paper / GEMM, bf16, by head and B, measured on an H200. */
const TRITON_OF_GEMM = {
  "4096 x 151936": { 1: 0.99, 16: 1.0, 64: 1.08, 128: 1.6, 256: 2.14 },
  "8192 x 128256": { 1: 1.01, 16: 0.99, 64: 0.97, 128: 1.62, 256: 1.94 },
  "1024 x 151936": { 1: 1.01, 16: 1.09, 256: 3.6 },
};

/** What has limits: its name, its sign, whether a value keeps a limit, and its value in a row. NaN when something was not measured. */
const RATIOS = {
  mostOfGemm: { name: "ours / GEMM", sign: "≤", keeps: (value, limit) => value <= limit, of: (row) => row.ours / row.gemm },
  leastOfMultinomial: { name: "multinomial / ours", sign: "≥", keeps: (value, limit) => value >= limit, of: (row) => row.multinomial_compiled / row.ours },
  leastOfCopy: { name: "weights read / copy", sign: "≥", keeps: (value, limit) => value >= limit, of: (row, copyGBs) => weightsGBs(row) / copyGBs },
};

const WEIGHT_BYTES = { bf16: 2, f16: 2 };
const CONTENDERS = ["mean", "p99", "worst"];
/** Pairs of a heading and a function of a row. */
const SHAPE_COLUMNS = [
  ["D", (row) => row.D],
  ["V", (row) => row.V],
  ["B", (row) => row.B],
  ["dtype", (row) => row.dtype],
];
const DECISION_COLUMNS = [...SHAPE_COLUMNS, ...CONTENDERS.map((name) => [`contenders, ${name}`, (row) => row.contenders?.[name] ?? "–"]), ["fallbacks", (row) => row.fallbacks ?? "–"]];

process.exitCode = main(process.argv.slice(2));

function main(files) {
  let results;
  try {
    if (files.length !== 1) throw new TypeError(`"arguments" expected one file of results, got ${files.length}`);
    results = checked(JSON.parse(readFileSync(files[0], "utf8")));
  } catch (error) {
    console.error(error.message);
    return 2;
  }
  const { rows, copyGBs, info } = results;
  const broken = [...rows.flatMap((row) => limitsOf(row, copyGBs).filter(({ kept }) => !kept).map(({ text }) => `${nameOf(row)}: ${text}`)), ...notMeasured(rows)];
  const rowsWithParts = rows.filter(({ oursParts }) => oursParts);
  console.log(
    [
      ...(info === undefined ? [] : ["```json", JSON.stringify(info, null, 2), "```", ""]),
      `Copy on the device: ${fixed(copyGBs, 0)} GB/s, read and written bytes.`,
      "",
      ...table(ratioColumns(copyGBs), rows),
      "",
      ...table(DECISION_COLUMNS, rows),
      ...(rowsWithParts.length === 0 ? [] : ["", ...table(partColumns(rowsWithParts), rowsWithParts)]),
      "",
      ...(broken.length === 0 ? ["All limits are kept."] : ["Limits that are not kept:", ...broken.map((text) => `- ${text}`)]),
    ].join("\n"),
  );
  return broken.length === 0 ? 0 : 1;
}

/** The results, when they are what README.md describes. What a run could not measure may be missing or null. */
function checked(results) {
  if (!Array.isArray(results?.rows)) throw new TypeError(`"rows" expected an array, got ${JSON.stringify(results?.rows)}`);
  checkTime(results, "copyGBs");
  results.rows.forEach((row, i) => {
    for (const name of ["D", "V", "B"]) {
      if (!Number.isSafeInteger(row?.[name]) || row[name] < 1) throw new TypeError(`"rows[${i}].${name}" expected a whole number of at least 1, got ${JSON.stringify(row?.[name])}`);
    }
    if (!Object.hasOwn(WEIGHT_BYTES, row.dtype)) throw new TypeError(`"rows[${i}].dtype" expected one of ${Object.keys(WEIGHT_BYTES).join(", ")}, got ${JSON.stringify(row.dtype)}`);
    for (const name of ["ours", "gemm", "multinomial_compiled", "race_compiled"]) checkTime(row, name, `rows[${i}].`);
  });
  return results;
}

function checkTime(holder, name, path = "") {
  const value = holder[name] ?? undefined;
  if (value !== undefined && !(Number.isFinite(value) && value > 0)) throw new TypeError(`"${path}${name}" expected a number above 0, got ${JSON.stringify(value)}`);
  // Arithmetic takes null for 0, and undefined for NaN.
  holder[name] = value;
}

/** The limits that hold for a row, with the values they are held against. */
function limitsOf(row, copyGBs) {
  const head = row.dtype === "bf16" && LIMITS.find(({ D, V }) => D === row.D && V === row.V);
  if (!head) return [];
  return Object.entries(RATIOS).flatMap(([key, { name, sign, keeps, of }]) =>
    head[key]
      .filter(({ rows: [from, to] }) => from <= row.B && row.B <= to)
      .map(({ limit }) => {
        const value = of(row, copyGBs);
        const kept = keeps(value, limit);
        return { key, sign, limit, kept, text: `${name} is ${fixed(value, 3)}, expected ${sign} ${limit}` };
      }),
  );
}

/** Limits for which there is no row at all: a part of a run keeps none of them. */
function notMeasured(rows) {
  return LIMITS.flatMap(({ D, V, ...limits }) =>
    Object.entries(limits).flatMap(([key, ranges]) =>
      ranges
        .filter(({ rows: [from, to] }) => !rows.some((row) => row.dtype === "bf16" && row.D === D && row.V === V && from <= row.B && row.B <= to))
        .map(({ rows: [from, to] }) => `D = ${D}, V = ${V}, B = ${from === to ? from : `${from} to ${to}`}: ${RATIOS[key].name} was not measured`),
    ),
  );
}

function nameOf({ D, V, B, dtype }) {
  return `D = ${D}, V = ${V}, B = ${B}, ${dtype}`;
}

function weightsGBs({ D, V, dtype, ours }) {
  return (D * V * WEIGHT_BYTES[dtype]) / (ours * 1e6);
}

function tritonOfGemm({ D, V, B, dtype }) {
  return dtype === "bf16" ? TRITON_OF_GEMM[`${D} x ${V}`]?.[B] : undefined;
}

function fixed(value, digits) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

function ratioColumns(copyGBs) {
  const ratio = (key) => (row) => withLimit(fixed(RATIOS[key].of(row, copyGBs), 3), key, limitsOf(row, copyGBs));
  return [
    ...SHAPE_COLUMNS,
    ["ours, ms", (row) => fixed(row.ours, 4)],
    ["GEMM, ms", (row) => fixed(row.gemm, 4)],
    [RATIOS.mostOfGemm.name, ratio("mostOfGemm")],
    ["paper's Triton / GEMM", (row) => fixed(tritonOfGemm(row), 2)],
    [RATIOS.leastOfMultinomial.name, ratio("leastOfMultinomial")],
    ["race / ours", (row) => fixed(row.race_compiled / row.ours, 3)],
    ["weights read, GB/s", (row) => (row.B === 1 ? fixed(weightsGBs(row), 0) : "–")],
    [RATIOS.leastOfCopy.name, (row) => (row.B === 1 ? ratio("leastOfCopy")(row) : "–")],
    ["verdict", (row) => verdict(limitsOf(row, copyGBs))],
  ];
}

function withLimit(text, key, limits) {
  const held = limits.find((limit) => limit.key === key);
  return held === undefined ? text : `${text} (${held.sign} ${held.limit})`;
}

function verdict(limits) {
  if (limits.length === 0) return "no limit";
  return limits.every(({ kept }) => kept) ? "kept" : "**not kept**";
}

/** The parts of ours, in ms: a column for each name that any row has. */
function partColumns(rows) {
  const names = [...new Set(rows.flatMap(({ oursParts }) => Object.keys(oursParts)))];
  return [...SHAPE_COLUMNS, ...names.map((name) => [`${name}, ms`, ({ oursParts }) => fixed(oursParts[name], 4)])];
}

/** Lines of a Markdown table. @param columns as SHAPE_COLUMNS */
function table(columns, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(columns.map(([heading]) => heading)), line(columns.map(() => "---")), ...rows.map((row) => line(columns.map(([, cell]) => cell(row))))];
}
