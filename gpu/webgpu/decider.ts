/**
 * From a request to its decisions: sweeps over a source of logits that leave two candidates a tile and draw, a reduction of
 * these to two a draw, and 32 bytes a draw that come back.
 */
import { STATUS_INVALID, STATUS_OK, type Candidates } from "../../src/backend.js";
import { emptyCandidates } from "../../src/shard/merge.js";
import { HEADER_ROWS, HEADER_SAMPLES } from "../../src/spec/request.js";
import type { GpuContext } from "./context.js";
import { COPY_DST, COPY_SRC, MAP_MODE_READ, MAP_READ, STAGE_COMPUTE, STORAGE, UNIFORM } from "./flags.js";
import { reduceTilesShader } from "./shaders.js";

/** How to sweep one source of logits. */
export interface SweepPlan {
  readonly pipeline: GPUComputePipeline;
  /** One dispatch each: a piece of the vocabulary, and its workgroups along x and y. */
  readonly sources: readonly { readonly bindGroup: GPUBindGroup; readonly grid: readonly [number, number] }[];
  /** Tiles of all sources. */
  readonly tiles: number;
  /** Rows that one workgroup takes: workgroups along z share out the rest. */
  readonly rowsAWorkgroup: number;
}

/** Two vectors of four words for a draw, and as many for each of its tiles. */
const DECISION_BYTES = 32;
/** Room for the candidates of one sweep. More draws take more sweeps. */
const CANDIDATE_BYTES = 64 << 20;
/** Offset of a uniform in a buffer. */
const UNIFORM_STRIDE = 256;
const NO_TOKEN = 0xffffffff;
const FLAG_INVALID = 1;
const SIGN = 1n << 63n;

interface Sweep {
  readonly firstRow: number;
  readonly rows: number;
  readonly firstSample: number;
  readonly samples: number;
}

