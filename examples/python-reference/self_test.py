# SPDX-License-Identifier: Apache-2.0
"""Checks of the reference itself: fast f32 rounding against exact integers, round trips, row noise against words, tensor
cores by values instead of bits.

    python3 self_test.py
"""

import math
from fractions import Fraction

from flash_sampling_reference import tensor_core
from flash_sampling_reference.formats import BF16, F16, F32, FORMATS, decode, encode, f32, f32_bits, fl
from flash_sampling_reference.gumbel import row_noise, token_noise
from vector_makers.dots import round_exact
from vector_makers.inputs import Integers
from vector_makers.tensor_cores import tensor_core_file

SMALLEST_EXPONENT = {"bf16": -126, "f16": -14, "f32": -126}

# Single steps of a tensor core, worked out by hand: (products as w and x, result). Both formats hold the numbers.
BY_HAND = (
    ([(1.0, 1.0)], "3f800000"),
    ([(1.5, -1.5)], "c0100000"),
    ([(1.0, 1.0)] + [(2.0 ** -13, 2.0 ** -13)] * 15, "3f800000"),             # 2^-26 lies below the last place, 2^-25
    ([(1.0, 1.0)] + [(2.0 ** -12, 2.0 ** -13)] * 15, "3f800003"),             # 15 places of 2^-25: 3 of 2^-23 and a rest
    ([(2.0, 1.0)] + [(2.0 ** -12, 2.0 ** -13)] * 15, "40000000"),             # beside 2 the last place is 2^-24
    ([(1.5, 1.5)] + [(2.0 ** -12, 2.0 ** -13)] * 15, "40100001"),             # 2.25 still has the exponent 0
    ([(-1.0, 1.0), (-2.0 ** -12, 3 * 2.0 ** -13)], "bf800000"),               # toward zero, not down
    ([(1.0, 1.0), (-2.0 ** -13, 2.0 ** -14)], "3f800000"),                    # -2^-27 is cut to 0, not to -2^-25
    ([(1.0, 1.0), (-2.0 ** -12, 2.0 ** -13)], "3f7fffff"),                    # 1 - 2^-25 has 25 bits: cut to 24
    ([(1.0, 1.0), (-1.0, 1.0), (2.0 ** -12, 2.0 ** -13)], "33000000"),
    ([(1.0, -1.0), (1.0, 1.0), (2.0 ** -13, 2.0 ** -13)], "00000000"),
)


def exponent(value, dtype):
    return max(math.frexp(value)[1] - 1, SMALLEST_EXPONENT[dtype])


def toward_zero(exact):
    """A Fraction of at most 53 bits -> f32 bits: the nearest f32, or the one before it; +0 for both zeros."""
    assert Fraction(float(exact)) == exact
    bits = f32_bits(float(exact))
    if abs(exact) < 2 ** 128 and abs(f32(bits)) > abs(exact):
        bits -= 1
    return bits if f32(bits) else 0


def step_by_values(ws, xs, c, dtype):
    """Section 9 with fractions in place of significands and shifts."""
    terms = [(Fraction(w) * Fraction(x), exponent(w, dtype) + exponent(x, dtype)) for w, x in zip(ws, xs)]
    terms.append((Fraction(c), exponent(c, "f32")))
    top = max(e if value else -133 for value, e in terms)
    place = Fraction(2) ** (top - 25)
    return toward_zero(sum(int(value / place) for value, _ in terms) * place)


def dot_by_values(ws, xs, dtype):
    c = 0
    for k in range(0, len(ws), 16):
        c = step_by_values(ws[k:k + 16], xs[k:k + 16], f32(c), dtype)
    return c


def any_finite(source, fmt):
    exp_bits, frac_bits = fmt
    e = source.below((1 << exp_bits) - 1)
    return source.bits(1) << (exp_bits + frac_bits) | e << frac_bits | source.bits(frac_bits)


def near(source, fmt, middle):
    """A few exponents around one, so that the terms of a step meet."""
    exp_bits, frac_bits = fmt
    e = min(max(middle + source.below(14) - 7, 0), (1 << exp_bits) - 2)
    return source.bits(1) << (exp_bits + frac_bits) | e << frac_bits | source.bits(frac_bits)


def random_step(source, fmt):
    """16 columns and c as bits: exponents anywhere, or close to each other."""
    if source.below(4) == 0:
        return ([any_finite(source, fmt) for _ in range(16)], [any_finite(source, fmt) for _ in range(16)],
                any_finite(source, F32))
    bias = (1 << (fmt[0] - 1)) - 1
    a, b = source.below(2 * bias), source.below(2 * bias)
    c = min(max(a + b - 2 * bias + 127, 0), 254)
    return ([near(source, fmt, a) for _ in range(16)], [near(source, fmt, b) for _ in range(16)], near(source, F32, c))


def check_tensor_cores(source):
    for dtype in ("bf16", "f16"):
        fmt = FORMATS[dtype]
        for pairs, expected in BY_HAND:
            ws, xs = zip(*pairs)
            bits = [[encode(v, fmt) for v in values] for values in (ws, xs)]
            assert "%08x" % tensor_core.dot(*bits, dtype) == expected, (dtype, pairs)
            assert "%08x" % dot_by_values(ws, xs, dtype) == expected, (dtype, pairs)
        for c in tensor_core_file()[dtype]:
            ws, xs = ([decode(int(b, 16), fmt) for b in c[key].split()] for key in ("w", "x"))
            assert "%08x" % dot_by_values(ws, xs, dtype) == c["logit"], c
        for _ in range(4000):
            w, x, c = random_step(source, fmt)
            got = tensor_core.step(w, x, c, fmt)
            assert got == step_by_values([decode(b, fmt) for b in w], [decode(b, fmt) for b in x], f32(c), dtype), (w, x, c)
            assert got == tensor_core.step(w[::-1], x[::-1], c, fmt)          # a step has no order


def main():
    source = Integers("self test")
    for _ in range(20000):
        a, b = source.wide_value(-40, 40), source.wide_value(-40, 40)
        if source.below(2):
            b = a * source.wide_value(-24, -22)             # a sum whose tail lies near the last place of a
            b = fl(b)
        for got, exact in ((fl(a + b), Fraction(a) + Fraction(b)), (fl(a * b), Fraction(a) * Fraction(b))):
            assert got == round_exact(exact), (a, b)
        assert f32(encode(a * b, F32)) == fl(a * b)         # the integer encoder agrees with struct
    for fmt, bits, stop in ((F16, 16, 0x7C00), (BF16, 16, 0x7F80)):
        for b in list(range(stop + 1)) + [1 << (bits - 1) | b for b in range(stop + 1)]:
            assert encode(decode(b, fmt), fmt) == b
    for _ in range(5000):
        b = source.below(0x7F800000)
        assert f32_bits(f32(b)) == b
        value, h = f32(b), encode(f32(b), BF16)
        if h < 0x7F80:                                      # no bf16 number is nearer
            near = abs(Fraction(decode(h, BF16)) - Fraction(value))
            for other in (h - 1, h + 1):
                if 0 <= other < 0x7F80:
                    away = abs(Fraction(decode(other, BF16)) - Fraction(value))
                    assert near < away or (near == away and h % 2 == 0)
    row = row_noise(1 << 63 | 5, 2, 3, 4, 10)
    assert row == [token_noise(1 << 63 | 5, 2, 3, 4, t) for t in range(10)]
    check_tensor_cores(source)
    print("all good")


if __name__ == "__main__":
    main()
