/**
 * The WebAssembly backend on one thread, in one run with what bounds it and what it competes with:
 *   node bench/wasm/bench.mjs [--vocab 32768] [--hidden 2048] [--batch 1,4,16] [--dtype bf16] [--rounds 15] [--clock wall|cpu]
 * ours: the whole backend call, request in, tokens out. ceiling: reading the weights, the same memory, and nothing else.
 * noise: the share of a build without noise. Medians of interleaved rounds. onnxruntime needs `npm ci --prefix bench`.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import asc from "assemblyscript/asc";
import { build } from "esbuild";
import { buildWasm } from "../../scripts/build-wasm.mjs";
import { createMatMul } from "./onnx.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const { values: options } = parseArgs({
  options: {
    vocab: { type: "string", default: "32768" },
    hidden: { type: "string", default: "2048" },
    batch: { type: "string", default: "1,4,16" },
    dtype: { type: "string", default: "bf16" },
    rounds: { type: "string", default: "15" },
    clock: { type: "string", default: "wall" },
    "no-onnx": { type: "boolean", default: false },
  },
});
const vocabSize = Number(options.vocab);
const hiddenSize = Number(options.hidden);
const WEIGHT_BYTES = { bf16: 2, f16: 2, f32: 4, int8: 1 }[options.dtype];

// The ceiling must read the very memory the head lies in, which the backend rightly keeps to itself.
const memories = [];
WebAssembly.Memory = class extends WebAssembly.Memory {
  constructor(descriptor) {
    super(descriptor);
    memories.push(this);
  }
};

const folder = mkdtempSync(`${tmpdir()}/flash-sampling-bench-`);
const cores = await buildWasm();
const { createWasmBackend, encodeRequest } = await bundle();
const contenders = await createContenders();
for (const rows of options.batch.split(",").map(Number)) await measure(rows);
rmSync(folder, { recursive: true });

/** The backend and the request encoder as JavaScript: Node 20 does not read TypeScript. */
async function bundle() {
  const contents = `export * from "./src/backends/wasm.ts"; export * from "./src/spec/request.ts";`;
  const resolveDir = fileURLToPath(new URL("../..", import.meta.url));
  const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, format: "esm", platform: "node", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** name -> a function of (hiddenStates, request) that runs one call. */
async function createContenders() {
  const runs = new Map();
  const variants = ["core", "core.relaxed"].filter((name) => WebAssembly.validate(readFileSync(`${cores}/${name}.wasm`)));
  for (const name of [...variants, ...variants.map((variant) => `${variant}.stub`)]) {
    const head = await createHead(name);
    runs.set(name, ({ hiddenStates, request }) => head.sample({ hiddenStates, request }));
  }
  const read = await createReaders(memories[0]);
  for (const [name, run] of read) runs.set(name, run);
  if (!options["no-onnx"]) {
    for (const name of ["onnxruntime-web/wasm", "onnxruntime-node"]) {
      const run = await createMatMul(name, vocabSize, hiddenSize);
      if (run !== null) runs.set(name, ({ hiddenStates }) => run(hiddenStates));
    }
  }
  return runs;
}

async function createHead(name) {
  const module = new WebAssembly.Module(readFileSync(`${cores}/${name}.wasm`));
  const backend = createWasmBackend({ name, module });
  const groupSize = options.dtype === "int8" ? hiddenSize : 0;
  const scales = groupSize ? new Float32Array(vocabSize).fill(1 / 128) : null;
  const sink = await backend.createHead({ dtype: options.dtype, vocabSize, hiddenSize, groupSize }, scales);
  for (let row = 0; row < vocabSize; ) {
    const block = sink.reserve(row, Math.min(1024, vocabSize - row));
    fillWeights(block.bytes, row);
    await sink.commit(block, { norms: new Float32Array(0), largest: new Float32Array(0) });
    row += block.rowCount;
  }
  return sink.finish();
}

/** Finite weights of either sign, about 1/16, in any format: the exponent is fixed, the rest is hashed. */
function fillWeights(bytes, firstRow) {
  const upper = { bf16: 0x3d80, f16: 0x2c00, f32: 0x3d80, int8: 0 }[options.dtype];
  const words = WEIGHT_BYTES === 1 ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  let state = (firstRow + 1) * 2654435761;
  for (let index = 0; index < words.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    words[index] = WEIGHT_BYTES === 1 ? state >> 25 : upper | ((state >>> 16) & 0x807f);
  }
}

async function createReaders(memory) {
  const { error, stderr } = await asc.main([
    `${here}read.ts`, "--baseDir", "/", "-O3", "--noAssert", "--runtime", "stub", "--enable", "simd",
    "--importMemory", "--initialMemory", "1", "--outFile", `${folder}/read.wasm`,
  ]);
  if (error) throw new Error(stderr.toString());
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(`${folder}/read.wasm`)), { env: { memory } });
  const bytes = Math.floor((vocabSize * Math.ceil(hiddenSize / 32) * 32 * WEIGHT_BYTES) / 512) * 512;
  const start = Math.floor((memory.buffer.byteLength - bytes) / 4096) * 4096;
  return ["read1x4", "read1x8", "read4x4"].map((name) => [name, () => exports[name](start, bytes)]);
}

async function measure(rows) {
  const hiddenStates = Float32Array.from({ length: rows * hiddenSize }, (_, index) => (((index * 40503) & 255) - 127.5) / 128);
  const request = encodeRequest(
    Array.from({ length: rows }, (_, row) => ({ seed: 42n, sequence: row, position: 7, tau: 1 << 24 })),
    1,
  );
  const times = new Map([...contenders.keys()].map((name) => [name, []]));
  for (let round = -3; round < Number(options.rounds); round++) {
    for (const [name, run] of contenders) {
      const start = now();
      await run({ hiddenStates, request });
      if (round >= 0) times.get(name).push(now() - start);
    }
  }
  const medians = new Map([...times].map(([name, list]) => [name, list.sort((a, b) => a - b)[list.length >> 1]]));
  report(rows, medians);
}

function report(rows, medians) {
  const ceiling = Math.min(...[...medians].filter(([name]) => name.startsWith("read")).map(([, time]) => time));
  console.log(`\n${options.dtype} V=${vocabSize} D=${hiddenSize} B=${rows}, node ${process.versions.node}, ${options.clock} clock, ceiling ${ceiling.toFixed(2)} ms`);
  for (const name of ["core", "core.relaxed"]) {
    const time = medians.get(name);
    if (time === undefined) continue;
    const parts = [`${time.toFixed(2)} ms`, `${(ceiling / time).toFixed(2)} of the ceiling`];
    for (const [other, otherTime] of medians) if (other.startsWith("onnx")) parts.push(`${(otherTime / time).toFixed(2)} x ${other} (${otherTime.toFixed(2)} ms)`);
    parts.push(`noise ${((time / medians.get(`${name}.stub`) - 1) * 100).toFixed(1)} %`);
    console.log(`${name}: ${parts.join(", ")}`);
  }
}

/** Milliseconds of the wall, or of all processors used by this process: steadier where others work too. */
function now() {
  if (options.clock === "wall") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
