/** From a request to its decisions: one transfer in, a sweep and a reduction for each part, 32 bytes a draw out. */
import type { Candidates } from "../../src/backend.js";
import { emptyCandidates } from "../../src/shard/merge.js";
import { HEADER_ROWS, HEADER_SAMPLES } from "../../src/spec/request.js";
import { DECISION_BYTES, readDecisions } from "../decisions.js";
import { cut } from "../parts.js";
import { arrangeHidden } from "../layout.js";
import type { CudaDriver, PinnedMemory } from "./driver.js";
import type { HeadMemory } from "./head.js";

/** What warps know of a draw: see sweep.cuh. */
const DRAW_BYTES = 16;
/** Threads of a block, and what it takes. */
const WARPS = 4;
const BLOCK = 32 * WARPS;
/** Room for the candidates of one sweep. More draws take more sweeps. */
const SWEEP_BYTES = 256 << 20;
/** Blocks of a grid at most: more along x than any call has. */
const GRID_X = 2 ** 31 - 1;
const GRID_Y = 65535;
const ALIGNMENT = 256;

/** Weight rows of a warp, by the hidden rows that a block takes: as plain.cu instantiates its kernels. */
const WARP_ROWS = { common: { 1: 32, 2: 32, 4: 16, 8: 16 }, f32: { 1: 32, 2: 16, 4: 8, 8: 8 } } as const;

/** What a sweep over one source of logits is. */
interface Source {
  /** Values that come in: [rows, ...] as the kernel reads them. */
  readonly values: Float32Array;
  /** Candidates that a draw may get. */
  readonly room: number;
  /** hidden rows that a block takes */
  readonly batch: number;
  /** @param values the device's copy */
  readonly launch: (values: bigint, sweep: ArrayBuffer, blocks: number) => void;
}

/** Memory of the device or of this process that grows with what is asked of it. */
interface Room<T> {
  readonly memory: T;
  readonly bytes: number;
}

