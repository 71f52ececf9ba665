/** A small kernel beside the sweeps: eight numbers as its uniform, some bindings, and a dispatch. */
import type { GpuContext } from "./context.js";
import { COPY_DST, STAGE_COMPUTE, UNIFORM } from "./flags.js";
import { GrowingBuffer } from "./growing-buffer.js";

const UNIFORM_BYTES = 32;

export class Kernel {
  readonly #context: GpuContext;
  readonly #name: string;
  readonly #layout: GPUBindGroupLayout;
  readonly #uniform: GrowingBuffer;

  /**
   * @param name also of the shader's entry point
   * @param bindings those after the uniform
   */
  constructor(context: GpuContext, name: string, bindings: readonly GPUBufferBindingType[]) {
    this.#context = context;
    this.#name = name;
    this.#uniform = new GrowingBuffer(context, name, UNIFORM | COPY_DST);
    this.#layout = context.device.createBindGroupLayout({
      label: name,
      entries: ["uniform" as const, ...bindings].map((type, binding) => ({ binding, visibility: STAGE_COMPUTE, buffer: { type } })),
    });
  }

  pipeline(code: string): Promise<GPUComputePipeline> {
    return this.#context.pipeline(this.#name, code, this.#name, [this.#layout]);
  }

  /** One dispatch of the encoder's next submission: the uniform is written at once, so two would share the second's numbers. */
  encode(encoder: GPUCommandEncoder, pipeline: GPUComputePipeline, parameters: readonly number[], bindings: readonly GPUBufferBinding[], workgroups: number): void {
    const { device } = this.#context;
    const uniform = this.#uniform.reserve(UNIFORM_BYTES);
    const width = gridWidth(workgroups, device.limits);
    const words = new Uint32Array(UNIFORM_BYTES / 4);
    words.set([width, ...parameters]);
    device.queue.writeBuffer(uniform, 0, words);
    const entries = [{ buffer: uniform, size: UNIFORM_BYTES }, ...bindings].map((resource, binding) => ({ binding, resource }));
    const pass = encoder.beginComputePass({ label: this.#name });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: this.#layout, entries }));
    pass.dispatchWorkgroups(width, Math.ceil(workgroups / width));
    pass.end();
  }

  /** Gives the uniform's memory back. */
  destroy(): void {
    this.#uniform.destroy();
  }
}

/** Workgroups along x: the rest goes along y. */
export function gridWidth(workgroups: number, { maxComputeWorkgroupsPerDimension }: GPUSupportedLimits): number {
  return Math.min(workgroups, maxComputeWorkgroupsPerDimension);
}
