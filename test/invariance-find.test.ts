/** findInvariances around its questions: options, limits, progress, the smallest case, and how likely chance is blamed on a sampler. */
import { describe, expect, test } from "vitest";
import { SPEC_VERSION } from "../src/index.js";
import type { InvarianceFinding } from "../src/verify/documents.js";
import { toCall } from "../src/verify/invariance/batch.js";
import { OPTIONAL_INPUTS } from "../src/verify/invariance/case.js";
import { allCoincide, fewDistinct, likelyCounts, sameOften, someMissing } from "../src/verify/invariance/chance.js";
import { findInvariances, type InvarianceOptions } from "../src/verify/invariance/find.js";
import { INVARIANCES } from "../src/verify/invariance/list.js";
import { Random } from "../src/verify/invariance/random.js";
import { filteredLogits, ownSampler } from "../src/verify/own-sampler.js";
import type { SamplerCall, SamplerUnderTest } from "../src/verify/sampler-under-test.js";
import { rightSampler, WRONG_SAMPLERS } from "./wrong-samplers.js";

async function find(sampler: SamplerUnderTest, name: string, options: InvarianceOptions = {}): Promise<InvarianceFinding> {
  const { findings } = await findInvariances(sampler, { only: [name], reads: OPTIONAL_INPUTS, ...options });
  expect(findings.map((finding) => finding.name)).toEqual([name]);
  return findings[0]!;
}

function wrong(mistake: string): SamplerUnderTest {
  return WRONG_SAMPLERS.find((sampler) => sampler.mistake === mistake)!.make();
}

describe("the smallest case", () => {
  test("has as few rows and as narrow a vocabulary as can be", async () => {
    const { smallest, why } = await find(wrong("noise hangs on the row's place beside its sequence"), "batch-permutation");
    expect(smallest).toMatchObject({ rows: 2, vocabSize: 2 });
    expect(smallest!.before).toHaveLength(4);
    expect(smallest!.after).not.toEqual(smallest!.before);
    expect(why).toBe(`rows in the order 1, 0: row ${smallest!.row} draws other tokens`);
    expect(smallest!.description).toMatch(/^before:\nrow 0 of 2: logits \[-?[\d.]+, -?[\d.]+\], seed \d+, sequence 0, position \d+, temperature 1, 4 samples\nrow 1 of 2: .*, sequence 1, .*\nafter, rows in the order 1, 0:\nrow 0 of 2: .*, sequence 1, .*\nrow 1 of 2: .*, sequence 0, .*$/);
  });

  test("is no smaller than what breaks it", async () => {
    const tiled: SamplerUnderTest = (call) => (call.rows >= 3 && call.vocabSize >= 100 ? rightSampler({ ...call, position: call.position.map((_, row) => row) }) : rightSampler(call));
    expect((await find(tiled, "batch-permutation")).smallest).toMatchObject({ rows: 3, vocabSize: 128 });
    expect((await find(tiled, "batch-alone")).smallest).toMatchObject({ rows: 3, vocabSize: 128 });
  });

  test("can be drawn again from what is told of it", async () => {
    const sampler = wrong("noise hangs on the vocabulary's size");
    const { smallest } = await find(sampler, "vocabulary-padding");
    const calls = [...smallest!.description.matchAll(/logits \[(.*?)\], seed (\d+), sequence (\d+), position (\d+)/g)];
    const tokens = await Promise.all(
      calls.map(([, logits, seed, sequence, position]) => {
        const values = Float32Array.from(logits!.split(", "), Number);
        return sampler({ logits: values, rows: 1, vocabSize: values.length, numSamples: 4, temperature: [1], seed: [BigInt(seed!)], sequence: [Number(sequence)], position: [Number(position)] });
      }),
    );
    expect(tokens.map((drawn) => Array.from(drawn))).toEqual([smallest!.before, smallest!.after]);
  });

  test("hangs on the seed of the cases alone", async () => {
    const sampler = wrong("the seed of row 0 serves all");
    const [first, same, other] = await Promise.all([7, 7, 8].map((seed) => findInvariances(sampler, { only: ["row-seeds", "greedy"], seed })));
    expect(same).toEqual(first);
    expect(other!.findings[0]!.smallest!.description).not.toBe(first!.findings[0]!.smallest!.description);
    expect(await find(sampler, "row-seeds", { seed: 7, reads: ["samples", "sequence", "position"] })).toEqual(first!.findings[0]);
  });

  test("of draws that are too much alike tells both", async () => {
    const { why, smallest } = await find(wrong("seeds are cut to 32 bits"), "seed-high-bits");
    expect(why).toBe("a change of bit 32 changes no token");
    expect(smallest).toMatchObject({ rows: 1, vocabSize: 64, row: 0 });
    expect(smallest!.before).toHaveLength(8);
    expect(smallest!.after).toEqual(smallest!.before);
    expect(smallest!.description).toMatch(/^16 calls of one row, the first two and the last:\nrow 0 of 1: logits \[0, all 64 of them\], seed \d+, .*\nrow 0 of 1: .*\nrow 0 of 1: .*$/);
  });
});

