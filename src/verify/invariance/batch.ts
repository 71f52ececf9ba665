/** A call to a sampler as a list of rows: easy to reorder, cut and change. */
import type { SamplerCall } from "../sampler-under-test.js";

export interface Row {
  /** f32 [vocabSize] */
  readonly logits: Float32Array;
  readonly temperature: number;
  readonly seed: bigint;
  readonly sequence: number;
  readonly position: number;
  /** absent: no call of this row has a mask */
  readonly isAllowed?: readonly boolean[];
  readonly topK?: number;
  readonly topP?: number;
}

export interface Batch {
  /** at least one, all of one vocabulary; all or none have a mask, a top-k, a top-p */
  readonly rows: readonly Row[];
  readonly numSamples: number;
  readonly shards?: number;
}

export function toCall({ rows, numSamples, shards }: Batch): SamplerCall {
  const vocabSize = rows[0]!.logits.length;
  const logits = new Float32Array(rows.length * vocabSize);
  rows.forEach((row, index) => logits.set(row.logits, index * vocabSize));
  const [first] = rows;
  return {
    logits,
    rows: rows.length,
    vocabSize,
    numSamples,
    temperature: rows.map(({ temperature }) => temperature),
    seed: rows.map(({ seed }) => seed),
    sequence: rows.map(({ sequence }) => sequence),
    position: rows.map(({ position }) => position),
    ...(first!.isAllowed && { mask: toMask(rows.map(({ isAllowed }) => isAllowed!)) }),
    ...(first!.topK !== undefined && { topK: rows.map(({ topK }) => topK!) }),
    ...(first!.topP !== undefined && { topP: rows.map(({ topP }) => topP!) }),
    ...(shards !== undefined && { shards }),
  };
}

function toMask(rows: readonly (readonly boolean[])[]): Uint32Array {
  const wordsARow = Math.ceil(rows[0]!.length / 32);
  const words = new Uint32Array(rows.length * wordsARow);
  rows.forEach((row, index) =>
    row.forEach((isAllowed, token) => {
      if (isAllowed) words[index * wordsARow + (token >>> 5)]! |= 1 << (token & 31);
    }),
  );
  return words;
}

/** Whether the row has a token to draw: neither NaN nor +Infinity, and at least one token above -Infinity that the mask allows. */
export function hasToken({ logits, isAllowed }: Row): boolean {
  return logits.every((logit) => logit < Infinity) && logits.some((logit, token) => logit > -Infinity && (isAllowed?.[token] ?? true));
}

/** Numbers told of a list. */
const TOLD = 12;

/** Rows of a batch that are told when only one of them matters. */
const TOLD_ROWS = 3;

/** A line a row, "row 1 of 2: logits [0, 0.25], seed 7, ...": all of a small batch, else the row that matters. */
export function describeBatch(batch: Batch, row: number): string {
  const rows = batch.rows.length <= TOLD_ROWS ? batch.rows.map((_, index) => index) : [row];
  return rows.map((index) => describeRow(batch, index)).join("\n");
}

function describeRow({ rows, numSamples, shards }: Batch, index: number): string {
  const { logits, seed, sequence, position, temperature, isAllowed, topK, topP } = rows[index]!;
  return [
    `row ${index} of ${rows.length}: logits ${listText(Array.from(logits))}`,
    `seed ${seed}, sequence ${sequence}, position ${position}, temperature ${temperature}`,
    ...(isAllowed === undefined ? [] : [`allowed tokens ${listText(isAllowed.flatMap((is, token) => (is ? [token] : [])))}`]),
    ...(topK === undefined ? [] : [`top-k ${topK}`]),
    ...(topP === undefined ? [] : [`top-p ${topP}`]),
    ...(shards === undefined ? [] : [`${shards} ${shards === 1 ? "shard" : "shards"}`]),
    ...(numSamples === 1 ? [] : [`${numSamples} samples`]),
  ].join(", ");
}

function listText(values: readonly number[]): string {
  if (values.length > TOLD && values.every((value) => value === values[0])) return `[${values[0]}, all ${values.length} of them]`;
  const more = values.length - TOLD;
  return `[${values.slice(0, TOLD).join(", ")}${more > 0 ? `, ${more} more` : ""}]`;
}
