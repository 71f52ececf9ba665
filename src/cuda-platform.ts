/**
 * Where CUDA comes from: the entry for Node says where its code and its kernels are; other runtimes say why there is none. Both, and
 * the addon that calls NVIDIA's driver, are loaded when CUDA is first asked for.
 */
import type { Backend, DeviceReport } from "./backend.js";

export interface CudaPlatform {
  /** The code of the backend. */
  loadHost(): Promise<typeof import("../gpu/cuda/host.js")>;
  /** The compiled kernels. @throws Error whose message says that they are not there */
  loadKernels(): Promise<Uint8Array>;
}

/** The platform, or why there is none. */
let platform: CudaPlatform | string = "CUDA runs in Node only";

export function useCudaPlatform(chosen: CudaPlatform | string): void {
  platform = chosen;
}

/** null when the backend can run here, else the reason why not. */
export async function cudaObstacle(): Promise<string | null> {
  try {
    const { loadHost, loadKernels } = chosenPlatform();
    return await (await loadHost()).cudaObstacle(loadKernels);
  } catch (error) {
    return (error as Error).message;
  }
}

/** What the device says of itself. @throws Error where there is no CUDA */
export async function cudaReport(): Promise<DeviceReport> {
  const { loadHost, loadKernels } = chosenPlatform();
  return (await loadHost()).cudaReport(loadKernels);
}

export async function createCuda(): Promise<Backend> {
  const { loadHost, loadKernels } = chosenPlatform();
  return (await loadHost()).createCudaBackend(loadKernels);
}

function chosenPlatform(): CudaPlatform {
  if (typeof platform === "string") throw new Error(platform);
  return platform;
}
