/** `flash-sampling demo`: the same draws on every backend that runs here, side by side, and what many draws look like. */
import type { Command } from "commander";
import { BACKENDS, type BackendName } from "../backends/list.js";
import type { HeadArray } from "../head/head-reader.js";
import { sampleLogits } from "../logits.js";
import { createSampler } from "../sampler.js";
import { SPEC_VERSION } from "../spec/constants.js";
import { VERSION } from "../version.js";
import { green, red } from "./color.js";
import { EXIT_WRONG } from "./exit.js";
import { countDraws, formatHistogram, type Histogram } from "./histogram.js";
import { readSeed, readWhole } from "./options.js";
import { syntheticHead, syntheticHiddenStates } from "./synthetic-head.js";
import { fastest } from "./timing.js";

interface DemoInputs {
  readonly seed?: bigint;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly rows: number;
  readonly json?: boolean;
}

/** One backend's part, under the names that `doctor` uses; null where it was left out. */
interface Run {
  readonly name: BackendName;
  /** Why it was left out. */
  readonly reason: string | null;
  /** A token a row. */
  readonly tokens: readonly number[] | null;
  readonly loadMilliseconds: number | null;
  /** One call for all rows, the fastest within REPEAT_MILLISECONDS. */
  readonly sampleMilliseconds: number | null;
}

/** V * D: the made-up head is then 2 GB, as those of the largest models are, and each backend holds a copy. */
const WEIGHT_LIMIT = 2 ** 30;
const DEFAULT_SEED = 42n;
const REPEAT_MILLISECONDS = 300;
/** Logits of the histogram's row: probabilities from a third down to one in a thousand. */
const HISTOGRAM_LOGITS = Float32Array.of(2, 3.5, 0.5, 4, 1, 3, -1, 2.5, 3.25, 0, 1.5, -1.5);
const HISTOGRAM_DRAWS = 20_000;
/** With the three columns of numbers before it: 79. */
const HISTOGRAM_WIDTH = 54;

const EXAMPLES = `
Exit code 1 when two backends give different tokens.

Examples:
  $ flash-sampling demo
  $ flash-sampling demo --seed 7 --vocab-size 128256 --hidden-size 2048 --rows 1`;

export function addDemo(program: Command): void {
  program
    .command("demo")
    .description("sample a made-up head on every backend: tokens side by side, times, a histogram")
    .option("--seed <n>", "0 to 2^64-1, decimal or 0x hex (default: 42)", readSeed)
    .option("--vocab-size <n>", "V of the head", (text) => readWhole("--vocab-size", text, 1, 2 ** 20 + 1), 32_000)
    .option("--hidden-size <n>", "D of the head", (text) => readWhole("--hidden-size", text, 1, 2 ** 15 + 1), 2048)
    .option("--rows <n>", "rows to sample, 1 to 6", (text) => readWhole("--rows", text, 1, 7), 4)
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((inputs: DemoInputs) => demo(inputs));
}

