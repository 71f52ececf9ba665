/** Node: NVIDIA's driver through the optional package koffi, and the kernels from a file beside the code. */
import { readFile } from "node:fs/promises";
import type { CudaPlatform } from "../cuda-platform.js";

/** @param file the kernels */
export function nodeCuda(file: URL): CudaPlatform {
  return {
    loadHost: () => import("../../gpu/cuda/host.js"),
    loadKernels: () =>
      readFile(file).catch((cause: NodeJS.ErrnoException) => {
        throw new Error(cause.code === "ENOENT" ? "this build of the package has no CUDA kernels" : `the CUDA kernels cannot be read: ${cause.message}`, { cause });
      }),
  };
}
