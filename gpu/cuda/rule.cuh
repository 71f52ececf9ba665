// The rule's integers (docs/spec.md), for the device and, in tests, for the host: Philox, Gumbel noise, scores.
#pragma once
#include <cstdint>
#include "constants.cuh" // made of src/spec by scripts/build-cuda.mjs

#ifdef __CUDACC__
#define BOTH __host__ __device__ __forceinline__
#else
#define BOTH inline
#endif

struct Words4 {
  uint32_t x, y, z, w;
};

BOTH uint32_t mulhi(uint32_t a, uint32_t b) {
  return uint32_t((uint64_t(a) * b) >> 32);
}

BOTH int leadingZeros(uint32_t value) {
#ifdef __CUDA_ARCH__
  return __clz(int(value));
#else
  return value == 0 ? 32 : __builtin_clz(value);
#endif
}

/// Philox4x32-10 (Salmon and others, SC'11).
BOTH Words4 philox4x32(Words4 counter, uint32_t key0, uint32_t key1) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int round = 0; round < int(PHILOX_ROUNDS); round++) {
    const uint64_t product0 = uint64_t(PHILOX_M0) * counter.x;
    const uint64_t product1 = uint64_t(PHILOX_M1) * counter.z;
    counter = {uint32_t(product1 >> 32) ^ counter.y ^ key0, uint32_t(product1), uint32_t(product0 >> 32) ^ counter.w ^ key1, uint32_t(product0)};
    key0 += PHILOX_W0;
    key1 += PHILOX_W1;
  }
  return counter;
}

