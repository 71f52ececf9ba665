# SPDX-License-Identifier: Apache-2.0
"""Section 2: Philox4x32-10 and the random word that belongs to a token."""

MASK32 = 0xFFFFFFFF

# Purposes. A draw uses (high, high + 1).
SAMPLING = 0
ACCEPTANCE = 2
RESIDUAL = 3
DRAFT = 5


def philox4x32_10(counter, key):
    """Ten rounds. `counter` is four u32, `key` two; returns four u32."""
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(10):
        a = 0xCD9E8D57 * x2
        b = 0xD2511F53 * x0
        x0, x1, x2, x3 = (a >> 32) ^ x1 ^ k0, a & MASK32, (b >> 32) ^ x3 ^ k1, b & MASK32
        k0 = (k0 + 0x9E3779B9) & MASK32
        k1 = (k1 + 0xBB67AE85) & MASK32
    return x0, x1, x2, x3


def block(seed, sequence, position, sample, purpose, token):
    """The four words of the tokens 4 * floor(token / 4) .. + 3."""
    if not 0 <= seed < 1 << 64:
        raise ValueError("seed outside 0 .. 2^64 - 1")
    for name, value in (("sequence", sequence), ("position", position), ("token", token)):
        if not 0 <= value < 1 << 32:
            raise ValueError(name + " outside 0 .. 2^32 - 1")
    if not 0 <= sample < 1 << 24:
        raise ValueError("sample outside 0 .. 2^24 - 1")
    if not 0 <= purpose < 1 << 8:
        raise ValueError("purpose outside 0 .. 255")
    counter = (token // 4, position, sequence, sample * 256 + purpose)
    return philox4x32_10(counter, (seed & MASK32, seed >> 32))


def word(seed, sequence, position, sample, purpose, token):
    return block(seed, sequence, position, sample, purpose, token)[token % 4]
