/** Device memory and streams as another engine of the process has them: NVIDIA's driver, asked directly. */
import koffi from "koffi";

const NON_BLOCKING = 1;
const NOT_READY = 600;
const CAPTURE_MODE_RELAXED = 2;

const PROTOTYPES = {
  cuInit: "int cuInit(unsigned int flags)",
  cuDevicePrimaryCtxRetain: "int cuDevicePrimaryCtxRetain(void *context, int device)",
  cuCtxCreate: "int cuCtxCreate_v2(void *context, unsigned int flags, int device)",
  cuCtxDestroy: "int cuCtxDestroy_v2(uint64_t context)",
  cuCtxSetCurrent: "int cuCtxSetCurrent(uint64_t context)",
  cuCtxGetCurrent: "int cuCtxGetCurrent(void *context)",
  cuCtxSynchronize: "int cuCtxSynchronize()",
  cuMemAlloc: "int cuMemAlloc_v2(void *address, size_t bytes)",
  cuMemFree: "int cuMemFree_v2(uint64_t address)",
  cuMemAddressReserve: "int cuMemAddressReserve(void *address, size_t bytes, size_t alignment, uint64_t wanted, uint64_t flags)",
  cuMemAddressFree: "int cuMemAddressFree(uint64_t address, size_t bytes)",
  cuMemCreate: "int cuMemCreate(void *handle, size_t bytes, void *properties, uint64_t flags)",
  cuMemRelease: "int cuMemRelease(uint64_t handle)",
  cuMemMap: "int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)",
  cuMemUnmap: "int cuMemUnmap(uint64_t address, size_t bytes)",
  cuMemSetAccess: "int cuMemSetAccess(uint64_t address, size_t bytes, void *rights, size_t count)",
  cuMemHostAlloc: "int cuMemHostAlloc(void *address, size_t bytes, unsigned int flags)",
  cuMemFreeHost: "int cuMemFreeHost(uint64_t address)",
  cuMemcpyHtoD: "int cuMemcpyHtoD_v2(uint64_t target, void *source, size_t bytes)",
  cuMemcpyDtoH: "int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes)",
  cuMemcpyDtoD: "int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, uint64_t stream)",
  cuStreamCreate: "int cuStreamCreate(void *stream, unsigned int flags)",
  cuStreamDestroy: "int cuStreamDestroy_v2(uint64_t stream)",
  cuStreamSynchronize: "int cuStreamSynchronize(uint64_t stream)",
  cuStreamQuery: "int cuStreamQuery(uint64_t stream)",
  cuStreamBeginCapture: "int cuStreamBeginCapture_v2(uint64_t stream, int mode)",
  cuStreamEndCapture: "int cuStreamEndCapture(uint64_t stream, void *graph)",
} as const;

/** Bytes of a piece of virtual memory. */
export const PIECE_BYTES = 2 << 20;
/** What the device may do with a piece: CU_MEM_ACCESS_FLAGS. null: nothing is mapped. */
export type Rights = 3 | 1 | 0 | null;

type Words = Float32Array | Uint16Array | Int32Array;

export class CudaMemory {
  readonly #calls: Record<keyof typeof PROTOTYPES, (...args: unknown[]) => number>;
  readonly #context: bigint;

  constructor() {
    const library = koffi.load(process.platform === "win32" ? "nvcuda.dll" : "libcuda.so.1");
    this.#calls = Object.fromEntries(Object.entries(PROTOTYPES).map(([name, prototype]) => [name, library.func(prototype)])) as never;
    this.#call("cuInit", 0);
    this.#context = this.#handle("cuDevicePrimaryCtxRetain", 0);
    this.#call("cuCtxSetCurrent", this.#context);
  }

  allocate(bytes: number): bigint {
    return this.#handle("cuMemAlloc", bytes);
  }

  free(address: bigint): void {
    this.#call("cuMemFree", address);
  }

  /** New memory with these words, after some bytes of anything. */
  with(words: Words, before = 0): bigint {
    const address = this.allocate(before + words.byteLength) + BigInt(before);
    this.write(address, words);
    return address;
  }

  /** Complete when it returns. */
  write(address: bigint, words: Words): void {
    const bytes = new Uint8Array(new ArrayBuffer(words.byteLength));
    bytes.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
    this.#call("cuMemcpyHtoD", address, bytes, bytes.length);
    this.#call("cuCtxSynchronize");
  }

