# SPDX-License-Identifier: Apache-2.0
"""Sections 4.2 and 4.3: the order L32, and the integer logit of an int8 row."""

from .formats import fl

LIMIT = 1 << 62


def products(ws, xs):
    return [fl(w * x) for w, x in zip(ws, xs)]


def lanes(ws, xs):
    """The 32 partial sums before the tree."""
    s = [0.0] * 32
    for k, p in enumerate(products(ws, xs)):
        s[k % 32] = fl(s[k % 32] + p)
    return s


def dot_l32(ws, xs):
    """The f32 dot product of two lists of operand values."""
    s = lanes(ws, xs)
    while len(s) > 1:
        s = [fl(s[j] + s[j + 1]) for j in range(0, len(s), 2)]
    return s[0]


def clamp(z):
    return max(-LIMIT, min(LIMIT, z))


def scaled_group(a_bits, scale_bits):
    """z_group: the f32 sum times the f32 scale, in Q32, truncated toward zero, at most 2^62 in size."""
    e_a = (a_bits >> 23) & 0xFF
    if a_bits & 0x7FFFFFFF == 0:
        return 0
    m = ((a_bits & 0x7FFFFF) | 0x800000) * ((scale_bits & 0x7FFFFF) | 0x800000)
    shift = e_a + ((scale_bits >> 23) & 0xFF) - 268
    size = m << shift if shift >= 0 else m >> -shift
    size = min(size, LIMIT)
    return -size if a_bits >> 31 else size


def sum_groups(z_groups):
    """Group after group, clamped each time."""
    z = 0
    for g in z_groups:
        z = clamp(z + g)
    return z
