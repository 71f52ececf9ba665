/** The noise of other engines: what their devices made of it lies within the bounds, and the bounds are narrow. */
import { describe, expect, it } from "vitest";
import type { Bounded } from "../src/verify/bounded.js";
import * as flashInfer from "../src/verify/engines/flashinfer.js";
import * as flashSampling from "../src/verify/engines/flashsampling.js";
import * as jax from "../src/verify/engines/jax.js";
import * as sglang from "../src/verify/engines/sglang.js";
import * as mrv2 from "../src/verify/engines/vllm-mrv2.js";
import * as murmur3 from "../src/verify/engines/vllm-murmur3.js";
import { drawOf, recording } from "./engines-recordings.js";
import { f32Values, f64Value } from "./vector-checks.js";

/** How much wider a noise of E = -log u gets: the outer logarithm divides E's error by E. */
function expectHeld({ value, low, high }: Bounded, engine: ArrayLike<number>, width: number): void {
  expect(engine.length).toBe(value.length);
  value.forEach((ours, index) => {
    expect(engine[index]).toBeGreaterThanOrEqual(low[index]!);
    expect(engine[index]).toBeLessThanOrEqual(high[index]!);
    expect(high[index]! - low[index]!).toBeLessThan(width * Math.max(1, Math.abs(ours)));
  });
}

const f32s = (bits: string[]): Float32Array => f32Values(bits.join(" "));

describe("recorded noise", () => {
  it.each(["vllm-mrv2", "vllm-murmur3"])("of %s", (name) => {
    for (const { seed, position, precision, noise } of recording(name).noise) {
      const count = noise.length;
      const ours =
        name === "vllm-mrv2"
          ? mrv2.noise(mrv2.uniforms(mrv2.rowSeed(BigInt(seed), BigInt(position)), precision, count), precision)
          : murmur3.noise(murmur3.uniforms(BigInt(seed), BigInt(position), precision, count), precision);
      if (precision === "f32") expectHeld(ours, f32s(noise), 1.3e-6);
      else expectHeld(ours, noise.map(f64Value), 4e-15);
    }
  });

  it("of SGLang", () => {
    const { noise } = recording("sglang");
    expectHeld(sglang.noise(sglang.uniforms(BigInt(noise.seed), BigInt(noise.position), noise.bits.length)), noise.bits.map(f64Value), 4e-15);
  });

  it("of JAX, in both modes", () => {
    for (const { seed, partitionable, gumbelLow, gumbelHigh } of recording("jax").cases) {
      const key = jax.keyOf(BigInt(seed), "64");
      const uniforms = (count: number, from: number): Float64Array =>
        new Float64Array(9).map((_, index) => jax.uniform(jax.wordAt(key, count, from + index, partitionable === "yes")));
      expectHeld(jax.lowNoise(uniforms(9, 0)), f32s(gumbelLow), 1e-6);
      expectHeld(jax.highNoise(uniforms(18, 0), uniforms(18, 9)), f32s(gumbelHigh), 1e-6);
    }
  });
});

describe("noise with every step rounded", () => {
  const log = (x: number): number => Math.fround(Math.log(x));
  const log2 = (x: number): number => Math.fround(Math.log2(x));

  it("of FlashSampling", () => {
    const u = flashSampling.uniforms(drawOf(4000, { seed: 5n }), { blockV: 128, blockH: 16 });
    expectHeld(flashSampling.noise(u), Array.from(u, (x) => -log(-log(x))), 1e-6);
  });

  it("of FlashInfer, whose logarithm near 0 is off most", () => {
    const u = flashInfer.uniforms(5n, 0n, 0, 4000);
    const noise = flashInfer.noise(u);
    expectHeld(noise, Array.from(u, (x) => Math.fround(-Math.fround(0.6931471806) * log2(-log2(x)))), 1e-3);
    const typical = Array.from(noise.value, (value, index) => (value < 3 ? noise.high[index]! - noise.low[index]! : 0));
    expect(Math.max(...typical)).toBeLessThan(1.5e-5);
  });

  it("is finite for the largest uniform numbers, but where an engine's is not", () => {
    const largest = Float64Array.of(1 - 2 ** -23);
    expect(Number.isFinite(flashInfer.noise(largest).high[0])).toBe(true);
    expect(flashInfer.noise(largest).high[0]).toBeGreaterThan(15.9);
    expect(flashSampling.noise(Float64Array.of(1 - 2 ** -24)).high[0]).toBeCloseTo(16.64, 2);
    expect(flashSampling.noise(Float64Array.of(0)).high[0]).toBe(-Infinity);
    expect(murmur3.noise(Float64Array.of(1), "f32").value[0]).toBeCloseTo(-Math.log(24 * Math.LN2), 9);
    expect(sglang.noise(Float64Array.of(0, 1)).value[1]).toBeCloseTo(32 * Math.LN2, 9);
    expect(sglang.noise(Float64Array.of(0, 1)).value[0]).toBeCloseTo(-Math.log(Number.MAX_VALUE), 9);
  });

  it("Murmur3's series ends with the eighth term, and a logarithm follows", () => {
    const series = [1, 2, 3, 4, 5, 6, 7, 8].reduce((sum, term) => sum + 0.2499 ** term / term, 0);
    expect(murmur3.noise(Float64Array.of(0.2499), "f32").value[0]).toBeCloseTo(-Math.log(series), 14);
    expect(murmur3.noise(Float64Array.of(0.25), "f32").value[0]).toBeCloseTo(-Math.log(-Math.log(0.75)), 14);
  });
});
