/** NVIDIA's driver API (libcuda) through koffi: the few calls that the backend needs, each with its error checked. */
import type { LibraryHandle } from "koffi";
import { GpuError } from "../gpu-error.js";

const LIBRARIES: Readonly<Record<string, string>> = { linux: "libcuda.so.1", win32: "nvcuda.dll" };

// Of cuda.h.
const SUCCESS = 0;
const OUT_OF_MEMORY = 2;
const NOT_READY = 600;
const ATTRIBUTE_MAJOR = 75;
const ATTRIBUTE_MINOR = 76;
const ATTRIBUTE_MULTIPROCESSORS = 16;
const FUNCTION_SHARED_BYTES = 8;
const PROGRAMMATIC_SERIALIZATION = 6;
const LAUNCH_ATTRIBUTE_BYTES = 72;
const STREAM_NON_BLOCKING = 1;

/** Handles and device addresses are 64-bit numbers here; `void *` takes a view of an ArrayBuffer, which does not move. */
const CALLS = {
  cuInit: "int cuInit(unsigned int flags)",
  cuDeviceGetCount: "int cuDeviceGetCount(void *count)",
  cuDeviceGet: "int cuDeviceGet(void *device, int ordinal)",
  cuDeviceGetName: "int cuDeviceGetName(void *name, int length, int device)",
  cuDeviceGetAttribute: "int cuDeviceGetAttribute(void *value, int attribute, int device)",
  cuDevicePrimaryCtxRetain: "int cuDevicePrimaryCtxRetain(void *context, int device)",
  cuCtxSetCurrent: "int cuCtxSetCurrent(uint64_t context)",
  cuModuleLoadData: "int cuModuleLoadData(void *module, void *image)",
  cuModuleGetFunction: "int cuModuleGetFunction(void *function, uint64_t module, const char *name)",
  cuMemAlloc: "int cuMemAlloc_v2(void *address, size_t bytes)",
  cuMemFree: "int cuMemFree_v2(uint64_t address)",
  cuMemHostAlloc: "int cuMemHostAlloc(void *address, size_t bytes, unsigned int flags)",
  cuMemFreeHost: "int cuMemFreeHost(uint64_t address)",
  cuMemsetD8: "int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, uint64_t stream)",
  cuMemcpyHtoD: "int cuMemcpyHtoDAsync_v2(uint64_t target, void *source, size_t bytes, uint64_t stream)",
  cuMemcpyHtoDAsync: "int cuMemcpyHtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, uint64_t stream)",
  cuMemcpyDtoHAsync: "int cuMemcpyDtoHAsync_v2(uint64_t target, uint64_t source, size_t bytes, uint64_t stream)",
  cuStreamCreate: "int cuStreamCreate(void *stream, unsigned int flags)",
  cuStreamSynchronize: "int cuStreamSynchronize(uint64_t stream)",
  cuStreamQuery: "int cuStreamQuery(uint64_t stream)",
  cuFuncSetAttribute: "int cuFuncSetAttribute(uint64_t function, int attribute, int value)",
  cuLaunchKernelEx: "int cuLaunchKernelEx(void *config, uint64_t function, void *parameters, void *extra)",
  cuGetErrorName: "int cuGetErrorName(int error, void *name)",
} as const;

type Call = keyof typeof CALLS;
type KoffiFunction = ReturnType<LibraryHandle["func"]>;

/** Memory of this process that the device can copy from and to by itself. */
export interface PinnedMemory {
  readonly address: bigint;
  readonly bytes: ArrayBuffer;
}

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

export class CudaDriver {
  /** For people: the device's name and its compute capability. */
  readonly description: string;
  /** major.minor */
  readonly capability: string;
  readonly multiprocessors: number;
  readonly #koffi: typeof import("koffi").default;
  readonly #calls: Readonly<Record<Call, KoffiFunction>>;
  readonly #context: bigint;
  readonly #module: bigint;
  readonly #functions = new Map<string, bigint>();
  readonly stream: bigint;

  /** @throws Error whose message says what is missing */
  static async open(fatbin: Uint8Array): Promise<CudaDriver> {
    const { default: koffi } = await import("koffi").catch((cause: Error & { code?: string }) => {
      const reason = cause.code === "ERR_MODULE_NOT_FOUND" ? "is not installed (npm install koffi)" : `does not load: ${cause.message}`;
      throw new Error(`the package koffi ${reason}`, { cause });
    });
    const name = LIBRARIES[process.platform];
    if (name === undefined) throw new Error(`NVIDIA has no driver for ${process.platform}`);
    let library: LibraryHandle;
    try {
      library = koffi.load(name);
    } catch (cause) {
      throw new Error(`NVIDIA's driver (${name}) was not found`, { cause });
    }
    return new CudaDriver(koffi, library, fatbin);
  }

