/** A head in a device's memory, and the way of its rows there. */
import {
  DTYPE_BYTES,
  type BackendHead,
  type Batch,
  type Candidates,
  type DeviceDecisions,
  type HeadShape,
  type HeadSink,
  type PointerBatch,
  type RowBlock,
} from "../../src/backend.js";
import { hiddenExponentLimit } from "../../src/hidden.js";
import { HEADER_ROWS, HEADER_SAMPLES } from "../../src/spec/request.js";
import { operandFormat } from "../hidden-on-device.js";
import { layOutHead, type HeadLayout } from "../layout.js";
import { RowStaging } from "../row-staging.js";
import { assertMemory, assertStream } from "./caller-memory.js";
import type { CudaDriver } from "./driver.js";
import type { GivenRows } from "./input.js";
import { MOST_ROWS } from "./plain.js";
import { canScreen, MOST_COLUMNS_OF_HEAD } from "./screened.js";
import { structOf } from "./structs.js";
import type { Sweeper } from "./sweeper.js";

/** Bytes of weights staged at a time. */
const STAGING_BYTES = 16 << 20;
/** Rows that a warp takes at most: as many are there in memory, zeros past the last. */
const ROW_ALIGNMENT = 32;

/** Rows one after the other, for the plain kernels. */
export interface RowsHead {
  readonly kind: "rows";
  readonly shape: HeadShape;
  readonly layout: HeadLayout;
  readonly weights: bigint;
  readonly scales: bigint;
}

/** Tiles as the tensor cores read them (tiles.cuh), for the screened kernels. */
export interface TilesHead {
  readonly kind: "tiles";
  readonly shape: HeadShape;
  /** of 128 columns, in a row */
  readonly units: number;
  /** of 128 rows */
  readonly tiles: number;
  readonly weights: bigint;
  /** f32, the largest norm of each four rows */
  readonly norms: bigint;
}

export type HeadMemory = RowsHead | TilesHead;

const TILE_ROWS = 128;
const UNIT_COLUMNS = 128;
/** Warps of a block that arranges rows, a row each. */
const ARRANGE_WARPS = 4;

/** @throws GpuError "out-of-memory" */
export function createSink(driver: CudaDriver, sweeper: Sweeper, shape: HeadShape, scales: Float32Array | null): HeadSink {
  const isScreened = (shape.dtype === "bf16" || shape.dtype === "f16") && shape.hiddenSize <= MOST_COLUMNS_OF_HEAD && canScreen(driver);
  return isScreened ? new TilesSink(driver, sweeper, shape) : new RowsSink(driver, sweeper, shape, scales);
}

/** Memory for a head: all of it or none. */
function allocateAll(driver: CudaDriver, wanted: readonly (readonly [bytes: number, what: string])[]): bigint[] {
  const addresses: bigint[] = [];
  try {
    for (const [bytes, what] of wanted) addresses.push(driver.allocate(bytes, what));
  } catch (error) {
    addresses.forEach((address) => driver.free(address));
    throw error;
  }
  return addresses;
}

class RowsSink implements HeadSink {
  readonly #driver: CudaDriver;
  readonly #sweeper: Sweeper;
  readonly #memory: RowsHead;
  readonly #staging: RowStaging;
  #isHeld = true;

