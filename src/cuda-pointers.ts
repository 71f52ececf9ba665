/** Values in memory of the CUDA device, as callers hand them over: whatever can be checked without a look at the device. */
import { DTYPE_BYTES, type PointerSlice } from "./backend.js";
import { describe } from "./describe.js";
import { checkHiddenShape } from "./gpu-buffers.js";
import type { FloatDtype } from "./matrix.js";

/** Hidden states in memory of the sampler's CUDA device, row-major [B, D]. */
export interface CudaHiddenStates {
  /** A CUdeviceptr, a multiple of a value's size. The memory must stay as it is until the call's work is done. */
  readonly pointer: bigint;
  readonly dtype: FloatDtype;
  readonly shape: readonly [rows: number, hiddenSize: number];
}

/** Where tokens go in memory of the sampler's CUDA device: i32 [B * numSamples]. */
export interface CudaTokens {
  /** A CUdeviceptr, a multiple of 4. */
  readonly pointer: bigint;
}

const POINTER_LIMIT = 1n << 64n;

/** The legacy default stream by both of its names, and the one of each thread. */
const DEFAULT_STREAMS = [0n, 1n, 2n];
/** Other streams are where the driver keeps them in the process: nowhere else can memory be, and the driver would look there. */
const LEAST_ADDRESS = 1n << 16n;
const ADDRESS_LIMIT = 1n << 57n;

/** Whether values came with a pointer in place of data. */
export function isAtPointer<T>(value: T): value is Extract<T, { readonly pointer: bigint }> {
  return typeof value === "object" && value !== null && "pointer" in value;
}

/** @throws TypeError, RangeError naming the argument */
export function checkCudaHiddenStates({ pointer, dtype, shape }: CudaHiddenStates, hiddenSize: number): PointerSlice & { readonly dtype: FloatDtype; readonly rowCount: number } {
  const rowCount = checkHiddenShape(dtype, shape, hiddenSize);
  return { pointer: checkPointer("hiddenStates.pointer", pointer, DTYPE_BYTES[dtype]), dtype, rowCount };
}

/** @throws TypeError, RangeError naming the argument */
export function checkCudaTokens(tokens: CudaTokens): PointerSlice {
  if (!isAtPointer(tokens)) throw new TypeError(`"tokensTo" expected { pointer }, got ${describe(tokens)}`);
  return { pointer: checkPointer("tokensTo.pointer", tokens.pointer, 4) };
}

function checkPointer(name: string, pointer: unknown, valueBytes: number): bigint {
  if (typeof pointer !== "bigint") throw new TypeError(`"${name}" expected a bigint, got ${describe(pointer)}`);
  if (pointer <= 0n || pointer >= POINTER_LIMIT || pointer % BigInt(valueBytes) !== 0n) {
    throw new RangeError(`"${name}" expected an address in (0, 2^64) that is a multiple of ${valueBytes}, got ${describe(pointer)}`);
  }
  return pointer;
}

/** null without a stream. @throws TypeError, RangeError naming the argument */
export function checkStream(stream: unknown): bigint | null {
  if (stream === undefined) return null;
  if (typeof stream !== "bigint") throw new TypeError(`"stream" expected a bigint, got ${describe(stream)}`);
  const isAddress = stream >= LEAST_ADDRESS && stream < ADDRESS_LIMIT;
  if (!isAddress && !DEFAULT_STREAMS.includes(stream)) throw new RangeError(`"stream" expected a CUstream (0n, 1n, 2n or an address in [2^16, 2^57)), got ${describe(stream)}`);
  return stream;
}
