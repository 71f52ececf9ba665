/** Receipts from anywhere: each field is checked, by name, before anything else is done with it. */
import { checkInteger } from "../arguments.js";
import { DTYPE_BYTES, type Dtype } from "../backend.js";
import { describe, nameText } from "../describe.js";
import { asJsonObject, parseJsonObject } from "../head/json.js";
import { SAMPLE_LIMIT, SPEC_VERSION, TEMPERATURE_LIMIT } from "../spec/constants.js";
import { ownView, typedArrayKind } from "../typed-arrays.js";
import { checkReceiptSize, PLACE_FORM, PLACE_NAMES, RECEIPT_LIMIT, type OfRows, type Receipt, type ReceiptDraw, type ReceiptPlaces } from "./receipt.js";

/** Bytes: room for a receipt of the most draws, spaced out by any printer of JSON. */
export const RECEIPT_BYTES_LIMIT = 2 ** 28;

const VOCAB_LIMIT = 2 ** 31;
const HIDDEN_LIMIT = 2 ** 31;
const U32_LIMIT = 2 ** 32;
const STATUSES: readonly unknown[] = ["ok", "invalid", "all-masked"];
const DIGEST = { pattern: /^[0-9a-f]{64}$/, expected: "64 hexadecimal digits, lower case" };
const SCORE = { pattern: /^[0-9a-f]{16}$/, expected: "16 hexadecimal digits, lower case" };
const VERSION = { pattern: /^\d+\.\d+\.\d+[\w.+-]{0,40}$/, expected: "a version" };
const BACKEND = { pattern: /^[\w-]{1,40}$/, expected: "the name of a backend" };

/**
 * The receipt in a JSON text, or in its UTF-8 bytes.
 * name: the file, for messages
 * @throws TypeError, RangeError naming the argument or the field
 */
export function readReceipt(text: string | Uint8Array, name = "receipt"): Receipt {
  if (typeof name !== "string") throw new TypeError(`"name" expected text, got ${describe(name)}`);
  const bytes = toBytes(text);
  if (bytes.length > RECEIPT_BYTES_LIMIT) throw new RangeError(`"${name}" expected a receipt of at most ${RECEIPT_BYTES_LIMIT} bytes, got ${bytes.length}`);
  return checkReceipt(Object.fromEntries(parseJsonObject(bytes, name)));
}

function toBytes(text: unknown): Uint8Array {
  if (typeof text === "string") return new TextEncoder().encode(text);
  if (typedArrayKind(text) === "Uint8Array") return ownView(text as Uint8Array, Uint8Array);
  throw new TypeError(`"text" expected a string or a Uint8Array, got ${describe(text)}`);
}

/** A receipt that was parsed already. @throws TypeError, RangeError naming the field */
export function checkReceipt(value: unknown): Receipt {
  const fields = new Fields("receipt", value);
  fields.oneOf("kind", ["receipt"]);
  const specVersion = checkSpecVersion(fields.text("specVersion", { pattern: /^\d{1,4}\.\d{1,4}$/, expected: "a version of the rule" }));
  const isHead = fields.get("dtype") !== null;
  const whole = (name: string, from: number, to: number) => fields.whole(name, from, to);
  const [V, B, numSamples] = [whole("V", 1, VOCAB_LIMIT), whole("B", 1, RECEIPT_LIMIT + 1), whole("numSamples", 1, SAMPLE_LIMIT + 1)];
  checkReceiptSize(B, numSamples);
  const u32 = (label: string, entry: unknown) => checkedInteger(label, entry, 0, U32_LIMIT);
  const receipt: Receipt = {
    kind: "receipt",
    specVersion,
    version: fields.text("version", VERSION),
    backend: fields.text("backend", BACKEND),
    headDigest: isHead ? fields.text("headDigest", DIGEST) : fields.nothing("headDigest"),
    hiddenDigest: isHead ? fields.text("hiddenDigest", DIGEST) : fields.nothing("hiddenDigest"),
    logitsDigest: isHead ? fields.nothing("logitsDigest") : fields.text("logitsDigest", DIGEST),
    dtype: isHead ? (fields.oneOf("dtype", Object.keys(DTYPE_BYTES)) as Dtype) : null,
    V,
    D: isHead ? whole("D", 1, HIDDEN_LIMIT) : fields.nothing("D"),
    B,
    seed: fields.ofRows("seed", B, checkedSeed),
    temperature: fields.ofRows("temperature", B, checkedTemperature),
    position: fields.ofRows("position", B, u32),
    sequence: fields.ofRows("sequence", B, u32),
    numSamples,
    places: checkPlaces(fields.get("places")),
    draws: fields.list("draws", B * numSamples).map((draw, index) => checkDraw(`receipt.draws[${index}]`, draw, V)),
  };
  fields.refuseOthers();
  return receipt;
}

