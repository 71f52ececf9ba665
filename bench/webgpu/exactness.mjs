/**
 * Whether the GPU backends decide as the others do, on whatever GPU is here:
 *   node bench/webgpu/exactness.mjs [--problems 10000] [--first 0] [--processes 16] [--vocab 151936] [--hidden 4096] [--rows 64] [--stories FOLDER] [--backends webgpu,wasm]
 * problems: the seeded ones of the tests from number --first on, on --backends against the oracle, shared out over processes. head: one bf16 head of full size on the
 * first of --backends, its vocabulary in ranges over processes that run WebAssembly. stories: stories260K.bin and tok512.bin in FOLDER, on the first of --backends against
 * the oracle.
 * Every token, 64-bit score and runner-up is compared. Exit code 1 when one differs, 2 for an option that is no number.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle, modules, wholeNumber } from "../bundle.mjs";
import { weightBits } from "./weights.mjs";

const { values: options } = parseArgs({
  options: {
    problems: { type: "string", default: "10000" },
    first: { type: "string", default: "0" },
    processes: { type: "string", default: "16" },
    vocab: { type: "string", default: "151936" },
    hidden: { type: "string", default: "4096" },
    rows: { type: "string", default: "64" },
    stories: { type: "string" },
    backends: { type: "string", default: "webgpu" },
    part: { type: "string" },
    modules: { type: "string" },
    core: { type: "string" },
    index: { type: "string" },
  },
});
const [problems, first, rows] = ["problems", "first", "rows"].map((name) => wholeNumber(options, name));
const [processes, vocabSize, hiddenSize] = ["processes", "vocab", "hidden"].map((name) => wholeNumber(options, name, 1));

const MODULES = `
  import { usePlatform } from "./src/core-module.ts";
  import { filePlatform } from "./src/platform/files.ts";
  usePlatform(filePlatform("bench"));
  import { useGpuPlatform } from "./src/gpu-platform.ts";
  import { nodeGpu } from "./src/platform/node-gpu.ts";
  useGpuPlatform(nodeGpu);
  import { useCudaPlatform } from "./src/cuda-platform.ts";
  import { nodeCuda } from "./src/platform/node-cuda.ts";
  useCudaPlatform(nodeCuda());
  export { createSampler } from "./src/sampler.ts";
  export * from "./bench/webgpu/comparison.ts";
  export { WasmCore } from "./src/backends/wasm-core.ts";
  export { emptyCandidates, mergeCandidates } from "./src/shard/merge.ts";
  export { encodeRequest, decodeRequest } from "./src/spec/request.ts";
  export { prepareHiddenStates } from "./src/hidden.ts";
  export { f32BitsToBf16, bitsFromF32 } from "./src/spec/float.ts";
  export { readCheckpoint } from "./examples/stories/checkpoint.ts";
`;
const bundled = options.modules ?? (await bundle("exactness", MODULES));
const library = await modules(bundled);

if (options.part === undefined) await main();
else await part(options.part, Number(options.index));

async function main() {
  const core = options.core ?? `${await (await import("../../scripts/build-wasm.mjs")).buildWasm()}/core.wasm`;
  let wrong = 0;
  if (options.stories !== undefined) wrong += await compareStories(options.stories);
  if (rows > 0) wrong += await compareHead(core);
  if (problems > 0) wrong += await compareProblems(core);
  process.exitCode = wrong === 0 ? 0 : 1;
}

/** Runs this file once for each index and gathers what it sends. */
function everyPart(name, core) {
  const passed = Object.entries({ ...options, modules: bundled, core, part: name }).flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, value]));
  return Promise.all(
    Array.from({ length: processes }, (_, index) => {
      const child = fork(fileURLToPath(import.meta.url), [...passed, "--index", String(index)], { serialization: "advanced" });
      return new Promise((resolve, reject) => {
        child.on("message", resolve);
        child.on("exit", (code) => reject(new Error(`"${name}" expected an answer from process ${index}, got its end with code ${code}`)));
      });
    }),
  );
}

