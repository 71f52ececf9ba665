/** Documents as the verifying verbs make them, made up: the shapes and sizes of real ones, from fixed numbers. */
import type { CheckDocument, CheckedDraw, CorpusCheckDocument, CorpusVerdict, GofDocument, InvarianceDocument, ReplayDocument } from "../src/verify/documents.js";
import { pseudoRandom } from "./head-fixtures.js";

const START = { specVersion: "1.0", version: "0.2.0" } as const;
const round = (value: number) => Number(value.toPrecision(8));

/** Roughly normal: twelve uniforms in [-1, 1) have a variance of 4 together. */
function normals(seed: number, count: number): number[] {
  const uniforms = Array.from(pseudoRandom(seed, 12 * count));
  return Array.from({ length: count }, (_, index) => uniforms.slice(12 * index, 12 * index + 12).reduce((sum, value) => sum + value) / 2);
}

function draw(fields: Partial<CheckedDraw>): CheckedDraw {
  return { row: 0, sample: 0, given: 7, expected: 7, verdict: "exact", fault: null, margin: 1, gap: 0, allowed: 0.001, rank: null, probability: null, ...fields };
}

function checkOf(draws: readonly CheckedDraw[], fields: Partial<CheckDocument> = {}): CheckDocument {
  const count = (verdict: CheckedDraw["verdict"]) => draws.filter((draw) => draw.verdict === verdict).length;
  const counts = { exact: count("exact"), nearTie: count("near-tie"), wrong: count("wrong") };
  return {
    kind: "check",
    ...START,
    passed: counts.wrong === 0,
    engine: { name: "flash-sampling", title: "flash-sampling, rule 1.0", status: "exact", unproven: [], options: {} },
    inputs: { rows: draws.length, numSamples: 1, vocabSize: 128_256, hiddenSize: 4096, dtype: "bf16", headDigest: "5f".repeat(32), seed: "42", temperature: 0.7, position: 31, sequence: "the row's index" },
    logitError: { name: "bf16 product, f32 sums", absolute: 0, relative: 3.0517578125e-5 },
    counts,
    draws,
    ...fields,
  };
}

/** Margins of a head's draws: the gap between the best two of many scores is about exponential. */
function randomDraws(count: number, seed: number): CheckedDraw[] {
  const uniforms = pseudoRandom(seed, 2 * count);
  return Array.from({ length: count }, (_, row) => {
    const margin = round(-0.7 * Math.log((uniforms[2 * row]! + 1) / 2 + 1e-9));
    const allowed = round(0.0004 * (1 + uniforms[2 * row + 1]! / 2));
    const given = (row * 7919) % 128_256;
    return draw({ row, given, expected: given, margin, allowed });
  });
}

/** All draws exact but for two near-ties. */
export function passedCheck(): CheckDocument {
  const draws = randomDraws(2000, 11);
  draws[17] = draw({ ...draws[17], given: 1, verdict: "near-tie", margin: 0.00021, gap: 0.00021, allowed: 0.0005, rank: 2, probability: 0.013 });
  draws[900] = draw({ ...draws[900], given: 2, verdict: "near-tie", margin: 0.00007, gap: 0.00007, allowed: 0.00041, rank: 2, probability: 0.21 });
  return checkOf(draws);
}

/** Somebody else's engine with a fault, replayed by a stream that nothing proves. */
export function failedCheck(count = 3000): CheckDocument {
  const uniforms = pseudoRandom(13, 3 * count);
  const draws = randomDraws(count, 12).map((one, row) => {
    const [a, b, c] = [uniforms[3 * row]!, uniforms[3 * row + 1]!, uniforms[3 * row + 2]!];
    if (a > 0.98) return draw({ ...one, given: row + 3, verdict: "wrong", gap: round(2 * (b + 1.2) * (c + 1.1)), rank: 2 + Math.floor(40 * (b + 1)), probability: round(0.01 * (c + 1)) });
    if (a > 0.95) {
      const gap = round(one.allowed! * (0.05 + 0.45 * (b + 1)));
      return draw({ ...one, given: row + 5, verdict: "near-tie", margin: gap, gap, rank: 2, probability: round(0.05 * (c + 1)) });
    }
    return one;
  });
  draws[5] = draw({ row: 5, given: 128_300, expected: 12, verdict: "wrong", fault: "out-of-range", gap: null, allowed: null });
  draws[8] = draw({ row: 8, given: -1, expected: 99, verdict: "wrong", fault: "negative", gap: null, allowed: null });
  draws[9] = draw({ row: 9, given: 4, expected: -1, verdict: "wrong", fault: "no-token", margin: null, gap: null, allowed: null });
  draws[10] = draw({ row: 10, given: 128_001, expected: 50, verdict: "wrong", fault: "masked", gap: null, allowed: null });
  return checkOf(draws, {
    engine: {
      name: "vllm-mrv2",
      title: "vLLM, model runner v2 (Triton Gumbel sampler)",
      status: "unproven",
      unproven: ["temperatures other than 1", "more than one sample a row: no recording has them"],
      options: { "block-v": "1024", "noise-dtype": "f32" },
    },
  });
}

