/** How the false-alarm rate is shared among the tests that the data at hand allows. */

/** Shares of the families of tests, before those that do not apply are left out. */
const SHARES = { bins: 8, tokens: 3, tail: 3, collisions: 2, quantiles: 1, rare: 1, rows: 1, shards: 1 } as const;
export type Family = keyof typeof SHARES;
const FAMILIES = Object.keys(SHARES) as Family[];

/** Each family's part of alpha; 0 for those that do not apply. The parts add up to alpha. */
export function shareOut(alpha: number, applies: Readonly<Record<Family, boolean>>): Readonly<Record<Family, number>> {
  const total = FAMILIES.reduce((sum, family) => sum + (applies[family] ? SHARES[family] : 0), 0);
  return Object.fromEntries(FAMILIES.map((family) => [family, applies[family] ? (alpha * SHARES[family]) / total : 0])) as Record<Family, number>;
}
