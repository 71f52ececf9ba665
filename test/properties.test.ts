/** The properties of every backend but WebGPU, and those of the rule's own functions. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokenWord } from "../src/spec/philox.js";
import { argmaxCombine } from "../src/spec/score.js";
import { describeBackends } from "./each-backend.js";
import { properties } from "./properties.js";

describeBackends("keeps its decisions", properties);

describe("argmaxCombine", () => {
  const scored = fc.record({ token: fc.nat(1000), score: fc.oneof(fc.bigInt({ min: -3n, max: 3n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })) });
  it("is commutative and associative", () => {
    fc.assert(
      fc.property(scored, scored, scored, (a, b, c) => {
        expect(argmaxCombine(a, b)).toEqual(argmaxCombine(b, a));
        expect(argmaxCombine(argmaxCombine(a, b), c)).toEqual(argmaxCombine(a, argmaxCombine(b, c)));
      }),
    );
  });
});

describe("counters", () => {
  const u32 = fc.nat(2 ** 32 - 1);
  const address = fc.record({
    seed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    sequence: u32,
    position: u32,
    sample: fc.nat(2 ** 24 - 1),
    purpose: fc.nat(6),
  });
  it("differ in every field of a draw", () => {
    const changed = { seed: (1n << 32n) as bigint | number, sequence: 1, position: 1, sample: 1, purpose: 1 };
    fc.assert(
      fc.property(address, fc.nat(2 ** 32 - 2), (draw, token) => {
        const word = tokenWord(draw, token);
        for (const field of Object.keys(changed) as (keyof typeof changed)[]) {
          const other = { ...draw, [field]: field === "seed" ? draw.seed ^ (1n << 32n) : (draw[field] as number) ^ 1 };
          expect(tokenWord(other, token), field).not.toBe(word);
        }
        expect(tokenWord(draw, token + 1)).not.toBe(word);
      }),
      { seed: 20260301, numRuns: 2000 },
    );
  });
});
