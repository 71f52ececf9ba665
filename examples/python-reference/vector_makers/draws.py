# SPDX-License-Identifier: Apache-2.0
"""logits.json and without-replacement.json: draws from given logits."""

import math

from flash_sampling_reference.formats import f32_bits, f64_bits
from flash_sampling_reference.sample import draws, ranked, without_replacement
from flash_sampling_reference.score import INVALID, fix, score_bits, tau

from .inputs import Integers, hex32

ALL64 = (1 << 64) - 1
ALL32 = (1 << 32) - 1
LAST_SAMPLE = (1 << 24) - 1
TEMPERATURES = (0.0, 1e-4, 0.7, 1.0, 255.9)

DRAW = ("A draw is {token, scoreBits, runnerUp, runnerUpScoreBits, score, margin}: tokens as numbers or null, scoreBits "
        "64-bit two's complement, score and margin f64 bits; or {outcome: 'invalid' | 'all-masked'}. Draw i uses sample "
        "= firstSample + i.")


def address(source, i):
    """Extremes first, then ordinary addresses."""
    special = [(0, 0, 0), (ALL64, ALL32, ALL32), (1 << 32, 1, 0), (ALL32, 0, ALL32), (1 << 63, ALL32, 0)]
    return special[i] if i < len(special) else (source.bits(64), source.below(100), source.below(5000))


def address_json(a):
    return {"seed": "%016x" % a[0], "sequence": "%08x" % a[1], "position": "%08x" % a[2]}


def temperature_json(t):
    return {"T": "%016x" % f64_bits(t), "tau": "%08x" % tau(t)}


def rows():
    """(name, logits as floats or f32 patterns)"""
    source = Integers("logits rows")
    inf, nan = math.inf, 0x7FC00000
    plain = [source.value(3) for _ in range(41)]
    masked = [(-inf if source.below(3) else v) for v in plain]
    out = [
        ("plain", plain),
        ("flat, 64 equal logits", [0.0] * 64),
        ("some masked", masked),
        ("masked at both ends", [-inf] * 5 + plain[:9] + [-inf] * 6),
        ("all masked", [-inf] * 17),
        ("all masked, one token", [-inf]),
        ("one allowed", [-inf] * 12 + [-7.25] + [-inf] * 9),
        ("one allowed at -3e38", [-inf, -3e38, -inf]),
        ("two allowed", [-inf] * 12 + [-7.25] + [-inf] * 9 + [-8.0]),
        ("one token", [1.25]),
        ("NaN", plain[:6] + [nan] + plain[6:9]),
        ("negative NaN", plain[:3] + [0xFF800001]),
        ("+inf", plain[:6] + [inf] + plain[6:9]),
        ("+inf, the rest masked", [-inf, -inf, inf, -inf]),
        ("NaN, the rest masked", [nan] + [-inf] * 7),
        ("NaN and +inf", [inf, nan, 0.0]),
        ("huge", [3e38, -3e38, 3e38, 0.0, -3e38]),
        ("huge and its opposite", [3e38, -3e38]),
        ("huge negative only", [-3e38] * 6),
        ("saturated ties", [1.0, 2.0 ** 30, 2.0 ** 31, 3e38, 2.0 ** 30]),
        ("subnormals and zeros", [0x00000001, 0x807FFFFF, 0x00000000, 0x80000000, 0x007FFFFF, 0x00800000, 0x80800000]),
        ("below one step of Z", [2.0 ** -33, -(2.0 ** -33), 2.0 ** -32, -(2.0 ** -32), 0.0]),
        ("exact ties at the top", [0.5, 3.0, -1.0, 3.0, 3.0, 2.0]),
        ("exact ties, masked between", [3.0, -inf, 3.0, -inf, 3.0]),
        ("neighbours", [f32_bits(1.0) + d for d in (-1, 0, 1, 2, 1, 0)]),
        ("65 tokens", [source.value(2) for _ in range(65)]),
        ("256 tokens", [source.value(4) for _ in range(256)]),
    ]
    return [(name, [v if isinstance(v, int) else f32_bits(v) for v in values]) for name, values in out]


def logits_file():
    source = Integers("logits addresses")
    cases, n = [], 0
    for name, bits in rows():
        zs = [fix(b) for b in bits]
        calls = []
        for t in TEMPERATURES if len(bits) < 100 else (0.7, 1.0):
            a = address(source, n % 11)
            samples = 1 + n % 3
            first = (0, 5, LAST_SAMPLE - samples + 1)[n // 3 % 3]
            n += 1
            dead = INVALID in zs or all(b == 0xFF800000 for b in bits)
            if dead:
                samples = 1
            calls.append({**temperature_json(t), **address_json(a), "firstSample": "%08x" % first, "samples": samples,
                          "draws": draws(zs, tau(t), *a, samples, first)})
        cases.append({"name": name, "V": len(bits), "logits": hex32(bits), "calls": calls})
    return {"about": "Draws from given f32 logits (bits), purpose 0. " + DRAW, "cases": cases}


def without_replacement_file():
    source = Integers("without replacement")
    inf = math.inf
    plain = [source.value(3) for _ in range(50)]
    cases = []
    for name, values, ks in (
            ("plain", plain, (1, 2, 5, 50)),
            ("masked", [(v if i % 3 else -inf) for i, v in enumerate(plain)], (3, 33)),
            ("ties", [1.0, 2.0, 2.0, 1.0, 2.0, 0.0], (4, 6)),
            ("saturated", [3e38, 2e38, -3e38, 1e38, -1e38], (5,)),
            ("one token", [4.0], (1,))):
        bits = [f32_bits(v) for v in values]
        zs = [fix(b) for b in bits]
        for k in ks:
            for t in (0.0, 0.7, 255.9):
                a = address(source, len(cases) % 8)
                sample = (0, 1, LAST_SAMPLE)[len(cases) % 3]
                got = without_replacement(zs, tau(t), *a, sample, k)
                assert len(got) == k and got == ranked(zs, tau(t), *a, sample)[:k]
                cases.append({"name": name, "logits": hex32(bits), **temperature_json(t), **address_json(a),
                              "sample": "%08x" % sample, "k": k, "tokens": [v for _, v in got],
                              "scoreBits": " ".join(score_bits(s) for s, _ in got)})
    return {"about": "Draws without replacement: the k tokens of the largest S of one draw from given f32 logits, in order. "
                     "k never exceeds the number of unmasked tokens.", "cases": cases}
