/**
 * Gumbel noise in integers (docs/spec.md, "Gumbel noise"): two logarithms by one polynomial, no floating point.
 * Write u = 2^-J (1 - w/2): J counts leading zeros of the high word, w holds the bits that follow.
 */
import {
  LN2_Q32,
  LOG2_C0,
  LOG2_C1,
  LOG2_C2,
  LOG2_C3,
  LOG2_C4,
  LOG2_C5,
  LOG2_C6,
  LOG2_C7,
  LOG2_C8,
  LOG2_C9,
} from "./constants.js";
import { mulhi } from "./philox.js";

/**
 * -log2(1 - t/2) / t for t in Q32, result in Q32.
 * Relative error at most 3.5e-9 over all t; degree 9, minimax. No step over- or underflows 32 bits.
 */
export function q32(t: number): number {
  let a = LOG2_C8 - mulhi(LOG2_C9, t);
  a = LOG2_C7 - mulhi(a, t);
  a = LOG2_C6 - mulhi(a, t);
  a = LOG2_C5 - mulhi(a, t);
  a = LOG2_C4 + mulhi(a, t);
  a = LOG2_C3 + mulhi(a, t);
  a = LOG2_C2 + mulhi(a, t);
  a = LOG2_C1 + mulhi(a, t);
  return LOG2_C0 + mulhi(a, t);
}

/**
 * gamma, Q26: the Gumbel value g of 64 random bits is gamma * 2^-26 - G0.
 * Error against -ln(-ln u): within [-3.0e-8, +1.0e-8] (how it was searched: docs/spec.md, section 3); g in [-3.0993, 40.896].
 */
export function gamma26(high: number, low: number): number {
  const leading = Math.clz32(high | 1);
  const high1 = ((high << 1) | (low >>> 31)) >>> 0;
  const low1 = ((low << 1) | 64) >>> 0;
  let mantissa: number; // E = -log2 u, normalised to [2^31, 2^32)
  let exponent: number; // 5 - floor(log2 E): what the mantissa's normalisation took away
  if (leading === 0) {
    // u in (1/2, 1): E = w q(w) with w = high1:low1 small, so keep 32 significant bits of it.
    const zeros = high1 !== 0 ? Math.clz32(high1) : 32 + Math.clz32(low1);
    const significant = zeros < 32 ? topWord(high1, low1, zeros) : (low1 << (zeros - 32)) >>> 0;
    const product = mulhi(significant, q32(high1));
    const normalise = Math.clz32(product);
    mantissa = (product << normalise) >>> 0;
    exponent = 5 + zeros + normalise;
  } else {
    // u <= 1/2: E = J + w q(w) in [1, 32).
    const w = topWord(high1, low1, leading);
    const fraction = mulhi(w, q32(w));
    const normalise = Math.clz32(leading);
    mantissa = ((leading << normalise) | (fraction >>> (32 - normalise))) >>> 0;
    exponent = normalise - 27;
  }
  const t = ~(mantissa << 1) >>> 0;
  const log2 = ((exponent << 26) | (mulhi(t, q32(t)) >>> 6)) >>> 0;
  return mulhi(log2, LN2_Q32);
}

/** The upper 32 bits of (high:low) << shift, 0 <= shift < 32. */
function topWord(high: number, low: number, shift: number): number {
  return ((high << shift) | ((low >>> 1) >>> (31 - shift))) >>> 0;
}
