/**
 * Batches that are screened by bounds of their logits (docs/spec.md, section 4.4), against the oracle, which knows no
 * bounds: heads whose best token a bound too small would lose, and inputs for which no bound can be told.
 */
import { describe, expect, it } from "vitest";
import type { Dtype } from "../src/backend.js";
import { createReferenceBackend } from "../src/backends/reference.js";
import { bitsFromF32, f32BitsToBf16, f32BitsToF16 } from "../src/spec/float.js";
import { roundHidden } from "../src/spec/logit.js";
import { encodeRequest, type RowRequest } from "../src/spec/request.js";
import { tauOf } from "../src/spec/score.js";
import { Inputs } from "./problems.js";
import { backendOf, builds, canonicalise, makeRequest, sampleOn, type HeadInput } from "./wasm-heads.js";

type Half = Extract<Dtype, "bf16" | "f16">;
/** The first tile goes without bounds. */
const TILE = 64;
const MOST = 1.9921875;

describe.each(["bf16", "f16"] as const)("%s", (dtype) => {
  /** weight(token, column), hidden(row, column); every row with the temperatures of makeRequest, or with the one given. */
  async function compare(
    name: string,
    [rows, vocabSize, hiddenSize]: readonly [number, number, number],
    weight: (token: number, column: number) => number,
    hidden: (row: number, column: number) => number,
    { temperature, samples = 1 }: { temperature?: number; samples?: number } = {},
  ): Promise<Int32Array> {
    const head = makeHead(dtype, vocabSize, hiddenSize, weight);
    const hiddenStates = Float32Array.from({ length: rows * hiddenSize }, (_, at) => roundHidden(dtype, hidden(Math.floor(at / hiddenSize), at % hiddenSize)));
    const request = temperature === undefined ? makeRequest(new Inputs(rows), rows, samples) : requestAt(temperature, rows, samples);
    return expectOracle(name, head, hiddenStates, request);
  }

  it("finds a winner whose logit is nearly its bound", async () => {
    // In units: 8 hidden values of 32640, whose weights are 0.498 and round to 0; 248 of 0.498 that round to 0, beside
    // weights of 2040. The sum of the rounded products is 0, and the logit 96 % of the slack.
    const small = (255 / 256) * 2 ** -15;
    const weightOf = (column: number): number => (column < 8 ? (255 / 256) * 2 ** -11 : MOST);
    const logit = 8 * MOST * weightOf(0) + 248 * small * MOST;
    for (const rows of [3, 4, 5, 6, 7, 8, 13]) {
      const inputs = new Inputs(rows);
      const winner = TILE + inputs.below(TILE);
      const signs = Int8Array.from({ length: 256 }, () => (inputs.below(2) === 0 ? 1 : -1));
      // Two tokens of the first tile come within 1 % of it.
      const weight = (token: number, column: number): number =>
        token === winner ? signs[column]! * weightOf(column)
        : token < 2 && column === 0 ? (signs[0]! * logit * 0.993) / MOST
        : 0;
      // Each row has its own unit.
      const hidden = (row: number, column: number): number => signs[column]! * (column < 8 ? MOST : small) * 2 ** row;
      const tokens = await compare("tight", [rows, 2 * TILE, 256], weight, hidden, { temperature: 0 });
      expect(Array.from(tokens)).toEqual(Array(rows).fill(winner));
    }
  });

  it("adds up the largest products without overflow", async () => {
    // The last token's weights are the largest there are, and each lane of its sum comes near 2^31.
    for (const [hiddenSize, value] of [[1, MOST], [32, MOST], [33, MOST], [1000, 1.890625], [2048, 1.875], [8192, 1.875]] as const) {
      const vocabSize = TILE + 3;
      const tokens = await compare("large", [5, vocabSize, hiddenSize], (token) => (token === vocabSize - 1 ? MOST : token === 0 ? -MOST : 1), () => value, { temperature: 0 });
      expect(Array.from(tokens)).toEqual(Array(5).fill(vocabSize - 1));
    }
  });

  it("finds the largest weight in the last place", async () => {
    const weight = (token: number, column: number): number => (token === TILE && column === 31 ? MOST : (token % 7) / 1024);
    const tokens = await compare("last", [3, TILE + 1, 32], weight, () => 1, { temperature: 0 });
    expect(Array.from(tokens)).toEqual([TILE, TILE, TILE]);
  });

  it("decides batches of every size", { timeout: 120_000 }, async () => {
    const inputs = new Inputs(20);
    for (const rows of [3, 4, 5, 6, 7, 8, 9, 16, 63, 64, 67, 70]) {
      for (const [vocabSize, hiddenSize] of [[131, 1], [200, 33], [139, 130]] as const) {
        await compare("random", [rows, vocabSize, hiddenSize], () => inputs.normal() / Math.sqrt(hiddenSize), () => inputs.normal() * 2);
      }
    }
  });

  it("decides near ties, cancellation and outliers", async () => {
    const inputs = new Inputs(21);
    const [rows, vocabSize, hiddenSize] = [6, 1000, 160];
    const base = Float32Array.from({ length: hiddenSize }, () => inputs.normal());
    const nudged = Int32Array.from({ length: vocabSize }, () => inputs.below(hiddenSize));
    const ulp = dtype === "bf16" ? 2 ** -7 : 2 ** -10;
    const nearTie = (token: number, column: number): number => base[column]! * (nudged[token] === column ? 1 + ulp * (token % 3) : 1);
    const cancelling = (token: number, column: number): number => (column % 2 === 0 ? 1 : -1) * (1 + ulp * ((token * 7 + column * 3) % 5));
    const outlier = (token: number, column: number): number => inputs.normal() * (column % 50 === 7 ? 20 : 0.05) * (token === 500 ? 3 : 1);
    for (const temperature of [0, 1e-4, 1]) {
      await compare("near ties", [rows, vocabSize, hiddenSize], nearTie, () => inputs.normal(), { temperature });
      await compare("cancellation", [rows, vocabSize, hiddenSize], cancelling, (_, column) => 1 + (column % 3) * ulp, { temperature });
      await compare("outlier columns", [rows, vocabSize, hiddenSize], outlier, (_, column) => inputs.normal() * (column === 7 ? 300 : 1), { temperature });
    }
  });

  it("decides where every bound leaves its logit open", async () => {
    const inputs = new Inputs(22);
    const shape = [5, 1300, 64] as const;
    const rising = (token: number, column: number): number => (column === 0 ? token / 2048 : 0);
    for (const temperature of [0, 1e-4]) await compare("rising logits", shape, rising, () => 1, { temperature });
    // No score is above that of the least logit: tokens past the last one must not come in.
    await compare("least logits", [5, TILE + 37, 64], () => -(2 ** 15), () => 2 ** 15);
    await compare("hidden states of zeros", shape, () => inputs.normal(), (row) => (row % 2 === 0 ? 0 : inputs.normal()));
    await compare("a head of zeros", shape, () => 0, () => inputs.normal());
    await compare("a head and hidden states of zeros", shape, () => 0, () => 0);
  });

  it("keeps the logits that one sample needed for the next", async () => {
    const inputs = new Inputs(23);
    await compare("samples", [3, 700, 64], () => inputs.normal() * 0.3, () => inputs.normal(), { samples: 40 });
    await compare("samples", [3, 700, 64], () => inputs.normal() * 0.3, () => inputs.normal(), { samples: 40, temperature: 1 });
  });
});

