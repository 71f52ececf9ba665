/** Memory: a head is held once, and nothing else grows with the vocabulary. Each measurement is a process of its own. */
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const MIB = 2 ** 20;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a module that prints one JSON line, against the built package. */
function runModule(source: string): any {
  const output = execFileSync(process.execPath, ["--expose-gc", "--input-type=module", "--eval", source], { cwd: root, encoding: "utf8", maxBuffer: MIB });
  return JSON.parse(output);
}

/** A bf16 head file of zeros, but for the first weight of some rows: what is measured is memory, not the file system. */
function writeHead(vocabSize: number, hiddenSize: number, ones: readonly [row: number, bf16: number][]): { file: string; tensorBytes: number; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), "flash-sampling-"));
  const file = join(directory, "head.safetensors");
  const tensorBytes = vocabSize * hiddenSize * 2;
  const header = Buffer.from(JSON.stringify({ "lm_head.weight": { dtype: "BF16", shape: [vocabSize, hiddenSize], data_offsets: [0, tensorBytes] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const handle = openSync(file, "w");
  writeSync(handle, Buffer.concat([length, header]));
  ftruncateSync(handle, 8 + header.length + tensorBytes);
  for (const [row, bf16] of ones) writeSync(handle, Uint16Array.of(bf16), 0, 2, 8 + header.length + row * hiddenSize * 2);
  closeSync(handle);
  return { file, tensorBytes, remove: () => rmSync(directory, { recursive: true }) };
}

describe.skipIf(process.platform !== "linux")("a head of 1.2 GB (the peak is read from /proc, which only Linux has)", () => {
  const [vocabSize, hiddenSize] = [151_936, 4096];
  let head: ReturnType<typeof writeHead>;
  beforeAll(() => {
    head = writeHead(vocabSize, hiddenSize, [[77_777, 0x3f80]]);
  });
  afterAll(() => head.remove());

  it("loads with a peak of at most its bytes + 200 MB", { timeout: 600_000 }, () => {
    const { peak, token } = runModule(`
      import { readFileSync } from "node:fs";
      import { createSampler } from "flash-sampling";
      const sampler = await createSampler({ weights: ${JSON.stringify(head.file)} });
      const { tokens } = await sampler.sample({ hiddenStates: new Float32Array(${hiddenSize}).fill(1), seed: 1n, temperature: 0 });
      const peak = Number(readFileSync("/proc/self/status", "utf8").match(/VmHWM:\\s+(\\d+) kB/)[1]) * 1024;
      console.log(JSON.stringify({ peak, token: tokens[0] }));
    `);
    const { tensorBytes } = head;
    console.log(`peak ${(peak / MIB).toFixed(1)} MiB, tensor ${(tensorBytes / MIB).toFixed(1)} MiB, difference ${((peak - tensorBytes) / 1e6).toFixed(1)} MB`);
    expect(token).toBe(77_777);
    expect(peak).toBeGreaterThan(tensorBytes);
    expect(peak).toBeLessThanOrEqual(tensorBytes + 200e6);
  });
});

describe("a head of 4.5 GB", () => {
  it("lies in two memories and is decided as one", { timeout: 600_000 }, () => {
    const [vocabSize, hiddenSize] = [1_100_000, 2048];
    const head = writeHead(vocabSize, hiddenSize, [[5, 0x3f00], [1_000_000, 0x3f40], [vocabSize - 1, 0x3f80]]);
    try {
      const details = runModule(`
        import { createSampler } from "flash-sampling";
        const sampler = await createSampler({ weights: ${JSON.stringify(head.file)} });
        const { details } = await sampler.sample({ hiddenStates: new Float32Array(${hiddenSize}).fill(1), seed: 1n, temperature: 0, details: true });
        console.log(JSON.stringify(details, (_, value) => (typeof value === "bigint" ? String(value) : value)));
      `);
      expect(details).toEqual([{ token: vocabSize - 1, scoreBits: String(1n << 32n), score: 1, runnerUp: 1_000_000, margin: 0.25, status: "ok" }]);
    } finally {
      head.remove();
    }
  });
});

describe("memory while sampling 64 rows", () => {
  const measure = (vocabSize: number, hiddenSize: number): { memory: number; arrayBuffers: number } =>
    runModule(`
      const memories = [];
      const { Memory } = WebAssembly;
      WebAssembly.Memory = function (descriptor) { const memory = new Memory(descriptor); memories.push(memory); return memory; };
      WebAssembly.Memory.prototype = Memory.prototype;
      const { createSampler } = await import("flash-sampling");
      const [vocabSize, hiddenSize] = [${vocabSize}, ${hiddenSize}];
      const sampler = await createSampler({ weights: { data: new Uint16Array(vocabSize * hiddenSize).fill(0x3c00), dtype: "bf16", shape: [vocabSize, hiddenSize] } });
      const hiddenStates = new Float32Array(64 * hiddenSize).fill(1);
      let largest = 0;
      for (let position = 0; position < 9; position++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve)); // what the collector found is given back in the next turn
        const before = process.memoryUsage().arrayBuffers;
        await sampler.sample({ hiddenStates, seed: 1n, position, details: true });
        if (position > 0) largest = Math.max(largest, process.memoryUsage().arrayBuffers - before);
      }
      const memory = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) - vocabSize * hiddenSize * 2;
      console.log(JSON.stringify({ memory, arrayBuffers: largest, memories: memories.length }));
    `);

  it("is the same at V = 32768 and V = 151936", { timeout: 600_000 }, () => {
    const [small, large] = [measure(32_768, 1024), measure(151_936, 1024)];
    console.log(`beyond the weights, wasm memory: ${small.memory} and ${large.memory} bytes; array buffers a call: ${small.arrayBuffers} and ${large.arrayBuffers} bytes`);
    expect(small.arrayBuffers).toBeGreaterThan(0);
    expect(large).toEqual(small);
  });
});
