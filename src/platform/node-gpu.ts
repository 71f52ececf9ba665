/** Node: Dawn, from the optional package webgpu. */
import type { GpuPlatform } from "../gpu-platform.js";
import { gpuOfNavigator, loadHost } from "./navigator-gpu.js";

export const nodeGpu: GpuPlatform = {
  loadHost,
  async openGpu() {
    const builtIn = gpuOfNavigator();
    if (builtIn !== null) return builtIn;
    const { create } = await import("webgpu").catch((cause: Error & { code?: string }) => {
      const reason = cause.code === "ERR_MODULE_NOT_FOUND" ? "is not installed (npm install webgpu)" : `does not load: ${cause.message}`;
      throw new Error(`the package webgpu ${reason}`, { cause });
    });
    const gpu = create([]);
    const { destroyDevices } = await loadHost();
    // A driver made of software ends with its library, and crashes when its threads still compute by then.
    process.once("exit", destroyDevices);
    return gpu;
  },
};
