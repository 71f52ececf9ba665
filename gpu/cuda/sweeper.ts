/** From a request to its decisions: one transfer in, kernels for each part, 32 bytes a draw out, or none. Calls follow each other. */
import type { Candidates, DeviceDecisions } from "../../src/backend.js";
import { emptyCandidates } from "../../src/shard/merge.js";
import { HEADER_ROWS, HEADER_SAMPLES } from "../../src/spec/request.js";
import { DECISION_BYTES, readDecisions } from "../decisions.js";
import { problemsOf, REPORT_WORDS } from "../hidden-on-device.js";
import { cut, type Block } from "../parts.js";
import type { CudaDriver } from "./driver.js";
import type { HeadMemory } from "./head.js";
import { InputMemory, type GivenRows, type Input, type RowOrder } from "./input.js";
import { DeviceMemory, StagingMemory } from "./memory.js";
import { PlainKernels } from "./plain.js";
import { ScreenedKernels } from "./screened.js";
import { structOf } from "./structs.js";

/** Blocks of a grid along x at most. */
const GRID_X = 2 ** 31 - 1;
/** As pointers.cuh has it. */
const STORE_THREADS = 256;

/** Some draws of a call, and where on the device what they need lies. */
export interface Part {
  readonly block: Block;
  readonly request: bigint;
  /** Rows of the request, in the order of the source. */
  readonly values: bigint;
  /** Where the decisions go. */
  readonly decisions: bigint;
}

/** Where logits come from. */
export interface Source {
  /** How its kernels read the call's rows. */
  readonly order: RowOrder;
  /** Draws of a part at most. */
  readonly mostDraws: number;
  /** Asks for all that decides a part. */
  readonly decide: (part: Part) => void;
}

/** What is asked of a head. */
export interface Call {
  readonly given: GivenRows;
  readonly request: Uint32Array;
  /** Where the tokens go on the device; null: decisions come back. */
  readonly tokensTo: bigint | null;
  /** A stream of the caller's to keep in order with. */
  readonly stream: bigint | null;
}

export class Sweeper {
  readonly #driver: CudaDriver;
  readonly #plain: PlainKernels;
  readonly #screened: ScreenedKernels;
  /** Calls share the memory below. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #input: InputMemory;
  readonly #decisions: DeviceMemory;
  readonly #output: StagingMemory;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
    this.#plain = new PlainKernels(driver);
    this.#screened = new ScreenedKernels(driver);
    this.#input = new InputMemory(driver);
    this.#decisions = new DeviceMemory(driver, "decisions");
    this.#output = new StagingMemory(driver);
  }

  /** @param head freed by nobody before the call's turn is over: see afterwards */
  sampleHead(head: HeadMemory, call: Call): Promise<DeviceDecisions> {
    return this.#inTurn(() => this.#decide(head.kind === "tiles" ? this.#screened.headSource(head) : this.#plain.headSource(head, call.request), call));
  }

  async sampleLogits(logits: Float32Array, vocabSize: number, request: Uint32Array): Promise<Candidates> {
    const call = { given: { values: logits, isRefused: [] }, request, tokensTo: null, stream: null };
    const { candidates } = await this.#inTurn(() => this.#decide(this.#plain.logitsSource(vocabSize), call));
    return candidates!;
  }

  /** Runs work when all calls that were begun are done. */
  afterwards(work: () => void): Promise<void> {
    return this.#inTurn(async () => work());
  }

  /** Work begins when the device has done what the work before asked for. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(() => this.#driver.finish()).then(work);
    this.#last = mine.catch(() => {}); // whoever waits for it hears of it
    return mine;
  }

  async #decide(source: Source, call: Call): Promise<DeviceDecisions> {
    try {
      return await this.#sweep(source, call);
    } catch (error) {
      // What was asked for may still use the caller's memory.
      await this.#driver.finish().then(() => this.#plain.forget()).catch(() => {});
      throw error;
    }
  }

  async #sweep(source: Source, call: Call): Promise<DeviceDecisions> {
    const [rows, samples] = [call.request[HEADER_ROWS]!, call.request[HEADER_SAMPLES]!];
    const blocks = cut({ firstRow: 0, rows, firstSample: 0, samples }, GRID_X, source.mostDraws, source.order.batch);
    const input = this.#input.bring(call.given, source.order, call.request, call.stream);
    const decisions = this.#decisions.reserve(drawsOf(blocks[0]!) * DECISION_BYTES); // the first block is the largest
    const decide = (block: Block): void => source.decide({ block, request: input.request, values: input.values, decisions });
    if (call.tokensTo === null) return this.#readBack(blocks, decide, decisions, call, input);
    for (const block of blocks) {
      decide(block);
      const storing = structOf([decisions, input.reports, call.tokensTo], [drawsOf(block), block.firstRow * samples + block.firstSample, samples]);
      this.#driver.launch("store_tokens", { grid: [Math.ceil(drawsOf(block) / STORE_THREADS), 1], threads: STORE_THREADS, parameters: [storing] });
    }
    if (call.stream === null) await this.#driver.finish();
    else this.#driver.letWait(call.stream);
    return { candidates: null, invalidRow: [] };
  }

  async #readBack(blocks: readonly Block[], decide: (block: Block) => void, decisions: bigint, { given, request }: Call, input: Input): Promise<DeviceDecisions> {
    const [rows, samples] = [request[HEADER_ROWS]!, request[HEADER_SAMPLES]!];
    const candidates = emptyCandidates(rows * samples);
    const reportBytes = "pointer" in given ? rows * REPORT_WORDS * 4 : 0;
    const output = this.#output.reserve(reportBytes + drawsOf(blocks[0]!) * DECISION_BYTES);
    if (reportBytes > 0) this.#driver.downloadPinned(output.address, input.reports, reportBytes);
    for (const block of blocks) {
      const bytes = drawsOf(block) * DECISION_BYTES;
      decide(block);
      this.#driver.downloadPinned(output.address + BigInt(reportBytes), decisions, bytes);
      await this.#driver.finish();
      readDecisions(new Uint32Array(output.bytes, reportBytes, bytes / 4), candidates, block.firstRow * samples + block.firstSample);
    }
    return { candidates, invalidRow: problemsOf(new Uint32Array(output.bytes, 0, reportBytes / 4)) };
  }
}

function drawsOf(block: Block): number {
  return block.rows * block.samples;
}
