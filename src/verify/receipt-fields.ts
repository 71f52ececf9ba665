/** The fields of receipts: their forms and ranges, and what reads them one by one. */
import { checkInteger } from "../arguments.js";
import { describe, nameText } from "../describe.js";
import { TEMPERATURE_LIMIT } from "../spec/constants.js";
import { isList, isRecord, messageOf } from "./values.js";

/** Draws of one receipt, and rows: about 70 bytes of text each. */
export const RECEIPT_LIMIT = 2 ** 20;
export const VOCAB_LIMIT = 2 ** 31;
export const HIDDEN_LIMIT = 2 ** 31;
export const STATUSES: readonly unknown[] = ["ok", "invalid", "all-masked"];
export const DIGEST = { pattern: /^[0-9a-f]{64}$/, expected: "64 hexadecimal digits, lower case" };
export const SCORE = { pattern: /^[0-9a-f]{16}$/, expected: "16 hexadecimal digits, lower case" };
export const VERSION_FORM = { pattern: /^\d+\.\d+\.\d+[\w.+-]{0,40}$/, expected: "a version" };
export const BACKEND = { pattern: /^[\w-]{1,40}$/, expected: "the name of a backend" };
export const PLACE_NAMES = ["weights", "tensor", "scales", "hidden", "logits"] as const;
/** A text with a NUL or a line end names no file. */
export const PLACE_FORM = { pattern: /^[^\p{Cc}]{1,4096}$/u, expected: "a text of 1 to 4096 characters without control characters" };

/** One value for all rows, or one a row. A receipt that is written has a list only where rows differ. */
export type OfRows<Value> = Value | readonly Value[];

/** @throws RangeError for more draws or rows than a receipt holds */
export function checkReceiptSize(rowCount: number, samples: number): void {
  if (rowCount * samples <= RECEIPT_LIMIT) return;
  throw new RangeError(`"receipt" expected at most ${RECEIPT_LIMIT} draws, got ${rowCount} rows * ${samples}`);
}

export function checkedInteger(label: string, value: unknown, from: number, to: number): number {
  checkInteger(label, value, from, to);
  return value;
}

export function checkedSeed(label: string, value: unknown): string {
  if (typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 1n << 64n) return value;
  throw wrong(label, "a whole number from 0 to 2^64-1 as decimal text", value);
}

export function checkedTemperature(label: string, value: unknown): number {
  if (typeof value === "number" && value >= 0 && value < TEMPERATURE_LIMIT) return value;
  throw wrong(label, `a number in [0, ${TEMPERATURE_LIMIT})`, value);
}

function wrong(label: string, expected: string, value: unknown): TypeError | RangeError {
  const Kind = typeof value === "string" || typeof value === "number" ? RangeError : TypeError;
  return new Kind(`"${label}" expected ${expected}, got ${describe(value)}`);
}

export interface TextForm {
  readonly pattern: RegExp;
  readonly expected: string;
}

/** @throws TypeError, RangeError for a text of another form, or no text */
export function checkedText(label: string, { pattern, expected }: TextForm, value: unknown): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw wrong(label, expected, value);
}

/** @throws TypeError, RangeError for anything else */
export function checkedChoice(label: string, choices: readonly unknown[], value: unknown): unknown {
  if (choices.includes(value)) return value;
  throw wrong(label, choices.join(", "), value);
}

/** The fields of one JSON object: each is asked for by name, and at the end no other may be left. */
export class Fields {
  readonly #label: string;
  readonly #entries: Map<string, unknown>;
  readonly #asked = new Set<string>();

  constructor(label: string, value: unknown) {
    this.#label = label;
    this.#entries = entriesOf(label, value);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get(name: string): unknown {
    this.#asked.add(name);
    return this.#entries.get(name);
  }

  text(name: string, form: TextForm): string {
    return checkedText(this.#labelOf(name), form, this.get(name));
  }

  oneOf(name: string, choices: readonly unknown[]): unknown {
    return checkedChoice(this.#labelOf(name), choices, this.get(name));
  }

  nothing(name: string): null {
    const value = this.get(name);
    if (value === null) return null;
    throw wrong(this.#labelOf(name), "null", value);
  }

  whole(name: string, from: number, to: number): number {
    return checkedInteger(this.#labelOf(name), this.get(name), from, to);
  }

  list(name: string, length: number): readonly unknown[] {
    const value = this.get(name);
    if (!isList(value)) throw wrong(this.#labelOf(name), `a list of ${length}`, value);
    if (value.length !== length) throw new RangeError(`"${this.#labelOf(name)}" expected a list of ${length}, got ${value.length}`);
    return value;
  }

  ofRows<Value>(name: string, rowCount: number, check: (label: string, value: unknown) => Value): OfRows<Value> {
    const value = this.get(name);
    if (!isList(value)) return check(this.#labelOf(name), value);
    return Array.from(this.list(name, rowCount), (entry, row) => check(`${this.#labelOf(name)}[${row}]`, entry));
  }

  refuseOthers(): void {
    const other = [...this.#entries.keys()].find((name) => !this.#asked.has(name));
    if (other !== undefined) throw new RangeError(`"${this.#label}" expected only ${[...this.#asked].join(", ")}, got ${nameText(other)}`);
  }

  #labelOf(name: string): string {
    return `${this.#label}.${name}`;
  }
}

/** A Map, so that no key ("__proto__") is special. */
function entriesOf(label: string, value: unknown): Map<string, unknown> {
  if (!isRecord(value)) throw new TypeError(`"${label}" expected an object, got ${describe(value)}`);
  try {
    return new Map(Object.entries(value));
  } catch (cause) {
    throw new TypeError(`"${label}" expected fields that can be read, got an error: ${messageOf(cause)}`, { cause });
  }
}
