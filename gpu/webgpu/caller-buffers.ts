/** Buffers of the caller's that the device refuses: its own words do not say which argument they came in. */
import { GpuError } from "../gpu-error.js";
import type { GpuContext } from "./context.js";
import { COPY_DST, COPY_SRC, STAGE_COMPUTE, STORAGE } from "./flags.js";

/**
 * The outcome of work that uses buffers of the caller's, under the names of their arguments.
 * @throws what the work throws; where one of the buffers is why the device refused it, GpuError that names its argument
 */
export async function withCallerBuffers<T>(context: GpuContext, buffers: Readonly<Record<string, GPUBuffer>>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    for (const [name, buffer] of Object.entries(buffers)) {
      const fault = await faultOf(context, buffer);
      if (fault !== null) throw new GpuError("refused", `"${name}.buffer" expected ${fault}`, { cause: error });
    }
    throw error;
  }
}

/** What was expected of the buffer and what it is, or null when nothing is wrong with it. */
async function faultOf(context: GpuContext, buffer: GPUBuffer): Promise<string | null> {
  const commands = await unlessRefused(context.checked("commands", () => commandsWith(context.device, buffer)));
  if (commands === null) return 'a buffer of "device", got one of another device';
  const submitted = await unlessRefused(context.checked("a submission", () => (context.device.queue.submit([commands]), true)));
  return submitted === null ? "a buffer in use, got one that was destroyed" : null;
}

/** Commands that use a buffer and neither read nor write a byte of it. */
function commandsWith(device: GPUDevice, buffer: GPUBuffer): GPUCommandBuffer {
  const encoder = device.createCommandEncoder();
  if ((buffer.usage & STORAGE) !== 0) {
    const layout = device.createBindGroupLayout({ entries: [{ binding: 0, visibility: STAGE_COMPUTE, buffer: { type: "read-only-storage" } }] });
    const pass = encoder.beginComputePass();
    pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer, size: 4 } }] }));
    pass.end();
  } else if ((buffer.usage & COPY_SRC) !== 0) {
    encoder.copyBufferToBuffer(buffer, 0, device.createBuffer({ size: 4, usage: COPY_DST }), 0, 0);
  } else {
    encoder.clearBuffer(buffer, 0, 0);
  }
  return encoder.finish();
}

async function unlessRefused<T>(outcome: Promise<T>): Promise<T | null> {
  return outcome.catch((error: unknown) => {
    if (isRefusal(error)) return null;
    throw error;
  });
}

function isRefusal(error: unknown): boolean {
  return error instanceof GpuError && error.kind === "refused";
}
