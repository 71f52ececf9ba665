/** findInvariances: right samplers keep all, and each mistake breaks what it should and nothing else. */
import { describe, expect, test } from "vitest";
import type { InvarianceDocument } from "../src/verify/documents.js";
import { OPTIONAL_INPUTS } from "../src/verify/invariance/case.js";
import { findInvariances, type InvarianceOptions } from "../src/verify/invariance/find.js";
import { INVARIANCES } from "../src/verify/invariance/list.js";
import { ownSampler } from "../src/verify/own-sampler.js";
import { inverseSampler, rightSampler, WRONG_SAMPLERS } from "./wrong-samplers.js";

const ALL: InvarianceOptions = { reads: OPTIONAL_INPUTS };
const ON_REQUEST = INVARIANCES.flatMap(({ name, onRequest }) => (onRequest === undefined ? [] : [name]));

function named(document: InvarianceDocument, status: string): string[] {
  return document.findings.filter((finding) => finding.status === status).map(({ name }) => name).sort();
}

describe("a right sampler keeps all", () => {
  test.each([
    ["this package's", ownSampler(), ON_REQUEST],
    ["the tests' own", rightSampler, ON_REQUEST],
    ["one by the inverse of the distribution function", inverseSampler, []],
  ])("%s", async (_, sampler, also) => {
    const document = await findInvariances(sampler, { ...ALL, also });
    expect(named(document, "broken")).toEqual([]);
    expect(named(document, "skipped")).toEqual(also.length > 0 ? [] : [...ON_REQUEST].sort());
    expect(document.passed).toBe(true);
    for (const { status, cases, why, smallest } of document.findings) {
      if (status === "kept") expect({ hasCases: cases > 0, why, smallest }).toEqual({ hasCases: true, why: null, smallest: null });
    }
  });

  test("the plain rule, where it has time to", async () => {
    const document = await findInvariances(ownSampler("reference"), { ...ALL, only: ["batch-permutation", "shards", "top-k", "counters-apart", "greedy"] });
    expect(named(document, "kept")).toHaveLength(5);
  });
});

describe("a mistake breaks what it should, and nothing else", () => {
  test.each(WRONG_SAMPLERS)("$mistake", async ({ make, breaks, reads = OPTIONAL_INPUTS }) => {
    const document = await findInvariances(make(), { reads });
    expect(named(document, "broken")).toEqual([...breaks].sort());
    expect(document.passed).toBe(false);
  });
});