  private constructor(koffi: typeof import("koffi").default, library: LibraryHandle, fatbin: Uint8Array) {
    this.#koffi = koffi;
    this.#calls = Object.fromEntries(Object.entries(CALLS).map(([call, prototype]) => [call, library.func(prototype)])) as Record<Call, KoffiFunction>;
    this.#call("cuInit", 0);
    if (this.#number("cuDeviceGetCount") === 0) throw new Error("NVIDIA's driver has no device");
    const device = this.#number("cuDeviceGet", 0);
    const attribute = (which: number) => this.#number("cuDeviceGetAttribute", which, device);
    this.capability = `${attribute(ATTRIBUTE_MAJOR)}.${attribute(ATTRIBUTE_MINOR)}`;
    this.multiprocessors = attribute(ATTRIBUTE_MULTIPROCESSORS);
    this.description = `${this.#deviceName(device)}, compute capability ${this.capability}`;
    this.#context = this.#handle("cuDevicePrimaryCtxRetain", device);
    this.#makeCurrent();
    this.#module = this.#handle("cuModuleLoadData", offHeap(fatbin));
    this.stream = this.#handle("cuStreamCreate", STREAM_NON_BLOCKING);
  }

  allocate(bytes: number, what: string): bigint {
    this.#makeCurrent();
    try {
      return this.#handle("cuMemAlloc", Math.max(bytes, 16));
    } catch (error) {
      if ((error as GpuError).kind !== "out-of-memory") throw error;
      throw new GpuError("out-of-memory", `"device" expected ${bytes} bytes for ${what}, got none`);
    }
  }

  free(address: bigint): void {
    this.#makeCurrent();
    this.#call("cuMemFree", address);
  }

  allocatePinned(bytes: number): PinnedMemory {
    this.#makeCurrent();
    const address = this.#handle("cuMemHostAlloc", bytes, 0);
    return { address, bytes: this.#koffi.view(address, bytes) };
  }

  freePinned({ address }: PinnedMemory): void {
    this.#makeCurrent();
    this.#call("cuMemFreeHost", address);
  }

  clear(address: bigint, bytes: number): void {
    this.#makeCurrent();
    this.#call("cuMemsetD8", address, 0, bytes, this.stream);
  }

  /** Returns when the bytes may change again. */
  upload(target: bigint, bytes: Uint8Array): void {
    this.#makeCurrent();
    this.#call("cuMemcpyHtoD", target, bytes, bytes.byteLength, this.stream);
    this.#call("cuStreamSynchronize", this.stream);
  }

  uploadPinned(target: bigint, { address }: PinnedMemory, bytes: number): void {
    this.#makeCurrent();
    this.#call("cuMemcpyHtoDAsync", target, address, bytes, this.stream);
  }

  downloadPinned({ address }: PinnedMemory, source: bigint, bytes: number): void {
    this.#makeCurrent();
    this.#call("cuMemcpyDtoHAsync", address, source, bytes, this.stream);
  }

  launch(name: string, { grid, threads, parameters, sharedBytes = 0, startsEarly = false }: Launch): void {
    this.#makeCurrent();
    const pointers = new BigUint64Array(new ArrayBuffer(8 * parameters.length));
    parameters.forEach((bytes, index) => (pointers[index] = this.#koffi.address(bytes)));
    // CUlaunchConfig and one CUlaunchAttribute of cuda.h.
    const attribute = new Uint32Array(new ArrayBuffer(LAUNCH_ATTRIBUTE_BYTES));
    attribute.set([PROGRAMMATIC_SERIALIZATION, 0, 1]);
    const config = new ArrayBuffer(56);
    new Uint32Array(config).set([grid[0], grid[1], 1, threads, 1, 1, sharedBytes]);
    new BigUint64Array(config, 32).set([this.stream, this.#koffi.address(attribute.buffer), BigInt(startsEarly ? 1 : 0)]);
    this.#call("cuLaunchKernelEx", new Uint8Array(config), this.#function(name, sharedBytes), pointers, null);
  }

  /** Resolves when all that was asked for is done. The event loop goes on meanwhile. */
  async finish(): Promise<void> {
    for (;;) {
      this.#makeCurrent();
      const status = this.#calls.cuStreamQuery(this.stream) as number;
      if (status === SUCCESS) return;
      if (status !== NOT_READY) throw this.#error("cuStreamQuery", status);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #function(name: string, sharedBytes: number): bigint {
    let found = this.#functions.get(name);
    if (found === undefined) {
      found = this.#handle("cuModuleGetFunction", this.#module, name);
      if (sharedBytes > 0) this.#call("cuFuncSetAttribute", found, FUNCTION_SHARED_BYTES, sharedBytes);
      this.#functions.set(name, found);
    }
    return found;
  }

  /** Other code of this thread may use CUDA as well, with another context. */
  #makeCurrent(): void {
    this.#call("cuCtxSetCurrent", this.#context);
  }

  #deviceName(device: number): string {
    const name = new Uint8Array(new ArrayBuffer(256));
    this.#call("cuDeviceGetName", name, name.length, device);
    return new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
  }

  /** What a call writes to its first argument: 64 bits. */
  #handle(call: Call, ...args: unknown[]): bigint {
    const written = new BigUint64Array(new ArrayBuffer(8));
    this.#call(call, written, ...args);
    return written[0]!;
  }

  /** The same, of 32 bits. */
  #number(call: Call, ...args: unknown[]): number {
    const written = new Int32Array(new ArrayBuffer(8));
    this.#call(call, written, ...args);
    return written[0]!;
  }

  #call(call: Call, ...args: unknown[]): void {
    const status = this.#calls[call](...args) as number;
    if (status !== SUCCESS) throw this.#error(call, status);
  }

  #error(call: Call, status: number): GpuError {
    const name = new BigUint64Array(new ArrayBuffer(8));
    const isKnown = (this.#calls.cuGetErrorName(status, name) as number) === SUCCESS && name[0] !== 0n;
    const text = isKnown ? this.#koffi.decode.string(name[0]) : `error ${status}`;
    return new GpuError(status === OUT_OF_MEMORY ? "out-of-memory" : "refused", `${call} expected success, got ${text}`);
  }
}

/** A copy that does not move. */
function offHeap(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
