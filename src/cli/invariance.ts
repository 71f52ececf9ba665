/** `flash-sampling invariance`: which changes that must not matter change the tokens of somebody's sampler. */
import type { Command } from "commander";
import { moduleSampler } from "../platform/command/module-sampler.js";
import type { ProcessSampler } from "../platform/command/process-sampler.js";
import { commandSampler } from "../platform/command/sampler.js";
import type { InvarianceDocument, InvarianceFinding } from "../verify/documents.js";
import type { OptionalInput } from "../verify/invariance/case.js";
import { DEFAULT_MAX_CALLS, DEFAULT_SEED, findInvariances, type InvarianceOptions, type InvarianceProgress } from "../verify/invariance/find.js";
import { INVARIANCES } from "../verify/invariance/list.js";
import { countsText, smallestLines } from "../verify/invariance/sentences.js";
import { junitPieces } from "../verify/junit.js";
import { green, red } from "./color.js";
import { cleanedUp, EXIT_MISUSE, EXIT_WRONG, toLine } from "./exit.js";
import { moduleHost } from "./module-host.js";
import { localPaths, readWhole } from "./options.js";
import { print } from "./print.js";
import { progressLine, type ProgressLine } from "./progress.js";
import { addSamplerOptions, readNames } from "./sampler-options.js";
import { formatTable } from "./table.js";
import { checkOutputs, writeWhole } from "./write.js";

interface InvarianceInputs {
  readonly module?: string;
  readonly server?: boolean;
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly also?: readonly string[];
  readonly reads: readonly OptionalInput[];
  readonly timeout: number;
  readonly maxCalls: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly document?: string;
  readonly junit?: string;
}

const NAMES = INVARIANCES.map(({ name }) => name);
const U32_LIMIT = 2 ** 32;

const HELP = `
The command is run once a call. Its last argument, or {dir} in any, is a folder:
  logits.npy       f4 [B, V]
  temperature.npy  f8 [B]
  seed.npy         u8 [B]
  sequence.npy     u4 [B]  the stream of each row's request
  position.npy     u4 [B]  the decode step of each row
  call.json        {"rows", "vocab_size", "num_samples", "shards"}
and, with --reads:
  mask.npy         u4 [B, ceil(V / 32)]  bit t % 32 of word t / 32: t is allowed
  top_k.npy        u4 [B]
  top_p.npy        f8 [B]
It writes tokens.npy there: integers [B] or [B, num_samples], -1 for a row
without a token. With --server it stays: for each call it reads a line
{"dir": "..."} and answers with a line {}, or {"error": "..."}. A module runs in
a process of its own; what it prints comes out on stderr. More is in
docs/invariance.md.

A default run makes about 160 calls of a right sampler. Without --server each of
them starts the command, and so its interpreter, again.

Invariances (r: only if the sampler reads it; *: only by --only or --also):
${formatTable(INVARIANCES.map(({ name, needs, onRequest, question }) => [`  ${name}`, `${needs.length > 0 ? "r" : ""}${onRequest === undefined ? "" : "*"}`, question]), ["left", "left", "left"])}

A right sampler is found wrong with a probability below 1e-9. Exit code 1 when
an invariance is broken, 2 when the sampler does not answer as it should, or
when --max-calls did not suffice to ask for all.

Examples:
  $ flash-sampling invariance -- python my_sampler.py
  $ flash-sampling invariance --server --reads all -- python my_server.py
  $ flash-sampling invariance --skip seed-high-bits -- ./sampler {dir}
  $ flash-sampling invariance --module ./sampler.mjs --document found.json
  $ flash-sampling invariance --server --junit found.xml -- ./my_server`;

export function addInvariance(program: Command): void {
  const command = program
    .command("invariance [command...]")
    .description("find which changes that must not matter change a sampler's tokens")
    .option("--module <file>", "instead of a command: a module whose default export is (call) => tokens");
  addSamplerOptions(command)
    .option("--only <names>", "ask for these invariances alone", (text) => readNames("--only", text, NAMES))
    .option("--skip <names>", "leave these out", (text) => readNames("--skip", text, NAMES))
    .option("--also <names>", "ask for these as well", (text) => readNames("--also", text, NAMES))
    .option("--max-calls <n>", "calls of the sampler", (text) => readWhole("--max-calls", text, 2, U32_LIMIT), DEFAULT_MAX_CALLS)
    .option("--seed <n>", "of the made-up cases, below 2^32", (text) => readWhole("--seed", text, 0, U32_LIMIT), DEFAULT_SEED)
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .option("--junit <file>", "also write JUnit XML, a test case an invariance")
    .addHelpText("after", HELP)
    .action((command: string[], inputs: InvarianceInputs) => invariance(command, inputs));
}

