/**
 * A small right sampler, written for these tests alone (Gumbel noise in f64 from a hash of integers), and wrong ones made from it, each by
 * one mistake that real samplers have had.
 */
import type { OptionalInput } from "../src/verify/invariance/case.js";
import { filteredLogits } from "../src/verify/own-sampler.js";
import type { SamplerCall, SamplerUnderTest } from "../src/verify/sampler-under-test.js";

/** What a draw of a sampler may hang on. */
interface Place {
  readonly call: SamplerCall;
  readonly row: number;
  readonly sample: number;
}

/** The parts of the right sampler that a mistake replaces. */
interface Parts {
  /** whole numbers, hashed into the noise of a token */
  address(place: Place, token: number): readonly number[];
  temperature(place: Place): number;
  /** [rows, vocabSize], masks and filters applied */
  filter(call: SamplerCall): Float32Array;
  /** one draw from a row's logits */
  pick(logits: Float32Array, place: Place, parts: Parts): number;
}

const LOW = 0xffffffffn;

const wordsOfSeeds = new Map<bigint, readonly [number, number]>();

/** Kept: each token of each draw asks for them. */
function seedWords(seed: bigint): readonly [number, number] {
  let words = wordsOfSeeds.get(seed);
  if (words === undefined) wordsOfSeeds.set(seed, (words = [Number(seed & LOW), Number(seed >> 32n)]));
  return words;
}

const RIGHT: Parts = {
  address: ({ call, row, sample }, token) => [...seedWords(call.seed[row]!), call.sequence[row]!, call.position[row]!, sample, token],
  temperature: ({ call, row }) => call.temperature[row]!,
  filter: filteredLogits,
  pick: largestScore,
};

function largestScore(logits: Float32Array, place: Place, parts: Parts): number {
  const temperature = parts.temperature(place);
  if (!logits.every((logit) => logit < Infinity)) return -1;
  let best = -1;
  let bestScore = -Infinity;
  logits.forEach((logit, token) => {
    if (logit === -Infinity) return;
    const score = temperature === 0 ? logit : logit / temperature - Math.log(-Math.log(uniform(parts.address(place, token))));
    if (score > bestScore) [best, bestScore] = [token, score];
  });
  return best;
}

/** In (0, 1), 32 bits: each number is stirred in by the finalizer of MurmurHash3. */
function uniform(numbers: readonly number[]): number {
  let state = 0x9e3779b9;
  for (const number of numbers) {
    state = Math.imul(state ^ number, 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 15), 0xc2b2ae35);
    state = (state ^ (state >>> 16)) + 0x7f4a7c15;
  }
  return ((state >>> 0) + 0.5) / 2 ** 32;
}

function sampler(changes: Partial<Parts>): SamplerUnderTest {
  const parts = { ...RIGHT, ...changes };
  return (call) => {
    const logits = parts.filter(call);
    return Int32Array.from({ length: call.rows * call.numSamples }, (_, draw) => {
      const [row, sample] = [Math.floor(draw / call.numSamples), draw % call.numSamples];
      return parts.pick(logits.subarray(row * call.vocabSize, (row + 1) * call.vocabSize), { call, row, sample }, parts);
    });
  };
}

/** A right sampler whose noise hangs on other numbers. */
function addressed(address: Parts["address"]): SamplerUnderTest {
  return sampler({ address });
}

export const rightSampler = sampler({});

/** By the inverse of the distribution function, with one number a draw. */
function inverse(fraction: (place: Place) => number): SamplerUnderTest {
  return sampler({
    pick(logits, place, parts) {
      const temperature = parts.temperature(place);
      if (temperature === 0 || !logits.every((logit) => logit < Infinity)) return largestScore(logits, place, parts);
      const largest = logits.reduce((a, b) => Math.max(a, b));
      if (largest === -Infinity) return -1;
      const weights = logits.map((logit) => Math.exp((logit - largest) / temperature));
      let left = fraction(place) * weights.reduce((a, b) => a + b, 0);
      const found = weights.findIndex((weight) => (left -= weight) < 0);
      return found >= 0 ? found : weights.findLastIndex((weight) => weight > 0);
    },
  });
}

