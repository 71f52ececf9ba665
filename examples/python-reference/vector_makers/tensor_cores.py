# SPDX-License-Identifier: Apache-2.0
"""tensor-core.json"""

import math
from unittest.mock import patch

from flash_sampling_reference import tensor_core
from flash_sampling_reference.formats import BF16, F32, FORMATS, decode, encode, f32, f32_bits
from flash_sampling_reference.head import Head
from flash_sampling_reference.sample import draws
from flash_sampling_reference.score import tau
from flash_sampling_reference.tensor_core import (
    COLUMNS, INFINITY, KEPT, LOWEST_PLACE, SIGN, SIGNIFICANT, TensorCoreHead, Term, addend, cut, dot, filled,
    largest_exponent, not_finite, parts, result, step, term)

from .draws import DRAW, temperature_json
from .inputs import Integers, encoded, hex32, hex64, hexes
from .measured import MEASURED

ALL_COLUMNS = 1 << 20
NAN = 0x7FC00000
FAR_BELOW = -1000                                  # as emax: no term reaches below its last place


# Readings that are wrong. Each takes the place of one function of the reference. They only label the cases that tell them
# apart.

def flushed(bits, fmt):
    s, m, e = parts(bits, fmt)
    return s, m if m >> fmt[1] else 0, e


def flushed_operand(bits, fmt):
    return (parts if fmt == F32 else flushed)(bits, fmt)


def flushed_c(bits, fmt):
    return (flushed if fmt == F32 else parts)(bits, fmt)


def normalised(bits, fmt):
    s, m, e = parts(bits, fmt)
    shift = fmt[1] + 1 - m.bit_length() if m else 0
    return s, m << shift, e - shift


def normalised_operand(bits, fmt):
    return (parts if fmt == F32 else normalised)(bits, fmt)


def normalised_c(bits, fmt):
    return (normalised if fmt == F32 else parts)(bits, fmt)


def without_small_operands(bits, fmt):
    """The threshold of section 4.1."""
    s, m, e = parts(bits, fmt)
    return s, 0 if fmt == BF16 and e < -56 else m, e


def renormalised(s, m, e, places):
    """A product of 2 or more takes the next exponent."""
    return term(s, m, e + 1, places + 1) if m >> places + 1 else term(s, m, e, places)


def largest_without_zeros(terms):
    return max((t.e for t in terms if t.m), default=0)


def largest_without_c(terms):
    return largest_exponent(terms[:-1])


def to_nearest(n, places):
    """n * 2^-places as an integer, ties to even."""
    return n + (1 << places - 1) - 1 + (n >> places & 1) >> places


def downward(n, places):
    return n >> places


def cut_by(division):
    def other_cut(t, emax):
        places = t.places + emax - t.e - KEPT
        return division(t.s * t.m, places) if places > 0 else cut(t, emax)
    return other_cut


def result_by(division):
    def other_result(total, emax):
        places = max(total.bit_length() - SIGNIFICANT, LOWEST_PLACE + KEPT - emax)
        return result(division(total, places) << places if places > 0 else total, emax)
    return other_result


def only_c(of_c):
    return lambda t, emax: (of_c if t.places == F32[1] else cut)(t, emax)


def cut_two_places_higher(t, emax):
    return cut(t, emax + 2) * 4


def flushed_result(total, emax):
    bits = result(total, emax)
    return bits if bits & INFINITY else bits & SIGN


def saturated_result(total, emax):
    bits = result(total, emax)
    return bits - 1 if bits & INFINITY == INFINITY else bits


def minus_zero(total, emax):
    return result(total, emax) if total else SIGN


def cut_to_minus_zero(total, emax):
    return result(total, emax) or (SIGN if total < 0 else 0)


def payload_kept(ws, xs, c, fmt):
    """The first NaN operand, made quiet."""
    exp_bits, frac_bits = fmt
    for b in ws + xs:
        if b & 0x7FFF > ((1 << exp_bits) - 1) << frac_bits:
            return (b & 0x8000) << 16 | 0x7FC00000 | (b & ((1 << frac_bits) - 1)) << (23 - frac_bits)
    return not_finite(ws, xs, c, fmt)


