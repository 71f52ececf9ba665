/**
 * The WebAssembly kernels of all three builds: the twins against known answers, the backend against the oracle on shapes
 * around every block size, and what only this backend does (several memories, padded rows, passes over rows and draws).
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { DTYPE_BYTES, type Backend, type Candidates, type Dtype } from "../src/backend.js";
import { createReferenceBackend } from "../src/backends/reference.js";
import { AREA_BYTES, layOut } from "../src/backends/wasm-core.js";
import { f32BitsToF16, f32BitsToBf16, bitsFromF32, f32FromBits } from "../src/spec/float.js";
import { roundHidden } from "../src/spec/logit.js";
import { encodeRequest, type RowRequest } from "../src/spec/request.js";
import { tauOf } from "../src/spec/score.js";
import { Inputs } from "./problems.js";
import { unavailable } from "./require.js";
import { backendOf, builds, canonicalise, makeRequest, modules, sampleOn, type HeadInput } from "./wasm-heads.js";

const DTYPES: readonly Dtype[] = ["bf16", "f16", "f32", "int8"];
const SIZES = [1, 2, 3, 31, 32, 33, 127, 129, 999];

function makeHead(inputs: Inputs, dtype: Dtype, vocabSize: number, hiddenSize: number, groupSize = hiddenSize): HeadInput {
  const length = vocabSize * hiddenSize;
  const value = (): number => bitsFromF32(inputs.normal() * 0.1);
  // f16: one weight in eight is subnormal or zero.
  const f16 = (): number => (inputs.below(8) === 0 ? inputs.below(0x400) | (inputs.below(2) << 15) : f32BitsToF16(value()));
  const data =
    dtype === "int8" ? Int8Array.from({ length }, () => inputs.below(255) - 127)
    : dtype === "f32" ? Float32Array.from({ length }, () => f32FromBits(value()))
    : Uint16Array.from({ length }, () => (dtype === "f16" ? f16() : f32BitsToBf16(value())));
  const isInt8 = dtype === "int8";
  return {
    shape: { dtype, vocabSize, hiddenSize, groupSize: isInt8 ? groupSize : 0 },
    bytes: new Uint8Array(data.buffer),
    scales: isInt8 ? Float32Array.from({ length: (vocabSize * hiddenSize) / groupSize }, () => (1 + inputs.below(999)) / 65536) : null,
  };
}

function makeHidden(inputs: Inputs, dtype: Dtype, rows: number, hiddenSize: number): Float32Array {
  return Float32Array.from({ length: rows * hiddenSize }, () => roundHidden(dtype, inputs.normal()));
}

/** What the oracle decides, once for all builds, which are asked the same questions. */
const decided = new Map<string, Promise<Candidates>>();
function byOracle(question: string, decide: () => Promise<Candidates>): Promise<Candidates> {
  const decisions = decided.get(question) ?? decide();
  decided.set(question, decisions);
  return decisions;
}

const vectorFile = `${process.env["FLASH_SAMPLING_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url))}/vectors/sampling.json`;
function readVectors() {
  try {
    return JSON.parse(readFileSync(vectorFile, "utf8"));
  } catch {
    return null;
  }
}
const vectors = readVectors();
const lacksVectors = unavailable("shared", vectors === null ? `no ${vectorFile}` : null);