export class Decider {
  readonly sourceLayout: GPUBindGroupLayout;
  readonly sweepLayout: GPUBindGroupLayout;
  readonly #context: GpuContext;
  readonly #reduceLayout: GPUBindGroupLayout;
  #reduce: GPUComputePipeline | null = null;
  readonly #input: GrowingBuffer;
  readonly #candidates: GrowingBuffer;
  readonly #decisions: GrowingBuffer;
  /** Read-back buffers that no call is using. */
  readonly #idle: GPUBuffer[] = [];

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
    this.sweepLayout = layout("sweep", "sweep", "read-only-storage", "read-only-storage", "storage");
    this.#reduceLayout = layout("reduction", "sweep", "read-only-storage", "storage");
    this.#input = new GrowingBuffer(device, "input", UNIFORM | STORAGE | COPY_DST);
    this.#candidates = new GrowingBuffer(device, "candidates", STORAGE);
    this.#decisions = new GrowingBuffer(device, "decisions", STORAGE | COPY_SRC);
  }

  static async create(context: GpuContext): Promise<Decider> {
    const decider = new Decider(context);
    decider.#reduce = await context.pipeline("reduceTiles", reduceTilesShader(), "reduceTiles", [decider.#reduceLayout]);
    return decider;
  }

  /**
   * Decides every draw of the request.
   * @param values what the source's kernel reads beside the request: hidden states, f32 [rows, padded D]
   */
  async decide(plan: SweepPlan, values: Float32Array, request: Uint32Array): Promise<Candidates> {
    const draws = request[HEADER_ROWS]! * request[HEADER_SAMPLES]!;
    const bytes = draws * DECISION_BYTES;
    const readBack = await this.#context.checked(`${draws} draws`, () => {
      const result = this.#takeReadBack(bytes);
      const encoder = this.#encode(plan, values, request);
      encoder.copyBufferToBuffer(this.#decisions.buffer, 0, result, 0, bytes);
      this.#context.device.queue.submit([encoder.finish()]);
      return result;
    });
    await this.#context.settle(readBack.mapAsync(MAP_MODE_READ, 0, bytes));
    const candidates = toCandidates(new Uint32Array(readBack.getMappedRange(0, bytes)), draws);
    readBack.unmap();
    this.#idle.push(readBack);
    return candidates;
  }

  dispose(): void {
    for (const buffer of [this.#input, this.#candidates, this.#decisions]) buffer.destroy();
    for (const buffer of this.#idle.splice(0)) buffer.destroy();
  }

  #encode(plan: SweepPlan, values: Float32Array, request: Uint32Array): GPUCommandEncoder {
    const { device } = this.#context;
    const sweeps = this.#sweepsOf(plan, request[HEADER_ROWS]!, request[HEADER_SAMPLES]!);
    const input = this.#writeInput(plan, sweeps, values, request);
    const draws = request[HEADER_ROWS]! * request[HEADER_SAMPLES]!;
    const most = Math.max(...sweeps.map(({ rows, samples }) => rows * samples));
    this.#candidates.reserve(most * plan.tiles * DECISION_BYTES);
    this.#decisions.reserve(draws * DECISION_BYTES);
    const bind = (layout: GPUBindGroupLayout, ...resources: GPUBufferBinding[]) =>
      device.createBindGroup({ layout, entries: resources.map((resource, binding) => ({ binding, resource })) });
    const uniform = { buffer: this.#input.buffer, size: 32 };
    const candidates = { buffer: this.#candidates.buffer };
    const sweepGroup = bind(this.sweepLayout, uniform, input.values, input.request, candidates);
    const reduceGroup = bind(this.#reduceLayout, uniform, candidates, { buffer: this.#decisions.buffer });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    sweeps.forEach(({ rows, samples }, index) => {
      pass.setPipeline(plan.pipeline);
      pass.setBindGroup(1, sweepGroup, [2 * index * UNIFORM_STRIDE]);
      for (const { bindGroup, grid } of plan.sources) {
        pass.setBindGroup(0, bindGroup);
        pass.dispatchWorkgroups(grid[0], grid[1], Math.ceil(rows / plan.rowsAWorkgroup));
      }
      pass.setPipeline(this.#reduce!);
      pass.setBindGroup(0, reduceGroup, [(2 * index + 1) * UNIFORM_STRIDE]);
      const gridWidth = this.#gridWidth(rows * samples);
      pass.dispatchWorkgroups(gridWidth, Math.ceil((rows * samples) / gridWidth));
    });
    pass.end();
    return encoder;
  }

  /** Cuts the request so that a sweep's candidates fit their buffer. A sweep's draws follow each other in the request. */
  #sweepsOf(plan: SweepPlan, rows: number, samples: number): Sweep[] {
    const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupsPerDimension } = this.#context.device.limits;
    const bytes = Math.min(CANDIDATE_BYTES, maxStorageBufferBindingSize, maxBufferSize);
    const draws = Math.max(1, Math.floor(bytes / (plan.tiles * DECISION_BYTES)));
    const samplesASweep = Math.min(samples, draws);
    const rowsASweep = Math.min(rows, Math.max(1, Math.floor(draws / samples)), maxComputeWorkgroupsPerDimension * plan.rowsAWorkgroup);
    const sweeps: Sweep[] = [];
    for (let firstRow = 0; firstRow < rows; firstRow += rowsASweep) {
      for (let firstSample = 0; firstSample < samples; firstSample += samplesASweep) {
        sweeps.push({ firstRow, rows: Math.min(rowsASweep, rows - firstRow), firstSample, samples: Math.min(samplesASweep, samples - firstSample) });
      }
    }
    return sweeps;
  }

  #gridWidth(draws: number): number {
    return Math.min(draws, this.#context.device.limits.maxComputeWorkgroupsPerDimension);
  }

  /** One transfer for all that a call brings: two uniforms a sweep, the request, the values. */
  #writeInput(plan: SweepPlan, sweeps: readonly Sweep[], values: Float32Array, request: Uint32Array): { request: GPUBufferBinding; values: GPUBufferBinding } {
    const requestAt = 2 * sweeps.length * UNIFORM_STRIDE;
    const valuesAt = Math.ceil((requestAt + request.byteLength) / UNIFORM_STRIDE) * UNIFORM_STRIDE;
    const words = new Uint32Array((valuesAt + values.byteLength) / 4);
    const samples = request[HEADER_SAMPLES]!;
    sweeps.forEach((sweep, index) => {
      const draws = sweep.rows * sweep.samples;
      const at = (2 * index * UNIFORM_STRIDE) / 4;
      words.set([sweep.firstRow, sweep.rows, sweep.firstSample, sweep.samples, plan.tiles], at);
      words.set([sweep.firstRow * samples + sweep.firstSample, draws, plan.tiles, this.#gridWidth(draws)], at + UNIFORM_STRIDE / 4);
    });
    words.set(request, requestAt / 4);
    new Float32Array(words.buffer, valuesAt).set(values);
    this.#input.reserve(words.byteLength);
    this.#context.device.queue.writeBuffer(this.#input.buffer, 0, words);
    return {
      request: { buffer: this.#input.buffer, offset: requestAt, size: request.byteLength },
      values: { buffer: this.#input.buffer, offset: valuesAt, size: values.byteLength },
    };
  }

  #takeReadBack(bytes: number): GPUBuffer {
    const fitting = this.#idle.findIndex((buffer) => buffer.size >= bytes);
    if (fitting >= 0) return this.#idle.splice(fitting, 1)[0]!;
    this.#idle.pop()?.destroy(); // too small: its place is taken by a larger one
    const size = Math.max(4096, bytes);
    return this.#context.device.createBuffer({ label: "read back", size, usage: MAP_READ | COPY_DST });
  }
}

/** A buffer whose content need not outlive a call, replaced by a larger one when it is too small. */
class GrowingBuffer {
  readonly #device: GPUDevice;
  readonly #label: string;
  readonly #usage: GPUBufferUsageFlags;
  #buffer: GPUBuffer | null = null;

  constructor(device: GPUDevice, label: string, usage: GPUBufferUsageFlags) {
    this.#device = device;
    this.#label = label;
    this.#usage = usage;
  }

  get buffer(): GPUBuffer {
    return this.#buffer!;
  }

  reserve(bytes: number): void {
    if (this.#buffer !== null && this.#buffer.size >= bytes) return;
    this.#buffer?.destroy(); // what was submitted with it still runs
    this.#buffer = this.#device.createBuffer({ label: this.#label, size: Math.max(65536, 2 ** Math.ceil(Math.log2(bytes))), usage: this.#usage });
  }

  destroy(): void {
    this.#buffer?.destroy();
    this.#buffer = null;
  }
}

function toCandidates(words: Uint32Array, draws: number): Candidates {
  const candidates = emptyCandidates(draws);
  const score = (low: number, high: number): bigint => BigInt.asIntN(64, ((BigInt(high) << 32n) | BigInt(low)) ^ SIGN);
  for (let draw = 0; draw < draws; draw++) {
    const [low, high, token, flags, low2, high2, runnerUp] = words.subarray(draw * 8, draw * 8 + 7) as unknown as [number, number, number, number, number, number, number];
    if (flags & FLAG_INVALID) {
      candidates.status[draw] = STATUS_INVALID;
      continue;
    }
    if (token === NO_TOKEN) continue;
    candidates.status[draw] = STATUS_OK;
    candidates.token[draw] = token;
    candidates.score[draw] = score(low, high);
    if (runnerUp === NO_TOKEN) continue;
    candidates.runnerUp[draw] = runnerUp;
    candidates.runnerUpScore[draw] = score(low2, high2);
  }
  return candidates;
}