async function part(name, index) {
  const answer = name === "problems" ? await problemsOf(index) : await rangeOf(index);
  process.send(answer, () => process.exit());
}

async function compareProblems(core) {
  return library.reportProblems((await everyPart("problems", core)).flat(), options.backends);
}

async function problemsOf(index) {
  const compared = [];
  for (let number = first + index; number < first + problems; number += processes) {
    compared.push(await library.compareProblem(number, options.backends.split(",")));
  }
  return compared;
}

function headInputs() {
  const shape = { dtype: "bf16", vocabSize, hiddenSize, groupSize: 0 };
  const given = Float32Array.from({ length: rows * hiddenSize }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 9) / 2 ** 23 - 0.5) * 4);
  const requests = Array.from({ length: rows }, (_, row) => ({ seed: 0x0123456789abcdefn, sequence: row, position: 3, tau: 1 << 24 }));
  return { shape, given, hiddenStates: library.prepareHiddenStates(given, shape, 0.125).values, request: library.encodeRequest(requests, 2) };
}

async function compareHead(core) {
  const { given } = headInputs();
  const [backend] = options.backends.split(",");
  const sampler = await library.createSampler({ backend, ...(await headWeights(backend)) });
  const { details } = await sampler.sample({ hiddenStates: given, seed: 0x0123456789abcdefn, sequence: Array.from({ length: rows }, (_, row) => row), position: 3, numSamples: 2, details: true });
  const started = performance.now();
  const parts = await everyPart("head", core);
  const expected = parts.reduce(library.mergeCandidates);
  const wrong = details.filter(({ token, scoreBits, runnerUp }, draw) => token !== expected.token[draw] || scoreBits !== expected.score[draw] || runnerUp !== expected.runnerUp[draw]);
  const tokens = new Set(expected.token).size;
  console.log(`${vocabSize} x ${hiddenSize} bf16, ${rows} rows, 2 draws each, ${backend} against wasm in ${processes} processes (${((performance.now() - started) / 1000).toFixed(1)} s): ${wrong.length} of ${details.length} decisions differ, ${tokens} different tokens`);
  sampler.dispose();
  return wrong.length;
}

/** The head by weightBits: on WebGPU's device, else in memory. */
async function headWeights(backend) {
  const shape = [vocabSize, hiddenSize];
  if (backend === "webgpu") {
    const { fillWeights, openDevice } = await import("./gpu.mjs");
    const { device } = await openDevice();
    return { weights: { buffer: await fillWeights(device, vocabSize * hiddenSize * 2), dtype: "bf16", shape }, device };
  }
  const data = new Uint16Array(vocabSize * hiddenSize);
  for (let index = 0; index < data.length; index++) data[index] = weightBits(index);
  return { weights: { data, dtype: "bf16", shape } };
}

/** The decisions of WebAssembly on one range of the vocabulary. */
async function rangeOf(index) {
  const { hiddenStates, request } = headInputs();
  const size = Math.ceil(vocabSize / processes / 64) * 64;
  const firstToken = index * size;
  const count = Math.min(size, vocabSize - firstToken);
  const out = library.emptyCandidates(rows * 2);
  if (count <= 0) return out;
  const module = await WebAssembly.compile(readFileSync(options.core));
  const core = await library.WasmCore.create(module, { dtype: "bf16", firstToken, vocabSize: count, hiddenSize, groups: 0 });
  const weights = new Uint16Array(core.weights.buffer, core.weights.byteOffset, core.weights.byteLength / 2);
  const padded = weights.length / count;
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < hiddenSize; column++) weights[row * padded + column] = weightBits((firstToken + row) * hiddenSize + column);
  }
  core.finish();
  core.sampleHead(hiddenStates, library.decodeRequest(request), out);
  return out;
}

async function compareStories(folder) {
  const checkpoint = await library.readCheckpoint(`${folder}/stories260K.bin`);
  let wrong = 0;
  for (const dtype of library.STORY_DTYPES) wrong += library.reportStories(await library.compareStories(checkpoint, dtype, options.backends.split(",")[0]), ` on ${options.backends.split(",")[0]}`);
  return wrong;
}
