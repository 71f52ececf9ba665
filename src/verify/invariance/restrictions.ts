/** Tokens that must never be drawn, whatever the noise. */
import { byLogit } from "../by-logit.js";
import type { Batch } from "./batch.js";
import type { Case, Invariance, Making, OptionalInput } from "./case.js";
import { onlyRightTokens } from "./right-tokens.js";
import { distinct, nearlyFlat, plainBatch, withRows } from "./rows.js";

const RULE = { isComparison: false, needs: [] as readonly OptionalInput[], smallest: { rows: 1, vocabSize: 2 } };

/** Only the tokens of a set a row. */
function onlyIn(what: string, batch: Batch, sets: readonly (readonly number[])[]): Case {
  return onlyRightTokens(what, batch, (row, token) => sets[row]!.includes(token));
}

/** Which tokens are left, and what their logits are. */
const LEFT_OVER: readonly [what: string, isLeft: (token: number, making: Making) => boolean, offset: number][] = [
  ["only the first token is above -Infinity", (token) => token === 0, 0],
  ["only the last token is above -Infinity", (token, { vocabSize }) => token === vocabSize - 1, 0],
  ["the last token, of logit -10000, is alone above -Infinity", (token, { vocabSize }) => token === vocabSize - 1, -10000],
  ["some tokens are -Infinity", (token, { random }) => token === 1 || random.below(2) === 0, 0],
];

const infiniteLogits: Invariance = {
  ...RULE,
  name: "infinite-logits",
  question: "Is a token of logit -Infinity never drawn?",
  sizes: [{ rows: 6, vocabSize: 37 }, { rows: 6, vocabSize: 1021 }],
  make(making) {
    return LEFT_OVER.map(([what, isLeft, offset]) => {
      const plain = plainBatch(making);
      const left = plain.rows.map(() => numbers(making.vocabSize).filter((token) => isLeft(token, making)));
      const batch = withRows(plain, ({ logits }, row) => ({ logits: logits.map((logit, token) => (left[row]!.includes(token) ? logit + offset : -Infinity)) }));
      return onlyIn(what, batch, left);
    });
  },
};

const mask: Invariance = {
  ...RULE,
  name: "mask",
  question: "Is a masked token never drawn, however likely?",
  needs: ["mask"],
  sizes: [{ rows: 6, vocabSize: 37 }, { rows: 6, vocabSize: 1021 }],
  make(making) {
    return LEFT_OVER.slice(0, 2).concat(LEFT_OVER.slice(3)).map(([, isLeft]) => {
      const plain = plainBatch(making);
      const left = plain.rows.map(() => numbers(making.vocabSize).filter((token) => isLeft(token, making)));
      const batch = withRows(plain, ({ logits }, row) => ({
        logits: logits.map((logit, token) => (left[row]!.includes(token) ? logit : logit + 20)),
        isAllowed: numbers(making.vocabSize).map((token) => left[row]!.includes(token)),
      }));
      return onlyIn("the tokens that the mask allows", batch, left);
    });
  },
};

/** The largest first: one that serves all rows is then too large for others. */
const TOP_KS = [5, 2, 1];

const topK: Invariance = {
  ...RULE,
  name: "top-k",
  question: "Are only tokens of the k largest logits drawn?",
  needs: ["top-k"],
  sizes: [{ rows: 6, vocabSize: 37 }, { rows: 6, vocabSize: 1021 }],
  make(making) {
    // Close together, so that the next token below is drawn soon where k is too large.
    const plain = plainBatch(making, (...where) => distinct(...where).map((logit) => logit / 16));
    const counts = plain.rows.map((_, row) => Math.min(TOP_KS[row % TOP_KS.length]!, making.vocabSize));
    const batch = withRows(plain, (_, row) => ({ topK: counts[row]! }));
    return [onlyIn("the k largest logits", batch, plain.rows.map(({ logits }, row) => byLogit(logits).slice(0, counts[row])))];
  },
};

/** Of ten: two heavy tokens, and all others together. Masses of the filters lie well between the sums. */
const [HEAVIEST, HEAVY, REST] = [5, 3, 2];
const TOP_PS: readonly [mass: number, tokens: number][] = [[0.7, 2], [0.4, 1]];

const topP: Invariance = {
  ...RULE,
  name: "top-p",
  question: "Are only tokens of the smallest set of mass p drawn?",
  needs: ["top-p"],
  sizes: [{ rows: 6, vocabSize: 37 }, { rows: 6, vocabSize: 1021 }],
  make(making) {
    const { vocabSize, random } = making;
    const plain = plainBatch(making);
    const heavy = plain.rows.map(() => random.order(vocabSize).slice(0, 2));
    const weightOf = (row: number, token: number) => [HEAVIEST, HEAVY][heavy[row]!.indexOf(token)] ?? REST / (vocabSize - 2);
    const filters = plain.rows.map((_, row) => TOP_PS[row % TOP_PS.length]!);
    const batch = withRows(plain, ({ logits }, row) => ({ logits: logits.map((_, token) => Math.log(weightOf(row, token))), topP: filters[row]![0] }));
    return [onlyIn("the smallest set with its mass", batch, heavy.map((tokens, row) => tokens.slice(0, filters[row]![1])))];
  },
};

const greedy: Invariance = {
  ...RULE,
  name: "greedy",
  question: "Is T = 0 the largest logit, among ties the lowest id?",
  sizes: [{ rows: 6, vocabSize: 37 }, { rows: 4, vocabSize: 1030 }],
  make(making) {
    const tied = () => nearlyFlat(making, making.vocabSize).map((logit) => Math.floor(logit));
    const kinds: [what: string, logits: () => Float32Array][] = [
      ["distinct logits", () => distinct(making, making.vocabSize)],
      ["equal logits among them", tied],
      ["negative logits, some -Infinity", () => tied().map((logit, token) => (token % 3 === 0 ? -Infinity : logit - 100))],
      ["equal logits", () => new Float32Array(making.vocabSize)],
    ];
    return kinds.map(([what, logits]) => {
      const batch = withRows(plainBatch(making), () => ({ logits: logits(), temperature: 0 }));
      return onlyIn(`the largest logit, of ${what}`, batch, batch.rows.map((row) => byLogit(row.logits).slice(0, 1)));
    });
  },
};

const tokenRange: Invariance = {
  ...RULE,
  name: "token-range",
  question: "Are tokens ids of the vocabulary, whatever its size?",
  sizes: [1, 3, 33, 999, 4097, 8193].map((vocabSize) => ({ rows: 2, vocabSize })),
  smallest: { rows: 1, vocabSize: 1 },
  make(making) {
    const kinds: [what: string, logit: (token: number) => number][] = [
      ["zeros", () => 0],
      ["logits of 1000", () => 1000],
      ["logits of -1000", () => -1000],
      ["logits near the ends of f32", (token) => (token % 2 === 0 ? -3e38 : 3e38)],
      ["a right half of -Infinity", (token) => (token > making.vocabSize / 2 ? -Infinity : 0)],
    ];
    // Every other token is refused by the probe.
    return kinds.map(([what, logit]) => {
      const batch = { ...withRows(plainBatch(making), ({ logits }, row) => ({ logits: logits.map((_, token) => logit(token)), temperature: row === 0 ? 1 : 0 })), numSamples: 1 };
      return onlyRightTokens(`the vocabulary, with ${what}`, batch, () => true);
    });
  },
};

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number);
}

export const RESTRICTIONS: readonly Invariance[] = [tokenRange, infiniteLogits, mask, topK, topP, greedy];
