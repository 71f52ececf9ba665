/**
 * What cuLaunchKernelEx reads, in memory that stays: addresses alone do not keep JavaScript's buffers alive until the call. CUDA copies
 * all of it before the call returns.
 */
export interface Launch {
  readonly grid: readonly [number, number];
  readonly threads: number;
  /** The kernel's parameters, each as the bytes it has in C. */
  readonly parameters: readonly ArrayBuffer[];
  /** Dynamic shared memory. Default 0. */
  readonly sharedBytes?: number;
  /** Whether blocks may start while the kernel before still runs: the kernel waits for it itself. Default false. */
  readonly startsEarly?: boolean;
}

// Places in the memory. CUlaunchConfig and CUlaunchAttribute are of cuda.h.
const CONFIG_AT = 0;
const CONFIG_BYTES = 56;
const CONFIG_STREAM = 32;
const ATTRIBUTE_AT = 64;
const POINTERS_AT = 256;
const PARAMETERS_AT = 512;
const BYTES = 4096;
const ALIGNMENT = 16;

const PROGRAMMATIC_SERIALIZATION = 6;

export class LaunchArguments {
  readonly #memory = new ArrayBuffer(BYTES);
  readonly #address: bigint;
  readonly config = new Uint8Array(this.#memory, CONFIG_AT, CONFIG_BYTES);
  /** Addresses of the parameters. */
  readonly parameters = new Uint8Array(this.#memory, POINTERS_AT, PARAMETERS_AT - POINTERS_AT);

  /** @param addressOf where a buffer's bytes are */
  constructor(addressOf: (buffer: ArrayBuffer) => bigint) {
    this.#address = addressOf(this.#memory);
    new Uint32Array(this.#memory, ATTRIBUTE_AT).set([PROGRAMMATIC_SERIALIZATION, 0, 1]);
  }

  set(stream: bigint, { grid, threads, parameters, sharedBytes = 0, startsEarly = false }: Launch): void {
    new Uint32Array(this.#memory, CONFIG_AT).set([grid[0], grid[1], 1, threads, 1, 1, sharedBytes]);
    new BigUint64Array(this.#memory, CONFIG_AT + CONFIG_STREAM).set([stream, this.#address + BigInt(ATTRIBUTE_AT), BigInt(startsEarly ? 1 : 0)]);
    const pointers = new BigUint64Array(this.#memory, POINTERS_AT);
    let at = PARAMETERS_AT;
    parameters.forEach((bytes, index) => {
      new Uint8Array(this.#memory, at).set(new Uint8Array(bytes));
      pointers[index] = this.#address + BigInt(at);
      at += Math.ceil(bytes.byteLength / ALIGNMENT) * ALIGNMENT;
    });
  }
}
