/**
 * The logits of a few rows for all tokens: one pass over the head. Sums are f64, in any order: close to the sums without rounding, and so a centre of
 * everybody's. Works on 8 rows at a time, and on columns that stay in the first-level cache.
 */
import { DTYPE_BYTES, type HeadShape } from "../../backend.js";
import type { HeadReader } from "../../head/head-reader.js";
import { weightsIn, type WeightData } from "../../spec/logit.js";
import { addRow, LANES, setTile, SUMS, TILE_COLUMNS } from "./dot-tile.js";
import { NORM_SLACK, refuseNotFinite, widenWeights, type HiddenRow } from "./operands.js";
import { createTurns } from "./turns.js";

export interface Swept {
  /** for each row f64 [V]; -Infinity for tokens that are not wanted */
  readonly logits: readonly Float64Array[];
  /** Euclidean norms of the weights, rounded up, f64 [V]; 0 for tokens that are not wanted */
  readonly norms: Float64Array;
}

/** Some consecutive rows of the head. */
interface Block {
  readonly first: number;
  /** of its rows, those that are wanted: 0 is the first */
  readonly wanted: readonly number[];
  /** as they are stored */
  readonly weights: WeightData;
  /** of all its rows, for int8 */
  readonly scales: Float32Array | null;
}

/** A second-level cache holds so many. */
const BLOCK_WEIGHTS = 1 << 16;
/** Weights between two turns of the event loop. */
const TURN_WEIGHTS = 1 << 24;

/** @throws RangeError for a weight that is not finite; the signal's reason */
export async function sweep(reader: HeadReader, hidden: readonly HiddenRow[], isWanted: (token: number) => boolean, signal?: AbortSignal): Promise<Swept> {
  const { vocabSize, hiddenSize } = reader.shape;
  const groups = interleaved(hidden, hiddenSize);
  const logits = hidden.map(() => new Float64Array(vocabSize).fill(-Infinity));
  const norms = new Float64Array(vocabSize);
  const worked = createTurns(TURN_WEIGHTS, signal);
  for await (const block of blocks(reader, isWanted, signal)) {
    const { first, wanted } = block;
    for (const [index, group] of groups.entries()) {
      const sums = sumsOf(reader.shape, block, group);
      wanted.forEach((row, place) => {
        for (let lane = 0; lane < LANES && index * LANES + lane < hidden.length; lane++) logits[index * LANES + lane]![first + row] = sums[place * SUMS + lane]!;
        norms[first + row] = Math.sqrt(sums[place * SUMS + LANES]!) * NORM_SLACK;
      });
    }
    refuseBlock(reader.shape, block, norms);
    await worked(wanted.length * hiddenSize);
  }
  return { logits, norms };
}

/** Hidden rows in groups of 8, the values of a column side by side. The last group is filled up with zeros. */
function interleaved(hidden: readonly HiddenRow[], hiddenSize: number): Float64Array[] {
  return Array.from({ length: Math.ceil(hidden.length / LANES) }, (_, group) => {
    const values = new Float64Array(hiddenSize * LANES);
    hidden.slice(group * LANES, (group + 1) * LANES).forEach((row, lane) => row.values.forEach((value, column) => (values[column * LANES + lane] = value)));
    return values;
  });
}

/** A block is dead once the next one is asked for. */
async function* blocks(reader: HeadReader, isWanted: (token: number) => boolean, signal?: AbortSignal): AsyncGenerator<Block> {
  const { vocabSize, hiddenSize, dtype } = reader.shape;
  const rows = Math.max(1, Math.floor(BLOCK_WEIGHTS / hiddenSize));
  const bytes = new Uint8Array(rows * hiddenSize * DTYPE_BYTES[dtype]);
  const weights = weightsIn(bytes.buffer, dtype);
  const scalesOfRow = (reader.scales?.length ?? 0) / vocabSize;
  for (let first = 0; first < vocabSize; first += rows) {
    const count = Math.min(rows, vocabSize - first);
    const wanted = Array.from({ length: count }, (_, row) => row).filter((row) => isWanted(first + row));
    if (wanted.length === 0) continue;
    await reader.readRows(first, bytes.subarray(0, count * hiddenSize * DTYPE_BYTES[dtype]), signal);
    yield { first, wanted, weights, scales: reader.scales?.subarray(first * scalesOfRow, (first + count) * scalesOfRow) ?? null };
  }
}

/** What addRow sums up of the wanted rows of a block, f64 [wanted, 9]. */
function sumsOf({ dtype, hiddenSize, groupSize }: HeadShape, { wanted, weights, scales }: Block, group: Float64Array): Float64Array {
  const sums = new Float64Array(wanted.length * SUMS);
  const scaled = scales === null ? hiddenSize : groupSize;
  for (let start = 0; start < hiddenSize; start += scaled) {
    for (let column = start; column < start + scaled; column += TILE_COLUMNS) {
      const end = Math.min(start + scaled, column + TILE_COLUMNS);
      setTile(group.subarray(column * LANES, end * LANES));
      wanted.forEach((row, place) => {
        const scale = scales === null ? 1 : scales[(row * hiddenSize + start) / scaled]!;
        addRow(dtype, weights.subarray(row * hiddenSize + column, row * hiddenSize + end), scale, sums, place * SUMS);
      });
    }
  }
  return sums;
}

function refuseBlock(shape: HeadShape, { first, wanted, weights }: Block, norms: Float64Array): void {
  const { hiddenSize } = shape;
  for (const row of wanted) {
    if (!Number.isFinite(norms[first + row]!)) refuseNotFinite(widenWeights(shape, weights.subarray(row * hiddenSize, (row + 1) * hiddenSize), null), first + row);
  }
}
