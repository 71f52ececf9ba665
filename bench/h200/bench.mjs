/**
 * The CUDA backend on Hopper, checked and timed beside its peers on one GPU:
 *   node bench/h200/bench.mjs [--out results.json] [--check] [--time] [--shapes 4096x151936,...] [--batches 1,4,...] [--no-peers]
 * --check: the screened kernels against the plain ones on a head of 151936 x 4096, bf16 and f16, and on heads and rows that are hard for
 * a screen. --time: graphs of 20 calls, hidden states on the device, ours and the peers' in turn. Both without options.
 * Exit code 1 when a decision differs. The results go to report.mjs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bundle, median, modules } from "../bundle.mjs";
import { Cuda } from "./cuda.mjs";
import { Peers } from "./peers.mjs";

const MODULES = `
  export { CudaDriver } from "./gpu/cuda/driver.ts";
  export { Sweeper } from "./gpu/cuda/sweeper.ts";
  export { ScreenedKernels } from "./gpu/cuda/screened.ts";
  export { structOf } from "./gpu/cuda/structs.ts";
  export { layOutHead } from "./gpu/layout.ts";
  export { encodeRequest } from "./src/spec/request.ts";
  export { tauOf } from "./src/spec/score.ts";
  export { prepareHiddenStates } from "./src/hidden.ts";
`;
const REPLAYS = 20;
const SAMPLES = 15;
const HIDDEN_INPUTS = 4;

const { values: options } = parseArgs({
  options: {
    out: { type: "string" },
    check: { type: "boolean" },
    time: { type: "boolean" },
    shapes: { type: "string", default: "1024x151936,4096x151936,8192x128256,2880x201088" },
    batches: { type: "string", default: "1,4,16,32,64,128,256" },
    "no-peers": { type: "boolean" },
    modules: { type: "string" },
    fatbin: { type: "string", default: new URL("../../build/flash-sampling.fatbin", import.meta.url).pathname },
    fill: { type: "string" },
  },
});
const library = await modules(options.modules ?? (await bundle("h200", MODULES)));
const driver = await library.CudaDriver.open(readFileSync(options.fatbin));
const cuda = new Cuda(driver, options.fill);
const both = !options.check && !options.time;
console.error(driver.description);
let wrong = 0;
if (options.check || both) wrong += await check();
if (options.time || both) await time();
process.exit(wrong === 0 ? 0 : 1);

/** A head as the screened kernels want it and, where asked for, one as the plain kernels do. */
function makeHead(dtype, vocabSize, hiddenSize, mode, withRows) {
  const shape = { dtype, vocabSize, hiddenSize, groupSize: 0 };
  const isF16 = dtype === "f16";
  const units = Math.ceil(hiddenSize / 128);
  const tiles = Math.ceil(vocabSize / 128);
  const allocate = (bytes, what) => {
    const address = driver.allocate(bytes, what);
    driver.clear(address, bytes);
    return address;
  };
  const rowMajor = driver.allocate(vocabSize * hiddenSize * 2, "rows");
  cuda.fill("fill_rows", rowMajor, vocabSize, hiddenSize, isF16, mode);
  const screened = { kind: "tiles", shape, units, tiles, weights: allocate(tiles * units * 128 * 256, "weights"), norms: allocate(tiles * 128, "norms") };
  const parameters = [library.structOf([rowMajor], []), ...[0, vocabSize, hiddenSize, units].map((word) => library.structOf([], [word])), library.structOf([screened.weights], []), library.structOf([screened.norms], [])];
  driver.launch(`arrange_${dtype}`, { grid: [Math.ceil(vocabSize / 4), 1], threads: 128, parameters });
  const rows = withRows ? { kind: "rows", shape, layout: library.layOutHead(shape), weights: allocate(Math.ceil(vocabSize / 32) * 32 * units * 256, "weights"), scales: 0n } : null;
  if (rows !== null) cuda.fill("fill_units", rows.weights, vocabSize, hiddenSize, isF16, mode);
  const free = async () => {
    await driver.finish();
    for (const address of [rowMajor, screened.weights, screened.norms, ...(rows === null ? [] : [rows.weights])]) driver.free(address);
  };
  return { screened, rows, free };
}

