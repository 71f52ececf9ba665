/** Memory that grows with what is asked of it. */
import type { CudaDriver, PinnedMemory } from "./driver.js";

/** Spare room at most, of memory that is never given back. */
const MOST_SPARE_BYTES = 32 << 20;

/** Twice the bytes, so that calls that grow little by little seldom ask the driver. */
function withSpare(bytes: number): number {
  return bytes + Math.min(bytes, MOST_SPARE_BYTES);
}

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
    this.drop();
    const reserved = withSpare(bytes);
    this.#address = this.#driver.allocate(reserved, this.#what);
    this.#bytes = reserved;
    this.#driver.clear(this.#address, reserved);
    return this.#address;
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
    if (this.#memory !== null) this.#driver.freePinned(this.#memory);
    this.#memory = null;
    this.#memory = this.#driver.allocatePinned(withSpare(bytes));
    return this.#memory;
  }
}
