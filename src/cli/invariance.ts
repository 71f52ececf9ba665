/** `flash-sampling invariance`: which changes that must not matter change the tokens of somebody's sampler. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SingleBar } from "cli-progress";
import type { Command } from "commander";
import { describe } from "../describe.js";
import { commandSampler } from "../platform/command/sampler.js";
import { withinSeconds } from "../platform/command/timeout.js";
import type { InvarianceDocument, InvarianceFinding } from "../verify/documents.js";
import { OPTIONAL_INPUTS, type OptionalInput } from "../verify/invariance/case.js";
import { DEFAULT_MAX_CALLS, DEFAULT_READS, DEFAULT_SEED, findInvariances, type InvarianceOptions, type InvarianceProgress } from "../verify/invariance/find.js";
import { INVARIANCES } from "../verify/invariance/list.js";
import type { SamplerUnderTest } from "../verify/sampler-under-test.js";
import { green, red } from "./color.js";
import { cleanedUp, EXIT_WRONG, reportFailure, toLine } from "./exit.js";
import { localPaths, readWhole } from "./options.js";
import { formatTable } from "./table.js";
import { checkOutput, writeWhole } from "./write.js";

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
}

const NAMES = INVARIANCES.map(({ name }) => name);
const U32_LIMIT = 2 ** 32;
/** A day: no sampler takes longer. */
const TIMEOUT_LIMIT = 86_400;

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
{"dir": "..."} and answers with a line {}, or {"error": "..."}. More is in
docs/invariance.md.

A default run makes about 160 calls of a right sampler. Without --server each of
them starts the command, and so its interpreter, again.

Invariances (r: only if the sampler reads it; *: only by --only or --also):
${formatTable(INVARIANCES.map(({ name, needs, onRequest, question }) => [`  ${name}`, `${needs.length > 0 ? "r" : ""}${onRequest === undefined ? "" : "*"}`, question]), ["left", "left", "left"])}

A right sampler is found wrong with a probability below 1e-9. Exit code 1 when
an invariance is broken, 2 when the sampler does not answer as it should.

