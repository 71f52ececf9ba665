/** A head in a device's memory, and the way of its rows there. */
import type { BackendHead, Batch, Candidates, HeadShape, HeadSink, RowBlock } from "../../src/backend.js";
import { layOutHead, type HeadLayout } from "../layout.js";
import { RowStaging } from "../row-staging.js";
import type { CudaDriver } from "./driver.js";
import type { Sweeper } from "./sweeper.js";

/** Bytes of weights staged at a time. */
const STAGING_BYTES = 16 << 20;
/** Rows that a warp takes at most: as many are there in memory, zeros past the last. */
const ROW_ALIGNMENT = 32;

/** Where a head lies. */
export interface HeadMemory {
  readonly shape: HeadShape;
  readonly layout: HeadLayout;
  readonly weights: bigint;
  readonly scales: bigint;
}

export class CudaSink implements HeadSink {
  readonly #driver: CudaDriver;
  readonly #sweeper: Sweeper;
  readonly #memory: HeadMemory;
  readonly #staging: RowStaging;
  #isHeld = true;

  constructor(driver: CudaDriver, sweeper: Sweeper, shape: HeadShape, scales: Float32Array | null) {
    this.#driver = driver;
    this.#sweeper = sweeper;
    const layout = layOutHead(shape);
    const rows = Math.ceil(shape.vocabSize / ROW_ALIGNMENT) * ROW_ALIGNMENT;
    const bytes = rows * layout.rowBytes;
    const weights = driver.allocate(bytes, "weights");
    const scaleBytes = scales === null ? 0 : rows * layout.groups * 4;
    let scaleMemory: bigint;
    try {
      scaleMemory = driver.allocate(scaleBytes, "scales");
    } catch (error) {
      driver.free(weights);
      throw error;
    }
    this.#memory = { shape, layout, weights, scales: scaleMemory };
    driver.clear(weights + BigInt(shape.vocabSize * layout.rowBytes), bytes - shape.vocabSize * layout.rowBytes);
    if (scales !== null) {
      driver.clear(scaleMemory, scaleBytes);
      driver.upload(scaleMemory, new Uint8Array(scales.buffer, scales.byteOffset, scales.byteLength));
    }
    this.#staging = new RowStaging(shape, layout, STAGING_BYTES);
  }

  reserve(firstRow: number, rowCount: number): RowBlock {
    return this.#staging.reserve(firstRow, rowCount);
  }

  commit(block: RowBlock): void {
    const { layout, weights } = this.#memory;
    this.#driver.upload(weights + BigInt(block.firstRow * layout.rowBytes), this.#staging.arrange(block));
  }

  finish(): BackendHead {
    this.#staging.drop();
    return new CudaHead(this.#driver, this.#sweeper, this.#memory);
  }

  abort(): void {
    this.#staging.drop();
    if (this.#isHeld) freeHead(this.#driver, this.#memory);
    this.#isHeld = false;
  }
}

function freeHead(driver: CudaDriver, { weights, scales }: HeadMemory): void {
  driver.free(weights);
  driver.free(scales);
}

class CudaHead implements BackendHead {
  readonly #driver: CudaDriver;
  readonly #sweeper: Sweeper;
  #memory: HeadMemory | null;

  constructor(driver: CudaDriver, sweeper: Sweeper, memory: HeadMemory) {
    this.#driver = driver;
    this.#sweeper = sweeper;
    this.#memory = memory;
  }

  sample({ hiddenStates, request }: Batch): Promise<Candidates> {
    return this.#sweeper.sampleHead(() => this.#inUse(), hiddenStates, request);
  }

  dispose(): void {
    const memory = this.#memory;
    this.#memory = null;
    // Calls that were begun still read it.
    if (memory !== null) void this.#sweeper.afterwards(() => freeHead(this.#driver, memory));
  }

  #inUse(): HeadMemory {
    if (this.#memory === null) throw new Error('"sampler" expected to be in use, got one that was disposed');
    return this.#memory;
  }
}
