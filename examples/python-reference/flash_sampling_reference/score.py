# SPDX-License-Identifier: Apache-2.0
"""Sections 5 and 6: from logit bits and a temperature to 64-bit scores, and the numbers for people."""

import math

from .formats import f32_bits, f64_bits
from .gumbel import G0

MASK = -(1 << 63)
INVALID = None


def fix(bits):
    """f32 logit bits -> Z (Q31.32), MASK, or INVALID."""
    e = (bits >> 23) & 0xFF
    m = (bits & 0x7FFFFF) | 0x800000
    negative = bits >> 31
    if e == 255:
        return MASK if bits == 0xFF800000 else INVALID
    if e == 0:
        return 0
    if e >= 157:
        size = 1 << 62
    elif e >= 118:
        size = m << (e - 118)
    else:
        size = m >> (118 - e)
    return -size if negative else size


def fix_f64(value):
    """A given f64 logit: one rounding to f32, then fix."""
    return INVALID if math.isnan(value) else fix(f32_bits(value))


def tau(temperature):
    """T (f64) -> Q24. Python floats are f64, so this is the formula as written."""
    if not 0 <= temperature < 256:
        raise ValueError("temperature outside 0 <= T < 256")
    return min(math.floor(temperature * 16777216.0 + 0.5), (1 << 32) - 1)


def score(z, gamma, tau_q24):
    return MASK if z == MASK else z + ((gamma * tau_q24) >> 18)


def report_score(s, tau_q24):
    return float(s) * 2.0 ** -32 - (G0 * float(tau_q24)) * 2.0 ** -24


def report_margin(s_winner, s_runner_up):
    return float(s_winner - s_runner_up) * 2.0 ** -32


def score_bits(s):
    return "%016x" % (s & 0xFFFFFFFFFFFFFFFF)


def f64_hex(value):
    return "%016x" % f64_bits(value)
