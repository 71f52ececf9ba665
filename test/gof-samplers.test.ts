/** Samplers that are wrong in ways that were shipped somewhere, each caught at the default false-alarm rate by the test that is made for it. */
import { describe, expect, test } from "vitest";
import type { GofDocument } from "../src/verify/documents.js";
import { goodnessOfFit } from "../src/verify/gof/gof.js";
import { normalLogits, sampler, softmax, uniforms } from "./gof-draws.js";

/** Gumbel-max over the logits, with noise from uniforms. */
function argmax(logits: ArrayLike<number>, noise: (token: number) => number, temperature = 1): number {
  let best = 0;
  let highest = -Infinity;
  for (let token = 0; token < logits.length; token++) {
    const score = logits[token]! + temperature * noise(token);
    if (score > highest) [best, highest] = [token, score];
  }
  return best;
}

const gumbel = (uniform: number) => -Math.log(-Math.log(uniform));
const judge = goodnessOfFit;

function expectCaught(document: GofDocument, name: RegExp): void {
  expect(document.passed).toBe(false);
  expect(document.tests.filter(({ passed }) => !passed).map((failed) => failed.name)).toContainEqual(expect.stringMatching(name));
}

function expectClean(document: GofDocument): void {
  expect(document.tests.filter(({ passed }) => !passed)).toEqual([]);
}

const values = (count: number, value: () => number) => Float64Array.from({ length: count }, value);
const filled = (count: number, draw: (index: number) => number) => Int32Array.from({ length: count }, (_, index) => draw(index));

describe("frequencies", () => {
  const logits = normalLogits(500, 2, 3);
  const probabilities = softmax(logits);

  test("temperature applied twice", () => {
    const draw = sampler(softmax(logits, 0.49), uniforms(1));
    expectCaught(judge({ logits, temperature: 0.7, tokens: filled(5000, draw) }), /^tail/);
    const right = sampler(softmax(logits, 0.7), uniforms(1));
    expectClean(judge({ logits, temperature: 0.7, tokens: filled(5000, right) }));
  });

  test("rare tokens that are never drawn", () => {
    const draw = sampler(probabilities.map((p) => (p < 1e-4 ? 0 : p)), uniforms(2));
    expectCaught(judge({ logits, tokens: filled(30_000, draw) }), /^(g-test|tail)/);
  });

  test("noise that is the same for two tokens: the lower logit of a pair never wins", () => {
    const uniform = uniforms(3);
    const flat = normalLogits(64, 0.5, 4);
    const tokens = filled(4000, () => {
      const shared = values(32, () => gumbel(uniform()));
      return argmax(flat, (token) => shared[token % 32]!);
    });
    expectCaught(judge({ logits: flat, tokens, shards: 2 }), /^shards$/);
    const own = filled(4000, () => argmax(flat, () => gumbel(uniform())));
    expectClean(judge({ logits: flat, tokens: own, shards: 2 }));
  });

  test("the last tile of the vocabulary is left out", () => {
    const draw = sampler(probabilities.map((p, token) => (token >= 496 ? 0 : p)), uniforms(5));
    expectCaught(judge({ logits, tokens: filled(50_000, draw) }), /^(g-test|tokens)/);
  });

  test("one token a tenth too often among many draws", () => {
    const top = probabilities.indexOf(probabilities.reduce((a, b) => Math.max(a, b)));
    const draw = sampler(probabilities.map((p, token) => (token === top ? 1.1 * p : p)), uniforms(6));
    const document = judge({ logits, tokens: filled(200_000, draw) });
    expectCaught(document, /^tokens$/);
    expect(document.tests.find(({ name }) => name === "tokens")!.detail).toContain(`token ${top} was drawn`);
  });

  /**
   * Noise from uniforms of 24 bits ends at -ln(-ln(1 - 2^-24)) = 16.64: of 200,000 tokens 18 below the highest, together 0.3 % of the
   * mass, it draws next to none. The largest of their noises comes from one uniform of 53 bits.
   */
  test("uniforms of 24 bits, deep tail", () => {
    const tail = 200_000;
    const deep = new Float32Array(tail + 1).fill(-18);
    deep[0] = 0;
    const draw = (uniform: () => number, end: number) =>
      filled(30_000, () => {
        const best = Math.min(end, gumbel(uniform() ** (1 / tail)));
        return best - 18 > Math.min(end, gumbel(uniform())) ? 1 + Math.floor(uniform() * tail) : 0;
      });
    expectCaught(judge({ logits: deep, tokens: draw(uniforms(7), 16.64) }), /^tail gap 15-20$/);
    expectClean(judge({ logits: deep, tokens: draw(uniforms(8), Infinity) }));
  });

  test("rows that use each other's logits", () => {
    const rows = normalLogits(2 * 200, 1, 9);
    const draws = [1, 0].map((row) => sampler(softmax(rows.subarray(row * 200, (row + 1) * 200)), uniforms(10 + row)));
    expectCaught(judge({ logits: rows, vocabSize: 200, tokens: filled(6000, (index) => draws[Math.floor(index / 3000)]!()) }), /^(rows|tail)/);
  });
});

