/** `flash-sampling check`: whether tokens were drawn as they should have been. */
import type { Command } from "commander";
import { BACKENDS } from "../backends/list.js";
import { describe } from "../describe.js";
import { annotations } from "../verify/annotations.js";
import { ENGINE_NAMES } from "../verify/check.js";
import { DEFAULT_RANKS, OURS, readsNoSequence } from "../verify/check/options.js";
import type { CheckDocument, CheckedDraw } from "../verify/documents.js";
import { junitPieces } from "../verify/junit.js";
import { ARITHMETICS, type LogitErrorInput } from "../verify/logit-error.js";
import { checkFiles, isGiven, type CheckInputs } from "./check-inputs.js";
import { checkLines, engineLines } from "./check-text.js";
import { drawsFromHead, requireBackend, scalesLocation } from "./draw.js";
import { EXIT_WRONG } from "./exit.js";
import { addInputOptions, addStreamOptions, localPaths, meant, readAddress, readChoice, readNumSamples, readSeed, readWhole } from "./options.js";
import { jsonPieces, print } from "./print.js";
import { checkOutputs, writeWhole, type LocalInputs } from "./write.js";

interface Asked extends CheckInputs {
  readonly engines?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly document?: string;
  readonly github?: boolean;
  readonly all?: boolean;
}

const BACKEND_CHOICES = ["auto", ...BACKENDS.map((entry) => entry.name)] as const;
/** Lines of one verdict, unless all are asked for. */
const LINE_LIMIT = 20;

const EXAMPLES = `
Each draw is exact (the expected token), a near-tie (behind by no more than the
errors of the logits allow) or wrong. An error is absolute + relative * sum|w*x|
of a head, or absolute + relative * |logit| of given logits. --logit-error takes
both as numbers, or names an arithmetic: none; f32, sums in any order; hopper,
tensor cores; bf16, f32 sums that are rounded to bf16.
  rank  place of the token by score (logit + noise): 1 is the winner
  gap   how far the token's score lies behind the winner's, in logits
Exit codes: 0 nothing is wrong; 1 something is; 2 misuse.

Examples:
  $ flash-sampling check --tokens t.npy --seed 42 \\
      --weights model.safetensors --hidden h.npy
  $ flash-sampling check --tokens t.npy --seed 42 --logits logits.npy \\
      --mask mask.npy --position 7 --json
  $ flash-sampling check --tokens t.npy --seed 42 --logits logits.npy \\
      --engine flashinfer --engine-option offset=0
  $ flash-sampling check --tokens t.npy --seeds seeds.npy --logits logits.npy \\
      --junit check.xml --github
  $ flash-sampling check --engines   # what else may have drawn, and its options`;

export function addCheck(program: Command): void {
  const command = program.command("check").description("check tokens against the rule, or the replay of another engine's sampler");
  command.option("--tokens <file>", "tokens: .npy of any integers, [B], [B, samples] or [B * samples]; - is stdin", (text) => readAddress("--tokens", text));
  addInputOptions(command)
    .option("--seed <n>", "0 to 2^64-1, decimal or 0x hex", readSeed)
    .option("--seeds <file>", "one a row: .npy of integers [B]; --sequence is then 0", (text) => readAddress("--seeds", text));
  addStreamOptions(command)
    .option("--temperatures <file>", "one a row: .npy of f8, f4 or f2 [B]", (text) => readAddress("--temperatures", text))
    .option("--positions <file>", "one a row: .npy of integers [B]", (text) => readAddress("--positions", text))
    .option("--sequences <file>", "one a row: .npy of integers [B]", (text) => readAddress("--sequences", text))
    .option("--num-samples <n>", "draws a row (default: by the shape of the tokens)", readNumSamples)
    .option("--vocab-size <n>", "tokens from n on are padding (default: none is)", (text) => readWhole("--vocab-size", text, 1, 2 ** 31))
    .option("--mask <file>", "allowed tokens: .npy words u4 or i4 [B, V / 32], lowest bit first, or b1 or u1 [B, V]; one row may serve all", (text) => readAddress("--mask", text))
    .option("--engine <name>", `who drew: ${ENGINE_NAMES.join(", ")}`, readEngine, OURS)
    .option("--engine-option <name=value>", "of the engine; may be repeated", (text, before: string[] | undefined) => [...(before ?? []), text])
    .option("--engines", "list the engines, what is proven of each, and their options")
    .option("--logit-error <error>", `${ARITHMETICS.join(", ")}, or absolute,relative (default: f32 of a head, none of logits)`, readLogitError)
    .option("--ranks <n>", "wrong draws that get their rank and probability", (text) => readWhole("--ranks", text, 0, 2 ** 22 + 1), DEFAULT_RANKS)
    .option("--backend <name>", `for ours: ${BACKEND_CHOICES.join(", ")}`, (text) => readChoice("--backend", text, BACKEND_CHOICES), "auto")
    .option("--all", `all wrong draws and near-ties (default: ${LINE_LIMIT} of each)`)
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .option("--junit <file>", "also write JUnit XML, a test case a row")
    .option("--github", "also print annotations of GitHub Actions")
    .addHelpText("after", EXAMPLES)
    .action((inputs: Asked) => (inputs.engines ? print(engineLines()) : checkTokens(inputs, command)));
}

