// An int8 head's logit is an integer from the start: group sums times scales, exactly, truncated to Q31.32.

alias Logit = vec2u;

fn zOf(logit: Logit) -> vec2u {
  return logit;
}

fn significandOf(bits: u32) -> u32 {
  return (bits & 0x7fffffu) | 0x800000u;
}

/// sum * scale in Q31.32, truncated toward zero and clamped.
fn scaledSum(sum: u32, scale: u32) -> vec2u {
  if ((sum & 0x7fffffffu) == 0u) {
    return vec2u(0u, 0u);
  }
  let product = mulWide(significandOf(sum), significandOf(scale));
  let exponents = ((sum >> 23u) & 255u) + ((scale >> 23u) & 255u);
  var magnitude = vec2u(0u, 0x40000000u);
  if (exponents < INT8_EXPONENT_OFFSET) {
    let shift = INT8_EXPONENT_OFFSET - exponents;
    magnitude = select(vec2u(0u, 0u), shiftRight64(product, shift & 63u), shift < 64u);
  } else if (exponents - INT8_EXPONENT_OFFSET < 16u) {
    // The product has 47 or 48 bits: 16 more pass 2^62.
    magnitude = shiftLeft64(product, exponents - INT8_EXPONENT_OFFSET);
  }
  return signedZ(magnitude, (sum >> 31u) == 1u);
}

fn addGroup(so_far: Logit, sum: f32, token: u32, group: u32) -> Logit {
  let scaled = scaledSum(bitcast<u32>(sum), scales[token * piece.groups + group]);
  let total = add64(so_far, scaled);
  // 2^62 + 2^62 looks negative: two terms that are not give a sum that is not.
  let negative = (total.y & (so_far.y | scaled.y)) >> 31u == 1u;
  return signedZ(select(total, negate64(total), negative), negative);
}
