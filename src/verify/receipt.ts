/**
 * A receipt: what was drawn from what, so that anybody can draw it again, on any backend, and confirm each token and score.
 * docs/receipts.md defines each field.
 */
import { checkCall, type DrawOptions, type PerRow } from "../arguments.js";
import type { Dtype } from "../backend.js";
import { describe } from "../describe.js";
import { checkMatrix, type FloatData } from "../matrix.js";
import type { SampleDetail, SampleResult } from "../outcome.js";
import type { Sampler } from "../sampler.js";
import { SPEC_VERSION } from "../spec/constants.js";
import { VERSION } from "../version.js";
import { valuesDigest } from "./receipt-digest.js";

/** Draws of one receipt, and rows: about 70 bytes of text each. */
export const RECEIPT_LIMIT = 2 ** 20;

/** One value for all rows, or one a row. A receipt that is written has a list only where rows differ. */
export type OfRows<Value> = Value | readonly Value[];

/** One draw: [row * numSamples + sample] of a receipt's list. */
export interface ReceiptDraw {
  /** -1 for a row without a token */
  readonly token: number;
  /** S of the token, two's complement, 16 hexadecimal digits; null without a token */
  readonly scoreBits: string | null;
  readonly status: SampleDetail["status"];
}

/** Where the inputs lay: hints, which decide nothing. */
export interface ReceiptPlaces {
  readonly weights?: string;
  /** name of the tensor in the file of weights */
  readonly tensor?: string;
  /** as for --scales: the name of a tensor, or a file */
  readonly scales?: string;
  readonly hidden?: string;
  readonly logits?: string;
}

export const PLACE_NAMES = ["weights", "tensor", "scales", "hidden", "logits"] as const;
/** A text with a NUL or a line end names no file. */
export const PLACE_FORM = { pattern: /^[^\p{Cc}]{1,4096}$/u, expected: "a text of 1 to 4096 characters without control characters" };

export interface Receipt {
  readonly kind: "receipt";
  readonly specVersion: string;
  /** of this package */
  readonly version: string;
  /** what drew; any other must draw the same */
  readonly backend: string;
  /** of the weights and scales (docs/spec.md, section 8); null for given logits, as all that only a head has */
  readonly headDigest: string | null;
  readonly hiddenDigest: string | null;
  /** null for a head */
  readonly logitsDigest: string | null;
  /** of the head */
  readonly dtype: Dtype | null;
  readonly V: number;
  readonly D: number | null;
  /** rows */
  readonly B: number;
  /** decimal text: a 64-bit number does not survive as a JSON number */
  readonly seed: OfRows<string>;
  readonly temperature: OfRows<number>;
  readonly position: OfRows<number>;
  readonly sequence: OfRows<number>;
  readonly numSamples: number;
  readonly places: ReceiptPlaces;
  readonly draws: readonly ReceiptDraw[];
}

/** What the draws were made from. head: a sampler, or what it says of itself. */
export type DrawnFrom =
  | { readonly head: Pick<Sampler, "dtype" | "vocabSize" | "hiddenSize" | "headDigest">; readonly hiddenStates: FloatData }
  | { readonly vocabSize: number; readonly logits: FloatData };

export interface ReceiptOptions {
  /** the sampler's */
  readonly backend: string;
  readonly from: DrawnFrom;
  /** what the call was given for its rows; a seed that was left out is taken from the result */
  readonly options: DrawOptions;
  /** what the call gave, with details */
  readonly result: SampleResult;
  readonly places?: ReceiptPlaces;
}

/**
 * The receipt of one call of sample() or sampleLogits(), whose arrays must still be as they were.
 * @throws TypeError, RangeError naming the argument; Error without Web Crypto
 */
export async function receiptOf({ backend, from, options, result, places = {} }: ReceiptOptions): Promise<Receipt> {
  const isHead = "head" in from;
  const matrix = isHead ? checkMatrix("hiddenStates", from.hiddenStates, "D", from.head.hiddenSize) : checkMatrix("logits", from.logits, "V", from.vocabSize);
  const { details } = result;
  if (details === undefined) throw new TypeError('"result" expected details of each draw, got none: draw with details: true');
  const { rows, samples } = checkCall({ ...options, seed: result.seed }, matrix.rowCount);
  if (details.length !== rows.length * samples) throw new RangeError(`"result" expected ${rows.length} rows * ${samples} draws, got ${details.length}`);
  checkReceiptSize(rows.length, samples);
  const headDigest = isHead ? from.head.headDigest : null;
  if (isHead && headDigest === null) throw new TypeError(`"head" expected a head with a digest, got ${describe(headDigest)}: weights in a GPU buffer have none`);
  const digest = await valuesDigest(matrix);
  return {
    kind: "receipt",
    specVersion: SPEC_VERSION,
    version: VERSION,
    backend,
    headDigest,
    hiddenDigest: isHead ? digest : null,
    logitsDigest: isHead ? null : digest,
    dtype: isHead ? from.head.dtype : null,
    V: isHead ? from.head.vocabSize : from.vocabSize,
    D: isHead ? from.head.hiddenSize : null,
    B: rows.length,
    seed: ofRows(rows.map(({ seed }) => String(seed))),
    temperature: ofRows(valuesOf(options.temperature ?? 1, rows.length)),
    position: ofRows(rows.map(({ position }) => position)),
    sequence: ofRows(rows.map(({ sequence }) => sequence)),
    numSamples: samples,
    places: inOrder(places),
    draws: details.map(drawOf),
  };
}

/** @throws RangeError for more draws or rows than a receipt holds */
export function checkReceiptSize(rowCount: number, samples: number): void {
  if (rowCount * samples <= RECEIPT_LIMIT) return;
  throw new RangeError(`"receipt" expected at most ${RECEIPT_LIMIT} draws, got ${rowCount} rows * ${samples}`);
}

export function drawOf({ token, scoreBits, status }: SampleDetail): ReceiptDraw {
  return { token, scoreBits: scoreBits === null ? null : BigInt.asUintN(64, scoreBits).toString(16).padStart(16, "0"), status };
}

function inOrder(places: ReceiptPlaces): ReceiptPlaces {
  return Object.fromEntries(PLACE_NAMES.flatMap((name) => (places[name] === undefined ? [] : [[name, places[name]]])));
}

/** -0 and 0 are one temperature, and JSON has no -0. */
function valuesOf(temperature: PerRow, rowCount: number): number[] {
  return Array.from({ length: rowCount }, (_, row) => (typeof temperature === "number" ? temperature : temperature[row]!) + 0);
}

function ofRows<Value>(values: readonly Value[]): OfRows<Value> {
  return values.every((value) => value === values[0]) ? values[0]! : values;
}

/**
 * The text of a receipt: a field a line, a draw a line, always in the same order. Receipts of the same draws from different
 * backends differ in one line.
 */
export function formatReceipt({ places, draws, ...fields }: Receipt): string {
  const lines = Object.entries(fields).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  return `{\n${lines.join("\n")}\n  "places": ${JSON.stringify(places)},\n  "draws": [\n    ${draws.map((draw) => JSON.stringify(draw)).join(",\n    ")}\n  ]\n}\n`;
}
