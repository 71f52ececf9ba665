// Gumbel noise in integers (docs/spec.md, "Gumbel noise").

/// -log2(1 - t/2) / t for t in Q32, result in Q32.
fn q32(t: u32) -> u32 {
  var a = LOG2_C8 - mulhi(LOG2_C9, t);
  a = LOG2_C7 - mulhi(a, t);
  a = LOG2_C6 - mulhi(a, t);
  a = LOG2_C5 - mulhi(a, t);
  a = LOG2_C4 + mulhi(a, t);
  a = LOG2_C3 + mulhi(a, t);
  a = LOG2_C2 + mulhi(a, t);
  a = LOG2_C1 + mulhi(a, t);
  return LOG2_C0 + mulhi(a, t);
}

/// The upper 32 bits of (high:low) << shift, 0 <= shift < 32.
fn topWord(high: u32, low: u32, shift: u32) -> u32 {
  return (high << shift) | ((low >> 1u) >> (31u - shift));
}

/// gamma, Q26, of 64 random bits. Both cases of u share their polynomials: a branch would make neighbours wait.
fn gamma26(high: u32, low: u32) -> u32 {
  let leading = countLeadingZeros(high | 1u);
  let upperHalf = leading == 0u;
  let high1 = (high << 1u) | (low >> 31u);
  let low1 = (low << 1u) | 64u;
  // u in (1/2, 1): w = high1:low1 is small, and 32 significant bits of it are kept.
  let zeros = select(32u + countLeadingZeros(low1), countLeadingZeros(high1), high1 != 0u);
  let significant = select(low1 << (zeros & 31u), topWord(high1, low1, zeros & 31u), zeros < 32u);
  // u <= 1/2: -log2 u = J + w q(w), J the leading zeros.
  let w = topWord(high1, low1, leading & 31u);
  let product = mulhi(select(w, significant, upperHalf), q32(select(w, high1, upperHalf)));
  let normalise = select(countLeadingZeros(leading), countLeadingZeros(product), upperHalf) & 31u;
  let fraction = product >> ((32u - normalise) & 31u);
  let mantissa = select((leading << normalise) | fraction, product << normalise, upperHalf);
  let exponent = select(normalise - 27u, 5u + zeros + normalise, upperHalf);
  let t = ~(mantissa << 1u);
  return mulhi((exponent << 26u) | (mulhi(t, q32(t)) >> 6u), LN2_Q32);
}

const GAMMA_BOUND = 434277138u; // 6 + log2(2 ln 2) in Q26, rounded up

/// No gamma26 with these upper bits is larger: with w the random bits below the first, -log2 u >= w / (2 ln 2), and
/// log2 x >= x - 1 for x from 1 to 2 (docs/spec.md, section 3).
fn gammaAtMost(high: u32) -> u32 {
  let w = high << 1u;
  let zeros = countLeadingZeros(w);
  let log2 = (zeros << 26u) + GAMMA_BOUND - (((w << (zeros & 31u)) << 1u) >> 6u);
  let upperHalf = select(log2, 0xffffffffu, w == 0u);
  return mulhi(select(5u << 26u, upperHalf, high >= 0x80000000u), LN2_Q32) + 2u;
}
