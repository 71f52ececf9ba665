/**
 * The replays against what the engines drew: each token must be proven, or a near-tie. Of large vocabularies a few draws are taken here;
 * test/slow/engines-tokens.test.ts takes all.
 */
import { describe, expect, it } from "vitest";
import { engineOf, readEngineOptions } from "../src/verify/engines/list.js";
import type { EngineDraw } from "../src/verify/engines/engine.js";
import { compare, lackOfShared, recordedDraws, replay, sharedDraws, type RecordedDraw, type Replayed } from "./engines-recordings.js";
import { unavailable } from "./require.js";

const lacksShared = unavailable("shared", lackOfShared);
const LARGE = 10_000;

const isLarge = ({ draw }: RecordedDraw): boolean => draw.vocabSize > LARGE;

function quick(draws: readonly RecordedDraw[]): RecordedDraw[] {
  const large = draws.filter(isLarge);
  return [...draws.filter((draw) => !isLarge(draw)), ...large.filter((_, index) => index % Math.ceil(large.length / 4) === 0)];
}

const replayed = (name: string, draws: readonly RecordedDraw[]): Replayed[] => draws.map((draw) => replay({ readEngineOptions }, engineOf(name), draw));

function expectReproduced(name: string, draws: readonly RecordedDraw[], provenShare: number): void {
  const result = compare(replayed(name, draws));
  console.log(`${name}: ${result.draws} draws, ${result.proven} proven, ${result.nearTies} near-ties, ${result.wrong} wrong`);
  expect(result).toMatchObject({ draws: draws.length, wrong: 0 });
  // Bounds that are far too wide would prove nothing.
  expect(result.proven).toBeGreaterThanOrEqual(provenShare * draws.length);
}

/** At temperature 0 vLLM's recorded logits have ties: no near-tie of ours otherwise. llama.cpp's near-ties are of equal logits behind top-k. */
const PROVEN_SHARE: Readonly<Record<string, number>> = { "vllm-mrv2": 0.96, "vllm-murmur3": 0.96, sglang: 1, torch: 1, jax: 1, llamacpp: 0.9, transformersjs: 1 };

describe("recorded tokens", () => {
  it.each(Object.entries(recordedDraws))("of %s", (name, draws) => {
    const taken = quick(draws());
    expect(taken.length).toBeGreaterThan(60);
    expect(taken.filter(isLarge).length).toBeGreaterThan(1);
    expectReproduced(name, taken, PROVEN_SHARE[name]!);
  });

  it("every near-tie of vLLM is one of temperature 0, where the first of two equal logits wins", () => {
    for (const name of ["vllm-mrv2", "vllm-murmur3"]) {
      const cold = recordedDraws[name]!().filter(({ draw }) => draw.temperature === 0);
      const warm = recordedDraws[name]!().filter((draw) => draw.draw.temperature > 0 && !isLarge(draw));
      expect(compare(replayed(name, warm)).nearTies).toBe(0);
      expect(cold.length).toBe(32);
      expect(replayed(name, cold).every(({ token, prediction }) => token === prediction.token)).toBe(true);
    }
  });
});

describe.skipIf(lacksShared)("tokens recorded before", () => {
  it.each([
    ["flashsampling", 208, 1],
    ["flashinfer", 14, 1],
    ["vllm-mrv2", 8, 0.75],
    ["torch", 6, 1],
    ["jax", 18, 1],
  ] as const)("of %s", (name, count, provenShare) => {
    const draws = sharedDraws[name]!();
    expect(draws.length).toBe(count);
    expectReproduced(name, draws, provenShare);
  });
});

