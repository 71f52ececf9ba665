/** Numbers with bounds, and the decision between them. */
import { describe, expect, it } from "vitest";
import { around, decide, exactly, falling, isProven, leadOver, minusLog, over, plus, relatively, rising, times, type Bounded } from "../src/verify/bounded.js";

const bounded = (...numbers: [value: number, low: number, high: number][]): Bounded => ({
  value: Float64Array.from(numbers, ([value]) => value),
  low: Float64Array.from(numbers, ([, low]) => low),
  high: Float64Array.from(numbers, ([, , high]) => high),
});
const listed = ({ value, low, high }: Bounded) => Array.from(value, (v, index) => [v, low[index], high[index]]);
const EXACT = relatively(0);
const ABSOLUTE = () => 2 ** -20;

describe("numbers with bounds", () => {
  it("are exact, or off by so much", () => {
    expect(listed(exactly([1, -Infinity]))).toEqual([[1, 1, 1], [-Infinity, -Infinity, -Infinity]]);
    expect(listed(around([1, -2, -Infinity], [0.5, 0, 0.5]))).toEqual([[1, 0.5, 1.5], [-2, -2, -2], [-Infinity, -Infinity, -Infinity]]);
    expect(listed(exactly([]))).toEqual([]);
  });

  it("rise and fall", () => {
    const x = bounded([2, 1, 4]);
    expect(listed(rising(x, (n) => 3 * n, EXACT))).toEqual([[6, 3, 12]]);
    expect(listed(falling(x, (n) => -n, EXACT))).toEqual([[-2, -4, -1]]);
    expect(listed(rising(x, (n) => n, relatively(0.25)))).toEqual([[2, 0.75, 5]]);
    expect(listed(times(x, 2, ABSOLUTE))).toEqual([[4, 2 - 2 ** -20, 8 + 2 ** -20]]);
    expect(listed(over(x, 2, EXACT))).toEqual([[1, 0.5, 2]]);
  });

  it("a logarithm turns the bounds around and adds its own error", () => {
    expect(listed(minusLog(bounded([1, 0.25, 4]), (size) => 2 ** -20 * Math.max(1, size), Math.log2))).toEqual([[-0, -2 - 2 ** -19, 2 + 2 ** -19]]);
    expect(minusLog(exactly([1]), relatively(2 ** -20)).high[0]).toBe(0);
  });

  it("a logarithm of what may be 0 or negative is unbounded", () => {
    expect(minusLog(bounded([1e-9, 0, 2e-9]), ABSOLUTE).high[0]).toBe(Infinity);
    expect(listed(minusLog(bounded([1e-9, -1e-9, 2e-9]), ABSOLUTE))[0]!.slice(1)).toEqual([-Infinity, Infinity]);
    expect(listed(minusLog(minusLog(exactly([0]), ABSOLUTE), ABSOLUTE))).toEqual([[-Infinity, -Infinity, -Infinity]]);
  });

  it("a masked token stays masked, whatever is added", () => {
    const masked = exactly([-Infinity, -Infinity]);
    expect(listed(plus(masked, bounded([3, 2, 4], [3, -Infinity, Infinity]), ABSOLUTE))).toEqual(listed(masked));
    expect(listed(plus(bounded([3, -Infinity, Infinity]), masked, ABSOLUTE)).flat()).not.toContain(NaN);
  });
});

describe("a decision", () => {
  const scores = bounded([1, 1, 1], [2, 1.75, 2.5], [1.5, 1, 1.625]);

  it("names the highest, what may beat it, and the error of both", () => {
    expect(decide(scores)).toEqual({ token: 1, runnerUp: 2, gap: 0.5, error: 0.375 });
    expect(isProven(decide(scores))).toBe(true);
    // Lower than another, but it may be higher than the best.
    const wide = bounded([1, 1, 1], [2, 1.75, 2.5], [1.5, 1, 1.625], [0, 0, 2]);
    expect(decide(wide)).toEqual({ token: 1, runnerUp: 3, gap: 2, error: 2.25 });
    expect(isProven(decide(wide))).toBe(false);
    expect(leadOver(wide, 1, 0)).toEqual({ gap: 1, error: 0.25 });
  });

  it("gives ties to the first, and does not call them proven", () => {
    expect(decide(exactly([1, 1]))).toEqual({ token: 0, runnerUp: 1, gap: 0, error: 0 });
    expect(isProven(decide(exactly([1, 1])))).toBe(false);
    expect(decide(exactly([1]))).toEqual({ token: 0, runnerUp: -1, gap: Infinity, error: 0 });
  });

  it("takes nothing off the lead over a masked rival", () => {
    expect(decide(bounded([-Infinity, -Infinity, -Infinity], [-5, -6, -4]))).toEqual({ token: 1, runnerUp: 0, gap: Infinity, error: 0 });
    expect(decide(exactly([-Infinity, -Infinity]))).toEqual({ token: 0, runnerUp: 1, gap: 0, error: 0 });
  });

  it("is proven no more where a rival's bounds are infinite", () => {
    const { gap, error } = decide(bounded([5, 4, 6], [0, -Infinity, Infinity]));
    expect({ gap, error }).toEqual({ gap: 5, error: Infinity });
    // Never of use to say so much: but no NaN comes out.
    expect(leadOver(bounded([5, -Infinity, Infinity], [0, -Infinity, Infinity]), 0, 1)).toEqual({ gap: 5, error: Infinity });
  });

  it("refuses nothing, and what is not a number", () => {
    expect(() => decide(exactly([]))).toThrow(new RangeError('"scores" expected at least one, got none'));
    const odd = Float64Array.of(0, NaN);
    expect(() => decide({ value: odd, low: odd, high: odd })).toThrow(new RangeError('"scores" expected numbers, got NaN for token 1'));
    expect(() => exactly([0, NaN])).toThrow(new RangeError('"values[1]" expected a number, got NaN'));
    expect(() => around([0, 1], [0, -1])).toThrow(new RangeError('"errors[1]" expected a number of 0 or more, got -1'));
  });
});
