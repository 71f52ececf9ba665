/** What the backend asks of NVIDIA's driver, each call with its error checked. */
import { GpuError } from "../gpu-error.js";
import { openFatbin } from "./fatbin.js";
import { LaunchArguments, type Launch } from "./launch-arguments.js";
import { openLibrary, type Call, type Calls, type Koffi } from "./library.js";

// Of cuda.h.
const SUCCESS = 0;
const OUT_OF_MEMORY = 2;
const NO_DEVICE = 100;
const INVALID_CONTEXT = 201;
const INVALID_HANDLE = 400;
const NOT_READY = 600;
const CONTEXT_IS_DESTROYED = 709;
/** What the driver says of a handle whose stream is gone. */
const NO_STREAM = [INVALID_CONTEXT, INVALID_HANDLE, CONTEXT_IS_DESTROYED];
const ATTRIBUTE_MAJOR = 75;
const ATTRIBUTE_MINOR = 76;
const ATTRIBUTE_MULTIPROCESSORS = 16;
const FUNCTION_PTX_VERSION = 5;
const FUNCTION_SHARED_BYTES = 8;
const STREAM_NON_BLOCKING = 1;
const EVENT_DISABLE_TIMING = 2;
const INVALID_VALUE = 1;
const POINTER_MEMORY_TYPE = 2;
const POINTER_DEVICE = 9;
const POINTER_RANGE_START = 11;
const POINTER_RANGE_BYTES = 12;
const POINTER_ACCESS = 16;
const POINTER_MAPPING_BYTES = 18;
const POINTER_MAPPING_START = 19;
const MEMORY_TYPE_DEVICE = 2n;
/** Both bits, of which the lower one allows reading. */
const ACCESS_READ_WRITE = 3n;

/** As build-cuda.mjs compiles the kernels. */
const LEAST_MAJOR = 8;

/** Memory of this process that the device can copy from and to by itself. */
export interface PinnedMemory {
  readonly address: bigint;
  readonly bytes: ArrayBuffer;
}

/** Memory of the device around an address. */
export interface MappedMemory {
  /** Where what is mapped in one piece ends. */
  readonly end: bigint;
  /** Whether the allocation has more behind it, mapped or not. */
  readonly goesOn: boolean;
  readonly isReadable: boolean;
  readonly isWritable: boolean;
}

export class CudaDriver {
  /** For people: the device's name and its compute capability. */
  readonly description: string;
  /** major.minor */
  readonly capability: string;
  readonly multiprocessors: number;
  readonly #koffi: Koffi;
  readonly #calls: Calls;
  readonly #context: bigint;
  readonly #module: bigint;
  readonly #functions = new Map<string, bigint>();
  readonly stream: bigint;
  readonly #arguments: LaunchArguments;
  readonly #device: number;
  readonly #event: bigint;
  readonly #allocated = new Set<bigint>();
  readonly #pinned = new Set<bigint>();
  readonly #popped = new BigUint64Array(new ArrayBuffer(8));

  /** @throws Error whose message says what is missing */
  static async open(file: Uint8Array): Promise<CudaDriver> {
    const { koffi, calls } = await openLibrary();
    return new CudaDriver(koffi, calls, await openFatbin(file));
  }

