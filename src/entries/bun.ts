/** The entry for Bun. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { NO_GPU_IN_BUN } from "../platform/bun-gpu.js";
import { filePlatform } from "../platform/files.js";

usePlatform(filePlatform("bun"));
useGpuPlatform(NO_GPU_IN_BUN);
export * from "../index.js";
