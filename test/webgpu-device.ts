/** Devices as a caller has them, for tests of buffers and errors, with ways to look at them and to make them smaller. */
import { create } from "webgpu";
import type { GpuContext } from "../gpu/webgpu/context.js";
import { contextOf, openContext } from "../gpu/webgpu/device.js";
import { copyWeights } from "../gpu/webgpu/head-copier.js";
import { problemsOf } from "../gpu/hidden-on-device.js";
import { HiddenPreparer } from "../gpu/webgpu/hidden-preparer.js";
import { arrangeRows, layOutHead } from "../gpu/layout.js";
import { ReadBack } from "../gpu/webgpu/read-back.js";
import { DTYPE_BYTES, type BufferSlice, type HeadShape } from "../src/backend.js";
import { prepareRows } from "../src/head/canonical.js";
import type { HiddenProblem } from "../src/hidden.js";
import type { FloatDtype } from "../src/matrix.js";
import { nodeGpu } from "../src/platform/node-gpu.js";

export const USAGE = { mapRead: 0x1, copySrc: 0x4, copyDst: 0x8, storage: 0x80 } as const;

/** Dawn needs its instance for as long as any of its devices is in use. */
let gpu: GPU | null = null;

/** The context that samplers would share, and its GPU, which must stay referenced; or why there is none. */
export async function openSharedContext(): Promise<{ gpu: GPU; context: GpuContext } | string> {
  try {
    const gpu = await nodeGpu.openGpu();
    return { gpu, context: await openContext(gpu) };
  } catch (error) {
    return (error as Error).message;
  }
}

/** null when there is a device, else why not. */
export async function deviceObstacle(): Promise<string | null> {
  try {
    (await openDevice()).destroy();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A device with the limits that every device has, or with smaller ones told to whoever asks. */
export async function openDevice(smaller: Partial<Record<keyof GPUSupportedLimits, number>> = {}): Promise<GPUDevice> {
  gpu ??= create([]);
  const adapter = await gpu.requestAdapter();
  if (adapter === null) throw new Error("no adapter");
  const device = await adapter.requestDevice();
  const { limits } = device;
  const told = new Proxy(limits, { get: (_, name) => smaller[name as keyof GPUSupportedLimits] ?? limits[name as keyof GPUSupportedLimits] });
  return Object.defineProperty(device, "limits", { value: told });
}

/** A GPU as a runtime has it, that adds the devices it opens to a list. */
export function gpuThatTells(opened: GPUDevice[]): GPU {
  const instance = (gpu ??= create([]));
  const requestAdapter = async (options?: GPURequestAdapterOptions) => {
    const adapter = (await instance.requestAdapter(options))!;
    const requestDevice = async (descriptor?: GPUDeviceDescriptor) => {
      const device = await adapter.requestDevice(descriptor);
      opened.push(device);
      return device;
    };
    return { limits: adapter.limits, info: adapter.info, requestDevice };
  };
  return { requestAdapter } as unknown as GPU;
}

/** A buffer with the bytes of `values` from byteOffset on. */
export function bufferOf(device: GPUDevice, values: ArrayBufferView, usage: number = USAGE.storage, byteOffset = 0): GPUBuffer {
  const bytes = new Uint8Array(Math.ceil((byteOffset + values.byteLength) / 4) * 4);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), byteOffset);
  const buffer = device.createBuffer({ size: bytes.length, usage: usage | USAGE.copyDst });
  device.queue.writeBuffer(buffer, 0, bytes);
  return buffer;
}

/** The words of a buffer with usage COPY_SRC. */
export async function wordsOf(device: GPUDevice, buffer: GPUBuffer): Promise<Int32Array> {
  const copy = device.createBuffer({ size: buffer.size, usage: USAGE.mapRead | USAGE.copyDst });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(USAGE.mapRead);
  const words = new Int32Array(copy.getMappedRange()).slice();
  copy.destroy();
  return words;
}

/** The buffers of the device that are not destroyed, from now on. */
export function countBuffers(device: GPUDevice): ReadonlySet<GPUBuffer> {
  const alive = new Set<GPUBuffer>();
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    const destroy = buffer.destroy.bind(buffer);
    alive.add(buffer);
    buffer.destroy = () => {
      alive.delete(buffer);
      return destroy();
    };
    return buffer;
  };
  return alive;
}

/** The device, with all its buffers to be copied from. */
function readable(device: GPUDevice): GPUDevice {
  return new Proxy(device, {
    get(_, name) {
      if (name === "createBuffer") {
        return (descriptor: GPUBufferDescriptor) => device.createBuffer({ ...descriptor, usage: descriptor.usage | (descriptor.usage & USAGE.mapRead ? 0 : USAGE.copySrc) });
      }
      const value = device[name as keyof GPUDevice];
      return typeof value === "function" ? (value as () => unknown).bind(device) : value;
    },
  });
}

/** A head's bytes as they lie on the device, and its largest magnitude. */
interface Arranged {
  readonly words: Int32Array;
  readonly largestMagnitude: number;
}

/** A head copied from a buffer. */
export async function arrangeOnDevice(device: GPUDevice, slice: BufferSlice, shape: HeadShape): Promise<Arranged> {
  const context = contextOf(readable(device));
  const layout = layOutHead(shape);
  const weights = device.createBuffer({ size: shape.vocabSize * layout.rowBytes, usage: USAGE.storage | USAGE.copySrc });
  const piece = { firstToken: 0, rows: shape.vocabSize, weights };
  const largestMagnitude = await copyWeights(context, new ReadBack(context), shape, layout, [piece], slice, () => {});
  return { words: await wordsOf(device, weights), largestMagnitude };
}

/** The same head as the loader and the sink for weights in memory lay it out. */
export function arrangeInMemory(shape: HeadShape, data: ArrayBufferView): Arranged {
  const { dtype, vocabSize, hiddenSize } = shape;
  const layout = layOutHead(shape);
  const rows = new Uint8Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
  const { largest } = prepareRows(dtype, rows, vocabSize, hiddenSize, 0);
  const arranged = new Uint8Array(vocabSize * layout.rowBytes);
  arrangeRows(rows, arranged, hiddenSize, DTYPE_BYTES[dtype], layout);
  return { words: new Int32Array(arranged.buffer), largestMagnitude: Math.max(...largest) };
}

/** What the kernel that prepares hidden states leaves for the head's: f32 bits [rows, hiddenSize], and what it says of each row. */
export async function prepareOnDevice(
  device: GPUDevice,
  hidden: BufferSlice & { readonly dtype: FloatDtype },
  shape: HeadShape,
  rows: number,
  largestMagnitude: number,
): Promise<{ values: Uint32Array; problems: (HiddenProblem | null)[] }> {
  const context = contextOf(readable(device));
  const source = await new HiddenPreparer(context).open(hidden, shape, shape.hiddenSize, largestMagnitude);
  if (source.kind !== "device") throw new Error('"source" expected one on the device');
  const { values, reports } = await context.checked(`${rows} rows`, () => {
    const encoder = device.createCommandEncoder();
    const prepared = source.prepare(encoder, 0, rows, 1);
    device.queue.submit([encoder.finish()]);
    return prepared;
  });
  const words = new Uint32Array((await wordsOf(device, values.buffer)).buffer);
  const reportWords = new Uint32Array((await wordsOf(device, reports)).buffer);
  return { values: words.subarray(0, rows * shape.hiddenSize), problems: problemsOf(reportWords.subarray(0, 4 * rows)) };
}
