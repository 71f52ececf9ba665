/**
 * The probabilities behind goodness of fit. Known values: mpmath 1.3 (sums of the exact terms with 40 digits, and the inverted
 * characteristic function of truncated squares), scipy 1.17 (hypergeom, ncx2), and closed forms where they are named.
 */
import { describe, expect, test } from "vitest";
import { deviateOf } from "../src/verify/gof/coins.js";
import { testCount } from "../src/verify/gof/count-test.js";
import { correlationAlong } from "../src/verify/gof/correlation.js";
import { criticalBeside } from "../src/verify/gof/detection.js";
import { largestAbove, limitOfLargest, sumAboveWithin, sumPointAbove } from "../src/verify/gof/joint.js";
import { chiSquareAbove, noncentralChiSquareAbove, normalAbove, normalPointAbove } from "../src/verify/gof/special.js";
import { someOf, sumTail } from "../src/verify/gof/binomial-sums.js";
import { binomialTail, hypergeometricTail, type Tail } from "../src/verify/gof/tails.js";
import { uniforms } from "./gof-draws.js";

function expectNear(actual: number, expected: number, relative: number): void {
  expect(Math.abs(actual / expected - 1), `${actual} instead of ${expected}`).toBeLessThan(relative);
}

function expectTail(tail: Tail, above: number, at: number, below: number, relative: number): void {
  expectNear(tail.above, above, relative);
  expectNear(tail.at, at, relative);
  if (below > 0) expectNear(tail.below, below, relative);
}

describe("binomial", () => {
  test.each([
    [3, 10, 0.25, 0.2241249084472656, 0.2502822875976563, 0.5255928039550781],
    [30, 1000, 0.01, 6.419928603137667e-8, 1.417995990658192e-7, 0.9999997940011149],
    [700, 1000, 0.5, 3.766850723525808e-38, 5.065988280449261e-38, 1],
    [0, 50, 0.001, 0.04879437180296865, 0.9512056281970313, 0],
    [40, 1_000_000, 1e-5, 1.77650728440498e-13, 5.561902385040825e-13, 0.9999999999992662],
    [499_000, 1_000_000, 0.5, 0.9771958490747341, 0.0001079819780189152, 0.02269616795467213],
  ])("%i of %i at %f", (k, trials, probability, above, at, below) => {
    expectTail(binomialTail(k, trials, probability), above, at, below, 1e-8);
    // Failures are the mirror image.
    const mirror = binomialTail(trials - k, trials, 1 - probability);
    expectNear(mirror.below, above, 1e-8);
  });

  test("is a certainty at the ends", () => {
    expect(binomialTail(0, 7, 0)).toEqual({ above: 0, at: 1, below: 0 });
    expect(binomialTail(7, 7, 1)).toEqual({ above: 0, at: 1, below: 0 });
    expect(binomialTail(1, 7, 0)).toEqual({ above: 0, at: 0, below: 1 });
    expect(binomialTail(6, 7, 1)).toEqual({ above: 1, at: 0, below: 0 });
    expect(binomialTail(0, 0, 0.5)).toEqual({ above: 0, at: 1, below: 0 });
  });
});

/** With none beside it x draws of x have the probability 0.1^x. */
test("critical counts beside others", () => {
  expect(criticalBeside(0, 0.1, 100, 2e-5)).toEqual({ count: 5, part: expect.closeTo(0.2, 9) });
  // P(X >= 1 of 3) = 1 - 0.9^3 = 0.271, P(X >= 2 of 4) = 0.0523, P(X = 2 of 4) = 6 * 0.01 * 0.81.
  expect(criticalBeside(2, 0.1, 100, 0.05)).toEqual({ count: 3, part: expect.closeTo((0.05 - 0.0037) / 0.0486, 9) });
  expect(criticalBeside(2, 0.1, 100, 0.06).count).toBe(2);
  expect(criticalBeside(99, 0.1, 100, 1e-9)).toEqual({ count: 2, part: 0 });
});

