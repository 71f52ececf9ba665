// The sums of Hopper's tensor cores on the host and on the device (docs/spec.md, section 9), and the operands to try them with.
#pragma once
#include <cstdint>

struct Bf16 {
  static constexpr int FRACTION = 7, BIAS = 127;
};
struct F16 {
  static constexpr int FRACTION = 10, BIAS = 15;
};

/// A 16-bit format by its bits.
template <class Format>
struct Bits {
  static constexpr int LARGEST_FIELD = 2 * Format::BIAS; // of a finite number
  static constexpr uint32_t INFINITE = uint32_t(LARGEST_FIELD + 1) << Format::FRACTION;
};

constexpr uint32_t SIGN = 0x80000000, INFINITE = 0x7f800000, NOT_A_NUMBER = 0x7fffffff;
constexpr int COLUMNS = 16;
constexpr int ZERO_EXPONENT = -133, KEPT_BITS = 25;

struct Term {
  int32_t significand = 0; // signed
  int exponent = ZERO_EXPONENT;
  bool isMinus = false, isZero = true, isInfinite = false, isNan = false;
};

/// value = significand * 2^(exponent - fraction bits), as the tensor core takes it apart.
__host__ __device__ inline Term takeApart(uint32_t magnitude, bool isMinus, int fraction, int bias) {
  const int field = int(magnitude >> fraction), special = 2 * bias + 1;
  const uint32_t rest = magnitude & ((1u << fraction) - 1);
  const int32_t significand = int32_t(rest | (field == 0 ? 0 : 1u << fraction));
  Term term;
  term.significand = isMinus ? -significand : significand;
  term.exponent = (field == 0 ? 1 : field) - bias;
  term.isMinus = isMinus;
  term.isZero = magnitude == 0;
  term.isInfinite = field == special && rest == 0;
  term.isNan = field == special && rest != 0;
  return term;
}

template <class Format>
__host__ __device__ inline Term product(uint32_t w, uint32_t x) {
  const Term a = takeApart(w & 0x7fff, w >> 15, Format::FRACTION, Format::BIAS);
  const Term b = takeApart(x & 0x7fff, x >> 15, Format::FRACTION, Format::BIAS);
  Term term;
  term.significand = a.significand * b.significand;
  term.exponent = a.exponent + b.exponent;
  term.isMinus = a.isMinus != b.isMinus;
  term.isZero = a.isZero || b.isZero;
  term.isNan = a.isNan || b.isNan || (term.isZero && (a.isInfinite || b.isInfinite));
  term.isInfinite = !term.isNan && (a.isInfinite || b.isInfinite);
  return term;
}

/// significand * 2^shift toward zero.
__host__ __device__ inline int64_t cut(int32_t significand, int shift) {
  const int64_t magnitude = significand < 0 ? -int64_t(significand) : significand;
  const int64_t moved = shift >= 0 ? magnitude << shift : shift < -62 ? 0 : magnitude >> -shift;
  return significand < 0 ? -moved : moved;
}

__host__ __device__ inline int bitLength(uint64_t value) {
#ifdef __CUDA_ARCH__
  return 64 - __clzll(int64_t(value));
#else
  return 64 - __builtin_clzll(value);
#endif
}

/// sum * 2^exponent cut toward zero to an f32; zero has no sign.
__host__ __device__ inline uint32_t f32Bits(int64_t sum, int exponent) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? SIGN : 0;
  const uint64_t magnitude = uint64_t(sum < 0 ? -sum : sum);
  const int leading = exponent + bitLength(magnitude) - 1;
  if (leading > 127) return sign | INFINITE;
  const int unit = leading - 23 > -149 ? leading - 23 : -149;
  const int shift = exponent - unit;
  const uint64_t kept = shift >= 0 ? magnitude << shift : shift < -63 ? 0 : magnitude >> -shift;
  if (kept == 0) return 0;
  return sign | (kept < 0x800000 ? 0 : uint32_t(unit + 150) << 23) | uint32_t(kept & 0x7fffff);
}

/// 16 products and c, the bits of an f32.
template <class Format>
__host__ __device__ inline uint32_t step(const uint16_t (&w)[COLUMNS], const uint16_t (&x)[COLUMNS], uint32_t c) {
  const Term addend = takeApart(c & 0x7fffffff, c >> 31, 23, 127);
  int largest = addend.isZero ? ZERO_EXPONENT : addend.exponent;
  bool isNan = addend.isNan;
  bool isPlusInfinite = addend.isInfinite && !addend.isMinus, isMinusInfinite = addend.isInfinite && addend.isMinus;
#pragma unroll
  for (int i = 0; i < COLUMNS; i++) {
    const Term term = product<Format>(w[i], x[i]);
    const int exponent = term.isZero ? ZERO_EXPONENT : term.exponent;
    largest = exponent > largest ? exponent : largest;
    isNan |= term.isNan;
    isPlusInfinite |= term.isInfinite && !term.isMinus;
    isMinusInfinite |= term.isInfinite && term.isMinus;
  }
  if (isNan || (isPlusInfinite && isMinusInfinite)) return NOT_A_NUMBER;
  if (isPlusInfinite) return INFINITE;
  if (isMinusInfinite) return SIGN | INFINITE;
  int64_t sum = cut(addend.significand, KEPT_BITS - 23 - (largest - addend.exponent));
#pragma unroll
  for (int i = 0; i < COLUMNS; i++) {
    const Term term = product<Format>(w[i], x[i]);
    sum += cut(term.significand, KEPT_BITS - 2 * Format::FRACTION - (largest - term.exponent));
  }
  return f32Bits(sum, largest - KEPT_BITS);
}

