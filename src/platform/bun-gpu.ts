/** Why the addon is never loaded in Bun. */
export const NO_GPU_IN_BUN = "Bun has no WebGPU, and Dawn's addon for Node crashes it";
