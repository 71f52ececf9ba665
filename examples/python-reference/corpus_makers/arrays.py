# SPDX-License-Identifier: Apache-2.0
"""Arrays of the corpus: bit patterns, written down with their repetitions, and named by a digest of their values."""

import hashlib
import itertools
import math
import struct

from flash_sampling_reference.formats import FORMATS, decode, f32_bits

BYTES = {"f32": 4, "f16": 2, "bf16": 2, "int8": 1, "u32": 4}
NAN = 0x7FC00000


class Array:
    """parts: lists of words, each with how often it is repeated, in the order of the elements."""

    def __init__(self, dtype, shape, parts):
        self.dtype, self.shape, self.parts = dtype, list(shape), parts
        self.words = [word for words, count in parts for _ in range(count) for word in words]
        if len(self.words) != math.prod(shape):
            raise ValueError("%d words for the shape %s" % (len(self.words), shape))

    def rows(self):
        width = self.shape[-1]
        return [self.words[at:at + width] for at in range(0, len(self.words), width)]

    def values(self):
        """The rows as floats."""
        known = {word: decode(word, FORMATS[self.dtype]) for word in set(self.words)}
        return [[known[word] for word in row] for row in self.rows()]

    def text(self):
        """word, word*count, or (words)*count, with spaces between."""
        width = 2 * BYTES[self.dtype]
        return " ".join(runs(words, width) if count == 1 else "(%s)*%d" % (runs(words, width), count) for words, count in self.parts)

    def digest(self):
        """SHA-256: of floats as little-endian f32 with one NaN, of integers as they are stored."""
        if self.dtype in FORMATS:
            known = {word: widened(word, self.dtype) for word in set(self.words)}
            data = struct.pack("<%dI" % len(self.words), *(known[word] for word in self.words))
        else:
            data = b"".join(word.to_bytes(BYTES[self.dtype], "little") for word in self.words)
        return hashlib.sha256(data).hexdigest()

    def json(self):
        return {"dtype": self.dtype, "shape": self.shape, "digest": self.digest(), "words": self.text()}


def widened(word, dtype):
    value = decode(word, FORMATS[dtype])
    return NAN if math.isnan(value) else word if dtype == "f32" else f32_bits(value)


def runs(words, width):
    out = []
    for word, group in itertools.groupby(words):
        count = sum(1 for _ in group)
        out.append("%0*x" % (width, word) + ("*%d" % count if count > 1 else ""))
    return " ".join(out)


def bits(value):
    """Floats as f32 patterns; a pattern stays as it is."""
    return value if isinstance(value, int) else NAN if math.isnan(value) else f32_bits(value)


def logits(*rows):
    """f32 [rows, V] of floats or patterns."""
    return Array("f32", [len(rows), len(rows[0])], [([bits(value) for value in row], 1) for row in rows])


def one_row(*parts):
    """f32 [1, V] of (floats, count)."""
    parts = [([bits(value) for value in values], count) for values, count in parts]
    return Array("f32", [1, sum(len(words) * count for words, count in parts)], parts)


def same_rows(rows, values):
    """f32 [rows, V], each row the same."""
    return Array("f32", [rows, len(values)], [([bits(value) for value in values], rows)])
