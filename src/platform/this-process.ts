/** What a program on a disk has of its runtime, in a file that serves Node, Bun and Deno alike: its own files, and what GPUs it may ask for. */
import { usePlatform } from "../core-module.js";
import { useCudaPlatform } from "../cuda-platform.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { NO_GPU_IN_BUN } from "./bun-gpu.js";
import { filePlatform } from "./files.js";
import { nodeCuda } from "./node-cuda.js";
import { nodeGpu } from "./node-gpu.js";

export function useThisProcess(): void {
  usePlatform(filePlatform("node"));
  if (!("bun" in process.versions || "deno" in process.versions)) useCudaPlatform(nodeCuda());
  useGpuPlatform("bun" in process.versions ? NO_GPU_IN_BUN : nodeGpu);
}
