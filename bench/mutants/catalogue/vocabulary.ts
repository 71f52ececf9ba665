/** Tokens that must not be drawn, and tokens that must be able to be. */
import { forbid, crossing, keepFirst, maskBit, maskWords, ranked, weightsOf } from "../filters.js";
import { rowOf } from "../correct.js";
import { toBf16 } from "../floats.js";
import type { Mutant } from "../mutant.js";
import type { Patch, Rule } from "../rule.js";
import type { SamplerCall } from "../../../src/verify/sampler-under-test.js";

const BLOCK = 64;
const roundedUp = (vocabSize: number): number => Math.ceil(vocabSize / BLOCK) * BLOCK;

const mask = (isAllowed: (call: SamplerCall, row: number, token: number) => boolean): Patch => () => ({
  applyMask: (logits, call, row) => forbid(logits, (token) => isAllowed(call, row, token)),
});

const topK = (countOf: (order: readonly number[], k: number, logits: Float32Array) => number): Patch => () => ({
  applyTopK(logits, k) {
    const order = ranked(logits);
    keepFirst(logits, order, countOf(order, k, logits));
  },
});

const topP = (countOf: (weights: readonly number[], p: number) => number): Patch => () => ({
  applyTopP(logits, p, temperature) {
    const order = ranked(logits);
    if (order.length > 0) keepFirst(logits, order, countOf(weightsOf(logits, order, temperature), p));
  },
});

function topPFirst({ applyTopK }: Rule): Partial<Rule> {
  return {
    applyTopK() {},
    beforeDraws(logits, call, row) {
      if (call.topK !== undefined) applyTopK(logits, call.topK[row]!);
    },
  };
}

export const VOCABULARY_MUTANTS: readonly Mutant[] = [
  {
    name: "tail-tile-reads-on",
    fault: "the last tile of 64 reads what lies behind the row",
    patch: () => ({
      readLogits({ logits, vocabSize }, row) {
        const padded = new Float32Array(roundedUp(vocabSize));
        padded.set(logits.subarray(row * vocabSize, row * vocabSize + padded.length));
        return padded;
      },
    }),
    check: "low logits",
    gof: "low logits",
    invariance: "token-range",
  },
  {
    name: "padding-of-zeros",
    fault: "V is padded to a multiple of 64 with logits of 0",
    patch: () => ({
      readLogits(call, row) {
        const padded = new Float32Array(roundedUp(call.vocabSize));
        padded.set(rowOf(call, row));
        return padded;
      },
    }),
    check: "low logits",
    gof: "low logits",
    invariance: "token-range",
  },
  {
    name: "nothing-left-is-token-V",
    fault: "a row without a token returns V",
    patch: () => ({ nothingDrawn: ({ vocabSize }) => vocabSize, isInvalid: () => false }),
    check: "rows without a token",
    invariance: "nan-row",
  },
  {
    name: "mask-inverted",
    fault: "a 1 in the mask forbids",
    patch: mask((call, row, token) => !maskBit(call, row, token)),
    check: "mask",
    gof: "mask",
    invariance: "mask",
  },
  {
    name: "mask-of-whole-words",
    fault: "the last word of the mask is not read: V % 32 tokens stay allowed",
    patch: mask((call, row, token) => token >= (call.vocabSize & ~31) || maskBit(call, row, token)),
    check: "mask",
    gof: "mask",
    invariance: "mask",
  },
  {
    name: "mask-from-the-highest-bit",
    fault: "the bits of a mask's word are read from the other end",
    patch: mask((call, row, token) => maskBit(call, row, token ^ 31)),
    check: "mask",
    gof: "mask",
    invariance: "mask",
  },
  {
    name: "mask-of-row-0",
    fault: "all rows have the mask of the first",
    patch: mask((call, _, token) => maskBit(call, 0, token)),
    check: "mask",
    gof: "masks of rows",
    invariance: "mask",
  },
  {
    name: "mask-words-of-whole-bytes",
    fault: "a row's mask begins after floor(V / 32) words in place of ceil",
    patch: mask(({ mask: words, vocabSize }, row, token) => ((words![row * (maskWords(vocabSize) - 1) + (token >>> 5)]! >>> (token & 31)) & 1) === 1),
    check: "mask",
    gof: "masks of rows",
    invariance: "mask",
  },
  {
    name: "top-k-less-1",
    fault: "top-k keeps k - 1 tokens",
    patch: topK((_, k) => k - 1),
    check: "top-k",
    gof: "top-k",
    invariance: "top-k",
  },
  {
    name: "top-k-and-1",
    fault: "top-k keeps k + 1 tokens",
    patch: topK((_, k) => k + 1),
    check: "top-k",
    gof: "top-k",
    invariance: "top-k",
  },
  {
    name: "top-k-with-equals",
    fault: "top-k keeps all tokens that equal the k-th",
    patch: topK((order, k, logits) => order.filter((token) => logits[token]! >= logits[order[Math.min(k, order.length) - 1]!]!).length),
    check: "top-k of equals",
    gof: "top-k of equals",
  },
  {
    name: "top-p-without-crossing",
    fault: "top-p leaves out the token that reaches p",
    patch: topP((weights, p) => Math.max(1, crossing(weights, p) - 1)),
    check: "top-p",
    gof: "top-p",
  },
  {
    name: "top-p-at-T-1",
    fault: "top-p sums probabilities of T = 1",
    patch: ({ applyTopP }) => ({ applyTopP: (logits, p) => applyTopP(logits, p, 1) }),
    check: "top-p",
    gof: "top-p",
  },
  {
    name: "top-p-in-f32",
    fault: "top-p sums probabilities in f32, which tokens below 2^-25 do not change",
    patch: topP((weights, p) => crossing(weights, p, Math.fround)),
    check: "top-p of many",
  },
  {
    name: "top-p-in-bf16",
    fault: "top-p sums probabilities in bf16",
    patch: topP((weights, p) => crossing(weights, p, toBf16)),
    check: "top-p of hundreds",
    gof: "top-p of hundreds",
  },
  {
    name: "top-p-before-top-k",
    fault: "top-p takes its share of all tokens, not of the k that are left",
    patch: topPFirst,
    check: "top-k and top-p",
    gof: "top-k and top-p",
  },
];
