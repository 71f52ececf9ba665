/** The entry for Bun. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { filePlatform } from "../platform/files.js";

usePlatform(filePlatform("bun"));
useGpuPlatform("Bun has no WebGPU, and Dawn's addon for Node crashes it");
export * from "../index.js";
