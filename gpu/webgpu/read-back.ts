/** What comes back from the device: buffers that are mapped, read, and used again by later calls. */
import type { GpuContext } from "./context.js";
import { COPY_DST, MAP_MODE_READ, MAP_READ } from "./flags.js";

const SMALLEST = 4096;
/** Buffers kept for later: as many calls may wait at a time without a new one. */
const KEPT = 4;
/** Larger ones are not kept. */
const KEPT_BYTES = 1 << 20;

export class ReadBack {
  readonly #context: GpuContext;
  readonly #idle: GPUBuffer[] = [];

  constructor(context: GpuContext) {
    this.#context = context;
  }

  /**
   * The words that `submit` has copied, before it awaits anything, into the buffer it is given: a copy of its first bytes.
   * @throws what submit throws; GpuError when the device is lost
   */
  async read(bytes: number, submit: (buffer: GPUBuffer) => Promise<void>): Promise<Uint32Array> {
    const buffer = await this.#take(bytes);
    try {
      const submitted = submit(buffer);
      // Asked for at once: to wait for the outcome first would cost turns of the event loop.
      const mapped = buffer.mapAsync(MAP_MODE_READ, 0, bytes);
      mapped.catch(() => {}); // where the submission failed, that is what the caller hears
      await submitted;
      await this.#context.settle(mapped);
      const words = new Uint32Array(buffer.getMappedRange(0, bytes)).slice();
      buffer.unmap();
      this.#keep(buffer);
      return words;
    } catch (error) {
      buffer.destroy();
      throw error;
    }
  }

  async #take(bytes: number): Promise<GPUBuffer> {
    const fitting = this.#idle.findIndex((buffer) => buffer.size >= bytes);
    if (fitting >= 0) return this.#idle.splice(fitting, 1)[0]!;
    const size = Math.max(SMALLEST, bytes);
    return this.#context.checked(`${size} bytes to read back`, () => this.#context.device.createBuffer({ label: "read back", size, usage: MAP_READ | COPY_DST }));
  }

  #keep(buffer: GPUBuffer): void {
    if (this.#idle.length < KEPT && buffer.size <= KEPT_BYTES) this.#idle.push(buffer);
    else buffer.destroy();
  }
}
