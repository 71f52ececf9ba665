/**
 * From a request to its decisions: sweeps over a source of logits that leave two candidates a tile and draw, a reduction of
 * these to two a draw, and 32 bytes a draw that come back, or tokens that stay on the device.
 */
import type { BufferSlice, Candidates } from "../../src/backend.js";
import { emptyCandidates } from "../../src/shard/merge.js";
import { HEADER_ROWS, HEADER_SAMPLES, HEADER_TOTAL_WORDS, HEADER_WORDS, RECORD_WORDS } from "../../src/spec/request.js";
import { DECISION_BYTES, readDecisions } from "../decisions.js";
import { REPORT_WORDS } from "../hidden-on-device.js";
import { cut, type Block } from "../parts.js";
import type { GpuContext } from "./context.js";
import { COPY_DST, COPY_SRC, STAGE_COMPUTE, STORAGE, UNIFORM } from "./flags.js";
import { GrowingBuffer } from "./growing-buffer.js";
import { gridWidth } from "./kernel.js";
import { ReadBack } from "./read-back.js";
import { reduceTilesShader } from "./shaders.js";
import { TokenWriter } from "./token-writer.js";
import { reduceThreads } from "./tuning.js";

/** How to sweep one source of logits. */
export interface SweepPlan {
  readonly pipeline: GPUComputePipeline;
  /** One dispatch each: a piece of the vocabulary, and its workgroups along y and z. */
  readonly sources: readonly { readonly bindGroup: GPUBindGroup; readonly grid: readonly [number, number] }[];
  /** Tiles of all sources. */
  readonly tiles: number;
  /** Rows that one workgroup takes: workgroups along x share out the rest. */
  readonly rowsAWorkgroup: number;
  /** Throws when the source was disposed of. */
  readonly assertInUse: () => void;
}

const REPORT_BYTES = 4 * REPORT_WORDS;

/** What the source's kernel reads beside the request, one row for each of the request. */
export type RowSource =
  | {
      readonly kind: "memory";
      /** [rows, as many as were given] */
      readonly values: Float32Array;
      /** Values of a row as the kernel reads it. */
      readonly rowValues: number;
      /** Brings rows into the order in which the kernel reads them, `batch` rows side by side; what no row fills is zero. */
      readonly arrange: (rows: Float32Array, rowCount: number, batch: number, arranged: Float32Array) => void;
      /** [rows, REPORT_WORDS] */
      readonly reports: Uint32Array;
    }
  | {
      readonly kind: "device";
      readonly rowBytes: number;
      /** Encodes what makes the values of some rows, `batch` rows side by side, and their reports, before the pass that reads them. */
      readonly prepare: (encoder: GPUCommandEncoder, firstRow: number, rows: number, batch: number) => { readonly values: GPUBufferBinding; readonly reports: GPUBuffer };
    };

export interface Decisions {
  /** null when the tokens stayed on the device */
  readonly candidates: Candidates | null;
  /** [rows, REPORT_WORDS] of a source on the device; no row when its reports stayed there */
  readonly reports: Uint32Array;
}

/** What tiles know of a draw: see sweep.wgsl. */
const DRAW_BYTES = 12;
/** Room for the candidates of one sweep. More draws take more sweeps. */
const CANDIDATE_BYTES = 64 << 20;
/** Samples of one sweep: a workgroup draws those of its tile one after the other, and drivers end what runs for seconds. */
const SWEEP_SAMPLES = 4096;
/** Room for the rows or the decisions of one part of a call. */
const PART_BYTES = 64 << 20;
/** Offset of a uniform, and of what else shares a buffer: the standard's largest alignment. */
const ALIGNMENT = 256;

/** Bytes that the rows of one part of a call may take. */
export function partBytes({ maxStorageBufferBindingSize, maxBufferSize }: GPUSupportedLimits): number {
  return Math.floor(Math.min(PART_BYTES, maxStorageBufferBindingSize / 2, maxBufferSize / 4));
}

