/**
 * The one request layout every backend reads (docs/spec.md, "Requests"): u32 words, little-endian.
 * A 16-word header, then a 16-word record for each row. Words that mean nothing yet are zero, so that sparse adjustments
 * of Z, masks, min-p, top-k, top-p, masses and speculation find their place without moving what is here.
 */
import { PURPOSE_GUMBEL, SAMPLE_LIMIT } from "./constants.js";

export const REQUEST_MAGIC = 0x31515246; // "FRQ1"
export const HEADER_WORDS = 16;
export const RECORD_WORDS = 16;

// Header words.
export const HEADER_MAGIC = 0;
export const HEADER_TOTAL_WORDS = 1;
export const HEADER_ROWS = 2;
export const HEADER_SAMPLES = 3;

// Record words.
export const RECORD_SEED_LOW = 0;
export const RECORD_SEED_HIGH = 1;
export const RECORD_SEQUENCE = 2;
export const RECORD_POSITION = 3;
export const RECORD_TAU = 4;
export const RECORD_FIRST_SAMPLE = 5;
export const RECORD_PURPOSE = 6;

/** The purpose of the low word is one more, and a byte. */
const PURPOSE_MAX = 254;

/** What one row asks for. */
export interface RowRequest {
  /** 0 <= seed < 2^64 */
  readonly seed: bigint;
  /** u32 */
  readonly sequence: number;
  /** u32 */
  readonly position: number;
  /** temperature in Q24, u32: see tauOf in score.ts */
  readonly tau: number;
  /** number of the row's first draw; the others follow it */
  readonly firstSample?: number;
  /** purpose of the high noise word */
  readonly purpose?: number;
}

export interface Request {
  readonly samples: number;
  readonly rows: readonly Required<RowRequest>[];
}

/** Packs the rows of one call. samples: draws a row, 1..2^24. */
export function encodeRequest(rows: readonly RowRequest[], samples: number): Uint32Array {
  const words = new Uint32Array(HEADER_WORDS + rows.length * RECORD_WORDS);
  words[HEADER_MAGIC] = REQUEST_MAGIC;
  words[HEADER_TOTAL_WORDS] = words.length;
  words[HEADER_ROWS] = rows.length;
  words[HEADER_SAMPLES] = samples;
  rows.forEach((row, index) => {
    const record = HEADER_WORDS + index * RECORD_WORDS;
    words[record + RECORD_SEED_LOW] = Number(row.seed & 0xffffffffn);
    words[record + RECORD_SEED_HIGH] = Number(row.seed >> 32n);
    words[record + RECORD_SEQUENCE] = row.sequence;
    words[record + RECORD_POSITION] = row.position;
    words[record + RECORD_TAU] = row.tau;
    words[record + RECORD_FIRST_SAMPLE] = row.firstSample ?? 0;
    words[record + RECORD_PURPOSE] = row.purpose ?? PURPOSE_GUMBEL;
  });
  return words;
}

/** Reads a packed request back and refuses one it does not understand in full. */
export function decodeRequest(words: Uint32Array): Request {
  const rowCount = words[HEADER_ROWS]!;
  const samples = words[HEADER_SAMPLES]!;
  if (words[HEADER_MAGIC] !== REQUEST_MAGIC) throw new RangeError(`"request" expected the magic word FRQ1, got ${words[HEADER_MAGIC]}`);
  const expectedWords = HEADER_WORDS + rowCount * RECORD_WORDS;
  if (words.length !== expectedWords || words[HEADER_TOTAL_WORDS] !== expectedWords) {
    throw new RangeError(`"request" expected ${expectedWords} words for ${rowCount} rows, got ${words.length}`);
  }
  if (samples < 1 || samples > SAMPLE_LIMIT) throw new RangeError(`"request" expected 1..2^24 samples a row, got ${samples}`);
  refuseReserved(words, HEADER_SAMPLES + 1, HEADER_WORDS);
  const rows = Array.from({ length: rowCount }, (_, index) => {
    const record = HEADER_WORDS + index * RECORD_WORDS;
    refuseReserved(words, record + RECORD_PURPOSE + 1, record + RECORD_WORDS);
    const firstSample = words[record + RECORD_FIRST_SAMPLE]!;
    if (firstSample + samples > SAMPLE_LIMIT) throw new RangeError(`"request" expected sample numbers below 2^24, got ${firstSample} + ${samples}`);
    const purpose = words[record + RECORD_PURPOSE]!;
    if (purpose > PURPOSE_MAX) throw new RangeError(`"request" expected a purpose of at most ${PURPOSE_MAX}, got ${purpose}`);
    return {
      seed: (BigInt(words[record + RECORD_SEED_HIGH]!) << 32n) | BigInt(words[record + RECORD_SEED_LOW]!),
      sequence: words[record + RECORD_SEQUENCE]!,
      position: words[record + RECORD_POSITION]!,
      tau: words[record + RECORD_TAU]!,
      firstSample,
      purpose,
    };
  });
  return { samples, rows };
}

function refuseReserved(words: Uint32Array, from: number, to: number): void {
  for (let word = from; word < to; word++) {
    if (words[word] !== 0) throw new RangeError(`"request" expected reserved word ${word} to be 0, got ${words[word]}`);
  }
}