/** @throws RangeError unless text names an engine */
function readEngine(text: string): string {
  if (ENGINE_NAMES.includes(text)) return text;
  throw new RangeError(`"--engine" expected ${ENGINE_NAMES.join(", ")}, got ${describe(text)}${meant(text, ENGINE_NAMES)}: check --engines describes them`);
}

/** @throws RangeError unless text names an arithmetic, or is two numbers of 0 or more */
function readLogitError(text: string): LogitErrorInput {
  const name = ARITHMETICS.find((arithmetic) => arithmetic === text);
  if (name !== undefined) return name;
  const parts = text.split(",").map((part) => (/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part) ? Number(part) : NaN));
  const [absolute, relative] = parts;
  if (parts.length === 2 && parts.every(Number.isFinite)) return { absolute: absolute!, relative: relative! };
  throw new RangeError(`"--logit-error" expected ${ARITHMETICS.join(", ")}, or ABSOLUTE,RELATIVE, got ${JSON.stringify(text.slice(0, 80))}`);
}

async function checkTokens(inputs: Asked, command: Command): Promise<void> {
  checkChoices(inputs, command);
  const paths = await checkOutputs({ "--document": inputs.document, "--junit": inputs.junit }, localInputs(inputs));
  if (inputs.engine === OURS && inputs.backend !== "auto") await requireBackend(inputs.backend);
  const found = await checkFiles(inputs, command);
  if (!found.passed) process.exitCode = EXIT_WRONG;
  if (paths["--document"] !== null) await writeWhole("--document", paths["--document"], documentPieces(found));
  if (paths["--junit"] !== null) await writeWhole("--junit", paths["--junit"], junitPieces(found));
  const limit = inputs.all ? Infinity : LINE_LIMIT;
  await print(inputs.json ? documentPieces(found) : checkLines(found, limit, inputs.ranks));
  if (inputs.github) await print(lines(annotations(found, limit)));
}

/** What cannot be told from one option alone. */
function checkChoices(inputs: Asked, command: Command): void {
  if (inputs.tokens === undefined) throw new TypeError('"--tokens" expected the tokens to check, got none');
  drawsFromHead(inputs);
  const { tokens, logits, hidden, mask, seeds, temperatures, positions, sequences } = inputs;
  if ([tokens, logits, hidden, mask, seeds, temperatures, positions, sequences].filter((place) => place === "-").length > 1) {
    throw new RangeError('"--tokens" expected one array from stdin, got more');
  }
  if (inputs.seed === undefined && inputs.seeds === undefined) throw new TypeError('"--seed" expected the seed of the draws (or --seeds with one a row), got none');
  if (inputs.seed !== undefined && inputs.seeds !== undefined) throw new TypeError('"--seeds" expected no --seed beside it, got both');
  for (const name of ["temperature", "position", "sequence"] as const) {
    if (inputs[`${name}s`] === undefined || !isGiven(command, name)) continue;
    throw new TypeError(`"--${name}s" expected no --${name} beside it, got both`);
  }
  for (const name of ["sequence", "sequences"] as const) {
    if (inputs.engine !== OURS && isGiven(command, name)) throw readsNoSequence(`--${name}`, inputs.engine);
  }
  // Annotations among the lines of a document would spoil it.
  if (inputs.github && inputs.json) throw new TypeError('"--github" expected no --json beside it, got both: --document writes the document to a file');
}

/** What is read of this machine's files, by the options that name it. */
function localInputs({ weights, scales, hidden, logits, tokens, mask, seeds, temperatures, positions, sequences }: Asked): LocalInputs {
  return localPaths({ weights, scales: typeof scalesLocation(scales) === "object" ? scales : undefined, hidden, logits, tokens, mask, seeds, temperatures, positions, sequences });
}

function documentPieces({ draws, ...head }: CheckDocument): Iterable<string> {
  return jsonPieces(head, "draws", jsonDraws(draws));
}

function* jsonDraws(draws: readonly CheckedDraw[]): Generator<[string]> {
  for (const draw of draws) yield [JSON.stringify(draw)];
}

function* lines(texts: Iterable<string>): Generator<string> {
  for (const text of texts) yield `${text}\n`;
}
