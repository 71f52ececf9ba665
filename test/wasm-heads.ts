/** What tests of the WebAssembly kernels share: the builds that run here, and heads brought to a backend as the loader does. */
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { DTYPE_BYTES, type Backend, type Candidates, type HeadShape } from "../src/backend.js";
import { createWasmBackend } from "../src/backends/wasm.js";
import { encodeRequest, type RowRequest } from "../src/spec/request.js";
import { tauOf } from "../src/spec/score.js";
import type { Inputs } from "./problems.js";
import { unavailable } from "./require.js";
// @ts-expect-error: a build script without types
import { buildWasm } from "../scripts/build-wasm.mjs";

const POISON = 0x5a;

const folder: string = await buildWasm();
const bytesOf = async (build: string): Promise<BufferSource> => new Uint8Array(await readFile(`${folder}/${build}.wasm`));
const isRelaxed = WebAssembly.validate(await bytesOf("core.relaxed"));
const lacksRelaxed = unavailable("wasm-relaxed", isRelaxed ? null : "this runtime has no WebAssembly relaxed SIMD");

/** The builds that this runtime can run. */
export const builds = ["core", "core.relaxed", "core.debug"].filter((build) => build !== "core.relaxed" || !lacksRelaxed);
export const modules = new Map<string, WebAssembly.Module>();
for (const build of builds) modules.set(build, await WebAssembly.compile(await bytesOf(build)));

export const backendOf = (build: string, maxPages?: number): Backend =>
  createWasmBackend({ name: build, module: modules.get(build)!, ...(maxPages !== undefined && { maxPages }) });

export interface HeadInput {
  readonly shape: HeadShape;
  /** Weights as stored, [V, D]. */
  readonly bytes: Uint8Array;
  readonly scales: Float32Array | null;
}

/** Requests with every kind of seed, and of temperature in turn. */
export function makeRequest(inputs: Inputs, rows: number, samples: number): Uint32Array {
  const temperatures = [1, 0, 0.3, 255.9, 1e-4];
  const request = Array.from({ length: rows }, (_, row): RowRequest => ({
    seed: (BigInt(inputs.word()) << 32n) | BigInt(inputs.word()),
    sequence: inputs.word(),
    position: inputs.word(),
    tau: tauOf(temperatures[row % temperatures.length]!),
    firstSample: inputs.below(1000),
  }));
  return encodeRequest(request, samples);
}

/** Samples, the head brought in blocks of rows, and expects the same each time. */
export async function sampleOn(backend: Backend, head: HeadInput, hiddenStates: Float32Array, request: Uint32Array, rowsABlock = 7, times = 2): Promise<Candidates> {
  const { vocabSize, hiddenSize, dtype } = head.shape;
  const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
  const sink = await backend.createHead(head.shape, head.scales);
  for (let row = 0; row < vocabSize; ) {
    const block = sink.reserve(row, Math.min(rowsABlock, vocabSize - row));
    expect(block.rowCount).toBeGreaterThan(0);
    block.bytes.fill(POISON);
    block.bytes.set(head.bytes.subarray(row * rowBytes, (row + block.rowCount) * rowBytes));
    const unused = new Float32Array(block.rowCount);
    await sink.commit(block, { norms: unused, largest: unused });
    row += block.rowCount;
  }
  const ready = await sink.finish();
  const first = await ready.sample({ hiddenStates, request });
  for (let call = 1; call < times; call++) expect(await ready.sample({ hiddenStates, request })).toEqual(first);
  ready.dispose();
  return first;
}

/** What the loader does before a backend sees the weights: below 2^-56 (bf16) or 2^-40 (f32) they read as zero. */
export function canonicalise({ shape: { dtype }, bytes }: HeadInput): void {
  if (dtype === "bf16") {
    const bits = new Uint16Array(bytes.buffer);
    bits.forEach((word, index) => ((word >>> 7) & 255) < 71 && (bits[index] = 0));
  } else if (dtype === "f32") {
    const bits = new Uint32Array(bytes.buffer);
    bits.forEach((word, index) => ((word >>> 23) & 255) < 87 && (bits[index] = 0));
  }
}