/** Another first number may draw other tokens from the same inputs. */
function checkSpecVersion(version: string): string {
  const major = SPEC_VERSION.split(".")[0]!;
  if (version.split(".")[0] === major) return version;
  throw new RangeError(`"receipt.specVersion" expected ${major}.x, the rule that this package draws by, got ${version}`);
}

function checkPlaces(value: unknown): ReceiptPlaces {
  const fields = new Fields("receipt.places", value);
  const given = PLACE_NAMES.filter((name) => fields.has(name));
  const places = Object.fromEntries(given.map((name) => [name, fields.text(name, PLACE_FORM)]));
  fields.refuseOthers();
  return places;
}

function checkDraw(label: string, value: unknown, vocabSize: number): ReceiptDraw {
  const fields = new Fields(label, value);
  const status = fields.oneOf("status", STATUSES) as ReceiptDraw["status"];
  const isOk = status === "ok";
  const token = fields.whole("token", isOk ? 0 : -1, isOk ? vocabSize : 0);
  const scoreBits = isOk ? fields.text("scoreBits", SCORE) : fields.nothing("scoreBits");
  fields.refuseOthers();
  return { token, scoreBits, status };
}

function checkedInteger(label: string, value: unknown, from: number, to: number): number {
  checkInteger(label, value, from, to);
  return value;
}

function checkedSeed(label: string, value: unknown): string {
  if (typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 1n << 64n) return value;
  throw wrong(label, "a whole number from 0 to 2^64-1 as decimal text", value);
}

function checkedTemperature(label: string, value: unknown): number {
  if (typeof value === "number" && value >= 0 && value < TEMPERATURE_LIMIT) return value;
  throw wrong(label, `a number in [0, ${TEMPERATURE_LIMIT})`, value);
}

function wrong(label: string, expected: string, value: unknown): TypeError | RangeError {
  const Kind = typeof value === "string" || typeof value === "number" ? RangeError : TypeError;
  return new Kind(`"${label}" expected ${expected}, got ${describe(value)}`);
}

interface TextForm {
  readonly pattern: RegExp;
  readonly expected: string;
}

/** The fields of one JSON object: each is asked for by name, and at the end no other may be left. */
class Fields {
  readonly #label: string;
  readonly #entries: Map<string, unknown>;
  readonly #asked = new Set<string>();

  constructor(label: string, value: unknown) {
    const entries = asJsonObject(value);
    if (entries === null) throw new TypeError(`"${label}" expected an object, got ${describe(value)}`);
    this.#label = label;
    this.#entries = entries;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get(name: string): unknown {
    this.#asked.add(name);
    return this.#entries.get(name);
  }

  text(name: string, { pattern, expected }: TextForm): string {
    const value = this.get(name);
    if (typeof value === "string" && pattern.test(value)) return value;
    throw wrong(this.#labelOf(name), expected, value);
  }

  oneOf(name: string, choices: readonly unknown[]): unknown {
    const value = this.get(name);
    if (choices.includes(value)) return value;
    throw wrong(this.#labelOf(name), choices.join(", "), value);
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
    if (!Array.isArray(value)) throw wrong(this.#labelOf(name), `a list of ${length}`, value);
    if (value.length !== length) throw new RangeError(`"${this.#labelOf(name)}" expected a list of ${length}, got ${value.length}`);
    return value;
  }

  ofRows<Value>(name: string, rowCount: number, check: (label: string, value: unknown) => Value): OfRows<Value> {
    const value = this.get(name);
    if (!Array.isArray(value)) return check(this.#labelOf(name), value);
    return this.list(name, rowCount).map((entry, row) => check(`${this.#labelOf(name)}[${row}]`, entry));
  }

  refuseOthers(): void {
    const other = [...this.#entries.keys()].find((name) => !this.#asked.has(name));
    if (other !== undefined) throw new RangeError(`"${this.#label}" expected only ${[...this.#asked].join(", ")}, got ${nameText(other)}`);
  }

  #labelOf(name: string): string {
    return `${this.#label}.${name}`;
  }
}