// Operands by chance. A tile is 64 rows of w times N rows of x, and a c for each product of rows; its number decides its regime.

enum Regime { PLAIN, WIDE, ANY_EXPONENT, SUBNORMAL, CANCELLING, EDGES, FAR_C, ZERO_SUMS, TINY, HUGE_VALUES, SPECIALS, ZEROS, REGIMES };
constexpr const char* REGIME_NAMES[REGIMES] = {"plain", "wide", "any exponent", "subnormals", "cancelling", "edges of the cuts", "c far from the products",
                                               "sums of zero", "tiny", "huge", "NaN and infinities", "zeros of both signs"};
constexpr int MOST_STEPS = 8;

__host__ __device__ inline Regime regimeOf(uint32_t tile) { return Regime(tile % REGIMES); }
__host__ __device__ inline int stepsOf(uint32_t tile) { return 1 << (tile / REGIMES % 4); }

/// SplitMix64's mixing of a place in the tile.
__host__ __device__ inline uint64_t randomBits(uint32_t tile, uint32_t kind, uint32_t row, uint32_t column) {
  uint64_t x = (uint64_t(tile) << 32 | uint64_t(kind) << 28 | uint64_t(row) << 16 | column) * 0x9e3779b97f4a7c15ull + 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Takes bits away from below.
struct Chance {
  uint64_t bits;
  __host__ __device__ uint32_t take(int count) {
    const uint32_t taken = uint32_t(bits & ((1ull << count) - 1));
    bits >>= count;
    return taken;
  }
  /// 0 to limit - 1, of 16 bits
  __host__ __device__ int below(int limit) { return int(take(16) * uint32_t(limit) >> 16); }
};

/// The bits of +-1.f * 2^exponent; beyond the format's ends the nearest exponent field, which below is that of subnormals.
__host__ __device__ inline uint32_t number(Chance& chance, int exponent, int fraction, int bias) {
  const int field = exponent + bias, most = 2 * bias;
  const uint32_t kept = uint32_t(field < 0 ? 0 : field > most ? most : field);
  const uint32_t rest = chance.take(fraction), sign = chance.take(1);
  return sign << (fraction + (bias == 15 ? 5 : 8)) | kept << fraction | rest;
}

/// Exponents as those of numbers spread evenly below 2^top.
__host__ __device__ inline int evenExponent(Chance& chance, int top) {
  int exponent = top - 1;
  for (uint32_t bits = chance.take(16); (bits & 1) == 0 && exponent > top - 16; bits >>= 1) exponent--;
  return exponent;
}

template <class Format>
__host__ __device__ inline uint32_t special(Chance& chance) {
  const uint32_t sign = chance.take(1) << 15;
  switch (chance.take(2)) {
    case 0: return sign;
    case 1: return sign | Bits<Format>::INFINITE | (chance.take(4) == 0 ? 1 + chance.take(Format::FRACTION - 1) : 0);
    default: return sign | Bits<Format>::INFINITE;
  }
}

/// The exponent around which the products of a tile of any exponents lie.
__host__ __device__ inline int middleOf(uint32_t tile, int bias) {
  Chance chance{randomBits(tile, 7, 0, 0)};
  return bias == 15 ? chance.below(50) - 25 : chance.below(270) - 145;
}

/// One weight exponent a column, and a hidden one that brings the product near the middle; in one tile of four no such bond.
template <class Format>
__host__ __device__ inline int anyExponent(Chance& chance, uint32_t tile, bool isWeight, uint32_t k) {
  const int lowest = -Format::BIAS, count = 2 * Format::BIAS + 1;
  if (tile / REGIMES / 4 % 4 == 0) return lowest + chance.below(count);
  Chance ofColumn{randomBits(tile, 8, 0, k)};
  const int weightExponent = lowest + ofColumn.below(count);
  return (isWeight ? weightExponent : middleOf(tile, Format::BIAS) - weightExponent) + chance.below(8) - 4;
}

template <class Format>
__host__ __device__ inline int exponentOf(Chance& chance, uint32_t tile, bool isWeight, uint32_t k) {
  const Regime regime = regimeOf(tile);
  const int lowest = 1 - Format::BIAS, highest = Format::BIAS;
  switch (regime) {
    case WIDE: return chance.below(18) - 12;
    case ANY_EXPONENT: return anyExponent<Format>(chance, tile, isWeight, k);
    case SUBNORMAL:
      if (k % 2 == 1) return chance.take(3) == 0 ? lowest - 1 : chance.below(12) - 8;
      return isWeight ? lowest - 1 : highest - chance.below(4); // products near 1
    case EDGES: return k % 8 == 1 ? chance.below(2) - 1 : chance.below(5) - (isWeight ? 16 : 14);
    case TINY: return Format::BIAS == 15 ? lowest - 1 + chance.below(3) : -82 + chance.below(tile / REGIMES / 4 % 2 ? 14 : 8);
    case HUGE_VALUES: return Format::BIAS == 15 ? highest - chance.below(3) : 58 + chance.below(6);
    default: return evenExponent(chance, isWeight ? 0 : 3);
  }
}

template <class Format>
__host__ __device__ inline uint16_t zeroOperand(Chance& chance, uint32_t tile, bool isWeight, uint32_t row) {
  // Whole rows of one sign, so that all products of a sum are -0 or +0; in one tile of four some are not.
  const bool isMixed = tile / REGIMES / 4 % 4 == 0 && chance.take(3) == 0;
  const uint32_t sign = isMixed ? chance.take(1) : uint32_t(randomBits(tile, 2 + isWeight, row, 0) & 1);
  const uint32_t magnitude = isWeight ? number(chance, evenExponent(chance, 0), Format::FRACTION, Format::BIAS) & 0x7fff : 0;
  return uint16_t(sign << 15 | magnitude);
}

/// One operand of four in sums of zero, one of eight in half the tiny tiles.
__host__ __device__ inline bool isZeroOperand(Chance& chance, uint32_t tile) {
  switch (regimeOf(tile)) {
    case ZERO_SUMS: return chance.take(2) == 0;
    case TINY: return tile / REGIMES / 8 % 2 == 1 && chance.take(3) == 0;
    default: return false;
  }
}

/// Row and column of w, or of x.
template <class Format>
__host__ __device__ inline uint16_t operand(uint32_t tile, bool isWeight, uint32_t row, uint32_t column) {
  const Regime regime = regimeOf(tile);
  // The second half of a step takes the first half back.
  const bool takesBack = (regime == CANCELLING || regime == ZERO_SUMS) && column % COLUMNS >= COLUMNS / 2;
  const uint32_t k = takesBack ? column - COLUMNS / 2 : column;
  Chance chance{randomBits(tile, isWeight, row, k)};
  if (regime == ZEROS) return zeroOperand<Format>(chance, tile, isWeight, row);
  if (regime == SPECIALS && chance.take(5) == 0) return uint16_t(special<Format>(chance));
  const uint32_t bits = isZeroOperand(chance, tile) ? chance.take(1) << 15 : number(chance, exponentOf<Format>(chance, tile, isWeight, k), Format::FRACTION, Format::BIAS);
  if (!takesBack) return uint16_t(bits);
  if (isWeight) return uint16_t(bits ^ 0x8000);
  return uint16_t(bits ^ (regime == CANCELLING && randomBits(tile, 6, row, column) % 4 == 0));
}

/// c of a row of w and a row of x. sum: the bits of the first step without it.
template <class Format>
__host__ __device__ inline uint32_t addend(uint32_t tile, uint32_t row, uint32_t column, uint32_t sum) {
  Chance chance{randomBits(tile, 4, row, column)};
  const uint32_t sign = chance.take(1) << 31;
  const Regime regime = regimeOf(tile);
  const auto near = [&](int from, int count) { return number(chance, from + chance.below(count), 23, 127); };
  switch (regime) {
    case ZEROS: return sign;
    case ZERO_SUMS: return chance.take(2) == 0 ? sum ^ SIGN : sign;
    case CANCELLING: return chance.take(1) ? (sum ^ SIGN) + chance.take(2) : sign;
    case ANY_EXPONENT: return tile / REGIMES / 4 % 4 == 0 ? near(-127, 255) : near(middleOf(tile, Format::BIAS) - 30, 60);
    case WIDE: return near(-36, 54);
    case SUBNORMAL: return chance.take(1) ? near(-127, 1) : near(-30, 50);
    case EDGES: return chance.take(1) ? near(-28, 8) : near(-2, 5);
    case FAR_C: return near(-60, 120);
    case TINY: return chance.take(1) ? sign : near(-127, chance.take(1) ? 1 : 8);
    case HUGE_VALUES: return near(Format::BIAS == 15 ? 24 : 108, Format::BIAS == 15 ? 104 : 20);
    case SPECIALS:
      if (chance.take(4) == 0) return sign | INFINITE | (chance.take(1) ? chance.take(23) : 0);
      [[fallthrough]];
    default: {
      const uint32_t kind = chance.take(2);
      return kind == 0 ? 0 : kind == 1 ? sum ^ SIGN : near(-8, 11);
    }
  }
}
