/** A small kernel beside the sweeps: eight numbers as its uniform, some bindings, and a dispatch. */
import type { GpuContext } from "./context.js";
import { COPY_DST, STAGE_COMPUTE, UNIFORM } from "./flags.js";

const UNIFORM_BYTES = 32;

export class Kernel {
  readonly #context: GpuContext;
  readonly #name: string;
  readonly #layout: GPUBindGroupLayout;
  #uniform: GPUBuffer | null = null;

  /**
   * @param name also of the shader's entry point
   * @param bindings those after the uniform
   */
  constructor(context: GpuContext, name: string, bindings: readonly GPUBufferBindingType[]) {
    this.#context = context;
    this.#name = name;
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
    this.#uniform ??= device.createBuffer({ label: this.#name, size: UNIFORM_BYTES, usage: UNIFORM | COPY_DST });
    const width = gridWidth(workgroups, device.limits);
    const words = new Uint32Array(UNIFORM_BYTES / 4);
    words.set([width, ...parameters]);
    device.queue.writeBuffer(this.#uniform, 0, words);
    const entries = [{ buffer: this.#uniform }, ...bindings].map((resource, binding) => ({ binding, resource }));
    const pass = encoder.beginComputePass({ label: this.#name });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: this.#layout, entries }));
    pass.dispatchWorkgroups(width, Math.ceil(workgroups / width));
    pass.end();
  }

  /** Gives the uniform's memory back. */
  destroy(): void {
    this.#uniform?.destroy();
    this.#uniform = null;
  }
}

/** Workgroups along x: the rest goes along y. */
export function gridWidth(workgroups: number, { maxComputeWorkgroupsPerDimension }: GPUSupportedLimits): number {
  return Math.min(workgroups, maxComputeWorkgroupsPerDimension);
}
