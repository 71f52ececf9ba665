/** From a request to its decisions: one transfer in, kernels for each part, 32 bytes a draw out. Calls follow each other. */
import type { Candidates } from "../../src/backend.js";
import { emptyCandidates } from "../../src/shard/merge.js";
import { HEADER_ROWS, HEADER_SAMPLES } from "../../src/spec/request.js";
import { DECISION_BYTES, readDecisions } from "../decisions.js";
import { cut, type Block } from "../parts.js";
import type { CudaDriver } from "./driver.js";
import type { HeadMemory } from "./head.js";
import { DeviceMemory, StagingMemory } from "./memory.js";
import { PlainKernels } from "./plain.js";
import { ScreenedKernels } from "./screened.js";

/** Blocks of a grid along x at most. */
const GRID_X = 2 ** 31 - 1;
const ALIGNMENT = 256;

/** Some draws of a call, and where on the device what they need lies. */
export interface Part {
  readonly block: Block;
  readonly request: bigint;
  /** of the source, as it gave them */
  readonly values: bigint;
  /** Where the decisions go. */
  readonly decisions: bigint;
}

/** Where logits come from. */
export interface Source {
  /** Values that come in: rows of the request, as the kernels read them. */
  readonly values: Float32Array;
  /** Rows that a block of the grid takes together. */
  readonly batch: number;
  /** Draws of a part at most. */
  readonly mostDraws: number;
  /** Asks for all that decides a part. */
  readonly decide: (part: Part) => void;
}

export class Sweeper {
  readonly #driver: CudaDriver;
  readonly #plain: PlainKernels;
  readonly #screened: ScreenedKernels;
  /** Calls share the memory below. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #input: DeviceMemory;
  readonly #decisions: DeviceMemory;
  readonly #staging: StagingMemory;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
    this.#plain = new PlainKernels(driver);
    this.#screened = new ScreenedKernels(driver);
    this.#input = new DeviceMemory(driver, "a call");
    this.#decisions = new DeviceMemory(driver, "decisions");
    this.#staging = new StagingMemory(driver);
  }

  /** @param memory called when the turn comes; throws when the head is gone */
  sampleHead(memory: () => HeadMemory, hiddenStates: Float32Array, request: Uint32Array): Promise<Candidates> {
    return this.#inTurn(() => {
      const head = memory();
      const source = head.kind === "tiles" ? this.#screened.headSource(head, hiddenStates) : this.#plain.headSource(head, hiddenStates, request);
      return this.#decide(source, request);
    });
  }

  sampleLogits(logits: Float32Array, vocabSize: number, request: Uint32Array): Promise<Candidates> {
    return this.#inTurn(() => this.#decide(this.#plain.logitsSource(logits, vocabSize), request));
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
      this.#plain.forget();
      throw error;
    }
  }

  async #sweep(source: Source, request: Uint32Array): Promise<Candidates> {
    const [rows, samples] = [request[HEADER_ROWS]!, request[HEADER_SAMPLES]!];
    const candidates = emptyCandidates(rows * samples);
    const valuesAt = Math.ceil(request.byteLength / ALIGNMENT) * ALIGNMENT;
    const inputBytes = valuesAt + source.values.byteLength;
    const blocks = cut({ firstRow: 0, rows, firstSample: 0, samples }, GRID_X, source.mostDraws, source.batch);
    const most = Math.max(...blocks.map((block) => block.rows * block.samples));
    const input = this.#input.reserve(inputBytes);
    const decisions = this.#decisions.reserve(most * DECISION_BYTES);
    const staging = this.#staging.reserve(Math.max(inputBytes, most * DECISION_BYTES));
    new Uint32Array(staging.bytes, 0, request.length).set(request);
    new Float32Array(staging.bytes, valuesAt, source.values.length).set(source.values);
    this.#driver.uploadPinned(input, staging, inputBytes);
    for (const block of blocks) {
      const bytes = block.rows * block.samples * DECISION_BYTES;
      source.decide({ block, request: input, values: input + BigInt(valuesAt), decisions });
      this.#driver.downloadPinned(staging, decisions, bytes);
      await this.#driver.finish();
      readDecisions(new Uint32Array(staging.bytes, 0, bytes / 4), candidates, block.firstRow * samples + block.firstSample);
    }
    return candidates;
  }
}