Examples:
  $ flash-sampling invariance -- python my_sampler.py
  $ flash-sampling invariance --server --reads all -- python my_server.py
  $ flash-sampling invariance --skip seed-high-bits -- ./sampler {dir}
  $ flash-sampling invariance --module ./sampler.mjs --document found.json`;

export function addInvariance(program: Command): void {
  program
    .command("invariance [command...]")
    .description("find which changes that must not matter change a sampler's tokens")
    .option("--module <file>", "instead of a command: a module whose default export is (call) => tokens")
    .option("--server", "the command answers all calls, a line each")
    .option("--only <names>", "ask for these invariances alone", (text) => readNames("--only", text, NAMES))
    .option("--skip <names>", "leave these out", (text) => readNames("--skip", text, NAMES))
    .option("--also <names>", "ask for these as well", (text) => readNames("--also", text, NAMES))
    .option(
      "--reads <names>",
      `what the sampler reads beside logits, temperatures and seeds: ${OPTIONAL_INPUTS.join(", ")}; all; or none`,
      (text) => readReads(text),
      DEFAULT_READS,
    )
    .option("--timeout <s>", "seconds that a call may take", (text) => readWhole("--timeout", text, 1, TIMEOUT_LIMIT + 1), 60)
    .option("--max-calls <n>", "calls of the sampler", (text) => readWhole("--max-calls", text, 2, U32_LIMIT), DEFAULT_MAX_CALLS)
    .option("--seed <n>", "of the made-up cases, below 2^32", (text) => readWhole("--seed", text, 0, U32_LIMIT), DEFAULT_SEED)
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .addHelpText("after", HELP)
    .action((command: string[], inputs: InvarianceInputs) => invariance(command, inputs));
}

function readNames<Name extends string>(label: string, text: string, known: readonly Name[]): readonly Name[] {
  return text.split(",").map((part) => {
    const name = known.find((candidate) => candidate === part.trim());
    if (name === undefined) throw new RangeError(`"${label}" expected names from ${known.join(", ")}, got ${describe(part.trim())}`);
    return name;
  });
}

function readReads(text: string): readonly OptionalInput[] {
  if (text === "all") return OPTIONAL_INPUTS;
  return text === "none" ? [] : readNames("--reads", text, OPTIONAL_INPUTS);
}

async function invariance(command: readonly string[], inputs: InvarianceInputs): Promise<void> {
  const { module, document: file } = inputs;
  const path = file === undefined ? null : await checkOutput("--document", file, localPaths({ module }));
  const document = await (module === undefined ? askCommand(command, inputs) : askModule(command, module, inputs));
  const json = `${JSON.stringify(document)}\n`;
  if (path !== null) await writeWhole("--document", path, new TextEncoder().encode(json));
  if (!document.passed) process.exitCode = EXIT_WRONG;
  // A module may have left something running.
  process.stdout.write(inputs.json ? json : toText(document), () => module !== undefined && process.exit());
}

async function askCommand(command: readonly string[], inputs: InvarianceInputs): Promise<InvarianceDocument> {
  if (command.length === 0) throw new RangeError('"command" expected a program after --, or --module, got none');
  const sampler = commandSampler({ command, timeout: inputs.timeout, isServer: inputs.server === true });
  return cleanedUp(sampler.dispose, async () => {
    try {
      return await ask(sampler.sample, command.join(" "), inputs);
    } finally {
      await sampler.close();
    }
  });
}

async function askModule(command: readonly string[], file: string, inputs: InvarianceInputs): Promise<InvarianceDocument> {
  if (command.length > 0 || inputs.server) throw new RangeError(`"--module" expected no ${inputs.server ? "--server" : "command"} beside it, got one`);
  return guarded(async () => {
    const sample = await loadSampler(file);
    return ask((call) => withinSeconds("--module", inputs.timeout, Promise.resolve(sample(call))), file, inputs);
  });
}

/** Runs code of others in this process: however that ends it, no exit code says "right" before there is a verdict. */
async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  const ended = () => {
    reportFailure(new RangeError('"--module" expected a sampler that leaves the process running, got its end before a verdict'));
  };
  const failed = (error: unknown) => {
    process.removeListener("exit", ended);
    reportFailure(new TypeError(`"--module" expected a sampler that gives its errors to its caller, got one by itself: ${error instanceof Error ? error.message : describe(error)}`));
    process.exit();
  };
  process.once("exit", ended);
  process.once("uncaughtException", failed);
  try {
    return await work();
  } finally {
    process.removeListener("exit", ended);
    process.removeListener("uncaughtException", failed);
  }
}

async function loadSampler(file: string): Promise<SamplerUnderTest> {
  const module = (await import(pathToFileURL(resolve(file)).href).catch((cause: Error) => {
    throw new Error(`"--module" expected a module that loads, got ${describe(file)} (${cause.message})`, { cause });
  })) as { readonly default?: unknown };
  if (typeof module.default !== "function") throw new TypeError(`"--module" expected a function as its default export, got ${describe(module.default)}`);
  return module.default as SamplerUnderTest;
}

async function ask(sample: SamplerUnderTest, name: string, inputs: InvarianceInputs): Promise<InvarianceDocument> {
  const { reads, maxCalls, seed, only, skip, also } = inputs;
  const progress = progressBar();
  const options: InvarianceOptions = { name: toLine(name), reads, maxCalls, seed, onProgress: progress.update, ...(only && { only }), ...(skip && { skip }), ...(also && { also }) };
  try {
    return await findInvariances(sample, options);
  } finally {
    progress.stop();
  }
}

/** On stderr, for people only. */
function progressBar(): { readonly update: (progress: InvarianceProgress) => void; stop(): void } {
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  // Its handler would swallow Ctrl-C.
  const bar = new SingleBar({ stream: process.stderr, format: "{value}/{total} {name}, {calls} calls so far", clearOnComplete: true, gracefulExit: false });
  return {
    update({ done, total, name, calls }) {
      if (done === 0) bar.start(total, 0, { name, calls });
      bar.update(done, { name, calls });
    },
    stop: () => bar.stop(),
  };
}

const PAINTED = { kept: green, broken: red, skipped: (text: string) => text } as const;

function toText({ sampler, findings, calls, seed, reads }: InvarianceDocument): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map((finding) => `${PAINTED[finding.status](finding.status.padEnd("skipped".length))}  ${finding.name.padEnd(width)}  ${remark(finding)}`);
  const broken = findings.filter(({ status }) => status === "broken");
  const count = (status: string) => findings.filter((finding) => finding.status === status).length;
  return [
    `${sampler}: ${count("kept")} kept, ${count("broken")} broken, ${count("skipped")} skipped, in ${calls} calls (seed ${seed}, reads ${reads!.join(",") || "none"})`,
    ...lines,
    ...broken.flatMap(smallestCase),
    "",
  ].join("\n");
}

function remark({ status, question, why }: InvarianceFinding): string {
  return toLine(status === "kept" ? question : why!);
}

/** Lists of one kind alone are no comparison. */
function tokenLines({ before, after, row }: NonNullable<InvarianceFinding["smallest"]>): string[] {
  if (before.length > 0 && after.length > 0) return [`  row ${row} before: ${before.join(" ")}`, `  row ${row} after:  ${after.join(" ")}`];
  const drawn = [...before, ...after];
  return drawn.length > 0 ? [`  drawn: ${drawn.join(" ")}`] : [];
}

function smallestCase({ name, question, why, smallest }: InvarianceFinding): string[] {
  const { description, rows, vocabSize } = smallest!;
  return [
    "",
    `${red(name)}: ${question}`,
    toLine(why!),
    `the smallest case, ${rows} ${rows === 1 ? "row" : "rows"} of ${vocabSize} ${vocabSize === 1 ? "token" : "tokens"}:`,
    ...description.split("\n").map((line) => `  ${line}`),
    ...tokenLines(smallest!),
  ];
}
