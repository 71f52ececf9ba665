/**
 * Values that lie in buffers of a GPU device, as callers hand them over: kinds, shapes, sizes and usages checked.
 * The types of WebGPU are those that the caller's program knows, if any: nothing here asks for a package of types.
 */
import { DTYPE_BYTES, type BufferSlice, type DeviceHead, type Dtype } from "./backend.js";
import { DETAIL_LIMIT } from "./arguments.js";
import { describe } from "./describe.js";
import { checkShape, checkScalesOf } from "./head/head-reader.js";
import type { FloatDtype } from "./matrix.js";

/** GPUDevice, where the caller's types know it. */
export type GpuDevice = typeof globalThis extends { GPUDevice: { prototype: infer Device } } ? Device : object;
/** GPUBuffer, where the caller's types know it. */
export type GpuBuffer = typeof globalThis extends { GPUBuffer: { prototype: infer Buffer } } ? Buffer : object;

/** Weights in a buffer of the sampler's device, row-major [V, D], little-endian. */
export interface GpuHead {
  /** Usage STORAGE or COPY_SRC. It is read while the sampler is created; afterwards it may be destroyed. */
  readonly buffer: GpuBuffer;
  readonly dtype: Dtype;
  readonly shape: readonly [vocabSize: number, hiddenSize: number];
  /** int8 only: f32 [V * (D / G)] in memory, positive and normal. G, the columns that share a scale, follows from the length. */
  readonly scales?: Float32Array;
  /** Where the weights begin, a multiple of a weight's size. Default 0. */
  readonly byteOffset?: number;
}

/** Hidden states in a buffer of the sampler's device, row-major [B, D]. */
export interface GpuHiddenStates {
  /** Usage STORAGE or COPY_SRC. Read in the order of the device's queue: after all that was submitted before the call. */
  readonly buffer: GpuBuffer;
  readonly dtype: FloatDtype;
  readonly shape: readonly [rows: number, hiddenSize: number];
  /** Where they begin, a multiple of a value's size. Default 0. */
  readonly byteOffset?: number;
}

/** Where tokens go on the sampler's device: i32 [B * numSamples]. */
export interface GpuTokens {
  /** Usage STORAGE or COPY_DST. */
  readonly buffer: GpuBuffer;
  /** Where the first token goes, a multiple of 4. Default 0. */
  readonly byteOffset?: number;
}

export interface CheckedGpuHiddenStates extends BufferSlice {
  readonly dtype: FloatDtype;
  readonly rowCount: number;
}

// Bits of GPUBufferUsage: not every runtime that has a device has them as globals.
const COPY_SRC = 0x4;
const COPY_DST = 0x8;
const STORAGE = 0x80;

/** Whether values came with a buffer in place of data. */
export function isOnDevice<T>(value: T): value is Extract<T, { readonly buffer: GpuBuffer }> {
  // Typed arrays and Node's buffers have a buffer too.
  return typeof value === "object" && value !== null && "buffer" in value && !ArrayBuffer.isView(value);
}

/** @throws TypeError unless it looks like a GPUDevice */
export function checkDevice(device: unknown): asserts device is GpuDevice {
  const { queue, lost, limits } = (device ?? {}) as { queue?: unknown; lost?: unknown; limits?: unknown };
  if (typeof queue !== "object" || typeof lost !== "object" || typeof limits !== "object") {
    throw new TypeError(`"device" expected a GPUDevice, got ${describe(device)}`);
  }
}

/** @throws TypeError, RangeError naming the argument */
export function checkGpuHead({ buffer, dtype, shape, scales, byteOffset }: GpuHead): DeviceHead {
  if (typeof dtype !== "string" || !Object.hasOwn(DTYPE_BYTES, dtype)) throw new RangeError(`"weights.dtype" expected bf16, f16, f32 or int8, got ${describe(dtype)}`);
  if (!Array.isArray(shape)) throw new TypeError(`"weights.shape" expected an array [V, D], got ${describe(shape)}`);
  const [vocabSize, hiddenSize] = checkShape(shape, "weights");
  const { values, groupSize } = checkScalesOf(dtype, scales, vocabSize, hiddenSize);
  const size = DTYPE_BYTES[dtype];
  const weights = checkSlice("weights", buffer, byteOffset, size, vocabSize * hiddenSize * size, ["STORAGE", STORAGE], ["COPY_SRC", COPY_SRC]);
  return { shape: { dtype, vocabSize, hiddenSize, groupSize }, scales: values, weights };
}

