/** The command: node examples/stories CHECKPOINT [options]. Story to stdout, what made it to stderr; exit 2 for bad input. */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { BACKENDS, createSampler, type BackendName } from "flash-sampling";
import { readCheckpoint } from "./checkpoint.js";
import { exportStory } from "./export.js";
import { roundHead, type HeadDtype } from "./head.js";
import { tellStories } from "./story.js";
import { BEGIN_TOKEN, readTokenizer, type Tokenizer } from "./tokenizer.js";

const USAGE = `node examples/stories CHECKPOINT [options]

  --seed N          64-bit seed; default: drawn, and printed
  --sequence N      the stream of the first story; default 0
  --rows N          stories told in one batch, on the streams that follow; default 1
  --temperature T   in [0, 256); default 1, 0 is greedy
  --steps N         longest story in tokens; default 256 or the model's limit
  --prompt TEXT     how every story begins
  --dtype TYPE      f32 (as stored), bf16 or f16: the head is rounded to it; default f32
  --backend NAME    auto, ${BACKENDS.map(({ name }) => name).join(", ")}
  --tokenizer FILE  default: the only tok*.bin beside the checkpoint
  --tokens          print token ids in place of text
  --export DIR      write head.safetensors, hidden.npy and tokens.npy of one story
`;

const OPTIONS = {
  seed: { type: "string" },
  sequence: { type: "string", default: "0" },
  rows: { type: "string", default: "1" },
  temperature: { type: "string", default: "1" },
  steps: { type: "string" },
  prompt: { type: "string", default: "" },
  dtype: { type: "string", default: "f32" },
  backend: { type: "string", default: "auto" },
  tokenizer: { type: "string" },
  tokens: { type: "boolean", default: false },
  export: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** A batch keeps the keys and values of all its stories. */
const ROW_LIMIT = 1024;
const DEFAULT_STEPS = 256;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  if (values.help) return void process.stdout.write(USAGE);
  const path = positionals[0];
  if (path === undefined || positionals.length > 1) throw new RangeError(`"CHECKPOINT" expected one file, got ${positionals.length}; --help shows the options`);
  const rows = integer("rows", values.rows, 1, ROW_LIMIT);
  const firstSequence = integer("sequence", values.sequence, 0, 2 ** 32 - rows);
  const seed = values.seed === undefined ? crypto.getRandomValues(new BigUint64Array(1))[0]! : parseSeed(values.seed);
  const temperature = /^\d*\.?\d+$/.test(values.temperature) ? Number(values.temperature) : NaN;
  if (!(values.dtype === "f32" || values.dtype === "bf16" || values.dtype === "f16")) throw new RangeError(`"--dtype" expected f32, bf16 or f16, got ${values.dtype}`);
  if (values.export !== undefined && rows > 1) throw new RangeError(`"--export" expected one story, got --rows ${rows}`);

  const checkpoint = await readCheckpoint(path);
  const { dim, vocabSize, sequenceLength } = checkpoint.shape;
  const tokenizer = await readTokenizer(values.tokenizer ?? (await tokenizerBeside(path)), vocabSize);
  const steps = values.steps === undefined ? Math.min(DEFAULT_STEPS, sequenceLength) : integer("steps", values.steps, 1, sequenceLength);
  const head = roundHead(checkpoint.head, values.dtype satisfies HeadDtype, [vocabSize, dim]);
  const sampler = await createSampler({ weights: head, backend: values.backend as BackendName | "auto" });
  try {
    const printer = new StoryPrinter(tokenizer, values.prompt, rows === 1 && !values.tokens);
    const stories = await tellStories({
      checkpoint,
      sampler,
      seed,
      sequences: Array.from({ length: rows }, (_, row) => firstSequence + row),
      prompt: tokenizer.encode(values.prompt),
      temperature,
      steps,
      onToken: (story, previous, token) => printer.add(story, previous, token),
    });
    if (values.tokens) stories.forEach(({ tokens }) => process.stdout.write(`${tokens.join(" ")}\n`));
    else printer.finish();
    if (values.export !== undefined) await exportStory(values.export, head, stories[0]!);
    const drawn = stories.reduce((total, { tokens }) => total + tokens.length, 0);
    process.stderr.write(`${sampler.backend}, ${sampler.dtype} head [${vocabSize}, ${dim}], seed ${seed}, ${drawn} tokens\n`);
  } finally {
    sampler.dispose();
  }
}

/** One story goes out as it is told; several are kept apart until all are done. */
class StoryPrinter {
  #tokenizer: Tokenizer;
  #beginning: string;
  #streaming: boolean;
  #texts: { text: string; decoder: TextDecoder }[] = [];

  constructor(tokenizer: Tokenizer, beginning: string, streaming: boolean) {
    this.#tokenizer = tokenizer;
    this.#beginning = beginning;
    this.#streaming = streaming;
  }

  add(story: number, previous: number, token: number): void {
    const entry = (this.#texts[story] ??= this.#begin());
    if (token === BEGIN_TOKEN) return;
    const text = printable(entry.decoder.decode(this.#tokenizer.decode(previous, token), { stream: true }));
    if (this.#streaming) process.stdout.write(text);
    else entry.text += text;
  }

  #begin(): { text: string; decoder: TextDecoder } {
    if (this.#streaming) process.stdout.write(this.#beginning);
    return { text: this.#beginning, decoder: new TextDecoder() };
  }

  finish(): void {
    if (this.#streaming) process.stdout.write("\n");
    else this.#texts.forEach(({ text }, story) => process.stdout.write(`${story > 0 ? "\n" : ""}${text}\n`));
  }
}

/** A tokenizer file must not steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "\ufffd");
}

async function tokenizerBeside(checkpoint: string): Promise<string> {
  const folder = dirname(checkpoint);
  const found = (await readdir(folder)).filter((name) => /^tok.*\.bin$/.test(name));
  if (found.length !== 1) throw new RangeError(`"--tokenizer" expected a file, as ${folder} has ${found.length} named tok*.bin, got none`);
  return join(folder, found[0]!);
}

function integer(name: string, text: string, from: number, to: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!(value >= from && value <= to)) throw new RangeError(`"--${name}" expected an integer in [${from}, ${to}], got ${text}`);
  return value;
}

function parseSeed(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new RangeError(`"--seed" expected an integer in [0, 2^64), got ${text}`);
  return BigInt(text);
}

await main().catch((error: unknown) => {
  // Every refusal begins with the quoted name of what was wrong; parseArgs and files that cannot be read give a code.
  const expected = error instanceof Error && (error.message.startsWith('"') || "code" in error);
  if (!expected) throw error;
  process.stderr.write(`stories: ${error.message.split("\n", 1)[0]}\n`);
  process.exitCode = 2;
});
