/**
 * What vLLM's heavy-tailed test finds at its own size: one token 18 above 200,000 others, 500,000 draws. So many numbers, 10^11, would
 * take hours here; for noise of a known law the probability of a token of the tail is an integral.
 */
const TAIL_TOKENS = 200_000;
const DRAWS = 500_000;
const GAP = 18;
/** Tokens of the tail count 1, 2 or 3, a third of them each. */
const COUNTS = [1, 2, 3];
const SIGMAS = 10;

/** P(noise > x). */
type Survival = (x: number) => number;

const gumbelSurvival: Survival = (x) => -Math.expm1(-Math.exp(-x));

/** Of u = (k + share) 2^-bits: k runs over the whole numbers below 2^bits. */
function gridSurvival(bits: number, share: number): Survival {
  const size = 2 ** bits;
  return (x) => Math.min(size, Math.max(0, Math.ceil(gumbelSurvival(x) * size + share) - 1)) / size;
}

const CAP = 15.942;

/** The noise of mutants that differs from Gumbel's in its tail. */
const SURVIVALS: Readonly<Record<string, Survival>> = {
  "u-reaches-1": (x) => Math.max(gumbelSurvival(x), 2 ** -25),
  "u-reaches-0": gridSurvival(24, 0),
  "u-of-24-bits": gridSurvival(24, 0.5),
  "u-of-23-bits": gridSurvival(23, 0),
  "noise-is-capped": (x) => (x >= CAP ? 0 : gumbelSurvival(x)),
  // A token of the tail has a probability of 3e-8.
  "rare-tokens-dropped": () => 0,
};

const [FROM, TO, STEP] = [-4, 30, 1e-3];

/** 1 - integral of the head's density times the probability that no token of the tail is above it. The head's noise is Gumbel's. */
function tailMass(survival: Survival): number {
  let [mass, total] = [0, 0];
  for (let noise = FROM; noise < TO; noise += STEP) {
    const density = Math.exp(-noise - Math.exp(-noise));
    const none = COUNTS.reduce((sum, count) => sum + (TAIL_TOKENS / COUNTS.length) * Math.log1p(-survival(noise + GAP - Math.log(count))), 0);
    mass += density * -Math.expm1(none);
    total += density;
  }
  return mass / total;
}

/** Standard deviations between the tail's draws and those expected; null for a mutant whose tail is Gumbel's, or not known. */
export function heavyTailZ(mutant: string): number | null {
  const survival = SURVIVALS[mutant];
  if (survival === undefined) return null;
  const expected = tailMass(gumbelSurvival);
  return ((tailMass(survival) - expected) * DRAWS) / Math.sqrt(DRAWS * expected * (1 - expected));
}

/** What the test would say, or null. */
export function findByHeavyTail(mutant: string): string | null {
  const z = heavyTailZ(mutant);
  return z === null || Math.abs(z) < SIGMAS ? null : `heavy tail of 200,000 tokens, computed: z ${z.toFixed(1)}`;
}