describe("sum of binomials", () => {
  const ramp = Array.from({ length: 200 }, (_, index) => index / 400 + 0.001);
  test("known values, term by term", () => {
    expectTail(sumTail(4, { trials: [3, 2], probabilities: [0.5, 0.9] }), 0.10125, 0.32625, 0.5725, 1e-12);
    expectTail(sumTail(75, { trials: ramp.map(() => 1), probabilities: ramp }), 9.57254203687e-6, 1.00094914357e-5, 0.999980417967, 1e-9);
  });

  /** Variances of 116 and 750. */
  test("known values, by the saddlepoint", () => {
    const mixed = { trials: [400, 400, 50], probabilities: [0.02, 0.5, 0.98] };
    expectTail(sumTail(300, mixed), 1.56005359118e-5, 8.0355186054e-6, 0.999976363945, 1e-4);
    expectTail(sumTail(258, mixed), 0.442462806346, 0.0380406065385, 0.519496587116, 1e-4);
    const four = { trials: [1000, 1000, 1000, 1000], probabilities: [0.1, 0.2, 0.3, 0.4] };
    expectTail(sumTail(1150, four), 1.01036446769039e-8, 2.38349138867619e-9, 0.999999987512863, 1e-5);
    expectTail(sumTail(1000, four), 0.491384721275352, 0.0150773443240815, 0.493537934400566, 1e-5);
    expectTail(sumTail(850, four), 0.999999995308878, 9.70383602079357e-10, 3.72073886510851e-9, 1e-5);
  });

  test("of equal probabilities is one binomial", () => {
    const split = { trials: Array.from({ length: 40 }, () => 25), probabilities: Array.from({ length: 40 }, () => 0.03) };
    const whole = binomialTail(61, 1000, 0.03);
    expectTail(sumTail(61, split), whole.above, whole.at, whole.below, 1e-9);
  });

  test("certain parts shift it", () => {
    const whole = binomialTail(3, 10, 0.4);
    expect(sumTail(8, { trials: [5, 10, 9], probabilities: [1, 0.4, 0] })).toEqual(whole);
    expect(sumTail(4, { trials: [5], probabilities: [1] })).toEqual({ above: 1, at: 0, below: 0 });
    expect(sumTail(16, { trials: [5, 10], probabilities: [1, 0.4] }).above).toBe(0);
    expect(someOf({ trials: [2, 3], probabilities: [0.5, 0.1] })).toBeCloseTo(1 - 0.25 * 0.729, 14);
  });

  /** Mean 60.6, variance 52.5; known values from exact fractions. Up to 150 the tail is exact, from 151 on a bound of it. */
  const steep = Array.from({ length: 100 }, (_, index) => (index + 1) / 500);
  const sixes = { trials: steep.map(() => 6), probabilities: steep };
  const mirrored = { trials: sixes.trials, probabilities: steep.map((p) => 1 - p) };
  test("is exact up to 90 past the mean", () => {
    expectTail(sumTail(150, sixes), 2.18999867938413e-27, 4.84136546230813e-27, 1, 1e-9);
    const { above, at, below } = sumTail(600 - 150, mirrored);
    expectTail({ above: below, at, below: above }, 2.18999867938413e-27, 4.84136546230813e-27, 1, 1e-9);
  });

  test.each([
    [151, 2.18999867938413e-27],
    [200, 4.69338560119687e-57],
    [400, 4.06512553004048e-266],
    [600, 0],
  ])("at %i it is bounded from above, and not by much", (k, atLeast) => {
    const { above, at, below } = sumTail(k, sixes);
    expect({ at, below }).toEqual({ at: 0, below: 1 });
    expect(above).toBeGreaterThan(atLeast);
    expect(above).toBeLessThanOrEqual(Math.max(Number.MIN_VALUE, 30 * atLeast));
    const mirror = sumTail(600 - k, mirrored);
    expect(mirror).toEqual({ above: 1, at: 0, below: expect.any(Number) });
    expectNear(mirror.below, above, 1e-9);
  });

  /** All succeed: 0.01^100 * 0.02^20. */
  test("its bound at the end is a closed form", () => {
    expectNear(sumTail(120, { trials: [100, 20], probabilities: [0.01, 0.02] }).above, 1.048576e-234, 1e-9);
  });

  /** Term by term this takes minutes: 100,000 terms, each over 450,000 places. */
  test("of many terms is as quickly bounded", { timeout: 20_000 }, () => {
    const many = { trials: new Float64Array(100_000).fill(10), probabilities: Float64Array.from({ length: 100_000 }, (_, index) => (1 + (index % 7)) / 1e6) };
    expect(sumTail(450_000, many)).toEqual({ above: Number.MIN_VALUE, at: 0, below: 1 });
  });
});

