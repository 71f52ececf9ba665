/** The options that sample, oracle and check share, and the reading of their values: refused here, before any file is opened. */
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import type { OnInvalid } from "../arguments.js";
import { describe } from "../describe.js";
import { SAMPLE_LIMIT, TEMPERATURE_LIMIT } from "../spec/constants.js";

/** One number for all rows, or "rows": each row its index. */
export type PerRowNumber = number | "rows";

/** What is drawn from what. */
export interface DrawInputs {
  readonly weights?: string;
  readonly tensor?: string;
  readonly scales?: string;
  readonly hidden?: string;
  readonly logits?: string;
  readonly seed?: bigint;
  readonly temperature: number;
  readonly position: PerRowNumber;
  readonly sequence: PerRowNumber;
  readonly numSamples: number;
  readonly onInvalid: OnInvalid;
}

const U32_LIMIT = 2 ** 32;
const ON_INVALID: readonly OnInvalid[] = ["throw", "mark"];

export function addDrawOptions(command: Command): Command {
  return addStreamOptions(addInputOptions(command).option("--seed <n>", "0 to 2^64-1, decimal or 0x hex (default: drawn, and printed on stderr)", readSeed))
    .option("--num-samples <n>", "draws a row, 1 to 2^24", readNumSamples, 1)
    .option("--on-invalid <what>", "rows without a token: throw (exit 1) or mark (token -1)", (text) => readChoice("--on-invalid", text, ON_INVALID), "throw");
}

/** From what is drawn. */
export function addInputOptions(command: Command): Command {
  return command
    .option("--weights <file>", "LM head [V, D]: .safetensors, .index.json, .npy, or a URL", (text) => readAddress("--weights", text))
    .option("--tensor <name>", "its tensor (default: the usual names of LM heads)")
    .option("--scales <name-or-file>", "scales of an int8 head: a tensor of the file, or a .npy or .safetensors file", (text) => readAddress("--scales", text))
    .option("--hidden <file>", "hidden states [B, D] or [D]: .npy of f4, f2, f8 or bf16; - is stdin", (text) => readAddress("--hidden", text))
    .option("--logits <file>", "logits [B, V] or [V]: .npy, in place of --weights and --hidden; - is stdin", (text) => readAddress("--logits", text));
}

/** How each row is drawn, but for the seed. */
export function addStreamOptions(command: Command): Command {
  return command
    .option("--temperature <t>", `0 to below ${TEMPERATURE_LIMIT}; 0 is greedy`, readTemperature, 1)
    .option("--position <n>", "decode step, below 2^32, or rows: each row its index", (text) => readPerRow("--position", text), 0)
    .option("--sequence <n>", "stream of the request, below 2^32, or rows: each row its index", (text) => readPerRow("--sequence", text), "rows");
}

/**
 * A path or URL as it is given.
 * @throws RangeError for nothing, and for what begins like a URL and is none
 */
export function readAddress(label: string, text: string): string {
  try {
    localPath(text);
    if (text !== "") return text;
  } catch {
    // Worded below, with the option's name. A query may hold a key.
  }
  throw new RangeError(`"${label}" expected a path or a URL, got ${describe(text.replace(/\?.*/s, ""))}`);
}

/** Where text lies on this machine; null for an address elsewhere. @throws TypeError for a URL that is none */
export function localPath(text: string): string | null {
  if (/^file:/i.test(text)) return fileURLToPath(text);
  if (!/^https?:/i.test(text)) return text;
  new URL(text);
  return null;
}

/** The files of this machine among places, by the options that name them. places: by the names of options, without dashes */
export function localPaths(places: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(places).flatMap(([name, place]): [string, string][] => {
      const path = place === undefined ? null : localPath(place);
      return path === null ? [] : [[`--${name}`, path]];
    }),
  );
}

/** @throws RangeError unless text is a whole number of 64 bits without sign */
export function readSeed(text: string): bigint {
  const seed = /^(\d+|0x[\da-f]+)$/i.test(text) ? BigInt(text) : -1n;
  if (seed >= 0n && seed < 1n << 64n) return seed;
  throw new RangeError(`"--seed" expected a whole number from 0 to 2^64-1, decimal or 0x hex, got ${describe(text)}`);
}

/** @throws RangeError unless text is a decimal whole number in [from, to) */
export function readWhole(label: string, text: string, from: number, to: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= from && value < to) return value;
  throw new RangeError(`"${label}" expected a whole number in [${from}, ${to}), got ${describe(text)}`);
}

/** @throws RangeError unless text is one of choices */
export function readChoice<Choice extends string>(label: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw new RangeError(`"${label}" expected ${choices.join(", ")}, got ${describe(text)}${meant(text, choices)}`);
}

/** What a text may be the beginning of, as a question in parentheses; "" where that is nothing. Dashes alone begin every option. */
export function meant(text: string, names: readonly string[]): string {
  const begun = /\w/.test(text) ? names.filter((name) => name.startsWith(text)) : [];
  return begun.length === 0 ? "" : ` (did you mean ${begun.join(" or ")}?)`;
}

/** @throws RangeError unless text is a count of draws a row */
export function readNumSamples(text: string): number {
  return readWhole("--num-samples", text, 1, SAMPLE_LIMIT + 1);
}

function readTemperature(text: string): number {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (value >= 0 && value < TEMPERATURE_LIMIT) return value;
  throw new RangeError(`"--temperature" expected a number in [0, ${TEMPERATURE_LIMIT}), got ${describe(text)}`);
}

function readPerRow(label: string, text: string): PerRowNumber {
  return text === "rows" ? text : readWhole(label, text, 0, U32_LIMIT);
}

/** The number of one row. */
export function ofRow(value: PerRowNumber, row: number): number {
  return value === "rows" ? row : value;
}
