# SPDX-License-Identifier: Apache-2.0
"""Section 9: the dot product of Hopper tensor cores, for bf16 and f16 operands and f32 sums, in exact integers.

Operands are taken as they are: the thresholds of section 4.1 apply only where a head is drawn from.
"""

import math
from collections import namedtuple

from .formats import F32, FORMATS, decode, encode
from .head import Head

COLUMNS = 16                                       # products in a step
KEPT = 25                                          # binary places that are kept below 2^emax
EXPONENT_OF_ZERO = -133
SIGNIFICANT = 24                                   # bits of an f32 significand
LOWEST_PLACE = -149                                # of an f32
SIGN, INFINITY = 0x80000000, 0x7F800000
NAN = 0x7FFFFFFF                                   # every NaN that comes out

# The value s m 2^(e - places).
Term = namedtuple("Term", "s m e places")


def parts(bits, fmt):
    """Sign, significand and exponent: the value is s m 2^(e - fraction bits). A subnormal is not normalised."""
    exp_bits, frac_bits = fmt
    stored = bits >> frac_bits & ((1 << exp_bits) - 1)
    hidden = 1 << frac_bits if stored else 0
    bias = (1 << (exp_bits - 1)) - 1
    s = -1 if bits >> (exp_bits + frac_bits) else 1
    return s, hidden | bits & ((1 << frac_bits) - 1), max(stored, 1) - bias


def term(s, m, e, places):
    return Term(s, m, e if m else EXPONENT_OF_ZERO, places)


def product(w, x, fmt):
    """Two operands -> their exact product. Its significand may reach 4 and stays as it is."""
    sw, mw, ew = parts(w, fmt)
    sx, mx, ex = parts(x, fmt)
    return term(sw * sx, mw * mx, ew + ex, 2 * fmt[1])


def addend(c):
    """The f32 that a step begins with."""
    return term(*parts(c, F32), F32[1])


def largest_exponent(terms):
    return max(t.e for t in terms)


def cut(t, emax):
    """A term in units of 2^(emax - 25), toward zero."""
    shift = KEPT - t.places - (emax - t.e)
    return t.s * (t.m << shift if shift >= 0 else t.m >> -shift)


def result(total, emax):
    """total * 2^(emax - 25) cut toward zero to an f32, as its bits. A zero has no sign."""
    m, place = abs(total), emax - KEPT
    drop = max(m.bit_length() - SIGNIFICANT, LOWEST_PLACE - place)
    m = m >> drop if drop >= 0 else m << -drop
    if m == 0:
        return 0
    # m carries its hidden bit, so a normal number adds 1 to the field; a subnormal (lowest place) adds nothing.
    size = ((place + drop - LOWEST_PLACE) << F32[1]) + m
    return (SIGN if total < 0 else 0) | min(size, INFINITY)


def not_finite(ws, xs, c, fmt):
    """The result by the NaN and infinities among c and the products; None where there are none."""
    values = [decode(w, fmt) * decode(x, fmt) for w, x in zip(ws, xs)] + [decode(c, F32)]
    total = sum(v for v in values if not math.isfinite(v))
    if math.isnan(total):
        return NAN
    return None if total == 0 else INFINITY | (SIGN if total < 0 else 0)


def step(ws, xs, c, fmt):
    """16 columns and the f32 bits c -> f32 bits."""
    special = not_finite(ws, xs, c, fmt)
    if special is not None:
        return special
    terms = [product(w, x, fmt) for w, x in zip(ws, xs)] + [addend(c)]
    emax = largest_exponent(terms)
    return result(sum(cut(t, emax) for t in terms), emax)


def filled(bits):
    """Zeros behind the last column, to whole steps."""
    return bits + [0] * (-len(bits) % COLUMNS)


def dot(w_bits, x_bits, dtype, c=0):
    """The f32 bits of the dot product of two lists of bf16 or f16 patterns, added to the f32 bits c."""
    ws, xs = filled(w_bits), filled(x_bits)
    for k in range(0, len(ws), COLUMNS):
        c = step(ws[k:k + COLUMNS], xs[k:k + COLUMNS], c, FORMATS[dtype])
    return c


class TensorCoreHead(Head):
    """A bf16 or f16 head that is drawn from with these sums in place of section 4.2."""

    def logit_bits(self, v, xs):
        w_bits, x_bits = ([encode(value, FORMATS[self.dtype]) for value in values] for values in (self.weights[v], xs))
        return dot(w_bits, x_bits, self.dtype)
