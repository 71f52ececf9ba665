/** What the WebGPU benches share: a device with timestamps, weights made on the device, and a clock. */
import { create } from "webgpu";

export const MAP_READ = 1;
export const COPY_SRC = 4;
export const COPY_DST = 8;
export const UNIFORM = 0x40;
export const STORAGE = 0x80;
export const QUERY_RESOLVE = 0x200;

/** Dawn needs the object that create() returns for as long as a device is used. */
const gpu = create(["disable-dawn-features=timestamp_quantization"]);

/** A device with the adapter's largest limits, and timestamps. */
export async function openDevice() {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) throw new Error("no adapter was found");
  const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX } = adapter.limits;
  const requiredLimits = { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX };
  const device = await adapter.requestDevice({ requiredLimits, requiredFeatures: ["timestamp-query"] });
  device.onuncapturederror = ({ error }) => {
    throw new Error(error.message);
  };
  return { device, name: adapter.info.description || adapter.info.device };
}

/** Makes what weightBits() of weights.mjs does. */
const FILL = `
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
fn weightBits(index: u32) -> u32 {
  var x = index * 0x9e3779b1u;
  x = (x ^ (x >> 15u)) * 0x85ebca77u;
  x = (x ^ (x >> 13u)) * 0xc2b2ae3du;
  x ^= x >> 16u;
  return ((x >> 16u) & 0x8000u) | 0x3c00u | ((x >> 8u) & 0x1ffu);
}
@compute @workgroup_size(256)
fn fill(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var i = id.x; i < arrayLength(&words); i += groups.x * 256u) {
    words[i] = weightBits(2u * i) | (weightBits(2u * i + 1u) << 16u);
  }
}`;

/** A buffer of bf16 weights by weightBits. */
export async function fillWeights(device, bytes) {
  const buffer = device.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC | COPY_DST });
  const pipeline = await compile(device, FILL);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, bindGroup(device, pipeline, 0, { 0: buffer }));
  pass.dispatchWorkgroups(8192);
  pass.end();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  return buffer;
}

export function compile(device, code, entryPoint) {
  return device.createComputePipelineAsync({ layout: "auto", compute: { module: device.createShaderModule({ code }), entryPoint } });
}

/** buffers: by binding */
export function bindGroup(device, pipeline, group, buffers) {
  const entries = Object.entries(buffers).map(([binding, buffer]) => ({ binding: Number(binding), resource: { buffer } }));
  return device.createBindGroup({ layout: pipeline.getBindGroupLayout(group), entries });
}

export function uniform(device, ...words) {
  const buffer = device.createBuffer({ size: 64, usage: UNIFORM | COPY_DST });
  device.queue.writeBuffer(buffer, 0, Uint32Array.from(words));
  return buffer;
}

const SPANS = 8;

/**
 * Milliseconds of GPU time of one repetition. A GPU that idles lowers its clocks: eight spans of `busy` milliseconds run without
 * a gap, and the median of the last four counts.
 * @param encode (encoder, repetitions, timestampWrites) => void, one pass
 */
export async function gpuTime(device, encode, busy) {
  const querySet = device.createQuerySet({ type: "timestamp", count: 2 * SPANS });
  const resolved = device.createBuffer({ size: 16 * SPANS, usage: QUERY_RESOLVE | COPY_SRC });
  const readable = device.createBuffer({ size: 16 * SPANS, usage: MAP_READ | COPY_DST });
  const spans = async (count, repetitions) => {
    const encoder = device.createCommandEncoder();
    for (let span = 0; span < count; span++) encode(encoder, repetitions, { querySet, beginningOfPassWriteIndex: 2 * span, endOfPassWriteIndex: 2 * span + 1 });
    encoder.resolveQuerySet(querySet, 0, 2 * count, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, readable, 0, 16 * count);
    device.queue.submit([encoder.finish()]);
    await readable.mapAsync(1);
    const times = new BigUint64Array(readable.getMappedRange(0, 16 * count).slice(0));
    readable.unmap();
    return Array.from({ length: count }, (_, span) => Number(times[2 * span + 1] - times[2 * span]) / 1e6 / repetitions);
  };
  const [first] = await spans(1, 3);
  const measured = (await spans(SPANS, Math.max(3, Math.ceil(busy / first)))).slice(SPANS / 2).sort((a, b) => a - b);
  return (measured[1] + measured[2]) / 2;
}

/** For gpuTime: one compute pass with as many repetitions of `dispatch`. */
export function inOnePass(dispatch) {
  return (encoder, repetitions, timestampWrites) => {
    const pass = encoder.beginComputePass({ timestampWrites });
    for (let i = 0; i < repetitions; i++) dispatch(pass);
    pass.end();
  };
}
