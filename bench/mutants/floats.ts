/** Noise and scores as float kernels have them. */
import { bf16ToF32Bits, bitsFromF32, f32BitsToBf16, f32FromBits } from "../../src/spec/float.js";
import { GUMBEL_OFFSET } from "../../src/spec/constants.js";
import { GAMMA26 } from "./correct.js";
import type { Noise } from "./rule.js";

export const toBf16 = (value: number): number => (Number.isFinite(value) ? f32FromBits(bf16ToF32Bits(f32BitsToBf16(bitsFromF32(value)))) : value);

/** 1 - u, where u is the uniform number that two words stand for: docs/spec.md, end of section 3. */
export function complement(high: number, low: number): number {
  const leading = Math.clz32(high | 1);
  if (leading > 0) return 1 - 2 ** -leading * (1 - fractionAfter(high, low, leading + 1) / 2);
  return fractionAfter(high, low, 1) / 2;
}

/** The bits of high and low behind the first `count`, 1 to 32, as a fraction; never 0. */
function fractionAfter(high: number, low: number, count: number): number {
  const upper = count < 32 ? (high << count) >>> 0 : 0;
  return (upper * 2 ** 32 + low * 2 ** count + 2 ** (count + 5)) / 2 ** 64;
}

/** The Gumbel value of u. */
export const gumbel = (u: number): number => -Math.log(-Math.log(u));

/** Noise from a Gumbel value that is computed otherwise. excess: how far it may lie above the correct one. */
export function noiseFrom(gumbelOf: (high: number, low: number) => number, excess: number): Noise {
  return {
    of: (high, low) => toGamma(gumbelOf(high, low)),
    limits: GAMMA26.limits.map((limit) => limit + excess * 2 ** 26),
  };
}

export const toGamma = (value: number): number => (value + GUMBEL_OFFSET) * 2 ** 26;
export const fromGamma = (gamma: number): number => gamma * 2 ** -26 - GUMBEL_OFFSET;
