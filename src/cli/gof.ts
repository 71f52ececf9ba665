/** `flash-sampling gof`: does a bag of tokens follow softmax(logits / T)? */
import type { Command } from "commander";
import { describe } from "../describe.js";
import { readNpyDoubles, readNpyStored } from "../head/npy.js";
import type { GofDocument, GofTest } from "../verify/documents.js";
import { biasText, showsOnlyGross } from "../verify/gof/biases.js";
import { goodnessOfFit } from "../verify/gof/gof.js";
import { checkAxes, DEFAULT_ALPHA, type JudgedBy } from "../verify/gof/input.js";
import { numberText } from "../verify/gof/names.js";
import { SequentialGoodnessOfFit, type TokenBatch } from "../verify/gof/sequential.js";
import { junitPieces } from "../verify/junit.js";
import { green, red } from "./color.js";
import { EXIT_WRONG } from "./exit.js";
import { localPath, localPaths, readAddress, readWhole } from "./options.js";
import { withoutSecrets } from "./places.js";
import { print } from "./print.js";
import { withArray } from "./read.js";
import { formatTable } from "./table.js";
import { checkOutputs, writeWhole, type LocalInputs } from "./write.js";

interface GofInputs {
  readonly tokens: readonly string[];
  readonly logits: string;
  readonly temperature: number;
  readonly alpha: number;
  readonly axes?: readonly string[];
  readonly shards: number;
  readonly sequential?: boolean;
  readonly json?: boolean;
  readonly document?: string;
  readonly junit?: string;
}

const SHARD_LIMIT = 2 ** 31;
const EXAMPLES = `
Tests the counts of tokens (a G-test over bins, tail masses, single tokens,
rows) and whether neighbours along each axis are independent. Correct tokens
raise an alarm with probability alpha. Prints what is off, and what so many
draws can find. docs/goodness-of-fit.md tells how; its section "What to draw"
has the rows of logits, and how many draws of each find which fault.

Examples:
  $ flash-sampling sample --logits l.npy --seed 1 --num-samples 10000 \\
      --out t.npy
  $ flash-sampling gof --tokens t.npy --logits l.npy
  $ flash-sampling gof --tokens t.npy --logits l.npy --temperature 0.7 \\
      --axes row,position,sample --shards 8 --json
  $ flash-sampling gof --tokens 0.npy 1.npy 2.npy --logits l.npy --sequential
  $ flash-sampling gof --tokens t.npy --logits l.npy --document gof.json \\
      --junit gof.xml`;

export function addGof(program: Command): void {
  program
    .command("gof")
    .description("test whether tokens follow softmax(logits / temperature)")
    .requiredOption("--tokens <file...>", "tokens [N], [B, N] or more axes: .npy of integers; - is stdin; with --sequential several", gathered)
    .requiredOption("--logits <file>", "logits [V], or [B, V] with one row for each place of the tokens' first axis: .npy; - is stdin", (text) => readAddress("--logits", text))
    .option("--temperature <t>", "above 0, below 256", (text) => readNumber("--temperature", text), 1)
    .option("--alpha <rate>", "how often correct tokens may raise an alarm, 1e-12 to 0.1", (text) => readNumber("--alpha", text), DEFAULT_ALPHA)
    .option("--axes <names>", "names of the tokens' axes (default: sample, or row,sample, or row,position,sample)", (text) => checkAxes(text.split(",")))
    .option("--shards <n>", "look for noise that equal parts of the vocabulary share", (text) => readWhole("--shards", text, 1, SHARD_LIMIT), 1)
    .option("--sequential", "take the files as batches of one stream, and stop at the first alarm")
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .option("--junit <file>", "also write JUnit XML, a test case a test")
    .addHelpText("after", EXAMPLES)
    .action(gof);
}

function gathered(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, readAddress("--tokens", text)];
}

function readNumber(label: string, text: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  throw new RangeError(`"${label}" expected a number, got ${describe(text)}`);
}

