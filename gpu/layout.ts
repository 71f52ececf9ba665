/**
 * How a head and its hidden states lie in a device's buffers. A thread has one of the 32 lanes of a dot product and loads its
 * weights four blocks of 32 columns at a time, a *unit*: [rows, units, DOT_LANES, UNIT_BLOCKS]. The hidden rows of one workgroup
 * lie side by side: [blocks of rows, columns, rows of the block].
 */
import { DTYPE_BYTES, type HeadShape } from "../src/backend.js";
import { DOT_LANES } from "../src/spec/constants.js";

/** Blocks of a unit in memory. */
export const UNIT_BLOCKS = 4;
const UNIT_COLUMNS = UNIT_BLOCKS * DOT_LANES;

export interface HeadLayout {
  /** columns of a row with the zeros that fill its last unit */
  readonly paddedSize: number;
  /** bytes of a row in the buffer */
  readonly rowBytes: number;
  /** scales in a row, 1 without scales */
  readonly groups: number;
  /** Whether scales change within a unit: then the kernel takes block by block. */
  readonly isNarrow: boolean;
  /** what the kernel takes at a time, of a row */
  readonly units: number;
  /** columns of a hidden row as the kernel reads it */
  readonly hiddenSize: number;
}

export function layOutHead({ dtype, hiddenSize, groupSize }: HeadShape): HeadLayout {
  const groups = dtype === "int8" ? hiddenSize / groupSize : 1;
  const isNarrow = groups > 1 && groupSize % UNIT_COLUMNS !== 0;
  const paddedSize = Math.ceil(hiddenSize / UNIT_COLUMNS) * UNIT_COLUMNS;
  const units = isNarrow ? hiddenSize / DOT_LANES : paddedSize / UNIT_COLUMNS;
  return { paddedSize, rowBytes: paddedSize * DTYPE_BYTES[dtype], groups, isNarrow, units, hiddenSize: isNarrow ? hiddenSize : paddedSize };
}

/** Brings rows of `columns` weights, one after the other, into the order of the buffer. What fills the last units stays as it is. */
export function arrangeRows(rows: Uint8Array, arranged: Uint8Array, columns: number, bytesAWeight: number, { paddedSize }: HeadLayout): void {
  const Words = bytesAWeight === 4 ? Uint32Array : bytesAWeight === 2 ? Uint16Array : Uint8Array;
  const source = new Words(rows.buffer as ArrayBuffer, rows.byteOffset, rows.byteLength / bytesAWeight);
  const target = new Words(arranged.buffer as ArrayBuffer, arranged.byteOffset, arranged.byteLength / bytesAWeight);
  for (let from = 0, row = 0; from < source.length; row += paddedSize) {
    for (let unit = row, left = columns; left > 0; unit += UNIT_COLUMNS) {
      for (let block = 0; block < UNIT_BLOCKS && left > 0; block++) {
        const end = unit + block + Math.min(left, DOT_LANES) * UNIT_BLOCKS;
        for (let at = unit + block; at < end; at += UNIT_BLOCKS) target[at] = source[from++]!;
        left -= DOT_LANES;
      }
    }
  }
}

/** Hidden rows [rows, size] side by side in blocks of `batch`, padded with zeros to `hiddenSize` columns and to whole blocks. */
export function arrangeHidden(rows: Float32Array, rowCount: number, hiddenSize: number, batch: number, arranged: Float32Array): void {
  const size = rows.length / rowCount;
  if (batch === 1) {
    for (let row = 0; row < rowCount; row++) arranged.set(rows.subarray(row * size, (row + 1) * size), row * hiddenSize);
    return;
  }
  for (let row = 0; row < rowCount; row++) {
    let at = (row - (row % batch)) * hiddenSize + (row % batch);
    for (let from = row * size; from < (row + 1) * size; from++, at += batch) arranged[at] = rows[from]!;
  }
}
