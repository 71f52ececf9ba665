/** `flash-sampling corpus check`: what a sampler made of the edge corpus, judged. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readNpyDoubles, readNpyStored } from "../head/npy.js";
import { readNpyHeader } from "../head/npy-header.js";
import { openSource } from "../head/source.js";
import { SPEC_VERSION } from "../spec/constants.js";
import { CORPUS, type CorpusCase } from "../verify/corpus/corpus.js";
import { answerLength, judge, type Answer } from "../verify/corpus/judge.js";
import type { CorpusCheckDocument, CorpusVerdict } from "../verify/documents.js";
import type { OptionalInput } from "../verify/invariance/case.js";
import { junitPieces } from "../verify/junit.js";
import { VERSION } from "../version.js";
import { isCallable, runCases, type Ran } from "./corpus-run.js";
import { EXIT_WRONG, toLine } from "./exit.js";
import { print } from "./print.js";
import { checkOutputs, writeWhole, type LocalInputs } from "./write.js";

export interface CheckOptions {
  readonly tokens?: string;
  readonly server?: boolean;
  readonly reads: readonly OptionalInput[];
  readonly timeout: number;
  readonly exact?: boolean;
  readonly only?: CaseNames;
  readonly skip?: CaseNames;
  readonly large?: boolean;
  readonly json?: boolean;
  readonly document?: string;
  readonly junit?: string;
}

export interface CaseNames {
  /** as it was given */
  readonly text: string;
  readonly names: readonly string[];
}

/** Faults of one case that a document lists. */
const LISTED_FAULTS = 20;
/** Cases without a file that are told one by one; more of one family are told together. */
const MISSING_TOLD = 3;

/** The cases that a list with commas stands for. @throws RangeError for a name that no case has */
export function readCaseNames(label: string, text: string): CaseNames {
  const names = text.split(",").flatMap((part) => {
    const name = part.trim();
    const found = CORPUS.cases.filter((item) => (name.endsWith("*") ? item.name.startsWith(name.slice(0, -1)) : item.name === name));
    if (found.length === 0) throw new RangeError(`"${label}" expected names of cases, with * at the end for all that begin so, got ${JSON.stringify(name)}, and no case is called so`);
    return found.map((item) => item.name);
  });
  return { text, names };
}

export async function checkCorpus(command: readonly string[], options: CheckOptions): Promise<void> {
  const { tokens: folder, exact = false, only, skip, large = false, server = false, reads, json } = options;
  checkChoices(command, options);
  const paths = await checkOutputs({ "--document": options.document, "--junit": options.junit }, folder === undefined ? new Map() : localInputs(folder));
  const isAsked = ({ name }: CorpusCase) => (only?.names.includes(name) ?? true) && !skip?.names.includes(name);
  const asked = CORPUS.cases.filter((item) => isAsked(item) && (folder !== undefined || ((large || item.large === undefined) && isCallable(item, reads))));
  if (asked.length === 0) throw new RangeError(`"--${only === undefined ? "skip" : "only"}" expected to leave a case that can be judged, got none`);
  const ran = folder !== undefined ? await readAnswers(folder, asked) : await runCases(asked.filter((item) => isCallable(item, reads)), { command, isServer: server, timeout: options.timeout, reads });
  // A large case is judged where it is there.
  const cases = CORPUS.cases.filter((item) => large || item.large === undefined || ran.answers.has(item.name));
  const verdicts = cases.map((item) => verdictOf(item, ran, !asked.includes(item), exact));
  const count = (status: CorpusVerdict["status"]) => verdicts.filter((verdict) => verdict.status === status).length;
  const counts = { passed: count("passed"), failed: count("failed"), missing: count("missing"), skipped: count("skipped") };
  const passed = counts.failed + counts.missing === 0;
  if (!passed) process.exitCode = EXIT_WRONG;
  const inputs = { tokens: folder ?? null, command: folder === undefined ? command : null, server, reads, only: only?.text ?? null, skip: skip?.text ?? null };
  const document: CorpusCheckDocument = { kind: "corpus-check", specVersion: SPEC_VERSION, version: VERSION, corpusVersion: CORPUS.corpusVersion, passed, exact, inputs, counts, cases: verdicts };
  const text = `${JSON.stringify(document)}\n`;
  if (paths["--document"] !== null) await writeWhole("--document", paths["--document"], text);
  if (paths["--junit"] !== null) await writeWhole("--junit", paths["--junit"], junitPieces(document));
  await print(json ? [text] : toText(verdicts, counts));
}

