/**
 * The WebGPU backend through Dawn, in one run with what bounds it:
 *   node bench/webgpu/bench.mjs [--vocab 151936] [--hidden 4096,1024] [--batch 1,2,4,8,16] [--busy 20] [--calls 200]
 * read: reading the weights by the same API and nothing else. copy: a kernel that reads and writes as many bytes, and the API's own
 * buffer copy. logits: the same kernel without noise and decision. ours: the whole decision on the device. call: what a caller waits
 * for, hidden states in, tokens out, median of --calls calls. bf16.
 */
import { parseArgs } from "node:util";
import { bindGroup, compile, fillWeights, gpuTime, inOnePass, median, modules, openDevice, STORAGE, COPY_DST, COPY_SRC, uniform } from "./gpu.mjs";

const { values: options } = parseArgs({
  options: {
    vocab: { type: "string", default: "151936" },
    hidden: { type: "string", default: "4096,1024" },
    batch: { type: "string", default: "1,2,4,8,16" },
    busy: { type: "string", default: "20" },
    calls: { type: "string", default: "200" },
    modules: { type: "string" },
  },
});
const vocabSize = Number(options.vocab);
const busy = Number(options.busy);

const MODULES = `
  export { sampleTileShader, reduceTilesShader } from "./gpu/webgpu/shaders.ts";
  export { divisionFor, tileTokens, batchRows, stepOf } from "./gpu/webgpu/tuning.ts";
  export { layOutHead } from "./gpu/webgpu/layout.ts";
  export { encodeRequest } from "./src/spec/request.ts";
  import { useGpuPlatform } from "./src/gpu-platform.ts";
  import { nodeGpu } from "./src/platform/node-gpu.ts";
  useGpuPlatform(nodeGpu);
  export { createSampler } from "./src/sampler.ts";
`;
const { sampleTileShader, reduceTilesShader, divisionFor, tileTokens, batchRows, stepOf, layOutHead, encodeRequest, createSampler } = await modules("webgpu", MODULES, options.modules);

/** The tile kernel up to its logits, which go to memory as [rows, V]. */
const LOGITS_ONLY = `
@compute @workgroup_size(WORKGROUP)
fn logitsOnly(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let firstRow = (workgroup.z * piece.gridWidth + workgroup.y) * TILE;
  if (firstRow >= piece.rows) { return; }
  let batchBase = workgroup.x * BATCH;
  for (var strip = 0u; strip < TILE; strip += STRIP) { computeLogits(firstRow, strip, batchBase, thread); }
  workgroupBarrier();
  for (var i = thread; i < TILE * BATCH; i += WORKGROUP) {
    let row = batchBase + i / TILE;
    let token = firstRow + i % TILE;
    if (row < sweep.rows && token < piece.rows) {
      let at = row * piece.rows + token;
      candidates[at / 4u][at % 4u] = logits[i];
    }
  }
}`;

const { device, name } = await openDevice();
console.log(`${name}, V = ${vocabSize}, bf16`);
for (const hiddenSize of options.hidden.split(",").map(Number)) await measureHead(hiddenSize);
device.destroy();

async function measureHead(hiddenSize) {
  const shape = { dtype: "bf16", vocabSize, hiddenSize, groupSize: 0 };
  const layout = layOutHead(shape);
  const bytes = vocabSize * layout.rowBytes;
  const weights = await fillWeights(device, bytes);
  const read = await bestRead(weights, bytes);
  const copy = await copyTime(weights, bytes);
  const rate = (milliseconds) => `${(bytes / milliseconds / 1e6).toFixed(0)} GB/s`;
  console.log(`\nD = ${hiddenSize}: ${(bytes / 1e6).toFixed(0)} MB of weights`);
  console.log(`  read        ${read.toFixed(4)} ms  ${rate(read)}`);
  console.log(`  copy kernel ${copy.kernel.toFixed(4)} ms  ${rate(copy.kernel / 2)} read and written; copyBufferToBuffer ${copy.api.toFixed(4)} ms  ${rate(copy.api / 2)}`);
  const sampler = await createSampler({ weights: { buffer: weights, dtype: "bf16", shape: [vocabSize, hiddenSize] }, backend: "webgpu", device });
  for (const rows of options.batch.split(",").map(Number)) {
    const { logits, ours } = await kernelTimes(shape, layout, weights, rows);
    const call = await callTime(sampler, hiddenSize, rows);
    console.log(
      `  B = ${String(rows).padStart(2)}  ours ${ours.toFixed(4)} ms  ${(read / ours).toFixed(2)} of read, ${(copy.kernel / 2 / ours).toFixed(2)} of copy (${rate(ours)})` +
        `  logits ${logits.toFixed(4)} ms, sampling +${((ours / logits - 1) * 100).toFixed(1)} %  call ${call.toFixed(3)} ms, +${(call - ours).toFixed(3)}`,
    );
  }
  sampler.dispose();
  weights.destroy();
}

/** The fastest of a few ways to read a buffer once. */
async function bestRead(weights, bytes) {
  const sink = device.createBuffer({ size: 16, usage: STORAGE });
  const times = [];
  for (const groups of [1056, 4224, 16896]) {
    const stride = groups * 256;
    const pipeline = await compile(
      device,
      `@group(0) @binding(0) var<storage, read> source: array<vec4u>;
       @group(0) @binding(1) var<storage, read_write> sink: array<u32>;
       @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {
         var all = vec4u();
         let count = ${bytes / 16}u;
         var i = id.x;
         for (; i + ${3 * stride}u < count; i += ${4 * stride}u) {
           let a = source[i]; let b = source[i + ${stride}u]; let c = source[i + ${2 * stride}u]; let d = source[i + ${3 * stride}u];
           all ^= a ^ b ^ c ^ d;
         }
         for (; i < count; i += ${stride}u) { all ^= source[i]; }
         if (all.x == 1u && all.y == 2u && all.z == 3u) { sink[0] = all.w; }
       }`,
    );
    const group = bindGroup(device, pipeline, 0, { 0: weights, 1: sink });
    times.push(await gpuTime(device, inOnePass((pass) => dispatch(pass, pipeline, [group], [groups])), busy));
  }
  return Math.min(...times);
}

