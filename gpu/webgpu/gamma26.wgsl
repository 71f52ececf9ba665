// Gumbel noise in integers (docs/spec.md, "Gumbel noise"), four tokens at a time.

/// -log2(1 - t/2) / t for t in Q32, result in Q32.
fn q32(t: vec4u) -> vec4u {
  var a = vec4u(LOG2_C8) - mulhi4(vec4u(LOG2_C9), t);
  a = vec4u(LOG2_C7) - mulhi4(a, t);
  a = vec4u(LOG2_C6) - mulhi4(a, t);
  a = vec4u(LOG2_C5) - mulhi4(a, t);
  a = vec4u(LOG2_C4) + mulhi4(a, t);
  a = vec4u(LOG2_C3) + mulhi4(a, t);
  a = vec4u(LOG2_C2) + mulhi4(a, t);
  a = vec4u(LOG2_C1) + mulhi4(a, t);
  return vec4u(LOG2_C0) + mulhi4(a, t);
}

/// The upper 32 bits of (high:low) << shift, 0 <= shift < 32.
fn topWord(high: vec4u, low: vec4u, shift: vec4u) -> vec4u {
  return (high << shift) | ((low >> vec4u(1u)) >> (vec4u(31u) - shift));
}

/// gamma, Q26, of 64 random bits each. Both cases of u share their polynomials: a branch would make every lane wait.
fn gamma26(high: vec4u, low: vec4u) -> vec4u {
  let leading = countLeadingZeros(high | vec4u(1u));
  let upperHalf = leading == vec4u(0u);
  let high1 = (high << vec4u(1u)) | (low >> vec4u(31u));
  let low1 = (low << vec4u(1u)) | vec4u(64u);
  // u in (1/2, 1): w = high1:low1 is small, and 32 significant bits of it are kept.
  let zeros = select(vec4u(32u) + countLeadingZeros(low1), countLeadingZeros(high1), high1 != vec4u(0u));
  let significant = select(low1 << (zeros & vec4u(31u)), topWord(high1, low1, zeros & vec4u(31u)), zeros < vec4u(32u));
  // u <= 1/2: -log2 u = J + w q(w), J the leading zeros.
  let w = topWord(high1, low1, leading & vec4u(31u));
  let product = mulhi4(select(w, significant, upperHalf), q32(select(w, high1, upperHalf)));
  let normalise = select(countLeadingZeros(leading), countLeadingZeros(product), upperHalf) & vec4u(31u);
  let fraction = product >> ((vec4u(32u) - normalise) & vec4u(31u));
  let mantissa = select((leading << normalise) | fraction, product << normalise, upperHalf);
  let exponent = select(normalise - vec4u(27u), vec4u(5u) + zeros + normalise, upperHalf);
  let t = ~(mantissa << vec4u(1u));
  return mulhi4((exponent << vec4u(26u)) | (mulhi4(t, q32(t)) >> vec4u(6u)), vec4u(LN2_Q32));
}
