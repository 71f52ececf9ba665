/**
 * One instance of the WebAssembly core and the memory it works in. The memory is made once, at its exact size, and never
 * grows: a grown memory would be copied, and every view of it would die.
 */
import { instantiate } from "@assemblyscript/loader";
import { DTYPE_BYTES, STATUS_ALL_MASKED, STATUS_INVALID, STATUS_OK, type Candidates, type Dtype } from "../backend.js";
import { DOT_LANES } from "../spec/constants.js";
import type { Request } from "../spec/request.js";

export const PAGE_BYTES = 65536;
/** Below it the module may keep data of its own; checked against the module at start. */
const FIRST_AREA = 2048;
/** Areas begin at pages of the machine: rows of weights then touch as few as they can. */
export const AREA_BYTES = 4096;
/** Tokens of a tile, and room for an entry of the core's tables; checked against the module at start. */
const TILE = 64;
const ROW_BYTES = 64;
const DRAW_BYTES = 32;
/** 32 random words. */
const WORDS_BYTES = 128;
/** 8 vectors for each of 2 x 6 pairs of rows. */
const PARTIAL_BYTES = 8 * 2 * 6 * 16;
/** Kernels may read so far past the last weight. */
const READ_AHEAD = 64;
/** Rows of one pass over the weights, and draws of one pass over the logits. Larger calls take several passes. */
export const MAX_ROWS = 64;
export const MAX_DRAWS = 4096;
/** Given logits pass through the core in pieces of so many tokens. */
const LOGITS_CHUNK = 16384;

/** What assembly/index.ts exports. */
interface CoreExports extends Record<string, unknown> {
  heapBase(): number;
  rowBytes(): number;
  drawBytes(): number;
  /** In the order of layOut: see assembly/areas.ts. */
  setAreas(...addresses: number[]): void;
  setHead(vocabSize: number, blocks: number, groupBlocks: number, firstToken: number): void;
  measureWeights(): void;
  setRow(row: number, key0: number, key1: number, sequence: number, position: number, tau: number, firstSample: number, purpose: number): void;
  resetDraws(count: number): void;
  packBf16(row: number, rows: number): void;
  sampleBf16(rows: number, samples: number): void;
  packF16(row: number, rows: number): void;
  sampleF16(rows: number, samples: number): void;
  packF32(row: number, rows: number): void;
  sampleF32(rows: number, samples: number): void;
  packInt8(row: number, rows: number): void;
  sampleInt8(rows: number, samples: number): void;
  sampleLogits(count: number, samples: number, firstToken: number): void;
  isInvalid(row: number): number;
  token(draw: number): number;
  score(draw: number): bigint;
  runnerUp(draw: number): number;
  runnerUpScore(draw: number): bigint;
}

/** The exports for each format. */
const KERNELS = {
  bf16: ["packBf16", "sampleBf16"],
  f16: ["packF16", "sampleF16"],
  f32: ["packF32", "sampleF32"],
  int8: ["packInt8", "sampleInt8"],
} as const;

/** The part of a head that one memory holds. */
export interface CoreHead {
  readonly dtype: Dtype;
  readonly firstToken: number;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  /** Scales a row, 0 without scales. */
  readonly groups: number;
}

/** Bytes of a row of weights in memory: padded with zeros to whole blocks of 32 columns, so that kernels have no tail. */
export function paddedRowBytes(dtype: Dtype, hiddenSize: number): number {
  return Math.ceil(hiddenSize / DOT_LANES) * DOT_LANES * DTYPE_BYTES[dtype];
}

/** Where everything lies. Only the last two areas depend on the vocabulary. */
export function layOut(head: Omit<CoreHead, "firstToken"> | null) {
  const paddedSize = head === null ? 0 : Math.ceil(head.hiddenSize / DOT_LANES) * DOT_LANES;
  const hasBounds = head !== null && DTYPE_BYTES[head.dtype] === 2;
  let end = FIRST_AREA;
  const area = (bytes: number): number => {
    const start = end;
    end = Math.ceil((start + bytes) / AREA_BYTES) * AREA_BYTES;
    return start;
  };
  return {
    words: area(WORDS_BYTES),
    rows: area(MAX_ROWS * ROW_BYTES),
    draws: area(MAX_DRAWS * DRAW_BYTES),
    logitTile: area(MAX_ROWS * TILE * 4),
    zTile: area(head?.dtype === "int8" ? MAX_ROWS * TILE * 8 : 0),
    partial: area(PARTIAL_BYTES),
    panel: area(head === null ? 0 : 2 * (paddedSize * 4 + 64)),
    staged: area(head === null ? LOGITS_CHUNK * 4 : paddedSize * 4),
    hidden: area(MAX_ROWS * paddedSize * 4),
    hiddenAlone: area(hasBounds ? MAX_ROWS * paddedSize * (head.dtype === "f16" ? 4 : 2) : 0),
    hiddenRounded: area(hasBounds ? MAX_ROWS * paddedSize * 2 : 0),
    boundTable: area(hasBounds ? 2 * MAX_ROWS * 4 : 0),
    weights: area(head === null ? 0 : head.vocabSize * paddedRowBytes(head.dtype, head.hiddenSize) + READ_AHEAD),
    scales: area(head === null ? 0 : head.vocabSize * head.groups * 4),
    bytes: end,
  };
}

export class WasmCore {
  #exports: CoreExports;
  #head: CoreHead | null;
  #staged: Float32Array;
  /** The weights in place: vocabSize rows of paddedRowBytes. */
  readonly weights: Uint8Array;
  readonly scales: Float32Array;

