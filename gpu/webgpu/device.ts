/** Opens a device with what the kernels profit from: the largest buffers and bindings that the adapter has. */
import { GpuContext } from "./context.js";
import { GpuError } from "./gpu-error.js";

export async function openContext(gpu: GPU): Promise<GpuContext> {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) throw new GpuError("refused", '"gpu" expected an adapter, got none');
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({ label: "flash-sampling", requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
  const { vendor, architecture, device: name, description, isFallbackAdapter } = adapter.info;
  return new GpuContext(device, [description || name, vendor, architecture].filter((part) => part !== "").join(", "), isFallbackAdapter);
}
