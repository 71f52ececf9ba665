/** Judges of draws that must differ: each says what is too much alike, and how likely chance makes it so (chance.ts). */
import { allCoincide, fewDistinct, likelyCounts, sameOften, someMissing } from "./chance.js";
import type { Group } from "./unlike-tokens.js";

/** Tokens of equal logits, from which all draw that need no others. */
export const VOCABULARY = 64;

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Pairs of draws: 64^-8 is 4e-15. */
export const PAIRS = 8;

/** Pairs of draws that must not all be equal: of row before + i and of row after + i. */
export function pairs(why: string, before: number, after: number, sampleBefore = 0, sampleAfter = 0): Group {
  return {
    rows: range(0, PAIRS).flatMap((index) => [before + index, after + index]),
    falseAlarm: allCoincide(VOCABULARY, PAIRS),
    clearsEarly: true,
    judge(tokens) {
      const first = tokens.filter((_, index) => index % 2 === 0).map((samples) => samples[sampleBefore]!);
      const second = tokens.filter((_, index) => index % 2 === 1).map((samples) => samples[sampleAfter]!);
      return second.every((token, index) => token === first[index]) ? { why, before: first, after: second } : null;
    },
  };
}

/** Seeds 1..200, or 1..64 where each takes a call: (2/3)^64 is 5e-12. */
export const [SEEDS, SEEDS_ALONE] = [200, 64];
export const NEAR_LOGITS = [0, 0.125, 0.0625];
/** Of one side of the count of one token. */
const TAIL = 1e-11;

/** The counts of three tokens of near-equal logits, each within what chance makes likely. */
export function frequencies(rows: readonly number[], fewer?: Group): Group {
  const mass = NEAR_LOGITS.reduce((sum, logit) => sum + Math.exp(logit), 0);
  const likely = NEAR_LOGITS.map((logit) => likelyCounts(rows.length, Math.exp(logit) / mass, TAIL));
  return {
    rows,
    falseAlarm: 2 * TAIL * NEAR_LOGITS.length,
    clearsEarly: false,
    ...(fewer && { fewer }),
    judge(tokens) {
      const drawn = tokens.map(([token]) => token!);
      const counts = NEAR_LOGITS.map((_, token) => drawn.filter((other) => other === token).length);
      const wrong = counts.findIndex((count, token) => count < likely[token]!.from || count > likely[token]!.to);
      if (wrong < 0) return null;
      const { from, to } = likely[wrong]!;
      return { why: `seeds from 1 on draw token ${wrong} of 3 ${counts[wrong]} times in ${drawn.length}, not ${from} to ${to} times`, before: drawn, after: [] };
    },
  };
}

/** Seeds whose tokens are those of the seed before, moved by one number of places: half of 32 by chance, 5e-19. */
export const [SHIFT_STEPS, SHIFTED] = [32, 16];

export const movedAlong: Group = {
  rows: range(0, SHIFT_STEPS + 1),
  falseAlarm: sameOften(VOCABULARY, SHIFT_STEPS, SHIFTED),
  clearsEarly: false,
  judge(tokens) {
    const drawn = tokens.map(([token]) => token!);
    const steps = drawn.slice(1).map((token, index) => (token - drawn[index]! + VOCABULARY) % VOCABULARY);
    const usual = steps.find((step) => steps.filter((other) => other === step).length >= SHIFTED);
    return usual === undefined ? null : { why: `the next seed draws the same tokens, moved by ${usual} of ${VOCABULARY}`, before: drawn.slice(0, -1), after: drawn.slice(1) };
  },
};

/** Draws of one seed: fewer than 8 different tokens among 32 of 64 come about by chance with 1e-22. */
export const [MANY, LEAST_DISTINCT] = [32, 8];

export function distinctTokens(what: string, rows: readonly number[]): Group {
  return {
    rows,
    falseAlarm: fewDistinct(VOCABULARY, MANY, LEAST_DISTINCT),
    clearsEarly: true,
    judge(tokens) {
      const drawn = tokens.flat();
      const count = new Set(drawn).size;
      return count >= LEAST_DISTINCT ? null : { why: `${what} draw ${count} different of ${VOCABULARY} equally probable tokens`, before: drawn, after: [] };
    },
  };
}

/** Some of `expected` that none of the rows draws. */
export function allDrawn(rows: readonly number[], expected: readonly number[]): Group {
  return {
    rows,
    falseAlarm: someMissing(expected.length, rows.length),
    clearsEarly: true,
    judge(tokens) {
      const drawn = new Set(tokens.flat());
      const missing = expected.filter((token) => !drawn.has(token));
      if (missing.length === 0) return null;
      return { why: `of ${expected.length} tokens with equal logits ${missing.join(", ")} never came in ${rows.length} draws`, before: expected, after: expected.filter((token) => drawn.has(token)) };
    },
  };
}