  private constructor(exports: CoreExports, memory: WebAssembly.Memory, head: CoreHead | null) {
    const at = layOut(head);
    const sizes = [exports.heapBase(), exports.rowBytes(), exports.drawBytes()];
    if (sizes.some((size, index) => size > [FIRST_AREA, ROW_BYTES, DRAW_BYTES][index]!)) {
      throw new Error(`"module" expected a core of this version, got one that needs ${sizes.join(", ")} bytes for its data, a row and a draw`);
    }
    exports.setAreas(at.words, at.rows, at.draws, at.logitTile, at.zTile, at.partial, at.panel, at.staged, at.hidden, at.hiddenAlone, at.hiddenRounded, at.boundTable, at.weights, at.scales);
    if (head !== null) {
      const blocks = Math.ceil(head.hiddenSize / DOT_LANES);
      exports.setHead(head.vocabSize, blocks, head.groups > 0 ? Math.ceil(blocks / head.groups) : blocks, head.firstToken);
    }
    this.#exports = exports;
    this.#head = head;
    this.#staged = new Float32Array(memory.buffer, at.staged, (at.hidden - at.staged) / 4);
    this.weights = new Uint8Array(memory.buffer, at.weights, head === null ? 0 : head.vocabSize * paddedRowBytes(head.dtype, head.hiddenSize));
    this.scales = new Float32Array(memory.buffer, at.scales, head === null ? 0 : head.vocabSize * head.groups);
  }

  /** @throws RangeError when the engine refuses the memory */
  static async create(module: WebAssembly.Module, head: CoreHead | null): Promise<WasmCore> {
    const { bytes } = layOut(head);
    const pages = Math.ceil(bytes / PAGE_BYTES);
    let memory: WebAssembly.Memory;
    try {
      memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    } catch (cause) {
      throw new RangeError(`"memory" expected ${pages * PAGE_BYTES} bytes for the core, got none: ${(cause as Error).message}`, { cause });
    }
    const { exports } = await instantiate<CoreExports>(module, { env: { memory } });
    return new WasmCore(exports, memory, head);
  }

  /** All weights are in place. */
  finish(): void {
    if (DTYPE_BYTES[this.#head!.dtype] === 2) this.#exports.measureWeights();
  }

  /** Decides every draw of the request; hiddenStates is f32 [rows, hiddenSize]. */
  sampleHead(hiddenStates: Float32Array, request: Request, out: Candidates): void {
    const { dtype, hiddenSize } = this.#head!;
    const [pack, sample] = KERNELS[dtype];
    this.#eachPass(request, Math.min(MAX_ROWS, request.rows.length), out, (firstRow, rows, samples) => {
      for (let row = 0; row < rows; row++) {
        this.#staged.set(hiddenStates.subarray((firstRow + row) * hiddenSize, (firstRow + row + 1) * hiddenSize));
        this.#exports[pack](row, rows);
      }
      this.#exports[sample](rows, samples);
    });
  }

  /** Decides every draw of the request; logits is f32 [rows, vocabSize]. */
  sampleLogits(logits: Float32Array, vocabSize: number, request: Request, out: Candidates): void {
    this.#eachPass(request, 1, out, (row, _, samples) => {
      for (let first = 0; first < vocabSize; first += LOGITS_CHUNK) {
        const count = Math.min(LOGITS_CHUNK, vocabSize - first);
        const start = row * vocabSize + first;
        this.#staged.set(logits.subarray(start, start + count));
        this.#staged.fill(-Infinity, count, Math.ceil(count / TILE) * TILE);
        this.#exports.sampleLogits(count, samples, first);
      }
    });
  }

  /** Cuts the request into passes that fit the tables of rows and draws, runs each, and collects its decisions. */
  #eachPass(request: Request, maxRows: number, out: Candidates, run: (firstRow: number, rows: number, samples: number) => void): void {
    const samplesAPass = Math.min(request.samples, MAX_DRAWS);
    const rowsAPass = Math.min(maxRows, Math.floor(MAX_DRAWS / samplesAPass));
    for (let firstRow = 0; firstRow < request.rows.length; firstRow += rowsAPass) {
      const rows = Math.min(rowsAPass, request.rows.length - firstRow);
      for (let firstSample = 0; firstSample < request.samples; firstSample += samplesAPass) {
        const samples = Math.min(samplesAPass, request.samples - firstSample);
        for (let row = 0; row < rows; row++) {
          const { seed, sequence, position, tau, firstSample: numbered, purpose } = request.rows[firstRow + row]!;
          const [key0, key1] = [Number(seed & 0xffffffffn), Number(seed >> 32n)];
          this.#exports.setRow(row, key0, key1, sequence, position, tau, numbered + firstSample, purpose);
        }
        this.#exports.resetDraws(rows * samples);
        run(firstRow, rows, samples);
        for (let row = 0; row < rows; row++) this.#collect(row, samples, out, (firstRow + row) * request.samples + firstSample);
      }
    }
  }

  #collect(row: number, samples: number, out: Candidates, at: number): void {
    if (this.#exports.isInvalid(row)) {
      out.status.fill(STATUS_INVALID, at, at + samples);
      return;
    }
    for (let draw = row * samples; draw < (row + 1) * samples; draw++, at++) {
      const token = this.#exports.token(draw);
      out.status[at] = token === -1 ? STATUS_ALL_MASKED : STATUS_OK;
      out.token[at] = token;
      out.score[at] = this.#exports.score(draw);
      out.runnerUp[at] = this.#exports.runnerUp(draw);
      out.runnerUpScore[at] = this.#exports.runnerUpScore(draw);
    }
  }
}
