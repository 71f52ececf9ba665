/**
 * Gumbel noise in integers (docs/spec.md, "Gumbel noise"). Twin of src/spec/gumbel.ts, statement for statement.
 * Scalar on purpose: screening by the high word leaves some tens of tokens of a row, and no vector clz exists.
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
} from "../src/spec/constants";

// @ts-ignore: decorator
@inline
function mulhi(a: u32, b: u32): u32 {
  return u32((u64(a) * u64(b)) >> 32);
}

/** -log2(1 - t/2) / t for t in Q32, result in Q32: relative error at most 3.5e-9 over all t. */
function q32(t: u32): u32 {
  let a = u32(LOG2_C8) - mulhi(u32(LOG2_C9), t);
  a = u32(LOG2_C7) - mulhi(a, t);
  a = u32(LOG2_C6) - mulhi(a, t);
  a = u32(LOG2_C5) - mulhi(a, t);
  a = u32(LOG2_C4) + mulhi(a, t);
  a = u32(LOG2_C3) + mulhi(a, t);
  a = u32(LOG2_C2) + mulhi(a, t);
  a = u32(LOG2_C1) + mulhi(a, t);
  return u32(LOG2_C0) + mulhi(a, t);
}

/** gamma, Q26: g = gamma * 2^-26 - G0. Error against -ln(-ln u): within [-3.0e-8, +1.0e-8] (docs/spec.md, section 3). */
export function gamma26(high: u32, low: u32): u32 {
  const leading = clz(high | 1);
  const high1 = (high << 1) | (low >>> 31);
  const low1 = (low << 1) | 64;
  let mantissa: u32;
  let exponent: u32;
  if (leading == 0) {
    const zeros = high1 != 0 ? clz(high1) : 32 + clz(low1);
    const significant = u32((((u64(high1) << 32) | u64(low1)) << zeros) >>> 32);
    const product = mulhi(significant, q32(high1));
    const normalise = clz(product);
    mantissa = product << normalise;
    exponent = 5 + zeros + normalise;
  } else {
    const w = (high1 << leading) | ((low1 >>> 1) >>> (31 - leading));
    const fraction = mulhi(w, q32(w));
    const normalise = clz(leading);
    mantissa = (leading << normalise) | (fraction >>> (32 - normalise));
    exponent = normalise - 27;
  }
  const t = ~(mantissa << 1);
  return mulhi((exponent << 26) | (mulhi(t, q32(t)) >>> 6), u32(LN2_Q32));
}