export const inverseSampler = inverse(({ call, row, sample }) => uniform([...seedWords(call.seed[row]!), call.sequence[row]!, call.position[row]!, sample]));

/** That of VAX's MTH$RANDOM. */
function lcg(seed: number): number {
  return (Math.imul(seed, 69069) + 1) >>> 0;
}

/** Another token each time, for whatever call. */
function unrepeatable(): SamplerUnderTest {
  let calls = 0;
  return (call) => {
    calls++;
    return addressed((place, token) => [...RIGHT.address(place, token), calls])(call);
  };
}

/** Tokens of the largest of all logits, as a batch-wide maximum finds it: none where that is NaN. */
function spreadingNaN(): SamplerUnderTest {
  return (call) => (call.logits.some(Number.isNaN) ? rightSampler({ ...call, logits: call.logits.map(() => 0) }) : rightSampler(call));
}

function lastOfLargest(logits: Float32Array): number {
  const largest = logits.reduce((a, b) => Math.max(a, b));
  return logits.findLastIndex((logit) => logit === largest);
}

interface WrongSampler {
  readonly mistake: string;
  readonly make: () => SamplerUnderTest;
  /** absent: all inputs */
  readonly reads?: readonly OptionalInput[];
  /** all invariances that it breaks, in alphabetical order */
  readonly breaks: readonly string[];
}

const { address } = RIGHT;
const first = (call: SamplerCall): SamplerCall => ({ ...call, topK: call.topK?.map(() => call.topK![0]!) ?? new Array<number>(call.rows).fill(call.vocabSize) });

