/**
 * What must draw different tokens: other seeds, positions, sequences, samples, tokens. Chances that a right sampler looks wrong are in
 * chance.ts; those of all cases sum up to less than 1e-9.
 */
import { allDrawn, distinctTokens, frequencies, MANY, movedAlong, NEAR_LOGITS, pairs, PAIRS, range, SEEDS, SEEDS_ALONE, SHIFT_STEPS, VOCABULARY } from "./alike.js";
import type { Row } from "./batch.js";
import type { Invariance, Making, OptionalInput } from "./case.js";
import { someSeed } from "./rows.js";
import { unlikeRows, unlikeTokens } from "./unlike-tokens.js";

const DIFFERENCE = { isComparison: false, needs: [] as readonly OptionalInput[] };

function flatRow(values: Partial<Row>, vocabSize = VOCABULARY): Row {
  return { logits: new Float32Array(vocabSize), temperature: 1, seed: 1n, sequence: 0, position: 0, ...values };
}

/** An input each of whose bits from..to - 1 must change the tokens. */
function everyBit(name: string, question: string, needs: readonly OptionalInput[], from: number, to: number, flip: (row: Row, bit: number) => Partial<Row>): Invariance {
  return {
    ...DIFFERENCE,
    name,
    question,
    needs,
    sizes: [{ rows: PAIRS * (to - from), vocabSize: VOCABULARY }],
    make(making) {
      const base = range(0, PAIRS).map(() => flatRow({ seed: someSeed(making) }));
      const flipped = range(from, to).map((bit) => base.map((row) => ({ ...row, ...flip(row, bit) })));
      // The first bit's rows have a call to themselves: at the places of those that they are compared with, which may matter as well.
      const batches = [base, flipped[0]!, flipped.slice(1).flat()].map((rows) => ({ rows, numSamples: 1 }));
      const groups = range(from, to).map((bit, index) => pairs(`a change of bit ${bit} changes no token`, 0, PAIRS * (1 + index)));
      return [unlikeTokens(batches, groups)];
    },
  };
}

const flipSeed = ({ seed }: Row, bit: number) => ({ seed: seed ^ (1n << BigInt(bit)) });

const consecutiveSeeds: Invariance = {
  ...DIFFERENCE,
  name: "consecutive-seeds",
  question: "Do seeds that follow one another draw unrelatedly?",
  sizes: [{ rows: SEEDS, vocabSize: NEAR_LOGITS.length }],
  make() {
    const near = range(1, SEEDS + 1).map((seed) => flatRow({ seed: BigInt(seed), logits: Float32Array.from(NEAR_LOGITS) }));
    const flat = range(1, SHIFT_STEPS + 2).map((seed) => flatRow({ seed: BigInt(seed) }));
    return [
      unlikeTokens([{ rows: near, numSamples: 1 }], [frequencies(range(0, SEEDS), frequencies(range(0, SEEDS_ALONE)))]),
      unlikeTokens([{ rows: flat, numSamples: 1 }], [movedAlong]),
    ];
  },
};

const rowsDiffer: Invariance = {
  ...DIFFERENCE,
  name: "rows-differ",
  question: "Do equal rows of other sequences draw differently?",
  needs: ["sequence"],
  sizes: [{ rows: MANY, vocabSize: VOCABULARY }],
  make(making) {
    const seed = someSeed(making);
    const rows = range(0, MANY).map((sequence) => flatRow({ seed, sequence }));
    return [unlikeRows({ rows, numSamples: 1 }, distinctTokens(`${MANY} rows`, range(0, MANY)))];
  },
};

const samplesDiffer: Invariance = {
  ...DIFFERENCE,
  name: "samples-differ",
  question: "Do the samples of a row differ?",
  needs: ["samples"],
  sizes: [{ rows: 1, vocabSize: VOCABULARY }],
  make: (making) => [unlikeRows({ rows: [flatRow({ seed: someSeed(making) })], numSamples: MANY }, distinctTokens(`${MANY} samples`, [0]))],
};

/** Inputs that a sampler may add up by mistake: seed, sequence, position, sample. */
interface Counter {
  readonly name: string;
  readonly needs?: OptionalInput;
  /** the row one further */
  next(row: Row): Row;
  /** which sample is one further */
  readonly sample: 0 | 1;
}

