/** The arrays that check reads beside logits and hidden states: tokens, a mask, and what may differ from row to row. */
import { readNpyDoubles, readNpyStored, type StoredArray, type StoredKinds } from "../head/npy.js";
import type { ByteSource } from "../head/source.js";
import type { TokenMask } from "../verify/check.js";
import { withArray } from "./read.js";

export interface TokenFile {
  readonly tokens: ArrayLike<number | bigint>;
  readonly numSamples: number;
}

/**
 * [B], [B, numSamples] or [B * numSamples] tokens of any integer type.
 * numSamples: undefined to take it from the shape
 */
export async function readTokens(place: string, rowCount: number, numSamples: number | undefined): Promise<TokenFile> {
  return withArray(place, async (source) => {
    const { data, shape } = await readNpyStored(source);
    const samples = numSamples ?? (shape.length === 2 ? shape[1]! : data.length / rowCount);
    const isFlat = shape.length === 1 && data.length === rowCount * samples;
    const isMatrix = shape.length === 2 && shape[0] === rowCount && shape[1] === samples;
    if (!Number.isInteger(samples) || samples < 1 || (!isFlat && !isMatrix)) {
      const said = numSamples === undefined ? "" : ` and ${numSamples} samples`;
      const question = shape.length === 2 && shape[1] === rowCount ? ": transpose it, if it is [samples, B]" : "";
      throw new RangeError(`"--tokens" expected shape [B], [B, samples] or [B * samples] for B = ${rowCount} ${rowCount === 1 ? "row" : "rows"}${said}, got [${shape.join(", ")}]${question}`);
    }
    return { tokens: data, numSamples: samples };
  });
}

const MASK_KINDS: StoredKinds = { expected: "words (u4, i4) or values (b1, u1, i1) of a mask", kinds: ["u4", "i4", "b1", "u1", "i1"] };

/** [B, width], [1, width] or [width] */
export async function readMask(place: string): Promise<TokenMask> {
  return withArray(place, async (source) => {
    const { data, shape } = await readNpyStored(source, MASK_KINDS);
    if (shape.length < 1 || shape.length > 2 || data.length === 0) throw new RangeError(`"--mask" expected shape [B, width] or [width] with at least one element, got [${shape.join(", ")}]`);
    const { buffer, byteOffset, length, BYTES_PER_ELEMENT } = data;
    const bits = BYTES_PER_ELEMENT === 4 ? new Uint32Array(buffer, byteOffset, length) : new Uint8Array(buffer, byteOffset, length);
    return { data: bits, rowCount: shape.length === 1 ? 1 : shape[0]! };
  });
}

/** u64 or i64 [B], or narrower integers; a negative one is the unsigned number of the same 64 bits. */
export async function readSeeds(place: string, rowCount: number): Promise<BigUint64Array> {
  const data = await readColumn("--seeds", place, rowCount, (source) => readNpyStored(source));
  return BigUint64Array.from(data, (seed: number | bigint) => BigInt.asUintN(64, BigInt(seed)));
}

/** Integers [B]. Their range is the library's to check. */
export async function readPositions(label: string, place: string, rowCount: number): Promise<number[]> {
  return Array.from(await readColumn(label, place, rowCount, (source) => readNpyStored(source)), Number);
}

/** f8, f4 or f2 [B] */
export async function readTemperatures(place: string, rowCount: number): Promise<number[]> {
  return Array.from(await readColumn("--temperatures", place, rowCount, (source) => readNpyDoubles(source)));
}

async function readColumn<Data extends ArrayLike<number | bigint>>(label: string, place: string, rowCount: number, read: (source: ByteSource) => Promise<StoredArray<Data>>): Promise<Data> {
  return withArray(place, async (source) => {
    const { data, shape } = await read(source);
    if (shape.length === 1 && data.length === rowCount) return data;
    throw new RangeError(`"${label}" expected shape [${rowCount}], one a row, got [${shape.join(", ")}]`);
  });
}
