/** The WebGPU backend: heads and logits on one device. */
import type { Backend, Candidates, DeviceReport, HeadSink, LogitsBatch } from "../../src/backend.js";
import type { GpuContext } from "./context.js";
import { Decider, partBytes, type SweepPlan } from "./decider.js";
import { contextOf, isSoftware, openContext } from "./device.js";
import { COPY_DST, STORAGE, UNIFORM } from "./flags.js";
import { copyHead, createHeadSink } from "./head.js";
import { SelfTest, type Rung } from "./self-test.js";
import { LOGITS_TILE, logitsTileShader } from "./shaders.js";
import { testedHead, testedSink } from "./tested-head.js";

export { GpuError, type GpuErrorKind } from "../gpu-error.js";
export { destroyDevices } from "./device.js";

interface Opened {
  readonly context: GpuContext;
  readonly decider: Decider;
  readonly selfTest: SelfTest;
}

let shared: Promise<Opened> | null = null;
/** Devices of callers. */
const given = new WeakMap<GPUDevice, Promise<Opened>>();

async function prepare(context: GpuContext): Promise<Opened> {
  const decider = await Decider.create(context);
  const selfTest = new SelfTest(context, (shape, scales, rung) => createHeadSink(context, decider, shape, scales, hidesSums(rung)));
  return { context, decider, selfTest };
}

function hidesSums(rung: Rung): boolean {
  return rung === "opaque sums";
}

/** The device that all samplers share, opened again when it was lost. */
async function openShared(gpu: GPU): Promise<Opened> {
  const current = shared;
  const isGone = current === null || (await current.then(({ context }) => context.isLost, () => true));
  if (isGone && shared === current) shared = openContext(gpu).then(prepare);
  return shared!;
}

/** A caller's device, which stays the caller's: it is never destroyed here. */
function openGiven(device: GPUDevice): Promise<Opened> {
  let opened = given.get(device);
  if (opened === undefined) {
    opened = prepare(contextOf(device));
    given.set(device, opened);
    opened.catch(() => given.delete(device));
  }
  return opened;
}

/** null when heads can be sampled on this GPU, else the reason why not. */
export async function webgpuObstacle(gpu: GPU): Promise<string | null> {
  return openShared(gpu).then(() => null, (error: Error) => error.message);
}

/** The same, and a GPU that is made of software is a reason too. */
export async function webgpuDrawback(gpu: GPU): Promise<string | null> {
  try {
    // Asked first: a device takes longer to open.
    return (await isSoftware(gpu)) ? "the adapter is software: WebAssembly is faster" : await webgpuObstacle(gpu);
  } catch (error) {
    return (error as Error).message;
  }
}

/** What is known of the shared device. */
export async function webgpuReport(gpu: GPU): Promise<DeviceReport> {
  const { context, selfTest } = await openShared(gpu);
  return { adapter: context.description, rungs: selfTest.rungs };
}

export async function createWebgpuBackend(gpu: GPU): Promise<Backend> {
  return new WebgpuBackend(await openShared(gpu));
}

/** The same on a device of the caller's. */
export async function createWebgpuBackendOn(device: GPUDevice): Promise<Backend> {
  return new WebgpuBackend(await openGiven(device));
}

class WebgpuBackend implements Backend {
  readonly name = "webgpu";
  readonly #opened: Opened;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  /** @throws GpuError "wrong-bits" when the device computes such heads otherwise than docs/spec.md says */
  async createHead(...[shape, scales]: Parameters<Backend["createHead"]>): Promise<HeadSink> {
    const { context, decider, selfTest } = this.#opened;
    const rung = await selfTest.rungFor(shape);
    const sink = await createHeadSink(context, decider, shape, scales, hidesSums(rung));
    return testedSink(sink, (rows) => selfTest.assertRight(shape, rung, rows));
  }

  /** @throws GpuError "wrong-bits" as createHead does */
  async copyHead(...[given, onRows]: Parameters<NonNullable<Backend["copyHead"]>>): ReturnType<NonNullable<Backend["copyHead"]>> {
    const { context, decider, selfTest } = this.#opened;
    const { shape } = given;
    const rung = await selfTest.rungFor(shape);
    const { head, largestMagnitude } = await copyHead(context, decider, given, hidesSums(rung), onRows);
    return { head: testedHead(head, (rows) => selfTest.assertRight(shape, rung, rows)), largestMagnitude };
  }

  /** @throws GpuError "wrong-bits" when the device draws from logits otherwise than docs/spec.md says */
  async sampleLogits(batch: LogitsBatch): Promise<Candidates> {
    await this.#opened.selfTest.assertLogitsRight((known) => this.#decideLogits(known));
    return this.#decideLogits(batch);
  }

  async #decideLogits({ logits, vocabSize, request }: LogitsBatch): Promise<Candidates> {
    const { limits } = this.#opened.context.device;
    const most = Math.min(partBytes(limits) / 4, limits.maxComputeWorkgroupsPerDimension * LOGITS_TILE);
    if (vocabSize > most) throw new RangeError(`"logits" expected rows of at most ${most} tokens on this device, got ${vocabSize}`);
    return this.#withLogitsPlan(vocabSize, async (plan) => {
      const arrange = (rows: Float32Array, _: number, __: number, arranged: Float32Array): void => arranged.set(rows);
      const source = { kind: "memory", values: logits, reports: new Uint32Array(0), rowValues: vocabSize, arrange } as const;
      const { candidates } = await this.#opened.decider.decide(plan, source, request);
      return candidates!;
    });
  }

  /** The device stays: other samplers use it. */
  dispose(): void {}

  async #withLogitsPlan<T>(vocabSize: number, use: (plan: SweepPlan) => Promise<T>): Promise<T> {
    const { context, decider } = this.#opened;
    const pipeline = await context.pipeline("logitsTile", logitsTileShader(), "logitsTile", [decider.sourceLayout, decider.sweepLayout]);
    const tiles = Math.ceil(vocabSize / LOGITS_TILE);
    const { device } = context;
    const buffers: GPUBuffer[] = [];
    try {
      const bindGroup = await context.checked("the layout of logits", () => {
        buffers.push(device.createBuffer({ label: "piece", size: 32, usage: UNIFORM | COPY_DST }), device.createBuffer({ label: "unused", size: 16, usage: STORAGE }));
        const [uniform, unused] = buffers as [GPUBuffer, GPUBuffer];
        device.queue.writeBuffer(uniform, 0, Uint32Array.of(0, vocabSize, 0, 0));
        const entries = [uniform, unused, unused].map((buffer, binding) => ({ binding, resource: { buffer } }));
        return device.createBindGroup({ layout: decider.sourceLayout, entries });
      });
      return await use({ pipeline, sources: [{ bindGroup, grid: [tiles, 1] }], tiles, rowsAWorkgroup: 1, assertInUse: () => {} });
    } finally {
      for (const buffer of buffers) buffer.destroy();
    }
  }
}
