# SPDX-License-Identifier: Apache-2.0
"""Floating-point formats: exact decoding, correctly rounded encoding, and f32 arithmetic.

A value is a Python float (binary64), which holds every f32, f16 and bf16 value exactly. `encode` rounds with integers
only. `fl` is the same rounding to f32 done fast by `struct`; self_test.py compares the two.

Why `fl(a * b)` and `fl(a + b)` on Python floats are single correct roundings for f32 a, b:
  product: 24 + 24 = 48 significant bits fit the 53 of binary64, and the exponents (-298 .. 256) fit its range, so the
           binary64 product is exact and `fl` is the only rounding;
  sum:     binary64 rounds first, but a double rounding to p bits through at least 2p + 2 bits (here 24 and 53 >= 50)
           equals the single one for +, and sums that land in f32's subnormal range are exact already.
"""

import math
import struct

F32 = (8, 23)
F16 = (5, 10)
BF16 = (8, 7)
FORMATS = {"f32": F32, "f16": F16, "bf16": BF16}

_f = struct.Struct("<f")


def decode(bits, fmt):
    """The exact value of a bit pattern (inf and nan included)."""
    exp_bits, frac_bits = fmt
    bias = (1 << (exp_bits - 1)) - 1
    fraction = bits & ((1 << frac_bits) - 1)
    e = (bits >> frac_bits) & ((1 << exp_bits) - 1)
    sign = -1.0 if bits >> (exp_bits + frac_bits) else 1.0
    if e == (1 << exp_bits) - 1:
        return math.nan if fraction else sign * math.inf
    if e == 0:
        return sign * math.ldexp(fraction, 1 - bias - frac_bits)
    return sign * math.ldexp(fraction | (1 << frac_bits), e - bias - frac_bits)


def encode(value, fmt):
    """The bit pattern of `value` rounded to the nearest, ties to even; too large becomes infinite. No NaN."""
    exp_bits, frac_bits = fmt
    bias = (1 << (exp_bits - 1)) - 1
    infinity = ((1 << exp_bits) - 1) << frac_bits
    sign = (1 << (exp_bits + frac_bits)) if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        raise ValueError("NaN has no rounding here")
    if math.isinf(value):
        return sign | infinity
    n, d = abs(value).as_integer_ratio()          # abs(value) = n * 2^-k exactly
    if n == 0:
        return sign
    k = d.bit_length() - 1
    e = max(n.bit_length() - 1 - k, 1 - bias)      # exponent of the result, before a carry
    drop = e - frac_bits + k                       # low bits of n below the last place
    if drop <= 0:
        m = n << -drop
    else:
        m = n >> drop
        rest, half = n & ((1 << drop) - 1), 1 << (drop - 1)
        if rest > half or (rest == half and m & 1):
            m += 1
    # m carries its hidden bit, so a normal number adds 1 to the field; a subnormal (e = 1 - bias) adds nothing.
    return sign | min(((e + bias - 1) << frac_bits) + m, infinity)


def fl(x):
    """Round a finite float to the nearest f32, ties to even. Raises OverflowError where f32 would be infinite."""
    return _f.unpack(_f.pack(x))[0]


def f32(bits):
    return decode(bits, F32)


def f32_bits(value):
    return encode(value, F32)


def f64(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def f64_bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]