describe("failing calls", () => {
  test("break what was asked, and the others are asked all the same", async () => {
    const refusing: SamplerUnderTest = (call) => {
      if (call.vocabSize % 2 === 1) throw new RangeError("the vocabulary must be even");
      return rightSampler(call);
    };
    const { findings, passed } = await findInvariances(refusing, { only: ["batch-split", "samples-differ"] });
    expect(passed).toBe(false);
    expect(findings).toMatchObject([{ status: "broken", why: "the call failed: the vocabulary must be even", smallest: { rows: 2, vocabSize: 3, before: [], after: [] } }, { status: "kept" }]);
  });

  test("of a repeated call leave comparisons to be asked; tokens that differ do not", async () => {
    const limited = (sampler: SamplerUnderTest): SamplerUnderTest => (call) => {
      if (call.vocabSize > 4000) throw new RangeError("at most 4000 tokens");
      return sampler(call);
    };
    const { findings } = await findInvariances(limited(rightSampler));
    const byName = new Map(findings.map((finding) => [finding.name, finding]));
    expect(byName.get("repeated-call")).toMatchObject({ status: "broken", why: "the call failed: at most 4000 tokens" });
    expect(byName.get("batch-alone")).toMatchObject({ status: "kept" });
    expect(findings.filter(({ why }) => why?.startsWith("the same call draws other tokens"))).toEqual([]);
    const unrepeatable = await findInvariances(limited(wrong("every call goes on in one stream")), { only: ["repeated-call", "batch-alone"] });
    expect(unrepeatable.findings[1]).toMatchObject({ status: "skipped", why: "the same call draws other tokens each time: see repeated-call" });
  });

  test("are no smaller case of tokens that differ", async () => {
    const unsteady = wrong("every call goes on in one stream");
    const sampler: SamplerUnderTest = (call) => {
      if (call.vocabSize < 30) throw new RangeError("too few");
      return unsteady(call);
    };
    const { findings } = await findInvariances(sampler, { only: ["repeated-call", "batch-alone"] });
    expect(findings[0]).toMatchObject({ status: "broken", why: expect.stringContaining("draws other tokens"), smallest: { before: expect.arrayContaining([expect.any(Number)]) } });
    expect(findings[1]!.status).toBe("skipped");
  });

  test.each(["AbortError", "TimeoutError"])("an %s ends the run", async (name) => {
    let calls = 0;
    const sampler: SamplerUnderTest = (call) => {
      if (++calls > 4) throw Object.assign(new Error("enough"), { name });
      return rightSampler(call);
    };
    await expect(findInvariances(sampler)).rejects.toMatchObject({ name });
  });

  test("answers that are no tokens", async () => {
    for (const [answer, message] of [
      [null, '"sampler" expected to return an Int32Array of tokens, got null'],
      [Float32Array.of(1), '"sampler" expected to return an Int32Array of tokens, got Float32Array'],
      [[1.5], '"sampler" expected to return whole numbers, got 1.5'],
      [[], '"sampler" expected to return 1 rows * 1 samples, got 0 tokens'],
    ] as const) {
      await expect(findInvariances((() => answer) as unknown as SamplerUnderTest)).rejects.toThrow(message);
    }
    await expect(findInvariances(() => { throw "no device"; })).rejects.toThrow('"sampler" expected tokens from its first calls, got an error: "no device"');
  });
});