async function invariance(command: readonly string[], inputs: InvarianceInputs): Promise<void> {
  const { module } = inputs;
  checkChoices(command, inputs);
  const paths = await checkOutputs({ "--document": inputs.document, "--junit": inputs.junit }, localPaths({ module }));
  const { timeout, server = false } = inputs;
  const sampler = module === undefined ? commandSampler({ command, timeout, isServer: server }) : moduleSampler({ host: moduleHost(module), timeout });
  const document = await askSampler(sampler, module ?? command.join(" "), inputs);
  if (!document.passed) process.exitCode = isBroken(document) ? EXIT_WRONG : EXIT_MISUSE;
  const json = `${JSON.stringify(document)}\n`;
  if (paths["--document"] !== null) await writeWhole("--document", paths["--document"], json);
  if (paths["--junit"] !== null) await writeWhole("--junit", paths["--junit"], junitPieces(document));
  await print([inputs.json ? json : toText(document)]);
}

/** Else what has not passed was not asked: --max-calls is too small. */
const isBroken = ({ findings }: InvarianceDocument): boolean => findings.some(({ status }) => status === "broken");

/** What cannot be told from one option alone. */
function checkChoices(command: readonly string[], { module, server }: InvarianceInputs): void {
  if (module === "") throw new RangeError('"--module" expected the path of a module, got ""');
  if (module === undefined && (command[0] ?? "") === "") throw new RangeError(`"command" expected a program after --, or --module, got ${command.length === 0 ? "none" : '""'}`);
  if (module !== undefined && (command.length > 0 || server)) throw new RangeError(`"--module" expected no ${server ? "--server" : "command"} beside it, got one`);
}

async function askSampler(sampler: ProcessSampler, name: string, { reads, maxCalls, seed, only, skip, also }: InvarianceInputs): Promise<InvarianceDocument> {
  return cleanedUp(sampler.dispose, async () => {
    const progress = invarianceProgress();
    const options: InvarianceOptions = { name: toLine(name), reads, maxCalls, seed, onProgress: progress.update, ...(only && { only }), ...(skip && { skip }), ...(also && { also }) };
    try {
      return await Promise.race([sampler.failed, findInvariances(sampler.sample, options)]);
    } finally {
      progress.stop();
      await sampler.close();
    }
  });
}

/** On stderr, for people only. */
function invarianceProgress(): { readonly update: (progress: InvarianceProgress) => void; stop(): void } {
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  let line: ProgressLine | null = null;
  return {
    update({ done, total, name, calls }) {
      const payload = { name: name ?? "done", calls };
      line ??= progressLine({ format: "{value}/{total} {name}, {calls} calls so far" }, total, payload);
      line.update(done, payload);
    },
    stop: () => line?.stop(),
  };
}

const PAINTED = { kept: green, broken: red, skipped: (text: string) => text } as const;

function toText(document: InvarianceDocument): string {
  const { sampler, findings, seed, reads } = document;
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map((finding) => `${PAINTED[finding.status](finding.status.padEnd("skipped".length))}  ${finding.name.padEnd(width)}  ${remark(finding)}`);
  const broken = findings.filter(({ status }) => status === "broken");
  return [
    `${sampler}: ${countsText(document)} (seed ${seed}, reads ${reads!.join(",") || "none"})`,
    ...lines,
    ...broken.flatMap(smallestCase),
    "",
  ].join("\n");
}

function remark({ status, question, why }: InvarianceFinding): string {
  return toLine(status === "kept" ? question : why!);
}

function smallestCase(finding: InvarianceFinding): string[] {
  return ["", `${red(finding.name)}: ${finding.question}`, toLine(finding.why!), ...smallestLines(finding)];
}
