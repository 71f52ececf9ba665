// Single steps whose results docs/spec.md, section 9, does not follow from sums of numbers: NaN, infinities, zeros of both signs, both ends of f32.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

struct Case {
  const char* name;
  uint16_t w[16], x[16];
  uint32_t c;
};

struct Operands {
  uint16_t w, x;
};

/// The products given, then others alike.
inline Case caseOf(const char* name, std::initializer_list<Operands> products, Operands rest, uint32_t c) {
  Case made{name, {}, {}, c};
  for (int i = 0; i < 16; i++) {
    const Operands operands = i < int(products.size()) ? products.begin()[i] : rest;
    made.w[i] = operands.w;
    made.x[i] = operands.x;
  }
  return made;
}

inline std::vector<Case> specialCases(bool isF16) {
  const int fraction = isF16 ? 10 : 7, bias = isF16 ? 15 : 127;
  const auto two = [&](int exponent) { return uint16_t((exponent + bias) << fraction); };
  constexpr uint16_t MINUS = 0x8000;
  const uint16_t one = two(0), infinity = two(bias + 1), quiet = infinity | 1 << (fraction - 1), signalling = infinity | 1, subnormal = 3;
  const uint16_t minusInfinity = MINUS | infinity, minusOne = MINUS | one, largest = infinity - 1;
  constexpr uint32_t C_ONE = 0x3f800000, C_INFINITY = 0x7f800000, C_MINUS = 0x80000000, C_LARGEST = 0x7f7fffff;
  const Operands zero{0, 0}, minusZero{MINUS, one}, ones{one, one};
  std::vector<Case> cases{
      caseOf("inf * 1", {{infinity, one}}, ones, 0),
      caseOf("inf * -1", {{infinity, minusOne}}, ones, 0),
      caseOf("inf * inf", {{infinity, infinity}}, ones, 0),
      caseOf("inf * -inf", {{infinity, minusInfinity}}, ones, 0),
      caseOf("inf * a subnormal", {{infinity, subnormal}}, zero, 0),
      caseOf("inf * 0", {{infinity, 0}}, ones, 0),
      caseOf("-inf * 0", {{minusInfinity, 0}}, ones, 0),
      caseOf("0 * inf, c = inf", {{0, infinity}}, ones, C_INFINITY),
      caseOf("inf - inf", {{infinity, one}, {minusInfinity, one}}, ones, 0),
      caseOf("-inf + inf in the last columns", {ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, ones, {minusInfinity, one}}, {infinity, one}, 0),
      caseOf("inf, c = -inf", {{infinity, one}}, ones, C_MINUS | C_INFINITY),
      caseOf("-inf, c = inf", {{minusInfinity, one}}, ones, C_INFINITY),
      caseOf("c = inf", {}, ones, C_INFINITY),
      caseOf("c = -inf", {}, ones, C_MINUS | C_INFINITY),
      caseOf("c = -inf, products of +0", {}, zero, C_MINUS | C_INFINITY),
      caseOf("c = inf, the largest products, negative", {}, {largest, uint16_t(MINUS | largest)}, C_INFINITY),
      caseOf("inf, the other products the largest, negative", {{infinity, one}}, {largest, uint16_t(MINUS | largest)}, 0),
      caseOf("quiet NaN * 1", {{quiet, one}}, ones, 0),
      caseOf("-quiet NaN * 1", {{uint16_t(MINUS | quiet), one}}, ones, 0),
      caseOf("quiet NaN with a payload * 1", {{uint16_t(quiet | 5), one}}, ones, 0),
      caseOf("signalling NaN * 1", {{signalling, one}}, ones, 0),
      caseOf("1 * -signalling NaN", {{one, uint16_t(MINUS | signalling)}}, ones, 0),
      caseOf("NaN * 0", {{quiet, 0}}, zero, 0),
      caseOf("NaN * inf, c = inf", {{quiet, infinity}}, ones, C_INFINITY),
      caseOf("NaN, then inf", {{quiet, one}, {infinity, one}}, ones, 0),
      caseOf("c = quiet NaN", {}, ones, 0x7fc00000),
      caseOf("c = -quiet NaN with a payload", {}, ones, 0xffc12345),
      caseOf("c = signalling NaN", {}, ones, 0x7f800001),
      caseOf("c = -signalling NaN, products of +0", {}, zero, 0xff812345),
      caseOf("c = NaN, inf", {{infinity, one}}, ones, 0x7fc00000),
      caseOf("products of +0, c = +0", {}, zero, 0),
      caseOf("products of -0, c = -0", {}, minusZero, C_MINUS),
      caseOf("products of -0, c = +0", {}, minusZero, 0),
      caseOf("products of +0, c = -0", {}, zero, C_MINUS),
      caseOf("products of +0 (-0 * -1), c = -0", {}, {MINUS, minusOne}, C_MINUS),
      caseOf("a product of +0, the others -0, c = -0", {zero}, minusZero, C_MINUS),
      caseOf("the last product +0, the others -0, c = -0",
             {minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero, minusZero}, zero, C_MINUS),
      caseOf("a product of -0, the others +0, c = -0", {minusZero}, zero, C_MINUS),
      caseOf("1 - 1, c = -0", {ones, {minusOne, one}}, minusZero, C_MINUS),
      caseOf("-1, c = 1", {{minusOne, one}}, minusZero, C_ONE),
      caseOf("1, c = -1", {ones}, minusZero, C_MINUS | C_ONE),
      caseOf("products of -0, c = 2^-149", {}, minusZero, 1),
      caseOf("products of -0, c = -2^-149", {}, minusZero, C_MINUS | 1),
      caseOf("c = the largest f32", {}, zero, C_LARGEST),
      caseOf("c = -the largest f32, the largest product, negative", {{largest, uint16_t(MINUS | two(isF16 ? 15 : -40))}}, zero, C_MINUS | C_LARGEST),
  };
  if (isF16) return cases;
  const uint16_t minusTwo76 = MINUS | two(-76);
  const Operands two150{two(-75), two(-75)}, below150{two(-75), uint16_t(two(-76) | 126)}; // 2^-150 - 2^-157
  const Operands two152{two(-76), two(-76)}, two158{two(-79), two(-79)}, two159{two(-79), two(-80)};
  const std::initializer_list<Case> onlyBf16{
      caseOf("-2^-152", {{minusTwo76, two(-76)}}, zero, 0),
      caseOf("-2^-151", {{minusTwo76, two(-75)}}, zero, 0),
      caseOf("-2^-151, c = -0", {{minusTwo76, two(-75)}}, minusZero, C_MINUS),
      caseOf("-2^-152, c = -0", {{minusTwo76, two(-76)}}, minusZero, C_MINUS),
      caseOf("3 products of -2^-151", {{minusTwo76, two(-75)}, {minusTwo76, two(-75)}, {minusTwo76, two(-75)}}, zero, 0),
      caseOf("3 products of 2^-151", {{two(-76), two(-75)}, {two(-76), two(-75)}, {two(-76), two(-75)}}, zero, 0),
      caseOf("2^-151, c = -2^-149", {{two(-76), two(-75)}}, zero, C_MINUS | 1),
      caseOf("2^-126 - 2^-126 - 2^-151", {{two(-63), two(-63)}, {uint16_t(MINUS | two(-63)), two(-63)}, {minusTwo76, two(-75)}}, zero, 0),
      caseOf("2^-125 - 2^-125 - 2^-150", {{two(-63), two(-62)}, {uint16_t(MINUS | two(-63)), two(-62)}, {minusTwo76, two(-74)}}, zero, 0),
      caseOf("8 products of 2^-152", {two152, two152, two152, two152, two152, two152, two152, two152}, zero, 0),
      caseOf("8 products of 2^-152, c = -0", {two152, two152, two152, two152, two152, two152, two152, two152}, minusZero, C_MINUS),
      caseOf("8 products of 2^-152, the others 0 * 2^127", {two152, two152, two152, two152, two152, two152, two152, two152}, {0, two(127)}, 0),
      caseOf("8 products of 2^-152, the others 0 * 2^-100", {two152, two152, two152, two152, two152, two152, two152, two152}, {two(-100), 0}, 0),
      caseOf("16 products of 2^-152, c = 2^-149", {}, two152, 1),
      caseOf("2^-149 - 2^-157 and 14 products of 2^-158", {two150, below150}, two158, 0),
      caseOf("2^-149 - 2^-157 and 2 products of 2^-158", {two150, below150, two158, two158}, zero, 0),
      caseOf("2^-149 - 2^-157 and 14 products of 2^-159", {two150, below150}, two159, 0),
      caseOf("2^-149 - 2^-157 and 4 products of 2^-159", {two150, below150, two159, two159, two159, two159}, zero, 0),
      caseOf("2^128", {{two(64), two(64)}}, zero, 0),
      caseOf("-2^128", {{uint16_t(MINUS | two(64)), two(64)}}, zero, 0),
      caseOf("16 products of 2^124", {}, {two(62), two(62)}, 0),
      caseOf("2^254, c = the largest f32", {{two(127), two(127)}}, zero, C_LARGEST),
      caseOf("2^254 - 2^254", {{two(127), two(127)}, {uint16_t(MINUS | two(127)), two(127)}}, zero, 0),
      caseOf("2^128 - 2^127", {{two(64), two(64)}, {uint16_t(MINUS | two(64)), two(63)}}, zero, 0),
      caseOf("2^128, c = -2^127", {{two(64), two(64)}}, zero, C_MINUS | 0x7f000000),
      caseOf("2^128, c = -inf", {{two(64), two(64)}}, zero, C_MINUS | C_INFINITY),
      caseOf("2^128 - inf", {{two(64), two(64)}, {minusInfinity, one}}, zero, 0),
      caseOf("2^103, c = the largest f32", {{two(52), two(51)}}, zero, C_LARGEST),
      caseOf("2^104, c = the largest f32", {{two(52), two(52)}}, zero, C_LARGEST),
  };
  cases.insert(cases.end(), onlyBf16);
  return cases;
}
