/** The distributions softmax(logits / T) that the tokens are judged by: rows with equal logits are one distribution. */
import { rowDigest } from "../../head/digest.js";

export interface Distributions {
  readonly vocabSize: number;
  /** how many different ones */
  readonly count: number;
  /** of each row of logits, its distribution */
  readonly ofRow: Int32Array;
  /** a row of each distribution, for its name */
  readonly rowOf: Int32Array;
  /** how far a token's logit / T lies below the highest; Infinity: masked */
  gap(distribution: number, token: number): number;
  /** 0 only for masked tokens */
  probability(distribution: number, token: number): number;
}

/** exp(-gap) is a normal f64 up to here: a token further below keeps this much, so that only masked ones have none. */
const LARGEST_GAP = 690;

/**
 * logits: [rows, vocabSize], row-major, f32 or f64.
 * @throws RangeError for a row with NaN, +Infinity, or -Infinity alone
 */
export function distributionsOf(logits: Float32Array | Float64Array, vocabSize: number, temperature: number): Distributions {
  const rowCount = logits.length / vocabSize;
  const highest = Float64Array.from({ length: rowCount }, (_, row) => highestOf(logits.subarray(row * vocabSize, (row + 1) * vocabSize), row));
  const { ofRow, rowOf } = distinct(logits, vocabSize, rowCount);
  const gap = (distribution: number, token: number): number => {
    const row = rowOf[distribution]!;
    const logit = logits[row * vocabSize + token]!;
    return logit === -Infinity ? Infinity : Math.min((highest[row]! - logit) / temperature, Number.MAX_VALUE);
  };
  const weight = (gap: number): number => (gap === Infinity ? 0 : Math.exp(-Math.min(gap, LARGEST_GAP)));
  const totals = Float64Array.from(rowOf, (_, distribution) => {
    let total = 0;
    for (let token = 0; token < vocabSize; token++) total += weight(gap(distribution, token));
    return total;
  });
  const probability = (distribution: number, token: number): number => weight(gap(distribution, token)) / totals[distribution]!;
  return { vocabSize, count: rowOf.length, ofRow, rowOf, gap, probability };
}

function highestOf(logits: Float32Array | Float64Array, row: number): number {
  let highest = -Infinity;
  for (let token = 0; token < logits.length; token++) {
    const logit = logits[token]!;
    if (!(logit < Infinity)) throw new RangeError(`"logits" expected finite numbers or -Infinity, got ${logit} in row ${row}, token ${token}`);
    if (logit > highest) highest = logit;
  }
  if (highest === -Infinity) throw new RangeError(`"logits" expected a token that is not masked in each row, got -Infinity alone in row ${row}`);
  return highest;
}

/** Rows are told apart by their bits, found by a digest. */
function distinct(logits: Float32Array | Float64Array, vocabSize: number, rowCount: number): { ofRow: Int32Array; rowOf: Int32Array } {
  const size = vocabSize * logits.BYTES_PER_ELEMENT;
  const view = new DataView(logits.buffer, logits.byteOffset, logits.byteLength);
  const byDigest = new Map<string, number[]>();
  const ofRow = new Int32Array(rowCount);
  const rowOf: number[] = [];
  for (let row = 0; row < rowCount; row++) {
    const key = rowDigest(view, row * size, size).join(" ");
    const candidates = byDigest.get(key) ?? [];
    byDigest.set(key, candidates);
    const known = candidates.find((distribution) => areEqual(logits, rowOf[distribution]! * vocabSize, row * vocabSize, vocabSize));
    ofRow[row] = known ?? rowOf.length;
    if (known !== undefined) continue;
    candidates.push(rowOf.length);
    rowOf.push(row);
  }
  return { ofRow, rowOf: Int32Array.from(rowOf) };
}

function areEqual(values: Float32Array | Float64Array, first: number, second: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (values[first + index] !== values[second + index]) return false;
  return true;
}
