/** How often a relative bias of one token is found: by its bin, as a rare token, or by the masses of the tails. */
import { isRare, type Cells, type Group } from "./cells.js";
import { binDetected, criticalBeside, likelihoodRatio, passes, shiftsDetected, type BinLimits, type Critical } from "./detection.js";
import type { Draws } from "./draws.js";
import { massDetected, type Rates } from "./tail-bias.js";
import { binomialAt } from "./tails.js";

/** Where a token counts. */
interface Home {
  readonly group: Group;
  readonly groupIndex: number;
  /** of the token's bin in its group */
  readonly binExpected: number;
  /** share of the bin in itself and what comes after it; 1: it has no deviate of its own */
  readonly share: number;
  /** whether the token is judged among those of its bin */
  readonly isRare: boolean;
}

/** Gives the probability of an alarm for a relative bias; all other tokens are drawn less often, in proportion. */
export function tokenBias(draws: Draws, cells: Cells, rates: Rates, limits: BinLimits | null, token: number): (bias: number) => number {
  const home = homeOf(cells, token);
  const total = draws.tokens.length;
  const expected = cells.expected[token]!;
  const rareFound = home.isRare && rates.rareLimit !== null ? rareDetection(expected / home.binExpected, total, rates.rareLimit) : () => 0;
  return (bias) => {
    const less = (total - expected * (1 + bias)) / (total - expected);
    const actual = cells.groups.map((group, index) => (index === home.groupIndex ? (group.expected - expected) * less + expected * (1 + bias) : group.expected * less));
    const inGroup = actual[home.groupIndex]!;
    const others = (home.binExpected - expected) * less;
    const inBin = others + expected * (1 + bias);
    const byMass = massDetected(cells, rates, total, actual);
    const byBin = limits === null ? 0 : binFound(home, limits, inBin, inGroup);
    const byToken = rareFound(expected * (1 + bias), others);
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
    return { group, groupIndex, binExpected: ownExpected, share, isRare: false };
  }
  const index = group.sharedCell[token]!;
  const cell = group.shared[index]!;
  const later = group.shared.slice(index).reduce((sum, { expected }) => sum + expected, 0);
  return { group, groupIndex, binExpected: cell.expected, share: cell.expected / later, isRare: isRare(cell) };
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

/** Counts of the others in a bin that are looked at, one by one or in steps. */
const VALUES = 50;
/** Above 0, so that its logarithm is finite. */
const LEAST_PROBABILITY = 1e-300;

/**
 * Gives the probability of an alarm by the token's part in its bin's draws, from how many are expected of it and of the others there.
 * Both counts vary. share: what that part should be.
 */
function rareDetection(share: number, draws: number, rate: number): (expected: number, others: number) => number {
  const known = new Map<number, Critical>();
  const critical = (others: number) => {
    const found = known.get(others) ?? criticalBeside(others, share, draws, rate);
    known.set(others, found);
    return found;
  };
  return (expected, others) => {
    const reach = 6 * Math.sqrt(others) + 6;
    const from = Math.max(0, Math.floor(others - reach));
    const to = Math.min(draws - 1, Math.ceil(others + reach));
    const step = Math.max(1, Math.round((to - from) / VALUES));
    let detected = 0;
    for (let count = from; count <= to; count += step) detected += step * binomialAt(count, draws, Math.max(LEAST_PROBABILITY, others / draws)) * passes(critical(count), draws, expected / draws);
    return Math.min(1, detected);
  };
}
