/** For tests that import src/ instead of the built package: the cores and the kernels for CUDA lie in build/. */
import { freshFatbin } from "../scripts/build-cuda.mjs";
import { usePlatform } from "../src/core-module.js";
import { useCudaPlatform } from "../src/cuda-platform.js";
import { useGpuPlatform } from "../src/gpu-platform.js";
import { filePlatform } from "../src/platform/files.js";
import { nodeCuda } from "../src/platform/node-cuda.js";
import { nodeGpu } from "../src/platform/node-gpu.js";

const folder = new URL("../build/", import.meta.url);
usePlatform(filePlatform("source tree", folder));
// Kernels of other sources would be tested in place of these.
useCudaPlatform(freshFatbin() === null ? "gpu/cuda as it is now was not compiled (npm run build:cuda)" : nodeCuda(folder));
useGpuPlatform(nodeGpu);
