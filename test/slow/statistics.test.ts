/**
 * Do the tokens follow softmax? Long draws with stated power; the seeds are fixed, so a pass stays a pass.
 * Expected values come from f64 softmax here in the test, where Math.exp is welcome.
 */
import { describe, expect, it } from "vitest";
import { BACKENDS, sampleLogits } from "../../src/index.js";
import { unavailable } from "../require.js";

const MINUTES = 60_000;

function softmax(logits: Float32Array): number[] {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  const weights = Array.from(logits, (logit) => Math.exp(logit - largest));
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}

describe.each(BACKENDS.filter(({ name }) => name !== "reference").map(({ name }) => name))("%s", async (backend) => {
  const entry = BACKENDS.find(({ name }) => name === backend)!;
  describe.skipIf(unavailable(backend, await entry.probe()))("follows softmax", () => {
    /**
     * G = 2 sum observed ln(observed / expected), 63 degrees of freedom. A relative bias with mean square r^2 over the
     * tokens' mass shifts G by N r^2: at N = 6e7, r = 0.2% shifts it by 240, 21 standard deviations.
     * Bound: the chi-square quantile of 1 - 1e-9 at 63 degrees of freedom is 148.7.
     */
    it("in a G-test of 6e7 draws at V = 64", { timeout: 20 * MINUTES }, async () => {
      const logits = Float32Array.from({ length: 64 }, (_, token) => ((token * 37) % 64) / 16);
      const counts = new Float64Array(64);
      const drawsACall = 1 << 20;
      const calls = 58;
      for (let position = 0; position < calls; position++) {
        const { tokens } = await sampleLogits({ logits, seed: 2026n, position, numSamples: drawsACall, backend });
        for (const token of tokens) counts[token]!++;
      }
      const total = drawsACall * calls;
      const g = softmax(logits).reduce((sum, p, token) => sum + 2 * counts[token]! * Math.log(counts[token]! / (p * total)), 0);
      console.log(`${backend}: G = ${g.toFixed(1)} for ${total} draws, 63 degrees of freedom`);
      expect(g).toBeGreaterThan(20); // a G this small would mean draws that are not random
      expect(g).toBeLessThan(148.7);
    });

    /** 200,000 tokens share 0.303% of the mass: f32 noise that stops at 16 never draws most of them. */
    it("in the tail: head logit 18 against 200,000 tokens at 0", { timeout: 20 * MINUTES }, async () => {
      const logits = new Float32Array(200_001);
      logits[0] = 18;
      const tail = 200_000 / (200_000 + Math.exp(18));
      expect(tail).toBeCloseTo(0.003037, 6);
      const draws = 100_000;
      const { tokens } = await sampleLogits({ logits, seed: 18n, numSamples: draws, backend });
      const inTail = tokens.filter((token) => token !== 0);
      const deviation = (inTail.length - draws * tail) / Math.sqrt(draws * tail * (1 - tail));
      console.log(`${backend}: tail frequency ${((100 * inTail.length) / draws).toFixed(4)}%, expected ${(100 * tail).toFixed(4)}%, ${deviation.toFixed(2)} sigma`);
      expect(Math.abs(deviation)).toBeLessThan(3);
      expect(new Set(inTail).size).toBeGreaterThan(0.99 * inTail.length); // spread over the tail, not a few lucky ones
    });

    /** Each sequence draws from two equal logits: shared noise between streams would show as runs of the same side. */
    it("independently over rows, positions and samples", async () => {
      const draws = 4096;
      const logits = new Float32Array(2 * draws);
      const rows = (await sampleLogits({ logits, vocabSize: 2, seed: 1n, backend })).tokens;
      const samples = (await sampleLogits({ logits: new Float32Array(2), seed: 1n, numSamples: draws, backend })).tokens;
      const positions = (await sampleLogits({ logits, vocabSize: 2, seed: 1n, sequence: 0, position: Array.from({ length: draws }, (_, i) => i), backend })).tokens;
      for (const [name, tokens] of Object.entries({ rows, samples, positions })) {
        const ones = tokens.reduce((a, b) => a + b);
        const agreements = tokens.reduce((sum, token, index) => sum + (index > 0 && token === tokens[index - 1] ? 1 : 0), 0);
        expect(Math.abs(ones - draws / 2), name).toBeLessThan(5 * Math.sqrt(draws / 4));
        expect(Math.abs(agreements - (draws - 1) / 2), name).toBeLessThan(5 * Math.sqrt(draws / 4));
      }
      const equal = rows.reduce((sum, token, index) => sum + (token === samples[index] ? 1 : 0), 0);
      expect(Math.abs(equal - draws / 2)).toBeLessThan(5 * Math.sqrt(draws / 4));
    });
  });
});
