/**
 * How far the arithmetic of NVIDIA GPUs is from the exact one. Where a figure was measured, that was on an H200, compute capability 9.0, with Triton
 * 3.6.0 and CUDA 13.0, for every f32 argument that the engines can have. Figures are rounded up, which covers the f64 arithmetic here as well.
 */
import { relatively, type Slack } from "../bounded.js";

/** An f32 sum. Sums below 2^-126 may become 0. */
export const SUM_F32: Slack = (size) => 1.01 * 2 ** -24 * size + 2 ** -126;
export const SUM_F64: Slack = relatively(2 ** -52);
/** An f32 division or product: at most 2 ulp, as CUDA's documentation says. */
export const QUOTIENT_F32: Slack = (size) => 1.01 * 2 ** -22 * size + 2 ** -126;

/** Triton's tl.log and libdevice's log1p in f32. Measured: 8.03e-8 and 8.41e-8. */
export const LIBRARY_LOG_F32: Slack = relatively(2 ** -23);
/** log in f64: 1 ulp on the device, and as much here. */
export const LOG_F64: Slack = relatively(2 ** -51);

/**
 * CUDA's __logf, which PyTorch's exponential_ has, of arguments below 1. Measured: 5.22e-8 where |log| < 2^-7, 1.75e-7 up to ln 2, and 2.6e-7 of |log| beyond.
 * CUDA's documentation allows 2^-21.41 below ln 2, so other GPUs may be further off.
 */
export const FAST_LOG_BELOW_1: Slack = (size) => (size < 2 ** -7 ? 5.3e-8 : size < 0.7 ? 1.8e-7 : 2.61e-7 * size);

/** The instruction lg2.approx, FlashInfer's log2f. Measured: 2.16e-7 where |log2| <= 1, 2.3e-7 of |log2| beyond; documented: 2^-22 for both. */
export const FAST_LOG2: Slack = (size) => 1.01 * 2 ** -22 * Math.max(1, size);
/** The same of arguments below 1. Measured: 7.53e-8 where |log2| < 2^-7. */
export const FAST_LOG2_BELOW_1: Slack = (size) => (size < 2 ** -7 ? 7.6e-8 : FAST_LOG2(size));
