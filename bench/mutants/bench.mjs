/**
 * Wrong samplers, and who notices:
 *   node bench/mutants/bench.mjs [--only NAME,NAME] [--json] [--from trials.json] [--into docs/mutants.md]
 * Each mutant is a small patch of a correct sampler. The three methods of the package and the tests of three other projects are
 * put to it; the correct sampler is tried as well. --json: all that was found, with times; --from takes that in place of trying again;
 * --into puts the table between the marks of a document.
 * Exit code 1 when a method misses what it must catch or the correct sampler raises an alarm, 2 for an unknown name.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle, modules } from "../bundle.mjs";
import { placeTexts, readResults, refuse } from "../documents.mjs";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "boolean", default: false },
    from: { type: "string" },
    into: { type: "string" },
    part: { type: "string" },
    modules: { type: "string" },
  },
});

const MODULES = `
  import { usePlatform } from "./src/core-module.ts";
  import { filePlatform } from "./src/platform/files.ts";
  usePlatform(filePlatform("bench"));
  export { MUTANTS } from "./bench/mutants/catalogue.ts";
  export { tryCorrect, tryMutant } from "./bench/mutants/trial.ts";
  export { tableOf, totalsOf } from "./bench/mutants/table.ts";
`;
const bundled = options.modules ?? (await bundle("mutants", MODULES));
const { MUTANTS, tryCorrect, tryMutant, tableOf, totalsOf } = await modules(bundled);

if (options.part === undefined) main();
else console.log(JSON.stringify(await (options.part === "correct" ? tryCorrect() : tryMutant(MUTANTS.find(({ name }) => name === options.part)))));

function main() {
  const trials = options.from === undefined ? tryAll() : readResults(options.from);
  const text = `${tableOf(trials)}\n\n${totalsOf(trials)}`;
  if (options.into !== undefined) placeTexts(options.into, { mutants: text });
  else console.log(options.json ? JSON.stringify(trials, null, 2) : text);
  const failed = trials.filter(({ passed }) => !passed);
  for (const { name } of failed) console.error(`${name}: ${name === "correct" ? "an alarm without a fault" : "a method missed what it must catch"}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

function tryAll() {
  const names = ["correct", ...MUTANTS.map(({ name }) => name)];
  const chosen = options.only?.split(",") ?? names;
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) refuse(`"--only" expected names from ${names.join(", ")}, got ${JSON.stringify(unknown)}`);
  const trials = chosen.map((name, index) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${index + 1} of ${chosen.length}: ${name}`);
    return tryInProcess(name);
  });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  return trials;
}

/** In a process of its own: an engine that has compiled the loop for many mutants runs each of them slowly. */
function tryInProcess(name) {
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "--part", name, "--modules", bundled], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`"${name}" expected a process that ends well, got exit code ${status}`);
  return JSON.parse(stdout);
}
