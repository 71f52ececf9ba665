/** The entry for Deno. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { filePlatform } from "../platform/files.js";
import { navigatorGpu } from "../platform/navigator-gpu.js";

usePlatform(filePlatform("deno"));
useGpuPlatform(navigatorGpu);
export * from "../index.js";
