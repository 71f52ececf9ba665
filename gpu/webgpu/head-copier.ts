/** Fills a head's pieces from weights in a caller's buffer: arranged, canonical, and checked on the device. */
import { DTYPE_BYTES, type BufferSlice, type Dtype, type HeadShape } from "../../src/backend.js";
import { notFinite } from "../../src/head/canonical.js";
import { bf16ToF32Bits, f16ToF32Bits, f32FromBits } from "../../src/spec/float.js";
import { arrangeHeadShader } from "./buffer-shaders.js";
import type { GpuContext } from "./context.js";
import { COPY_SRC, STORAGE } from "./flags.js";
import { GrowingBuffer } from "./growing-buffer.js";
import { Kernel } from "./kernel.js";
import type { HeadLayout } from "../layout.js";
import type { ReadBack } from "./read-back.js";
import { SourceWindow } from "./source-window.js";

/** Rows whose reports come back at a time. */
const REPORT_ROWS = 1 << 18;
/** Words of a row's report: see arrangeHead.wgsl. */
const REPORT_WORDS = 4;
const NONE = 0xffffffff;

/** What the copier needs to know of a piece. */
interface Target {
  readonly firstToken: number;
  readonly rows: number;
  readonly weights: GPUBuffer;
}

/**
 * @param onRows called with the number of rows in place
 * @returns max |w| over the head
 * @throws RangeError naming the first weight that is not finite
 */
export async function copyWeights(context: GpuContext, readBack: ReadBack, shape: HeadShape, layout: HeadLayout, pieces: readonly Target[], source: BufferSlice, onRows: (rows: number) => void): Promise<number> {
  const { dtype, hiddenSize } = shape;
  const kernel = new Kernel(context, "arrangeHead", ["read-only-storage", "storage", "storage"]);
  const pipeline = await kernel.pipeline(arrangeHeadShader(dtype));
  const window = new SourceWindow(context);
  const reports = new GrowingBuffer(context, "reports", STORAGE | COPY_SRC);
  const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
  const rowsAStep = Math.max(1, Math.min(REPORT_ROWS, Math.floor(window.bytes / Math.max(rowBytes, REPORT_WORDS * 4))));
  let largestMagnitude = 0;
  try {
    for (const { firstToken, rows, weights } of pieces) {
      for (let first = 0; first < rows; first += rowsAStep) {
        const count = Math.min(rowsAStep, rows - first);
        const bytes = count * REPORT_WORDS * 4;
        const submit = (result: GPUBuffer) =>
          context.checked(`${count} rows of weights`, () => {
            const encoder = context.device.createCommandEncoder();
            const { binding, firstValue } = window.open(encoder, source, (firstToken + first) * rowBytes, count * rowBytes, DTYPE_BYTES[dtype]);
            const bindings = [binding, { buffer: weights }, { buffer: reports.reserve(bytes) }];
            kernel.encode(encoder, pipeline, [count, hiddenSize, firstValue, first, layout.rowBytes / 4], bindings, count);
            encoder.copyBufferToBuffer(reports.buffer, 0, result, 0, bytes);
            context.device.queue.submit([encoder.finish()]);
          });
        const largest = readReports(await readBack.read(bytes, submit), dtype, firstToken + first);
        largestMagnitude = Math.max(largestMagnitude, largest);
        onRows(firstToken + first + count);
      }
    }
  } finally {
    for (const memory of [kernel, window, reports]) memory.destroy();
  }
  return largestMagnitude;
}

function readReports(reports: Uint32Array, dtype: Dtype, firstRow: number): number {
  let largest = 0;
  for (let at = 0; at < reports.length; at += REPORT_WORDS) {
    const [column, bits, magnitude] = reports.subarray(at, at + 3) as unknown as [number, number, number];
    if (column !== NONE) throw notFinite(weightValue(dtype, bits), firstRow + at / REPORT_WORDS, column);
    largest = Math.max(largest, magnitude);
  }
  return weightValue(dtype, largest);
}

/** A weight's value by its bits; the magnitude of an int8 is one already. */
function weightValue(dtype: Dtype, bits: number): number {
  switch (dtype) {
    case "bf16":
      return f32FromBits(bf16ToF32Bits(bits));
    case "f16":
      return f32FromBits(f16ToF32Bits(bits));
    case "f32":
      return f32FromBits(bits);
    case "int8":
      return bits;
  }
}
