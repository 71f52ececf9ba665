/**
 * The scales of an int8 head: one f32 for each row, or for each group of columns of a row.
 * They are positive normal f32 numbers, so that a scaled sum needs no rule for zero, sign or subnormals.
 */
import { describe, nameText } from "../describe.js";
import { widen } from "../matrix.js";
import { DOT_LANES } from "../spec/constants.js";
import { scaleNames, zeroPointNames } from "./find.js";
import type { StoredTensor } from "./safetensors.js";
import { openSource, readBytes, type SourceInput } from "./source.js";
import { openTensors, type TensorFile } from "./tensor-file.js";

export interface Scales {
  /** f32 [V * (D / groupSize)] */
  readonly values: Float32Array;
  /** Columns that share one scale: D, or a multiple of 32 that divides D. */
  readonly groupSize: number;
}

/** Where the scales of a stored head are: a tensor of the same file by its name, or another file (.npy or safetensors). */
export type ScalesLocation = string | { readonly source: SourceInput; readonly tensor?: string };

/**
 * Finds, reads and checks the scales of weights.
 * @throws RangeError when there are none, or they do not suit the weights
 */
export async function readScales(file: TensorFile, weights: StoredTensor, where: ScalesLocation | undefined, signal?: AbortSignal): Promise<Scales> {
  const zeroPoint = zeroPointNames(weights.name).find((name) => file.names.includes(name));
  if (zeroPoint !== undefined) throw new RangeError(`"${file.name}" expected symmetric int8 weights, got a zero point: ${nameText(zeroPoint)}`);
  if (where !== undefined && typeof where !== "string" && (typeof where !== "object" || where === null)) {
    throw new TypeError(`"scales" expected the name of a tensor or { source, tensor? }, got ${describe(where)}`);
  }
  if (typeof where === "object") return readScalesFile(where, weights, signal);
  const name = where ?? scaleNames(weights.name).find((candidate) => file.names.includes(candidate));
  if (name === undefined || !file.names.includes(name)) {
    throw new RangeError(`"scales" expected a tensor named ${[where ?? scaleNames(weights.name)].flat().map(nameText).join(" or ")} beside ${nameText(weights.name)}, got none`);
  }
  return readScalesTensor(await file.tensor(name, signal), weights, signal);
}

async function readScalesFile({ source, tensor }: Exclude<ScalesLocation, string>, weights: StoredTensor, signal: AbortSignal | undefined): Promise<Scales> {
  const opened = await openSource(source, signal);
  try {
    const file = await openTensors(opened, signal);
    const name = tensor ?? (file.names.length === 1 ? file.names[0]! : undefined);
    if (name === undefined || !file.names.includes(name)) {
      throw new RangeError(`"scales" expected ${tensor === undefined ? "a file with one tensor" : `tensor ${nameText(tensor)}`} in ${file.name}, got ${file.names.slice(0, 20).map(nameText).join(", ")}`);
    }
    return await readScalesTensor(await file.tensor(name, signal), weights, signal);
  } finally {
    if (opened !== source) await opened.close();
  }
}

const SCALE_BYTES: ReadonlyMap<string, number> = new Map([["F32", 4], ["F16", 2], ["BF16", 2]]);

async function readScalesTensor(tensor: StoredTensor, weights: StoredTensor, signal: AbortSignal | undefined): Promise<Scales> {
  const [vocabSize, hiddenSize] = weights.shape as [number, number];
  const [rows, groups = 1] = tensor.shape;
  const size = SCALE_BYTES.get(tensor.dtype);
  if (size === undefined) throw new RangeError(`"scales" expected F32, F16 or BF16, got ${nameText(tensor.dtype)}`);
  if (rows !== vocabSize || tensor.shape.length > 2) {
    throw new RangeError(`"scales" expected shape [${vocabSize}], [${vocabSize}, 1] or [${vocabSize}, D / group], got [${tensor.shape.join(", ")}]`);
  }
  const groupSize = groupSizeOf(hiddenSize, groups);
  const { buffer } = await readBytes(tensor.source, tensor.offset, vocabSize * groups * size, signal);
  const values = size === 4 ? new Float32Array(buffer) : widen({ data: new Uint16Array(buffer), dtype: tensor.dtype === "F16" ? "f16" : "bf16" });
  checkScales(values, groups);
  return { values, groupSize };
}

/**
 * Columns that share a scale when a row of hiddenSize columns has this many.
 * @throws RangeError unless it is the whole row, or a multiple of 32 that divides it
 */
export function groupSizeOf(hiddenSize: number, groups: number): number {
  const groupSize = hiddenSize / groups;
  if (groups === 1 || (Number.isInteger(groupSize) && groupSize % DOT_LANES === 0)) return groupSize;
  throw new RangeError(`"scales" expected one a row, or groups of a multiple of ${DOT_LANES} columns, got ${groups} a row of ${hiddenSize} columns`);
}

// Positive normal f32: bits in [2^-126, infinity).
const SMALLEST_NORMAL_BITS = 0x00800000;
const INFINITY_BITS = 0x7f800000;

/** @throws RangeError that names the row and the group of a scale that is not a positive normal number */
export function checkScales(values: Float32Array, groups: number): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const wrong = bits.findIndex((scale) => scale < SMALLEST_NORMAL_BITS || scale >= INFINITY_BITS);
  if (wrong < 0) return;
  const place = `row ${Math.floor(wrong / groups)}, column ${wrong % groups}`;
  throw new RangeError(`"scales" expected positive finite numbers of at least 2^-126, got ${values[wrong]} at ${place}`);
}
