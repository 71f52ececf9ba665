/** Rare tokens: the p-value that is reported is that of the rarest one. Known values: closed forms of the binomials that are named. */
import { describe, expect, test } from "vitest";
import { goodnessOfFit } from "../src/verify/gof/gof.js";
import { prepared, sampler, SETTINGS, uniforms } from "./gof-draws.js";

const DRAWS = 1000;

/** Token 0 has what the others, of so many expected draws, leave. */
function rowOf(expected: readonly number[]): number[] {
  const rest = expected.reduce((sum, count) => sum + count, 0);
  return [DRAWS - rest, ...expected].map((count) => Math.log(count / DRAWS));
}

/** As many draws of each token as are named, and token 0 for the rest. */
function tokensOf(counts: Readonly<Record<number, number>>): number[] {
  const rare = Object.entries(counts).flatMap(([token, count]) => new Array<number>(count).fill(Number(token)));
  return [...rare, ...new Array<number>(DRAWS - rare.length).fill(0)];
}

function rareTest(rows: readonly number[][], tokens: readonly number[]) {
  const { tests } = goodnessOfFit({ tokens, logits: Float64Array.from(rows.flat()), vocabSize: rows[0]!.length });
  return tests.find(({ name }) => name === "rare tokens")!;
}

/** Each of so many tokens may raise an alarm. */
const times = (count: number, probability: number) => count * probability;

describe("a token that is rarer than one before it is not passed over", () => {
  /** Tokens 1 to 10 share a bin, 11 to 14 another. Token 1 has 9 of its bin's 10 draws: 10 * 0.1^9 * 0.9 + 0.1^10. Token 11 has all 20: 0.25^20. */
  test("where it has all draws of its bin", () => {
    const row = rowOf([...new Array<number>(10).fill(0.51), ...new Array<number>(4).fill(1.3)]);
    const one = rareTest([row], tokensOf({ 1: 9, 2: 1 }));
    expect(one.pValue).toBeGreaterThan(times(14, 1e-10));
    expect(one.pValue).toBeLessThan(times(14, 9.1e-9));
    const both = rareTest([row], tokensOf({ 1: 9, 2: 1, 11: 20 }));
    expect(both.pValue).toBeLessThan(times(14, 9.0950e-13));
    expect(both).toMatchObject({ passed: false, statistic: 20, detail: "token 11 was drawn 20 times, 1.3 expected" });
  });

  /**
   * Tokens 1 to 10 share a bin, 11 to 14 another. In row 1 token 11 has 0.05 / 2.7 of its bin, and 6 of 7 draws: 7 (1 / 54)^6 (53 / 54) +
   * (1 / 54)^7. In row 0 it has 26 / 54, but there its bin has no draws.
   */
  test("where it has the draws of a row in which it is rarest", () => {
    const others = new Array<number>(10).fill(0.3);
    const rows = [rowOf([...others, 1.3, 1.3, 0.05, 0.05]), rowOf([...others, 0.05, 0.05, 1.3, 1.3])];
    const found = rareTest(rows, [...tokensOf({}), ...tokensOf({ 1: 5, 2: 1, 11: 6, 13: 1 })]);
    expect(found.statistic).toBe(6);
    expect(found.pValue).toBeGreaterThan(times(14, 7.4e-13));
    expect(found.pValue).toBeLessThan(times(14, 2.779e-10));
  });
});

test("no alarm where rare tokens are drawn as often as their bins have it", () => {
  const row = rowOf([...new Array<number>(10).fill(0.51), ...new Array<number>(4).fill(1.3)]);
  const found = rareTest([row], tokensOf({ 1: 1, 2: 1, 4: 2, 11: 2, 12: 1, 13: 2 }));
  expect(found.passed).toBe(true);
  expect(found.pValue).toBeGreaterThan(0.01);
});

/** 300 bags: a standard deviation of 1.7 %. Both the token's count and its bin's vary; a power for a fixed count of the bin would be 10 % too large. */
test.each([1e-9, 1e-2])("a rare token's stated bias is found with probability 0.9, alpha %s", (alpha) => {
  const bench = prepared({ ...SETTINGS[5]!, vocabSize: 4000 }, 1);
  const tokens = bench.draw([sampler(bench.probabilities[0]!, uniforms(1))]);
  const { what, smallest } = goodnessOfFit({ tokens, logits: bench.logits, alpha }).power[0]!;
  expect(what).toMatch(/^relative increase of token 0,/);
  const draw = sampler(bench.probabilities[0]!.map((p, token) => (token === 0 ? p * (1 + smallest) : (p * (1 - p * (1 + smallest))) / (1 - p))), uniforms(2));
  let found = 0;
  for (let run = 0; run < 300; run++) if (bench.alarms(bench.draw([draw]), [alpha])[0]) found++;
  expect(found / 300).toBeGreaterThan(0.85);
  expect(found / 300).toBeLessThan(0.95);
});