def zero_beats_infinity(ws, xs, c, fmt):
    pairs = [(0, 0) if 0 in (w & 0x7FFF, x & 0x7FFF) else (w, x) for w, x in zip(ws, xs)]
    return not_finite([w for w, _ in pairs], [x for _, x in pairs], c, fmt)


def first_infinity(ws, xs, c, fmt):
    values = [decode(c, F32)] + [decode(w, fmt) * decode(x, fmt) for w, x in zip(ws, xs)]
    infinite = [v for v in values if math.isinf(v)]
    return not_finite(ws, xs, c, fmt) if not infinite else INFINITY | (SIGN if infinite[0] < 0 else 0)


def added(a, b):
    """Two f32 by their bits: the exact sum, cut."""
    return result(cut(addend(a), FAR_BELOW) + cut(addend(b), FAR_BELOW), FAR_BELOW)


def c_apart(ws, xs, c, fmt):
    return added(step(ws, xs, 0, fmt), c)


def narrow_step(ws, xs, c, fmt):
    return f32_bits(decode(encode(f32(step(ws, xs, c, fmt)), fmt), fmt))


def steps_apart(w_bits, x_bits, dtype):
    total = 0
    for k in range(0, len(w_bits), COLUMNS):
        total = added(total, dot(w_bits[k:k + COLUMNS], x_bits[k:k + COLUMNS], dtype))
    return total


def products_overflow(w_bits, x_bits, dtype):
    """An infinity for each product from 2^128 on."""
    fmt = FORMATS[dtype]
    products = [decode(w, fmt) * decode(x, fmt) for w, x in zip(w_bits, x_bits)]
    infinite = {SIGN | INFINITY if p < 0 else INFINITY for p in products if abs(p) >= 2.0 ** 128}
    if len(infinite) == 2:
        return NAN
    return infinite.pop() if infinite else dot(w_bits, x_bits, dtype)


def interleaved(bits):
    whole = filled(bits)
    count = len(whole) // COLUMNS
    return [whole[k] for first in range(count) for k in range(first, len(whole), count)]


def filled_in_front(bits):
    return [0] * (-len(bits) % COLUMNS) + bits


