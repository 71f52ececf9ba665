/** The WebAssembly backend: a head in one or several memories, each with its own instance of the core. */
import { DTYPE_BYTES, type Backend, type BackendHead, type Batch, type Candidates, type HeadShape, type HeadSink, type LogitsBatch, type RowBlock } from "../backend.js";
import { decodeRequest } from "../spec/request.js";
import { emptyCandidates, mergeCandidates } from "../shard/merge.js";
import { AREA_BYTES, layOut, PAGE_BYTES, paddedRowBytes, WasmCore } from "./wasm-core.js";

/** A memory of 65536 pages would end at 2^32, which a 32-bit address reads as 0. */
const MAX_PAGES = 65535;
/** 64 GiB: far past any LM head, and reserved in a moment where a file lies about its size. */
const MAX_MEMORIES = 16;
/** Shards begin at a multiple of it, because mass tiles and noise groups do. */
const SHARD_ALIGNMENT = 64;
/** Bytes of weights staged at a time when rows need padding. */
const STAGING_BYTES = 1 << 20;

export interface WasmBackendOptions {
  /** What the backend calls itself. */
  readonly name: string;
  /** A compiled build of assembly/. */
  readonly module: WebAssembly.Module;
  /** Largest memory to ask for, in pages of 64 KiB. Default 65535; a larger head is split over several memories. */
  readonly maxPages?: number;
}

export function createWasmBackend({ name, module, maxPages = MAX_PAGES }: WasmBackendOptions): Backend {
  let logitsCore: Promise<WasmCore> | null = null;
  return {
    name,
    async createHead(shape, scales) {
      const shards: WasmCore[] = [];
      const pages = Math.min(maxPages, MAX_PAGES);
      const rowsAShard = shardRows(shape, pages);
      const memories = Math.ceil(shape.vocabSize / rowsAShard);
      if (memories > MAX_MEMORIES) {
        throw new RangeError(`"weights" expected a head that fits ${MAX_MEMORIES} memories of ${pages * PAGE_BYTES} bytes, got one of ${memories}`);
      }
      const groups = groupsOf(shape);
      for (let firstToken = 0; firstToken < shape.vocabSize; firstToken += rowsAShard) {
        const vocabSize = Math.min(rowsAShard, shape.vocabSize - firstToken);
        const core = await WasmCore.create(module, { dtype: shape.dtype, firstToken, vocabSize, hiddenSize: shape.hiddenSize, groups });
        if (scales !== null) core.scales.set(scales.subarray(firstToken * groups, (firstToken + vocabSize) * groups));
        shards.push(core);
      }
      return new WasmSink(shape, shards, rowsAShard);
    },
    async sampleLogits({ logits, vocabSize, request }: LogitsBatch) {
      const decoded = decodeRequest(request);
      const out = emptyCandidates(decoded.rows.length * decoded.samples);
      logitsCore ??= WasmCore.create(module, null);
      logitsCore.catch(() => (logitsCore = null)); // memory may be had the next time
      (await logitsCore).sampleLogits(logits, vocabSize, decoded, out);
      return out;
    },
    dispose() {
      logitsCore = null;
    },
  };
}

/** Scales a row, 0 without scales. */
function groupsOf({ dtype, hiddenSize, groupSize }: HeadShape): number {
  return dtype === "int8" ? hiddenSize / groupSize : 0;
}

/** Rows of a head that one memory holds: all of them, or the largest multiple of SHARD_ALIGNMENT that fits. */
function shardRows(shape: HeadShape, maxPages: number): number {
  const groups = groupsOf(shape);
  const bytesFor = (vocabSize: number): number => layOut({ ...shape, vocabSize, groups }).bytes;
  const limit = maxPages * PAGE_BYTES;
  if (bytesFor(shape.vocabSize) <= limit) return shape.vocabSize;
  const rowBytes = paddedRowBytes(shape.dtype, shape.hiddenSize) + groups * 4;
  // Each of the two areas that grow with the rows may be rounded up to a page.
  const rows = Math.floor((limit - bytesFor(0) - 2 * AREA_BYTES) / rowBytes / SHARD_ALIGNMENT) * SHARD_ALIGNMENT;
  if (rows <= 0) {
    throw new RangeError(`"maxPages" expected memory for ${SHARD_ALIGNMENT} rows, ${bytesFor(SHARD_ALIGNMENT)} bytes, got ${limit}`);
  }
  return rows;
}

class WasmSink implements HeadSink {
  #shape: HeadShape;
  #shards: WasmCore[];
  #rowsAShard: number;
  #rowBytes: number;
  #paddedBytes: number;
  #staging: Uint8Array;

  constructor(shape: HeadShape, shards: WasmCore[], rowsAShard: number) {
    this.#shape = shape;
    this.#shards = shards;
    this.#rowsAShard = rowsAShard;
    this.#rowBytes = shape.hiddenSize * DTYPE_BYTES[shape.dtype];
    this.#paddedBytes = paddedRowBytes(shape.dtype, shape.hiddenSize);
    const stagedRows = this.#isPadded ? Math.min(shape.vocabSize, Math.max(1, Math.floor(STAGING_BYTES / this.#rowBytes))) : 0;
    this.#staging = new Uint8Array(stagedRows * this.#rowBytes);
  }

  get #isPadded(): boolean {
    return this.#paddedBytes !== this.#rowBytes;
  }

  /** The final place of the rows when they need no padding, else a staging block that commit scatters. */
  reserve(firstRow: number, rowCount: number): RowBlock {
    const shard = this.#shards[Math.floor(firstRow / this.#rowsAShard)]!;
    const row = firstRow % this.#rowsAShard;
    const limit = this.#isPadded ? this.#staging.length / this.#rowBytes : rowCount;
    const count = Math.min(rowCount, limit, this.#rowsAShard - row, this.#shape.vocabSize - firstRow);
    const bytes = this.#isPadded
      ? this.#staging.subarray(0, count * this.#rowBytes)
      : shard.weights.subarray(row * this.#rowBytes, (row + count) * this.#rowBytes);
    return { firstRow, rowCount: count, bytes };
  }

  commit({ firstRow, rowCount, bytes }: RowBlock): void {
    if (!this.#isPadded) return;
    const shard = this.#shards[Math.floor(firstRow / this.#rowsAShard)]!;
    for (let row = 0; row < rowCount; row++) {
      const place = ((firstRow % this.#rowsAShard) + row) * this.#paddedBytes;
      shard.weights.set(bytes.subarray(row * this.#rowBytes, (row + 1) * this.#rowBytes), place);
    }
  }

  finish(): BackendHead {
    this.#staging = new Uint8Array(0);
    for (const shard of this.#shards) shard.finish();
    return new WasmHead(this.#shards);
  }

  abort(): void {
    this.#shards = [];
    this.#staging = new Uint8Array(0);
  }
}

class WasmHead implements BackendHead {
  #shards: readonly WasmCore[];

  constructor(shards: readonly WasmCore[]) {
    this.#shards = shards;
  }

  async sample({ hiddenStates, request }: Batch): Promise<Candidates> {
    if (this.#shards.length === 0) throw new Error('"head" expected one that is in use, got one that was disposed of');
    const decoded = decodeRequest(request);
    return this.#shards
      .map((shard) => {
        const out = emptyCandidates(decoded.rows.length * decoded.samples);
        shard.sampleHead(hiddenStates, decoded, out);
        return out;
      })
      .reduce(mergeCandidates);
  }

  dispose(): void {
    this.#shards = [];
  }
}
