# SPDX-License-Identifier: Apache-2.0
"""Checks of the reference itself: fast f32 rounding against exact integers, round trips, row noise against words.

    python3 self_test.py
"""

from fractions import Fraction

from flash_sampling_reference.formats import BF16, F16, F32, decode, encode, f32, f32_bits, fl
from flash_sampling_reference.gumbel import row_noise, token_noise
from vector_makers.dots import round_exact
from vector_makers.inputs import Integers


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
    print("all good")


if __name__ == "__main__":
    main()
