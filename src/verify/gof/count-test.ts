/** The test of one count, exact, with a threshold that it can reach. */
import { randomisedAbove, randomisedBelow } from "./coins.js";
import { someOf, sumTail, type Binomials } from "./binomial-sums.js";

export interface CountTest {
  readonly pValue: number;
  /** At most what was offered: as much of it as this count can use. */
  readonly threshold: number;
}

/**
 * Two-sided where a count of 0 is unlikely enough to speak against the hypothesis; else only too large a count does, and what cannot
 * be used of the threshold is left to other tests.
 * observed: a count that is the sum of the binomials under the hypothesis. coin: in (0, 1).
 */
export function testCount(observed: number, binomials: Binomials, offered: number, coin: number): CountTest {
  const some = someOf(binomials);
  if (1 - some > offered / 2) {
    // One draw is below this, whatever is rounded.
    const threshold = Math.min(offered, some * (1 + 1e-6));
    return { threshold, pValue: observed === 0 ? 1 : randomisedAbove(sumTail(observed, binomials), coin) };
  }
  const tail = sumTail(observed, binomials);
  return { threshold: offered, pValue: Math.min(1, 2 * Math.min(randomisedAbove(tail, coin), randomisedBelow(tail, coin))) };
}