async function gof(inputs: GofInputs): Promise<void> {
  const { tokens: places, sequential = false } = inputs;
  if (places.length > 1 && !sequential) throw new RangeError(`"--tokens" expected one file without --sequential, got ${places.length}`);
  if ([...places, inputs.logits].filter((place) => place === "-").length > 1) throw new RangeError('"--tokens" expected one array from stdin, got more');
  const paths = await checkOutputs({ "--document": inputs.document, "--junit": inputs.junit }, localInputs(inputs));
  const judge = await readJudge(inputs);
  const found = sequential ? await judgeStream(places, judge) : goodnessOfFit({ ...judge, ...(await readTokens(places[0]!)) });
  const document: GofDocument = { ...found, inputs: toldInputs(inputs) };
  if (!document.passed) process.exitCode = EXIT_WRONG;
  const json = `${JSON.stringify(document)}\n`;
  if (paths["--document"] !== null) await writeWhole("--document", paths["--document"], json);
  if (paths["--junit"] !== null) await writeWhole("--junit", paths["--junit"], junitPieces(document));
  await print(inputs.json ? [json] : toText(document));
}

/** What is read of this machine's files; of several files of tokens each by its number. */
function localInputs({ tokens, logits }: GofInputs): LocalInputs {
  const named = tokens.map((place, index) => [tokens.length === 1 ? "tokens" : `tokens ${index + 1}`, place] as const);
  return localPaths({ logits, ...Object.fromEntries(named) });
}

/** What it takes to run this again, without the keys that an address may hold. */
function toldInputs({ tokens, logits, axes, shards, sequential = false }: GofInputs): NonNullable<GofDocument["inputs"]> {
  const told = (place: string) => (place === "-" || localPath(place) !== null ? place : withoutSecrets(place));
  return { tokens: tokens.map(told), logits: told(logits), axes: axes ?? null, shards, sequential };
}

async function judgeStream(places: readonly string[], judge: JudgedBy): Promise<GofDocument> {
  const stream = new SequentialGoodnessOfFit(judge);
  for (const place of places) {
    const document = stream.add(await readTokens(place));
    if (document !== null) return document;
  }
  return stream.finish();
}

async function readJudge({ logits: place, temperature, alpha, axes, shards }: GofInputs): Promise<JudgedBy> {
  const { data: logits, shape } = await withArray(place, readNpyDoubles);
  if (shape.length < 1 || shape.length > 2 || logits.length === 0) {
    throw new RangeError(`"--logits" expected shape [V] or [B, V] with at least one number, got [${shape.join(", ")}]`);
  }
  return { logits, vocabSize: shape.at(-1)!, temperature, alpha, shards, ...(axes !== undefined && { axes }) };
}

async function readTokens(place: string): Promise<TokenBatch> {
  const { data: tokens, shape } = await withArray(place, (source) => readNpyStored(source));
  return { tokens, shape };
}

const ONLY_GROSS = `But so few draws find only gross faults: no bias that is spread over all tokens, and none of a
single one that is small. docs/goodness-of-fit.md, "What to draw", says how many find what.
`;

function* toText(document: GofDocument): Generator<string> {
  const { passed, draws, distributions, vocabSize, temperature, alpha, tests, looks, power } = document;
  const failed = tests.filter((test) => !test.passed);
  yield passed ? `${green("passed")}: nothing speaks against softmax(logits / ${temperature})\n` : `${red("failed")}: the tokens do not follow softmax(logits / ${temperature})\n`;
  if (passed && showsOnlyGross(power)) yield ONLY_GROSS;
  yield `${draws} draws from ${distributions} distribution${distributions === 1 ? "" : "s"} over ${vocabSize} tokens, false-alarm rate ${alpha}${looks > 1 ? `, ${looks} looks` : ""}\n\n`;
  yield `${formatTable([["test", "statistic", "degrees", "p-value", "threshold", ""], ...tests.map(testRow)], ["left"])}\n`;
  if (failed.length > 0) yield `\n${failed.map(({ name, detail }) => `${name}: ${detail}`).join("\n")}\n`;
  if (power.length > 0) yield `\nSmallest biases that so many draws would show (probability ${power[0]!.probability}):\n`;
  for (const bias of power) yield `  ${bias.what}: ${biasText(bias)}\n`;
}

function testRow({ name, statistic, degreesOfFreedom, pValue, threshold, passed }: GofTest): string[] {
  const rate = threshold < 1e-300 ? "-" : numberText(threshold);
  return [name, numberText(statistic), degreesOfFreedom === null ? "-" : String(degreesOfFreedom), numberText(pValue), rate, passed ? "" : "FAILED"];
}
