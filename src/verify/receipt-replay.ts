/** Draws a receipt again, and tells the first thing that is not as it says. */
import type { DrawOptions } from "../arguments.js";
import type { BackendName } from "../backends/list.js";
import { sampleLogits } from "../logits.js";
import { checkMatrix, type FloatData, type Matrix } from "../matrix.js";
import type { SampleDetail } from "../outcome.js";
import { createSampler, type Sampler, type SamplerOptions } from "../sampler.js";
import { checkBackend } from "./backend-name.js";
import { abortable, checkCallback, checkSignal, readOptions, type OrUndefined } from "./guards.js";
import { readHeadPlaces } from "./head-input.js";
import { valuesDigest } from "./receipt-digest.js";
import { checkReceipt } from "./receipt-read.js";
import { drawOf, type Receipt, type ReceiptDraw } from "./receipt.js";

/** What a receipt's draws were made from: weights as createSampler takes them, or logits. */
export type ReplayInputs = OrUndefined<HeadInputs> | LogitsInputs;

type HeadInputs = Pick<SamplerOptions, "weights" | "tensor" | "scales" | "signal" | "onProgress"> & { readonly hiddenStates: FloatData };
type LogitsInputs = { readonly logits: FloatData };

/** An input that is not the receipt's, and the first of its properties that shows it. */
export interface OtherInput {
  readonly input: "head" | "hidden states" | "logits";
  readonly property: "dtype" | "V" | "D" | "B" | "digest";
  readonly expected: string | number | null;
  readonly got: string | number | null;
}

/** The first draw that is not the receipt's, and how many are not. */
export interface OtherDraw {
  readonly row: number;
  readonly sample: number;
  readonly expected: ReceiptDraw;
  readonly got: ReceiptDraw;
  readonly count: number;
}

export interface Replay {
  /** all inputs, tokens, scores and statuses are the receipt's */
  readonly confirmed: boolean;
  /** null: they are the receipt's */
  readonly input: OtherInput | null;
  /** null: they are the receipt's, or were not made because an input is not */
  readonly draw: OtherDraw | null;
}

const CONFIRMED: Replay = { confirmed: true, input: null, draw: null };

/**
 * Compares the inputs with a receipt, then draws from them and compares each draw.
 * receipt: from anywhere; it is checked first
 * @throws TypeError, RangeError naming the argument or the receipt's field; what createSampler and sample throw; the signal's reason, whatever that is
 */
export async function replay(receipt: unknown, inputs: ReplayInputs, backend: BackendName | "auto"): Promise<Replay> {
  const checked = checkReceipt(receipt);
  const given = readOptions(inputs as Partial<HeadInputs & LogitsInputs>, ["weights", "hiddenStates", "logits", "tensor", "scales", "signal", "onProgress"], "inputs");
  checkBackend(backend);
  const isHead = given.hiddenStates !== undefined || given.weights !== undefined;
  if (isHead !== (checked.dtype !== null)) {
    const [expected, got] = isHead ? ["logits", "a head"] : ["weights and hidden states", given.logits === undefined ? "neither" : "logits"];
    throw new TypeError(`"inputs" expected ${expected}, as the receipt's draws were made from, got ${got}`);
  }
  if (!isHead) return replayLogits(checked, checkLogitsInputs(given), backend);
  const head = checkHeadInputs(given);
  return abortable(head.signal, () => replayHead(checked, head, backend));
}

function checkHeadInputs({ logits, weights, hiddenStates, ...rest }: Partial<HeadInputs & LogitsInputs>): HeadInputs {
  if (logits !== undefined) throw new TypeError('"inputs" expected a head or logits, got both');
  const head = readHeadPlaces({ weights, tensor: rest.tensor, scales: rest.scales });
  checkMatrix("hiddenStates", hiddenStates as FloatData, "D", 1);
  checkSignal(rest.signal);
  checkCallback("onProgress", rest.onProgress);
  return { ...rest, weights: head, hiddenStates: hiddenStates! };
}

/** Logits in memory are no file: what tells of one would not be read. */
function checkLogitsInputs({ logits, ...rest }: Partial<HeadInputs & LogitsInputs>): FloatData {
  const [other] = Object.keys(rest);
  if (other !== undefined) throw new TypeError(`"inputs" expected logits alone, got ${other}`);
  return logits as FloatData;
}