/// -log2(1 - t/2) / t for t in Q32, result in Q32.
BOTH uint32_t q32(uint32_t t) {
  uint32_t a = LOG2_C8 - mulhi(LOG2_C9, t);
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
BOTH uint32_t topWord(uint32_t high, uint32_t low, int shift) {
  return (high << shift) | ((low >> 1) >> (31 - shift));
}

/// gamma, Q26, of 64 random bits. Both cases of u share their polynomials: a branch would make neighbours wait.
BOTH uint32_t gamma26(uint32_t high, uint32_t low) {
  const int leading = leadingZeros(high | 1u);
  const bool upperHalf = leading == 0;
  const uint32_t high1 = (high << 1) | (low >> 31);
  const uint32_t low1 = (low << 1) | 64u;
  // u in (1/2, 1): w = high1:low1 is small, and 32 significant bits of it are kept.
  const int zeros = high1 != 0 ? leadingZeros(high1) : 32 + leadingZeros(low1);
  const uint32_t significant = zeros < 32 ? topWord(high1, low1, zeros & 31) : low1 << (zeros & 31);
  // u <= 1/2: -log2 u = J + w q(w), J the leading zeros.
  const uint32_t w = topWord(high1, low1, leading & 31);
  const uint32_t product = mulhi(upperHalf ? significant : w, q32(upperHalf ? high1 : w));
  const int normalise = leadingZeros(upperHalf ? product : uint32_t(leading)) & 31;
  const uint32_t fraction = product >> ((32 - normalise) & 31);
  const uint32_t mantissa = upperHalf ? product << normalise : (uint32_t(leading) << normalise) | fraction;
  const uint32_t exponent = upperHalf ? 5u + zeros + normalise : normalise - 27u;
  const uint32_t t = ~(mantissa << 1);
  return mulhi((exponent << 26) | (mulhi(t, q32(t)) >> 6), LN2_Q32);
}

constexpr uint32_t GAMMA_BOUND = 434277138u; // 6 + log2(2 ln 2) in Q26, rounded up

/// No gamma26 with these upper bits is larger (docs/spec.md, section 3).
BOTH uint32_t gammaAtMost(uint32_t high) {
  const uint32_t w = high << 1;
  const int zeros = leadingZeros(w);
  const uint32_t log2 = (uint32_t(zeros) << 26) + GAMMA_BOUND - (((w << (zeros & 31)) << 1) >> 6);
  const uint32_t upperHalf = w == 0 ? 0xffffffffu : log2;
  return mulhi(high >= 0x80000000u ? upperHalf : 5u << 26, LN2_Q32) + 2u;
}

constexpr int64_t MASKED = INT64_MIN;
constexpr uint64_t SIGN_BIT = 1ull << 63;
constexpr uint64_t Z_LIMIT = 1ull << Z_LIMIT_BITS;

/// Limits a magnitude to 2^62 and gives it a sign.
BOTH int64_t signedZ(uint64_t magnitude, bool negative) {
  const int64_t limited = int64_t(magnitude < Z_LIMIT ? magnitude : Z_LIMIT);
  return negative ? -limited : limited;
}

/// A finite logit's f32 bits in Q31.32, truncated toward zero.
BOTH int64_t fix(uint32_t bits) {
  const uint32_t exponent = (bits >> 23) & 255u;
  const uint32_t significand = exponent == 0 ? 0 : (bits & 0x7fffffu) | 0x800000u;
  uint64_t magnitude = Z_LIMIT;
  if (exponent < FIX_LEFT_EXPONENT) {
    const uint32_t shift = FIX_LEFT_EXPONENT - exponent;
    magnitude = shift < 24 ? significand >> shift : 0;
  } else if (exponent < FIX_CLAMP_EXPONENT) {
    magnitude = uint64_t(significand) << (exponent - FIX_LEFT_EXPONENT);
  }
  return signedZ(magnitude, bits >> 31);
}

BOTH uint32_t significandOf(uint32_t bits) {
  return (bits & 0x7fffffu) | 0x800000u;
}

/// An int8 group's sum times its scale in Q31.32, truncated toward zero and clamped. Both are f32 bits.
BOTH int64_t scaledSum(uint32_t sum, uint32_t scale) {
  if ((sum & 0x7fffffffu) == 0) return 0;
  const uint64_t product = uint64_t(significandOf(sum)) * significandOf(scale);
  const uint32_t exponents = ((sum >> 23) & 255u) + ((scale >> 23) & 255u);
  uint64_t magnitude = Z_LIMIT;
  if (exponents < INT8_EXPONENT_OFFSET) {
    const uint32_t shift = INT8_EXPONENT_OFFSET - exponents;
    magnitude = shift < 64 ? product >> shift : 0;
  } else if (exponents - INT8_EXPONENT_OFFSET < 16) {
    magnitude = product << (exponents - INT8_EXPONENT_OFFSET); // the product has 47 or 48 bits: 16 more pass 2^62
  }
  return signedZ(magnitude, sum >> 31);
}

/// Adds a group to a logit, both within +-2^62, and clamps.
BOTH int64_t addClamped(int64_t z, int64_t group) {
  const int64_t sum = int64_t(uint64_t(z) + uint64_t(group)); // 2^63 alone wraps
  const bool negative = sum < 0 && (z < 0 || group < 0);
  return signedZ(negative ? 0 - uint64_t(sum) : uint64_t(sum), negative);
}

/// S = Z + T * noise with its sign bit flipped, so that scores compare as unsigned numbers. MASKED absorbs.
BOTH uint64_t orderedScore(int64_t z, uint32_t gamma, uint32_t tau) {
  return z == MASKED ? 0 : (uint64_t(z) + ((uint64_t(gamma) * tau) >> NOISE_SHIFT)) ^ SIGN_BIT;
}

/// 32 bits of an ordered score: a higher rank is a higher score, scores of one rank differ by less than 2^-8 where they are
/// within +-2^23.
BOTH uint32_t rankOf(uint64_t score) {
  constexpr uint64_t least = SIGN_BIT - (1ull << 55);
  if (score < least) return 0;
  const uint64_t rank = (score - least) >> 24;
  return rank > 0xffffffffu ? 0xffffffffu : uint32_t(rank);
}

/// One token of a draw's decision.
struct Scored {
  uint64_t score;
  uint32_t token;
};

/// The two best tokens of a set: the larger score, then the smaller token.
struct Best {
  Scored first, second;
};

constexpr uint32_t NO_TOKEN = 0xffffffffu;
constexpr Scored NO_SCORED = {0, NO_TOKEN};
constexpr Best NO_BEST = {NO_SCORED, NO_SCORED};

BOTH bool wins(const Scored& a, const Scored& b) {
  return a.score > b.score || (a.score == b.score && a.token < b.token);
}

BOTH Scored better(const Scored& a, const Scored& b) {
  return wins(a, b) ? a : b;
}

/// Associative and commutative.
BOTH Best argmaxCombine(const Best& a, const Best& b) {
  return wins(a.first, b.first) ? Best{a.first, better(a.second, b.first)} : Best{b.first, better(b.second, a.first)};
}
