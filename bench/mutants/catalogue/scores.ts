/** Scores and temperatures that are not the rule's, and tokens that are drawn in another way. */
import { GUMBEL_OFFSET, SCORE_FRACTION_BITS, TAU_FRACTION_BITS } from "../../../src/spec/constants.js";
import { tauOf } from "../../../src/spec/score.js";
import type { SamplerCall } from "../../../src/verify/sampler-under-test.js";
import { ranked, weightsOf } from "../filters.js";
import { toBf16 } from "../floats.js";
import type { Mutant } from "../mutant.js";
import type { Patch, Rule, Stream } from "../rule.js";
import { drawnLogits, drawWithout } from "../sampler.js";

const ONE = 2 ** SCORE_FRACTION_BITS;
/** What noise of 0 takes off a score at T = 2^-24. */
const OFFSET = GUMBEL_OFFSET * 2 ** -TAU_FRACTION_BITS;

/** A score in Q32 whose value in logits is a bf16. */
function bf16Score(score: number, tau: number): number {
  return toBf16(score / ONE - OFFSET * tau) * ONE;
}

const temperature = (change: (T: number, call: SamplerCall) => number): Patch => () => ({ tau: (call, row) => tauOf(change(call.temperature[row]!, call)) });

/** Purposes that no draw of the rule uses. */
const DICE_PURPOSE = 200;
const CDF_PURPOSE = 202;
const wordFor = (rule: Rule, stream: Stream, purpose: number): number => rule.words({ ...stream, highPurpose: purpose }, 0, 0)[0]!;

/** Changes one draw in so many, by a throw of the dice that its address decides. */
function oneIn(count: number, other: (rule: Rule, call: SamplerCall, row: number, sample: number, token: number) => number): Patch {
  return (correct) => ({
    finish(tokens, call) {
      tokens.forEach((token, draw) => {
        const [row, sample] = [Math.floor(draw / call.numSamples), draw % call.numSamples];
        const dice = wordFor(correct, correct.stream(call, row, sample, 0), DICE_PURPOSE);
        if (token >= 0 && dice % count === 0) tokens[draw] = other(correct, call, row, sample, token);
      });
    },
  });
}

const highest = (logits: Float32Array): number => ranked(logits)[0] ?? -1;

/** Draws by the sum of probabilities that passes a uniform number; what no sum passes is the last token. */
function byCdf(rounded: (value: number) => number, uniform: (rule: Rule, stream: Stream) => number): Patch {
  let summed: { readonly logits: Float32Array; readonly sums: Float64Array } | null = null;
  return (correct) => ({
    pick(logits, call, row, stream) {
      if (call.temperature[row] === 0) return highest(logits);
      if (summed?.logits !== logits) summed = { logits, sums: cumulated(logits, call.temperature[row]!, rounded) };
      const { sums } = summed;
      const target = uniform(correct, stream);
      let [low, high] = [0, sums.length - 1];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (sums[middle]! > target) high = middle;
        else low = middle + 1;
      }
      return low;
    },
  });
}

function cumulated(logits: Float32Array, T: number, rounded: (value: number) => number): Float64Array {
  const order = ranked(logits);
  const weights = new Float64Array(logits.length);
  weightsOf(logits, order, T).forEach((weight, place) => (weights[order[place]!] = weight));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return weights.map((weight) => (sum = rounded(sum + rounded(weight / total))));
}

const uniform24 = (rule: Rule, stream: Stream): number => (wordFor(rule, stream, CDF_PURPOSE) >>> 8) * 2 ** -24;
/** One step of a linear congruential generator from the seed, which the draw's other numbers are added to. */
const uniformOfSeed = (_: Rule, { keyLow, sequence, position, sample }: Stream): number =>
  (((Math.imul(keyLow + sequence * 40_503 + position * 7919 + sample * 104_729, 1664525) + 1013904223) >>> 0) + 0.5) / 2 ** 32;

