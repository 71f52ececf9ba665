/** What a token must not depend on: how wide the vocabulary is laid out, how it is cut, and what else is there to draw. */
import type { Invariance, OptionalInput } from "./case.js";
import { inOrder, plainBatch, withRows } from "./rows.js";
import { sameTokens } from "./same-tokens.js";

const COMPARISON = { isComparison: true, needs: [] as readonly OptionalInput[], smallest: { rows: 1, vocabSize: 2 } };

function padded(logits: Float32Array, vocabSize: number): Float32Array {
  const wider = new Float32Array(vocabSize).fill(-Infinity);
  wider.set(logits);
  return wider;
}

const padding: Invariance = {
  ...COMPARISON,
  name: "vocabulary-padding",
  question: "Do columns of -Infinity on the right change nothing?",
  sizes: [{ rows: 3, vocabSize: 37 }, { rows: 3, vocabSize: 130 }, { rows: 2, vocabSize: 1021 }],
  make(making) {
    const { vocabSize } = making;
    const before = plainBatch(making);
    const multiple = (of: number) => Math.ceil((vocabSize + 1) / of) * of;
    const widths = [...new Set([vocabSize + 1, multiple(8), multiple(64), multiple(64) + 1, multiple(1024)])];
    return widths.map((width) =>
      sameTokens(`padded with -Infinity to ${width} columns`, before, () => [
        { batch: withRows(before, ({ logits }) => ({ logits: padded(logits, width) })), origin: inOrder(before) },
      ]),
    );
  },
};

const SHARDS = [2, 3, 7];

const shards: Invariance = {
  ...COMPARISON,
  name: "shards",
  question: "Do 2, 3 or 7 shards draw what one draws?",
  needs: ["shards"],
  sizes: [{ rows: 4, vocabSize: 42 }, { rows: 2, vocabSize: 1050 }],
  make(making) {
    const batch = plainBatch(making);
    const before = { ...batch, shards: 1 };
    return SHARDS.filter((count) => making.vocabSize % count === 0).map((count) =>
      sameTokens(`in ${count} shards`, before, () => [{ batch: { ...batch, shards: count }, origin: inOrder(batch) }]),
    );
  },
};

const maskAsInfinity: Invariance = {
  ...COMPARISON,
  name: "mask-as-infinity",
  question: "Does a mask draw what logits of -Infinity draw?",
  needs: ["mask"],
  sizes: [{ rows: 4, vocabSize: 37 }, { rows: 2, vocabSize: 1030 }],
  make(making) {
    const plain = plainBatch(making);
    const masks = plain.rows.map(({ logits }) => {
      const always = making.random.below(making.vocabSize);
      return Array.from(logits, (_, token) => token === always || making.random.below(2) === 0);
    });
    const before = withRows(plain, (_, row) => ({ isAllowed: masks[row]! }));
    const after = withRows(plain, ({ logits }, row) => ({ logits: logits.map((logit, token) => (masks[row]![token] ? logit : -Infinity)) }));
    return [sameTokens("-Infinity for what the mask forbids, and no mask", before, () => [{ batch: after, origin: inOrder(plain) }])];
  },
};

const SHIFTS = [8, -8, 64];

const shift: Invariance = {
  ...COMPARISON,
  name: "logit-shift",
  question: "Does a constant added to all logits change nothing?",
  onRequest: "a sampler that rounds logit plus noise may turn a near tie",
  sizes: [{ rows: 8, vocabSize: 37 }, { rows: 4, vocabSize: 260 }],
  make(making) {
    const before = plainBatch(making);
    return SHIFTS.map((constant) =>
      sameTokens(`${constant} added to all logits`, before, () => [
        { batch: withRows(before, ({ logits }) => ({ logits: logits.map((logit) => logit + constant) })), origin: inOrder(before) },
      ]),
    );
  },
};

const losers: Invariance = {
  ...COMPARISON,
  name: "losers-masked",
  question: "Does a token stay when others become -Infinity?",
  onRequest: "a sampler by the inverse of the distribution function has no noise of each token",
  sizes: [{ rows: 4, vocabSize: 37 }, { rows: 3, vocabSize: 1030 }],
  make(making) {
    const before = plainBatch(making);
    const isMasked = before.rows.map(({ logits }) => Array.from(logits, () => making.random.below(2) === 0));
    return [
      sameTokens("-Infinity for some of the tokens that were not drawn", before, (drawn) => [
        {
          batch: withRows(before, ({ logits }, row) => ({ logits: logits.map((logit, token) => (isMasked[row]![token] && !drawn[row]!.includes(token) ? -Infinity : logit)) })),
          origin: inOrder(before),
        },
      ]),
    ];
  },
};

export const VOCABULARY: readonly Invariance[] = [padding, shards, maskAsInfinity, shift, losers];
