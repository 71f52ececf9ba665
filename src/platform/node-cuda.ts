/** Node: NVIDIA's driver through the optional package koffi, and the kernels from a file beside the code. */
import { readFile } from "node:fs/promises";
import type { CudaPlatform } from "../cuda-platform.js";

/** @param folder where the kernels are; by default beside this code, once it is bundled */
export function nodeCuda(folder: URL = new URL(".", import.meta.url)): CudaPlatform {
  return {
    loadHost: () => import("../../gpu/cuda/host.js"),
    loadKernels: () =>
      readFile(new URL("flash-sampling.fatbin", folder)).catch((cause: NodeJS.ErrnoException) => {
        throw new Error(cause.code === "ENOENT" ? "this build of the package has no CUDA kernels" : `the CUDA kernels cannot be read: ${cause.message}`, { cause });
      }),
  };
}