describe.each(builds)("%s", (build) => {
  const createBackend = (maxPages?: number): Backend => backendOf(build, maxPages);
  const reference = createReferenceBackend();

  describe.skipIf(lacksVectors)("known answers", () => {
    it("gamma26 and philox4x32", async () => {
      const memory = new WebAssembly.Memory({ initial: 1 });
      const core = (await WebAssembly.instantiate(modules.get(build)!, { env: { memory } })).exports as Record<string, (...values: number[]) => number>;
      const gammaOf = (high: number, low: number): number => core["gamma26"]!(high, low) >>> 0;
      for (const { hi, lo, gamma } of vectors.gamma26) expect(gammaOf(parseInt(hi, 16), parseInt(lo, 16))).toBe(parseInt(gamma, 16));
      const words = new Uint32Array(memory.buffer, 4096, 32);
      const gammas = (draw: { seed: string; sequence: number; position: number; sample: number }, group: number): number[] => {
        const key = BigInt(draw.seed);
        words.fill(0xdeadbeef);
        for (const purpose of [0, 1]) {
          const tag = draw.sample * 256 + purpose;
          core["philox4x32"]!(4096 + purpose * 64, group, draw.position, draw.sequence, tag, Number(key & 0xffffffffn), Number(key >> 32n));
        }
        return Array.from({ length: 16 }, (_, lane) => gammaOf(words[lane]!, words[lane + 16]!));
      };
      expect(vectors.noise.length).toBeGreaterThan(0);
      for (const known of vectors.noise) expect(gammas(known, known.token >>> 4)[known.token % 16]).toBe(parseInt(known.gamma, 16));
      let digest = 0;
      for (let group = 0; group < 100000 / 16; group++) {
        for (const gamma of gammas({ seed: "0", sequence: 0, position: 0, sample: 0 }, group)) digest = (Math.imul(digest, 0x01000193) ^ gamma) >>> 0;
      }
      expect(digest).toBe(parseInt(vectors.noiseDigest.digest, 16));
    });

    it("heads", async () => {
      expect(vectors.cases.length).toBeGreaterThan(0);
      for (const known of vectors.cases) {
        const words = (text: string): number[] => text.split(" ").map((word) => parseInt(word, 16));
        const bits = words(known.weightBits);
        const bytes = new Uint8Array((known.dtype === "f32" ? Uint32Array.from(bits) : Uint16Array.from(bits)).buffer);
        const head = { shape: { dtype: known.dtype, vocabSize: known.V, hiddenSize: known.D, groupSize: 0 }, bytes, scales: null };
        canonicalise(head);
        const hidden = Float32Array.from(words(known.hiddenBits), (word) => roundHidden(known.dtype, f32FromBits(word)));
        const rows = known.rows.map((_: unknown, row: number): RowRequest => ({
          seed: BigInt(known.seed),
          sequence: known.sequence === "row index" ? row : known.sequence,
          position: known.position,
          tau: known.tau,
          firstSample: known.sample,
        }));
        const got = await sampleOn(createBackend(), head, hidden, encodeRequest(rows, 1));
        expect(Array.from(got.token)).toEqual(known.rows.map((row: { token: number }) => row.token));
        expect(Array.from(got.runnerUp)).toEqual(known.rows.map((row: { runnerUp: number }) => row.runnerUp));
        expect(Array.from(got.score, (score) => BigInt.asUintN(64, score))).toEqual(known.rows.map((row: { scoreHex: string }) => BigInt(`0x${row.scoreHex}`)));
      }
    });

    it("given logits", async () => {
      expect(vectors.logits.length).toBeGreaterThan(0);
      for (const known of vectors.logits) {
        const logits = Float32Array.from(known.logitBits.split(" "), (word: string) => f32FromBits(parseInt(word, 16)));
        const row = { seed: BigInt(known.seed), sequence: known.sequence, position: known.position, tau: tauOf(known.temperature) };
        const got = await createBackend().sampleLogits({ logits, vocabSize: logits.length, request: encodeRequest([row], 1) });
        expect(got.token[0]).toBe(known.token);
        expect(got.score[0]).toBe(known.scoreHex === null ? 0n : BigInt.asIntN(64, BigInt(`0x${known.scoreHex}`)));
      }
    });
  });

  it.each(DTYPES)("decides %s heads of odd shapes as the oracle does", { timeout: 120_000 }, async (dtype) => {
    const inputs = new Inputs(DTYPES.indexOf(dtype));
    for (const vocabSize of SIZES) {
      for (const hiddenSize of SIZES) {
        const rows = 1 + ((vocabSize + hiddenSize) % 5);
        const head = makeHead(inputs, dtype, vocabSize, hiddenSize);
        const hidden = makeHidden(inputs, dtype, rows, hiddenSize);
        const request = makeRequest(inputs, rows, vocabSize > 200 ? 1 : 2);
        canonicalise(head);
        const question = `${dtype} V=${vocabSize} D=${hiddenSize} B=${rows}`;
        const expected = await byOracle(question, () => sampleOn(reference, head, hidden, request, 7, 1));
        expect(await sampleOn(createBackend(), head, hidden, request), question).toEqual(expected);
      }
    }
  });

  it.each(DTYPES)("decides %s batches of every size up to 19 as the oracle does", { timeout: 120_000 }, async (dtype) => {
    const inputs = new Inputs(100 + DTYPES.indexOf(dtype));
    const head = makeHead(inputs, dtype, 77, 160, 32);
    canonicalise(head);
    for (let rows = 1; rows <= 19; rows++) {
      const hidden = makeHidden(inputs, dtype, rows, 160);
      const request = makeRequest(inputs, rows, 1);
      const question = `${dtype} batch of ${rows}`;
      const expected = await byOracle(question, () => sampleOn(reference, head, hidden, request, 7, 1));
      expect(await sampleOn(createBackend(), head, hidden, request), question).toEqual(expected);
    }
  });

  it("multiplies the smallest and the largest f16 exactly", async () => {
    const inputs = new Inputs(6);
    for (const rows of [1, 2, 4, 7]) {
      const head = makeHead(inputs, "f16", 70, 95);
      const extremes = [0x7bff, 0xfbff, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8000, 0x3c00];
      new Uint16Array(head.bytes.buffer).forEach((_, index, bits) => (bits[index] = inputs.pick(extremes)));
      const hidden = Float32Array.from({ length: rows * 95 }, () => inputs.pick([65504, -65504, 2 ** -24, -(2 ** -24), 2 ** -14, 1, 0]));
      const request = makeRequest(inputs, rows, 1);
      const question = `extremes, B=${rows}`;
      const expected = await byOracle(question, () => sampleOn(reference, head, hidden, request, 7, 1));
      expect(await sampleOn(createBackend(), head, hidden, request), question).toEqual(expected);
    }
  });

  it("decides the same in one memory and in several", async () => {
    const inputs = new Inputs(7);
    for (const dtype of DTYPES) {
      const head = makeHead(inputs, dtype, 3000, 65);
      const hidden = makeHidden(inputs, dtype, 3, 65);
      const request = makeRequest(inputs, 3, 2);
      canonicalise(head);
      const whole = await sampleOn(createBackend(), head, hidden, request);
      expect(await sampleOn(createBackend(8), head, hidden, request)).toEqual(whole);
    }
    const head = makeHead(inputs, "bf16", 3000, 65);
    await expect(async () => createBackend(2).createHead(head.shape, null)).rejects.toThrow(RangeError);
  });

  it("takes no more memory for a larger vocabulary than its weights", () => {
    for (const dtype of DTYPES) {
      const groups = dtype === "int8" ? 2 : 0;
      const extra = [32768, 151936].map((vocabSize) => {
        const areas = layOut({ dtype, vocabSize, hiddenSize: 4096, groups });
        return areas.bytes - vocabSize * (4096 * DTYPE_BYTES[dtype] + groups * 4);
      });
      // Only the rounding of areas to pages may differ.
      expect(Math.abs(extra[1]! - extra[0]!)).toBeLessThan(2 * AREA_BYTES);
    }
  });

  it("decides the same in one pass and in several over rows and draws", async () => {
    const inputs = new Inputs(8);
    const head = makeHead(inputs, "bf16", 40, 33);
    canonicalise(head);
    for (const [rows, samples] of [[130, 1], [3, 2000], [2, 4500]] as const) {
      const hidden = makeHidden(inputs, "bf16", rows, 33);
      const request = makeRequest(inputs, rows, samples);
      const alone = encodeRequest([{ ...onlyRow(request, rows - 1), firstSample: onlyRow(request, rows - 1).firstSample! + samples - 1 }], 1);
      const whole = await sampleOn(createBackend(), head, hidden, request);
      const last = await sampleOn(reference, head, hidden.subarray((rows - 1) * 33), alone);
      expect(whole.token.at(-1)).toBe(last.token[0]);
      expect(whole.score.at(-1)).toBe(last.score[0]);
      expect(whole.runnerUp.at(-1)).toBe(last.runnerUp[0]);
    }
  });

  it("gives every logit the meaning the rule gives it", async () => {
    const inputs = new Inputs(9);
    const special = [-Infinity, -3e38, 3e38, -(2 ** 30), 2 ** 30, -0, 1e-45, -1e-20, 5];
    for (const vocabSize of [1, 2, 17, 64, 65, 999, 20000]) {
      const logits = Float32Array.from({ length: 4 * vocabSize }, () => (inputs.below(3) === 0 ? inputs.pick(special) : inputs.normal() * 8));
      logits.fill(-Infinity, 0, vocabSize);
      if (vocabSize > 2) logits[2] = -1e38; // one token left: no runner-up
      logits[4 * vocabSize - 1] = inputs.pick([NaN, Infinity]);
      const request = makeRequest(inputs, 4, 3);
      const batch = { logits, vocabSize, request };
      const question = `logits, V=${vocabSize}`;
      const expected = await byOracle(question, () => Promise.resolve(reference.sampleLogits(batch)));
      expect(await createBackend().sampleLogits(batch), question).toEqual(expected);
    }
  });
});

/** A row's request, read back from its record. */
function onlyRow(request: Uint32Array, row: number): RowRequest {
  const [low, high, sequence, position, tau, firstSample] = request.subarray(16 + row * 16, 32 + row * 16);
  return { seed: (BigInt(high!) << 32n) | BigInt(low!), sequence: sequence!, position: position!, tau: tau!, firstSample: firstSample! };
}
