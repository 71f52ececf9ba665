/** A device with what all heads on it share: its pipelines, and the promise that nothing waits for a lost device. */
import { GpuError } from "../gpu-error.js";

/** Turns of the event loop in which a loss that made an operation fail is reported. */
const LOSS_TURNS = 3;

export class GpuContext {
  readonly device: GPUDevice;
  /** For people: what the adapter says of itself. */
  readonly description: string;
  /** Whether the adapter computes on the processor. */
  readonly isSoftware: boolean;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #translate: (code: string) => string;
  readonly #lost: Promise<never>;
  #loss: GpuError | null = null;
  /** Who waits for the verdict on the work that runs. */
  #waiting: ((isGood: boolean) => void)[] = [];

  /** @param translate stands in for a compiler that changes what shaders compute: tests of the self-test give one */
  constructor(device: GPUDevice, description: string, isSoftware: boolean, translate: (code: string) => string = (code) => code) {
    this.device = device;
    this.#translate = translate;
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
      const result = await Promise.race([outcome, this.#lost]);
      this.assertInUse(); // on a lost device everything seems to succeed
      return result;
    } catch (error) {
      // An operation may fail because of a loss that is reported a moment later.
      for (let turn = 0; turn < LOSS_TURNS && this.#loss === null; turn++) await new Promise((resolve) => setTimeout(resolve));
      throw this.#loss ?? error;
    }
  }

  /**
   * Runs work, which must not await, and reports what the device thinks of it.
   * @throws GpuError where the device has no memory for it or refuses it
   */
  async checked<T>(what: string, work: () => T): Promise<T> {
    this.assertInUse();
    const waiting = (this.#waiting = [] as ((isGood: boolean) => void)[]);
    let isGood = false;
    try {
      const result = await this.#inScopes(what, work);
      isGood = true;
      return result;
    } finally {
      for (const tell of waiting) tell(isGood);
    }
  }

  /** To be called by work in checked(): tells whether the device took all of it. */
  onVerdict(tell: (isGood: boolean) => void): void {
    this.#waiting.push(tell);
  }

  async #inScopes<T>(what: string, work: () => T): Promise<T> {
    this.device.pushErrorScope("out-of-memory");
    this.device.pushErrorScope("validation");
    let result: T;
    let verdicts: Promise<(GPUError | null)[]>;
    try {
      result = work();
    } finally {
      const refusal = this.device.popErrorScope();
      verdicts = Promise.all([this.device.popErrorScope(), refusal]);
      verdicts.catch(() => {}); // nobody asks for them when the work threw
    }
    const [noMemory, refused] = (await this.settle(verdicts)) as [GPUError | null, GPUError | null];
    if (noMemory !== null) throw new GpuError("out-of-memory", `"device" expected memory for ${what}, got none: ${noMemory.message}`);
    if (refused !== null) throw new GpuError("refused", `"device" expected to take ${what}, got a refusal: ${refused.message}`);
    return result;
  }

  /**
   * The compiled shader, once for each text; a text that the device refused once is not tried again.
   * @throws GpuError, "refused" also for a shader that needs more than the device's limits allow
   */
  pipeline(label: string, code: string, entryPoint: string, layouts: readonly GPUBindGroupLayout[]): Promise<GPUComputePipeline> {
    let pipeline = this.#pipelines.get(code);
    if (pipeline === undefined) {
      pipeline = this.#compile(label, code, entryPoint, layouts);
      this.#pipelines.set(code, pipeline);
      pipeline.catch(() => {}); // whoever asked hears of it
    }
    return pipeline;
  }

  async #compile(label: string, code: string, entryPoint: string, layouts: readonly GPUBindGroupLayout[]): Promise<GPUComputePipeline> {
    this.assertInUse();
    const layout = this.device.createPipelineLayout({ bindGroupLayouts: [...layouts] });
    try {
      const module = this.device.createShaderModule({ label, code: this.#translate(code) });
      return await this.settle(this.device.createComputePipelineAsync({ label, layout, compute: { module, entryPoint } }));
    } catch (error) {
      if (error instanceof GpuError) throw error;
      throw new GpuError("refused", `"device" expected to compile ${label}, got a refusal: ${(error as Error).message}`, { cause: error });
    }
  }
}
