/** Made-up rows. Their logits are small multiples of 1/8: exact in every format, and short to print. */
import type { Batch, Row } from "./batch.js";
import type { Making } from "./case.js";

/** Draws a row, where a sampler can draw several. */
const SAMPLES = 4;

export function samplesOf({ reads }: Pick<Making, "reads">): number {
  return reads.has("samples") ? SAMPLES : 1;
}

/** f32 [vocabSize] in [-2, 2): every token is drawn now and then. */
export function nearlyFlat({ random }: Making, vocabSize: number): Float32Array {
  return Float32Array.from({ length: vocabSize }, () => (random.below(32) - 16) / 8);
}

/** f32 [vocabSize], no two the same. */
export function distinct({ random }: Making, vocabSize: number): Float32Array {
  return Float32Array.from(random.order(vocabSize), (place) => (place - (vocabSize >> 1)) / 8);
}

export function someSeed({ random }: Making): bigint {
  return BigInt(1 + random.below(1_000_000));
}

/** A batch as plain as it can be: one seed, one temperature, one position, and a sequence a row where there are sequences. */
export function plainBatch(making: Making, logits = nearlyFlat): Batch {
  const { rows, vocabSize, random, reads } = making;
  const seed = someSeed(making);
  const position = reads.has("position") ? random.below(1000) : 0;
  return {
    numSamples: samplesOf(making),
    rows: Array.from({ length: rows }, (_, row) => ({
      logits: logits(making, vocabSize),
      temperature: 1,
      seed,
      sequence: reads.has("sequence") ? row : 0,
      position,
    })),
  };
}

/** The same batch with some of a row's values changed. */
export function withRows(batch: Batch, change: (row: Row, index: number) => Partial<Row>): Batch {
  return { ...batch, rows: batch.rows.map((row, index) => ({ ...row, ...change(row, index) })) };
}

/** The rows of a batch, in the order of `rows`. */
export function takeRows(batch: Batch, rows: readonly number[]): Batch {
  return { ...batch, rows: rows.map((row) => batch.rows[row]!) };
}

/** Each row its own place. */
export function inOrder({ rows }: Batch): number[] {
  return rows.map((_, row) => row);
}