/** Uniform values within +-2; the first rows may be zero. */
function hiddenRows(rows, shape, salt, zeros = 0) {
  const given = Float32Array.from({ length: rows * shape.hiddenSize }, (_, i) => (i < zeros * shape.hiddenSize ? 0 : (Math.imul(i + 1 + salt * 0x632be5ab, 0x9e3779b1) >>> 9) / 2 ** 21 - 2));
  return library.prepareHiddenStates(given, shape, 0.125).values;
}

function requestOf(rows, seed, temperature, samples = 1) {
  const tau = library.tauOf(temperature);
  return library.encodeRequest(Array.from({ length: rows }, (_, row) => ({ seed: BigInt(seed) * 0x9e3779b97f4a7c15n & (2n ** 64n - 1n), sequence: row, position: seed, tau })), samples);
}

async function check() {
  const sweeper = new library.Sweeper(driver);
  let wrong = 0;
  const compare = async (name, dtype, vocabSize, hiddenSize, mode, rows, seeds, temperatures, { samples = 1, zeros = 0 } = {}) => {
    const head = makeHead(dtype, vocabSize, hiddenSize, mode, true);
    let [differences, draws] = [0, 0];
    for (let seed = 1; seed <= seeds; seed++) {
      const hidden = hiddenRows(rows, head.screened.shape, seed, zeros);
      for (const temperature of temperatures) {
        const request = requestOf(rows, seed, temperature, samples);
        const call = { given: { values: hidden, isRefused: [] }, request, tokensTo: null, stream: null };
        const [{ candidates: a }, { candidates: b }] = [await sweeper.sampleHead(() => head.screened, call), await sweeper.sampleHead(() => head.rows, call)];
        for (let draw = 0; draw < rows * samples; draw++, draws++) {
          if (a.token[draw] < 0 || ["token", "score", "runnerUp", "runnerUpScore"].some((field) => a[field][draw] !== b[field][draw])) differences++;
        }
      }
    }
    await head.free();
    console.log(`${name}: ${hiddenSize} x ${vocabSize} ${dtype}, ${rows} rows, ${seeds} seeds, T in {${temperatures.join(", ")}}: ${differences} of ${draws} draws differ between the screened and the plain kernels`);
    wrong += differences;
  };
  for (const dtype of ["bf16", "f16"]) {
    await compare("whole head", dtype, 151936, 4096, 0, 256, 8, [0, 0.7, 1]);
    await compare("outlier columns", dtype, 32000, 2048, 1, 64, 2, [0, 1]);
    await compare("rows one bit apart", dtype, 32000, 1000, 2, 64, 2, [0, 0.01, 1]);
    await compare("all rows the same", dtype, 16384, 256, 3, 16, 2, [0, 1e-4, 1]);
    await compare("many samples of a row", dtype, 50257, 768, 0, 3, 2, [1], { samples: 200 });
    await compare("rows of zeros", dtype, 151936, 4096, 0, 256, 1, [0, 0.7], { zeros: 200 });
    wrong += await countFallbacks(dtype, 200);
    for (const rows of [1, 3, 16, 32, 64, 128, 250]) await compare(`two tiles a block, ${rows} rows`, dtype, 32000, 1000, 0, rows, 4, [0, 0.7, 1, 5]);
    for (const rows of [1, 8, 9, 33, 65, 129, 255, 257, 600]) await compare(`${rows} rows`, dtype, 5003, 130, 0, rows, 1, [0.7]);
  }
  return wrong;
}

/** How many of the rows of zeros are decided at T = 0 from logits of theirs. */
async function countFallbacks(dtype, zeros) {
  const head = makeHead(dtype, 151936, 4096, 0, false);
  const calls = ours(new library.ScreenedKernels(driver), head, 256, { zeros, temperature: 0 });
  calls.call(0);
  const words = await calls.read();
  const graph = cuda.graph(() => calls.call(0));
  const ms = median(graph.time(SAMPLES));
  graph.destroy();
  calls.free();
  await head.free();
  const fallbacks = Array.from({ length: zeros }, (_, row) => words[8 * row + 7]).filter((count) => count !== 0).length;
  console.log(`rows of zeros at T = 0, ${dtype}: ${fallbacks} of ${zeros} were decided from logits; a call of 256 rows takes ${ms.toFixed(3)} ms`);
  return fallbacks;
}

