/** Engines that walk along weights: parts of [0, 1], and bounds that hold every walk. */
import { describe, expect, it } from "vitest";
import { around, decide, exactly, type Bounded } from "../src/verify/bounded.js";
import { spanOf, walkById, walkByRank, walkScores, weightsOf, type ExpError } from "../src/verify/engines/cdf.js";
import { twister, uniform53 } from "../src/verify/engines/mersenne.js";

const EXACT: ExpError = { relative: () => 0, absolute: 0 };
const ROW = [0, Math.log(3), -Infinity, Math.log(4)];

function scoresById(logits: Bounded, u: number, error = EXACT): Bounded {
  const weights = weightsOf(logits, error);
  return walkScores(weights, walkById(weights), spanOf(u, 0));
}

function scoresByRank(logits: Bounded, u: number, kept: number, error = EXACT): Bounded {
  const weights = weightsOf(logits, error);
  return walkScores(weights, walkByRank(logits, weights, kept, "by-id"), spanOf(u, 0));
}

describe("a walk", () => {
  it("by ids gives each token its part: eighths 1, 3, 0 and 4", () => {
    expect([0.1, 0.2, 0.45, 0.55, 0.99].map((u) => decide(scoresById(exactly(ROW), u)).token)).toEqual([0, 1, 1, 3, 3]);
    const { value } = scoresById(exactly(ROW), 0.25);
    expect([...value]).toEqual([-0.125, -0, -Infinity, expect.closeTo(-0.25, 12)]);
  });

  it("by ranks begins with the highest, and ends with the last that is kept", () => {
    const drawn = (kept: number) => [0.1, 0.45, 0.55, 0.8, 0.9].map((u) => decide(scoresByRank(exactly(ROW), u, kept)).token);
    expect(drawn(4)).toEqual([3, 3, 1, 1, 0]);
    expect(drawn(2)).toEqual([3, 3, 3, 1, 1]);
    expect(drawn(1)).toEqual([3, 3, 3, 3, 3]);
    expect([...scoresByRank(exactly(ROW), 0.9, 2).high.slice(0, 1)]).toEqual([-Infinity]);
  });

  it("tells how near a draw is to the next token's part", () => {
    const draw = (u: number) => decide(scoresById(exactly([0, -Infinity, Math.log(2), 0]), u));
    expect(draw(0.125)).toMatchObject({ token: 0, runnerUp: 2 });
    expect(draw(0.375)).toMatchObject({ token: 2, runnerUp: 0 });
    expect(draw(0.625)).toMatchObject({ token: 2, runnerUp: 3 });
    expect(draw(0.875)).toMatchObject({ token: 3, runnerUp: 2 });
    expect(draw(0.375).gap).toBeCloseTo(0.125, 8);
    expect(decide(scoresById(exactly([5]), 0.5))).toEqual({ token: 0, runnerUp: -1, gap: Infinity, error: 0 });
  });

  it("leaves equal logits open where their order is, and keeps them in the order of ids otherwise", () => {
    const logits = exactly([1, 2, 2]);
    const weights = weightsOf(logits, EXACT);
    const scores = (ties: "by-id" | "any") => walkScores(weights, walkByRank(logits, weights, 3, ties), spanOf(0.1, 0));
    expect(decide(scores("by-id"))).toMatchObject({ token: 1, runnerUp: 2 });
    expect(scores("by-id").high[2]).toBeLessThan(-0.3);
    expect(scores("any").high[2]).toBeCloseTo(0, 12);
    expect(scores("any").low[1]).toBeLessThan(-0.3);
  });
});

/** What an engine does that has these logits: a plain walk. */
function walked(logits: readonly number[], u: number, order: readonly number[]): number {
  const weights = order.map((token) => Math.exp(logits[token]!));
  const total = weights.reduce((a, b) => a + b, 0);
  let sum = 0;
  const at = weights.findIndex((weight) => (sum += weight) >= u * total);
  return order[at < 0 ? order.length - 1 : at]!;
}

describe("bounds", () => {
  const next = twister(20261130);
  const random = () => uniform53(next);

  it.each(["ids", "ranks"])("hold every walk by %s of logits within theirs", (order) => {
    let proven = 0;
    for (let round = 0; round < 3000; round++) {
      const size = 1 + Math.floor(random() * 8);
      const kept = order === "ids" ? size : 1 + Math.floor(random() * size);
      const width = [0, 1e-3, 0.3][round % 3]!;
      const middle = Array.from({ length: size }, () => Math.round(random() * 6) / 2);
      const bounds = around(middle, middle.map(() => width));
      const actual = middle.map((logit) => logit + (2 * random() - 1) * width);
      const u = random();
      const ranks = actual.map((_, token) => token).sort((a, b) => actual[b]! - actual[a]! || a - b);
      const token = walked(actual, u, order === "ids" ? actual.map((_, id) => id) : ranks.slice(0, kept));
      const scores = order === "ids" ? scoresById(bounds, u) : scoresByRank(bounds, u, kept);
      // The token that is drawn must be allowed to have the highest score.
      const best = scores.low.reduce((a, b) => Math.max(a, b), -Infinity);
      expect({ round, allowed: scores.high[token]! >= best }).toEqual({ round, allowed: true });
      const { gap, error, token: ours } = decide(scores);
      if (gap > error) {
        proven++;
        expect({ round, ours }).toEqual({ round, ours: token });
      }
    }
    // Exact logits and narrow ones prove nearly all.
    expect(proven).toBeGreaterThan(1500);
  });

  it("of the uniform number widen the scores", () => {
    const weights = weightsOf(exactly(ROW), EXACT);
    const scores = walkScores(weights, walkById(weights), spanOf(0.125, 0.01));
    expect(scores.high[1]).toBeCloseTo(0, 12);
    expect(scores.low[0]).toBeCloseTo(-0.01, 12);
  });

  it("of weights that vanish are no NaN", () => {
    const scores = scoresById(exactly([0, -1e4, -800]), 0.999999, { relative: () => 0.01, absolute: 2 ** -126 });
    expect([...scores.value, ...scores.low, ...scores.high].some(Number.isNaN)).toBe(false);
    expect(decide(scores).token).toBe(0);
  });
});
