/**
 * A receipt: what was drawn from what, so that anybody can draw it again, on any backend, and confirm each token and score.
 * docs/receipts.md defines each field.
 */
import type { DrawOptions, PerRow } from "../arguments.js";
import type { Dtype } from "../backend.js";
import type { FloatData } from "../matrix.js";
import type { SampleDetail, SampleResult } from "../outcome.js";
import type { Sampler } from "../sampler.js";
import { SPEC_VERSION } from "../spec/constants.js";
import { VERSION } from "../version.js";
import { valuesDigest } from "./receipt-digest.js";
import type { OfRows } from "./receipt-fields.js";
import { readReceiptOptions, type GivenDetail } from "./receipt-given.js";
import { checkReceipt } from "./receipt-read.js";

export { checkReceiptSize, PLACE_FORM, RECEIPT_LIMIT, type OfRows } from "./receipt-fields.js";

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
  /** the sampler's; sampleLogits tells none: the one that it was given, else "wasm". For people: any backend must draw the same */
  readonly backend: string;
  readonly from: DrawnFrom;
  /** what the call was given for its rows; a seed that was left out is taken from the result */
  readonly options: DrawOptions;
  /** what the call gave, with details */
  readonly result: SampleResult;
  readonly places?: ReceiptPlaces | undefined;
}

/**
 * The receipt of one call of sample() or sampleLogits(), whose arrays must still be as they were. checkReceipt takes each that it makes.
 * @throws TypeError, RangeError naming the argument; Error without Web Crypto
 */
export async function receiptOf(options: ReceiptOptions): Promise<Receipt> {
  const { backend, head, vocabSize, matrix, call, temperature, details, places } = readReceiptOptions(options);
  const { rows, samples } = call;
  // Before anything is awaited: the caller may use its arrays again.
  const draws = details.map(drawOf);
  const temperatures = valuesOf(temperature, rows.length);
  const digest = await valuesDigest(matrix);
  return {
    kind: "receipt",
    specVersion: SPEC_VERSION,
    version: VERSION,
    backend,
    headDigest: head === null ? null : head.headDigest,
    hiddenDigest: head === null ? null : digest,
    logitsDigest: head === null ? digest : null,
    dtype: head === null ? null : head.dtype,
    V: vocabSize,
    D: head === null ? null : head.hiddenSize,
    B: rows.length,
    seed: ofRows(rows.map(({ seed }) => String(seed))),
    temperature: ofRows(temperatures),
    position: ofRows(rows.map(({ position }) => position)),
    sequence: ofRows(rows.map(({ sequence }) => sequence)),
    numSamples: samples,
    places,
    draws,
  };
}

export function drawOf({ token, scoreBits, status }: GivenDetail): ReceiptDraw {
  return { token, scoreBits: scoreBits === null ? null : BigInt.asUintN(64, scoreBits).toString(16).padStart(16, "0"), status };
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
 * @throws TypeError, RangeError naming the field of what is no receipt
 */
export function formatReceipt(receipt: Receipt): string {
  const { places, draws, ...fields } = checkReceipt(receipt);
  const lines = Object.entries(fields).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
  return `{\n${lines.join("\n")}\n  "places": ${JSON.stringify(places)},\n  "draws": [\n    ${draws.map((draw) => JSON.stringify(draw)).join(",\n    ")}\n  ]\n}\n`;
}
