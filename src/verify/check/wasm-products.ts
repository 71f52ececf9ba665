/** Products of rows of a head with hidden rows by judge.wasm (assembly/sweep.ts), four of either at a time. */
import { DTYPE_BYTES, type HeadShape } from "../../backend.js";
import { weightsIn } from "../../spec/logit.js";
import { TILE_COLUMNS } from "./dot-tile.js";
import type { JudgeCore } from "./judge-core.js";
import { tilesOf, type Block, type Products } from "./products.js";

/** Rows of weights, and hidden rows, that are multiplied at a time. */
const QUAD = 4;
const F64_BYTES = 8;
/** Of WebAssembly. */
const PAGE_BYTES = 65536;

const KERNELS = { bf16: "sweepBf16", f16: "sweepF16", f32: "sweepF32", int8: "sweepInt8" } as const;

/**
 * Dead once others are made of the same core. hidden: f64 [D] each. rows: of a block, at most
 * @throws RangeError when the engine refuses the memory
 */
export function wasmProducts({ memory, exports }: JudgeCore, shape: HeadShape, hidden: readonly Float64Array[], rows: number): Products {
  const { dtype, hiddenSize } = shape;
  const quads = Math.ceil(hidden.length / QUAD);
  const at = layOut(exports.heapBase(), shape, quads, rows);
  grow(memory, at.end);
  const doubles = (start: number, count: number) => new Float64Array(memory.buffer, start, count);
  const tiles = tilesOf(shape);
  for (const { start, end } of tiles) layQuads(hidden, start, end, doubles(at.hidden + start * quads * QUAD * F64_BYTES, (end - start) * quads * QUAD));
  const scales = doubles(at.scales, QUAD).fill(1);
  const scalesOfRow = tiles.at(-1)!.group + 1;
  const sums = doubles(at.sums, (quads * QUAD + 1) * QUAD);
  const kernel = exports[KERNELS[dtype]];

  /** Leaves the sums of four rows of a block in their area. */
  function sweepRows(four: readonly number[], block: Block): void {
    sums.fill(0);
    for (const { start, end, group } of tiles) {
      if (block.scales !== null) scales.set(four.map((row) => block.scales![row * scalesOfRow + group]!));
      const [row0, row1, row2, row3] = four.map((row) => at.weights + (row * hiddenSize + start) * DTYPE_BYTES[dtype]) as [number, number, number, number];
      kernel(row0, row1, row2, row3, end - start, at.hidden + start * quads * QUAD * F64_BYTES, quads, at.panel, at.scales, at.sums);
    }
  }

  return {
    weights: weightsIn(memory.buffer as ArrayBuffer, dtype).subarray(at.weights / DTYPE_BYTES[dtype], at.weights / DTYPE_BYTES[dtype] + rows * hiddenSize),
    sums(block) {
      const { wanted } = block;
      const width = hidden.length + 1;
      const found = new Float64Array(wanted.length * width);
      for (let first = 0; first < wanted.length; first += QUAD) {
        // The last rows are filled up with one of them.
        const four = Array.from({ length: QUAD }, (_, index) => wanted[Math.min(first + index, wanted.length - 1)]!);
        sweepRows(four, block);
        for (let index = 0; index < QUAD && first + index < wanted.length; index++) {
          const target = (first + index) * width;
          for (let row = 0; row < hidden.length; row++) found[target + row] = sums[row * QUAD + index]!;
          found[target + hidden.length] = sums[quads * QUAD * QUAD + index]!;
        }
      }
      return found;
    },
  };
}

/** Where everything lies. Past the last weight another one may be read. */
function layOut(heapBase: number, { dtype, hiddenSize }: HeadShape, quads: number, rows: number) {
  let end = heapBase;
  const area = (bytes: number): number => {
    const start = Math.ceil(end / CACHE_LINE) * CACHE_LINE;
    end = start + bytes;
    return start;
  };
  return {
    panel: area(TILE_COLUMNS * QUAD * F64_BYTES),
    scales: area(QUAD * F64_BYTES),
    sums: area((quads * QUAD + 1) * QUAD * F64_BYTES),
    hidden: area(quads * QUAD * hiddenSize * F64_BYTES),
    weights: area((rows * hiddenSize + 1) * DTYPE_BYTES[dtype]),
    end,
  };
}

const CACHE_LINE = 64;

function grow(memory: WebAssembly.Memory, bytes: number): void {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE_BYTES);
  if (missing > 0) memory.grow(missing);
}

/** The columns of a tile, f64 [quads][columns][4]: four hidden rows side by side, zeros past the last. */
function layQuads(hidden: readonly Float64Array[], start: number, end: number, target: Float64Array): void {
  target.fill(0);
  hidden.forEach((values, row) => {
    const first = (row - (row % QUAD)) * (end - start) + (row % QUAD);
    for (let column = start; column < end; column++) target[first + (column - start) * QUAD] = values[column]!;
  });
}
