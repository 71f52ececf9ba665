/** Writes the tokens of decisions into a caller's buffer, without a way back through memory. */
import type { BufferSlice } from "../../src/backend.js";
import { storeTokensShader, TOKENS_WORKGROUP } from "./buffer-shaders.js";
import type { GpuContext } from "./context.js";
import { COPY_SRC, STORAGE } from "./flags.js";
import { GrowingBuffer } from "./growing-buffer.js";
import { Kernel } from "./kernel.js";

export class TokenWriter {
  readonly #context: GpuContext;
  readonly #kernel: Kernel;
  /** Tokens on their way to a buffer that kernels may not write. */
  readonly #staged: GrowingBuffer;
  #pipeline: GPUComputePipeline | null = null;

  constructor(context: GpuContext) {
    this.#context = context;
    this.#kernel = new Kernel(context, "storeTokens", ["read-only-storage", "read-only-storage", "storage"]);
    this.#staged = new GrowingBuffer(context, "tokens", STORAGE | COPY_SRC);
  }

  /** Compiles the kernel: before encode(). */
  async open(): Promise<void> {
    this.#pipeline ??= await this.#kernel.pipeline(storeTokensShader());
  }

  /**
   * @param decisions as reduceTiles leaves them, rows * samples of them
   * @param reports [rows]
   */
  encode(encoder: GPUCommandEncoder, decisions: GPUBuffer, reports: GPUBufferBinding, { rows, samples }: { rows: number; samples: number }, { buffer, byteOffset }: BufferSlice): void {
    const draws = rows * samples;
    const isWritable = (buffer.usage & STORAGE) !== 0;
    const alignment = this.#context.device.limits.minStorageBufferOffsetAlignment;
    const offset = Math.floor(byteOffset / alignment) * alignment;
    const target = isWritable ? { buffer, offset, size: byteOffset + 4 * draws - offset } : { buffer: this.#staged.reserve(4 * draws) };
    const firstToken = isWritable ? (byteOffset - offset) / 4 : 0;
    this.#kernel.encode(encoder, this.#pipeline!, [draws, samples, firstToken], [{ buffer: decisions }, reports, target], Math.ceil(draws / TOKENS_WORKGROUP));
    if (!isWritable) encoder.copyBufferToBuffer(this.#staged.buffer, 0, buffer, byteOffset, 4 * draws);
  }
}
