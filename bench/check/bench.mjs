/**
 * What checking costs beside sampling, on one thread, with the WebAssembly backend:
 *   node bench/check/bench.mjs [--vocab 151936] [--hidden 4096] [--rows 256] [--wrong 8] [--rounds 3] [--clock wall|cpu]
 * sample: tokens from a head in a .npy file, made in a temporary folder. check: the same file, with these tokens; and with some of them wrong. All in
 * turn, every second round backwards; medians of the times, and of their ratios to the sampling of the same round. "after loading": from the moment
 * when all weights are in place. The memory is that of the whole process at its highest.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { buildWasm } from "../../scripts/build-wasm.mjs";
import { wgslForEsbuild } from "../../scripts/wgsl.mjs";

const { values: options } = parseArgs({
  options: {
    vocab: { type: "string", default: "151936" },
    hidden: { type: "string", default: "4096" },
    rows: { type: "string", default: "256" },
    wrong: { type: "string", default: "8" },
    rounds: { type: "string", default: "3" },
    clock: { type: "string", default: "wall" },
  },
});
const [vocabSize, hiddenSize, rows, wrong, rounds] = ["vocab", "hidden", "rows", "wrong", "rounds"].map((name) => Number(options[name]));
const SEED = 42n;

const folder = mkdtempSync(join(tmpdir(), "flash-sampling-bench-"));
try {
  await measure();
} finally {
  rmSync(folder, { recursive: true });
}

async function measure() {
  const { check, createSampler, filePlatform, usePlatform } = await bundle();
  usePlatform(filePlatform("bench", pathToFileURL(`${await buildWasm()}/`)));
  const weights = writeHead();
  const hiddenStates = Float32Array.from({ length: rows * hiddenSize }, (_, index) => (((index * 40503) & 255) - 127.5) / 128);
  const common = { weights, hiddenStates, seed: SEED, backend: "wasm" };
  let tokens = null;
  const contenders = {
    async sample(onProgress) {
      const sampler = await createSampler({ weights, backend: "wasm", onProgress });
      ({ tokens } = await sampler.sample({ hiddenStates, seed: SEED }));
      sampler.dispose();
    },
    async check(onProgress) {
      expectCounts(await check({ ...common, tokens, onProgress }), 0);
    },
    async [`check, ${wrong} rows wrong`](onProgress) {
      const changed = tokens.map((token, row) => (row % Math.floor(rows / wrong) === 0 && row < wrong * Math.floor(rows / wrong) ? (token + 1) % vocabSize : token));
      expectCounts(await check({ ...common, tokens: changed, onProgress }), wrong);
    },
  };
  const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  await contenders.sample(() => {}); // what is checked even where checks come first
  for (let round = 0; round < rounds; round++) {
    const order = Object.keys(contenders);
    for (const name of round % 2 === 0 ? order : order.reverse()) times[name].push(await timed(contenders[name]));
  }
  report(times);
}

/** The sources as JavaScript: Node 20 does not read TypeScript. */
async function bundle() {
  const contents = `export { check } from "./src/verify/check.ts"; export { createSampler } from "./src/index.ts";
    export { usePlatform } from "./src/core-module.ts"; export { filePlatform } from "./src/platform/files.ts";`;
  const resolveDir = fileURLToPath(new URL("../..", import.meta.url));
  const outfile = join(folder, "check.mjs");
  await build({ stdin: { contents, resolveDir }, bundle: true, format: "esm", platform: "node", external: ["webgpu", "koffi"], plugins: [wgslForEsbuild], outfile, logLevel: "error" });
  return import(outfile);
}

/** A .npy file of bf16 weights of either sign, 1/64 and up to twice that: the exponent is fixed, the rest is hashed. */
function writeHead() {
  const path = join(folder, "head.npy");
  const dict = `{'descr': '|V2', 'fortran_order': False, 'shape': (${vocabSize}, ${hiddenSize}), }`;
  const header = `${dict.padEnd(Math.ceil((11 + dict.length) / 64) * 64 - 11)}\n`;
  const file = openSync(path, "w");
  writeSync(file, Buffer.concat([Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]), Buffer.from(header, "latin1")]));
  const row = new Uint16Array(hiddenSize);
  let state = 1;
  for (let token = 0; token < vocabSize; token++) {
    for (let column = 0; column < hiddenSize; column++) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      row[column] = 0x3c80 | ((state >>> 16) & 0x807f);
    }
    writeSync(file, row);
  }
  closeSync(file);
  return path;
}

function expectCounts({ counts }, wrongCount) {
  if (counts.wrong !== wrongCount || counts.exact !== rows - wrongCount) throw new Error(`expected ${wrongCount} wrong of ${rows}, got ${JSON.stringify(counts)}`);
}

/** Milliseconds in all, and after loading. */
async function timed(run) {
  const start = now();
  let loaded = start;
  await run(({ bytes, totalBytes }) => {
    if (bytes === totalBytes) loaded = now();
  });
  const end = now();
  return { all: end - start, afterLoading: end - loaded };
}

function report(times) {
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  console.log(`bf16 V=${vocabSize} D=${hiddenSize} B=${rows}, node ${process.versions.node}, ${options.clock} clock, medians of ${rounds}`);
  for (const name of Object.keys(times)) {
    const parts = ["all", "afterLoading"].map((part) => {
      const seconds = `${(median(times[name].map((time) => time[part])) / 1000).toFixed(2)} s`;
      const ratio = median(times[name].map((time, round) => time[part] / times.sample[round][part]));
      return name === "sample" ? seconds : `${seconds} (${ratio.toFixed(3)} x)`;
    });
    console.log(`${name}: ${parts[0]}, after loading ${parts[1]}`);
  }
  console.log(`memory: ${(process.resourceUsage().maxRSS / 2 ** 20).toFixed(2)} GiB at its highest`);
}

/** Milliseconds of the wall, or of all processors used by this process: steadier where others work too. */
function now() {
  if (options.clock === "wall") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
