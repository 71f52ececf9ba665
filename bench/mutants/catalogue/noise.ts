/** Noise that is not Gumbel's: too few bits, ends that are never or always reached, another law. */
import { GAMMA26 } from "../correct.js";
import { complement, fromGamma, gumbel, noiseFrom, toBf16, toGamma } from "../floats.js";
import type { Mutant } from "../mutant.js";
import type { Noise, Patch, Rule } from "../rule.js";

const noise = (replaced: Noise): Patch => () => ({ noise: replaced });

/** u in so many bits: the number below it, plus a share of their unit. */
function uniformIn(bits: number, share: number): (high: number, low: number) => number {
  const values = 2 ** bits;
  return (high, low) => (Math.floor((1 - complement(high, low)) * values) + share) / values;
}

/** u = 1 where 1 - u rounds to nothing in an f32. */
const F32_UNIFORM: Noise = {
  of: (high, low) => toGamma(gumbel(Math.fround(1 - complement(high, low)))),
  limits: GAMMA26.limits.map((limit, zeros) => (zeros < 23 || zeros === 33 ? limit + 2 ** 26 : Infinity)),
};

const bits24 = uniformIn(24, 0.5);
const bits24Below = uniformIn(24, 0);
const bits23 = uniformIn(23, 0);
const bits7 = uniformIn(7, 0);
const SMALLEST_F32 = 2 ** -126;
/** -ln(-ln(1 - 2^-23)) */
const CAP = 15.942;
const HASH_VALUES = 40_000;

/** A linear congruential generator, Numerical Recipes' constants. */
const LCG = { factor: 1664525, summand: 1013904223 };

/** The words of tokens are steps of one generator, each its lower 16 bits. */
function lowBitsOfLcg({ words }: Rule): Partial<Rule> {
  // What so many steps do to a state: state * factor + summand.
  const factors: number[] = [1];
  const summands: number[] = [0];
  return {
    words(stream, group, which) {
      if (which === 1) return words(stream, group, 1);
      for (let step = factors.length; step < 16 * group + 16; step++) {
        factors.push(Math.imul(factors[step - 1]!, LCG.factor));
        summands.push((Math.imul(summands[step - 1]!, LCG.factor) + LCG.summand) | 0);
      }
      const start = words(stream, 0, 0)[0]!;
      return Uint32Array.from({ length: 16 }, (_, lane) => (Math.imul(factors[16 * group + lane]!, start) + summands[16 * group + lane]!) << 16);
    },
  };
}

/** Token 3 always has the same word. */
function stuckToken({ words }: Rule): Partial<Rule> {
  return {
    words(stream, group, which) {
      const own = words(stream, group, which);
      if (group === 0) own[STUCK_TOKEN] = STUCK_WORD;
      return own;
    },
  };
}

const STUCK_TOKEN = 3;
const STUCK_WORD = 0xc0000000;

export const NOISE_MUTANTS: readonly Mutant[] = [
  {
    name: "u-reaches-1",
    fault: "u in an f32 rounds to 1, whose noise is +Infinity: once in 2^25 words",
    patch: noise(F32_UNIFORM),
    check: "extreme words",
    gof: "unreachable tail",
  },
  {
    name: "u-reaches-0",
    fault: "u of 24 bits can be 0, whose noise is -Infinity: then token 0 is returned",
    patch: () => ({ noise: noiseFrom((high, low) => gumbel(bits24Below(high, low)), 0), nothingDrawn: () => 0 }),
    check: "extreme words",
  },
  {
    name: "u-of-24-bits",
    fault: "u is (k + 1/2) 2^-24: no noise above 17.33",
    patch: noise(noiseFrom((high, low) => gumbel(bits24(high, low)), 1)),
    check: "extreme words",
  },
  {
    name: "u-of-23-bits",
    fault: "u is k 2^-23, as JAX's mode low has it: no noise above 15.94",
    patch: noise(noiseFrom((high, low) => gumbel(Math.max(SMALLEST_F32, bits23(high, low))), 0)),
    check: "extreme words",
    gof: "tail",
  },
  {
    name: "u-of-7-bits",
    fault: "u has 128 values, as JAX makes them for bf16 logits",
    patch: noise(noiseFrom((high, low) => gumbel(Math.max(SMALLEST_F32, bits7(high, low))), 0)),
    check: "plain",
    gof: "flat",
  },
  {
    name: "noise-is-capped",
    fault: "noise above 15.94 becomes 15.94, as with 1 - 2^-23 for the largest u",
    patch: noise(noiseFrom((high, low) => Math.min(CAP, gumbel(1 - complement(high, low))), 0.001)),
    check: "extreme words",
    gof: "tail",
  },
  {
    name: "noise-in-bf16",
    fault: "noise is kept as bf16: equal scores are common, and the first token wins them",
    patch: noise(noiseFrom((high, low) => toBf16(gumbel(1 - complement(high, low))), 0.2)),
    check: "thousand draws",
    gof: "equal shards",
  },
  {
    name: "one-logarithm",
    fault: "-log(1 - u) in place of -log(-log u)",
    patch: noise(noiseFrom((high, low) => -Math.log(complement(high, low)), 4)),
    check: "flat",
    gof: "few tokens",
  },
  {
    name: "noise-times-1.02",
    fault: "all noise is 2 % too large",
    patch: noise(noiseFrom((high, low) => 1.02 * fromGamma(GAMMA26.of(high, low)), 1)),
    check: "thousand draws",
    gof: "normal",
  },
  {
    name: "noise-of-one-token-stuck",
    fault: "token 3 always has the same noise",
    patch: stuckToken,
    check: "flat",
    gof: "flat",
  },
  {
    name: "low-word-not-read",
    fault: "the low word counts as 0",
    patch: noise({ of: (high) => GAMMA26.of(high, 0), limits: GAMMA26.limits.map((limit) => limit + 2 ** 26) }),
    check: "extreme words",
  },
  {
    name: "hash-modulo",
    fault: "u is a hash of 16 bits modulo 40000",
    patch: noise({ of: (high) => toGamma(gumbel((((high >>> 16) % HASH_VALUES) + 0.5) / HASH_VALUES)), limits: GAMMA26.limits.map(() => Infinity) }),
    check: "plain",
    gof: "few tokens",
  },
  {
    name: "low-bits-of-lcg",
    fault: "the words of a row are the lower 16 bits of steps of one linear congruential generator",
    patch: lowBitsOfLcg,
    check: "plain",
    gof: "flat",
  },
];
