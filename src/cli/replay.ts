/** `flash-sampling replay`: draws a receipt again, from the same inputs, and confirms every token and score. */
import type { Command } from "commander";
import { BACKENDS, type BackendName } from "../backends/list.js";
import { readHead } from "../head/head-reader.js";
import { openSource, readBytes, type ByteSource } from "../head/source.js";
import { SPEC_VERSION } from "../spec/constants.js";
import type { ReplayDocument, ReplayOutcome } from "../verify/documents.js";
import { compareHead, compareMatrix, replay, type OtherInput, type Replay, type ReplayInputs } from "../verify/receipt-replay.js";
import { readReceipt, RECEIPT_BYTES_LIMIT } from "../verify/receipt-read.js";
import type { Receipt, ReceiptDraw } from "../verify/receipt.js";
import { VERSION } from "../version.js";
import { requireBackend, scalesLocation } from "./draw.js";
import { EXIT_WRONG, interruptible, toLine } from "./exit.js";
import { localPaths, readAddress, readChoice } from "./options.js";
import { fromPlace } from "./places.js";
import { print } from "./print.js";
import { loadProgress } from "./progress.js";
import { readMatrix, type FloatMatrix } from "./read.js";
import { checkOutputs, writeWhole, type LocalInputs } from "./write.js";

interface ReplayOptions {
  readonly weights?: string;
  readonly tensor?: string;
  readonly scales?: string;
  readonly hidden?: string;
  readonly logits?: string;
  readonly backend: BackendChoice;
  readonly json?: boolean;
  readonly document?: string;
}

const BACKEND_CHOICES = ["auto", "all", ...BACKENDS.map((entry) => entry.name)] as const;
type BackendChoice = (typeof BACKEND_CHOICES)[number];

type Findings = Pick<ReplayDocument, "input" | "backends">;

const EXAMPLES = `
First compares the inputs with the receipt's digests, then draws. Inputs lie
where the receipt says, unless an option says otherwise; its relative paths
start at its own folder. --weights stands for all that the receipt says of
weights, tensor and scales. Exit code 1 when an input, a token or a score is
another one.

Examples:
  $ flash-sampling replay receipt.json
  $ flash-sampling replay receipt.json --backend all --json
  $ flash-sampling replay receipt.json --document replay.json   # for report
  $ flash-sampling replay receipt.json --weights head.npy --hidden h.npy`;

export function addReplay(program: Command): void {
  program
    .command("replay <receipt>")
    .description("draw again what a receipt of sample --receipt says, and confirm it")
    .option("--weights <file>", "the LM head, where it is not where the receipt says", (text) => readAddress("--weights", text))
    .option("--tensor <name>", "its tensor, with --weights")
    .option("--scales <name-or-file>", "its scales, with --weights", (text) => readAddress("--scales", text))
    .option("--hidden <file>", "the hidden states; - is stdin", (text) => readAddress("--hidden", text))
    .option("--logits <file>", "the logits; - is stdin", (text) => readAddress("--logits", text))
    .option("--backend <name>", BACKEND_CHOICES.join(", "), (text) => readChoice("--backend", text, BACKEND_CHOICES), "auto")
    .option("--json", "print one JSON document")
    .option("--document <file>", "also write that document, for flash-sampling report")
    .addHelpText("after", EXAMPLES)
    .action((path: string, options: ReplayOptions) => replayReceipt(readAddress("receipt", path), options));
}

async function replayReceipt(path: string, options: ReplayOptions): Promise<void> {
  const receipt = await openReceipt(path);
  const isHead = receipt.dtype !== null;
  refuseOtherOptions(options, isHead);
  const paths = await checkOutputs({ "--document": options.document }, localInputs(receipt, path, options));
  const candidates = await candidatesOf(options.backend);
  const findings = await (isHead ? replayHead(receipt, path, options, candidates) : replayLogits(receipt, path, options, candidates));
  const passed = findings.input === null && findings.backends.every(({ status }) => status === "confirmed" || status === "skipped");
  if (!passed) process.exitCode = EXIT_WRONG;
  const document: ReplayDocument = { kind: "replay", specVersion: SPEC_VERSION, version: VERSION, passed, receipt: { specVersion: receipt.specVersion, version: receipt.version, backend: receipt.backend }, draws: receipt.draws.length, ...findings };
  const json = `${JSON.stringify(document)}\n`;
  if (paths["--document"] !== null) await writeWhole("--document", paths["--document"], json);
  await print([options.json ? json : toText(receipt, findings)]);
}

