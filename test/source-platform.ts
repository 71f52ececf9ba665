/** For tests that import src/ instead of the built package: the core lies in build/. */
import { usePlatform } from "../src/core-module.js";
import { useGpuPlatform } from "../src/gpu-platform.js";
import { filePlatform } from "../src/platform/files.js";
import { nodeGpu } from "../src/platform/node-gpu.js";

usePlatform(filePlatform("source tree", new URL("../build/", import.meta.url)));
useGpuPlatform(nodeGpu);
