/** Hidden states from a caller's buffer: what src/hidden.ts does to values in memory, on the device. */
import { DTYPE_BYTES, type BufferSlice, type HeadShape } from "../../src/backend.js";
import { hiddenExponentLimit } from "../../src/hidden.js";
import type { FloatDtype } from "../../src/matrix.js";
import { operandFormat, REPORT_WORDS } from "../hidden-on-device.js";
import { prepareHiddenShader } from "./buffer-shaders.js";
import type { GpuContext } from "./context.js";
import type { RowSource } from "./decider.js";
import { COPY_SRC, STORAGE } from "./flags.js";
import { GrowingBuffer } from "./growing-buffer.js";
import { Kernel } from "./kernel.js";
import { SourceWindow } from "./source-window.js";

export class HiddenPreparer {
  readonly #kernel: Kernel;
  readonly #window: SourceWindow;
  readonly #prepared: GrowingBuffer;
  readonly #reports: GrowingBuffer;

  constructor(context: GpuContext) {
    this.#kernel = new Kernel(context, "prepareHidden", ["read-only-storage", "storage", "storage"]);
    this.#window = new SourceWindow(context);
    this.#prepared = new GrowingBuffer(context, "hidden states", STORAGE);
    this.#reports = new GrowingBuffer(context, "reports", STORAGE | COPY_SRC);
  }

  /**
   * @param paddedSize values of a row as the head's kernel reads it
   * @param largestMagnitude max |w| over the whole head
   */
  async open(slice: BufferSlice & { readonly dtype: FloatDtype }, { dtype, hiddenSize }: HeadShape, paddedSize: number, largestMagnitude: number): Promise<RowSource> {
    const pipeline = await this.#kernel.pipeline(prepareHiddenShader(slice.dtype, operandFormat(dtype)));
    const valueBytes = DTYPE_BYTES[slice.dtype];
    const givenBytes = hiddenSize * valueBytes;
    const exponentLimit = hiddenExponentLimit(largestMagnitude, hiddenSize);
    return {
      kind: "device",
      // A prepared row is at least as long as it was given.
      rowBytes: paddedSize * 4,
      prepare: (encoder, firstRow, rows, batch) => {
        const { binding, firstValue } = this.#window.open(encoder, slice, firstRow * givenBytes, rows * givenBytes, valueBytes);
        const size = Math.ceil(rows / batch) * batch * paddedSize * 4;
        const values = { buffer: this.#prepared.reserve(size), size };
        const reports = this.#reports.reserve(rows * REPORT_WORDS * 4);
        this.#kernel.encode(encoder, pipeline, [rows, hiddenSize, paddedSize, batch, firstValue, exponentLimit], [binding, values, { buffer: reports }], rows);
        return { values, reports };
      },
    };
  }
}

const preparers = new WeakMap<GpuContext, HiddenPreparer>();

/** The one of all heads on the device. */
export function preparerOf(context: GpuContext): HiddenPreparer {
  let preparer = preparers.get(context);
  if (preparer === undefined) preparers.set(context, (preparer = new HiddenPreparer(context)));
  return preparer;
}
