/** The entry for Node. */
import { usePlatform } from "../core-module.js";
import { useCudaPlatform } from "../cuda-platform.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { filePlatform } from "../platform/files.js";
import { nodeCuda } from "../platform/node-cuda.js";
import { nodeGpu } from "../platform/node-gpu.js";

usePlatform(filePlatform("node"));
useCudaPlatform(nodeCuda());
useGpuPlatform(nodeGpu);
export * from "../index.js";
