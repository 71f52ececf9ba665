/**
 * The WebGPU backend through Dawn, in one run with what bounds it:
 *   node bench/webgpu/bench.mjs [--vocab 151936] [--hidden 4096,1024] [--batch 1,2,4,8,16] [--busy 20] [--calls 200]
 * read: reading the weights by the same API and nothing else. copy: a kernel that reads and writes as many bytes, and the API's own
 * buffer copy. logits: the same kernel without noise and decision. ours: the whole decision on the device. call: what a caller waits
 * for, hidden states in, tokens out, median of --calls calls, and the median GPU time of as many more that carry timestamps.
 * JavaScript: the same with logits read back and sampled there, as web pages do. bf16. --division '{"workgroup":128}' tries another
 * division of the work.
 */
import { parseArgs } from "node:util";
import { bundle, median, modules } from "../bundle.mjs";
import { bindGroup, compile, fillWeights, gpuTime, inOnePass, openDevice, STORAGE, COPY_DST, COPY_SRC, MAP_READ, QUERY_RESOLVE, uniform } from "./gpu.mjs";

const { values: options } = parseArgs({
  options: {
    vocab: { type: "string", default: "151936" },
    hidden: { type: "string", default: "4096,1024" },
    batch: { type: "string", default: "1,2,4,8,16" },
    busy: { type: "string", default: "20" },
    calls: { type: "string", default: "200" },
    modules: { type: "string" },
    division: { type: "string", default: "{}" },
  },
});
/** Calls before those that count. */
const WARM_CALLS = 20;
const vocabSize = Number(options.vocab);
const busy = Number(options.busy);
const batches = options.batch.split(",").map(Number);

const MODULES = `
  export { sampleTileShader, reduceTilesShader } from "./gpu/webgpu/shaders.ts";
  export { divisionFor, divisionOf, reduceThreads, tileTokens } from "./gpu/webgpu/tuning.ts";
  export { layOutHead } from "./gpu/layout.ts";
  export { encodeRequest } from "./src/spec/request.ts";
  export { contextOf } from "./gpu/webgpu/device.ts";
  export { Decider } from "./gpu/webgpu/decider.ts";
  export { createHeadSink } from "./gpu/webgpu/head.ts";
  export { SelfTest } from "./gpu/webgpu/self-test.ts";
  import { useGpuPlatform } from "./src/gpu-platform.ts";
  import { nodeGpu } from "./src/platform/node-gpu.ts";
  useGpuPlatform(nodeGpu);
  export { createSampler } from "./src/sampler.ts";
`;
const { sampleTileShader, reduceTilesShader, divisionFor, divisionOf, reduceThreads, tileTokens, layOutHead, encodeRequest, contextOf, Decider, createHeadSink, SelfTest, createSampler } = await modules(options.modules ?? (await bundle("webgpu", MODULES)));