test("hypergeometric", () => {
  expectTail(hypergeometricTail(12, 50, 20, 15), 1.550517390821977e-5, 2.2722208987001314e-4, 0.9997572727362217, 1e-9);
  expectTail(hypergeometricTail(3, 1000, 30, 100), 0.35218405921006324, 0.23970473000784928, 0.40811121078208745, 1e-9);
  expectTail(hypergeometricTail(40, 1000, 300, 100), 0.008952789818246692, 0.006931507413834173, 0.9841157027679192, 1e-9);
  expect(hypergeometricTail(5, 10, 5, 10)).toMatchObject({ above: 0, below: 0 });
});

describe("chi-square", () => {
  test.each([
    [1, 1, 0.3173105078629141],
    [148.7, 63, 6.912292808108873e-9],
    [1990, 2000, 0.558762559479011],
    [2100, 2000, 0.05867111137731808],
    [5700, 5000, 1.0121823117764421e-11],
    [103_000, 100_000, 1.5289130117302352e-11],
    [99_000, 100_000, 0.9875216843619172],
  ])("above %f with %i degrees", (x, degrees, expected) => expectNear(chiSquareAbove(x, degrees), expected, 1e-6));

  /** P(X > x) = exp(-x / 2) with two degrees. */
  test("closed forms", () => {
    expectNear(chiSquareAbove(60, 2), Math.exp(-30), 1e-12);
    expectNear(chiSquareAbove(25, 1), 2 * normalAbove(5), 1e-12);
    expect([chiSquareAbove(0, 3), chiSquareAbove(1, 0), chiSquareAbove(0, 0)]).toEqual([1, 0, 1]);
  });

  test.each([
    [40, 7, 30, 0.3684352399246967],
    [700, 511, 150, 0.1660122043160911],
    [5600, 5000, 800, 0.9603162123171657],
    [20, 1, 30, 0.8425731511006634],
    [10, 3, 4, 0.2240780043013281],
  ])("noncentral above %f with %i degrees, %f", (x, degrees, noncentrality, expected) => {
    expect(Math.abs(noncentralChiSquareAbove(x, degrees, noncentrality) - expected)).toBeLessThan(0.003);
  });
});

test("normal points", () => {
  expect(normalPointAbove(0.3)).toBeCloseTo(0.5244005127080409, 14);
  expect(normalPointAbove(1e-3)).toBeCloseTo(3.090232306167814, 13);
  expectNear(normalAbove(normalPointAbove(1e-12)), 1e-12, 1e-12);
  expectNear(normalAbove(normalPointAbove(1e-300)), 1e-300, 1e-9);
});

describe("the sum of squares where no deviate is past its limit", () => {
  test.each([
    [20, 2, 4, 1.40978322289e-5],
    [40, 2, 5.5, 6.04379370862e-10],
    [9, 2, 3.5, 0.0101881747447],
    [50, 20, 3.8, 0.0001560754399],
    [150, 100, 4, 0.0008145429728],
    [180, 100, 4, 1.235025164e-6],
  ])("above %f, %i of them, limit %f: within the bound that is told", (x, count, limit, exact) => {
    const short = exact - sumAboveWithin(x, count, limit);
    expect(short).toBeGreaterThan(-5e-4 * exact);
    expect(short).toBeLessThan(largestAbove(limit, count) ** 2 / 2 + 5e-4 * exact);
  });

  test("one deviate alone: a closed form", () => {
    expectNear(sumAboveWithin(9, 1, 4), (normalAbove(3) - normalAbove(4)) / (0.5 - normalAbove(4)), 1e-9);
    expect(sumAboveWithin(17, 1, 4)).toBe(0);
  });

  test("points and limits are inverse", () => {
    expectNear(largestAbove(limitOfLargest(1e-10, 5000), 5000), 1e-10, 1e-9);
    for (const rate of [1e-2, 1e-10]) expectNear(sumAboveWithin(sumPointAbove(rate, 300, 6), 300, 6), rate, 1e-4);
  });
});

