/** `flash-sampling sample`: tokens for rows of hidden states or logits. */
import type { Command } from "commander";
import { BACKENDS, type BackendName } from "../backends/list.js";
import { describe } from "../describe.js";
import { encodeNpyIntegers } from "../head/npy.js";
import { checkReceiptSize, formatReceipt, receiptOf } from "../verify/receipt.js";
import { describeDraw, draw, scalesLocation, type CheckShape, type Drawn } from "./draw.js";
import { addDrawOptions, localPaths, ofRow, readChoice, type DrawInputs } from "./options.js";
import { placesOf } from "./places.js";
import { jsonPieces, print } from "./print.js";
import { checkOutputs, writeWhole, type LocalInputs } from "./write.js";

interface SampleInputs extends DrawInputs {
  readonly backend: BackendName | "auto";
  readonly out?: string;
  readonly receipt?: string;
  readonly json?: boolean;
}

const BACKEND_CHOICES = ["auto", ...BACKENDS.map((entry) => entry.name)] as const;

const EXAMPLES = `
Prints the tokens, a row a line. The same seed gives the same tokens on every
backend and machine.

Examples:
  $ flash-sampling sample --weights model.safetensors --hidden h.npy --seed 42
  $ flash-sampling sample --weights model.safetensors.index.json \\
      --hidden h.npy --seed 42 --temperature 0.7 --num-samples 8 --out out.npy
  $ flash-sampling sample --logits logits.npy --seed 0x2a --json
  $ flash-sampling sample --weights head.npy --hidden steps.npy --seed 42 \\
      --sequence 7 --position rows   # rows: the steps of one request
  $ flash-sampling sample --weights model.safetensors --hidden h.npy --seed 42 \\
      --receipt receipt.json   # for flash-sampling replay
  $ cat h.npy | flash-sampling sample --weights head.npy --hidden - --seed 42`;

export function addSample(program: Command): void {
  const command = program.command("sample").description("draw tokens from softmax(weights * hidden state / temperature)");
  addDrawOptions(command)
    .option("--backend <name>", BACKEND_CHOICES.join(", "), (text) => readChoice("--backend", text, BACKEND_CHOICES), "auto")
    .option("--out <file>", "also write the tokens, .npy: int64 [B], or [B, num-samples]")
    .option("--receipt <file>", "also write what was drawn from what as JSON, for replay to confirm")
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((inputs: SampleInputs) => sample(inputs));
}

async function sample(inputs: SampleInputs): Promise<void> {
  const { numSamples } = inputs;
  const { "--out": out, "--receipt": receipt } = await checkOutputs({ "--out": inputs.out, "--receipt": inputs.receipt }, localInputs(inputs));
  if (out !== null && !/[^/\\]\.npy$/i.test(inputs.out!)) throw new RangeError(`"--out" expected the path of a file to write, .npy, got ${describe(inputs.out)}`);
  const checkShape: CheckShape = (rowCount) => (receipt === null ? undefined : checkReceiptSize(rowCount, numSamples));
  const drawn = await draw(inputs, inputs.backend, receipt !== null, checkShape);
  const { rowCount } = drawn.matrix;
  const tokens = drawn.result.tokens;
  const receiptText = receipt === null ? null : await toReceipt(inputs, drawn);
  if (out !== null) await writeWhole("--out", out, encodeNpyIntegers(tokens, numSamples === 1 ? [rowCount] : [rowCount, numSamples]));
  if (receiptText !== null) await writeWhole("--receipt", receipt!, receiptText);
  await print(inputs.json ? jsonPieces(describeDraw(inputs, drawn), "rows", jsonRows(tokens, numSamples)) : toLines(tokens, numSamples));
}

async function toReceipt(inputs: SampleInputs, drawn: Drawn): Promise<string> {
  const { backend, dtype, vocabSize, headDigest, matrix, result } = drawn;
  const rows = Array.from({ length: matrix.rowCount }, (_, row) => row);
  const { temperature, position, sequence, numSamples } = inputs;
  const receipt = await receiptOf({
    backend,
    from: dtype === null ? { vocabSize, logits: matrix.values } : { head: { dtype, vocabSize, hiddenSize: matrix.columns, headDigest }, hiddenStates: matrix.values },
    options: { temperature, position: rows.map((row) => ofRow(position, row)), sequence: rows.map((row) => ofRow(sequence, row)), numSamples },
    result,
    places: placesOf(inputs, inputs.receipt!),
  });
  return formatReceipt(receipt);
}

/** What is read of this machine's files, by the options that name it. */
function localInputs(inputs: SampleInputs): LocalInputs {
  const scales = scalesLocation(inputs.scales);
  const { weights, hidden, logits } = inputs;
  return localPaths({ weights, hidden, logits, scales: typeof scales === "object" ? inputs.scales : undefined });
}

/** Tokens of one piece of text. */
const PIECE = 4096;

function* toLines(tokens: Int32Array, numSamples: number): Generator<string> {
  for (let start = 0; start < tokens.length; start += numSamples) {
    yield* joined(tokens.subarray(start, start + numSamples), " ");
    yield "\n";
  }
}

function* jsonRows(tokens: Int32Array, numSamples: number): Generator<Iterable<string>> {
  for (let start = 0; start < tokens.length; start += numSamples) yield jsonRow(start / numSamples, tokens.subarray(start, start + numSamples));
}

function* jsonRow(row: number, tokens: Int32Array): Generator<string> {
  yield `{"row":${row},"tokens":[`;
  yield* joined(tokens, ",");
  yield "]}";
}

function* joined(tokens: Int32Array, separator: string): Generator<string> {
  for (let start = 0; start < tokens.length; start += PIECE) {
    yield `${start === 0 ? "" : separator}${tokens.subarray(start, start + PIECE).join(separator)}`;
  }
}
