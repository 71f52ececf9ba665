/** What receiptOf is given, checked before anything is hashed: it makes no receipt that checkReceipt would refuse. */
import { CALL_OPTIONS, checkCall, type CheckedCall, type DrawOptions } from "../arguments.js";
import { DTYPE_BYTES, type Dtype } from "../backend.js";
import { describe } from "../describe.js";
import { checkMatrix, type FloatData, type Matrix } from "../matrix.js";
import type { SampleDetail, SampleResult } from "../outcome.js";
import { ownView, typedArrayKind } from "../typed-arrays.js";
import { readOptions } from "./guards.js";
import { fieldsOf, isList, isRecord } from "./values.js";
import { BACKEND, checkedChoice, checkedInteger, checkedText, checkReceiptSize, DIGEST, HIDDEN_LIMIT, PLACE_FORM, PLACE_NAMES, STATUSES, VOCAB_LIMIT } from "./receipt-fields.js";
import type { DrawnFrom, ReceiptOptions, ReceiptPlaces } from "./receipt.js";

/** What a head says of itself; null for given logits. */
interface GivenHead {
  readonly dtype: Dtype;
  readonly hiddenSize: number;
  readonly headDigest: string;
}

/** What a receipt says of a draw. */
export type GivenDetail = Pick<SampleDetail, "token" | "scoreBits" | "status">;

export interface ReceiptGiven {
  readonly backend: string;
  readonly head: GivenHead | null;
  readonly vocabSize: number;
  /** hidden states, or logits */
  readonly matrix: Matrix;
  readonly call: CheckedCall;
  readonly temperature: NonNullable<DrawOptions["temperature"]>;
  readonly details: readonly GivenDetail[];
  /** in the order of PLACE_NAMES */
  readonly places: ReceiptPlaces;
}

/** The options of a call may come with what it was made from, as sample() and sampleLogits() take them. */
const DRAW_OPTIONS = [...CALL_OPTIONS, "hiddenStates", "logits", "vocabSize", "backend", "stream"];

/** @throws TypeError, RangeError naming the argument */
export function readReceiptOptions(given: ReceiptOptions): ReceiptGiven {
  const { backend, from, options, result, places = {} } = readOptions(given, ["backend", "from", "options", "result", "places"], "receipt");
  checkedText("backend", BACKEND, backend);
  const inputs = readInputs(from);
  const draws = readOptions(options, DRAW_OPTIONS) as DrawOptions;
  const { seed, details, tokens } = readResult(result);
  const call = checkCall({ ...draws, seed }, inputs.matrix.rowCount);
  if (draws.seed !== undefined) compareSeeds(checkCall(draws, inputs.matrix.rowCount), call);
  const { rows, samples } = call;
  checkReceiptSize(rows.length, samples);
  if (details.length !== rows.length * samples) throw new RangeError(`"result" expected ${rows.length} rows * ${samples} draws, got ${details.length}`);
  const told = Array.from(details, (detail, index) => readDetail(`result.details[${index}]`, detail, inputs.vocabSize));
  compareTokens(tokens, told);
  return { backend, ...inputs, call, temperature: draws.temperature ?? 1, details: told, places: readPlaces(places) };
}

const FROM = ["head", "hiddenStates", "vocabSize", "logits"] as const;

function readInputs(from: DrawnFrom): Pick<ReceiptGiven, "head" | "vocabSize" | "matrix"> {
  const { head, hiddenStates, vocabSize, logits } = readOptions<{ readonly [Name in (typeof FROM)[number]]?: unknown }>(from, FROM, "from");
  if (head === undefined) {
    if (hiddenStates !== undefined) throw new TypeError('"from.head" expected a sampler with hiddenStates, got undefined');
    const columns = checkedInteger("from.vocabSize", vocabSize, 1, VOCAB_LIMIT);
    return { head: null, vocabSize: columns, matrix: checkMatrix("logits", logits as FloatData, "V", columns) };
  }
  for (const [name, value] of Object.entries({ vocabSize, logits })) if (value !== undefined) throw new TypeError(`"from.${name}" expected none beside a head, got ${describe(value)}`);
  if (!isRecord(head)) throw new TypeError(`"from.head" expected a sampler, or what it says of itself, got ${describe(head)}`);
  const dtype = checkedChoice("from.head.dtype", Object.keys(DTYPE_BYTES), head.dtype) as Dtype;
  const columns = checkedInteger("from.head.vocabSize", head.vocabSize, 1, VOCAB_LIMIT);
  const hiddenSize = checkedInteger("from.head.hiddenSize", head.hiddenSize, 1, HIDDEN_LIMIT);
  const matrix = checkMatrix("hiddenStates", hiddenStates as FloatData, "D", hiddenSize);
  if (head.headDigest === null) throw new TypeError('"head" expected a head with a digest, got null: weights in a GPU buffer have none');
  return { head: { dtype, hiddenSize, headDigest: checkedText("from.head.headDigest", DIGEST, head.headDigest) }, vocabSize: columns, matrix };
}