async function replayHead(receipt: Receipt, { hiddenStates, ...head }: HeadInputs, backend: BackendName | "auto"): Promise<Replay> {
  const matrix = checkMatrix("hiddenStates", hiddenStates, "D", receipt.D!);
  const otherMatrix = await compareMatrix(receipt, matrix, receipt.D!);
  if (otherMatrix !== null) return otherInput(otherMatrix);
  const sampler = await createSampler({ ...head, backend });
  try {
    const otherHead = compareHead(receipt, sampler);
    if (otherHead !== null) return otherInput(otherHead);
    const { details } = await sampler.sample({ hiddenStates, ...drawOptions(receipt) });
    return compareDraws(receipt, details!);
  } finally {
    sampler.dispose();
  }
}

async function replayLogits(receipt: Receipt, logits: FloatData, backend: BackendName | "auto"): Promise<Replay> {
  const matrix = checkMatrix("logits", logits, "V", receipt.V);
  const other = await compareMatrix(receipt, matrix, receipt.V);
  if (other !== null) return otherInput(other);
  const { details } = await sampleLogits({ logits, vocabSize: receipt.V, backend, ...drawOptions(receipt) });
  return compareDraws(receipt, details!);
}

const otherInput = (input: OtherInput): Replay => ({ confirmed: false, input, draw: null });

/** Hidden states or logits against a receipt's. @returns null when they are the same */
export async function compareMatrix(receipt: Receipt, matrix: Pick<Matrix, "data" | "dtype" | "rowCount">, columns: number): Promise<OtherInput | null> {
  const isHead = receipt.dtype !== null;
  const input = isHead ? "hidden states" : "logits";
  return (
    firstOther(input, [
      [isHead ? "D" : "V", isHead ? receipt.D : receipt.V, columns],
      ["B", receipt.B, matrix.rowCount],
    ]) ?? firstOther(input, [["digest", isHead ? receipt.hiddenDigest : receipt.logitsDigest, await valuesDigest(matrix)]])
  );
}

/** A head against a receipt's; one whose weights are not read yet has no digest, and only its shape is compared. */
export function compareHead(receipt: Receipt, { dtype, vocabSize, hiddenSize, headDigest }: Pick<Sampler, "dtype" | "vocabSize" | "hiddenSize"> & { readonly headDigest?: string | null }): OtherInput | null {
  const shape: Compared[] = [["dtype", receipt.dtype, dtype], ["V", receipt.V, vocabSize], ["D", receipt.D, hiddenSize]];
  return firstOther("head", headDigest === undefined ? shape : [...shape, ["digest", receipt.headDigest, headDigest]]);
}

type Compared = [property: OtherInput["property"], expected: OtherInput["expected"], got: OtherInput["got"]];

function firstOther(input: OtherInput["input"], properties: readonly Compared[]): OtherInput | null {
  const other = properties.find(([, expected, got]) => expected !== got);
  return other === undefined ? null : { input, property: other[0], expected: other[1], got: other[2] };
}

/** What the rows of the call were given. */
function drawOptions({ seed, temperature, position, sequence, numSamples, B }: Receipt) {
  const options: DrawOptions = {
    seed: typeof seed === "string" ? BigInt(seed) : BigUint64Array.from(seed, BigInt),
    temperature,
    position,
    // Left out, it would be each row's index.
    sequence: typeof sequence === "number" ? Array<number>(B).fill(sequence) : sequence,
    numSamples,
  };
  return { ...options, details: true, onInvalid: "mark" } as const;
}

function compareDraws(receipt: Receipt, details: readonly SampleDetail[]): Replay {
  const drawn = details.map(drawOf);
  const isOther = ({ token, scoreBits, status }: ReceiptDraw, index: number) => {
    const got = drawn[index]!;
    return token !== got.token || scoreBits !== got.scoreBits || status !== got.status;
  };
  const first = receipt.draws.findIndex(isOther);
  if (first < 0) return CONFIRMED;
  const draw = {
    row: Math.floor(first / receipt.numSamples),
    sample: first % receipt.numSamples,
    expected: receipt.draws[first]!,
    got: drawn[first]!,
    count: receipt.draws.filter(isOther).length,
  };
  return { confirmed: false, input: null, draw };
}
