/** The corners: odd shapes, extreme temperatures and logits, masks, ties, invalid rows. Every backend against the oracle and against facts. */
import { expect, it } from "vitest";
import { sampleLogits, type BackendName, type SampleDetail } from "../src/index.js";
import { difference, runProblem } from "./compare.js";
import { DTYPES, Inputs, makeWeights, type Problem } from "./problems.js";

const SIZES = [1, 2, 3, 31, 32, 33, 127, 128, 129, 999, 4097, 40001];
/** The oracle takes a row at a time: shapes past this many weights are left to the bench, which checks what it times. */
const MAX_WEIGHTS = 150_000;
const TEMPERATURES = [0, -0, 1e-45, 1e-38, 1e-12, 1e-6, 1e-4, 0.7, 1, 255.9, 255.99999999];

function shapeProblem(dtype: (typeof DTYPES)[number], vocabSize: number, hiddenSize: number): Problem {
  const inputs = new Inputs(vocabSize * 100_003 + hiddenSize);
  const scales = Float32Array.from({ length: vocabSize }, () => (1 + inputs.below(99)) / 1024);
  return {
    name: `${dtype} V=${vocabSize} D=${hiddenSize}`,
    weights: { data: makeWeights(inputs, dtype, vocabSize, hiddenSize), dtype, shape: [vocabSize, hiddenSize], ...(dtype === "int8" && { scales }) },
    sample: { hiddenStates: Float32Array.from({ length: 2 * hiddenSize }, () => inputs.normal()), seed: 7n, position: 1, numSamples: 2 },
  };
}

/** What the oracle decides, once for all backends. */
const decided = new Map<string, Promise<SampleDetail[]>>();
function byOracle(problem: Problem): Promise<SampleDetail[]> {
  const expected = decided.get(problem.name) ?? runProblem(problem, "reference");
  decided.set(problem.name, expected);
  return expected;
}

async function drawLogits(backend: BackendName, logits: number[], options: object = {}): Promise<SampleDetail> {
  const call = { logits: Float32Array.from(logits), seed: 5n, details: true, onInvalid: "mark", backend, ...options } as const;
  return (await sampleLogits(call)).details![0]!;
}

function withValue(values: readonly number[], at: number, value: number): number[] {
  return values.map((old, index) => (index === at ? value : old));
}