describe("dependence", () => {
  const V = 50;
  const logits = normalLogits(V, 1.5, 20);
  const draw = sampler(softmax(logits), uniforms(21));
  const fresh = (count: number) => filled(count, draw);

  test("sample 1 is sample 0", () => {
    const tokens = fresh(2000);
    for (let row = 0; row < 1000; row++) tokens[2 * row + 1] = tokens[2 * row]!;
    expectCaught(judge({ logits, tokens, shape: [1000, 2] }), /^equal neighbours along sample, even$/);
    expectClean(judge({ logits, tokens: fresh(2000), shape: [1000, 2] }));
  });

  /** Term by term the sums of binomials behind it take minutes. */
  test("noise that lasts for ten draws, over a large vocabulary, is quickly caught", { timeout: 40_000 }, () => {
    const [draws, vocabSize] = [1_000_000, 151_936];
    const uniform = uniforms(15);
    const fresh = values(draws / 10, () => Math.floor(uniform() * vocabSize));
    expectCaught(judge({ logits: new Float32Array(vocabSize), tokens: filled(draws, (index) => fresh[Math.floor(index / 10)]!) }), /^equal neighbours/);
  });

  test("rows that share noise, with the same logits", () => {
    const samples = fresh(1000);
    const tokens = filled(4000, (index) => samples[index % 1000]!);
    expectCaught(judge({ logits, tokens, shape: [4, 1000] }), /^equal neighbours along row, (even|odd)$/);
  });

  test("rows that share noise, with different logits", () => {
    const rows = normalLogits(4 * V, 1.5, 22);
    const uniform = uniforms(23);
    const tokens = new Int32Array(4 * 500);
    const clean = new Int32Array(4 * 500);
    for (let sample = 0; sample < 500; sample++) {
      const noise = values(V, () => gumbel(uniform()));
      for (let row = 0; row < 4; row++) {
        const own = rows.subarray(row * V, (row + 1) * V);
        tokens[row * 500 + sample] = argmax(own, (token) => noise[token]!);
        clean[row * 500 + sample] = argmax(own, () => gumbel(uniform()));
      }
    }
    expectCaught(judge({ logits: rows, vocabSize: V, tokens }), /^equal neighbours along row/);
    expectClean(judge({ logits: rows, vocabSize: V, tokens: clean }));
  });

  test("rows that share one uniform of the inverse distribution function", () => {
    const rows = normalLogits(2 * V, 1.5, 24);
    const uniform = uniforms(25);
    const shared = values(2000, uniform);
    const inverse = (weights: Float64Array, u: number) => {
      let token = 0;
      for (let sum = weights[0]!; sum < u && token < V - 1; sum += weights[++token]!);
      return token;
    };
    const weights = [0, 1].map((row) => softmax(rows.subarray(row * V, (row + 1) * V)));
    const tokens = filled(4000, (index) => inverse(weights[Math.floor(index / 2000)]!, shared[index % 2000]!));
    const document = judge({ logits: rows, vocabSize: V, tokens });
    expectCaught(document, /^pairs along row$/);
    expectCaught(document, /^correlation along row$/);
  });

  test("every third position repeats the noise of the one before", () => {
    const tokens = fresh(3000);
    for (let position = 2; position < 3000; position += 3) tokens[position] = tokens[position - 1]!;
    expectCaught(judge({ logits, tokens, axes: ["position"] }), /^equal neighbours along position/);
  });

  test("seed + sample: row 0, sample 1 is row 1, sample 0", () => {
    const stream = fresh(40 + 60);
    const tokens = filled(40 * 60, (index) => stream[Math.floor(index / 60) + (index % 60)]!);
    const document = judge({ logits, tokens, shape: [40, 60] });
    expectCaught(document, /^equal neighbours along row and sample, crosswise/);
  });

  test("samples without replacement", () => {
    const flat = new Float32Array(20);
    const uniform = uniforms(26);
    const tokens = filled(4000, () => 0);
    for (let row = 0; row < 2000; row++) {
      tokens[2 * row] = Math.floor(20 * uniform());
      tokens[2 * row + 1] = (tokens[2 * row]! + 1 + Math.floor(19 * uniform())) % 20;
    }
    expectCaught(judge({ logits: flat, tokens, shape: [2000, 2] }), /^equal neighbours along sample, even$/);
  });

  test("shards of two equal logits: one side always wins", () => {
    const two = new Float32Array(2);
    const draws = sampler(Float64Array.of(1, 1), uniforms(27));
    expectClean(judge({ logits: two, tokens: filled(1000, draws), shards: 2 }));
    expectCaught(judge({ logits: two, tokens: new Int32Array(1000), shards: 2 }), /^shards$/);
    expectCaught(judge({ logits: two, tokens: new Int32Array(1000).fill(1), shards: 2 }), /^shards$/);
  });

  test("shards that share noise, one draw a row", () => {
    const rows = normalLogits(400 * 32, 1, 28);
    const uniform = uniforms(29);
    const tokensWith = (isShared: boolean) =>
      filled(400, (row) => {
        const noise = values(16, () => gumbel(uniform()));
        return argmax(rows.subarray(row * 32, (row + 1) * 32), (token) => (isShared ? noise[token % 16]! : gumbel(uniform())));
      });
    expectCaught(judge({ logits: rows, vocabSize: 32, tokens: tokensWith(true), shards: 2 }), /^shards$/);
    expectClean(judge({ logits: rows, vocabSize: 32, tokens: tokensWith(false), shards: 2 }));
  });
});
