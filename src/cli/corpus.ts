/** `flash-sampling corpus`: the edge corpus as files, and what a sampler made of it, judged. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { readNpyDoubles, readNpyStored } from "../head/npy.js";
import { readNpyHeader } from "../head/npy-header.js";
import { openSource } from "../head/source.js";
import { SPEC_VERSION } from "../spec/constants.js";
import { CORPUS, type CorpusCase } from "../verify/corpus/corpus.js";
import { casesOf, corpusFiles } from "../verify/corpus/export.js";
import { answerLength, judge, type Answer } from "../verify/corpus/judge.js";
import type { CorpusCheckDocument, CorpusVerdict } from "../verify/documents.js";
import { junitPieces } from "../verify/junit.js";
import { VERSION } from "../version.js";
import { writeExport } from "./corpus-folder.js";
import { EXIT_WRONG, toLine } from "./exit.js";
import { print } from "./print.js";
import { checkOutputs, writeWhole, type LocalInputs } from "./write.js";

interface ExportOptions {
  readonly large?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

interface CheckOptions {
  readonly tokens: string;
  readonly exact?: boolean;
  readonly skip?: readonly string[];
  readonly large?: boolean;
  readonly json?: boolean;
  readonly document?: string;
  readonly junit?: string;
}

/** Faults of one case that a document lists. */
const LISTED_FAULTS = 20;

const EXPORT_EXAMPLES = `
Writes corpus.json, which says what each case is and what may come out of it,
and its inputs as .npy files. docs/corpus.md describes both.

Examples:
  $ flash-sampling corpus export corpus
  $ flash-sampling corpus export corpus --large --json`;

const CHECK_EXAMPLES = `
The folder has an integer array NAME.npy for each case, [rows] or
[rows, samples]: the tokens that the sampler drew, negative for a row that it
refused, and nothing at all, shape (0,), where it refused the call. Exit code 1
when a case fails or has no file; --skip leaves cases out by name.

Examples:
  $ flash-sampling corpus check --tokens tokens
  $ flash-sampling corpus check --tokens tokens --skip 'head-*,top-*' --json
  $ flash-sampling corpus check --tokens tokens --exact   # by docs/spec.md
  $ flash-sampling corpus check --tokens tokens --document corpus-check.json \\
      --junit corpus.xml`;

export function addCorpus(program: Command): void {
  const corpus = program.command("corpus").description("inputs that break samplers: write them as files, judge what came of them");
  corpus
    .command("export <folder>")
    .description("write the corpus: an index in JSON, inputs as .npy")
    .option("--large", "the large cases too: 2 MB more")
    .option("--force", "write beside files that are no older export")
    .option("--json", "print one JSON document")
    .addHelpText("after", EXPORT_EXAMPLES)
    .action((folder: string, options: ExportOptions) => exportCorpus(folder, options));
  corpus
    .command("check")
    .description("judge a sampler's tokens by what may come out of each case")
    .requiredOption("--tokens <folder>", "a folder with NAME.npy for each case")
    .option("--exact", "by the rule's own tokens too")
    .option("--skip <names>", "cases to leave out, with commas; a name may end in *", readSkipped)
    .option("--large", "the large cases too")
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .option("--junit <file>", "also write JUnit XML, a test case a case")
    .addHelpText("after", CHECK_EXAMPLES)
    .action((options: CheckOptions) => checkCorpus(options));
}

async function exportCorpus(folder: string, { large = false, force = false, json }: ExportOptions): Promise<void> {
  if (folder === "") throw new RangeError('"folder" expected the path of a folder, got ""');
  const files = [...corpusFiles(large)];
  await writeExport(folder, files, force);
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const document = { kind: "corpus-export", specVersion: SPEC_VERSION, version: VERSION, corpusVersion: CORPUS.corpusVersion, folder, cases: casesOf(large).length, files: files.length, bytes };
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : `${toLine(`${document.cases} cases in ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, in ${folder}`)}\n`);
}

/** @throws RangeError for a name that no case has */
function readSkipped(text: string): string[] {
  return text.split(",").flatMap((part) => {
    const name = part.trim();
    const found = CORPUS.cases.filter((item) => (name.endsWith("*") ? item.name.startsWith(name.slice(0, -1)) : item.name === name));
    if (found.length === 0) throw new RangeError(`"--skip" expected names of cases, got ${JSON.stringify(name)}`);
    return found.map((item) => item.name);
  });
}

