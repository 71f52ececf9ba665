/** A part of a caller's buffer as a kernel reads it. */
import type { BufferSlice } from "../../src/backend.js";
import type { GpuContext } from "./context.js";
import { COPY_DST, STORAGE } from "./flags.js";
import { GrowingBuffer } from "./growing-buffer.js";

/** Bytes of a binding of a caller's values, whatever the device could do. */
const WINDOW_BYTES = 64 << 20;

export interface Window {
  readonly binding: GPUBufferBinding;
  /** where in the binding the part begins, in values */
  readonly firstValue: number;
}

export class SourceWindow {
  readonly #context: GpuContext;
  readonly #copy: GrowingBuffer;

  constructor(context: GpuContext) {
    this.#context = context;
    this.#copy = new GrowingBuffer(context, "copy of a caller's buffer", STORAGE | COPY_DST);
  }

  /** Bytes that one window can surely have. */
  get bytes(): number {
    const { maxStorageBufferBindingSize, maxBufferSize, minStorageBufferOffsetAlignment } = this.#context.device.limits;
    return Math.min(WINDOW_BYTES, maxStorageBufferBindingSize, maxBufferSize) - minStorageBufferOffsetAlignment - 4;
  }

  /**
   * The bytes [from, from + bytes) of the slice. A buffer that kernels may not read is copied first.
   * @param valueBytes what `from` and the slice's offset are multiples of
   */
  open(encoder: GPUCommandEncoder, { buffer, byteOffset }: BufferSlice, from: number, bytes: number, valueBytes: number): Window {
    const isReadable = (buffer.usage & STORAGE) !== 0;
    const start = byteOffset + from;
    const alignment = isReadable ? this.#context.device.limits.minStorageBufferOffsetAlignment : 4;
    const offset = Math.floor(start / alignment) * alignment;
    const size = Math.ceil((start + bytes - offset) / 4) * 4;
    const firstValue = (start - offset) / valueBytes;
    if (isReadable) return { binding: { buffer, offset, size }, firstValue };
    const copy = this.#copy.reserve(size);
    encoder.copyBufferToBuffer(buffer, offset, copy, 0, size);
    return { binding: { buffer: copy, size }, firstValue };
  }

  /** Gives the memory of copies back. */
  destroy(): void {
    this.#copy.destroy();
  }
}
