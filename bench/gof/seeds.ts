/** A seed for each run of each stream of runs, so that no result depends on which process does it. */

const RUN_LIMIT = 1_000_000;

/** stream: below 4000. run: below a million. */
export function seedOf(stream: number, run: number): number {
  return stream * RUN_LIMIT + run;
}
