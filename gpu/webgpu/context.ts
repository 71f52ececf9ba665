/** A device with what all heads on it share: its pipelines, and the promise that nothing waits for a lost device. */
import { GpuError } from "./gpu-error.js";

export class GpuContext {
  readonly device: GPUDevice;
  /** For people: what the adapter says of itself. */
  readonly description: string;
  /** Whether the adapter computes on the processor. */
  readonly isSoftware: boolean;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #lost: Promise<never>;
  #loss: GpuError | null = null;

  constructor(device: GPUDevice, description: string, isSoftware: boolean) {
    this.device = device;
    this.isSoftware = isSoftware;
    this.description = description;
    this.#lost = device.lost.then(({ reason, message }) => {
      this.#loss = new GpuError("lost", `"device" expected to be in use, got one that was lost (${reason}): ${message || "no reason given"}`);
      throw this.#loss;
    });
    this.#lost.catch(() => {}); // whoever waits at that time hears of it
  }

  get isLost(): boolean {
    return this.#loss !== null;
  }

  /** @throws GpuError when the device is lost */
  assertInUse(): void {
    if (this.#loss !== null) throw this.#loss;
  }

  /** The outcome, or the loss of the device, whichever comes first. */
  async settle<T>(outcome: Promise<T>): Promise<T> {
    outcome.catch(() => {}); // a loss may win the race
    try {
      return await Promise.race([outcome, this.#lost]);
    } catch (error) {
      // An operation may fail because of a loss that is reported a moment later.
      if (!(error instanceof GpuError)) await new Promise((resolve) => setTimeout(resolve));
      throw this.#loss ?? error;
    }
  }

  /**
   * Runs work, which must not await, and reports what the device thinks of it.
   * @throws GpuError where the device has no memory for it or refuses it
   */
  async checked<T>(what: string, work: () => T): Promise<T> {
    this.assertInUse();
    this.device.pushErrorScope("out-of-memory");
    this.device.pushErrorScope("validation");
    let result: T;
    let invalid: Promise<GPUError | null>;
    let memory: Promise<GPUError | null>;
    try {
      result = work();
    } finally {
      invalid = this.device.popErrorScope();
      memory = this.device.popErrorScope();
    }
    const [noMemory, refused] = await this.settle(Promise.all([memory, invalid]));
    if (noMemory !== null) throw new GpuError("out-of-memory", `"device" expected memory for ${what}, got none: ${noMemory.message}`);
    if (refused !== null) throw new GpuError("refused", `"device" expected to take ${what}, got a refusal: ${refused.message}`);
    return result;
  }

  /** The compiled shader, once for each text. */
  pipeline(label: string, code: string, entryPoint: string, layouts: readonly GPUBindGroupLayout[]): Promise<GPUComputePipeline> {
    let pipeline = this.#pipelines.get(code);
    if (pipeline === undefined) {
      pipeline = this.#compile(label, code, entryPoint, layouts);
      this.#pipelines.set(code, pipeline);
      pipeline.catch(() => this.#pipelines.delete(code));
    }
    return pipeline;
  }

  async #compile(label: string, code: string, entryPoint: string, layouts: readonly GPUBindGroupLayout[]): Promise<GPUComputePipeline> {
    this.assertInUse();
    const layout = this.device.createPipelineLayout({ bindGroupLayouts: [...layouts] });
    try {
      const module = this.device.createShaderModule({ label, code });
      return await this.settle(this.device.createComputePipelineAsync({ label, layout, compute: { module, entryPoint } }));
    } catch (error) {
      if (error instanceof GpuError) throw error;
      throw new GpuError("refused", `"device" expected to compile ${label}, got a refusal: ${(error as Error).message}`, { cause: error });
    }
  }
}