async function checkCorpus({ tokens: folder, exact = false, skip = [], large = false, json, document: file, junit }: CheckOptions): Promise<void> {
  const paths = await checkOutputs({ "--document": file, "--junit": junit }, localInputs(folder));
  const answers = await readAnswers(folder, new Set(skip));
  // A large case is judged where it is there.
  const cases = CORPUS.cases.filter((item) => large || item.large === undefined || answers.has(item.name));
  const verdicts = cases.map((item) => verdictOf(item, answers, skip.includes(item.name), exact));
  const count = (status: CorpusVerdict["status"]) => verdicts.filter((verdict) => verdict.status === status).length;
  const counts = { passed: count("passed"), failed: count("failed"), missing: count("missing"), skipped: count("skipped") };
  const passed = counts.failed + counts.missing === 0;
  if (!passed) process.exitCode = EXIT_WRONG;
  const document: CorpusCheckDocument = { kind: "corpus-check", specVersion: SPEC_VERSION, version: VERSION, corpusVersion: CORPUS.corpusVersion, passed, exact, counts, cases: verdicts };
  const text = `${JSON.stringify(document)}\n`;
  if (paths["--document"] !== null) await writeWhole("--document", paths["--document"], text);
  if (paths["--junit"] !== null) await writeWhole("--junit", paths["--junit"], junitPieces(document));
  await print(json ? [text] : toText(verdicts, counts));
}

/** What is read of this machine's files, whether it is there or not. */
function localInputs(folder: string): LocalInputs {
  return new Map(CORPUS.cases.map(({ name }) => [`--tokens (${name})`, join(folder, `${name}.npy`)]));
}

/** The answers in a folder, by their cases. @throws RangeError for a file that is no answer, Error for a folder without any */
async function readAnswers(folder: string, skipped: ReadonlySet<string>): Promise<ReadonlyMap<string, Answer>> {
  const names = new Set(await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`"--tokens" expected a folder that can be read, got ${folder} (${cause.code})`, { cause });
  }));
  const answers = new Map<string, Answer>();
  for (const item of CORPUS.cases) {
    if (!skipped.has(item.name) && names.has(`${item.name}.npy`)) answers.set(item.name, await readAnswer(join(folder, `${item.name}.npy`), item));
  }
  if (answers.size === 0) throw new Error(`"--tokens" expected a folder with NAME.npy for each case, got none in ${folder}`);
  return answers;
}

/** Integers of any width: a token of 2^62 is an answer as well, though a wrong one. */
async function readAnswer(path: string, item: CorpusCase): Promise<Answer> {
  const source = await openSource(path);
  try {
    const { shape, descr } = await readNpyHeader(source);
    if (shape.length === 1 && shape[0] === 0) return null;
    const [rows, samples = 1, ...others] = shape;
    if (rows !== item.rows || rows * samples !== answerLength(item) || others.length > 0) {
      throw new RangeError(`"${source.name}" expected shape [${item.rows}${item.kind === "noise" ? "" : `, ${item.parameters.numSamples}`}], got [${shape.join(", ")}]`);
    }
    const isFloat = item.kind === "noise" && descr[1] === "f";
    const { data } = await (isFloat ? readNpyDoubles(source) : readNpyStored(source));
    return data;
  } finally {
    await source.close();
  }
}

function verdictOf(item: CorpusCase, answers: ReadonlyMap<string, Answer>, isSkipped: boolean, exact: boolean): CorpusVerdict {
  const { name, trouble, issue } = item;
  const answer = answers.get(name);
  const about = { name, trouble, issue, faultCount: 0, faults: [] };
  if (answer === undefined) return { ...about, status: isSkipped ? "skipped" : "missing" };
  const faults = judge(item, answer, { answerTo: (other) => answers.get(other), exact });
  return { ...about, status: faults.length === 0 ? "passed" : "failed", faultCount: faults.length, faults: faults.slice(0, LISTED_FAULTS) };
}

function* toText(verdicts: readonly CorpusVerdict[], counts: Record<CorpusVerdict["status"], number>): Generator<string> {
  for (const { name, status, trouble, issue, faultCount, faults } of verdicts) {
    const [first] = faults;
    if (status === "missing") yield `${name}: no ${name}.npy\n`;
    if (first === undefined) continue;
    yield `${name}: row ${first.row}, sample ${first.sample}: ${first.why}${faultCount > 1 ? `, and ${faultCount - 1} more` : ""}\n    ${trouble}\n    ${issue}\n`;
  }
  yield `${Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(", ")}\n`;
}
