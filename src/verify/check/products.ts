/**
 * Products of rows of a head with a few hidden rows, in f64: of each pair a sum over the columns of a tile, in their order, and then over the tiles. Here
 * in JavaScript, for where judge.wasm (wasm-products.ts) does not run: the same bits, in three times the time.
 */
import { DTYPE_BYTES, type HeadShape } from "../../backend.js";
import { weightsIn, type WeightData } from "../../spec/logit.js";
import { addRow, LANES, setTile, SUMS, TILE_COLUMNS } from "./dot-tile.js";

/** Some consecutive rows of the head. */
export interface Block {
  /** token of the first row */
  readonly first: number;
  /** of its rows, those that are wanted: 0 is the first */
  readonly wanted: readonly number[];
  /** of all its rows, as they are stored */
  readonly weights: WeightData;
  /** of all its rows, for int8 */
  readonly scales: Float32Array | null;
}

export interface Products {
  /** Where a block's rows are to be put: room for so many as were asked for. */
  readonly weights: WeightData;
  /** f64 [wanted, hidden rows + 1]: the products with each hidden row, then the sum of the squares of the weights. */
  sums(block: Block): Float64Array;
}

/** Consecutive columns with one scale, no more than TILE_COLUMNS of them. */
export interface Tile {
  readonly start: number;
  readonly end: number;
  /** of the scales of a row */
  readonly group: number;
}

export function tilesOf({ dtype, hiddenSize, groupSize }: HeadShape): Tile[] {
  const scaled = dtype === "int8" ? groupSize : hiddenSize;
  const tiles: Tile[] = [];
  for (let group = 0; group * scaled < hiddenSize; group++) {
    const groupEnd = (group + 1) * scaled;
    for (let start = group * scaled; start < groupEnd; start += TILE_COLUMNS) tiles.push({ start, end: Math.min(groupEnd, start + TILE_COLUMNS), group });
  }
  return tiles;
}

/** hidden: f64 [D] each. rows: of a block, at most */
export function scriptProducts(shape: HeadShape, hidden: readonly Float64Array[], rows: number): Products {
  const { dtype, hiddenSize } = shape;
  const tiles = tilesOf(shape);
  const groups = interleaved(hidden, hiddenSize);
  const width = hidden.length + 1;

  function groupSums({ wanted, weights, scales }: Block, group: Float64Array): Float64Array {
    const sums = new Float64Array(wanted.length * SUMS);
    const scalesOfRow = tiles.at(-1)!.group + 1;
    for (const { start, end, group: scale } of tiles) {
      setTile(group.subarray(start * LANES, end * LANES));
      wanted.forEach((row, place) => {
        const columns = weights.subarray(row * hiddenSize + start, row * hiddenSize + end);
        addRow(dtype, columns, scales === null ? 1 : scales[row * scalesOfRow + scale]!, sums, place * SUMS);
      });
    }
    return sums;
  }

  return {
    weights: weightsIn(new ArrayBuffer(rows * hiddenSize * DTYPE_BYTES[dtype]), dtype),
    sums(block) {
      const sums = new Float64Array(block.wanted.length * width);
      for (const [index, group] of groups.entries()) {
        const found = groupSums(block, group);
        for (let place = 0; place < block.wanted.length; place++) {
          for (let lane = 0; lane < LANES && index * LANES + lane < hidden.length; lane++) sums[place * width + index * LANES + lane] = found[place * SUMS + lane]!;
          sums[place * width + hidden.length] = found[place * SUMS + LANES]!;
        }
      }
      return sums;
    },
  };
}

/** Hidden rows in groups of 8, the values of a column side by side. The last group is filled up with zeros. */
function interleaved(hidden: readonly Float64Array[], hiddenSize: number): Float64Array[] {
  return Array.from({ length: Math.ceil(hidden.length / LANES) }, (_, group) => {
    const values = new Float64Array(hiddenSize * LANES);
    hidden.slice(group * LANES, (group + 1) * LANES).forEach((row, lane) => row.forEach((value, column) => (values[column * LANES + lane] = value)));
    return values;
  });
}
