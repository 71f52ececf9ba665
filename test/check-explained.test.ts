/** check: which named error of logits would explain all wrong draws, what of an engine bears on the options asked for, and when an abort ends it. */
import { describe, expect, test } from "vitest";
import { sampleLogits } from "../src/index.js";
import { check, type CheckOptions } from "../src/verify/check.js";
import type { CheckDocument } from "../src/verify/documents.js";
import { engines, readEngineOptions } from "../src/verify/engines/list.js";
import { pseudoRandom } from "./head-fixtures.js";

const [V, ROWS] = [256, 400];
/** Far from 0, where bf16 is coarse. */
const LOGITS = Float32Array.from(pseudoRandom(11, ROWS * V), (value) => 20 + 3 * value);

/** To the nearest bf16, ties to even, by adding half of what is cut. */
function toBf16(values: Float32Array): Float32Array {
  const bits = new Uint32Array(values.slice().buffer).map((word) => (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000);
  return new Float32Array(bits.buffer);
}

const ASKED = { logits: LOGITS, vocabSize: V, seed: 5n } as const;
const drawn = async (logits: Float32Array, seed = 5n) => Array.from((await sampleLogits({ logits, vocabSize: V, seed })).tokens);

describe("logits that were rounded to bf16 before the draw", () => {
  test("explain all wrong draws of the rule: as asking with that error does", async () => {
    const tokens = await drawn(toBf16(LOGITS));
    const found = await check({ ...ASKED, tokens });
    expect(found.counts.wrong).toBeGreaterThan(0);
    expect(found).toMatchObject({ passed: false, explainedBy: "bf16", logitError: { name: "none" } });
    const again = await check({ ...ASKED, tokens, logitError: "bf16" });
    expect(again).toMatchObject({ passed: true, explainedBy: null, counts: { nearTie: found.counts.wrong, exact: found.counts.exact } });
  });

  test("do not once a draw of another kind is among them", async () => {
    const tokens = await drawn(toBf16(LOGITS));
    const seventh = LOGITS.subarray(7 * V, 8 * V);
    const far = tokens.map((token, row) => (row === 7 ? seventh.indexOf(seventh.reduce((a, b) => Math.min(a, b))) : token));
    expect((await check({ ...ASKED, tokens: far })).explainedBy).toBeNull();
    for (const impossible of [V, -1]) expect((await check({ ...ASKED, tokens: [impossible, ...tokens.slice(1)] })).explainedBy).toBeNull();
    expect((await check({ ...ASKED, tokens: await drawn(LOGITS, 6n) })).explainedBy).toBeNull();
    expect((await check({ ...ASKED, tokens: await drawn(LOGITS) })).explainedBy).toBeNull();
  });

  test("explain those of another engine", async () => {
    const engine = { engine: "sglang", ranks: 0 } as const;
    const expected = ({ draws }: CheckDocument) => draws.map((draw) => draw.expected);
    const some = { vocabSize: V, seed: 5n, tokens: new Array<number>(40).fill(0), ...engine };
    const tokens = expected(await check({ ...some, logits: toBf16(LOGITS).subarray(0, 40 * V) }));
    const asked = { ...some, logits: LOGITS.subarray(0, 40 * V), tokens };
    const found = await check(asked);
    expect(found.counts.wrong).toBeGreaterThan(0);
    expect(found.explainedBy).toBe("bf16");
    expect((await check({ ...asked, logitError: "bf16" })).passed).toBe(true);
    expect((await check({ ...asked, tokens: tokens.map((token) => (token + 1) % V) })).explainedBy).toBeNull();
  });

  test("of a head: the least error that explains them", async () => {
    const [rows, D] = [64, 32];
    const weights = { data: Float32Array.from(pseudoRandom(12, V * D)), dtype: "f32", shape: [V, D] } as const;
    const hiddenStates = Float32Array.from(pseudoRandom(13, rows * D), (value) => 3 * value);
    const exact = Float32Array.from({ length: rows * V }, (_, at) => {
      const [row, token] = [Math.floor(at / V), at % V];
      return Array.from({ length: D }, (_, column) => weights.data[token * D + column]! * hiddenStates[row * D + column]!).reduce((a, b) => a + b);
    });
    const tokens = Array.from((await sampleLogits({ logits: toBf16(exact), vocabSize: V, seed: 9n, numSamples: 8 })).tokens);
    const found = await check({ weights, hiddenStates, tokens, seed: 9n, numSamples: 8 });
    expect(found.counts.wrong).toBeGreaterThan(0);
    expect(found).toMatchObject({ explainedBy: "bf16", logitError: { name: "f32" } });
  });
});

describe("what is not proven of an engine", () => {
  const unproven = async (engine: string, options: readonly string[] = [], more: Partial<CheckOptions> = {}) =>
    (await check({ logits: LOGITS.subarray(0, V), tokens: [0], seed: 1n, engine, engineOptions: options, ...more })).engine.unproven;

  test("is told where it bears on the options that were asked for", async () => {
    expect((await unproven("jax")).join()).toMatch(/^TPUs/);
    expect(await unproven("jax")).toHaveLength(1);
    expect((await unproven("jax", ["mode=high"])).join()).toContain('mode "high" of earlier versions');
    expect(await unproven("flashinfer")).toEqual([]);
    expect(await unproven("flashinfer", ["offset=4"])).toEqual([expect.stringContaining("offsets other than 0")]);
    expect(await unproven("flashinfer", [], { position: 3 })).toEqual([expect.stringContaining("offsets other than 0")]);
    expect(await unproven("flashinfer", [], { numSamples: 2, tokens: [0, 0] })).toEqual([expect.stringContaining("several samples a row")]);
    expect(await unproven("flashinfer", [], { logits: LOGITS.subarray(0, 6) })).toEqual([expect.stringContaining("4 does not divide")]);
    const rows = (count: number) => ({ logits: LOGITS.subarray(0, count * V), tokens: new Array<number>(count).fill(0) });
    expect(await unproven("flashsampling", [], rows(65))).toHaveLength(1);
    expect(await unproven("flashsampling", ["block-v=256"], rows(65))).toEqual([]);
    expect(await unproven("flashsampling", [], rows(64))).toEqual([]);
  });

  test("is some of all that the engine names", () => {
    for (const engine of engines) {
      const told = engine.unprovenIn?.({ rows: 100, numSamples: 2, vocabSize: 6, positions: [1] }, readEngineOptions(engine, []).values) ?? [];
      expect(engine.unproven).toEqual(expect.arrayContaining([...told]));
    }
  });
});

describe("an abort, whatever its reason", () => {
  const head = { weights: { data: Float32Array.of(1, 2, 3, 4), dtype: "f32", shape: [2, 2] }, hiddenStates: Float32Array.of(1, 1), tokens: [1], seed: 1n } as const;
  const asked: Record<string, CheckOptions> = {
    "given logits": { logits: LOGITS, vocabSize: V, tokens: new Array<number>(ROWS).fill(0), seed: 1n },
    "given logits of another engine": { logits: LOGITS, vocabSize: V, tokens: new Array<number>(ROWS).fill(0), seed: 1n, engine: "flashinfer" },
    "a head": head,
    "a head of another engine": { ...head, engine: "flashinfer" },
  };

  test.each(Object.entries(asked))("before the start: %s", async (_, options) => {
    for (const reason of [new Error("enough"), "stop"]) await expect(check({ ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test.each(Object.entries(asked))("under way: %s", async (_, options) => {
    const controller = new AbortController();
    const checked = check({ ...options, signal: controller.signal });
    controller.abort("stop");
    await expect(checked).rejects.toBe("stop");
  });

  test("what is wrong with the options comes first", async () => {
    await expect(check({ logits: [1], tokens: [], seed: 1n, signal: AbortSignal.abort("stop") } as never)).rejects.toThrow('"tokens" expected 1 to');
  });
});
