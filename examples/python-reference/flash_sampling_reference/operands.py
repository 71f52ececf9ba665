# SPDX-License-Identifier: Apache-2.0
"""Section 4.1: rounding to the operand format, small operands, refusals."""

import math

from .formats import decode, encode, f32, FORMATS

OPERAND_FORMAT = {"bf16": "bf16", "int8": "bf16", "f16": "f16", "f32": "f32"}
SMALLEST = {"bf16": 2.0 ** -56, "f16": 0.0, "f32": 2.0 ** -40}


class Refused(Exception):
    """The problem is an error. `row` and `column` name the place where the rule asks for it."""

    def __init__(self, reason, row=None, column=None):
        super().__init__(reason)
        self.reason, self.row, self.column = reason, row, column


def canonical(value, operand_format):
    """Operands below the format's threshold read as +0."""
    return 0.0 if abs(value) < SMALLEST[operand_format] else value


def round_hidden(row_bits, operand_format, row=0):
    """f32 bit patterns -> rounded values, not yet canonical."""
    fmt = FORMATS[operand_format]
    out = []
    for column, bits in enumerate(row_bits):
        value = f32(bits)
        if not math.isfinite(value):
            raise Refused("hidden state is not finite", row, column)
        value = decode(encode(value, fmt), fmt)
        if not math.isfinite(value):
            raise Refused("hidden state is not finite after rounding", row, column)
        out.append(value)
    return out


def exponent(a):
    """E(a): the smallest integer e with a < 2^e, for a > 0."""
    return math.frexp(a)[1]                        # a = f * 2^e with 0.5 <= f < 1


def columns_exponent(d):
    """C(D): the smallest integer c with D <= 2^c."""
    return (d - 1).bit_length()


def in_range(max_w, max_x, d):
    """Whether a row passes: its dot products cannot overflow."""
    if max_w == 0 or max_x == 0:
        return True
    return exponent(max_w) + exponent(max_x) + columns_exponent(d) <= 127
