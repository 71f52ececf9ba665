/** How long a call takes on an otherwise busy machine: the fastest of several, since noise only ever adds. */

/** Calls work at least once, and again until the budget is spent. Returns milliseconds of the fastest call. */
export async function fastest(budgetMilliseconds: number, work: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  const started = performance.now();
  do {
    const before = performance.now();
    await work();
    best = Math.min(best, performance.now() - before);
  } while (performance.now() - started < budgetMilliseconds);
  return best;
}
