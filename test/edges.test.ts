/** The corners on every backend but WebGPU, and what needs no backend in particular. */
import { beforeAll, describe, expect, it } from "vitest";
import { sampleLogits } from "../src/index.js";
import { describeBackends } from "./each-backend.js";
import { edges } from "./edges.js";

describeBackends("decides the corner cases", edges);

describe("a seed that was left out", () => {
  let seeds: bigint[];
  beforeAll(async () => {
    const draws = await Promise.all([0, 1].map(() => sampleLogits({ logits: new Float32Array(9), backend: "reference" })));
    seeds = draws.map(({ seed }) => seed as bigint);
  });
  it("is fresh, returned and repeats the draw", async () => {
    expect(seeds[0]).not.toBe(seeds[1]);
    const logits = new Float32Array(5000);
    const first = await sampleLogits({ logits, backend: "reference", details: true });
    expect(await sampleLogits({ logits, backend: "reference", details: true, seed: first.seed })).toEqual(first);
  });
});