/** What is read of this machine's files: where an option says, else where the receipt does. */
function localInputs({ places }: Receipt, path: string, { weights, scales, hidden, logits }: ReplayOptions): LocalInputs {
  const placed = (name: "weights" | "hidden" | "logits", given: string | undefined) => given ?? (places[name] === undefined ? undefined : fromPlace(places[name], path));
  const scaling = weights === undefined ? placedScales(places, path) : scalesLocation(scales);
  return new Map([
    ...localPaths({ weights: placed("weights", weights), hidden: placed("hidden", hidden), logits: placed("logits", logits), scales: typeof scaling === "object" ? String(scaling.source) : undefined }),
    ...localPaths({ receipt: path }),
  ]);
}

async function openReceipt(path: string): Promise<Receipt> {
  const source = await openSource(path);
  try {
    if (source.size > RECEIPT_BYTES_LIMIT) throw new RangeError(`"${source.name}" expected a receipt of at most ${RECEIPT_BYTES_LIMIT} bytes, got ${source.size}`);
    return readReceipt(await readBytes(source, 0, source.size), source.name);
  } finally {
    await source.close();
  }
}

function refuseOtherOptions(options: ReplayOptions, isHead: boolean): void {
  const other = (isHead ? (["logits"] as const) : (["weights", "tensor", "scales", "hidden"] as const)).find((name) => options[name] !== undefined);
  if (other !== undefined) throw new TypeError(`"--${other}" expected none for a receipt of ${isHead ? "a head" : "given logits"}, got ${options[other]}`);
  const beside = (["tensor", "scales"] as const).find((name) => options[name] !== undefined);
  if (beside !== undefined && options.weights === undefined) throw new TypeError(`"--${beside}" expected --weights beside it, got none`);
}

/** The backends to ask, each with why it does not run here, or null. @throws WrongOutcome when a named one does not */
async function candidatesOf(choice: BackendChoice): Promise<[name: BackendName, reason: string | null][]> {
  if (choice !== "all") return [[await requireBackend(choice), null]];
  const candidates: [BackendName, string | null][] = [];
  for (const entry of BACKENDS) candidates.push([entry.name, await entry.probe()]);
  return candidates;
}

/** What an option says, else the receipt. @throws TypeError where neither does */
function placeOf(name: "weights" | "hidden" | "logits", { places }: Receipt, path: string, options: ReplayOptions): string {
  const given = options[name];
  if (given !== undefined) return given;
  const place = places[name];
  if (place === undefined) throw new TypeError(`"--${name}" expected a path or a URL: the receipt names none, got none`);
  return fromPlace(place, path);
}

/** Reads what may lie where the receipt says: of a file that is not there any more an error then says what to do. */
async function placed<Result>(name: "weights" | "hidden" | "logits", options: ReplayOptions, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    if (options[name] !== undefined || !(cause instanceof Error) || !NOT_THERE.test(cause.message)) throw cause;
    throw new Error(`${cause.message}: --${name} says where it is now${name === "weights" ? ", and --scales where its scales are" : ""}`, { cause });
  }
}

/** How errors of files and of servers are worded. */
const NOT_THERE = /" expected (a readable file|an answer|HTTP 200)/;

async function replayLogits(receipt: Receipt, path: string, options: ReplayOptions, candidates: Candidates): Promise<Findings> {
  const place = placeOf("logits", receipt, path, options);
  const matrix = await placed("logits", options, () => readMatrix(place));
  const other = await compareMatrix(receipt, matrixOf(matrix), matrix.columns);
  if (other !== null) return { input: { ...other, place: matrix.name }, backends: [] };
  return onEach(candidates, matrix.name, (backend) => replay(receipt, { logits: matrix.values }, backend));
}