/** What cannot be told from one option alone. */
function checkChoices(command: readonly string[], { tokens, server = false }: CheckOptions): void {
  if (tokens === undefined && (command[0] ?? "") === "") throw new RangeError('"--tokens" expected a folder, or a command after --, got neither');
  if (tokens !== undefined && (command.length > 0 || server)) throw new RangeError(`"--tokens" expected no ${server ? "--server" : "command"} beside it, got one`);
}

/** What is read of this machine's files, whether it is there or not. */
function localInputs(folder: string): LocalInputs {
  return new Map(CORPUS.cases.map(({ name }) => [`--tokens (${name})`, join(folder, `${name}.npy`)]));
}

/** The answers in a folder, by their cases. @throws RangeError for a file that is no answer, Error for a folder without any */
async function readAnswers(folder: string, asked: readonly CorpusCase[]): Promise<Ran> {
  const names = new Set(await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`"--tokens" expected a folder that can be read, got ${folder} (${cause.code})`, { cause });
  }));
  const answers = new Map<string, Answer>();
  for (const item of asked) {
    if (names.has(`${item.name}.npy`)) answers.set(item.name, await readAnswer(join(folder, `${item.name}.npy`), item));
  }
  if (answers.size === 0) throw new Error(`"--tokens" expected a folder with NAME.npy for each case, got none in ${folder}`);
  return { answers, refusals: new Map() };
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

function verdictOf(item: CorpusCase, { answers, refusals }: Ran, isSkipped: boolean, exact: boolean): CorpusVerdict {
  const { name, trouble, issue } = item;
  const answer = answers.get(name);
  const about = { name, trouble, issue, faultCount: 0, faults: [] };
  if (answer === undefined) return { ...about, status: isSkipped ? "skipped" : "missing" };
  const refusal = refusals.get(name);
  const faults = judge(item, answer, { answerTo: (other) => answers.get(other), exact });
  const told = faults.slice(0, LISTED_FAULTS).map((fault) => (refusal === undefined ? fault : { ...fault, why: `${fault.why}: ${refusal}` }));
  return { ...about, status: faults.length === 0 ? "passed" : "failed", faultCount: faults.length, faults: told };
}

function* toText(verdicts: readonly CorpusVerdict[], counts: CorpusCheckDocument["counts"]): Generator<string> {
  yield* missingLines(verdicts.filter(({ status }) => status === "missing").map(({ name }) => name));
  for (const { name, trouble, issue, faultCount, faults } of verdicts) {
    const [first] = faults;
    if (first === undefined) continue;
    yield `${name}: row ${first.row}, sample ${first.sample}: ${toLine(first.why)}${faultCount > 1 ? `, and ${faultCount - 1} more` : ""}\n    ${trouble}\n    ${issue}\n`;
  }
  yield `${Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(", ")}\n`;
}

/** Many of a family, "head-" and the like, are one line. */
function* missingLines(names: readonly string[]): Generator<string> {
  const familyOf = (name: string) => name.split("-")[0]!;
  for (const family of new Set(names.map(familyOf))) {
    const members = names.filter((name) => familyOf(name) === family);
    if (members.length > MISSING_TOLD) yield `${members.length} ${family} cases have no file: --skip '${family}-*' leaves out all that are called so\n`;
    else for (const name of members) yield `${name}: no ${name}.npy\n`;
  }
}