  private constructor(koffi: Koffi, calls: Calls, fatbin: Uint8Array) {
    this.#koffi = koffi;
    this.#arguments = new LaunchArguments((buffer) => koffi.address(buffer) as bigint);
    this.#calls = calls;
    const status = calls.cuInit(0) as number;
    if (status !== SUCCESS && status !== NO_DEVICE) throw this.#error("cuInit", status);
    if (status === NO_DEVICE || this.#number("cuDeviceGetCount") === 0) throw new Error("NVIDIA's driver has no device");
    const device = this.#number("cuDeviceGet", 0);
    this.#device = device;
    const attribute = (which: number) => this.#number("cuDeviceGetAttribute", which, device);
    const major = attribute(ATTRIBUTE_MAJOR);
    this.capability = `${major}.${attribute(ATTRIBUTE_MINOR)}`;
    this.multiprocessors = attribute(ATTRIBUTE_MULTIPROCESSORS);
    this.description = `${this.#deviceName(device)}, compute capability ${this.capability}`;
    if (major < LEAST_MAJOR) throw new Error(`the kernels need compute capability ${LEAST_MAJOR}.0 or more, got ${this.description}`);
    this.#context = this.#handle("cuDevicePrimaryCtxRetain", device);
    try {
      const load = () => this.#handle("cuModuleLoadData", offHeap(fatbin));
      const create = () => [this.#handle("cuStreamCreate", STREAM_NON_BLOCKING), this.#handle("cuEventCreate", EVENT_DISABLE_TIMING)] as const;
      this.#module = this.#inContext(load);
      [this.stream, this.#event] = this.#inContext(create);
    } catch (error) {
      this.#call("cuDevicePrimaryCtxRelease", device); // half a gigabyte of the device's memory
      throw error;
    }
  }

  allocate(bytes: number, what: string): bigint {
    try {
      const address = this.#inContext(() => this.#handle("cuMemAlloc", Math.max(bytes, 16)));
      this.#allocated.add(address);
      return address;
    } catch (error) {
      if ((error as GpuError).kind !== "out-of-memory") throw error;
      throw new GpuError("out-of-memory", `"device" expected ${bytes} bytes for ${what}, got none`);
    }
  }

  free(address: bigint): void {
    this.#allocated.delete(address);
    this.#inContext(() => this.#call("cuMemFree", address));
  }

  allocatePinned(bytes: number): PinnedMemory {
    const address = this.#inContext(() => this.#handle("cuMemHostAlloc", bytes, 0));
    this.#pinned.add(address);
    return { address, bytes: this.#koffi.view(address, bytes) };
  }

  freePinned({ address }: PinnedMemory): void {
    this.#pinned.delete(address);
    this.#inContext(() => this.#call("cuMemFreeHost", address));
  }

  clear(address: bigint, bytes: number): void {
    this.#inContext(() => this.#call("cuMemsetD8", address, 0, bytes, this.stream));
  }

  /** Returns when the bytes may change again. */
  upload(target: bigint, bytes: Uint8Array): void {
    this.#inContext(() => {
      this.#call("cuMemcpyHtoD", target, bytes, bytes.byteLength, this.stream);
      this.#call("cuStreamSynchronize", this.stream);
    });
  }

  uploadPinned(target: bigint, { address }: PinnedMemory, bytes: number): void {
    this.#inContext(() => this.#call("cuMemcpyHtoDAsync", target, address, bytes, this.stream));
  }

  /** @param target an address in pinned memory */
  downloadPinned(target: bigint, source: bigint, bytes: number): void {
    this.#inContext(() => this.#call("cuMemcpyDtoHAsync", target, source, bytes, this.stream));
  }

  /** null for what is no memory of this device. Virtual memory may be mapped in pieces, each with its own rights. */
  memoryAt(address: bigint): MappedMemory | null {
    return this.#inContext(() => {
      const attribute = (which: number) => this.#pointerAttribute(which, address);
      const isOurs = attribute(POINTER_MEMORY_TYPE) === MEMORY_TYPE_DEVICE && attribute(POINTER_DEVICE) === BigInt(this.#device);
      const [start, bytes] = isOurs ? [attribute(POINTER_RANGE_START), attribute(POINTER_RANGE_BYTES)] : [null, null];
      if (start === null || bytes === null) return null;
      const [mappedAt, mappedBytes] = [attribute(POINTER_MAPPING_START), attribute(POINTER_MAPPING_BYTES)];
      const access = attribute(POINTER_ACCESS) ?? ACCESS_READ_WRITE;
      const end = start + bytes;
      const mappedEnd = mappedAt === null || mappedBytes === null ? end : mappedAt + mappedBytes;
      return { end: mappedEnd < end ? mappedEnd : end, goesOn: mappedEnd < end, isReadable: access !== 0n, isWritable: access === ACCESS_READ_WRITE };
    });
  }

  /** What keeps work from being put in order with a stream, or null. */
  streamObstacle(stream: bigint): string | null {
    return this.#inContext(() => {
      const written = new BigUint64Array(new ArrayBuffer(8));
      const status = this.#calls.cuStreamGetCtx(stream, written) as number;
      if (NO_STREAM.includes(status)) return "a CUstream, got one that was destroyed or never was";
      if (status !== SUCCESS) throw this.#error("cuStreamGetCtx", status);
      if (written[0] !== this.#context) return "a stream of the device's primary context, got one of another context";
      written[0] = 0n;
      this.#call("cuStreamIsCapturing", stream, written);
      return written[0] === 0n ? null : "a stream that is not being captured, got one that is";
    });
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
    this.#inContext(() => {
      this.#call("cuEventRecord", this.#event, before);
      this.#call("cuStreamWaitEvent", after, this.#event, 0);
    });
  }

  /** null for an address that the driver does not know. */
  #pointerAttribute(which: number, address: bigint): bigint | null {
    const written = new BigUint64Array(new ArrayBuffer(8));
    const status = this.#calls.cuPointerGetAttribute(written, which, address) as number;
    if (status !== SUCCESS && status !== INVALID_VALUE) throw this.#error("cuPointerGetAttribute", status);
    return status === SUCCESS ? written[0]! : null;
  }

  launch(name: string, launch: Launch): void {
    this.#inContext(() => {
      const kernel = this.#function(name, launch.sharedBytes ?? 0);
      this.#arguments.set(this.stream, launch);
      this.#call("cuLaunchKernelEx", this.#arguments.config, kernel, this.#arguments.parameters, null);
    });
  }

  /** For which virtual architecture a kernel that was loaded is written, as major * 10 + minor. */
  architectureOf(name: string): number {
    return this.#inContext(() => {
      const kernel = this.#handle("cuModuleGetFunction", this.#module, name);
      return this.#number("cuFuncGetAttribute", FUNCTION_PTX_VERSION, kernel);
    });
  }

  /** Resolves when all that was asked for is done. The event loop goes on meanwhile. */
  async finish(): Promise<void> {
    for (;;) {
      const status = this.#inContext(() => this.#calls.cuStreamQuery(this.stream) as number);
      if (status === SUCCESS) return;
      if (status !== NOT_READY) throw this.#error("cuStreamQuery", status);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Gives all back, once the device is done. A device that failed has nothing to give back. */
  close(): void {
    try {
      this.#inContext(() => {
        this.#call("cuStreamSynchronize", this.stream);
        this.#allocated.forEach((address) => this.#call("cuMemFree", address));
        this.#pinned.forEach((address) => this.#call("cuMemFreeHost", address));
        this.#call("cuEventDestroy", this.#event);
        this.#call("cuStreamDestroy", this.stream);
        this.#call("cuModuleUnload", this.#module);
      });
      this.#call("cuDevicePrimaryCtxRelease", this.#device);
    } catch {}
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

  /** Other code of this thread may use CUDA as well, with another context, which is current again afterwards. */
  #inContext<T>(work: () => T): T {
    this.#call("cuCtxPushCurrent", this.#context);
    try {
      return work();
    } finally {
      this.#calls.cuCtxPopCurrent(this.#popped); // an error of the work is what counts
    }
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