async function copyTime(weights, bytes) {
  const target = device.createBuffer({ size: bytes, usage: STORAGE | COPY_DST | COPY_SRC });
  const groups = 16896;
  const pipeline = await compile(
    device,
    `@group(0) @binding(0) var<storage, read> source: array<vec4u>;
     @group(0) @binding(1) var<storage, read_write> destination: array<vec4u>;
     @compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {
       for (var i = id.x; i < ${bytes / 16}u; i += ${groups * 256}u) { destination[i] = source[i]; }
     }`,
  );
  const group = bindGroup(device, pipeline, 0, { 0: weights, 1: target });
  const kernel = await gpuTime(device, inOnePass((pass) => dispatch(pass, pipeline, [group], [groups])), busy);
  const api = await gpuTime(
    device,
    (encoder, repetitions, { querySet, beginningOfPassWriteIndex, endOfPassWriteIndex }) => {
      encoder.beginComputePass({ timestampWrites: { querySet, beginningOfPassWriteIndex } }).end();
      for (let i = 0; i < repetitions; i++) encoder.copyBufferToBuffer(weights, 0, target, 0, bytes);
      encoder.beginComputePass({ timestampWrites: { querySet, endOfPassWriteIndex } }).end();
    },
    busy,
  );
  target.destroy();
  return { kernel, api };
}

function dispatch(pass, pipeline, groups, grid) {
  pass.setPipeline(pipeline);
  groups.forEach((group, index) => pass.setBindGroup(index, group));
  pass.dispatchWorkgroups(...grid);
}

/** The backend's own shaders on the buffer as it is: in which order the columns lie makes no difference to the time. */
async function kernelTimes(shape, { unitBlocks, units }, weights, rows) {
  const division = divisionFor(rows, false);
  const tile = { ...division, step: stepOf(division, units), opaqueSums: false };
  const code = sampleTileShader(shape.dtype, unitBlocks, tile);
  const tiles = Math.ceil(shape.vocabSize / tileTokens(division));
  const width = Math.min(tiles, 65535);
  const grid = [Math.ceil(rows / batchRows(division)), width, Math.ceil(tiles / width)];
  const hidden = device.createBuffer({ size: rows * units * unitBlocks * 128, usage: STORAGE | COPY_DST });
  device.queue.writeBuffer(hidden, 0, hiddenStatesOf(rows, (hidden.size / 4 / rows) | 0));
  const packed = encodeRequest(Array.from({ length: rows }, (_, row) => ({ seed: 7n, sequence: row, position: 0, tau: 1 << 24 })), 1);
  const request = device.createBuffer({ size: packed.byteLength, usage: STORAGE | COPY_DST });
  device.queue.writeBuffer(request, 0, packed);
  const candidates = device.createBuffer({ size: Math.max(tiles * rows * 32, shape.vocabSize * rows * 4), usage: STORAGE });
  const decisions = device.createBuffer({ size: rows * 32, usage: STORAGE });
  const piece = uniform(device, 0, shape.vocabSize, 0, 0, units, 1, units, width);
  const sweep = uniform(device, 0, rows, 0, 1, tiles);
  const reduction = uniform(device, 0, rows, tiles, rows);

  const tilePipeline = await compile(device, code, "sampleTile");
  const tileGroups = [bindGroup(device, tilePipeline, 0, { 0: piece, 1: weights }), bindGroup(device, tilePipeline, 1, { 0: sweep, 1: hidden, 2: request, 3: candidates })];
  const reducePipeline = await compile(device, reduceTilesShader());
  const reduceGroup = bindGroup(device, reducePipeline, 0, { 0: reduction, 1: candidates, 2: decisions });
  const ours = await gpuTime(
    device,
    inOnePass((pass) => {
      dispatch(pass, tilePipeline, tileGroups, grid);
      dispatch(pass, reducePipeline, [reduceGroup], [rows]);
    }),
    busy,
  );

  const logitsPipeline = await compile(device, `${code}\n${LOGITS_ONLY}`, "logitsOnly");
  const logitsGroups = [bindGroup(device, logitsPipeline, 0, { 0: piece, 1: weights }), bindGroup(device, logitsPipeline, 1, { 0: sweep, 1: hidden, 3: candidates })];
  const logits = await gpuTime(device, inOnePass((pass) => dispatch(pass, logitsPipeline, logitsGroups, grid)), busy);
  for (const buffer of [hidden, request, candidates, decisions, piece, sweep, reduction]) buffer.destroy();
  return { ours, logits };
}

/** Median wall time of a call, hidden states in memory, tokens in memory. */
async function callTime(sampler, hiddenSize, rows) {
  const hiddenStates = hiddenStatesOf(rows, hiddenSize);
  const times = [];
  for (let call = 0; call < Number(options.calls) + 20; call++) {
    const started = performance.now();
    await sampler.sample({ hiddenStates, seed: 7n, position: call });
    if (call >= 20) times.push(performance.now() - started);
  }
  return median(times);
}

function hiddenStatesOf(rows, hiddenSize) {
  return Float32Array.from({ length: rows * hiddenSize }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 9) / 2 ** 23 - 0.5) * 4);
}
