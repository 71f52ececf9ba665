// Logits and scores as 64-bit integers, Q31.32, vec2u(low, high) in two's complement (docs/spec.md, "Scores").

const MASKED = vec2u(0u, 0x80000000u); // -2^63

/// Limits a magnitude to 2^62 and gives it a sign.
fn signedZ(magnitude: vec2u, negative: bool) -> vec2u {
  let limited = select(magnitude, vec2u(0u, 0x40000000u), magnitude.y >= 0x40000000u);
  return select(limited, negate64(limited), negative);
}

/// A finite logit's f32 bits, truncated toward zero.
fn fix(bits: u32) -> vec2u {
  let exponent = (bits >> 23u) & 255u;
  let significand = select((bits & 0x7fffffu) | 0x800000u, 0u, exponent == 0u);
  var magnitude = vec2u(0u, 0x40000000u);
  if (exponent < FIX_LEFT_EXPONENT) {
    let shift = FIX_LEFT_EXPONENT - exponent;
    magnitude = vec2u(select(0u, significand >> (shift & 31u), shift < 24u), 0u);
  } else if (exponent < FIX_CLAMP_EXPONENT) {
    magnitude = shiftLeft64(vec2u(significand, 0u), exponent - FIX_LEFT_EXPONENT);
  }
  return signedZ(magnitude, (bits >> 31u) == 1u);
}

/// S = Z + T * noise. MASKED absorbs. The result's sign bit is flipped, so that scores compare as unsigned numbers.
fn orderedScore(z: vec2u, gamma: u32, tau: u32) -> vec2u {
  let product = mulWide(gamma, tau);
  let noise = vec2u((product.x >> NOISE_SHIFT) | (product.y << (32u - NOISE_SHIFT)), product.y >> NOISE_SHIFT);
  let score = add64(z, noise) ^ vec2u(0u, 0x80000000u);
  return select(score, vec2u(0u, 0u), all(z == MASKED));
}

/// 32 bits of an ordered score: a higher rank is a higher score, scores of one rank differ by less than 2^-8 where they are
/// within +-2^23.
fn rankOf(score: vec2u) -> u32 {
  let upper = score.y - RANK_BASE;
  let rank = (upper << 8u) | (score.x >> 24u);
  return select(select(0u, 0xffffffffu, score.y >= RANK_BASE), rank, upper < 0x1000000u);
}

const RANK_BASE = 0x80000000u - 0x800000u;
