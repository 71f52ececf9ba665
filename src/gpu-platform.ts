/**
 * Where WebGPU comes from: the entry for each runtime says how to reach it, or why there is none. Its code and, in Node, the
 * addon are loaded when a GPU is first asked for.
 */
import type { Backend, DeviceReport } from "./backend.js";
import type { GpuDevice } from "./gpu-buffers.js";

type Host = typeof import("../gpu/webgpu/host.js");

export interface GpuPlatform {
  /** The code of the backend. */
  loadHost(): Promise<Host>;
  /** @throws Error whose message says why there is no WebGPU */
  openGpu(): Promise<GPU>;
}

/** The platform, or why there is none. */
let platform: GpuPlatform | string = "no platform entry was loaded: import flash-sampling";
let opened: Promise<GPU> | null = null;

export function useGpuPlatform(chosen: GpuPlatform | string): void {
  platform = chosen;
  opened = null;
}

/** One GPU for the process: in Node each would be an instance of the driver's own. A failure is forgotten. */
function openGpu({ openGpu }: GpuPlatform): Promise<GPU> {
  if (opened === null) {
    opened = openGpu();
    opened.catch(() => (opened = null));
  }
  return opened;
}

/** null when the backend can run here, else the reason why not. */
export async function webgpuObstacle(): Promise<string | null> {
  return obstacle((host, gpu) => host.webgpuObstacle(gpu));
}

/** The same, and software in place of a GPU is a reason too: the WebAssembly core is faster then. */
export async function webgpuDrawback(): Promise<string | null> {
  return obstacle((host, gpu) => host.webgpuDrawback(gpu));
}

async function obstacle(ask: (host: Host, gpu: GPU) => Promise<string | null>): Promise<string | null> {
  if (typeof platform === "string") return platform;
  try {
    const gpu = await openGpu(platform); // first: without one, the code is not fetched
    return await ask(await platform.loadHost(), gpu);
  } catch (error) {
    return (error as Error).message;
  }
}

/** The backend on a device of the caller's. */
export async function createWebgpuOn(device: GpuDevice): Promise<Backend> {
  if (typeof platform === "string") throw new Error(platform);
  const host = await platform.loadHost();
  return host.createWebgpuBackendOn(device);
}

/** What the device says of itself, and its self-test so far. @throws Error where there is no WebGPU */
export async function webgpuReport(): Promise<DeviceReport> {
  if (typeof platform === "string") throw new Error(platform);
  const host = await platform.loadHost();
  return host.webgpuReport(await openGpu(platform));
}

export async function createWebgpu(): Promise<Backend> {
  if (typeof platform === "string") throw new Error(platform);
  const host = await platform.loadHost();
  return host.createWebgpuBackend(await openGpu(platform));
}
