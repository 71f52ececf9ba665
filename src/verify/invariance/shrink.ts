/** From a case that is broken to the smallest: cases are made anew, from the smallest size up, until one is broken as well. */
import type { Break, Case, Invariance, Making, Size, Verdict } from "./case.js";
import { describeBatch } from "./batch.js";
import { CallLimitReached, FailedCall, type Probe } from "./probe.js";

/** Cases made at a size: tokens are often the same by chance. A quick look finds a size that breaks, a thorough one the smaller. */
const [QUICK, THOROUGH] = [2, 12];
/** Of one look. */
const LOOK_CALLS = 120;
const ROWS = [1, 2, 3, 4, 6, 8, 12];
const VOCABULARIES = [1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096];

/** A call that fails is a broken case. */
export async function checkCase(candidate: Case, probe: Probe): Promise<Verdict> {
  try {
    return await candidate.check(probe);
  } catch (error) {
    if (!(error instanceof FailedCall)) throw error;
    const { batch, tokens, message } = error;
    const row = error.row ?? 0;
    const smallest = { rows: batch.rows.length, vocabSize: batch.rows[0]!.logits.length, description: describeBatch(batch, row), row, before: [], after: tokens };
    return { cases: 1, broken: { why: message, smallest, isFailedCall: true } };
  }
}

export interface Found {
  readonly broken: Break;
  readonly size: Size;
  /** of the broken case among those of the invariance */
  readonly index: number;
}

/** Fewest rows first, then the smallest vocabulary. making: what an attempt is made from. */
export async function shrink(invariance: Invariance, found: Found, probe: Probe, making: (size: Size, attempt: number) => Making): Promise<Break> {
  const { smallest } = invariance;
  if (smallest === undefined) return found.broken;
  let attempt = 0;
  const brokenAt = async (size: Size): Promise<Break | null> => {
    const cases = invariance.make(making(size, attempt++));
    // Small sizes have fewer cases.
    const { broken } = await checkCase(cases[found.index] ?? cases[0]!, probe);
    // Tokens that differ say more than a smaller call that fails.
    return broken?.isFailedCall === true && found.broken.isFailedCall !== true ? null : broken;
  };
  const { rows, vocabSize } = found.size;
  const fewer = await smallestBroken(between(ROWS, smallest.rows, rows).map((few) => ({ rows: few, vocabSize })), probe, brokenAt);
  const narrow = between(VOCABULARIES, smallest.vocabSize, vocabSize).map((small) => ({ rows: fewer?.size.rows ?? rows, vocabSize: small }));
  const smaller = await smallestBroken(narrow, probe, brokenAt);
  return (smaller ?? fewer ?? found).broken;
}

type BrokenAt = (size: Size) => Promise<Break | null>;
type BrokenSize = Pick<Found, "size" | "broken">;

async function smallestBroken(sizes: readonly Size[], probe: Probe, brokenAt: BrokenAt): Promise<BrokenSize | null> {
  const quick = await firstBroken(sizes, QUICK, probe, brokenAt);
  const below = quick === null ? sizes : sizes.slice(0, sizes.indexOf(quick.size));
  return (await firstBroken(below, THOROUGH, probe, brokenAt)) ?? quick;
}

/** Null also when no more calls may be made: what was found before is broken all the same. */
async function firstBroken(sizes: readonly Size[], tries: number, probe: Probe, brokenAt: BrokenAt): Promise<BrokenSize | null> {
  try {
    return await probe.within(LOOK_CALLS, async () => {
      for (const size of sizes) {
        for (let times = 0; times < tries; times++) {
          const broken = await brokenAt(size);
          if (broken !== null) return { size, broken };
        }
      }
      return null;
    });
  } catch (error) {
    if (error instanceof CallLimitReached) return null;
    throw error;
  }
}

function between(values: readonly number[], from: number, below: number): number[] {
  return values.filter((value) => value >= from && value < below);
}
