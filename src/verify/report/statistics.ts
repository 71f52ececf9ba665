/** How far counts of draws may be from what is expected, for the eye: the tests of a document decide, not these. */

/** Bands and error bars reach so many standard deviations to either side. */
export const BAND = 3;

/**
 * The standard deviation of a count of which `expected` of `draws` are expected, binomial. Where the draws are of several
 * distributions it is smaller, never larger.
 */
export function deviation(expected: number, draws: number): number {
  // A sum of probabilities may be a bit above 1.
  return Math.sqrt(expected * Math.max(0, 1 - expected / Math.max(1, draws)));
}

/** How many standard deviations the observed count lies above the expected one; null where that is no number. */
export function standardized(expected: number, observed: number, draws: number): number | null {
  if (expected === observed) return 0;
  const z = (observed - expected) / deviation(expected, draws);
  return Number.isFinite(z) ? z : null;
}
