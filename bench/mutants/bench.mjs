/**
 * Wrong samplers, and who notices:
 *   node bench/mutants/bench.mjs [--only NAME,NAME] [--json]
 * Each mutant is a small patch of a correct sampler. The three methods of the package and the tests of three other projects are
 * put to it, a minute each at most; the correct sampler is tried as well. --json: all that was found, with times.
 * Exit code 1 when a method misses what it must catch or the correct sampler raises an alarm, 2 for an unknown name.
 */
import { parseArgs } from "node:util";
import { bundle, modules } from "../bundle.mjs";

const { values: options } = parseArgs({ options: { only: { type: "string" }, json: { type: "boolean", default: false } } });

const library = await modules(
  await bundle(
    "mutants",
    `
  import { usePlatform } from "./src/core-module.ts";
  import { filePlatform } from "./src/platform/files.ts";
  usePlatform(filePlatform("bench"));
  export { MUTANTS } from "./bench/mutants/catalogue.ts";
  export { tryCorrect, tryMutant } from "./bench/mutants/trial.ts";
  export { tableOf, totalsOf } from "./bench/mutants/table.ts";
`,
  ),
);
const { MUTANTS, tryCorrect, tryMutant, tableOf, totalsOf } = library;

const names = ["correct", ...MUTANTS.map(({ name }) => name)];
const chosen = options.only?.split(",") ?? names;
const unknown = chosen.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`"--only" expected names from ${names.join(", ")}, got ${JSON.stringify(unknown)}`);
  process.exit(2);
}

const trials = [];
for (const name of chosen) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${trials.length + 1} of ${chosen.length}: ${name}`);
  trials.push(await (name === "correct" ? tryCorrect() : tryMutant(MUTANTS.find((mutant) => mutant.name === name))));
}
if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");

if (options.json) console.log(JSON.stringify(trials, null, 2));
else console.log(`${tableOf(trials)}\n\n${totalsOf(trials)}`);
const failed = trials.filter(({ passed }) => !passed);
for (const { name } of failed) console.error(`${name}: ${name === "correct" ? "an alarm without a fault" : "a method missed what it must catch"}`);
process.exitCode = failed.length > 0 ? 1 : 0;
