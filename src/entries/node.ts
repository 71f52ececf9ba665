/** The entry for Node. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { filePlatform } from "../platform/files.js";
import { nodeGpu } from "../platform/node-gpu.js";

usePlatform(filePlatform("node"));
useGpuPlatform(nodeGpu);
export * from "../index.js";
