/**
 * Whether the rates and the powers that goodnessOfFit states are true:
 *   node bench/gof/measure.mjs [rates] [power] [--processes 16] [--rate-runs 10000] [--power-runs 200] [--out results.json]
 * rates: how many of so many correct bags raise an alarm, of each kind. power: how many biased ones do. Neither named: both.
 * Runs are shared out over processes; each has a seed of its own, so that the counts do not depend on how many processes there are.
 * --modules FILE: the bundle that an earlier run has left in build/bench-gof.mjs, where no node_modules is; core.wasm and core.relaxed.wasm must lie beside it.
 * Exit code 1 when a rate or a power is not as stated, 2 for misuse. docs/goodness-of-fit.md is made of the results by report.mjs.
 */
import { fork } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle, modules, wholeNumber } from "../bundle.mjs";

const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: "string", default: "16" },
    "rate-runs": { type: "string", default: "10000" },
    "power-runs": { type: "string", default: "200" },
    out: { type: "string" },
    modules: { type: "string" },
    index: { type: "string" },
  },
});
const processes = wholeNumber(options, "processes", 1);
const runs = { rates: wholeNumber(options, "rate-runs", 1), power: wholeNumber(options, "power-runs", 1) };
const modes = named.length > 0 ? named : Object.keys(runs);
const unknown = modes.find((mode) => !Object.hasOwn(runs, mode));
if (unknown !== undefined) refuse(`"mode" expected ${Object.keys(runs).join(" or ")}, got ${JSON.stringify(unknown)}`);
/** Seeds tell a million runs apart. */
for (const mode of modes) if (runs[mode] > 1e6) refuse(`"--${mode === "rates" ? "rate" : mode}-runs" expected at most 1000000, got ${runs[mode]}`);

const MODULES = `
  import { usePlatform } from "./src/core-module.ts";
  import { filePlatform } from "./src/platform/files.ts";
  usePlatform(filePlatform("bench"));
  export { VERSION } from "./src/version.ts";
  export { countAlarms } from "./bench/gof/rates.ts";
  export { countFound } from "./bench/gof/power.ts";
  export { powerOf, ratesOf, wrongPowers, wrongRates } from "./bench/gof/limits.ts";
`;
const bundled = options.modules ?? (await built());
const library = await modules(bundled);

const MODES = {
  rates: { count: library.countAlarms, gather: library.ratesOf, wrong: library.wrongRates },
  power: { count: library.countFound, gather: library.powerOf, wrong: library.wrongPowers },
};

if (options.index === undefined) await main();
else await part(modes[0], Number(options.index));

async function main() {
  const results = { version: library.VERSION };
  const wrong = [];
  for (const mode of modes) {
    const started = performance.now();
    results[mode] = MODES[mode].gather(runs[mode], await everyPart(mode));
    const found = MODES[mode].wrong(results[mode]);
    console.log(`${mode}: ${runs[mode]} runs of each in ${processes} processes, ${((performance.now() - started) / 1000).toFixed(0)} s, ${found.length} not as stated`);
    wrong.push(...found);
    // What one mode has found is kept, whatever becomes of the next.
    if (options.out !== undefined) write(options.out, results);
  }
  for (const line of wrong) console.log(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

/** The bundle, and the cores beside it. */
async function built() {
  const { buildWasm } = await import("../../scripts/build-wasm.mjs");
  await buildWasm();
  return bundle("gof", MODULES);
}

function refuse(message) {
  console.error(message);
  process.exit(2);
}

function write(file, results) {
  writeFileSync(`${file}.part`, `${JSON.stringify(results, null, 1)}\n`);
  renameSync(`${file}.part`, file);
}

/** Runs this file once for each index and gathers what it sends. */
function everyPart(mode) {
  const passed = Object.entries({ ...options, modules: bundled }).flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, value]));
  return Promise.all(
    Array.from({ length: processes }, (_, index) => {
      const child = fork(fileURLToPath(import.meta.url), [mode, ...passed, "--index", String(index)], { serialization: "advanced" });
      return new Promise((resolve, reject) => {
        child.on("message", resolve);
        child.on("exit", (code) => reject(new Error(`"${mode}" expected an answer from process ${index}, got its end with code ${code}`)));
      });
    }),
  );
}

async function part(mode, index) {
  const answer = await MODES[mode].count(runs[mode], index, processes);
  process.send(answer, () => process.exit());
}
