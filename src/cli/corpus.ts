/** `flash-sampling corpus`: the edge corpus as files, and what a sampler made of it, judged. */
import type { Command } from "commander";
import { SPEC_VERSION } from "../spec/constants.js";
import { CORPUS } from "../verify/corpus/corpus.js";
import { casesOf, corpusFiles } from "../verify/corpus/export.js";
import { VERSION } from "../version.js";
import { checkCorpus, readCaseNames, type CheckOptions } from "./corpus-check.js";
import { writeExport } from "./corpus-folder.js";
import { toLine } from "./exit.js";
import { addSamplerOptions } from "./sampler-options.js";

interface ExportOptions {
  readonly large?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

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
when a case fails or has no file; --only and --skip choose cases by name.

Or a command follows -- and draws the cases of given logits itself, a folder a
call, as flash-sampling invariance --help describes. Heads, noise, and what
--reads does not name are skipped. A call that fails counts as refused.

Examples:
  $ flash-sampling corpus check --tokens tokens
  $ flash-sampling corpus check --tokens tokens --skip 'head-*,top-*' --json
  $ flash-sampling corpus check --tokens tokens --only 'seed-*,positions'
  $ flash-sampling corpus check --tokens tokens --exact   # by docs/spec.md
  $ flash-sampling corpus check --tokens tokens --document corpus-check.json \\
      --junit corpus.xml
  $ flash-sampling corpus check --server --reads all -- python my_server.py`;

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
  const check = corpus
    .command("check [command...]")
    .description("judge a sampler's tokens by what may come out of each case")
    .option("--tokens <folder>", "a folder with NAME.npy for each case; or a command after --");
  addSamplerOptions(check)
    .option("--exact", "by the rule's own tokens too")
    .option("--only <names>", "judge these cases alone, with commas; a name may end in *", (text) => readCaseNames("--only", text))
    .option("--skip <names>", "cases to leave out, in the same way", (text) => readCaseNames("--skip", text))
    .option("--large", "the large cases too")
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .option("--junit <file>", "also write JUnit XML, a test case a case")
    .addHelpText("after", CHECK_EXAMPLES)
    .action((command: string[], options: CheckOptions) => checkCorpus(command, options));
}

async function exportCorpus(folder: string, { large = false, force = false, json }: ExportOptions): Promise<void> {
  if (folder === "") throw new RangeError('"folder" expected the path of a folder, got ""');
  const files = [...corpusFiles(large)];
  await writeExport(folder, files, force);
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const document = { kind: "corpus-export", specVersion: SPEC_VERSION, version: VERSION, corpusVersion: CORPUS.corpusVersion, folder, cases: casesOf(large).length, files: files.length, bytes };
  process.stdout.write(json ? `${JSON.stringify(document)}\n` : `${toLine(`${document.cases} cases in ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, in ${folder}`)}\n`);
}