  constructor(driver: CudaDriver, sweeper: Sweeper, shape: HeadShape, given: Float32Array | null) {
    if (shape.vocabSize > MOST_ROWS) throw new RangeError(`"weights" expected at most ${MOST_ROWS} rows on this device, got ${shape.vocabSize}`);
    this.#driver = driver;
    this.#sweeper = sweeper;
    const layout = layOutHead(shape);
    const rows = Math.ceil(shape.vocabSize / ROW_ALIGNMENT) * ROW_ALIGNMENT;
    const bytes = rows * layout.rowBytes;
    const scaleBytes = given === null ? 0 : rows * layout.groups * 4;
    const [weights, scales] = allocateAll(driver, [[bytes, "weights"], [scaleBytes, "scales"]]) as [bigint, bigint];
    this.#memory = { kind: "rows", shape, layout, weights, scales };
    driver.clear(weights + BigInt(shape.vocabSize * layout.rowBytes), bytes - shape.vocabSize * layout.rowBytes);
    if (given !== null) {
      driver.clear(scales, scaleBytes);
      driver.upload(scales, new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
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

/** Rows go to the device as they are; a kernel brings them to their places. */
class TilesSink implements HeadSink {
  readonly #driver: CudaDriver;
  readonly #sweeper: Sweeper;
  readonly #memory: TilesHead;
  readonly #given: bigint;
  #block: Uint8Array;
  #isHeld = true;

  constructor(driver: CudaDriver, sweeper: Sweeper, shape: HeadShape) {
    this.#driver = driver;
    this.#sweeper = sweeper;
    const units = Math.ceil(shape.hiddenSize / UNIT_COLUMNS);
    const tiles = Math.ceil(shape.vocabSize / TILE_ROWS);
    const rowBytes = shape.hiddenSize * DTYPE_BYTES[shape.dtype];
    const weightBytes = tiles * TILE_ROWS * units * UNIT_COLUMNS * DTYPE_BYTES[shape.dtype];
    const normBytes = tiles * TILE_ROWS;
    this.#block = new Uint8Array(rowBytes * Math.min(shape.vocabSize, Math.max(1, Math.floor(STAGING_BYTES / rowBytes))));
    const [weights, norms, given] = allocateAll(driver, [[weightBytes, "weights"], [normBytes, "norms"], [this.#block.length, "rows of weights"]]) as [bigint, bigint, bigint];
    this.#memory = { kind: "tiles", shape, units, tiles, weights, norms };
    this.#given = given;
    driver.clear(weights, weightBytes);
    driver.clear(norms, normBytes);
  }

  reserve(firstRow: number, rowCount: number): RowBlock {
    const { shape } = this.#memory;
    const rowBytes = shape.hiddenSize * DTYPE_BYTES[shape.dtype];
    const count = Math.min(rowCount, this.#block.length / rowBytes, shape.vocabSize - firstRow);
    return { firstRow, rowCount: count, bytes: this.#block.subarray(0, count * rowBytes) };
  }

  commit({ firstRow, rowCount, bytes }: RowBlock): void {
    const { shape, units, weights, norms } = this.#memory;
    this.#driver.upload(this.#given, bytes);
    this.#driver.launch(`arrange_${shape.dtype}`, {
      grid: [Math.ceil(rowCount / ARRANGE_WARPS), 1],
      threads: 32 * ARRANGE_WARPS,
      parameters: [structOf([this.#given], []), ...[firstRow, rowCount, shape.hiddenSize, units].map((word) => structOf([], [word])), structOf([weights], []), structOf([norms], [])],
    });
  }

  async finish(): Promise<BackendHead> {
    await this.#driver.finish();
    this.#drop();
    return new CudaHead(this.#driver, this.#sweeper, this.#memory);
  }

  abort(): void {
    if (!this.#isHeld) return;
    this.#drop();
    freeHead(this.#driver, this.#memory);
    this.#isHeld = false;
  }

  #drop(): void {
    if (this.#block.length > 0) this.#driver.free(this.#given);
    this.#block = new Uint8Array(0);
  }
}

function freeHead(driver: CudaDriver, memory: HeadMemory): void {
  driver.free(memory.weights);
  driver.free(memory.kind === "rows" ? memory.scales : memory.norms);
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

  async sample({ hiddenStates, request }: Batch): Promise<Candidates> {
    const call = { given: { values: hiddenStates, isRefused: [] }, request, tokensTo: null, stream: null };
    const { candidates } = await this.#sweeper.sampleHead(this.#inUse(), call);
    return candidates!;
  }

  async sampleAtPointers(batch: PointerBatch): Promise<DeviceDecisions> {
    const { request, tokensTo, stream } = batch;
    if (stream !== null) assertStream(this.#driver, stream);
    if (tokensTo !== null) assertMemory(this.#driver, "tokensTo.pointer", tokensTo.pointer, request[HEADER_ROWS]! * request[HEADER_SAMPLES]! * 4, "write");
    const call = { given: this.#givenRows(batch), request, tokensTo: tokensTo?.pointer ?? null, stream };
    return this.#sweeper.sampleHead(this.#inUse(), call);
  }

  #givenRows({ hiddenStates, request, largestMagnitude }: PointerBatch): GivenRows {
    if ("values" in hiddenStates) return hiddenStates;
    const { pointer, dtype } = hiddenStates;
    const { shape } = this.#inUse();
    assertMemory(this.#driver, "hiddenStates.pointer", pointer, request[HEADER_ROWS]! * shape.hiddenSize * DTYPE_BYTES[dtype], "read");
    const exponentLimit = hiddenExponentLimit(largestMagnitude, shape.hiddenSize);
    return { pointer, dtype, columns: shape.hiddenSize, operand: operandFormat(shape.dtype), exponentLimit };
  }

  dispose(): void {
    const memory = this.#memory;
    this.#memory = null;
    if (memory === null) return;
    // Calls that were begun still read it. A device that failed has no memory to give back.
    this.#sweeper.afterwards(() => freeHead(this.#driver, memory)).catch(() => {});
  }

  #inUse(): HeadMemory {
    if (this.#memory === null) throw new Error('"sampler" expected to be in use, got one that was disposed');
    return this.#memory;
  }
}
