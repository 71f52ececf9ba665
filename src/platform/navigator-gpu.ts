/** Browsers and Deno: navigator.gpu. */
import type { GpuPlatform } from "../gpu-platform.js";

export const loadHost: GpuPlatform["loadHost"] = () => import("../../gpu/webgpu/host.js");

export const navigatorGpu: GpuPlatform = {
  loadHost,
  async openGpu() {
    const gpu = gpuOfNavigator();
    if (gpu === null) throw new Error("this runtime has no navigator.gpu (a page needs a secure context and a browser with WebGPU)");
    return gpu;
  },
};

export function gpuOfNavigator(): GPU | null {
  return (globalThis.navigator as Partial<Navigator> | undefined)?.gpu ?? null;
}