async function demo(inputs: DemoInputs): Promise<void> {
  const { seed = DEFAULT_SEED, vocabSize, hiddenSize, rows, json } = inputs;
  if (vocabSize * hiddenSize > WEIGHT_LIMIT) {
    throw new RangeError(`"--vocab-size" expected V * D of at most ${WEIGHT_LIMIT}, got ${vocabSize} * ${hiddenSize}`);
  }
  const head = syntheticHead(vocabSize, hiddenSize);
  const show = (text: string) => json || process.stdout.write(`${text}\n`);
  show(`flash-sampling ${VERSION}, rule ${SPEC_VERSION}: one seed, one token, on every backend\n`);
  show(`head   V = ${vocabSize}, D = ${hiddenSize}, bf16, ${megabytes(inputs)} MB, from a fixed integer generator`);
  show(`draws  ${rows} ${rows === 1 ? "row" : "rows"}, temperature 1, seed ${seed}\n`);
  show(formatRow(["backend", "load ms", "sample ms", ...Array.from({ length: rows }, (_, row) => `row ${row}`)]));
  const hiddenStates = syntheticHiddenStates(rows, hiddenSize);
  const runs: Run[] = [];
  for (const { name, probe, autoProbe } of BACKENDS) {
    const reason = await (autoProbe ?? probe)();
    const run = reason === null ? await runOn(name, head, hiddenStates, seed) : { name, reason, tokens: null, loadMilliseconds: null, sampleMilliseconds: null };
    runs.push(run);
    show(formatRun(run));
  }
  const ran = runs.filter(({ reason }) => reason === null);
  const equal = ran.every(({ tokens }) => String(tokens) === String(ran[0]!.tokens));
  if (!equal) process.exitCode = EXIT_WRONG;
  show(`\n${describeRuns(runs, equal)}\n`);
  const { tokens } = await sampleLogits({ logits: HISTOGRAM_LOGITS, backend: ran[0]!.name, seed, numSamples: HISTOGRAM_DRAWS });
  const histogram = countDraws(HISTOGRAM_LOGITS, tokens);
  show(describeHistogram(histogram));
  if (!json) return;
  const draw = { seed: String(seed), vocabSize, hiddenSize, rows };
  process.stdout.write(`${JSON.stringify({ specVersion: SPEC_VERSION, version: VERSION, ...draw, equal, backends: runs, histogram })}\n`);
}

async function runOn(name: BackendName, weights: HeadArray, hiddenStates: Float32Array, seed: bigint): Promise<Run> {
  const started = performance.now();
  const sampler = await createSampler({ weights, backend: name });
  try {
    const loadMilliseconds = performance.now() - started;
    let tokens: number[] = [];
    const sampleMilliseconds = await fastest(REPEAT_MILLISECONDS, async () => {
      tokens = Array.from((await sampler.sample({ hiddenStates, seed })).tokens);
    });
    return { name, reason: null, tokens, loadMilliseconds, sampleMilliseconds };
  } finally {
    sampler.dispose();
  }
}

function megabytes({ vocabSize, hiddenSize }: DemoInputs): string {
  return ((vocabSize * hiddenSize * 2) / 1e6).toFixed(1);
}

function formatRow([backend, ...cells]: readonly string[]): string {
  return [backend!.padEnd(12), ...cells.map((cell, column) => cell.padStart(column < 2 ? 10 : 8))].join("");
}

function formatRun({ name, tokens, loadMilliseconds, sampleMilliseconds }: Run): string {
  if (tokens === null) return `${name.padEnd(12)}  left out`;
  return formatRow([name, loadMilliseconds!.toFixed(0), sampleMilliseconds!.toFixed(1), ...tokens.map(String)]);
}

function describeRuns(runs: readonly Run[], equal: boolean): string {
  return [
    verdict(runs.flatMap(({ name, reason }) => (reason === null ? [name] : [])), equal),
    ...runs.flatMap(({ name, reason }) => (reason === null ? [] : [`Left out: ${name} (${reason}).`])),
    "sample ms: one call for all rows, the fastest of those that fit into 0.3 s.",
    "The reference is slow by design: it is there to be right.",
  ].join("\n");
}

function verdict(ran: readonly BackendName[], equal: boolean): string {
  if (ran.length === 1) return `Only ${ran[0]} runs here: nothing to compare.`;
  const names = `${ran.slice(0, -1).join(", ")} and ${ran.at(-1)}`;
  return equal ? green(`Equal tokens on ${names}.`) : red(`DIFFERENT tokens on ${names}: one of them is wrong.`);
}

function describeHistogram(histogram: Histogram): string {
  const draws = HISTOGRAM_DRAWS.toLocaleString("en-US");
  return [
    `${draws} draws of one row of ${HISTOGRAM_LOGITS.length} logits (bars), softmax itself (│)`,
    "",
    formatHistogram(histogram, HISTOGRAM_WIDTH),
    "",
    `chi-square ${histogram.chiSquare.toFixed(1)}; exact draws have ${HISTOGRAM_LOGITS.length - 1} on average, above 31.3 once in 1000 seeds`,
  ].join("\n");
}