/** The arrays of a result are taken by their own slots. */
function readResult(result: SampleResult): { readonly seed: SampleResult["seed"]; readonly details: readonly unknown[]; readonly tokens: Int32Array } {
  if (!isRecord(result)) throw new TypeError(`"result" expected what sample() or sampleLogits() gave, got ${describe(result)}`);
  const { tokens, seed, details } = fieldsOf(result, ["tokens", "seed", "details"]);
  if (typedArrayKind(tokens) !== "Int32Array") throw new TypeError(`"result.tokens" expected an Int32Array, got ${describe(tokens)}`);
  const drawn = ownView(tokens, Int32Array);
  if (details === undefined) throw new TypeError('"result" expected details of each draw, got none: draw with details: true');
  if (!isList(details)) throw new TypeError(`"result.details" expected a list of draws, got ${describe(details)}`);
  if (typedArrayKind(seed) === "BigUint64Array") return { seed: ownView(seed, BigUint64Array).slice(), details, tokens: drawn };
  if (typeof seed !== "bigint") throw new TypeError(`"result.seed" expected a bigint or a BigUint64Array, got ${describe(seed)}`);
  return { seed, details, tokens: drawn };
}

function compareTokens(tokens: Int32Array, details: readonly GivenDetail[]): void {
  if (tokens.length !== details.length) throw new RangeError(`"result.tokens" expected ${details.length}, as there are details, got ${tokens.length}`);
  const index = details.findIndex(({ token }, draw) => token !== tokens[draw]);
  if (index >= 0) throw new RangeError(`"result.tokens[${index}]" expected ${details[index]!.token}, as its details say, got ${tokens[index]}`);
}

/** What a call was given must be what it used. */
function compareSeeds(given: CheckedCall, used: CheckedCall): void {
  const row = given.rows.findIndex(({ seed }, index) => seed !== used.rows[index]!.seed);
  if (row >= 0) throw new RangeError(`"options.seed" expected ${used.rows[row]!.seed} for row ${row}, as the result says, got ${given.rows[row]!.seed}`);
}

function readDetail(label: string, detail: unknown, vocabSize: number): GivenDetail {
  if (!isRecord(detail)) throw new TypeError(`"${label}" expected the details of a draw, got ${describe(detail)}`);
  const { token, scoreBits, status } = fieldsOf(detail, ["token", "scoreBits", "status"]) as Partial<GivenDetail>;
  checkedChoice(`${label}.status`, STATUSES, status);
  const isOk = status === "ok";
  checkedInteger(`${label}.token`, token, isOk ? 0 : -1, isOk ? vocabSize : 0);
  if (!isOk && scoreBits !== null) throw new TypeError(`"${label}.scoreBits" expected null, got ${describe(scoreBits)}`);
  if (isOk && typeof scoreBits !== "bigint") throw new TypeError(`"${label}.scoreBits" expected a bigint, got ${describe(scoreBits)}`);
  if (isOk && BigInt.asIntN(64, scoreBits!) !== scoreBits) throw new RangeError(`"${label}.scoreBits" expected a signed integer of 64 bits, got ${describe(scoreBits)}`);
  return { token: token!, scoreBits: scoreBits!, status: status! };
}

function readPlaces(places: ReceiptPlaces): ReceiptPlaces {
  const given = readOptions(places, PLACE_NAMES, "places");
  return Object.fromEntries(Object.entries(given).map(([name, place]) => [name, checkedText(`places.${name}`, PLACE_FORM, place)]));
}