describe("options", () => {
  test.each([
    [{ only: "greedy" }, TypeError, '"only" expected a list of names, got "greedy"'],
    [{ skip: ["nothing"] }, RangeError, '"skip" expected names from repeated-call, '],
    [{ also: [7] }, RangeError, '"also" expected names from repeated-call, '],
    [{ reads: ["logits"] }, RangeError, '"reads" expected names from samples, '],
    [{ only: [] }, RangeError, '"only" expected at least one invariance that is asked, got none'],
    [{ seed: 2 ** 32 }, RangeError, '"seed" expected an integer in [0, 4294967296), got 4294967296'],
    [{ maxCalls: 1 }, RangeError, '"maxCalls" expected an integer in [2, '],
    [{ calls: 1 }, TypeError, '"options" expected only name, only, '],
  ])("%j is refused before any call", async (options, kind, message) => {
    let calls = 0;
    const refused = findInvariances(() => { calls++; return new Int32Array(1); }, options as InvarianceOptions);
    await expect(refused).rejects.toThrow(kind);
    await expect(refused).rejects.toThrow(message);
    expect(calls).toBe(0);
  });

  test("a sampler that is none", async () => {
    await expect(findInvariances(7 as unknown as SamplerUnderTest)).rejects.toThrow('"sampler" expected a function, got 7');
  });

  test("name, version, progress and the number of calls", async () => {
    const steps: string[] = [];
    let calls = 0;
    const counted: SamplerUnderTest = (call) => { calls++; return rightSampler(call); };
    const document = await findInvariances(counted, { name: "mine", only: ["greedy", "batch-alone", "losers-masked"], onProgress: ({ done, total, name }) => steps.push(`${done}/${total} ${name}`) });
    expect(document).toMatchObject({ kind: "invariance", specVersion: SPEC_VERSION, sampler: "mine", passed: true, calls, seed: 1, reads: ["samples", "sequence", "position"] });
    expect(steps).toEqual(["0/3 batch-alone", "1/3 losers-masked", "2/3 greedy", "3/3 null"]);
  });

  test("no more calls than allowed; what is broken by then stays so", async () => {
    let calls = 0;
    const counted: SamplerUnderTest = (call) => { calls++; return wrong("the seed of row 0 serves all")(call); };
    const { findings, unasked } = await findInvariances(counted, { maxCalls: 9, only: ["row-seeds", "greedy", "infinite-logits"] });
    expect(unasked).toEqual(["infinite-logits", "greedy"]);
    expect(calls).toBe(9);
    expect(findings.map(({ status, why }) => [status, why])).toEqual([["broken", expect.any(String)], ["skipped", "no more calls may be made"], ["skipped", "no more calls may be made"]]);
  });

  test("an abort ends it", async () => {
    const controller = new AbortController();
    const aborting: SamplerUnderTest = (call) => { controller.abort(); return rightSampler(call); };
    await expect(findInvariances(aborting, { signal: controller.signal })).rejects.toMatchObject({ name: "AbortError" });
  });

  test.each([new Error("enough"), "stop", null, Object.assign(new Error("own"), { name: "TimeoutError" })])("an abort for a reason of one's own rejects with it: %s", async (reason) => {
    const aborted = async (when: (calls: number) => boolean, sampler: SamplerUnderTest = ownSampler("reference")) => {
      const controller = new AbortController();
      let calls = 0;
      const aborting: SamplerUnderTest = (call) => {
        if (when(++calls)) controller.abort(reason);
        return sampler(call);
      };
      return findInvariances(aborting, { signal: controller.signal, only: ["repeated-call", "greedy"] }).then(() => "resolved", (error: unknown) => [error, calls]);
    };
    expect(await aborted((calls) => calls === 1)).toEqual([reason, 1]);
    expect(await aborted((calls) => calls === 4)).toEqual([reason, 4]);
    // What a sampler throws that was cut off says nothing of it.
    expect(await aborted((calls) => calls === 4, (call) => (call.rows === 3 || call.rows === 1 ? rightSampler(call) : Promise.reject(new Error("cut off"))))).toEqual([reason, 4]);
    await expect(findInvariances(rightSampler, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const last = new AbortController();
    await expect(findInvariances(rightSampler, { signal: last.signal, only: ["greedy"], onProgress: ({ name }) => name === null && last.abort(reason) })).rejects.toBe(reason);
  });

  test("a timer can abort a sampler that never waits", async () => {
    await expect(findInvariances(rightSampler, { signal: AbortSignal.timeout(1) })).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("what calls did not suffice for has not passed", async () => {
    const { findings, unasked, passed, calls } = await findInvariances(rightSampler, { maxCalls: 30 });
    expect({ passed, calls }).toEqual({ passed: false, calls: 30 });
    expect(unasked!.length).toBeGreaterThan(20);
    expect(findings.filter(({ why }) => why === "no more calls may be made").map(({ name }) => name)).toEqual(unasked);
    expect(await findInvariances(rightSampler, { only: ["greedy"] })).toMatchObject({ passed: true, unasked: [] });
  });

  test("what is asked on request, and what a sampler that never repeats itself is not asked", async () => {
    const { findings } = await findInvariances(wrong("every call goes on in one stream"), { reads: OPTIONAL_INPUTS });
    const skipped = findings.filter(({ status }) => status === "skipped");
    expect(skipped.filter(({ why }) => why!.startsWith("the same call draws other tokens")).map(({ name }) => name)).toEqual(
      INVARIANCES.filter(({ name, isComparison, onRequest }) => isComparison && name !== "repeated-call" && onRequest === undefined).map(({ name }) => name),
    );
    expect(skipped.filter(({ why }) => why!.startsWith("asked on request alone")).map(({ name }) => name)).toEqual(["logit-shift", "losers-masked"]);
  });

  test("inputs that the sampler does not read stay as they are", async () => {
    const seen = new Set<string>();
    const sampler: SamplerUnderTest = (call) => {
      if (call.numSamples > 1) seen.add("samples");
      if (call.sequence.some((value) => value !== 0)) seen.add("sequence");
      if (call.position.some((value) => value !== 0)) seen.add("position");
      for (const name of ["mask", "topK", "topP", "shards"] as const) if (call[name] !== undefined) seen.add(name);
      return rightSampler(call);
    };
    await findInvariances(sampler, { reads: [] });
    expect([...seen]).toEqual([]);
    await findInvariances(sampler, { reads: OPTIONAL_INPUTS });
    expect([...seen].sort()).toEqual(["mask", "position", "samples", "sequence", "shards", "topK", "topP"]);
  });
});

test("a batch as a call", () => {
  const row = { logits: new Float32Array(40), temperature: 1, seed: 2n ** 64n - 1n, sequence: 3, position: 4, topK: 5, topP: 0.5 };
  const allowed = (tokens: readonly number[]) => Array.from({ length: 40 }, (_, token) => tokens.includes(token));
  const rows = [{ ...row, isAllowed: allowed([0, 31, 32]) }, { ...row, logits: new Float32Array(40).fill(7), seed: 1n, isAllowed: allowed([39]) }];
  expect(toCall({ rows, numSamples: 2, shards: 3 })).toEqual({
    logits: Float32Array.from({ length: 80 }, (_, index) => (index < 40 ? 0 : 7)),
    rows: 2,
    vocabSize: 40,
    numSamples: 2,
    temperature: [1, 1],
    seed: [2n ** 64n - 1n, 1n],
    sequence: [3, 3],
    position: [4, 4],
    mask: Uint32Array.of(0x80000001, 1, 0, 0x80),
    topK: [5, 5],
    topP: [0.5, 0.5],
    shards: 3,
  });
});

describe("chance", () => {
  test("the chances that a right sampler is found wrong sum up to less than 1e-9", () => {
    const making = { reads: new Set(OPTIONAL_INPUTS), random: new Random(1, 1, 1) };
    const all = INVARIANCES.flatMap((invariance) => invariance.sizes.flatMap((size) => invariance.make({ ...making, ...size })));
    const sum = all.reduce((total, { falseAlarm }) => total + falseAlarm, 0);
    expect(sum).toBeGreaterThan(1e-13);
    expect(sum).toBeLessThan(1e-9);
  });

  // From Python's fractions, in closed form.
  test("its bounds", () => {
    expect(allCoincide(64, 8) / 3.552713678800501e-15).toBeCloseTo(1, 10);
    expect(fewDistinct(4, 3, 2)).toBeCloseTo(4 / 64, 12);
    expect(someMissing(2, 10)).toBeCloseTo(2 / 1024, 12);
    expect(sameOften(10, 3, 2)).toBeCloseTo(0.3, 12);
    expect(likelyCounts(10, 0.5, 0.02)).toEqual({ from: 2, to: 8 });
    expect(likelyCounts(200, 1 / 3, 1e-11)).toEqual({ from: 25, to: 113 });
  });
});

describe("the filters of our own sampler", () => {
  const call = (logits: readonly number[], more: Partial<SamplerCall>): SamplerCall => ({ logits: Float32Array.from(logits), rows: 1, vocabSize: logits.length, numSamples: 1, temperature: [1], seed: [1n], sequence: [0], position: [0], ...more });
  const kept = (logits: readonly number[], more: Partial<SamplerCall>) => Array.from(filteredLogits(call(logits, more)), (logit, token) => (logit === -Infinity ? -1 : token)).filter((token) => token >= 0);

  test("a mask", () => {
    expect(kept([0, 0, 0, 0, 0], { mask: Uint32Array.of(0b10110) })).toEqual([1, 2, 4]);
    const wide = filteredLogits({ ...call(new Array<number>(80).fill(0), { mask: Uint32Array.of(0, 1 << 31, 0, 0, 0, 2) }), rows: 2, vocabSize: 40, logits: new Float32Array(80) });
    expect([...wide].flatMap((logit, token) => (logit === 0 ? [token] : []))).toEqual([]);
    const high = filteredLogits({ ...call(new Array<number>(40).fill(0), {}), mask: Uint32Array.of(1 << 31, 1) });
    expect([...high].flatMap((logit, token) => (logit === 0 ? [token] : []))).toEqual([31, 32]);
  });

  test("top-k: ties to the lower token", () => {
    expect(kept([1, 3, 2, 3, 2], { topK: [3] })).toEqual([1, 2, 3]);
    expect(kept([1, 3], { topK: [7] })).toEqual([0, 1]);
    expect(kept([-Infinity, 3], { topK: [2] })).toEqual([1]);
  });

  // softmax([0, 1, 2]) = 0.0900, 0.2447, 0.6652; at T = 2: 0.1863, 0.3072, 0.5065.
  test.each([
    [0.66, 1, [2]],
    [0.67, 1, [1, 2]],
    [0.92, 1, [0, 1, 2]],
    [0.66, 2, [1, 2]],
    [0.5, 2, [2]],
    [1, 1, [0, 1, 2]],
    [0.99, 0, [2]],
  ])("top-p %d at temperature %d", (mass, temperature, tokens) => {
    expect(kept([0, 1, 2], { topP: [mass], temperature: [temperature] })).toEqual(tokens);
  });

  test("top-p of what top-k leaves; ties to the lower token", () => {
    expect(kept([0, 1, 2, 2], { topK: [2], topP: [0.5] })).toEqual([2]);
    expect(kept([0, 0, 0, 0], { topP: [0.5] })).toEqual([0, 1]);
  });

  test("a row that has no token stays one", () => {
    for (const bad of [NaN, Infinity]) expect(filteredLogits(call([0, bad, 1], { topK: [1], topP: [0.5], mask: Uint32Array.of(1) }))).toEqual(Float32Array.of(0, bad, 1));
  });
});