const RARE = 1e-6;

function dropRareTokens(logits: Float32Array, { temperature }: SamplerCall, row: number): void {
  const order = ranked(logits);
  const weights = weightsOf(logits, order, temperature[row]!);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  order.forEach((token, place) => {
    if (weights[place]! / total < RARE) logits[token] = -Infinity;
  });
}

export const SCORE_MUTANTS: readonly Mutant[] = [
  {
    name: "scores-in-bf16",
    fault: "the sum of logit and noise is a bf16",
    patch: () => ({ score: (z, noise, tau) => bf16Score(z + noise, tau) }),
    check: "large logits",
    gof: "large logits",
    invariance: "greedy",
  },
  {
    name: "tile-maxima-in-bf16",
    fault: "tiles of 128 tokens tell each other their best scores as bf16",
    patch: () => ({ tileSize: () => 128, tileScore: bf16Score }),
    check: "large logits",
    gof: "large logits",
    invariance: "greedy",
  },
  {
    name: "last-of-equal",
    fault: "among equal scores the last token wins",
    patch: () => ({ lastOfEqual: true }),
    check: "equal logits",
    invariance: "greedy",
  },
  {
    name: "temperature-twice",
    fault: "logits are divided by T twice",
    patch: temperature((T) => T * T),
    check: "plain",
    gof: "normal",
  },
  {
    name: "temperature-not-read",
    fault: "T is 1 for all that is not greedy",
    patch: temperature((T) => (T === 0 ? 0 : 1)),
    check: "plain",
    gof: "normal",
  },
  {
    name: "temperature-off-by-2-percent",
    fault: "T is 2 % too small",
    patch: temperature((T) => T * 0.98),
    check: "thousand draws",
    gof: "normal",
  },
  {
    name: "logits-in-bf16",
    fault: "logits pass through bf16",
    patch: ({ readLogits }) => ({ readLogits: (call, row) => readLogits(call, row).map(toBf16) }),
    check: "large logits",
    gof: "large logits",
    invariance: "greedy",
  },
  {
    name: "greedy-leak",
    fault: "one draw in a hundred is the highest logit",
    patch: oneIn(100, (rule, call, row) => highest(drawnLogits(rule, call, row))),
    check: "thousand draws",
    gof: "flat",
  },
  {
    name: "runner-up-leak",
    fault: "one draw in five hundred is the runner-up",
    patch: oneIn(500, drawWithout),
    check: "thousand draws",
    gof: "peaked",
  },
  {
    name: "last-token-not-read",
    fault: "the last logit is not read",
    patch: ({ readLogits }) => ({
      readLogits(call, row) {
        const logits = readLogits(call, row);
        logits[logits.length - 1] = -Infinity;
        return logits;
      },
    }),
    check: "steep end",
    gof: "flat",
    invariance: "infinite-logits",
  },
  {
    name: "rare-tokens-dropped",
    fault: "tokens of a probability below 1e-6 are never drawn",
    patch: () => ({ beforeDraws: dropRareTokens }),
    check: "extreme words",
    gof: "rare tokens",
  },
  {
    name: "softmax-in-bf16",
    fault: "probabilities and their sums are bf16, and a uniform number chooses among them",
    patch: byCdf(toBf16, uniform24),
    check: "plain",
    gof: "normal",
    invariance: "vocabulary-padding",
  },
  {
    name: "cdf-in-f32",
    fault: "sums of probabilities in f32 lose tokens below 2^-25, and the last token takes what is missing",
    patch: byCdf(Math.fround, uniform24),
    check: "plain",
    gof: "large vocabulary",
  },
  {
    name: "seeds-through-lcg",
    fault: "the uniform number is one step of a linear congruential generator from the seed: the next seed's lies beside it",
    patch: byCdf((value) => value, uniformOfSeed),
    check: "plain",
    gof: "consecutive seeds",
    invariance: "consecutive-seeds",
  },
];
