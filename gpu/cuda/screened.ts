/** The screened kernels, for compute capability 9.0: fast logits on the tensor cores, and the contenders decided in the order L32. */
import type { CudaDriver } from "./driver.js";
import type { TilesHead } from "./head.js";
import { DeviceMemory } from "./memory.js";
import { structOf } from "./structs.js";
import type { Part, Source } from "./sweeper.js";

// As the kernels have them: screen-state.cuh, screen-shape.cuh, prepare.cuh, decide.cuh.
const MAX_COLUMNS = 256;
const COLUMN_BYTES = 48;
const STATE_BYTES = 16;
const SEEDED_BYTES = (MAX_COLUMNS / 16) * 4;
const CONTENDER_BYTES = 24;
const CONTENDER_ROOM = 2048;
const SCREEN_THREADS = 384;
const SCREEN_SHARED_BYTES = 227 << 10;
const PREPARE_THREADS = 256;
const DECIDE_THREADS = 128;
/** The screening kernels, by the columns that they have room for. */
const ROOMS = [32, 64, 128, MAX_COLUMNS];
/** Those from here on run in pairs of blocks. */
const CLUSTER_FROM = 64;

/** The bound below holds for at most so many columns of a head: the sums' own errors add less than 1 % to it. */
export const MOST_COLUMNS_OF_HEAD = 2 ** 17;

/**
 * Other devices' tensor cores have not been measured: their screen would have no bound. And its kernels are empty where the driver
 * compiled them itself, as CUDA_FORCE_PTX_JIT has it do.
 */
export function canScreen(driver: CudaDriver): boolean {
  return driver.capability === "9.0" && driver.architectureOf(`screen_bf16_${MAX_COLUMNS}`) >= 90;
}

export class ScreenedKernels {
  readonly #driver: CudaDriver;
  readonly #columns: DeviceMemory;
  readonly #states: DeviceMemory;
  readonly #contenders: DeviceMemory;
  readonly #operands: DeviceMemory;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
    this.#columns = new DeviceMemory(driver, "columns");
    this.#states = new DeviceMemory(driver, "states");
    this.#contenders = new DeviceMemory(driver, "contenders");
    this.#operands = new DeviceMemory(driver, "operands");
  }

  headSource(head: TilesHead): Source {
    return { order: { batch: 1, columns: head.shape.hiddenSize }, mostDraws: MAX_COLUMNS, decide: (part) => this.#decide(head, part) };
  }

  #decide({ shape, units, tiles, weights, norms }: TilesHead, { block, request, values, decisions }: Part): void {
    const columns = block.rows * block.samples;
    const room = ROOMS.find((most) => columns <= most)!;
    const states = this.#states.reserve(MAX_COLUMNS * STATE_BYTES + SEEDED_BYTES);
    const addresses = [
      request,
      this.#columns.reserve(MAX_COLUMNS * COLUMN_BYTES),
      states,
      states + BigInt(MAX_COLUMNS * STATE_BYTES),
      this.#contenders.reserve(MAX_COLUMNS * CONTENDER_ROOM * CONTENDER_BYTES),
      weights,
      norms,
      this.#operands.reserve(units * 2 * MAX_COLUMNS * 128),
    ];
    const factor = bitsOf(errorFactor(units));
    const screen = structOf(addresses, [shape.vocabSize, tiles, units, Math.ceil(columns / 8) * 8, block.firstRow, block.rows, block.firstSample, block.samples, factor]);
    const blocks = Math.min(this.#driver.multiprocessors, tiles);
    const prepare = structOf([values], [shape.hiddenSize]);
    this.#driver.launch(`prepare_${shape.dtype}`, { grid: [columns, 1], threads: PREPARE_THREADS, parameters: [screen, prepare] });
    this.#driver.launch(`screen_${shape.dtype}_${room}`, {
      grid: [room >= CLUSTER_FROM ? blocks + (blocks % 2) : blocks, 1],
      threads: SCREEN_THREADS,
      parameters: [screen],
      sharedBytes: SCREEN_SHARED_BYTES,
      startsEarly: true,
    });
    this.#driver.launch(`decide_${shape.dtype}`, {
      grid: [Math.min(MAX_COLUMNS, Math.max(columns, this.#driver.multiprocessors)), 1],
      threads: DECIDE_THREADS,
      parameters: [screen, structOf([decisions], [])],
      startsEarly: true,
    });
  }
}

/**
 * How far a fast logit may be from its logit, as a share of the product of the norms of its row and hidden state (docs/spec.md,
 * "Screening"): each k16 step of the tensor cores is off by 5.25 * 2^-23 of it, and the order L32 by gamma(n), n additions.
 */
function errorFactor(units: number): number {
  const steps = units * 8;
  const additions = units * 4 + 4;
  const canonical = (additions * 2 ** -24) / (1 - additions * 2 ** -24);
  return 1.01 * (steps * 5.25 * 2 ** -23 + canonical);
}

function bitsOf(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!;
}