/** Zipf's law over 32,000 tokens, a million draws. bias: factor of the counts of rare tokens. */
export function gof({ bias = 1, binCount = 400 } = {}): GofDocument {
  const [vocabSize, draws] = [32_000, 1_000_000];
  const weights = Array.from({ length: binCount }, (_, index) => (index + 1) ** -1.4);
  const total = weights.reduce((sum, weight) => sum + weight);
  const noise = normals(21, binCount);
  const bins = weights.map((weight, index) => {
    const expected = round((draws * weight) / total);
    const observed = Math.max(0, Math.round((index < 200 ? 1 : bias) * expected + Math.sqrt(expected) * noise[index]!));
    return { label: index < 300 ? `token ${index * 13}` : `tokens with p below ${round((2 * weight) / total)}`, tokens: index < 300 ? 1 : 317, expected, observed };
  });
  const tail = [[0, 5], [5, 10], [10, 15], [15, null]].map(([fromGap, toGap], index) => {
    const expected = [912_345.2, 81_200.7, 6_420.1, 34.5][index]!;
    const observed = Math.round(expected * (index < 2 ? 1 : bias) + 0.7 * Math.sqrt(expected));
    return { fromGap: fromGap!, toGap: toGap!, expected, observed, z: round((observed - expected) / Math.sqrt(expected)) };
  });
  const tokens = normals(22, 20).map((normal, index) => {
    const expected = round(900 / (index + 1));
    const z = round((3.2 + Math.abs(normal) / 2) * (index % 3 === 0 ? -1 : 1));
    return { token: 17 + index * 1571, expected, observed: Math.round(expected + z * Math.sqrt(expected)), z };
  });
  const isBiased = bias !== 1;
  const test = (name: string, question: string, pValue: number, threshold: number, detail: string | null = null) => ({ name, question, statistic: round(400 + 10 / (pValue + 1e-3)), degreesOfFreedom: name.startsWith("G") ? binCount - 1 : null, pValue, threshold, passed: pValue >= threshold, detail });
  const tests = [
    test("G-test", "Do tokens come as often as softmax says?", isBiased ? 3.1e-41 : 0.41, 0.0004, isBiased ? "token 2600 was drawn 402 times, 511.8 expected" : null),
    test("tail", "Do improbable tokens come as often as softmax says?", isBiased ? 2.2e-7 : 0.083, 0.0002, isBiased ? "gaps of 10 to 15: 5136 draws, 6420.1 expected" : null),
    test("largest deviation", "Is a single token far off?", isBiased ? 0.00021 : 0.62, 0.0002),
    test("rows", "Are the draws of different rows independent?", 0.27, 0.0001),
    test("positions", "Are the draws of successive positions independent?", 0.93, 0.0001),
  ];
  const power = [
    { what: "every token's probability off by a random factor of this relative size", smallest: 0.011, probability: 0.99 },
    { what: "tokens more than 10 below the highest are never drawn: so much mass missing", smallest: 0.00042, probability: 0.99 },
  ];
  return { kind: "gof", ...START, passed: tests.every(({ passed }) => passed), draws, distributions: 1, vocabSize, temperature: 1, alpha: 0.001, looks: 4, stoppedAt: draws, tests, binCount, bins, tail, tokens, power };
}

