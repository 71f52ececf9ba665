// Bounds in f32 of the noise and of scores, for a screen (docs/spec.md, "Screening"). Sums round away from the truth; the slacks cover
// the hardware's logarithm, the constants, and the rounding of T ln 2.
#pragma once
#include "rule.cuh"

/// G0 + 32 ln 2: gamma of u = 1 - 2^-32 x is about NOISE_TOP - ln x.
constexpr float NOISE_TOP = 25.279932f;
constexpr float LN2_F = 0.69314718f;
constexpr float NOISE_SLACK = 1e-4f;
/// fix() truncates Z, the noise is truncated: 2^-31, and more.
constexpr float SCORE_SLACK = 1e-6f;
constexpr uint32_t TOP_BIT = 0x80000000u;
/// No u <= 1/2 has more noise than this distance gives: -ln(0.6875) > -ln(ln 2).
constexpr uint32_t FAR_DISTANCE = 0xb0000000u;

/// Of T = 0: infinity times it is infinity, not NaN.
constexpr float LEAST_SCALE = 1e-30f;

/// Temperature as factors of bounds.
struct NoiseScale {
  float upper; // T ln 2
  float upperTop; // T (NOISE_TOP + slack), and SCORE_SLACK
};

__device__ __forceinline__ NoiseScale noiseScaleOf(uint32_t tau) {
  const float temperature = __uint2float_ru(tau) * 0x1p-24f;
  return {fmaxf(__fmul_ru(temperature, LN2_F), LEAST_SCALE), __fmaf_ru(temperature, NOISE_TOP + NOISE_SLACK, SCORE_SLACK)};
}

/// How far a word's u is from 1, in 2^-32: a smaller distance is more noise.
__device__ __forceinline__ uint32_t distanceOf(uint32_t high) {
  return high ^ TOP_BIT;
}

/// Of at least 1, or -infinity for 0. No subnormal numbers come here.
__device__ __forceinline__ float log2Of(float value) {
  float log2;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2) : "f"(value));
  return log2;
}

/// FAR_DISTANCE as a word, a signed number: distances are in the order of these.
constexpr int FAR_WORD = int(FAR_DISTANCE ^ TOP_BIT);

/// log2 of a word's distance, what bounds its noise. The word is at most FAR_WORD.
__device__ __forceinline__ float log2Distance(int word) {
  return log2Of(__uint2float_rd(distanceOf(uint32_t(word))));
}

/// No smaller than T gamma of any token with that log2Distance().
__device__ __forceinline__ float noiseAtMost(const NoiseScale& scale, float log2Distance) {
  return __fmaf_ru(-scale.upper, log2Distance, scale.upperTop);
}

/// No larger than T gamma of a token with this distance.
__device__ __forceinline__ float noiseAtLeast(const NoiseScale& scale, uint32_t distance) {
  if (distance >= TOP_BIT) return 0.0f; // u <= 1/2: of no use as a bound
  const float above = __uint2float_ru(distance + 1);
  const float towardOne = 2 * LN2_F * 0x1p-32f; // -ln(1 - p) <= 2 ln 2 p for p <= 1/2
  const float gamma = (NOISE_TOP - NOISE_SLACK) - LN2_F * log2Of(above) - above * towardOne;
  return fmaxf(0.0f, gamma * (scale.upper * (1 / LN2_F) * (1 - 0x1p-18f)) - 2 * SCORE_SLACK);
}

/// Z is clamped to +-2^62 in units of 2^-32; two logits are no further apart after that than before.
__device__ __forceinline__ float clampZ(float z) {
  constexpr float most = float(1u << (Z_LIMIT_BITS - 32));
  return fminf(fmaxf(z, -most), most);
}

/// Bounds of a score whose fast logit, clamped, is z, off by `error` at most.
__device__ __forceinline__ float scoreAtMost(float z, float noiseAtMost, float error) {
  return __fadd_ru(z, __fadd_ru(error, noiseAtMost));
}

/// leastZ() at a distance of 1. Where a threshold is so low that it would matter whether a logit is clamped, it is of no use.
__device__ __forceinline__ float leastZAtOne(const NoiseScale& scale, float threshold, float error) {
  constexpr float lowest = -float(1u << (Z_LIMIT_BITS - 33));
  return __fsub_rd(threshold < lowest ? -INFINITY : threshold, __fadd_ru(error, scale.upperTop));
}

/// A token whose fast logit, clamped or not, is less than this scores less than the threshold.
__device__ __forceinline__ float leastZ(const NoiseScale& scale, float leastZAtOne, float log2Distance) {
  return __fmaf_rd(scale.upper, log2Distance, leastZAtOne);
}

__device__ __forceinline__ float scoreAtLeast(const NoiseScale& scale, float z, uint32_t distance, float error) {
  return __fadd_rd(z, __fsub_rd(noiseAtLeast(scale, distance), __fadd_ru(error, SCORE_SLACK)));
}

/// Floats in the order of unsigned integers; 0 is below all of them.
__device__ __forceinline__ uint32_t orderOf(float value) {
  const uint32_t bits = __float_as_uint(value);
  return bits & TOP_BIT ? ~bits : bits | TOP_BIT;
}

__device__ __forceinline__ float floatOf(uint32_t order) {
  return order == 0 ? -INFINITY : __uint_as_float(order & TOP_BIT ? order & ~TOP_BIT : ~order);
}

constexpr uint32_t NO_ORDER = 0;
/// Of no number: above all of them.
constexpr uint32_t GIVEN_UP = 0xffffffff;

/// The two largest lower bounds of different tokens.
struct TwoFloats {
  float first, second;
};

__device__ __forceinline__ TwoFloats combineTwo(const TwoFloats& a, const TwoFloats& b) {
  return {fmaxf(a.first, b.first), fmaxf(fminf(a.first, b.first), fmaxf(a.second, b.second))};
}
