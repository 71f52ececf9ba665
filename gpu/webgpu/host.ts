/** The WebGPU backend: heads and logits on one device. */
import type { Backend, Candidates, LogitsBatch } from "../../src/backend.js";
import { emptyCandidates } from "../../src/shard/merge.js";
import { decodeRequest, encodeRequest } from "../../src/spec/request.js";
import type { GpuContext } from "./context.js";
import { Decider, type SweepPlan } from "./decider.js";
import { openContext } from "./device.js";
import { COPY_DST, STORAGE, UNIFORM } from "./flags.js";
import { createHeadSink } from "./head.js";
import { LOGITS_TILE, logitsTileShader } from "./shaders.js";

export { GpuError, type GpuErrorKind } from "./gpu-error.js";

/** Logits of one transfer. */
const LOGITS_BYTES = 64 << 20;

interface Opened {
  readonly context: GpuContext;
  readonly decider: Decider;
}

let shared: Promise<Opened> | null = null;

/** The device that all samplers share, opened again when it was lost. */
async function openShared(gpu: GPU): Promise<Opened> {
  if (shared !== null && (await shared.then(({ context }) => context.isLost, () => true))) shared = null;
  shared ??= openContext(gpu).then(async (context) => ({ context, decider: await Decider.create(context) }));
  return shared;
}

/** null when heads can be sampled on this GPU, else the reason why not. */
export async function webgpuObstacle(gpu: GPU): Promise<string | null> {
  return openShared(gpu).then(() => null, (error: Error) => error.message);
}

/** The same, and a GPU that is made of software is a reason too. */
export async function webgpuDrawback(gpu: GPU): Promise<string | null> {
  try {
    const { context } = await openShared(gpu);
    return context.isSoftware ? `${context.description} is software: WebAssembly is faster` : null;
  } catch (error) {
    return (error as Error).message;
  }
}

export async function createWebgpuBackend(gpu: GPU): Promise<Backend> {
  return new WebgpuBackend(await openShared(gpu));
}

class WebgpuBackend implements Backend {
  readonly name = "webgpu";
  readonly #opened: Opened;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  createHead(...[shape, scales]: Parameters<Backend["createHead"]>): ReturnType<Backend["createHead"]> {
    const { context, decider } = this.#opened;
    return createHeadSink(context, decider, shape, scales, false);
  }

  /** Rows of a call are cut into groups that fit one transfer. */
  async sampleLogits({ logits, vocabSize, request }: LogitsBatch): Promise<Candidates> {
    const { context, decider } = this.#opened;
    const { maxStorageBufferBindingSize, maxBufferSize, maxComputeWorkgroupsPerDimension } = context.device.limits;
    const bytes = Math.min(LOGITS_BYTES, maxStorageBufferBindingSize, maxBufferSize / 2);
    if (vocabSize * 4 > bytes) throw new RangeError(`"logits" expected rows of at most ${bytes} bytes on this device, got ${vocabSize * 4}`);
    const { rows, samples } = decodeRequest(request);
    const rowsACall = Math.min(Math.floor(bytes / (vocabSize * 4)), maxComputeWorkgroupsPerDimension);
    const plan = await this.#logitsPlan(vocabSize);
    const all = emptyCandidates(rows.length * samples);
    for (let first = 0; first < rows.length; first += rowsACall) {
      const some = rows.slice(first, first + rowsACall);
      const values = logits.subarray(first * vocabSize, (first + some.length) * vocabSize);
      const found = await decider.decide(plan, values, encodeRequest(some, samples));
      for (const [name, array] of Object.entries(all)) array.set(found[name as keyof Candidates] as never, first * samples);
    }
    return all;
  }

  /** The device stays: other samplers use it. */
  dispose(): void {}

  async #logitsPlan(vocabSize: number): Promise<SweepPlan> {
    const { context, decider } = this.#opened;
    const pipeline = await context.pipeline("logitsTile", logitsTileShader(), "logitsTile", [decider.sourceLayout, decider.sweepLayout]);
    const tiles = Math.ceil(vocabSize / LOGITS_TILE);
    const { device } = context;
    const bindGroup = await context.checked("the layout of logits", () => {
      const uniform = device.createBuffer({ label: "piece", size: 32, usage: UNIFORM | COPY_DST });
      device.queue.writeBuffer(uniform, 0, Uint32Array.of(0, vocabSize, 0, 0));
      const unused = device.createBuffer({ label: "unused", size: 16, usage: STORAGE });
      const entries = [uniform, unused, unused].map((buffer, binding) => ({ binding, resource: { buffer } }));
      return device.createBindGroup({ layout: decider.sourceLayout, entries });
    });
    return { pipeline, sources: [{ bindGroup, grid: [tiles, 1] }], tiles, rowsAWorkgroup: 1 };
  }
}
