// Hidden states rounded to a head's operand format and checked, by their bits (docs/spec.md, "Logits"): for the device and, in tests,
// for the host. The twins of src/spec/float.ts and src/hidden.ts.
#pragma once
#include "rule.cuh"

// As gpu/hidden-on-device.ts numbers them.
constexpr uint32_t FORMAT_F32 = 0, FORMAT_F16 = 1, FORMAT_BF16 = 2;
constexpr uint32_t NO_PROBLEM = 0, PROBLEM_NOT_FINITE = 1, PROBLEM_RANGE = 2; // not finite: as given or rounded

constexpr uint32_t MAGNITUDE = 0x7fffffffu;
constexpr uint32_t INFINITE = 0x7f800000u; // magnitudes from here on are no finite numbers

BOTH uint32_t f32OfF16(uint32_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 31u;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 31) return sign | INFINITE | (fraction << 13);
  if (exponent != 0) return sign | ((exponent + 112) << 23) | (fraction << 13);
  if (fraction == 0) return sign;
  const uint32_t shift = uint32_t(leadingZeros(fraction)) - 21;
  return sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ffu) << 13);
}

/// The f32 bits of a value as it was given.
BOTH uint32_t widened(uint32_t format, uint32_t bits) {
  return format == FORMAT_BF16 ? bits << 16 : format == FORMAT_F16 ? f32OfF16(bits) : bits;
}

/// Drops the lowest bits, 1 <= shift <= 24: nearest, ties to even, in units of what is left.
BOTH uint32_t roundShift(uint32_t value, uint32_t shift) {
  return (value + (1u << (shift - 1)) - 1 + ((value >> shift) & 1u)) >> shift;
}

/// Tiny values read as +0.
BOTH uint32_t canonical(uint32_t bits, uint32_t leastExponent) {
  return ((bits >> 23) & 255u) < leastExponent ? 0 : bits;
}

/// Finite f32 bits; past the largest bf16 comes infinity.
BOTH uint32_t roundToBf16(uint32_t bits) {
  return canonical((bits & ~MAGNITUDE) | (roundShift(bits & MAGNITUDE, 16) << 16), CANON_EXPONENT_BF16);
}

/// The same for f16.
BOTH uint32_t roundToF16(uint32_t bits) {
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & MAGNITUDE;
  const uint32_t exponent = magnitude >> 23;
  uint32_t rounded = 0;
  if (magnitude >= 0x477ff000u) rounded = 0x7c00; // 65520, the middle of the largest and what would follow
  else if (exponent >= 113) rounded = roundShift(magnitude - (112u << 23), 13);
  else if (exponent >= 102) rounded = roundShift((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent); // in units of 2^-24
  return f32OfF16(sign | rounded);
}

/// f32 bits rounded once to a head's operand format, canonical. What is no finite number stays as it is.
BOTH uint32_t roundOperand(uint32_t format, uint32_t bits) {
  if ((bits & MAGNITUDE) >= INFINITE) return bits;
  return format == FORMAT_BF16 ? roundToBf16(bits) : format == FORMAT_F16 ? roundToF16(bits) : canonical(bits, CANON_EXPONENT_F32);
}

constexpr uint32_t NO_COLUMN = 0xffffffffu;

/// What was found in some columns of a row.
struct Findings {
  uint32_t badColumn; // the first that is not finite
  uint32_t largestColumn; // the first with the largest magnitude
  uint32_t largest;
};

constexpr Findings NO_FINDINGS = {NO_COLUMN, NO_COLUMN, 0};

BOTH Findings findingsOf(uint32_t column, uint32_t rounded) {
  const uint32_t magnitude = rounded & MAGNITUDE;
  return {magnitude >= INFINITE ? column : NO_COLUMN, column, magnitude};
}

/// Associative and commutative.
BOTH Findings combineFindings(const Findings& a, const Findings& b) {
  const bool takesA = a.largest > b.largest || (a.largest == b.largest && a.largestColumn < b.largestColumn);
  return {a.badColumn < b.badColumn ? a.badColumn : b.badColumn, takesA ? a.largestColumn : b.largestColumn, takesA ? a.largest : b.largest};
}

/// What is said of a row: REPORT_WORDS of gpu/hidden-on-device.ts.
struct Report {
  uint32_t problem;
  uint32_t column;
  uint32_t given; // f32 bits there; whoever has the row fills them in
  uint32_t unused;
};

/// @param exponentLimit the largest biased exponent that the range rule allows a row's largest magnitude
BOTH Report reportOf(const Findings& row, uint32_t exponentLimit) {
  if (row.badColumn != NO_COLUMN) return {PROBLEM_NOT_FINITE, row.badColumn, 0, 0};
  if ((row.largest >> 23) > exponentLimit) return {PROBLEM_RANGE, row.largestColumn, 0, 0};
  return {NO_PROBLEM, 0, 0, 0};
}