/** @throws TypeError, RangeError naming the argument */
export function checkGpuHiddenStates({ buffer, dtype, shape, byteOffset }: GpuHiddenStates, hiddenSize: number): CheckedGpuHiddenStates {
  const rowCount = checkHiddenShape(dtype, shape, hiddenSize);
  const size = DTYPE_BYTES[dtype];
  const slice = checkSlice("hiddenStates", buffer, byteOffset, size, rowCount * hiddenSize * size, ["STORAGE", STORAGE], ["COPY_SRC", COPY_SRC]);
  return { ...slice, dtype, rowCount };
}

/** How many rows there are. @throws TypeError, RangeError naming the argument */
export function checkHiddenShape(dtype: unknown, shape: unknown, hiddenSize: number): number {
  if (dtype !== "f32" && dtype !== "f16" && dtype !== "bf16") throw new RangeError(`"hiddenStates.dtype" expected f32, f16 or bf16, got ${describe(dtype)}`);
  if (!Array.isArray(shape)) throw new TypeError(`"hiddenStates.shape" expected an array [B, D], got ${describe(shape)}`);
  const [rowCount, columns] = shape as readonly unknown[];
  const isMatrix = shape.length === 2 && Number.isInteger(rowCount) && (rowCount as number) >= 1 && (rowCount as number) <= DETAIL_LIMIT && columns === hiddenSize;
  if (!isMatrix) {
    throw new RangeError(`"hiddenStates.shape" expected [B, ${hiddenSize}] with 1 <= B <= ${DETAIL_LIMIT}, got [${shape.slice(0, 4).map(describe).join(", ")}]`);
  }
  return rowCount as number;
}

/** @throws TypeError, RangeError naming the argument */
export function checkGpuTokens(tokens: GpuTokens, draws: number): BufferSlice {
  if (!isOnDevice(tokens)) throw new TypeError(`"tokensTo" expected { buffer, byteOffset? }, got ${describe(tokens)}`);
  return checkSlice("tokensTo", tokens.buffer, tokens.byteOffset, 4, draws * 4, ["STORAGE", STORAGE], ["COPY_DST", COPY_DST]);
}

type Usage = readonly [name: string, bit: number];

function checkSlice(name: string, buffer: unknown, byteOffset: unknown = 0, valueBytes: number, bytes: number, ...usages: readonly Usage[]): BufferSlice {
  const { size, usage, destroy } = (buffer ?? {}) as { size?: unknown; usage?: unknown; destroy?: unknown };
  if (typeof size !== "number" || typeof usage !== "number" || typeof destroy !== "function") {
    throw new TypeError(`"${name}.buffer" expected a GPUBuffer, got ${describe(buffer)}`);
  }
  if (!Number.isInteger(byteOffset) || (byteOffset as number) < 0 || (byteOffset as number) % valueBytes !== 0) {
    throw new RangeError(`"${name}.byteOffset" expected a multiple of ${valueBytes}, got ${describe(byteOffset)}`);
  }
  if (!usages.some(([, bit]) => usage & bit)) {
    throw new RangeError(`"${name}.buffer" expected usage ${usages.map(([usageName]) => usageName).join(" or ")}, got neither (usage 0x${usage.toString(16)})`);
  }
  // Kernels and copies see whole words.
  const end = Math.ceil(((byteOffset as number) + bytes) / 4) * 4;
  if (end > size) throw new RangeError(`"${name}.buffer" expected at least ${end} bytes, got ${size}`);
  return { buffer: buffer as GpuBuffer, byteOffset: byteOffset as number };
}
