# SPDX-License-Identifier: Apache-2.0
"""Random words at the ends of every known mistake, and the noise that comes of them."""

from fractions import Fraction

from flash_sampling_reference.gumbel import gamma26, split

from .arrays import Array

WORDS = (0x00000000, 0x00000001, 0x7FFFFFFF, 0x80000000, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFF)


def uniform(hi, lo):
    """The u that the words stand for: docs/spec.md, section 3."""
    j, h1, l1 = split(hi, lo)
    w = Fraction(((h1 << 32 | l1) << j) % (1 << 64), 1 << 64)
    return (1 - w / 2) / (1 << j)


def add_all(corpus):
    pairs = sorted(((hi, lo) for hi in WORDS for lo in (0x00000000, 0x80000000, 0xFFFFFFFF)), key=lambda pair: uniform(*pair))
    gammas = [gamma26(hi, lo) for hi, lo in pairs]
    assert gammas == sorted(gammas)
    words = Array("u32", [len(pairs), 2], [([word for pair in pairs for word in pair], 1)])
    corpus.cases.append({
        "name": "noise-words",
        "trouble": "Rounded to f32, a word of all ones stands for 1, and a word of zeros for 0: the noise is infinite.",
        "issue": "https://github.com/sgl-project/sglang/issues/25106",
        "kind": "noise",
        "files": {"words": corpus.file("noise-words.words", words)},
        "rows": len(pairs),
        "expected": {"gamma": " ".join("%08x" % gamma for gamma in gammas)},
        "outcomes": [{"rows": [0, len(pairs) - 1], "finite": True}],
    })
