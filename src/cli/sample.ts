/** `flash-sampling sample`: tokens for rows of hidden states or logits. */
import type { Command } from "commander";
import { BACKENDS, type BackendName } from "../backends/list.js";
import { encodeNpyIntegers } from "../head/npy.js";
import { describeDraw, draw } from "./draw.js";
import { addDrawOptions, readChoice, type DrawInputs } from "./options.js";
import { checkOutput, writeWhole } from "./write.js";

interface SampleInputs extends DrawInputs {
  readonly backend: BackendName | "auto";
  readonly out?: string;
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
  $ cat h.npy | flash-sampling sample --weights head.npy --hidden - --seed 42`;

export function addSample(program: Command, version: string): void {
  const command = program.command("sample").description("draw tokens from softmax(weights * hidden state / temperature)");
  addDrawOptions(command)
    .option("--backend <name>", BACKEND_CHOICES.join(", "), (text) => readChoice("--backend", text, BACKEND_CHOICES), "auto")
    .option("--out <file>", "also write the tokens as .npy: int64 [B], or [B, num-samples]")
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((inputs: SampleInputs) => sample(inputs, version));
}

async function sample(inputs: SampleInputs, version: string): Promise<void> {
  const { numSamples } = inputs;
  const out = inputs.out === undefined ? null : await checkOutput("--out", inputs.out);
  const drawn = await draw(inputs, inputs.backend, false);
  const { rowCount } = drawn.matrix;
  const tokens = drawn.result.tokens;
  const rows = Array.from({ length: rowCount }, (_, row) => tokens.subarray(row * numSamples, (row + 1) * numSamples));
  if (out !== null) await writeWhole("--out", out, encodeNpyIntegers(tokens, numSamples === 1 ? [rowCount] : [rowCount, numSamples]));
  const text = inputs.json
    ? JSON.stringify({ ...describeDraw(version, inputs, drawn), rows: rows.map((tokens, row) => ({ row, tokens: Array.from(tokens) })) })
    : rows.map((tokens) => tokens.join(" ")).join("\n");
  process.stdout.write(`${text}\n`);
}