/** Ours, with hidden states and requests on the device: the kernels of a call, as the backend launches them. */
function ours(kernels, head, batch, { zeros = 0, temperature = 1 } = {}) {
  const { shape } = head.screened;
  const inputs = Array.from({ length: HIDDEN_INPUTS }, (_, i) => {
    const hidden = hiddenRows(batch, shape, i, zeros);
    const request = requestOf(batch, i + 1, temperature);
    const [values, words] = [driver.allocate(hidden.byteLength, "hidden"), driver.allocate(request.byteLength, "request")];
    driver.upload(values, new Uint8Array(hidden.buffer));
    driver.upload(words, new Uint8Array(request.buffer));
    return { values, words };
  });
  const decisions = driver.allocate(batch * 32, "decisions");
  const block = { firstRow: 0, rows: batch, firstSample: 0, samples: 1 };
  const source = kernels.headSource(head.screened);
  const call = (i) => {
    const { values, words } = inputs[i % HIDDEN_INPUTS];
    source.decide({ block, request: words, values, decisions });
  };
  const read = async () => {
    const staging = driver.allocatePinned(batch * 32);
    driver.downloadPinned(staging.address, decisions, batch * 32);
    await driver.finish();
    const words = new Uint32Array(staging.bytes.slice(0));
    driver.freePinned(staging);
    return words;
  };
  const free = () => {
    for (const { values, words } of inputs) [values, words].forEach((address) => driver.free(address));
    driver.free(decisions);
  };
  return { call, read, free };
}

async function time() {
  const peers = options["no-peers"] ? null : new Peers();
  const rows = [];
  const copy = peers && (await peers.ask({ do: "copy", replays: REPLAYS, samples: SAMPLES }));
  const info = peers && (await peers.ask({ do: "info" }));
  for (const name of options.shapes.split(",")) {
    const [D, V] = name.split("x").map(Number);
    const head = makeHead("bf16", V, D, 0, false);
    const kernels = new library.ScreenedKernels(driver);
    for (const B of options.batches.split(",").map(Number)) rows.push(await timeRow(peers, kernels, head, { D, V, B, dtype: "bf16" }));
    await head.free();
  }
  await peers?.quit();
  if (options.out !== undefined) writeFileSync(options.out, JSON.stringify({ rows, copyGBs: copy?.GBs, info: { ...info?.info, driver: driver.description } }, null, 1));
}

async function timeRow(peers, kernels, head, problem) {
  const mine = ours(kernels, head, problem.B);
  const decided = [];
  for (let i = 0; i < HIDDEN_INPUTS; i++) {
    mine.call(i);
    const words = await mine.read();
    for (let draw = 0; draw < problem.B; draw++) decided.push(words[8 * draw + 7]);
  }
  decided.sort((a, b) => a - b);
  const graph = cuda.graph(() => {
    for (let i = 0; i < REPLAYS; i++) mine.call(i);
  });
  const large = problem.B === 1 || problem.B === 256;
  const [times, gemms] = [[], []];
  // In turn, twice: both on a GPU that is warm from the other.
  for (let round = 0; round < 2; round++) {
    times.push(...graph.time(SAMPLES).map((ms) => ms / REPLAYS));
    const gemm = peers && (await peers.ask({ do: "gemm", ...problem, replays: REPLAYS, samples: SAMPLES }));
    if (gemm) gemms.push(...gemm.all);
  }
  const row = { ...problem, ours: median(times), gemm: gemms.length > 0 ? median(gemms) : null };
  for (const peer of ["multinomial_compiled", "race_compiled"]) {
    const answer = peers && large && (await peers.ask({ do: peer, ...problem, replays: REPLAYS, samples: SAMPLES }));
    row[peer] = answer ? answer.ms : null;
  }
  row.contenders = { mean: decided.reduce((sum, count) => sum + count, 0) / decided.length, p99: decided[Math.floor(decided.length * 0.99)], worst: decided.filter((count) => count < problem.V).at(-1) ?? null };
  row.fallbacks = decided.filter((count) => count === problem.V).length;
  console.error(JSON.stringify(row));
  graph.destroy();
  mine.free();
  return row;
}
