/** Memory that grows with what is asked of it. */
import type { CudaDriver, PinnedMemory } from "./driver.js";

/** Memory of the device. */
export class DeviceMemory {
  readonly #driver: CudaDriver;
  readonly #what: string;
  #address = 0n;
  #bytes = 0;

  /** @param what for error texts */
  constructor(driver: CudaDriver, what: string) {
    this.#driver = driver;
    this.#what = what;
  }

  /** At least so many bytes. What they held is gone when the address changes, and new ones are zero. @throws GpuError "out-of-memory" */
  reserve(bytes: number): bigint {
    if (this.#bytes >= bytes) return this.#address;
    const address = this.#driver.allocate(2 * bytes, this.#what);
    this.drop();
    this.#address = address;
    this.#bytes = 2 * bytes;
    this.#driver.clear(address, this.#bytes);
    return address;
  }

  /** Gives it back. */
  drop(): void {
    if (this.#bytes > 0) this.#driver.free(this.#address);
    this.#bytes = 0;
  }
}

/** Memory of this process that the device copies from and to. */
export class StagingMemory {
  readonly #driver: CudaDriver;
  #memory: PinnedMemory | null = null;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
  }

  /** At least so many bytes. What they held is gone. */
  reserve(bytes: number): PinnedMemory {
    if (this.#memory !== null && this.#memory.bytes.byteLength >= bytes) return this.#memory;
    const memory = this.#driver.allocatePinned(2 * bytes);
    if (this.#memory !== null) this.#driver.freePinned(this.#memory);
    this.#memory = memory;
    return memory;
  }
}
