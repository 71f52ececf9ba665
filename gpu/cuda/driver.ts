/** NVIDIA's driver API (libcuda) through koffi: the few calls that the backend needs, each with its error checked. */
import type { LibraryHandle } from "koffi";
import { GpuError } from "../gpu-error.js";
import { LaunchArguments, type Launch } from "./launch-arguments.js";

const LIBRARIES: Readonly<Record<string, string>> = { linux: "libcuda.so.1", win32: "nvcuda.dll" };

// Of cuda.h.
const SUCCESS = 0;
const OUT_OF_MEMORY = 2;
const NOT_READY = 600;
const ATTRIBUTE_MAJOR = 75;
const ATTRIBUTE_MINOR = 76;
const ATTRIBUTE_MULTIPROCESSORS = 16;
const FUNCTION_SHARED_BYTES = 8;
const STREAM_NON_BLOCKING = 1;
const EVENT_DISABLE_TIMING = 2;
const INVALID_VALUE = 1;
const POINTER_MEMORY_TYPE = 2;
const POINTER_DEVICE = 9;
const POINTER_RANGE_START = 11;
const POINTER_RANGE_BYTES = 12;
const MEMORY_TYPE_DEVICE = 2n;

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
  cuStreamWaitEvent: "int cuStreamWaitEvent(uint64_t stream, uint64_t event, unsigned int flags)",
  cuStreamGetCtx: "int cuStreamGetCtx(uint64_t stream, void *context)",
  cuStreamIsCapturing: "int cuStreamIsCapturing(uint64_t stream, void *status)",
  cuEventCreate: "int cuEventCreate(void *event, unsigned int flags)",
  cuEventRecord: "int cuEventRecord(uint64_t event, uint64_t stream)",
  cuPointerGetAttribute: "int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer)",
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
  readonly #arguments: LaunchArguments;
  readonly #device: number;
  readonly #event: bigint;

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
    this.#arguments = new LaunchArguments((buffer) => koffi.address(buffer) as bigint);
    this.#calls = Object.fromEntries(Object.entries(CALLS).map(([call, prototype]) => [call, library.func(prototype)])) as Record<Call, KoffiFunction>;
    this.#call("cuInit", 0);
    if (this.#number("cuDeviceGetCount") === 0) throw new Error("NVIDIA's driver has no device");
    const device = this.#number("cuDeviceGet", 0);
    this.#device = device;
    const attribute = (which: number) => this.#number("cuDeviceGetAttribute", which, device);
    this.capability = `${attribute(ATTRIBUTE_MAJOR)}.${attribute(ATTRIBUTE_MINOR)}`;
    this.multiprocessors = attribute(ATTRIBUTE_MULTIPROCESSORS);
    this.description = `${this.#deviceName(device)}, compute capability ${this.capability}`;
    this.#context = this.#handle("cuDevicePrimaryCtxRetain", device);
    this.#makeCurrent();
    this.#module = this.#handle("cuModuleLoadData", offHeap(fatbin));
    this.stream = this.#handle("cuStreamCreate", STREAM_NON_BLOCKING);
    this.#event = this.#handle("cuEventCreate", EVENT_DISABLE_TIMING);
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

  /** @param target an address in pinned memory */
  downloadPinned(target: bigint, source: bigint, bytes: number): void {
    this.#makeCurrent();
    this.#call("cuMemcpyDtoHAsync", target, source, bytes, this.stream);
  }

  /** Where the device memory that holds an address begins and ends; null for what is no memory of this device. */
  memoryAt(address: bigint): { readonly start: bigint; readonly end: bigint } | null {
    const isOurs = this.#pointerAttribute(POINTER_MEMORY_TYPE, address) === MEMORY_TYPE_DEVICE && this.#pointerAttribute(POINTER_DEVICE, address) === BigInt(this.#device);
    const [start, bytes] = isOurs ? [this.#pointerAttribute(POINTER_RANGE_START, address), this.#pointerAttribute(POINTER_RANGE_BYTES, address)] : [null, null];
    return start === null || bytes === null ? null : { start, end: start + bytes };
  }

  /** What keeps work from being put in order with a stream, or null. */
  streamObstacle(stream: bigint): string | null {
    this.#makeCurrent();
    const written = new BigUint64Array(new ArrayBuffer(8));
    this.#call("cuStreamGetCtx", stream, written);
    if (written[0] !== this.#context) return "a stream of the device's primary context, got one of another context";
    written[0] = 0n;
    this.#call("cuStreamIsCapturing", stream, written);
    return written[0] === 0n ? null : "a stream that is not being captured, got one that is";
  }

  /** What is asked for from now on waits for what is on a stream of somebody else's. */
  waitFor(stream: bigint): void {
    this.#putInOrder(stream, this.stream);
  }

  /** What is put on a stream of somebody else's from now on waits for what was asked for. */
  letWait(stream: bigint): void {
    this.#putInOrder(this.stream, stream);
  }

  /** A wait is for the event as it was recorded last: it can be recorded again at once. */
  #putInOrder(before: bigint, after: bigint): void {
    this.#makeCurrent();
    this.#call("cuEventRecord", this.#event, before);
    this.#call("cuStreamWaitEvent", after, this.#event, 0);
  }

  /** null for an address that the driver does not know. */
  #pointerAttribute(which: number, address: bigint): bigint | null {
    this.#makeCurrent();
    const written = new BigUint64Array(new ArrayBuffer(8));
    const status = this.#calls.cuPointerGetAttribute(written, which, address) as number;
    if (status !== SUCCESS && status !== INVALID_VALUE) throw this.#error("cuPointerGetAttribute", status);
    return status === SUCCESS ? written[0]! : null;
  }

  launch(name: string, launch: Launch): void {
    this.#makeCurrent();
    const kernel = this.#function(name, launch.sharedBytes ?? 0);
    this.#arguments.set(this.stream, launch);
    this.#call("cuLaunchKernelEx", this.#arguments.config, kernel, this.#arguments.parameters, null);
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
