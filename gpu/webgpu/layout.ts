/**
 * How a head lies in a buffer. A thread multiplies four consecutive columns of a block of 32, and loads 16 bytes at a time: a
 * *unit* is as many blocks as make 16 bytes of four columns each. Within a unit, what one thread reads lies together:
 * [rows, units, THREADS_A_ROW, blocks of the unit, 4 columns].
 */
import { DTYPE_BYTES, type HeadShape } from "../../src/backend.js";
import { DOT_LANES } from "../../src/spec/constants.js";

/** Threads that share a weight row: each has 4 of the 32 lanes. */
export const THREADS_A_ROW = 8;

export interface HeadLayout {
  /** blocks of 32 columns in a unit */
  readonly unitBlocks: number;
  /** units in a row */
  readonly units: number;
  /** scales in a row, 1 without scales */
  readonly groups: number;
  /** columns of a row with the zeros that fill its last unit; hidden states are as long */
  readonly paddedSize: number;
  /** bytes of a row in the buffer */
  readonly rowBytes: number;
}

export function layOutHead({ dtype, hiddenSize, groupSize }: HeadShape): HeadLayout {
  const groups = dtype === "int8" ? hiddenSize / groupSize : 1;
  const blocks = Math.ceil(hiddenSize / DOT_LANES);
  // No unit may lie in two groups.
  const unitBlocks = groups > 1 && (blocks / groups) % 4 !== 0 ? 1 : 4 / DTYPE_BYTES[dtype];
  // One group: an even number of units, so that a step of two leaves no rest.
  const units = groups > 1 ? blocks / unitBlocks : 2 * Math.ceil(blocks / unitBlocks / 2);
  const paddedSize = units * unitBlocks * DOT_LANES;
  return { unitBlocks, units, groups, paddedSize, rowBytes: paddedSize * DTYPE_BYTES[dtype] };
}

/** Brings padded rows, column after column, into the order of the buffer. Both hold whole rows, 4-byte aligned. */
export function arrangeRows(rows: Uint8Array, arranged: Uint8Array, bytesAWeight: number, { unitBlocks }: HeadLayout): void {
  const source = new Uint32Array(rows.buffer, rows.byteOffset, rows.byteLength / 4);
  const target = new Uint32Array(arranged.buffer, arranged.byteOffset, source.length);
  const words = bytesAWeight; // of four columns
  const unitWords = unitBlocks * THREADS_A_ROW * words;
  for (let unit = 0; unit < source.length; unit += unitWords) {
    let at = unit;
    for (let part = 0; part < THREADS_A_ROW; part++) {
      for (let block = 0; block < unitBlocks; block++) {
        const from = unit + (block * THREADS_A_ROW + part) * words;
        for (let word = 0; word < words; word++) target[at++] = source[from + word]!;
      }
    }
  }
}