it("multiplies f16 subnormals and the largest f16 exactly", async () => {
  const inputs = new Inputs(24);
  const extremes = [65504, -65504, 2 ** -24, -(2 ** -24), 1023 * 2 ** -24, 2 ** -14, -0, 1];
  for (const values of [extremes, extremes.slice(2), extremes.slice(2, 5)]) {
    for (const rows of [3, 6]) {
      const head = makeHead("f16", 200, 95, () => inputs.pick(values));
      const hiddenStates = Float32Array.from({ length: rows * 95 }, () => inputs.pick(values));
      await expectOracle("extremes", head, hiddenStates, makeRequest(inputs, rows, 1));
    }
  }
});

it("decides bf16 of extreme exponents", async () => {
  const inputs = new Inputs(25);
  // Powers of two of the weights and of the hidden states, either of which may be beyond what a bound can hold.
  for (const [weights, hidden] of [[-3, 110], [0, 101], [110, -3], [118, -55], [-55, 118], [-55, -55], [60, 55], [-55, 0], [0, -55], [30, -50], [-200, 110]] as const) {
    const rows = 4;
    const head = makeHead("bf16", 700, 64, () => inputs.normal() * 2 ** weights);
    const hiddenStates = Float32Array.from({ length: rows * 64 }, () => roundHidden("bf16", inputs.normal() * 2 ** hidden));
    await expectOracle(`2^${weights} * 2^${hidden}`, head, hiddenStates, makeRequest(inputs, rows, 1));
  }
});