export function edges(backend: BackendName): void {
  it.each(backend === "reference" ? [] : DTYPES)("of every shape, %s", { timeout: 120_000 }, async (dtype) => {
    const differences: (string | null)[] = [];
    const stride = backend === "webgpu" ? 7 : 1; // slow where no GPU is: each dtype has shapes of its own
    for (const [v, vocabSize] of SIZES.entries()) {
      for (const [d, hiddenSize] of SIZES.entries()) {
        if (vocabSize * hiddenSize > MAX_WEIGHTS || (v + d + 2 * DTYPES.indexOf(dtype)) % stride !== 0) continue;
        const problem = shapeProblem(dtype, vocabSize, hiddenSize);
        differences.push(difference(problem.name, await byOracle(problem), await runProblem(problem, backend)));
      }
    }
    expect(differences.length).toBeGreaterThan(60 / stride - 3);
    expect(differences.filter((found) => found !== null)).toEqual([]);
  });

  it("a last tile whose logits are all far below", async () => {
    for (const vocabSize of [129, 4097, 8193, 40001]) {
      const logits = Array.from({ length: vocabSize }, (_, token) => (token === vocabSize - 1 ? -5000 : -4000 - (token % 7)));
      const { token } = await drawLogits(backend, logits);
      expect(token).toBeLessThan(vocabSize - 1);
      const greedy = await drawLogits(backend, logits, { temperature: 0 });
      expect([greedy.token, greedy.scoreBits]).toEqual([0, -4000n << 32n]);
    }
  });

  it.each(TEMPERATURES)("T = %s", async (temperature) => {
    const logits = Array.from({ length: 500 }, (_, token) => ((token * 7919) % 2001) / 128 - 8);
    const detail = await drawLogits(backend, logits, { temperature });
    expect(detail).toEqual(await drawLogits("reference", logits, { temperature }));
    if (temperature < 1e-8) expect(detail.token).toBe(logits.indexOf(Math.max(...logits)));
  });

  it.each([3e38, -3e38, 65504, -65504, 2 ** 30, 1e-45])("a row of logits %s, which are ties", async (logit) => {
    const greedy = await drawLogits(backend, Array(77).fill(logit), { temperature: 0 });
    expect([greedy.token, greedy.runnerUp, greedy.margin]).toEqual([0, 1, 0]);
    const drawn = await drawLogits(backend, Array(77).fill(logit));
    const flat = await drawLogits(backend, Array(77).fill(0));
    expect([drawn.token, drawn.runnerUp, drawn.margin]).toEqual([flat.token, flat.runnerUp, flat.margin]);
  });

  it("3e38 against -3e38, whatever the noise", async () => {
    expect((await drawLogits(backend, [-3e38, 3e38, -3e38], { temperature: 255.9 })).token).toBe(1);
  });

  it("one allowed token, wherever it is", async () => {
    for (const vocabSize of [1, 5, 64, 65, 4097]) {
      for (const allowed of new Set([0, Math.floor(vocabSize / 2), vocabSize - 1])) {
        const logits = Array.from({ length: vocabSize }, (_, token) => (token === allowed ? -3e38 : -Infinity));
        const detail = await drawLogits(backend, logits);
        expect(detail).toMatchObject({ token: allowed, runnerUp: -1, margin: null, status: "ok" });
      }
    }
  });

  it("two allowed tokens: the other one is the runner-up", async () => {
    const logits = Array(200).fill(-Infinity);
    logits[3] = 0;
    logits[199] = -1;
    const detail = await drawLogits(backend, logits, { temperature: 0 });
    expect([detail.token, detail.runnerUp, detail.margin]).toEqual([3, 199, 1]);
  });

  it("rows that are invalid or all masked leave their batchmates alone", async () => {
    const good = Array.from({ length: 40 }, (_, token) => (token % 9) / 4);
    const rows = [good, withValue(good, 39, NaN), Array(40).fill(-Infinity), withValue(good, 0, Infinity), withValue(Array(40).fill(-Infinity), 7, NaN), good];
    const call = { logits: Float32Array.from(rows.flat()), vocabSize: 40, seed: 3n, sequence: 0, details: true, backend } as const;
    const { tokens, details } = await sampleLogits({ ...call, onInvalid: "mark", numSamples: 2 });
    expect(details!.filter((_, index) => index % 2 === 0).map(({ status }) => status)).toEqual(["ok", "invalid", "all-masked", "invalid", "invalid", "ok"]);
    expect([...tokens.subarray(2, 10)]).toEqual(Array(8).fill(-1));
    expect(details!.slice(0, 2)).toEqual(details!.slice(10));
    await expect(sampleLogits(call)).rejects.toThrow(/"logits" expected no NaN and no \+Infinity, got one at row 1/);
    const masked = call.logits.slice(80, 120);
    await expect(sampleLogits({ ...call, logits: masked })).rejects.toThrow(/"logits" expected at least one token above -Infinity, got none at row 0/);
  });

  it("masked tokens are never drawn", async () => {
    const logits = Float32Array.from({ length: 50 }, (_, token) => (token % 5 === 2 ? 0 : -Infinity));
    const { tokens } = await sampleLogits({ logits, seed: 11n, numSamples: 3_000, backend });
    expect([...new Set(tokens)].sort((a, b) => a - b)).toEqual([2, 7, 12, 17, 22, 27, 32, 37, 42, 47]);
  });

  it("neighbouring seeds, positions, sequences and samples draw apart", async () => {
    const flat = Array(1000).fill(0);
    const seeds = await Promise.all(Array.from({ length: 50 }, async (_, seed) => (await drawLogits(backend, flat, { seed })).token));
    const positions = await Promise.all(Array.from({ length: 50 }, async (_, position) => (await drawLogits(backend, flat, { position })).token));
    const sequences = await Promise.all(Array.from({ length: 50 }, async (_, sequence) => (await drawLogits(backend, flat, { sequence })).token));
    const samples = (await sampleLogits({ logits: Float32Array.from(flat), seed: 5n, numSamples: 50, backend })).tokens;
    for (const drawn of [seeds, positions, sequences, [...samples]]) expect(new Set(drawn).size).toBeGreaterThan(40);
  });

  it("16-bit logits as their exact values", async () => {
    const data = Uint16Array.of(0x3f80, 0xc000, 0xff80, 0x0001, 0x4049);
    const values = [1, -2, -Infinity, 9.183549615799121e-41, 3.140625];
    const { details } = await sampleLogits({ logits: { data, dtype: "bf16" }, seed: 5n, details: true, backend });
    expect(details![0]).toEqual(await drawLogits(backend, values));
  });
}