/** The tile kernel up to its logits, which go to memory as [rows, V]. */
const LOGITS_ONLY = `
@compute @workgroup_size(WORKGROUP)
fn logitsOnly(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let firstRow = (workgroup.z * piece.gridWidth + workgroup.y) * TILE;
  if (firstRow >= piece.rows) { return; }
  let batchBase = workgroup.x * BATCH;
  computeLogits(firstRow, workgroup.x, thread);
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
const passClock = clockPasses(device);
console.log(`${name}, V = ${vocabSize}, bf16`);
for (const dtype of ["bf16", "f16", "f32", "int8"]) await measureSelfTest(dtype);
for (const hiddenSize of options.hidden.split(",").map(Number)) await measureHead(hiddenSize);
device.destroy();

/** What the first sampler of a dtype waits for: once with compiling, then by the same pipelines. */
async function measureSelfTest(dtype) {
  const context = contextOf(device);
  const decider = await Decider.create(context);
  const times = [];
  for (let run = 0; run < 4; run++) {
    const test = new SelfTest(context, (shape, scales) => createHeadSink(context, decider, shape, scales, false));
    const started = performance.now();
    await test.rungFor({ dtype, vocabSize: 1, hiddenSize: 128, groupSize: dtype === "int8" ? 128 : 0 });
    times.push(performance.now() - started);
  }
  console.log(`self-test of ${dtype}: ${times[0].toFixed(0)} ms with compiling, ${Math.min(...times.slice(1)).toFixed(0)} ms without`);
}

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
  // Kernels first: a GPU that idles between calls lowers its clocks for a while.
  const kernels = [];
  for (const rows of batches) {
    const times = await kernelTimes(shape, layout, weights, rows);
    kernels.push(times);
    const { ours, logits } = times;
    console.log(
      `  B = ${String(rows).padStart(2)}  ours ${ours.toFixed(4)} ms  ${(read / ours).toFixed(2)} of read, ${(copy.kernel / 2 / ours).toFixed(2)} of copy (${rate(ours)})` +
        `  logits ${logits.toFixed(4)} ms, sampling +${((ours / logits - 1) * 100).toFixed(1)} %`,
    );
  }
  for (const [index, rows] of batches.entries()) {
    const call = await callTime(sampler, hiddenSize, rows);
    const script = await kernels[index].readBack();
    console.log(
      `  B = ${String(rows).padStart(2)}  call ${call.wall.toFixed(3)} ms, ${(call.wall - call.gpu).toFixed(3)} beyond the GPU's ${call.gpu.toFixed(3)}` +
        `  logits read back and sampled in JavaScript ${script.toFixed(3)} ms, ${(script / call.wall).toFixed(1)}x`,
    );
    kernels[index].destroy();
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
async function kernelTimes(shape, { isNarrow, units, paddedSize }, weights, rows) {
  const division = { ...divisionOf(shape.dtype, divisionFor(rows, false)), ...JSON.parse(options.division) };
  const code = sampleTileShader(shape.dtype, isNarrow, { ...division, opaqueSums: false });
  const tiles = Math.ceil(shape.vocabSize / tileTokens(division));
  const width = Math.min(tiles, 65535);
  const grid = [Math.ceil(rows / division.batch), width, Math.ceil(tiles / width)];
  const hidden = device.createBuffer({ size: Math.ceil(rows / division.batch) * division.batch * paddedSize * 4, usage: STORAGE | COPY_DST });
  device.queue.writeBuffer(hidden, 0, hiddenStatesOf(1, hidden.size / 4));
  const packed = encodeRequest(Array.from({ length: rows }, (_, row) => ({ seed: 7n, sequence: row, position: 0, tau: 1 << 24 })), 1);
  const request = device.createBuffer({ size: packed.byteLength, usage: STORAGE | COPY_DST });
  device.queue.writeBuffer(request, 0, packed);
  const candidates = device.createBuffer({ size: Math.max(tiles * rows * 32, shape.vocabSize * rows * 4), usage: STORAGE | COPY_SRC });
  const decisions = device.createBuffer({ size: rows * 32, usage: STORAGE });
  const draws = device.createBuffer({ size: Math.max(16, rows * 12), usage: STORAGE });
  const piece = uniform(device, 0, shape.vocabSize, 0, 0, units, 1, units, width);
  const sweep = uniform(device, 0, rows, 0, 1, tiles);
  const reduction = uniform(device, 0, rows, tiles, rows);

  const tilePipeline = await compile(device, code, "sampleTile");
  const tileGroups = [bindGroup(device, tilePipeline, 0, { 0: piece, 1: weights }), bindGroup(device, tilePipeline, 1, { 0: sweep, 1: hidden, 2: request, 3: candidates, 4: draws })];
  const reducePipeline = await compile(device, reduceTilesShader(reduceThreads(false)));
  const reduceGroup = bindGroup(device, reducePipeline, 0, { 0: reduction, 1: candidates, 2: decisions, 3: draws });
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
  const encodeLogits = (pass) => dispatch(pass, logitsPipeline, logitsGroups, grid);
  const logits = await gpuTime(device, inOnePass(encodeLogits), busy);
  const logitsBytes = shape.vocabSize * rows * 4;
  const target = device.createBuffer({ size: logitsBytes, usage: MAP_READ | COPY_DST });
  return {
    ours,
    logits,
    readBack: () =>
      medianTime(async () => {
        device.queue.writeBuffer(hidden, 0, hiddenStatesOf(1, hidden.size / 4));
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        encodeLogits(pass);
        pass.end();
        encoder.copyBufferToBuffer(candidates, 0, target, 0, logitsBytes);
        device.queue.submit([encoder.finish()]);
        await target.mapAsync(1);
        sampleRows(new Float32Array(target.getMappedRange()), rows);
        target.unmap();
      }),
    destroy() {
      for (const buffer of [hidden, request, candidates, decisions, draws, piece, sweep, reduction, target]) buffer.destroy();
    },
  };
}