it("decides hidden sizes just below 2^18, and 2^18, for which no bound is told", { timeout: 120_000 }, async () => {
  // Rounding adds 1/2 to every hidden value: 3 % more than their sum, 2^20 in each lane.
  const tokenWeights = [1, 1, ...Array<number>(TILE - 2).fill(-1), MOST];
  const upwards = Float32Array.from({ length: 3 * (2 ** 18 - 32) }, (_, at) => ((at >> 3) % 4 === 3 ? 17.5 : 15.5));
  await expectOracle("upwards", makeHead("bf16", TILE + 1, 2 ** 18 - 32, (token) => tokenWeights[token]!), upwards, requestAt(0, 3, 1), 1);
  const inputs = new Inputs(26);
  const normal = Float32Array.from({ length: 3 * 2 ** 18 }, () => roundHidden("bf16", inputs.normal()));
  const head = makeHead("bf16", TILE + 1, 2 ** 18, (token, column) => (token < TILE ? normal[column + token]! : Math.sign(normal[column]!)));
  await expectOracle("wide", head, normal, requestAt(0.3, 3, 1), 1);
});

/** Every build decides as the oracle does, in each of so many calls; the oracle's tokens come back. */
async function expectOracle(name: string, head: HeadInput, hiddenStates: Float32Array, request: Uint32Array, calls = 2): Promise<Int32Array> {
  const expected = await sampleOn(createReferenceBackend(), head, hiddenStates, request, 1000, 1);
  for (const build of builds) {
    const got = await sampleOn(backendOf(build), head, hiddenStates, request, 1000, calls);
    expect(got, `${build}, ${name}, B=${request[2]} V=${head.shape.vocabSize} D=${head.shape.hiddenSize}`).toEqual(expected);
  }
  return expected.token;
}

function makeHead(dtype: Half, vocabSize: number, hiddenSize: number, weight: (token: number, column: number) => number): HeadInput {
  const round = dtype === "bf16" ? f32BitsToBf16 : f32BitsToF16;
  const data = new Uint16Array(vocabSize * hiddenSize);
  for (let token = 0, at = 0; token < vocabSize; token++) {
    for (let column = 0; column < hiddenSize; column++, at++) data[at] = round(bitsFromF32(Math.fround(weight(token, column))));
  }
  const head = { shape: { dtype, vocabSize, hiddenSize, groupSize: 0 }, bytes: new Uint8Array(data.buffer), scales: null };
  canonicalise(head);
  return head;
}

function requestAt(temperature: number, rows: number, samples: number): Uint32Array {
  const request = Array.from({ length: rows }, (_, row): RowRequest => ({ seed: 5n, sequence: row, position: 3, tau: tauOf(temperature), firstSample: 0 }));
  return encodeRequest(request, samples);
}
