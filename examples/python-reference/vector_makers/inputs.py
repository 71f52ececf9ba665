# SPDX-License-Identifier: Apache-2.0
"""Inputs of the known answers: one small integer generator, nothing from the clock or the system.

`Integers(name)` is SplitMix64. Its state starts at the FNV-1a hash (64 bits) of the name. Each step adds
0x9E3779B97F4A7C15 to the state and mixes a copy: x ^= x >> 30; x *= 0xBF58476D1CE4E5B9; x ^= x >> 27;
x *= 0x94D049BB133111EB; x ^= x >> 31, all modulo 2^64.
"""

import math

from flash_sampling_reference.formats import FORMATS, encode

M64 = (1 << 64) - 1


class Integers:
    def __init__(self, name):
        state = 0xCBF29CE484222325
        for byte in name.encode("ascii"):
            state = ((state ^ byte) * 0x100000001B3) & M64
        self.state = state

    def next64(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & M64
        x = self.state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
        return x ^ (x >> 31)

    def bits(self, n):
        return self.next64() >> (64 - n)

    def below(self, n):
        return (self.next64() * n) >> 64

    def value(self, exponent):
        """A float in (-2^exponent, 2^exponent), a multiple of 2^(exponent - 23): exact in f32."""
        return math.ldexp(self.bits(24) - (1 << 23) + 0.0, exponent - 23)

    def wide_value(self, low, high):
        """Random sign and significand, exponent from low to high - 1."""
        size = math.ldexp((1 << 23) | self.bits(23), low + self.below(high - low) - 23)
        return -size if self.bits(1) else size


def hex32(values):
    return " ".join("%08x" % v for v in values)


def hex64(values):
    return " ".join("%016x" % (v & M64) for v in values)


WIDTH = {"f32": 8, "f16": 4, "bf16": 4, "int8": 2}


def hexes(bits, dtype):
    return " ".join("%0*x" % (WIDTH[dtype], b) for b in bits)


def encoded(values, dtype):
    """Floats -> bit patterns of the format."""
    return [encode(v, FORMATS[dtype]) for v in values]