WRONG = {
    "terms-rounded": {"cut": cut_by(to_nearest)},
    "terms-floored": {"cut": cut_by(downward)},
    "terms-not-cut": {"largest_exponent": lambda terms: FAR_BELOW},
    "24-places": {"KEPT": 24},
    "26-places": {"KEPT": 26},
    "product-renormalised": {"term": renormalised},
    "zero-keeps-exponent": {"term": Term},
    "zero-exponent-126": {"EXPONENT_OF_ZERO": -126},
    "zero-exponent-132": {"EXPONENT_OF_ZERO": -132},
    "zero-exponent-134": {"EXPONENT_OF_ZERO": -134},
    "zeros-without-exponent": {"largest_exponent": largest_without_zeros},
    "c-without-exponent": {"largest_exponent": largest_without_c},
    "c-rounded": {"cut": only_c(cut_by(to_nearest))},
    "c-23-places": {"cut": only_c(cut_two_places_higher)},
    "c-apart": {"step": c_apart},
    "sums-in-operand-format": {"step": narrow_step},
    "result-rounded": {"result": result_by(to_nearest)},
    "result-floored": {"result": result_by(downward)},
    "minus-zero": {"result": minus_zero},
    "overflow-saturates": {"result": saturated_result},
    "subnormal-results-flushed": {"result": flushed_result},
    "subnormal-c-flushed": {"parts": flushed_c},
    "subnormal-c-normalised": {"parts": normalised_c},
    "subnormal-operands-flushed": {"parts": flushed_operand},
    "subnormal-operands-normalised": {"parts": normalised_operand},
    "small-operands-zero": {"parts": without_small_operands},
    "products-overflow": {"dot": products_overflow},
    "steps-of-1": {"COLUMNS": 1},
    "steps-of-4": {"COLUMNS": 4},
    "steps-of-8": {"COLUMNS": 8},
    "steps-of-32": {"COLUMNS": 32},
    "one-step": {"COLUMNS": ALL_COLUMNS, "filled": list},
    "steps-apart": {"dot": steps_apart},
    "columns-reversed": {"filled": lambda bits: filled(bits)[::-1]},
    "columns-interleaved": {"filled": interleaved},
    "filled-in-front": {"filled": filled_in_front},
    "last-columns-dropped": {"filled": lambda bits: bits[:len(bits) // COLUMNS * COLUMNS]},
    "exact-sum-cut": {"COLUMNS": ALL_COLUMNS, "filled": list, "largest_exponent": lambda terms: FAR_BELOW},
    "exact-sum-rounded": {"COLUMNS": ALL_COLUMNS, "filled": list, "largest_exponent": lambda terms: FAR_BELOW,
                          "result": result_by(to_nearest)},
}
# And those of what is not finite, or is zero.
WRONG_SPECIAL = {
    "quiet-nan": {"NAN": NAN},
    "nan-payload-kept": {"not_finite": payload_kept},
    "zero-beats-infinity": {"not_finite": zero_beats_infinity},
    "first-infinity": {"not_finite": first_infinity},
    "cut-to-minus-zero": {"result": cut_to_minus_zero},
    "minus-zero": WRONG["minus-zero"],
}
# Sums of f16 operands stay between 2^-48 and 2^128.
ONLY_BF16 = {"zero-exponent-126", "zero-exponent-132", "zero-exponent-134", "zeros-without-exponent", "overflow-saturates",
             "subnormal-results-flushed", "subnormal-c-flushed", "subnormal-c-normalised", "small-operands-zero",
             "products-overflow"}


def differs(clauses, right, *operands):
    with patch.multiple(tensor_core, **clauses):
        return tensor_core.dot(*operands) != right


def case(name, dtype, w_bits, x_bits, tells=(), readings=WRONG):
    right = dot(w_bits, x_bits, dtype)
    wrong = [n for n, clauses in readings.items() if differs(clauses, right, w_bits, x_bits, dtype)]
    assert set(tells) <= set(wrong), (name, dtype, set(tells) - set(wrong))
    return {"name": name, "D": len(w_bits), "w": hexes(w_bits, dtype), "x": hexes(x_bits, dtype), "logit": "%08x" % right,
            "differsFrom": wrong}


# Hand-picked columns: (first column, count, w, x), zeros elsewhere. Beside a term of 1 the last place kept is 2^-25.

ONE, MINUS_ONE = (1.0, 1.0), (-1.0, 1.0)
PLACE = (2.0 ** -12, 2.0 ** -13)
HALF_PLACE = (2.0 ** -13, 2.0 ** -13)
THREE_QUARTERS = (1.5 * 2.0 ** -13, 2.0 ** -13)
MINUS_QUARTER = (-2.0 ** -13, 2.0 ** -14)
ULP = (2.0 ** -11, 2.0 ** -12)                     # of the f32 1
SUBNORMAL = {"bf16": 2.0 ** -133, "f16": 2.0 ** -24}
BIG = {"bf16": 2.0 ** 127, "f16": 2.0 ** 15}       # times the exponent of a subnormal or zero: 2^1


def picked(dtype):
    subnormal, big = SUBNORMAL[dtype], BIG[dtype]
    return [
        ("one column", 1, [(0, 1, 3.0, -0.5)], ["last-columns-dropped"]),
        ("eight terms of 3/4 place", 9, [(0, 1, *ONE), (1, 8, *THREE_QUARTERS)], ["terms-rounded", "terms-not-cut"]),
        ("eight terms of -1/4 place", 9, [(0, 1, *ONE), (1, 8, *MINUS_QUARTER)], ["terms-floored", "terms-not-cut"]),
        ("four terms of a place", 5, [(0, 1, *ONE), (1, 4, *PLACE)], ["24-places"]),
        ("eight terms of half a place", 16, [(0, 1, *ONE), (8, 8, *HALF_PLACE)], ["26-places"]),
        ("3/4 of the result's last place", 4, [(0, 1, *ONE), (1, 3, *PLACE)], ["result-rounded"]),
        ("a tie above an odd place", 4, [(0, 1, *ONE), (1, 1, *ULP), (2, 2, *PLACE)], ["result-rounded"]),
        ("a negative result", 4, [(0, 1, *MINUS_ONE), (1, 3, -PLACE[0], PLACE[1])], ["result-floored", "result-rounded"]),
        ("a product of 2.25", 9, [(0, 1, 1.5, 1.5), (1, 8, *PLACE)], ["product-renormalised"]),
        ("products of 2.25 that cancel", 3, [(0, 1, 1.5, 1.5), (1, 1, *PLACE), (2, 1, -1.5, 1.5)], ["product-renormalised"]),
        ("zero times a big operand", 10, [(0, 1, *ONE), (1, 1, 0.0, big), (2, 8, *PLACE)], ["zero-keeps-exponent"]),
        ("a big operand times -0", 10, [(0, 1, *ONE), (1, 1, big, -0.0), (2, 8, *PLACE)], ["zero-keeps-exponent"]),
        ("c loses its last bit", 18, [(0, 1, *ONE), (1, 1, *ULP), (16, 1, 8.0, 1.0), (17, 1, -8.0, 1.0)],
         ["c-apart", "terms-not-cut"]),
        ("c ends in half a place", 18, [(0, 1, *ONE), (1, 3, *ULP), (16, 1, 8.0, 1.0), (17, 1, -8.0, 1.0)], ["c-rounded"]),
        ("negative c ends in half a place", 18, [(0, 1, *MINUS_ONE), (1, 3, -ULP[0], ULP[1]), (16, 1, 8.0, 1.0),
                                                 (17, 1, -8.0, 1.0)], ["c-rounded"]),
        ("c of one place", 18, [(0, 1, *PLACE), (16, 1, *ONE), (17, 1, *MINUS_ONE)], ["c-23-places"]),
        ("c above all products", 32, [(0, 1, 8.0, 1.0), (16, 16, 1.5 * 2.0 ** -12, 2.0 ** -11)],
         ["c-without-exponent", "c-apart"]),
        ("halves of a place, then 1", 9, [(0, 8, *HALF_PLACE), (8, 1, *ONE)], ["steps-of-8", "terms-not-cut"]),
        ("a place between 1 and -1", 9, [(0, 1, *ONE), (1, 1, *PLACE), (8, 1, *MINUS_ONE)], ["steps-of-8"]),
        ("a place in each four columns", 14, [(0, 1, *ONE)] + [(k, 1, *PLACE) for k in (1, 5, 9, 13)],
         ["steps-of-1", "steps-of-4"]),
        ("a place in the first step, -1 in the second", 17, [(0, 1, *ONE), (15, 1, *PLACE), (16, 1, *MINUS_ONE)],
         ["steps-of-32", "one-step"]),
        ("halves of a place, then 1 in the second step", 17, [(0, 15, *HALF_PLACE), (16, 1, *ONE)],
         ["filled-in-front", "last-columns-dropped", "columns-interleaved"]),
        ("1, then halves of a place in two steps", 48, [(0, 1, *ONE), (16, 32, *HALF_PLACE)],
         ["steps-apart", "columns-reversed"]),
        ("1, then 199 halves of a place", 200, [(0, 1, *ONE), (1, 199, *HALF_PLACE)],
         ["exact-sum-cut", "exact-sum-rounded", "terms-not-cut"]),
        ("a sum past the operand format", 16, [(0, 16, 255.0, 254.0)], ["sums-in-operand-format"]),
        ("a subnormal operand", 2, [(0, 1, subnormal, big)], ["subnormal-operands-flushed"]),
        ("the largest subnormal operand", 2, [(1, 1, big / 2, subnormal * ((1 << FORMATS[dtype][1]) - 1))],
         ["subnormal-operands-flushed"]),
        ("a subnormal operand and halves of its place", 9, [(0, 1, subnormal, big), (1, 8, *HALF_PLACE)],
         ["subnormal-operands-normalised"]),
        ("1 - 1", 2, [(0, 1, *ONE), (1, 1, *MINUS_ONE)], ["minus-zero"]),
        ("-1, then 1 in the second step", 17, [(0, 1, *MINUS_ONE), (16, 1, *ONE)], ["minus-zero"]),
        ("some products of -0", 16, [(0, 8, -0.0, 1.0), (8, 1, 2.0, -0.0)], ["minus-zero"]),
    ]


def two(exponent):
    return 2.0 ** exponent


# 2^-149 - 2^-157
UNDER = [(0, 1, two(-75), two(-75)), (1, 1, two(-75), 127 * two(-82))]


def picked_bf16():
    return [
        ("sixteen products of 2^-152", 16, [(0, 16, two(-76), two(-76))], ["zero-exponent-126"]),
        ("sixteen products of 1.75 2^-151", 16, [(0, 16, 1.75 * two(-76), two(-75))], ["zero-exponent-126"]),
        ("eight products of -2^-152", 8, [(0, 8, -two(-76), two(-76))], ["zero-exponent-126"]),
        ("zeros, then eight products of 2^-152", 30, [(20, 8, two(-76), two(-76))], ["zero-exponent-126"]),
        ("2^-157 below 2^-149, 14 products of 2^-158", 16, UNDER + [(2, 14, two(-79), two(-79))], ["zero-exponent-132"]),
        ("2^-157 below 2^-149, 2 products of 2^-158", 4, UNDER + [(2, 2, two(-79), two(-79))], ["zero-exponent-132"]),
        ("2^-157 below 2^-149, 14 products of 2^-159", 16, UNDER + [(2, 14, two(-79), two(-80))],
         ["zero-exponent-134", "zeros-without-exponent", "terms-not-cut"]),
        ("2^-157 below 2^-149, 4 products of 2^-159", 9, UNDER + [(2, 4, two(-79), two(-80))],
         ["zero-exponent-134", "zeros-without-exponent", "terms-not-cut"]),
        ("c = 2^-149, then sixteen products of 2^-152", 32, [(0, 1, two(-75), two(-74)), (16, 16, two(-76), two(-76))],
         ["subnormal-c-normalised"]),
        ("a product of -2^-160", 1, [(0, 1, -two(-80), two(-80))], ["minus-zero"]),
        ("5 2^-149", 1, [(0, 1, 5 * two(-75), two(-74))], ["subnormal-results-flushed", "small-operands-zero"]),
        ("-5 2^-149", 16, [(15, 1, 5 * two(-75), -two(-74))], ["subnormal-results-flushed", "small-operands-zero"]),
        ("3/4 2^-149", 1, [(0, 1, 3 * two(-76), two(-75))], ["result-rounded"]),
        ("5.75 2^-149", 1, [(0, 1, 23 * two(-76), two(-75))], ["result-rounded"]),
        ("-5.75 2^-149", 1, [(0, 1, -23 * two(-76), two(-75))], ["result-rounded", "result-floored"]),
        ("2^-126 - 2^-149", 2, [(0, 1, two(-63), two(-63)), (1, 1, two(-75), -two(-74))], ["subnormal-results-flushed"]),
        ("2^-126", 2, [(0, 2, two(-63), two(-64))], ["small-operands-zero"]),
        ("c = 5 2^-149, then 3 2^-149", 17, [(0, 1, 5 * two(-75), two(-74)), (16, 1, 3 * two(-75), two(-74))],
         ["subnormal-c-flushed"]),
        ("c = 2^-130, then 2^-126", 17, [(0, 1, two(-65), two(-65)), (16, 1, two(-63), two(-63))], ["subnormal-c-flushed"]),
        ("2^128", 2, [(0, 2, two(64), two(63))], ["overflow-saturates"]),
        ("-2^128", 9, [(8, 1, two(64), -two(64))], ["overflow-saturates"]),
        ("2^127, then 2^127", 17, [(0, 1, two(64), two(63)), (16, 1, two(63), two(64))], ["overflow-saturates"]),
        ("2^128 - 2^103", 2, [(0, 1, two(64), two(64)), (1, 1, -two(52), two(51))], ["result-rounded", "products-overflow"]),
        ("2^128 - 2^127", 2, [(0, 1, two(64), two(64)), (1, 1, -two(64), two(63))], ["products-overflow"]),
        ("2^254, 1, -2^254", 3, [(0, 1, two(127), two(127)), (1, 1, *ONE), (2, 1, -two(127), two(127))],
         ["products-overflow", "terms-not-cut", "minus-zero"]),
        ("2^-60 2^60", 1, [(0, 1, two(-60), two(60))], ["small-operands-zero"]),
    ]


def picked_f16():
    return [
        ("two subnormal operands", 1, [(0, 1, 2.0 ** -24, 2.0 ** -24)], ["subnormal-operands-flushed"]),
        ("sixteen of the largest product", 16, [(0, 16, 65504.0, 65504.0)], ["sums-in-operand-format"]),
    ]


def exactly(values, dtype):
    bits = encoded(values, dtype)
    assert [decode(b, FORMATS[dtype]) for b in bits] == values
    return bits


def special(dtype):
    """By bits: what is not finite, sums of zeros, and negative sums that are cut to zero."""
    fmt = FORMATS[dtype]
    one, infinity = encode(1.0, fmt), ((1 << fmt[0]) - 1) << fmt[1]
    minus, quiet = 0x8000, 1 << fmt[1] - 1
    inf, minus_inf, nan = (infinity, one), (infinity, minus | one), (infinity | quiet, one)
    finite, zero, minus_zero = (one, one), (0, one), (minus, one)
    rest = [finite] * 14
    cases = [
        ("inf", [inf, finite], []),
        ("-inf", rest + [minus_inf], []),
        ("inf * inf", [(infinity, infinity)], []),
        ("inf * a subnormal", [(3, infinity)], []),
        ("inf * 0", [(infinity, 0)], ["quiet-nan", "zero-beats-infinity"]),
        ("-0 * inf in the second step", rest + [finite] * 2 + [(minus, infinity)], ["quiet-nan", "zero-beats-infinity"]),
        ("inf - inf", [inf, minus_inf], ["quiet-nan", "first-infinity"]),
        ("inf, then -inf in the second step", [inf] + [zero] * 15 + [minus_inf], ["quiet-nan", "first-infinity"]),
        ("inf, then numbers", [inf] + [(minus | one, one)] * 31, []),
        ("-inf, then zeros", [minus_inf] + [zero] * 16, []),
        ("NaN", [nan], ["quiet-nan"]),
        ("-NaN with a payload", rest + [(one, minus | infinity | quiet | 5)], ["nan-payload-kept"]),
        ("signalling NaN", [(infinity | 1, one)], ["nan-payload-kept"]),
        ("NaN * 0", [(infinity | quiet, 0)], ["quiet-nan", "zero-beats-infinity"]),
        ("NaN, then inf", [nan, inf], ["first-infinity"]),
        ("NaN, then numbers", [nan] + [finite] * 16, ["quiet-nan"]),
        ("products of -0", [minus_zero] * 16, ["minus-zero"]),
        ("products of -0 in two steps", [minus_zero] * 32, ["minus-zero"]),
    ]
    if dtype == "bf16":
        low, big = (minus | encode(two(-76), fmt), encode(two(-75), fmt)), encode(two(64), fmt)
        cases += [
            ("-2^-151", [low], ["cut-to-minus-zero"]),
            ("3 products of -2^-151", [low] * 3, ["cut-to-minus-zero"]),
            ("-2^-151, then products of -0", [low] + [zero] * 15 + [minus_zero] * 16, ["minus-zero"]),
            ("2^128, then -2^128", [(big, big)] + [zero] * 15 + [(minus | big, big)], []),
        ]
    return [case(name, dtype, *(list(bits) for bits in zip(*pairs)), tells, WRONG_SPECIAL) for name, pairs, tells in cases]


def measured():
    cases = [{"w": w, "x": x, "c": c, "logit": logit} for w, x, c, logit in MEASURED]
    for known in cases:
        ws, xs = ([int(b, 16) for b in known[key].split()] for key in ("w", "x"))
        assert "%08x" % dot(ws, xs, "bf16", int(known["c"], 16)) == known["logit"], known
    return cases


def picked_case(dtype, name, d, runs, tells):
    ws, xs = [0.0] * d, [0.0] * d
    for first, count, w, x in runs:
        ws[first:first + count], xs[first:first + count] = [w] * count, [x] * count
    assert len(ws) == len(xs) == d
    return case(name, dtype, exactly(ws, dtype), exactly(xs, dtype), tells)


# Regimes of operands: each gives w and x of column k of D.

def plain(source, dtype, k, d):
    return source.value(0), source.value(2)


def positive(source, dtype, k, d):
    return abs(source.value(0)), abs(source.value(2))


def wide(source, dtype, k, d):
    return source.wide_value(-10, 4), source.wide_value(-10, 4)


def growing(source, dtype, k, d):
    return source.wide_value(k // 16 - 7, k // 16 - 6), source.value(2)


def shrinking(source, dtype, k, d):
    return growing(source, dtype, d - 1 - k, d)


def small(source):
    return source.wide_value(-12, -6), source.wide_value(-10, -4)


def last_places(source, dtype, k, d):
    """Small products end on both sides of the last place that is kept beside the others."""
    return (source.wide_value(-1, 1), source.wide_value(-1, 1)) if k % 8 == 1 else small(source)


def big(source, dtype):
    top = 127 if dtype == "bf16" else 15
    return source.wide_value(top - 6, top)


def with_zeros(source, dtype, k, d):
    return (0.0, big(source, dtype)) if source.below(3) == 0 else small(source)


def with_subnormals(source, dtype, k, d):
    if k % 2 == 0:
        return SUBNORMAL[dtype] * source.below(1 << FORMATS[dtype][1]), big(source, dtype)
    return small(source)


def tiny(source, dtype, k, d):
    return source.wide_value(-78, -67), source.wide_value(-76, -67)


def huge(source, dtype, k, d):
    return source.wide_value(57, 62), source.wide_value(57, 62)


REGIMES = (
    ("plain", plain, (2, 7, 8, 15, 16, 17, 31, 64, 100, 200)),
    ("positive", positive, (16, 40, 200)),
    ("wide", wide, (5, 24, 32, 97)),
    ("growing", growing, (32, 77, 192)),
    ("shrinking", shrinking, (32, 77)),
    ("last places", last_places, (2, 9, 16, 17, 32, 40, 48, 96)),
    ("zeros", with_zeros, (6, 16, 30, 48)),
    ("subnormal operands", with_subnormals, (3, 16, 21, 32, 80)),
)
BF16_REGIMES = (("tiny", tiny, (4, 16, 30, 64)), ("huge", huge, (5, 16)))


def regime_cases(dtype, source):
    for name, regime, lengths in REGIMES + (BF16_REGIMES if dtype == "bf16" else ()):
        for d in lengths:
            ws, xs = zip(*(regime(source, dtype, k, d) for k in range(d)))
            yield case(name, dtype, encoded(ws, dtype), encoded(xs, dtype))


def cancelling_cases(dtype, source):
    """The second half takes back the first, but for a last bit here and there."""
    for half in (2, 8, 9, 16, 32, 65):
        ws = encoded([source.wide_value(0, 6) for _ in range(half)], dtype)
        xs = encoded([source.wide_value(0, 6) for _ in range(half)], dtype)
        yield case("cancelling", dtype, ws + [w ^ 0x8000 for w in ws], xs + [x ^ (source.below(3) == 0) for x in xs])


def cases_of(dtype):
    source = Integers("tensor core " + dtype)
    picks = picked(dtype) + (picked_bf16() if dtype == "bf16" else picked_f16())
    cases = [picked_case(dtype, *p) for p in picks] + list(regime_cases(dtype, source)) + list(cancelling_cases(dtype, source))
    for n in WRONG:
        told = sum(n in c["differsFrom"] for c in cases)
        assert told >= 2 if dtype == "bf16" or n not in ONLY_BF16 else told == 0, (n, dtype, told)
    return cases


# Whole problems: heads that are drawn from.

SAMPLES = 2
# name, dtype, V, D, rows, exponents of the weights, exponents of the hidden states
PROBLEMS = (
    ("plain", "bf16", 40, 70, 2, (-5, 0), (-6, 0)),
    ("plain", "f16", 21, 97, 3, (-5, 0), (-6, 0)),
    ("one step", "f16", 5, 16, 1, (-5, 0), (-6, 2)),
    ("small operands read as zero", "bf16", 7, 40, 2, (-60, -50), (46, 51)),
)


def problem(name, dtype, v, d, row_count, weight_exponents, hidden_exponents):
    source = Integers("tensor core problem %s %s" % (name, dtype))
    weights = [encoded([source.wide_value(*weight_exponents) for _ in range(d)], dtype) for _ in range(v)]
    hidden = [[f32_bits(source.wide_value(*hidden_exponents)) for _ in range(d)] for _ in range(row_count)]
    head = TensorCoreHead(dtype, weights)
    prepared = [head.prepare(row) for row in hidden]
    zs = [[head.z(t, xs) for t in range(v)] for xs in prepared]
    assert zs != [Head(dtype, weights).row_z(row) for row in hidden], name      # the order L32 gives others
    calls = []
    for t in (0.0, 0.7, 1.0):
        seed, position = source.bits(64), source.below(5000)
        rows = [draws(zs[r], tau(t), seed, r, position, SAMPLES) for r in range(row_count)]
        calls.append({**temperature_json(t), "seed": "%016x" % seed, "position": position, "samples": SAMPLES, "rows": rows})
    return {"name": name, "dtype": dtype, "V": v, "D": d, "weights": [hexes(row, dtype) for row in weights],
            "hidden": [hex32(row) for row in hidden],
            "logits": [hex32(head.logit_bits(t, xs) for t in range(v)) for xs in prepared],
            "Z": [hex64(row) for row in zs], "calls": calls}


def tensor_core_file():
    return {
        "about": "Dot products of the tensor cores of compute capability 9.0, section 9: w and x are the operands' bits (taken "
                 "as they are, small ones too), logit the f32 bits. differsFrom names wrong readings that give other bits in "
                 "this case; WRONG in examples/python-reference/vector_makers/tensor_cores.py defines them. special: NaN, "
                 "infinities, sums of -0, and negative S that are cut to zero. measured: bf16 sums of tiny terms that begin "
                 "with the f32 bits c, as an H200 gave them. problems: heads drawn from with these sums in place of section "
                 "4.2: weights, hidden, logits and Z as in sample.json; a call has one T, seed and position, sequence is the "
                 "row; rows: the draws of each hidden row. " + DRAW.replace("firstSample + i", "i"),
        "bf16": cases_of("bf16"),
        "f16": cases_of("f16"),
        "special": {dtype: special(dtype) for dtype in ("bf16", "f16")},
        "measured": measured(),
        "problems": [problem(*p) for p in PROBLEMS],
    }