const COUNTERS: readonly Counter[] = [
  { name: "seed", next: (row) => ({ ...row, seed: row.seed + 1n }), sample: 0 },
  { name: "sequence", needs: "sequence", next: (row) => ({ ...row, sequence: row.sequence + 1 }), sample: 0 },
  { name: "position", needs: "position", next: (row) => ({ ...row, position: row.position + 1 }), sample: 0 },
  { name: "sample", needs: "samples", next: (row) => row, sample: 1 },
];

function evenRow(making: Making): Row {
  // Even numbers: one more is then also another last bit, for samplers that mix with an exclusive or.
  return flatRow({ seed: 2n * someSeed(making) });
}

const countersApart: Invariance = {
  ...DIFFERENCE,
  name: "counters-apart",
  question: "Are seed, sequence, position, sample never added up?",
  sizes: [{ rows: PAIRS, vocabSize: VOCABULARY }],
  make(making) {
    const counters = COUNTERS.filter(({ needs }) => needs === undefined || making.reads.has(needs));
    const couples = counters.flatMap((first, index) => counters.slice(index + 1).map((second) => [first, second] as const));
    const numSamples = making.reads.has("samples") ? 2 : 1;
    return couples.map(([first, second]) => {
      const base = range(0, PAIRS).map(() => evenRow(making));
      const why = `one more in ${first.name} draws what one more in ${second.name} draws`;
      const batches = [first, second].map(({ next }) => ({ rows: base.map(next), numSamples }));
      return unlikeTokens(batches, [pairs(why, 0, PAIRS, first.sample, second.sample)]);
    });
  },
};

function equalAt(tokens: readonly number[], vocabSize: number): Float32Array {
  const logits = new Float32Array(vocabSize).fill(-Infinity);
  for (const token of tokens) logits[token] = 0;
  return logits;
}

/** 0 and the powers of two: two of them lie at the same place of their tiles, whatever power of two the size of a tile is. */
const APART = [0, ...range(0, 14).map((exponent) => 2 ** exponent)];
/** Draws of 15 tokens: one is missing by chance with 2e-11. */
const APART_DRAWS = 400;

const equalLogits: Invariance = {
  ...DIFFERENCE,
  name: "equal-logits",
  question: "Are equal logits all drawn, however far apart?",
  sizes: [{ rows: APART_DRAWS, vocabSize: 2 ** 13 + 1 }],
  make(making) {
    const logits = equalAt(APART, 2 ** 13 + 1);
    const rows = range(0, APART_DRAWS).map(() => flatRow({ seed: someSeed(making), logits }));
    return [unlikeTokens([{ rows, numSamples: 1 }], [allDrawn(range(0, APART_DRAWS), APART)])];
  },
};

/** 2^-47 that one of the two is missing. */
const TIES = 48;

const shardTies: Invariance = {
  ...DIFFERENCE,
  name: "shard-ties",
  question: "Are equal logits of two shards both drawn?",
  needs: ["shards"],
  sizes: [{ rows: TIES, vocabSize: 8 }],
  make(making) {
    const tokens = [0, 4];
    const rows = range(0, TIES).map(() => flatRow({ seed: someSeed(making), logits: equalAt(tokens, 8) }));
    return [unlikeTokens([{ rows, numSamples: 1, shards: 2 }], [allDrawn(range(0, TIES), tokens)])];
  },
};

export const STREAMS: readonly Invariance[] = [
  consecutiveSeeds,
  everyBit("seed-bits", "Does each of a seed's lower 32 bits change tokens?", [], 0, 32, flipSeed),
  everyBit("seed-high-bits", "Does each of a seed's upper 32 bits change tokens?", [], 32, 64, flipSeed),
  everyBit("positions", "Do other positions draw other tokens?", ["position"], 0, 20, ({ position }, bit) => ({ position: position + 2 ** bit })),
  everyBit("sequences", "Do other sequences draw other tokens?", ["sequence"], 0, 20, ({ sequence }, bit) => ({ sequence: sequence + 2 ** bit })),
  rowsDiffer,
  samplesDiffer,
  countersApart,
  equalLogits,
  shardTies,
];
