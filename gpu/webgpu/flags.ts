/** Bit flags of the WebGPU standard. Not every runtime that has a device has them as globals. */
export const MAP_READ = 0x1;
export const COPY_SRC = 0x4;
export const COPY_DST = 0x8;
export const UNIFORM = 0x40;
export const STORAGE = 0x80;

/** GPUMapMode.READ */
export const MAP_MODE_READ = 0x1;

/** GPUShaderStage.COMPUTE */
export const STAGE_COMPUTE = 0x4;
