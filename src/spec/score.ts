/**
 * Scores and the decision: 64-bit integers, Q31.32 (docs/spec.md, "Scores").
 * Nothing floating follows the dot product, so every order of tiles, threads and shards gives the same winner.
 */
import {
  FIX_CLAMP_EXPONENT,
  FIX_LEFT_EXPONENT,
  GUMBEL_OFFSET,
  NOISE_SHIFT,
  SCORE_FRACTION_BITS,
  TAU_FRACTION_BITS,
  TAU_MAX,
  Z_LIMIT_BITS,
} from "./constants.js";
import { gamma26 } from "./gumbel.js";
import { tokenWord, type DrawAddress } from "./philox.js";

/** Z of a token that must not be drawn: below every score. */
export const MASK = -(1n << 63n);
export const Z_LIMIT = 1n << BigInt(Z_LIMIT_BITS);

export function clampZ(z: bigint): bigint {
  return z > Z_LIMIT ? Z_LIMIT : z < -Z_LIMIT ? -Z_LIMIT : z;
}

/** A logit's f32 bits as Q31.32, truncated toward zero; valid is false for NaN and +inf, -inf is MASK. */
export function fix(bits: number): { z: bigint; valid: boolean } {
  const negative = bits >>> 31 === 1;
  const exponent = (bits >>> 23) & 255;
  const fraction = bits & 0x7fffff;
  if (exponent === 255) return negative && fraction === 0 ? { z: MASK, valid: true } : { z: MASK, valid: false };
  if (exponent === 0) return { z: 0n, valid: true };
  const significand = BigInt(fraction | 0x800000);
  let magnitude: bigint;
  if (exponent >= FIX_CLAMP_EXPONENT) magnitude = Z_LIMIT;
  else if (exponent >= FIX_LEFT_EXPONENT) magnitude = significand << BigInt(exponent - FIX_LEFT_EXPONENT);
  else magnitude = significand >> BigInt(FIX_LEFT_EXPONENT - exponent);
  return { z: negative ? -magnitude : magnitude, valid: true };
}

/** temperature, an f64 in [0, 256), in Q24: the f64 value floor(T * 2^24 + 1/2), at most 2^32 - 1. */
export function tauOf(temperature: number): number {
  return Math.min(Math.floor(temperature * 2 ** TAU_FRACTION_BITS + 0.5), TAU_MAX);
}

/** gamma of one token: high word from the draw's purpose, low word from the purpose that follows it. */
export function tokenGamma(draw: DrawAddress, token: number): { high: number; low: number; gamma: number } {
  const high = tokenWord(draw, token);
  const low = tokenWord({ ...draw, purpose: draw.purpose + 1 }, token);
  return { high, low, gamma: gamma26(high, low) };
}

/** S = Z + T * noise, in Q31.32. MASK absorbs. */
export function scoreOf(z: bigint, gamma: number, tau: number): bigint {
  return z === MASK ? MASK : z + ((BigInt(gamma) * BigInt(tau)) >> BigInt(NOISE_SHIFT));
}

export interface Scored {
  readonly token: number;
  readonly score: bigint;
}

/** The larger score, then the smaller token: associative and commutative. */
export function argmaxCombine(a: Scored, b: Scored): Scored {
  if (a.score !== b.score) return a.score > b.score ? a : b;
  return a.token <= b.token ? a : b;
}

/** A score as people read it: logit + T * Gumbel, an f64. tau is the row's. */
export function reportScore(score: bigint, tau: number): number {
  return Number(score) * 2 ** -SCORE_FRACTION_BITS - GUMBEL_OFFSET * tau * 2 ** -TAU_FRACTION_BITS;
}

/** The winner's lead over the runner-up in logits, an f64 >= 0. */
export function reportMargin(score: bigint, runnerUpScore: bigint): number {
  return Number(score - runnerUpScore) * 2 ** -SCORE_FRACTION_BITS;
}