describe("a deviate of a count", () => {
  /** For a coin uniform in (0, 1) the probability of z > t is exactly the normal's: summed over counts, a step each. */
  test("is exactly normal", () => {
    const [trials, probability] = [12, 0.2];
    for (const point of [-2.5, -1, 0, 0.7, 3]) {
      let above = 0;
      for (let k = 0; k <= trials; k++) {
        const tail = binomialTail(k, trials, probability);
        const part = (normalAbove(point) - tail.above) / tail.at;
        const coin = Math.min(1, Math.max(0, part));
        above += tail.at * coin;
        if (coin > 0 && coin < 1) expect(deviateOf(tail, coin)).toBeCloseTo(point, 9);
      }
      expectNear(above, normalAbove(point), 1e-9);
    }
  });

  test("is finite where the count is impossible", () => {
    expect(deviateOf({ above: 0, at: 0, below: 1 }, 0.5)).toBe(38.5);
    expect(deviateOf({ above: 1, at: 0, below: 0 }, 0.5)).toBe(-38.5);
  });
});

describe("the test of a count", () => {
  const rare = { trials: [1000], probabilities: [1e-6] };
  test("uses no more of the rate than a count above 0 has", () => {
    expect(testCount(0, rare, 0.01, 0.5)).toEqual({ pValue: 1, threshold: expect.closeTo(1e-3, 6) });
    const one = testCount(1, rare, 0.01, 0.9);
    expect(one.pValue).toBeLessThan(one.threshold);
  });

  /** Two-sided, 2 min(P(X > k) + c P(X = k), P(X < k) + (1 - c) P(X = k)). */
  test("is two-sided where none at all would be strange", () => {
    const half = { trials: [100], probabilities: [0.5] };
    const { above, at } = binomialTail(70, 100, 0.5);
    expectNear(testCount(70, half, 1e-3, 0.25).pValue, 2 * (above + 0.25 * at), 1e-9);
    expectNear(testCount(30, half, 1e-3, 0.75).pValue, 2 * (above + 0.25 * at), 1e-9);
  });
});

describe("correlation of normal scores", () => {
  /** P(XY > x) is the integral of the Bessel function K0 from x on, over pi: mpmath. The worst case of the saddlepoint, one pair alone. */
  test("one product", () => {
    const pValue = (product: number) => correlationAlong({ shape: [2] }, 0, Float64Array.of(1, product))!.pValue;
    expectNear(pValue(3), 2 * 0.00981929872154689, 0.1);
    expectNear(pValue(17), 2 * 3.87064649148022e-9, 0.1);
  });

  /** A sum of n products is half the difference of two chi-square variables with n degrees: mpmath. */
  test.each([
    [10, 10, 0.002120673282, 0.01],
    [10, 30, 1.553577421e-10, 0.01],
    [100, 30, 0.001545381876, 0.001],
    [100, 70, 5.348827824e-11, 0.001],
  ])("%i products above %f", (lines, sum, above, relative) => {
    const scores = Float64Array.from({ length: 2 * lines }, (_, index) => (index % 2 === 0 ? 1 : sum / lines));
    expectNear(correlationAlong({ shape: [lines, 2] }, 1, scores)!.pValue, 2 * above, relative);
  });

  test("is a uniform p-value on many lines", () => {
    const uniform = uniforms(5);
    const low = Array.from({ length: 4000 }, () => {
      const scores = Float64Array.from({ length: 60 }, () => normalPointAbove(uniform()));
      return correlationAlong({ shape: [3, 20] }, 1, scores)!.pValue;
    }).filter((pValue) => pValue < 0.05).length;
    expect(Math.abs(low - 200)).toBeLessThan(4 * Math.sqrt(200));
  });

  test("an axis of one place has none", () => expect(correlationAlong({ shape: [1, 5] }, 0, new Float64Array(5))).toBeNull());
});
