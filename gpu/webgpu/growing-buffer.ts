/** A buffer whose content need not outlive a call, replaced by a larger one when it is too small. */

const SMALLEST = 65536;

export class GrowingBuffer {
  readonly #device: GPUDevice;
  readonly #label: string;
  readonly #usage: GPUBufferUsageFlags;
  #buffer: GPUBuffer | null = null;

  constructor(device: GPUDevice, label: string, usage: GPUBufferUsageFlags) {
    this.#device = device;
    this.#label = label;
    this.#usage = usage;
  }

  /** What reserve() made. */
  get buffer(): GPUBuffer {
    return this.#buffer!;
  }

  reserve(bytes: number): GPUBuffer {
    if (this.#buffer === null || this.#buffer.size < bytes) {
      this.destroy(); // what was submitted with it still runs
      const roomy = Math.min(2 * bytes, this.#device.limits.maxBufferSize);
      this.#buffer = this.#device.createBuffer({ label: this.#label, size: Math.max(SMALLEST, bytes, roomy), usage: this.#usage });
    }
    return this.#buffer;
  }

  /** Gives the memory back. The next reserve() takes new one. */
  destroy(): void {
    this.#buffer?.destroy();
    this.#buffer = null;
  }
}
