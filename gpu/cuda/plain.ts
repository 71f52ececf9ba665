/** The plain kernels: a sweep over heads or logits that leaves candidates, and a reduction of these. See plain.cuh. */
import { HEADER_ROWS } from "../../src/spec/request.js";
import { DECISION_BYTES } from "../decisions.js";
import type { CudaDriver } from "./driver.js";
import type { RowsHead } from "./head.js";
import type { RowOrder } from "./input.js";
import { DeviceMemory } from "./memory.js";
import { structOf } from "./structs.js";
import type { Part, Source } from "./sweeper.js";

/** What warps know of a draw: see sweep.cuh. */
const DRAW_BYTES = 16;
/** Threads of a block, and what it takes. */
const WARPS = 4;
const BLOCK = 32 * WARPS;
/** Room for the candidates of one sweep. More draws take more sweeps. */
const SWEEP_BYTES = 256 << 20;
/** Blocks of a grid along y at most. */
const GRID_Y = 65535;

/** Weight rows of a warp, by the hidden rows that a block takes: as plain.cuh instantiates its kernels. */
const WARP_ROWS = { common: { 1: 32, 2: 32, 4: 16, 8: 16 }, f32: { 1: 32, 2: 16, 4: 8, 8: 8 } } as const;

/** Rows of a head that one sweep can have. */
export const MOST_ROWS = GRID_Y * WARPS * WARP_ROWS.f32[8];

export class PlainKernels {
  readonly #driver: CudaDriver;
  readonly #candidates: DeviceMemory;
  /** Zero between sweeps. */
  readonly #draws: DeviceMemory;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
    this.#candidates = new DeviceMemory(driver, "candidates");
    this.#draws = new DeviceMemory(driver, "draws");
  }

  headSource({ shape, layout, weights, scales }: RowsHead, request: Uint32Array): Source {
    const rows = request[HEADER_ROWS]!;
    const batch = rows === 1 ? 1 : rows === 2 ? 2 : rows <= 4 ? 4 : 8;
    const warpRows = WARP_ROWS[shape.dtype === "f32" ? "f32" : "common"][batch];
    const tiles = Math.ceil(shape.vocabSize / warpRows);
    const kernel = `sample_${shape.dtype}${layout.isNarrow ? "_narrow" : ""}_${batch}`;
    return this.#source({ batch, columns: layout.hiddenSize }, tiles, (hidden, sweep, blocks) => {
      const head = structOf([weights, scales, hidden], [shape.vocabSize, layout.units, layout.groups]);
      this.#driver.launch(kernel, { grid: [blocks, Math.ceil(tiles / WARPS)], threads: BLOCK, parameters: [head, sweep] });
    });
  }

  /** @throws RangeError for rows that are too long */
  logitsSource(vocabSize: number): Source {
    const blocks = Math.ceil(vocabSize / BLOCK);
    if (blocks > GRID_Y) throw new RangeError(`"logits" expected rows of at most ${GRID_Y * BLOCK} tokens on this device, got ${vocabSize}`);
    return this.#source({ batch: 1, columns: vocabSize }, blocks * WARPS, (values, sweep, rows) => {
      this.#driver.launch("sample_logits", { grid: [rows, blocks], threads: BLOCK, parameters: [structOf([values], []), structOf([], [vocabSize]), sweep] });
    });
  }

  /** After an error nobody knows what the draws hold. */
  forget(): void {
    this.#draws.drop();
  }

  /** @param room candidates that a draw may get */
  #source(order: RowOrder, room: number, sweepOver: (values: bigint, sweep: ArrayBuffer, blocks: number) => void): Source {
    const decide = ({ block, request, values, decisions }: Part): void => {
      const draws = block.rows * block.samples;
      const addresses = [request, this.#candidates.reserve(draws * room * DECISION_BYTES), this.#draws.reserve(draws * DRAW_BYTES)];
      const sweep = structOf(addresses, [room, block.firstRow, block.rows, block.firstSample, block.samples]);
      sweepOver(values, sweep, Math.ceil((block.firstRow + block.rows) / order.batch) - Math.floor(block.firstRow / order.batch));
      this.#driver.launch("reduce_draws", { grid: [draws, 1], threads: 32, parameters: [sweep, structOf([decisions], [])] });
    };
    return { order, mostDraws: Math.floor(SWEEP_BYTES / (room * DECISION_BYTES)), decide };
  }
}