export class Decider {
  readonly sourceLayout: GPUBindGroupLayout;
  readonly sweepLayout: GPUBindGroupLayout;
  readonly readBack: ReadBack;
  readonly #context: GpuContext;
  readonly #reduceLayout: GPUBindGroupLayout;
  #reduce: GPUComputePipeline | null = null;
  readonly #tokenWriter: TokenWriter;
  readonly #input: GrowingBuffer;
  readonly #candidates: GrowingBuffer;
  /** Zero between sweeps. */
  readonly #draws: GrowingBuffer;
  readonly #decisions: GrowingBuffer;
  #bound: { readonly places: readonly unknown[]; readonly groups: readonly [GPUBindGroup, GPUBindGroup] } | null = null;

  private constructor(context: GpuContext) {
    const { device } = context;
    const layout = (label: string, ...types: (GPUBufferBindingType | "sweep")[]) =>
      device.createBindGroupLayout({
        label,
        entries: types.map((type, binding) => ({
          binding,
          visibility: STAGE_COMPUTE,
          buffer: type === "sweep" ? { type: "uniform", hasDynamicOffset: true } : { type },
        })),
      });
    this.#context = context;
    this.sourceLayout = layout("source", "uniform", "read-only-storage", "read-only-storage");
    this.sweepLayout = layout("sweep", "sweep", "read-only-storage", "read-only-storage", "storage", "storage");
    this.#reduceLayout = layout("reduction", "sweep", "read-only-storage", "storage", "storage");
    this.readBack = new ReadBack(context);
    this.#tokenWriter = new TokenWriter(context);
    this.#input = new GrowingBuffer(context, "input", UNIFORM | STORAGE | COPY_DST);
    this.#candidates = new GrowingBuffer(context, "candidates", STORAGE);
    this.#draws = new GrowingBuffer(context, "draws", STORAGE);
    this.#decisions = new GrowingBuffer(context, "decisions", STORAGE | COPY_SRC);
  }

  static async create(context: GpuContext): Promise<Decider> {
    const decider = new Decider(context);
    decider.#reduce = await context.pipeline("reduceTiles", reduceTilesShader(reduceThreads(context.isSoftware)), "reduceTiles", [decider.#reduceLayout]);
    return decider;
  }

  /** Decides every draw of the request. tokensTo: where the tokens go, i32 [draws]; then nothing comes back. */
  async decide(plan: SweepPlan, source: RowSource, request: Uint32Array, tokensTo: BufferSlice | null = null): Promise<Decisions> {
    const [rows, samples] = [request[HEADER_ROWS]!, request[HEADER_SAMPLES]!];
    if (tokensTo !== null) await this.#tokenWriter.open();
    const reads = tokensTo === null;
    const candidates = reads ? emptyCandidates(rows * samples) : null;
    const reports = new Uint32Array(reads && source.kind === "device" ? rows * REPORT_WORDS : 0);
    for (const part of this.#partsOf(source, rows, samples)) {
      const firstDraw = part.firstRow * samples + part.firstSample;
      const decisionBytes = part.rows * part.samples * DECISION_BYTES;
      const bytes = decisionBytes + (source.kind === "device" ? part.rows * REPORT_BYTES : 0);
      if (tokensTo !== null) {
        const target = { ...tokensTo, byteOffset: tokensTo.byteOffset + 4 * firstDraw };
        await this.#submit(plan, source, request, part, (encoder, partReports) => this.#tokenWriter.encode(encoder, this.#decisions.buffer, partReports, part, target));
        continue;
      }
      const copy = (result: GPUBuffer) => (encoder: GPUCommandEncoder, partReports: GPUBufferBinding) => {
        encoder.copyBufferToBuffer(this.#decisions.buffer, 0, result, 0, decisionBytes);
        if (source.kind === "device") encoder.copyBufferToBuffer(partReports.buffer, 0, result, decisionBytes, part.rows * REPORT_BYTES);
      };
      const words = await this.readBack.read(bytes, (result) => this.#submit(plan, source, request, part, copy(result)));
      readDecisions(words.subarray(0, decisionBytes / 4), candidates!, firstDraw);
      if (source.kind === "device") reports.set(words.subarray(decisionBytes / 4), part.firstRow * REPORT_WORDS);
    }
    return { candidates, reports };
  }

  /** Encodes and submits a part; `finish` encodes what becomes of its decisions. */
  async #submit(plan: SweepPlan, source: RowSource, request: Uint32Array, part: Block, finish: (encoder: GPUCommandEncoder, reports: GPUBufferBinding) => void): Promise<void> {
    try {
      await this.#context.checked(`${part.rows * part.samples} draws`, () => {
        plan.assertInUse();
        const encoder = this.#context.device.createCommandEncoder();
        finish(encoder, this.#encode(encoder, plan, source, request, part));
        this.#context.device.queue.submit([encoder.finish()]);
      });
    } catch (error) {
      this.#bound = null; // groups that the device had no room for would serve again
      throw error;
    }
  }