async function replayHead(receipt: Receipt, path: string, options: ReplayOptions, candidates: Candidates): Promise<Findings> {
  const weights = placeOf("weights", receipt, path, options);
  const hidden = placeOf("hidden", receipt, path, options);
  const matrix = await placed("hidden", options, () => readMatrix(hidden));
  const other = await compareMatrix(receipt, matrixOf(matrix), matrix.columns);
  if (other !== null) return { input: { ...other, place: matrix.name }, backends: [] };
  const source = await placed("weights", options, () => openSource(weights));
  try {
    const parts = options.weights === undefined ? partsOf(receipt, path) : { tensor: options.tensor, scales: scalesLocation(options.scales) };
    const otherShape = await placed("weights", options, () => compareShape(receipt, source, parts));
    if (otherShape !== null) return { input: { ...otherShape, place: source.name }, backends: [] };
    return await onEach(candidates, source.name, (backend) => withProgress((load) => replay(receipt, { weights: source, ...parts, ...load, hiddenStates: matrix.values }, backend)));
  } finally {
    await source.close();
  }
}

type Candidates = Awaited<ReturnType<typeof candidatesOf>>;
type Parts = { readonly tensor: string | undefined; readonly scales: ReturnType<typeof scalesLocation> };

/** The receipt's tensor and scales: the latter a tensor's name, or the place of a file. */
function partsOf({ places }: Receipt, path: string): Parts {
  return { tensor: places.tensor, scales: placedScales(places, path) };
}

function placedScales({ scales }: Receipt["places"], path: string): Parts["scales"] {
  const isFile = typeof scalesLocation(scales) === "object";
  return scalesLocation(isFile ? fromPlace(scales!, path) : scales);
}

/** Another shape is found by a look at the header, not after gigabytes of weights. */
async function compareShape(receipt: Receipt, source: ByteSource, { tensor, scales }: Parts): Promise<OtherInput | null> {
  const reader = await readHead(source, tensor, scales);
  await reader.close();
  return compareHead(receipt, reader.shape);
}

async function withProgress(work: (load: Pick<Extract<ReplayInputs, { hiddenStates: unknown }>, "signal" | "onProgress">) => Promise<Replay>): Promise<Replay> {
  const progress = loadProgress("weights");
  try {
    return await interruptible((signal) => work({ signal, onProgress: progress.update }));
  } finally {
    progress.stop();
  }
}

/** Asks each backend in turn, and none any more once an input is another one. */
async function onEach(candidates: Candidates, place: string, ask: (backend: BackendName) => Promise<Replay>): Promise<Findings> {
  const backends: ReplayOutcome[] = [];
  for (const [backend, reason] of candidates) {
    if (reason !== null) {
      backends.push({ backend, status: "skipped", why: reason, draw: null });
      continue;
    }
    try {
      const { confirmed, input, draw } = await ask(backend);
      if (input !== null) return { input: { ...input, place }, backends: [] };
      backends.push({ backend, status: confirmed ? "confirmed" : "differs", why: null, draw });
    } catch (error) {
      // By its kind, as in the list of backends: what a GPU does wrong is an answer, and the others are still asked.
      if ((error as { kind?: unknown }).kind === undefined) throw error;
      backends.push({ backend, status: "failed", why: (error as Error).message, draw: null });
    }
  }
  return { input: null, backends };
}

const matrixOf = ({ values, rowCount }: FloatMatrix) => ({ ...values, rowCount });

function toText(receipt: Receipt, { input, backends }: Findings): string {
  const lines = input === null ? backends.map((outcome) => aboutBackend(receipt, outcome)) : [`not the same ${input.input}: ${input.property} ${short(input.expected)} in the receipt, ${short(input.got)} in ${input.place}`];
  return lines.map((line) => `${toLine(line)}\n`).join("");
}

/** Digests by their first digits. */
const short = (value: OtherInput["got"]): string => (typeof value === "string" && value.length > 16 ? `${value.slice(0, 16)}...` : String(value));

function aboutBackend({ draws }: Receipt, { backend, status, why, draw }: ReplayOutcome): string {
  if (draw === null) return `${backend}: ${status}${why === null ? `, ${draws.length} draws` : `, ${why}`}`;
  const { row, sample, expected, got, count } = draw;
  return `${backend}: ${status}, first at row ${row}, sample ${sample}: ${aboutDraw(expected)} in the receipt, ${aboutDraw(got)} drawn (${count} of ${draws.length} draws differ)`;
}

const aboutDraw = ({ token, scoreBits, status }: ReceiptDraw): string => (status === "ok" ? `token ${token} with ${scoreBits}` : status);