describe("tokens of another place are not reproduced", () => {
  type Change = (recorded: RecordedDraw) => { readonly draw?: Partial<EngineDraw>; readonly options?: readonly string[] };

  function wrongAfter(name: string, all: readonly RecordedDraw[], change: Change): number {
    const draws = all.filter(({ draw }) => draw.vocabSize < LARGE && draw.temperature > 0).filter((_, index) => index % 5 === 0);
    const changed = draws.map((recorded) => {
      const { draw = {}, options = [] } = change(recorded);
      return { ...recorded, draw: { ...recorded.draw, ...draw }, options: [...recorded.options, ...options] };
    });
    return compare(replayed(name, changed)).wrong / draws.length;
  }

  it.each<[string, string, Change]>([
    ["vllm-mrv2", "seed's lowest bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 1n } })],
    ["vllm-mrv2", "seed's highest bit", ({ draw }) => ({ draw: { seed: BigInt.asUintN(64, draw.seed) ^ (1n << 63n) } })],
    ["vllm-mrv2", "position's upper half", ({ draw }) => ({ draw: { position: draw.position ^ (1n << 32n) } })],
    ["vllm-mrv2", "precision", ({ options }) => ({ options: [options[0] === "precision=f32" ? "precision=f64" : "precision=f32"] })],
    ["vllm-mrv2", "purpose", ({ options }) => ({ options: [options[1] === "draft=no" ? "draft=yes" : "draft=no"] })],
    ["vllm-murmur3", "seed's lowest bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 1n } })],
    ["vllm-murmur3", "seed's highest bit", ({ draw }) => ({ draw: { seed: BigInt.asUintN(64, draw.seed) ^ (1n << 63n) } })],
    ["vllm-murmur3", "position", ({ draw }) => ({ draw: { position: draw.position ^ 1n } })],
    ["vllm-murmur3", "precision", ({ options }) => ({ options: [options[0] === "precision=f32" ? "precision=f64" : "precision=f32"] })],
    ["sglang", "seed's lowest bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 1n } })],
    ["sglang", "position", ({ draw }) => ({ draw: { position: draw.position ^ 1n } })],
    ["torch", "seed's lowest bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 1n } })],
    ["torch", "offset", () => ({ options: ["offset=1000"] })],
    ["jax", "seed's lowest bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 1n } })],
    ["jax", "layout", ({ options }) => ({ options: [options[1] === "partitionable=yes" ? "partitionable=no" : "partitionable=yes"] })],
    ["jax", "mode", ({ options }) => ({ options: [options[2] === "mode=low" ? "mode=high" : "mode=low"] })],
    ["llamacpp", "seed's second bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 2n } })],
    ["llamacpp", "count of draws", ({ draw }) => ({ draw: { position: draw.position + 1n } })],
    ["llamacpp", "order", ({ options }) => ({ options: [options[0] === "order=ranks" ? "order=ids" : "order=ranks"] })],
    ["transformersjs", "seed's lowest bit", ({ draw }) => ({ draw: { seed: draw.seed ^ 1n } })],
    ["transformersjs", "count of draws", ({ draw }) => ({ draw: { position: draw.position + 1n } })],
    ["transformersjs", "count of kept tokens", ({ options }) => ({ options: [options[0] === "top-k=0" ? "top-k=10" : "top-k=0"] })],
  ])("%s: another %s", (name, _, change) => {
    expect(wrongAfter(name, recordedDraws[name]!(), change)).toBeGreaterThan(0.6);
  });

  it.skipIf(lacksShared).each<[string, string, Change]>([
    // It counts beyond one tile of rows: for 70 rows, of 112 draws.
    ["flashsampling", "tile height", ({ options }) => ({ options: [options[0] === "block-v=128" ? "block-v=256" : "block-v=128"] })],
    ["flashsampling", "tile width", ({ draw }) => ({ options: [`block-h=${draw.rows > 16 ? 16 : 32}`] })],
    ["flashsampling", "sample", ({ draw }) => ({ draw: { sample: draw.sample + 1, numSamples: draw.numSamples + 1 } })],
    ["flashinfer", "offset", () => ({ options: ["offset=4"] })],
    ["flashinfer", "seed", ({ draw }) => ({ draw: { seed: draw.seed + 1n } })],
    ["flashinfer", "sample", () => ({ draw: { numSamples: 2, sample: 1 } })],
  ])("%s: another %s", (name, _, change) => {
    expect(wrongAfter(name, sharedDraws[name]!(), change)).toBeGreaterThan(0.2);
  });
});
