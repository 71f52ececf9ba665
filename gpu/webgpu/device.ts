/** Opens a device with what the kernels profit from: the largest buffers, bindings and workgroups that the adapter has. */
import { GpuContext } from "./context.js";
import { GpuError } from "../gpu-error.js";

/** Those that were opened here and are in use. */
const opened = new Set<GPUDevice>();

export async function openContext(gpu: GPU): Promise<GpuContext> {
  const adapter = await requestAdapter(gpu);
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX } = adapter.limits;
  const requiredLimits = { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX };
  const device = await adapter.requestDevice({ label: "flash-sampling", requiredLimits });
  opened.add(device);
  void device.lost.then(() => opened.delete(device));
  return contextOf(device, adapter.info);
}

/** Destroys what was opened here, and waits for what it computes. */
export function destroyDevices(): void {
  for (const device of opened) device.destroy();
}

/** The context of a device that somebody else opened, and keeps. Its limits decide how a head is cut. */
export function contextOf(device: GPUDevice, info: GPUAdapterInfo | undefined = device.adapterInfo): GpuContext {
  if (info === undefined) return new GpuContext(device, "a device without a name", false);
  return new GpuContext(device, nameOf(info), info.isFallbackAdapter);
}

/** Whether the adapter computes on the processor. */
export async function isSoftware(gpu: GPU): Promise<boolean> {
  return (await requestAdapter(gpu)).info.isFallbackAdapter;
}

async function requestAdapter(gpu: GPU): Promise<GPUAdapter> {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) throw new GpuError("refused", '"webgpu" expected an adapter, got none: no driver here that WebGPU accepts');
  return adapter;
}

function nameOf({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  return [description || device, vendor, architecture].filter((part) => part !== "").join(", ");
}