export class Sweeper {
  readonly #driver: CudaDriver;
  /** Calls follow each other: they share the memory below. */
  #last: Promise<unknown> = Promise.resolve();
  #input: Room<bigint> | null = null;
  #candidates: Room<bigint> | null = null;
  #draws: Room<bigint> | null = null;
  #decisions: Room<bigint> | null = null;
  #staging: Room<PinnedMemory> | null = null;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
  }

  /** @param memory called when the turn comes; throws when the head is gone */
  sampleHead(memory: () => HeadMemory, hiddenStates: Float32Array, request: Uint32Array): Promise<Candidates> {
    return this.#inTurn(async () => {
      const { shape, layout, weights, scales } = memory();
      const rows = request[HEADER_ROWS]!;
      const batch = rows === 1 ? 1 : rows === 2 ? 2 : rows <= 4 ? 4 : 8;
      const warpRows = WARP_ROWS[shape.dtype === "f32" ? "f32" : "common"][batch];
      const values = new Float32Array(Math.ceil(rows / batch) * batch * layout.hiddenSize);
      arrangeHidden(hiddenStates, rows, layout.hiddenSize, batch, values);
      const tiles = Math.ceil(shape.vocabSize / warpRows);
      const kernel = `sample_${shape.dtype}${layout.isNarrow ? "_narrow" : ""}_${batch}`;
      const launch: Source["launch"] = (hidden, sweep, blocks) => {
        const head = structOf([weights, scales, hidden], [shape.vocabSize, layout.units, layout.groups]);
        this.#driver.launch(kernel, [blocks, Math.ceil(tiles / WARPS)], BLOCK, [head, sweep]);
      };
      return this.#decide({ values, room: tiles, batch, launch }, request);
    });
  }

  sampleLogits(logits: Float32Array, vocabSize: number, request: Uint32Array): Promise<Candidates> {
    const blocks = Math.ceil(vocabSize / BLOCK);
    if (blocks > GRID_Y) throw new RangeError(`"logits" expected rows of at most ${GRID_Y * BLOCK} tokens on this device, got ${vocabSize}`);
    const launch: Source["launch"] = (values, sweep, rows) =>
      this.#driver.launch("sample_logits", [rows, blocks], BLOCK, [structOf([values], []), structOf([], [vocabSize]), sweep]);
    return this.#inTurn(() => this.#decide({ values: logits, room: blocks * WARPS, batch: 1, launch }, request));
  }

  /** Runs work when all calls that were begun are done. */
  afterwards(work: () => void): Promise<void> {
    return this.#inTurn(async () => work());
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {}); // whoever waits for it hears of it
    return mine;
  }

  async #decide(source: Source, request: Uint32Array): Promise<Candidates> {
    try {
      return await this.#sweep(source, request);
    } catch (error) {
      this.#draws = this.#dropped(this.#draws); // who knows what it holds
      throw error;
    }
  }

  async #sweep(source: Source, request: Uint32Array): Promise<Candidates> {
    const [rows, samples] = [request[HEADER_ROWS]!, request[HEADER_SAMPLES]!];
    const candidates = emptyCandidates(rows * samples);
    const valuesAt = Math.ceil(request.byteLength / ALIGNMENT) * ALIGNMENT;
    const inputBytes = valuesAt + source.values.byteLength;
    const mostDraws = Math.floor(SWEEP_BYTES / (source.room * DECISION_BYTES));
    const parts = cut({ firstRow: 0, rows, firstSample: 0, samples }, GRID_X, mostDraws, source.batch);
    const most = Math.max(...parts.map((part) => part.rows * part.samples));
    this.#input = this.#reserve(this.#input, inputBytes, "a call");
    this.#candidates = this.#reserve(this.#candidates, most * source.room * DECISION_BYTES, "candidates");
    this.#decisions = this.#reserve(this.#decisions, most * DECISION_BYTES, "decisions");
    this.#reserveDraws(most * DRAW_BYTES);
    const staging = this.#reserveStaging(Math.max(inputBytes, most * DECISION_BYTES));
    new Uint32Array(staging.bytes, 0, request.length).set(request);
    new Float32Array(staging.bytes, valuesAt, source.values.length).set(source.values);
    this.#driver.uploadPinned(this.#input.memory, staging, inputBytes);
    for (const part of parts) {
      const draws = part.rows * part.samples;
      const addresses = [this.#input.memory, this.#candidates.memory, this.#draws!.memory];
      const sweep = structOf(addresses, [source.room, part.firstRow, part.rows, part.firstSample, part.samples]);
      const blocks = Math.ceil((part.firstRow + part.rows) / source.batch) - Math.floor(part.firstRow / source.batch);
      source.launch(this.#input.memory + BigInt(valuesAt), sweep, blocks);
      this.#driver.launch("reduce_draws", [draws, 1], 32, [sweep, structOf([this.#decisions.memory], [])]);
      this.#driver.downloadPinned(staging, this.#decisions.memory, draws * DECISION_BYTES);
      await this.#driver.finish();
      readDecisions(new Uint32Array(staging.bytes, 0, (draws * DECISION_BYTES) / 4), candidates, part.firstRow * samples + part.firstSample);
    }
    return candidates;
  }

  #reserve(room: Room<bigint> | null, bytes: number, what: string): Room<bigint> {
    if (room !== null && room.bytes >= bytes) return room;
    const memory = this.#driver.allocate(2 * bytes, what);
    this.#dropped(room);
    return { memory, bytes: 2 * bytes };
  }

  /** Each reduction leaves them zero. */
  #reserveDraws(bytes: number): void {
    const before = this.#draws;
    this.#draws = this.#reserve(before, bytes, "draws");
    if (this.#draws !== before) this.#driver.clear(this.#draws.memory, this.#draws.bytes);
  }

  #reserveStaging(bytes: number): PinnedMemory {
    if (this.#staging === null || this.#staging.bytes < bytes) {
      const memory = this.#driver.allocatePinned(2 * bytes);
      if (this.#staging !== null) this.#driver.freePinned(this.#staging.memory);
      this.#staging = { memory, bytes: 2 * bytes };
    }
    return this.#staging.memory;
  }

  #dropped(room: Room<bigint> | null): null {
    if (room !== null) this.#driver.free(room.memory);
    return null;
  }
}

/** A kernel's parameter as C lays it out: addresses, then 32-bit words. */
function structOf(addresses: readonly bigint[], words: readonly number[]): ArrayBuffer {
  const bytes = new ArrayBuffer(8 * addresses.length + 8 * Math.ceil(words.length / 2));
  new BigUint64Array(bytes, 0, addresses.length).set(addresses);
  new Uint32Array(bytes, 8 * addresses.length).set(words);
  return bytes;
}
