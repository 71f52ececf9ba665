/** findInvariances with many seeds: right samplers are never blamed, and mistakes are found whatever the made-up cases are. */
import { expect, test } from "vitest";
import { OPTIONAL_INPUTS } from "../../src/verify/invariance/case.js";
import { findInvariances } from "../../src/verify/invariance/find.js";
import { ownSampler } from "../../src/verify/own-sampler.js";
import { inverseSampler, rightSampler, WRONG_SAMPLERS } from "../wrong-samplers.js";

async function broken(sampler: Parameters<typeof findInvariances>[0], seed: number, options = {}): Promise<string[]> {
  const { findings } = await findInvariances(sampler, { reads: OPTIONAL_INPUTS, seed, ...options });
  return findings.filter(({ status }) => status === "broken").map(({ name }) => name).sort();
}

test("100 seeds and right samplers", async () => {
  for (let seed = 1; seed <= 100; seed++) {
    expect(await broken(ownSampler(), seed, { also: ["logit-shift", "losers-masked"] }), `seed ${seed}`).toEqual([]);
    expect(await broken(rightSampler, seed), `seed ${seed}`).toEqual([]);
    expect(await broken(inverseSampler, seed), `seed ${seed}`).toEqual([]);
  }
});

test.each(WRONG_SAMPLERS)("$mistake: 8 seeds", async ({ make, breaks, reads = OPTIONAL_INPUTS }) => {
  for (let seed = 1; seed <= 8; seed++) expect(await broken(make(), seed, { reads }), `seed ${seed}`).toEqual([...breaks].sort());
});
