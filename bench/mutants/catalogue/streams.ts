/** Draws whose noise lies at the wrong place: shared, keyed by what must not matter, or at numbers that collide. */
import type { Mutant } from "../mutant.js";
import type { Patch, Stream } from "../rule.js";
import type { SamplerCall } from "../../../src/verify/sampler-under-test.js";

type Where = (stream: Stream, call: SamplerCall, row: number, tile: number) => Partial<Stream>;

/** Other numbers for a draw's noise. */
function at(where: Where): Patch {
  return ({ stream }) => ({
    stream(call, row, sample, tile) {
      const correct = stream(call, row, sample, tile);
      return { ...correct, ...where(correct, call, row, tile) };
    },
  });
}

/** Lanes of a tile, and what a tile, a row and a sample add to the number of a stream. */
const DECIMAL = { lanes: 128, tile: 100_000, row: 1000, sample: 10 };

export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    name: "rows-share-noise",
    fault: "all rows have the noise of sequence 0",
    patch: at(() => ({ sequence: 0 })),
    check: "plain",
    gof: "equal rows",
    invariance: "rows-differ",
  },
  {
    name: "samples-share-noise",
    fault: "all samples of a row have the noise of its first",
    patch: at(() => ({ sample: 0 })),
    check: "plain",
    gof: "many samples",
    invariance: "samples-differ",
  },
  {
    name: "positions-share-noise",
    fault: "the position is not read",
    patch: at(() => ({ position: 0 })),
    check: "plain",
    gof: "positions",
    invariance: "positions",
  },
  {
    name: "position-behind",
    fault: "noise of the position before",
    patch: at(({ position }) => ({ position: (position - 1) >>> 0 })),
    check: "plain",
  },
  {
    name: "position-in-f32",
    fault: "the position passes through an f32, which merges neighbours from 2^24 on",
    patch: at(({ position }) => ({ position: Math.fround(position) >>> 0 })),
    check: "late positions",
    gof: "late positions",
  },
  {
    name: "position-in-16-bits",
    fault: "positions 65536 apart share noise",
    patch: at(({ position }) => ({ position: position & 0xffff })),
    check: "late positions",
    gof: "distant positions",
    invariance: "positions",
  },
  {
    name: "sample-in-8-bits",
    fault: "sample 256 has the noise of sample 0",
    patch: at(({ sample }) => ({ sample: sample & 0xff })),
    check: "many samples",
    gof: "many samples",
  },
  {
    name: "seed-in-32-bits",
    fault: "the seed's upper half is dropped",
    patch: at(() => ({ keyHigh: 0 })),
    check: "plain",
    gof: "wide seeds",
    invariance: "seed-high-bits",
  },
  {
    name: "seed-words-swapped",
    fault: "the seed's halves in the wrong order",
    patch: at(({ keyLow, keyHigh }) => ({ keyLow: keyHigh, keyHigh: keyLow })),
    check: "plain",
  },
  {
    name: "seed-plus-sample",
    fault: "seed + sample is the stream: sample 1 of seed 0 is sample 0 of seed 1",
    patch: at(({ keyLow, sample }) => ({ keyLow: (keyLow + sample) >>> 0, sample: 0 })),
    check: "plain",
    gof: "consecutive seeds",
    invariance: "counters-apart",
  },
  {
    name: "decimal-streams",
    fault: "the stream is tile * 100000 + row * 1000 + sample * 10 + lane: ten lanes on lies the next sample",
    patch: () => ({
      tileSize: () => DECIMAL.lanes,
      stream({ seed, position }, row, sample, tile) {
        const first = tile * (DECIMAL.tile - DECIMAL.lanes) + row * DECIMAL.row + sample * DECIMAL.sample;
        const key = { keyLow: Number(seed[row]! & 0xffffffffn), keyHigh: Number(seed[row]! >> 32n) };
        return { ...key, sequence: 0, position: position[row]!, sample: 0, highPurpose: 0, lowPurpose: 1, firstIndex: first };
      },
    }),
    check: "plain",
    gof: "flat",
    invariance: "batch-permutation",
  },
  {
    name: "row-offset-wraps",
    fault: "noise is numbered row * V + token in 32 bits",
    patch: at(({ sequence }, { vocabSize }) => ({ sequence: 0, firstIndex: Math.imul(sequence, vocabSize) >>> 0 })),
    check: "plain",
    gof: "distant sequences",
    invariance: "vocabulary-padding",
  },
  {
    name: "sequence-in-16-bits",
    fault: "requests 65536 apart share noise",
    patch: at(({ sequence }) => ({ sequence: sequence & 0xffff })),
    check: "late sequences",
    gof: "distant sequences",
    invariance: "sequences",
  },
  {
    name: "seed-of-row-0",
    fault: "of the rows' seeds only the first is read",
    patch: at((_, { seed }) => ({ keyLow: Number(seed[0]! & 0xffffffffn), keyHigh: Number(seed[0]! >> 32n) })),
    check: "plain",
    gof: "consecutive seeds",
    invariance: "row-seeds",
  },
  {
    name: "noise-of-row-slot",
    fault: "noise belongs to the place in the batch, not to the sequence",
    patch: at((_, __, row) => ({ sequence: row })),
    check: "plain",
    invariance: "batch-permutation",
  },
  {
    name: "noise-of-batch-size",
    fault: "the count of rows, in sixteens, is a part of the counter",
    patch: at(({ sequence }, { rows }) => ({ sequence: (sequence + Math.ceil(rows / 16) * 0x10000) >>> 0 })),
    check: "plain",
    invariance: "batch-split",
  },
  {
    name: "row-tiles-share-noise",
    fault: "the seventeenth row has the noise of the first",
    patch: at((_, { sequence }, row) => ({ sequence: sequence[row % 16]! })),
    check: "many rows",
    gof: "rows in sixteens",
    invariance: "batch-split",
  },
  {
    name: "low-word-is-high-word",
    fault: "one word serves as high and low",
    patch: at(({ highPurpose }) => ({ lowPurpose: highPurpose })),
    check: "extreme words",
  },
];