  /** The words there, now. */
  read(address: bigint, words: number): Int32Array {
    const found = new Int32Array(new ArrayBuffer(4 * words));
    this.#call("cuMemcpyDtoH", found, address, found.byteLength);
    return found;
  }

  createStream(): bigint {
    return this.#handle("cuStreamCreate", NON_BLOCKING);
  }

  destroyStream(stream: bigint): void {
    this.#call("cuStreamDestroy", stream);
  }

  copyOn(stream: bigint, target: bigint, source: bigint, bytes: number): void {
    this.#call("cuMemcpyDtoD", target, source, bytes, stream);
  }

  isBusy(stream: bigint): boolean {
    return this.#calls.cuStreamQuery(stream) === NOT_READY;
  }

  finish(stream: bigint): void {
    this.#call("cuStreamSynchronize", stream);
  }

  /** What work gives while a stream is being captured. */
  async capturing<T>(stream: bigint, work: () => Promise<T>): Promise<T> {
    this.#call("cuStreamBeginCapture", stream, CAPTURE_MODE_RELAXED);
    try {
      return await work();
    } finally {
      this.#call("cuStreamEndCapture", stream, new BigUint64Array(new ArrayBuffer(8)));
    }
  }

  /** What work gives with a stream of another context of the same device. */
  async withForeignStream<T>(work: (stream: bigint) => Promise<T>): Promise<T> {
    const context = this.#handle("cuCtxCreate", 0, 0);
    try {
      const stream = this.createStream();
      this.#call("cuCtxSetCurrent", this.#context);
      return await work(stream);
    } finally {
      this.#call("cuCtxDestroy", context);
      this.#call("cuCtxSetCurrent", this.#context);
    }
  }

  /** Whether another context than the primary one, current before work, is current afterwards. */
  async keepsForeignContext(work: () => Promise<unknown>): Promise<boolean> {
    const context = this.#handle("cuCtxCreate", 0, 0);
    try {
      await work();
      return this.#handle("cuCtxGetCurrent") === context;
    } finally {
      this.#call("cuCtxDestroy", context);
      this.#call("cuCtxSetCurrent", this.#context);
    }
  }

  /** What work gives with virtual memory in pieces, each with rights of its own. */
  async withPieces<T>(pieces: readonly Rights[], work: (address: bigint) => Promise<T>): Promise<T> {
    const start = this.#handle("cuMemAddressReserve", pieces.length * PIECE_BYTES, 0, 0n, 0n);
    const placeOf = (index: number) => start + BigInt(index * PIECE_BYTES);
    const words = (...values: number[]) => new Uint32Array(Uint32Array.from(values).buffer);
    pieces.forEach((rights, index) => {
      if (rights === null) return;
      const memory = this.#handle("cuMemCreate", PIECE_BYTES, words(1, 0, 1, 0, 0, 0, 0, 0), 0n); // pinned, on device 0
      this.#call("cuMemMap", placeOf(index), PIECE_BYTES, 0, memory, 0n);
      this.#call("cuMemRelease", memory); // once it is mapped no more
      if (rights > 0) this.#call("cuMemSetAccess", placeOf(index), PIECE_BYTES, words(1, 0, rights), 1);
    });
    try {
      return await work(start);
    } finally {
      this.#call("cuCtxSynchronize");
      pieces.forEach((rights, index) => rights !== null && this.#call("cuMemUnmap", placeOf(index), PIECE_BYTES));
      this.#call("cuMemAddressFree", start, pieces.length * PIECE_BYTES);
    }
  }

  /** What work gives with memory of the process that the device can reach. */
  async withHostMemory<T>(work: (address: bigint) => Promise<T>): Promise<T> {
    const address = this.#handle("cuMemHostAlloc", 4096, 0);
    try {
      return await work(address);
    } finally {
      this.#call("cuMemFreeHost", address);
    }
  }

  #handle(name: keyof typeof PROTOTYPES, ...args: unknown[]): bigint {
    const written = new BigUint64Array(new ArrayBuffer(8));
    this.#call(name, written, ...args);
    return written[0]!;
  }

  #call(name: keyof typeof PROTOTYPES, ...args: unknown[]): void {
    const status = this.#calls[name](...args);
    if (status !== 0) throw new Error(`${name} expected success, got error ${status}`);
  }
}
