/** Receipts from anywhere: each field is checked, by name, before anything else is done with it. */
import { DTYPE_BYTES, type Dtype } from "../backend.js";
import { describe, labelText } from "../describe.js";
import { parseJsonObject } from "../head/json.js";
import { SAMPLE_LIMIT, SPEC_VERSION } from "../spec/constants.js";
import { ownView, typedArrayKind } from "../typed-arrays.js";
import {
  BACKEND,
  checkedInteger,
  checkedSeed,
  checkedTemperature,
  checkReceiptSize,
  DIGEST,
  Fields,
  HIDDEN_LIMIT,
  PLACE_FORM,
  PLACE_NAMES,
  RECEIPT_LIMIT,
  SCORE,
  STATUSES,
  VERSION_FORM,
  VOCAB_LIMIT,
} from "./receipt-fields.js";
import type { Receipt, ReceiptDraw, ReceiptPlaces } from "./receipt.js";
import { checkText } from "./values.js";

/** Bytes: room for a receipt of the most draws, spaced out by any printer of JSON. */
export const RECEIPT_BYTES_LIMIT = 2 ** 28;

const U32_LIMIT = 2 ** 32;

/**
 * The receipt in a JSON text, or in its UTF-8 bytes.
 * name: the file, for messages
 * @throws TypeError, RangeError naming the argument or the field
 */
export function readReceipt(text: string | Uint8Array, name = "receipt"): Receipt {
  checkText("name", name);
  const bytes = toBytes(text);
  const label = labelText(name) || "receipt";
  if (bytes.length > RECEIPT_BYTES_LIMIT) throw new RangeError(`"${label}" expected a receipt of at most ${RECEIPT_BYTES_LIMIT} bytes, got ${bytes.length}`);
  return checkReceipt(Object.fromEntries(parseJsonObject(bytes, label)));
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
    version: fields.text("version", VERSION_FORM),
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
    draws: Array.from(fields.list("draws", B * numSamples), (draw, index) => checkDraw(`receipt.draws[${index}]`, draw, V)),
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

