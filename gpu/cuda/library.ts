/** NVIDIA's driver API (libcuda) through koffi: the few calls that the backend needs. */
import type { LibraryHandle } from "koffi";

const LIBRARIES: Readonly<Record<string, string>> = { linux: "libcuda.so.1", win32: "nvcuda.dll" };

/** Handles and device addresses are 64-bit numbers here; `void *` takes a view of an ArrayBuffer, which does not move. */
const CALLS = {
  cuInit: "int cuInit(unsigned int flags)",
  cuDeviceGetCount: "int cuDeviceGetCount(void *count)",
  cuDeviceGet: "int cuDeviceGet(void *device, int ordinal)",
  cuDeviceGetName: "int cuDeviceGetName(void *name, int length, int device)",
  cuDeviceGetAttribute: "int cuDeviceGetAttribute(void *value, int attribute, int device)",
  cuDevicePrimaryCtxRetain: "int cuDevicePrimaryCtxRetain(void *context, int device)",
  cuDevicePrimaryCtxRelease: "int cuDevicePrimaryCtxRelease_v2(int device)",
  cuCtxPushCurrent: "int cuCtxPushCurrent_v2(uint64_t context)",
  cuCtxPopCurrent: "int cuCtxPopCurrent_v2(void *context)",
  cuModuleLoadData: "int cuModuleLoadData(void *module, void *image)",
  cuModuleUnload: "int cuModuleUnload(uint64_t module)",
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
  cuStreamDestroy: "int cuStreamDestroy_v2(uint64_t stream)",
  cuStreamSynchronize: "int cuStreamSynchronize(uint64_t stream)",
  cuStreamQuery: "int cuStreamQuery(uint64_t stream)",
  cuStreamWaitEvent: "int cuStreamWaitEvent(uint64_t stream, uint64_t event, unsigned int flags)",
  cuStreamGetCtx: "int cuStreamGetCtx(uint64_t stream, void *context)",
  cuStreamIsCapturing: "int cuStreamIsCapturing(uint64_t stream, void *status)",
  cuEventCreate: "int cuEventCreate(void *event, unsigned int flags)",
  cuEventDestroy: "int cuEventDestroy_v2(uint64_t event)",
  cuEventRecord: "int cuEventRecord(uint64_t event, uint64_t stream)",
  cuPointerGetAttribute: "int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer)",
  cuFuncGetAttribute: "int cuFuncGetAttribute(void *value, int attribute, uint64_t function)",
  cuFuncSetAttribute: "int cuFuncSetAttribute(uint64_t function, int attribute, int value)",
  cuLaunchKernelEx: "int cuLaunchKernelEx(void *config, uint64_t function, void *parameters, void *extra)",
  cuGetErrorName: "int cuGetErrorName(int error, void *name)",
} as const;

export type Call = keyof typeof CALLS;
export type Koffi = typeof import("koffi").default;
type KoffiFunction = ReturnType<LibraryHandle["func"]>;
export type Calls = Readonly<Record<Call, KoffiFunction>>;

/** @throws Error whose message says what is missing */
export async function openLibrary(): Promise<{ readonly koffi: Koffi; readonly calls: Calls }> {
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
    const { message } = cause as Error;
    throw new Error(`NVIDIA's driver (${name}) ${message.includes("No such file") ? "was not found" : `does not load: ${message}`}`, { cause });
  }
  return { koffi, calls: callsOf(library, name) };
}

/** @throws Error that names what a driver of before lacks */
function callsOf(library: LibraryHandle, name: string): Calls {
  const find = ([call, prototype]: [string, string]): [string, KoffiFunction] => {
    try {
      return [call, library.func(prototype)];
    } catch (cause) {
      throw new Error(`NVIDIA's driver (${name}) is too old: it has no ${call}`, { cause });
    }
  };
  return Object.fromEntries(Object.entries(CALLS).map(find)) as Record<Call, KoffiFunction>;
}
