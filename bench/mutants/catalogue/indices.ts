/** Tokens that are not numbered by the vocabulary: by shard, tile, vector, rank or place in a list. */
import { ranked } from "../filters.js";
import type { Mutant } from "../mutant.js";
import type { Patch } from "../rule.js";
import type { SamplerCall } from "../../../src/verify/sampler-under-test.js";

/** Other numbers for the tokens of a row. */
function indexed(indexOf: (token: number, call: SamplerCall) => number): Patch {
  return () => ({ noiseIndices: (logits, call) => Int32Array.from(logits, (_, token) => indexOf(token, call)) });
}

const tileOf = ({ vocabSize, shards = 1 }: SamplerCall): number => Math.ceil(vocabSize / shards);

/** The noise of the tokens in this order is that of tokens 0, 1, 2, ... */
function indexedByPlace(order: readonly number[], vocabSize: number): Int32Array {
  const indices = new Int32Array(vocabSize);
  order.forEach((token, place) => (indices[token] = place));
  return indices;
}

const isFiltered = ({ topK, topP, vocabSize }: SamplerCall, row: number): boolean => (topK?.[row] ?? vocabSize) < vocabSize || (topP?.[row] ?? 1) < 1;

export const INDEX_MUTANTS: readonly Mutant[] = [
  {
    name: "shards-share-noise",
    fault: "each shard numbers its tokens from 0, so that all have the same noise",
    patch: indexed((token, call) => token % tileOf(call)),
    check: "shards",
    gof: "equal shards",
    invariance: "shards",
  },
  {
    name: "noise-of-vector-width",
    fault: "where 4 does not divide V, a token takes the first word of a block of its own",
    patch: indexed((token, { vocabSize }) => (vocabSize % 4 === 0 ? token : token * 4)),
    check: "plain",
    invariance: "vocabulary-padding",
  },
  {
    name: "noise-of-tile-size",
    fault: "tiles begin at multiples of 65536 in the counter, whatever their size",
    patch: indexed((token, call) => Math.floor(token / tileOf(call)) * 65536 + (token % tileOf(call))),
    check: "shards",
    invariance: "shards",
  },
  {
    name: "last-vector-reversed",
    fault: "the last four tokens take their words in the wrong order",
    patch: indexed((token, { vocabSize }) => (token >>> 2 === (vocabSize - 1) >>> 2 ? token ^ 3 : token)),
    check: "steep end",
  },
  {
    name: "noise-of-rank",
    fault: "behind top-k and top-p noise belongs to the place among the sorted logits",
    patch: () => ({
      noiseIndices: (logits, call, row) => (isFiltered(call, row) ? indexedByPlace(ranked(logits), logits.length) : null),
    }),
    check: "top-k",
  },
  {
    name: "noise-of-rank-for-all",
    fault: "one row with a top-k or top-p gives all rows the noise of ranks",
    patch: () => ({
      noiseIndices: (logits, call) => (call.seed.some((_, row) => isFiltered(call, row)) ? indexedByPlace(ranked(logits), logits.length) : null),
    }),
    check: "top-k",
    invariance: "batchmates",
  },
  {
    name: "noise-of-place-in-list",
    fault: "behind a mask noise belongs to the place among the tokens that are left",
    patch: () => ({
      noiseIndices: (logits, { mask }) => (mask === undefined ? null : indexedByPlace(ranked(logits).sort((a, b) => a - b), logits.length)),
    }),
    check: "mask",
    invariance: "mask-as-infinity",
  },
];