  #encode(encoder: GPUCommandEncoder, plan: SweepPlan, source: RowSource, request: Uint32Array, part: Block): GPUBufferBinding {
    const { device } = this.#context;
    const sweeps = this.#sweepsOf(plan, part);
    const prepared = source.kind === "device" ? source.prepare(encoder, part.firstRow, part.rows, plan.rowsAWorkgroup) : null;
    const input = this.#writeInput(plan, sweeps, source, request, part);
    const most = Math.max(...sweeps.map(({ rows, samples }) => rows * samples));
    const candidates = { buffer: this.#candidates.reserve(most * plan.tiles * DECISION_BYTES) };
    const draws = { buffer: this.#draws.reserve(most * DRAW_BYTES) };
    const decisions = { buffer: this.#decisions.reserve(part.rows * part.samples * DECISION_BYTES) };
    const [sweepGroup, reduceGroup] = this.#bind(prepared?.values ?? input.values, input.request, candidates, draws, decisions);
    const pass = encoder.beginComputePass();
    sweeps.forEach(({ firstRow, rows, samples }, index) => {
      const blocks = Math.ceil((firstRow + rows) / plan.rowsAWorkgroup) - Math.floor(firstRow / plan.rowsAWorkgroup);
      pass.setPipeline(plan.pipeline);
      pass.setBindGroup(1, sweepGroup, [2 * index * ALIGNMENT]);
      for (const { bindGroup, grid } of plan.sources) {
        pass.setBindGroup(0, bindGroup);
        pass.dispatchWorkgroups(blocks, grid[0], grid[1]);
      }
      pass.setPipeline(this.#reduce!);
      pass.setBindGroup(0, reduceGroup, [(2 * index + 1) * ALIGNMENT]);
      const width = gridWidth(rows * samples, device.limits);
      pass.dispatchWorkgroups(width, Math.ceil((rows * samples) / width));
    });
    pass.end();
    return prepared === null ? input.reports : { buffer: prepared.reports };
  }

  /** The groups of a call; those of the last one where the same places are bound, as in a decode loop. */
  #bind(values: GPUBufferBinding, request: GPUBufferBinding, candidates: GPUBufferBinding, draws: GPUBufferBinding, decisions: GPUBufferBinding): readonly [GPUBindGroup, GPUBindGroup] {
    const places = [values, request, candidates, draws, decisions].flatMap(({ buffer, offset, size }) => [buffer, offset, size]);
    if (this.#bound?.places.every((place, index) => place === places[index])) return this.#bound.groups;
    const uniform = { buffer: this.#input.buffer, size: 32 };
    const bind = (layout: GPUBindGroupLayout, ...resources: GPUBufferBinding[]) =>
      this.#context.device.createBindGroup({ layout, entries: resources.map((resource, binding) => ({ binding, resource })) });
    const groups = [bind(this.sweepLayout, uniform, values, request, candidates, draws), bind(this.#reduceLayout, uniform, candidates, decisions, draws)] as const;
    this.#bound = { places, groups };
    return groups;
  }

  /** Cuts a call so that the rows and the decisions of a part fit their buffers. */
  #partsOf(source: RowSource, rows: number, samples: number): Block[] {
    const bytes = partBytes(this.#context.device.limits);
    const rowBytes = source.kind === "device" ? source.rowBytes : source.rowValues * 4;
    const rowsAPart = Math.floor(bytes / Math.max(rowBytes, 4 * RECORD_WORDS));
    return cut({ firstRow: 0, rows, firstSample: 0, samples }, rowsAPart, Math.floor(bytes / DECISION_BYTES), 1);
  }

  /** Cuts a part so that a sweep's candidates fit their buffer. Rows and samples of a sweep count within the part. */
  #sweepsOf(plan: SweepPlan, { rows, samples }: Block): Block[] {
    const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupsPerDimension } = this.#context.device.limits;
    const bytes = Math.min(CANDIDATE_BYTES, maxStorageBufferBindingSize, maxBufferSize);
    const room = Math.floor(bytes / (plan.tiles * DECISION_BYTES));
    const draws = samples > SWEEP_SAMPLES ? Math.min(room, SWEEP_SAMPLES) : room;
    return cut({ firstRow: 0, rows, firstSample: 0, samples }, (maxComputeWorkgroupsPerDimension - 1) * plan.rowsAWorkgroup, draws, plan.rowsAWorkgroup);
  }

  /** One transfer for all that a part brings from memory: two uniforms a sweep, the request, and rows with their reports. */
  #writeInput(plan: SweepPlan, sweeps: readonly Block[], source: RowSource, request: Uint32Array, part: Block): { request: GPUBufferBinding; values: GPUBufferBinding; reports: GPUBufferBinding } {
    const requestAt = 2 * sweeps.length * ALIGNMENT;
    const requestWords = HEADER_WORDS + part.rows * RECORD_WORDS;
    const reportsAt = aligned(requestAt + requestWords * 4);
    const reports = rowsOf(source.kind === "memory" ? source.reports : new Uint32Array(0), request[HEADER_ROWS]!, part);
    const valuesAt = aligned(reportsAt + reports.byteLength);
    const batch = plan.rowsAWorkgroup;
    const valueBytes = source.kind === "memory" ? Math.ceil(part.rows / batch) * batch * source.rowValues * 4 : 0;
    const words = new Uint32Array((valuesAt + valueBytes) / 4);
    sweeps.forEach((sweep, index) => {
      const draws = sweep.rows * sweep.samples;
      const at = (2 * index * ALIGNMENT) / 4;
      words.set([sweep.firstRow, sweep.rows, part.firstSample + sweep.firstSample, sweep.samples, plan.tiles], at);
      words.set([sweep.firstRow * part.samples + sweep.firstSample, draws, plan.tiles, gridWidth(draws, this.#context.device.limits)], at + ALIGNMENT / 4);
    });
    words.set(request.subarray(0, HEADER_WORDS), requestAt / 4);
    words[requestAt / 4 + HEADER_TOTAL_WORDS] = requestWords;
    words[requestAt / 4 + HEADER_ROWS] = part.rows;
    words.set(rowsOf(request.subarray(HEADER_WORDS), request[HEADER_ROWS]!, part), requestAt / 4 + HEADER_WORDS);
    words.set(reports, reportsAt / 4);
    if (source.kind === "memory") source.arrange(rowsOf(source.values, request[HEADER_ROWS]!, part), part.rows, batch, new Float32Array(words.buffer, valuesAt));
    const buffer = this.#input.reserve(words.byteLength);
    this.#context.device.queue.writeBuffer(buffer, 0, words);
    return {
      request: { buffer, offset: requestAt, size: requestWords * 4 },
      reports: { buffer, offset: reportsAt, size: reports.byteLength },
      values: { buffer, offset: valuesAt, size: valueBytes },
    };
  }
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

/** The part of an array that holds as much for each of `rowCount` rows. */
function rowsOf<T extends Uint32Array | Float32Array>(values: T, rowCount: number, { firstRow, rows }: Block): T {
  const width = values.length / rowCount;
  return values.subarray(firstRow * width, (firstRow + rows) * width) as T;
}