export function invariance(isBroken = true): InvarianceDocument {
  const kept = (name: string, question: string) => ({ name, question, status: "kept", cases: 96, why: null, smallest: null }) as const;
  const findings = [
    kept("batch-permutation", "Does a row draw the same tokens wherever it stands in its batch?"),
    isBroken
      ? ({
          name: "batch-size",
          question: "Does a row draw the same tokens whatever rows stand beside it?",
          status: "broken",
          cases: 14,
          why: "one row more: row 0 draws other tokens",
          smallest: { rows: 2, vocabSize: 17, description: "before:\nrow 0: logits 0.5 at token 3, else 0; temperature 1, seed 42, sequence 0, position 7\nafter, one row more:\nrow 0: the same\nrow 1: logits 0; temperature 1, seed 43, sequence 1, position 7", row: 0, before: [3, 3, 11, 0, 5, 3, 3, 16], after: [3, 9, 11, 0, 5, 3, 1, 16] },
        } as const)
      : kept("batch-size", "Does a row draw the same tokens whatever rows stand beside it?"),
    kept("tile-size", "Does cutting the vocabulary into parts leave the tokens as they are?"),
    { name: "top-p", question: "Are only tokens of the smallest sufficient set drawn?", status: "skipped", cases: 0, why: "the sampler takes no topP", smallest: null } as const,
    kept("seeds", "Do different seeds draw different tokens?"),
  ];
  return { kind: "invariance", ...START, passed: !isBroken, sampler: "python3 sampler.py", calls: 412, seed: 7, reads: ["samples", "top-k"], findings };
}

/** The edge corpus, of which a sampler failed two cases and gave no answer to a third. */
export function corpusCheck(isRight = false): CorpusCheckDocument {
  const about = (index: number) => ({ name: `case-${index}`, trouble: `What goes wrong in case ${index}.`, issue: `project/issues/${index}`, faultCount: 0, faults: [] });
  const cases: CorpusVerdict[] = Array.from({ length: 40 }, (_, index) => ({ ...about(index), status: index % 10 === 9 ? "skipped" : "passed" }));
  if (!isRight) {
    cases[3] = { ...about(3), name: "tail-masked-8193", status: "failed", faultCount: 2, faults: [{ row: 0, sample: 0, why: "token 8193 is past the vocabulary of 8193" }, { row: 1, sample: 0, why: "token 8193 is past the vocabulary of 8193" }] };
    cases[7] = { ...about(7), name: "shards-equal-logits", status: "failed", faultCount: 250, faults: Array.from({ length: 20 }, (_, row) => ({ row, sample: row % 2, why: "token 1 has no probability" })) };
    cases[12] = { ...about(12), name: "nan-row", status: "missing" };
  }
  const count = (status: CorpusVerdict["status"]) => cases.filter((one) => one.status === status).length;
  return { kind: "corpus-check", ...START, passed: isRight, corpusVersion: "1.0", exact: false, counts: { passed: count("passed"), failed: count("failed"), missing: count("missing"), skipped: count("skipped") }, cases };
}

/** A receipt of which one backend confirms all, and another has a draw of its own. */
export function replayed(isRight = false): ReplayDocument {
  const [expected, got] = [{ token: 49, scoreBits: "000000080f12f180", status: "ok" }, { token: 46, scoreBits: "000000080f12f17f", status: "ok" }] as const;
  const backends: ReplayDocument["backends"] = [
    { backend: "cuda", status: "skipped", why: "this build of the package has no CUDA kernels", draw: null },
    isRight ? { backend: "webgpu", status: "confirmed", why: null, draw: null } : { backend: "webgpu", status: "differs", why: null, draw: { row: 1, sample: 3, expected, got, count: 12 } },
    { backend: "reference", status: "confirmed", why: null, draw: null },
  ];
  return { kind: "replay", ...START, passed: isRight, receipt: { specVersion: "1.0", version: "0.1.0", backend: "wasm" }, draws: 900, input: null, backends };
}

/** The same of other logits: no backend is asked. */
export function otherInputs(): ReplayDocument {
  const input = { input: "logits", property: "digest", expected: "0".repeat(64), got: "d6".repeat(32), place: "/home/me/logits.npy" } as const;
  return { ...replayed(), input, backends: [] };
}

/** What would run, break out of its place or turn the text around it, if it were taken for more than text. */
export const HOSTILE = `</title></style></svg></script><script>globalThis.pwned = 1</script><img src=x onerror="globalThis.pwned = 2">"'&amp;\`\${1}\u202eסוף\u2066\u0000\u001b[31m`;

/** A document whose every text is hostile. */
export function hostile<Document extends object>(document: Document): Document {
  const KEPT = new Set(["kind", "status", "verdict", "fault", "input", "property"]);
  const spoil = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return KEPT.has(key) ? value : HOSTILE;
    if (Array.isArray(value)) return value.map((entry) => spoil(entry, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name === "block-v" ? HOSTILE : name, spoil(entry, name)]));
  };
  return spoil(document, "") as Document;
}