/** By the inverse of the cumulative softmax, as scripts on web pages do. */
function sampleRows(logits, rows) {
  const width = logits.length / rows;
  return Array.from({ length: rows }, (_, row) => {
    const mine = logits.subarray(row * width, (row + 1) * width);
    const most = mine.reduce((a, b) => Math.max(a, b), -Infinity);
    const weights = mine.map((logit) => Math.exp(logit - most));
    let left = Math.random() * weights.reduce((a, b) => a + b, 0);
    return weights.findIndex((weight) => (left -= weight) < 0);
  });
}

/** A call, hidden states in memory, tokens in memory: medians of its wall time, and of the GPU's time in it. */
async function callTime(sampler, hiddenSize, rows) {
  const hiddenStates = hiddenStatesOf(rows, hiddenSize);
  const sample = (position) => sampler.sample({ hiddenStates, seed: 7n, position });
  const wall = await medianTime(sample);
  const gpuTimes = [];
  passClock.start();
  await medianTime(async (position) => {
    await sample(position);
    gpuTimes.push(await passClock.read());
  });
  passClock.stop();
  return { wall, gpu: median(gpuTimes.slice(WARM_CALLS)) };
}

/** Median of --calls times, after a few that do not count. */
async function medianTime(work) {
  const times = [];
  for (let call = -WARM_CALLS; call < Number(options.calls); call++) {
    const started = performance.now();
    await work(call + WARM_CALLS);
    if (call >= 0) times.push(performance.now() - started);
  }
  return median(times);
}

/** A clock of the compute passes that others encode on the device: from the begin of the last one to its end. */
function clockPasses(device) {
  const querySet = device.createQuerySet({ type: "timestamp", count: 2 });
  const resolved = device.createBuffer({ size: 16, usage: QUERY_RESOLVE | COPY_SRC });
  const readable = device.createBuffer({ size: 16, usage: MAP_READ | COPY_DST });
  const createCommandEncoder = device.createCommandEncoder.bind(device);
  const clocked = (...descriptor) => {
    const encoder = createCommandEncoder(...descriptor);
    const beginComputePass = encoder.beginComputePass.bind(encoder);
    const finish = encoder.finish.bind(encoder);
    let isClocked = false;
    encoder.beginComputePass = (given) => {
      isClocked = true;
      return beginComputePass({ ...given, timestampWrites: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } });
    };
    encoder.finish = (...given) => {
      if (isClocked) {
        encoder.resolveQuerySet(querySet, 0, 2, resolved, 0);
        encoder.copyBufferToBuffer(resolved, 0, readable, 0, 16);
      }
      return finish(...given);
    };
    return encoder;
  };
  return {
    start: () => void (device.createCommandEncoder = clocked),
    stop: () => void (device.createCommandEncoder = createCommandEncoder),
    async read() {
      await readable.mapAsync(1);
      const [begin, end] = new BigUint64Array(readable.getMappedRange().slice(0));
      readable.unmap();
      return Number(end - begin) / 1e6;
    },
  };
}

function hiddenStatesOf(rows, hiddenSize) {
  return Float32Array.from({ length: rows * hiddenSize }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 9) / 2 ** 23 - 0.5) * 4);
}
