/** Memory in which rows wait on their way to a device: as the loader writes them, then in the order of the device. */
import { DTYPE_BYTES, type HeadShape, type RowBlock } from "../src/backend.js";
import { arrangeRows, type HeadLayout } from "./layout.js";

export class RowStaging {
  readonly #shape: HeadShape;
  readonly #layout: HeadLayout;
  #block: Uint8Array<ArrayBuffer>;
  /** What fills a row's last unit stays zero. */
  #arranged: Uint8Array<ArrayBuffer>;

  /** @param bytes that arranged rows may take: at least one row is held, at most all */
  constructor(shape: HeadShape, layout: HeadLayout, bytes: number) {
    this.#shape = shape;
    this.#layout = layout;
    const rows = Math.min(shape.vocabSize, Math.max(1, Math.floor(bytes / layout.rowBytes)));
    this.#block = new Uint8Array(rows * this.#rowBytes);
    this.#arranged = new Uint8Array(rows * layout.rowBytes);
  }

  /** Room for rowCount rows, or as many as are held, from firstRow on. */
  reserve(firstRow: number, rowCount: number): RowBlock {
    const count = Math.min(rowCount, this.#block.length / this.#rowBytes, this.#shape.vocabSize - firstRow);
    return { firstRow, rowCount: count, bytes: this.#block.subarray(0, count * this.#rowBytes) };
  }

  /** The rows of the block in the order of the device, dead after the next call. */
  arrange({ rowCount, bytes }: RowBlock): Uint8Array<ArrayBuffer> {
    const { dtype, hiddenSize } = this.#shape;
    arrangeRows(bytes, this.#arranged, hiddenSize, DTYPE_BYTES[dtype], this.#layout);
    return this.#arranged.subarray(0, rowCount * this.#layout.rowBytes);
  }

  /** Gives the memory back. */
  drop(): void {
    this.#block = this.#arranged = new Uint8Array(0);
  }

  /** Of a row as it was given. */
  get #rowBytes(): number {
    return this.#shape.hiddenSize * DTYPE_BYTES[this.#shape.dtype];
  }
}
