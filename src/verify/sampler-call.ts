/** A call to this package's own sampler as one that is judged, checked before anything is drawn. */
import { checkCall, checkDrawCount, checkInteger } from "../arguments.js";
import { describe } from "../describe.js";
import { ownView, typedArrayKind } from "../typed-arrays.js";
import { checkColumn, checkNumber, readOptions } from "./guards.js";
import type { SamplerCall } from "./sampler-under-test.js";

const VOCAB_LIMIT = 2 ** 31;
const KNOWN = ["logits", "rows", "vocabSize", "numSamples", "temperature", "seed", "sequence", "position", "mask", "topK", "topP", "shards"];

/** A call whose arrays fit each other. @throws TypeError, RangeError naming the field */
export function readCall(given: SamplerCall): SamplerCall {
  const call = readOptions(given, KNOWN, "call");
  const { rows, vocabSize, numSamples, mask, topK, topP, shards } = call;
  checkInteger("vocabSize", vocabSize, 1, VOCAB_LIMIT);
  checkInteger("rows", rows, 1, VOCAB_LIMIT);
  if (numSamples === undefined) throw new TypeError('"numSamples" expected an integer, got undefined');
  const logits = readLogits(call.logits, rows, vocabSize);
  const columns = readColumns(call);
  checkDrawCount(rows, numSamples, shards !== undefined);
  if (topK !== undefined) checkEach("topK", topK, rows, (label, count) => checkInteger(label, count, 1, VOCAB_LIMIT));
  if (topP !== undefined) checkEach("topP", topP, rows, (label, mass) => checkNumber(label, mass, 0, 1));
  if (shards !== undefined) checkInteger("shards", shards, 1, vocabSize + 1);
  return { ...call, ...columns, logits, ...(mask !== undefined && { mask: readMask(mask, rows, vocabSize) }) };
}

/** What each row has. */
function readColumns({ rows, numSamples, temperature, seed, sequence, position }: SamplerCall): Pick<SamplerCall, "seed"> {
  checkEach("seed", seed, rows, checkSeed);
  for (const [name, values] of Object.entries({ temperature, sequence, position })) checkColumn(name, values, rows);
  checkCall({ temperature, sequence, position, numSamples, seed: 0n, onInvalid: "mark" }, rows);
  return { seed: Array.from(seed) };
}

function checkSeed(label: string, seed: unknown): void {
  if (typeof seed !== "bigint") throw new TypeError(`"${label}" expected a bigint in [0, 2^64), got ${describe(seed)}`);
  if (BigInt.asUintN(64, seed) !== seed) throw new RangeError(`"${label}" expected a bigint in [0, 2^64), got ${describe(seed)}`);
}

function checkEach(label: string, values: unknown, rows: number, check: (label: string, value: unknown) => void): void {
  checkColumn(label, values, rows);
  for (let row = 0; row < rows; row++) check(`${label}[${row}]`, values[row]);
}

function readLogits(logits: unknown, rows: number, vocabSize: number): Float32Array {
  if (typedArrayKind(logits) !== "Float32Array") throw new TypeError(`"logits" expected a Float32Array, got ${describe(logits)}`);
  const own = ownView(logits, Float32Array);
  if (own.length !== rows * vocabSize) throw new RangeError(`"logits" expected ${rows} rows * ${vocabSize} values, got ${own.length}`);
  return own;
}

function readMask(mask: unknown, rows: number, vocabSize: number): Uint32Array {
  if (typedArrayKind(mask) !== "Uint32Array") throw new TypeError(`"mask" expected a Uint32Array, got ${describe(mask)}`);
  const own = ownView(mask, Uint32Array);
  const words = Math.ceil(vocabSize / 32);
  if (own.length !== rows * words) throw new RangeError(`"mask" expected ${rows} rows * ${words} words, got ${own.length}`);
  return own;
}
