/**
 * A buffer whose content need not outlive a call, replaced by a larger one when it is too small. Calls at the same time share
 * it once the device has found memory for it: one for which there is none fails its own call alone.
 */
import type { GpuContext } from "./context.js";

const SMALLEST = 65536;

export class GrowingBuffer {
  readonly #context: GpuContext;
  readonly #label: string;
  readonly #usage: GPUBufferUsageFlags;
  #shared: GPUBuffer | null = null;
  #reserved: GPUBuffer | null = null;

  constructor(context: GpuContext, label: string, usage: GPUBufferUsageFlags) {
    this.#context = context;
    this.#label = label;
    this.#usage = usage;
  }

  /** What the last reserve() gave. */
  get buffer(): GPUBuffer {
    return this.#reserved!;
  }

  /** For work in GpuContext.checked(), which may use it until it ends. */
  reserve(bytes: number): GPUBuffer {
    const isLarge = this.#shared !== null && this.#shared.size >= bytes;
    this.#reserved = isLarge ? this.#shared! : this.#create(bytes);
    return this.#reserved;
  }

  /** Gives the memory back. The next reserve() takes new one. */
  destroy(): void {
    this.#shared?.destroy();
    this.#shared = null;
  }

  #create(bytes: number): GPUBuffer {
    const { device } = this.#context;
    const roomy = Math.min(2 * bytes, device.limits.maxBufferSize);
    const buffer = device.createBuffer({ label: this.#label, size: Math.max(SMALLEST, bytes, roomy), usage: this.#usage });
    this.#context.onVerdict((isGood) => (isGood ? this.#share(buffer) : buffer.destroy()));
    return buffer;
  }

  #share(buffer: GPUBuffer): void {
    const isLarger = this.#shared === null || this.#shared.size < buffer.size;
    const smaller = isLarger ? this.#shared : buffer;
    smaller?.destroy(); // what was submitted with it still runs
    if (isLarger) this.#shared = buffer;
  }
}