export const WRONG_SAMPLERS: readonly WrongSampler[] = [
  { mistake: "noise hangs on the row's place beside its sequence", make: () => addressed((at, token) => [...address(at, token), at.row]), breaks: ["batch-alone", "batch-permutation", "batch-split"] },
  {
    mistake: "noise hangs on the row's place in place of its sequence",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]!), row, call.position[row]!, sample, token]),
    breaks: ["batch-alone", "batch-permutation", "batch-split", "sequences"],
  },
  {
    mistake: "noise hangs on the place in the whole array",
    make: () => addressed((at, token) => address(at, at.row * at.call.vocabSize + token)),
    breaks: ["batch-alone", "batch-permutation", "batch-split", "vocabulary-padding"],
  },
  { mistake: "noise hangs on the vocabulary's size", make: () => addressed((at, token) => [...address(at, token), at.call.vocabSize]), breaks: ["vocabulary-padding"] },
  { mistake: "noise hangs on the number of rows", make: () => addressed((at, token) => [...address(at, token), at.call.rows]), breaks: ["batch-alone", "batch-split"] },
  { mistake: "the seed of row 0 serves all", make: () => addressed((at, token) => [...seedWords(at.call.seed[0]!), ...address(at, token).slice(2)]), breaks: ["batchmates", "row-seeds"] },
  { mistake: "the temperature of row 0 serves all", make: () => sampler({ temperature: ({ call }) => call.temperature[0]! }), breaks: ["batchmates", "row-temperatures"] },
  {
    mistake: "the position of row 0 serves all",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]!), call.sequence[row]!, call.position[0]!, sample, token]),
    breaks: ["batchmates", "row-positions"],
  },
  { mistake: "the top-k of row 0 serves all", make: () => sampler({ filter: (call) => filteredLogits(first(call)) }), breaks: ["batchmates", "top-k"] },
  {
    mistake: "positions are not used",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]!), call.sequence[row]!, sample, token]),
    breaks: ["positions"],
  },
  {
    mistake: "sequences are not used",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]!), call.position[row]!, sample, token]),
    breaks: ["rows-differ", "sequences"],
  },
  { mistake: "samples are not used", make: () => addressed((at, token) => address({ ...at, sample: 0 }, token)), breaks: ["samples-differ"] },
  { mistake: "seeds are cut to 32 bits", make: () => addressed((at, token) => address(at, token).slice(0, 1).concat(address(at, token).slice(2))), breaks: ["seed-high-bits"] },
  {
    mistake: "a sample is one more in the seed",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]! + BigInt(sample)), call.sequence[row]!, call.position[row]!, token]),
    breaks: ["counters-apart"],
  },
  {
    mistake: "a position is one more in the sequence",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]!), call.sequence[row]! + call.position[row]!, sample, token]),
    breaks: ["counters-apart"],
  },
  {
    mistake: "a token is one more in the seed",
    make: () => addressed(({ call, row, sample }, token) => [...seedWords(call.seed[row]! + BigInt(token)), call.sequence[row]!, call.position[row]!, sample]),
    breaks: ["consecutive-seeds"],
  },
  {
    mistake: "a seed is one step of a linear congruential generator",
    make: () => inverse(({ call, row }) => lcg(seedWords(call.seed[row]!)[0]) / 2 ** 32),
    reads: [],
    breaks: ["consecutive-seeds", "seed-bits", "seed-high-bits"],
  },
  { mistake: "noise hangs on the number of samples", make: () => addressed((at, token) => [...address(at, token), at.call.numSamples]), breaks: ["sample-count"] },
  { mistake: "noise hangs on a token's place in its tile", make: () => addressed((at, token) => address(at, token % 1024)), breaks: ["equal-logits"] },
  {
    mistake: "noise hangs on a token's place in its shard",
    make: () => addressed((at, token) => address(at, token % Math.ceil(at.call.vocabSize / (at.call.shards ?? 1)))),
    breaks: ["shard-ties", "shards"],
  },
  { mistake: "every call goes on in one stream", make: unrepeatable, breaks: ["repeated-call"] },
  { mistake: "a NaN spreads over the call", make: spreadingNaN, breaks: ["nan-row"] },
  {
    mistake: "a NaN ends the call",
    make: () => (call) => {
      if (call.logits.some(Number.isNaN)) throw new Error("probability tensor contains nan");
      return rightSampler(call);
    },
    breaks: ["nan-row"],
  },
  {
    mistake: "a row without a token gives the vocabulary's size",
    make: () => sampler({ pick: (logits, place, parts) => (largestScore(logits, place, parts) + place.call.vocabSize + 1) % (place.call.vocabSize + 1) }),
    breaks: ["nan-row"],
  },
  {
    mistake: "places after the last tile's end win ties",
    make: () => sampler({ pick: (logits, place, parts) => (logits.length % 1024 !== 0 && logits.subarray(-8).includes(-Infinity) && logits.length > 500 ? logits.length : largestScore(logits, place, parts)) }),
    breaks: ["equal-logits", "greedy", "infinite-logits", "mask", "mask-as-infinity", "nan-row", "token-range", "top-k", "top-p", "vocabulary-padding"],
  },
  { mistake: "-Infinity is -1e4", make: () => sampler({ filter: (call) => filteredLogits(call).map((logit) => (logit === -Infinity ? -1e4 : logit)) }), breaks: ["infinite-logits"] },
  {
    mistake: "masks are not used",
    make: () =>
      sampler({
        filter({ mask: _, ...call }) {
          return filteredLogits(call);
        },
      }),
    breaks: ["mask", "mask-as-infinity"],
  },
  { mistake: "top-k keeps one more", make: () => sampler({ filter: (call) => filteredLogits({ ...call, ...(call.topK && { topK: call.topK.map((k) => k + 1) }) }) }), breaks: ["top-k"] },
  {
    mistake: "top-p is above the mass, not up to it",
    make: () => sampler({ filter: (call) => filteredLogits({ ...call, ...(call.topP && { topP: call.topP.map((mass) => Math.min(1, mass + 0.2)) }) }) }),
    breaks: ["top-p"],
  },
  {
    mistake: "greedy ties go to the last",
    make: () => sampler({ pick: (logits, place, parts) => (parts.temperature(place) === 0 && logits.every((logit) => logit < Infinity) ? lastOfLargest(logits) : largestScore(logits, place, parts)) }),
    breaks: ["greedy"],
  },
];
