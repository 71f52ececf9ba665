/** flash-sampling: one seed, one token, on every backend. The public surface; re-exports only. */
export { createSampler, type Sampler, type SampleOptions, type SamplerOptions, type SubmitOptions, type SubmitResult } from "./sampler.js";
export type { CudaHiddenStates, CudaTokens } from "./cuda-pointers.js";
export type { GpuBuffer, GpuDevice, GpuHead, GpuHiddenStates, GpuTokens } from "./gpu-buffers.js";
export { sampleLogits, type GivenLogits, type SampleLogitsOptions } from "./logits.js";
export { hasRelaxedSimd, init, type CoreSource } from "./core-module.js";
export { InvalidRowError, type DetailedResult, type SampleDetail, type SampleResult } from "./outcome.js";
export type { DrawOptions, OnInvalid, PerRow, ResultOptions } from "./arguments.js";
export type { FloatData, FloatDtype } from "./matrix.js";
export type { LoadProgress } from "./head/load.js";
export type { HeadArray } from "./head/head-reader.js";
export type { Dtype } from "./backend.js";
export { BACKENDS, type BackendEntry, type BackendName } from "./backends/list.js";
export { SPEC_VERSION } from "./spec/constants.js";
