# SPDX-License-Identifier: Apache-2.0
"""Section 3: Gumbel noise as a u32 in Q26."""

from .philox import MASK32, SAMPLING, block

G0 = 3.0992229822180622
LN2_Q32 = 0xB17217F8


def mulhi(a, b):
    return (a * b) >> 32


def clz(x):
    return 32 - x.bit_length()


def q32(t):
    """About -log2(1 - t / 2) / t, argument and result in Q32."""
    a = 30892440 - mulhi(10744575, t)
    a = 49540405 - mulhi(a, t)
    a = 30666238 - mulhi(a, t)
    a = 34211277 - mulhi(a, t)
    a = 33555500 + mulhi(a, t)
    a = 97654852 + mulhi(a, t)
    a = 258112217 + mulhi(a, t)
    a = 774543136 + mulhi(a, t)
    return 3098163990 + mulhi(a, t)


def split(hi, lo):
    """The three parts that both branches start from: J, h1, l1."""
    return clz(hi | 1), ((hi << 1) & MASK32) | (lo >> 31), ((lo << 1) & MASK32) | 64


def gamma26(hi, lo):
    j, h1, l1 = split(hi, lo)
    if j == 0:
        n = clz(h1) if h1 != 0 else 32 + clz(l1)
        m = ((((h1 << 32) | l1) << n) >> 32) & MASK32
        p0 = mulhi(m, q32(h1))
        z = clz(p0)
        p = (p0 << z) & MASK32
        y = 5 + n + z
    else:
        w = ((h1 << j) & MASK32) | ((l1 >> 1) >> (31 - j))
        a = mulhi(w, q32(w))
        s = clz(j)
        p = ((j << s) & MASK32) | (a >> (32 - s))
        y = s - 27
    t = ~(p << 1) & MASK32
    return mulhi((y << 26) | (mulhi(t, q32(t)) >> 6), LN2_Q32)


def token_noise(seed, sequence, position, sample, token, purpose=SAMPLING):
    """gamma of one token."""
    i = token % 4
    hi = block(seed, sequence, position, sample, purpose, token)[i]
    lo = block(seed, sequence, position, sample, purpose + 1, token)[i]
    return gamma26(hi, lo)


def row_noise(seed, sequence, position, sample, vocabulary, purpose=SAMPLING):
    """gamma of the tokens 0 .. vocabulary - 1, four tokens to a Philox block."""
    out = []
    for first in range(0, vocabulary, 4):
        high = block(seed, sequence, position, sample, purpose, first)
        low = block(seed, sequence, position, sample, purpose + 1, first)
        out.extend(gamma26(hi, lo) for hi, lo in zip(high, low))
    return out[:vocabulary]
