/** How often a relative bias of one token is found: by its bin, as a rare token, or by the masses of the tails. */
import type { Cells, Group } from "./cells.js";
import { binDetected, criticalCount, likelihoodRatio, passes, shiftsDetected, type BinLimits } from "./detection.js";
import type { Draws } from "./draws.js";
import { massDetected, type Rates } from "./tail-bias.js";

/** Where a token counts. */
interface Home {
  readonly group: Group;
  readonly groupIndex: number;
  /** of the token's bin in its group */
  readonly binExpected: number;
  /** share of the bin in itself and what comes after it; 1: it has no deviate of its own */
  readonly share: number;
  /** whether other tokens are in the bin */
  readonly isShared: boolean;
}

/** Gives the probability of an alarm for a relative bias; all other tokens are drawn less often, in proportion. */
export function tokenBias(draws: Draws, cells: Cells, rates: Rates, limits: BinLimits | null, token: number): (bias: number) => number {
  const home = homeOf(cells, token);
  const total = draws.tokens.length;
  const expected = cells.expected[token]!;
  return (bias) => {
    const less = (total - expected * (1 + bias)) / (total - expected);
    const actual = cells.groups.map((group, index) => (index === home.groupIndex ? (group.expected - expected) * less + expected * (1 + bias) : group.expected * less));
    const inGroup = actual[home.groupIndex]!;
    const inBin = (home.binExpected - expected) * less + expected * (1 + bias);
    const byMass = massDetected(cells, rates, total, actual);
    const byBin = limits === null ? 0 : binFound(home, limits, inBin, inGroup);
    const byToken = home.isShared && rates.rareLimit !== null ? rareFound(expected / home.binExpected, (expected * (1 + bias)) / inBin, inBin, rates.rareLimit) : 0;
    // They look at the same draws, and miss them together.
    return Math.max(byMass, byBin, byToken);
  };
}

function homeOf({ groups }: Cells, token: number): Home {
  const ofToken = (group: Group) => group.own.flat().filter((cell) => cell.token === token);
  const inGroup = (group: Group) => ofToken(group).reduce((sum, { expected }) => sum + expected, group.sharedExpected[token]!);
  const group = groups.reduce((best, other) => (inGroup(other) > inGroup(best) ? other : best));
  const own = ofToken(group);
  const ownExpected = own.reduce((sum, { expected }) => sum + expected, 0);
  const groupIndex = groups.indexOf(group);
  if (ownExpected > group.sharedExpected[token]!) {
    const share = own.reduce((sum, { expected, probability, later }) => sum + (expected / ownExpected) * (probability / (probability + later)), 0);
    return { group, groupIndex, binExpected: ownExpected, share, isShared: false };
  }
  const index = group.sharedCell[token]!;
  const cell = group.shared[index]!;
  const later = group.shared.slice(index).reduce((sum, { expected }) => sum + expected, 0);
  return { group, groupIndex, binExpected: cell.expected, share: cell.expected / later, isShared: cell.token < 0 };
}

/** The bin's own deviate, and the shifts of those before it, whose noncentrality is what is left of the group's. */
function binFound({ group, binExpected, share }: Home, limits: BinLimits, inBin: number, inGroup: number): number {
  const before = binExpected / group.expected;
  const after = Math.min(1, inBin / inGroup);
  const inAll = likelihoodRatio(inGroup, after, before);
  if (share >= 1) return shiftsDetected(limits, inAll);
  const odds = (after * (1 - before)) / (before * (1 - after));
  const actual = (share * odds) / (1 - share + share * odds);
  const trials = Math.round(inBin / actual);
  return binDetected(limits, trials, share, actual, Math.max(0, inAll - likelihoodRatio(trials, actual, share)));
}

/** shares: of the token in its bin. */
function rareFound(share: number, actual: number, inBin: number, rate: number): number {
  const trials = Math.max(1, Math.round(inBin));
  return passes(criticalCount(trials, share, rate), trials, Math.min(1, actual));
}
