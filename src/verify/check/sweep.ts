/**
 * The logits of a few rows for all tokens: one pass over the head. Sums are f64, close to the sums without rounding, and so a centre of everybody's.
 */
import { DTYPE_BYTES } from "../../backend.js";
import type { HeadReader } from "../../head/head-reader.js";
import type { WeightData } from "../../spec/logit.js";
import { judgeCore, type JudgeCore } from "./judge-core.js";
import { NORM_SLACK, refuseNotFinite, widenWeights, type HiddenRow } from "./operands.js";
import { scriptProducts, type Block } from "./products.js";
import { createTurns } from "./turns.js";
import { wasmProducts } from "./wasm-products.js";

export interface Swept {
  /** for each row f64 [V]; -Infinity for tokens that are not wanted */
  readonly logits: readonly Float64Array[];
  /** Euclidean norms of the weights, rounded up, f64 [V]; 0 for tokens that are not wanted */
  readonly norms: Float64Array;
}

/**
 * hidden: a few rows
 * @throws RangeError for a weight that is not finite; the signal's reason
 */
export type Sweep = (hidden: readonly HiddenRow[], isWanted: (token: number) => boolean) => Promise<Swept>;

/** Weights that are read at a time. */
const BLOCK_BYTES = 1 << 20;
/** Weights between two turns of the event loop. */
const TURN_WEIGHTS = 1 << 24;

/** One sweep after the other, never two at a time. */
export function createSweep(reader: HeadReader, signal?: AbortSignal, loadCore: () => Promise<JudgeCore | null> = judgeCore): Sweep {
  const { shape } = reader;
  const { vocabSize, hiddenSize, dtype } = shape;
  const rowsAtATime = Math.min(vocabSize, Math.max(1, Math.floor(BLOCK_BYTES / (hiddenSize * DTYPE_BYTES[dtype]))));
  let core: Promise<JudgeCore | null> | undefined;
  return async (hidden, isWanted) => {
    core ??= loadCore();
    const loaded = await core;
    const values = hidden.map((row) => row.values);
    const products = loaded === null ? scriptProducts(shape, values, rowsAtATime) : wasmProducts(loaded, shape, values, rowsAtATime);
    const logits = hidden.map(() => new Float64Array(vocabSize).fill(-Infinity));
    const norms = new Float64Array(vocabSize);
    const worked = createTurns(TURN_WEIGHTS, signal);
    for await (const block of blocks(reader, products.weights, isWanted, signal)) {
      const sums = products.sums(block);
      const width = hidden.length + 1;
      block.wanted.forEach((row, place) => {
        for (let index = 0; index < hidden.length; index++) logits[index]![block.first + row] = sums[place * width + index]!;
        norms[block.first + row] = Math.sqrt(sums[place * width + hidden.length]!) * NORM_SLACK;
      });
      refuseBlock(shape, block, norms);
      await worked(block.wanted.length * hiddenSize);
    }
    return { logits, norms };
  };
}

/** Blocks of rows in weights, which hold so many at a time. A block is dead once the next one is asked for. */
async function* blocks(reader: HeadReader, weights: WeightData, isWanted: (token: number) => boolean, signal?: AbortSignal): AsyncGenerator<Block> {
  const { vocabSize, hiddenSize, dtype } = reader.shape;
  const rows = weights.length / hiddenSize;
  const scalesOfRow = (reader.scales?.length ?? 0) / vocabSize;
  for (let first = 0; first < vocabSize; first += rows) {
    const count = Math.min(rows, vocabSize - first);
    const wanted = Array.from({ length: count }, (_, row) => row).filter((row) => isWanted(first + row));
    if (wanted.length === 0) continue;
    await reader.readRows(first, new Uint8Array(weights.buffer, weights.byteOffset, count * hiddenSize * DTYPE_BYTES[dtype]), signal);
    yield { first, wanted, weights, scales: reader.scales?.subarray(first * scalesOfRow, (first + count) * scalesOfRow) ?? null };
  }
}

function refuseBlock(shape: HeadReader["shape"], { first, wanted, weights }: Block, norms: Float64Array): void {
  const { hiddenSize } = shape;
  for (const row of wanted) {
    if (!Number.isFinite(norms[first + row]!)) refuseNotFinite(widenWeights(shape, weights.subarray(row * hiddenSize, (row + 1) * hiddenSize), null), first + row);
  }
}
