# SPDX-License-Identifier: Apache-2.0
"""rounding.json, fix.json, tau.json, range.json, report.json"""

import math

from flash_sampling_reference.formats import BF16, F16, F32, decode, encode, f32, f32_bits, f64, f64_bits
from flash_sampling_reference.operands import canonical, in_range
from flash_sampling_reference.score import INVALID, MASK, fix, fix_f64, report_margin, report_score, score, tau

from .inputs import Integers, hex32, hex64

NAN_FREE = "No NaN among the inputs; infinities and overflow to infinity are included."


def neighbours(bits):
    return [b for b in (bits - 1, bits, bits + 1) if b >= 0]


def both_signs(bits):
    return [b | s for b in bits for s in (0, 0x80000000)]


def rounding():
    source = Integers("rounding")
    to_bf16 = []
    for e in (0, 1, 2, 70, 71, 100, 127, 128, 200, 253, 254):
        for high in (0, 1, 2, 0x7E, 0x7F):               # the 7 kept bits
            base = e << 23 | high << 16
            to_bf16 += [base, base | 1, base | 0x7FFF, base | 0x8000, base | 0x8001, base | 0xFFFF]
    to_bf16 += [0x7F800000] + [source.below(0x7F800000) for _ in range(40)]
    to_f16 = [0, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000]
    for h in (1, 2, 3, 4, 0x1FF, 0x200, 0x3FE, 0x3FF, 0x400, 0x401, 0x7FF, 0x800, 0x3BFF, 0x3C00, 0x3C01, 0x7BFE, 0x7BFF):
        here, after = decode(h, F16), decode(h + 1, F16) if h < 0x7BFF else 65536.0
        to_f16 += neighbours(f32_bits(here)) + neighbours(f32_bits((here + after) / 2))   # exact values and ties
    to_f16 += neighbours(f32_bits(2.0 ** -25)) + neighbours(f32_bits(65520.0)) + neighbours(f32_bits(65536.0))
    to_f16 += [f32_bits(abs(source.wide_value(-26, 16))) for _ in range(40)]
    halves = sorted({b for h in (0, 0x400, 0x800, 0x3C00, 0x7800, 0x7C00) for b in neighbours(h) if b <= 0x7C00}
                    | {1 << i for i in range(10)} | {(2 << i) - 1 for i in range(10)}
                    | {source.below(0x7C00) for _ in range(40)})
    halves += [h | 0x8000 for h in halves]
    to_bf16, to_f16 = both_signs(to_bf16), both_signs(to_f16)
    small = {}
    for name, fmt, e in (("bf16", BF16, -56), ("f32", F32, -40)):
        # f32 patterns around the threshold; for bf16 they are rounded first, so the half place below it matters
        step = 0x10000 if name == "bf16" else 1
        t = f32_bits(2.0 ** e)
        list_ = [0, 1, 0x00800000, t - 2 * step, t - step, t - step // 2 - 1, t - step // 2, t - step // 2 + 1,
                 t - 1, t, t + 1, t + step, t >> 1, t + 0x00800000]
        list_ = both_signs(sorted({b for b in list_ if b >= 0}))
        operand = [canonical(decode(encode(f32(b), fmt), fmt), name) for b in list_]
        small[name] = {"f32": hex32(list_), "operand": hex32(f32_bits(x) for x in operand)}
    return {
        "about": "Roundings between formats, lists of equal length. toBf16: f32 -> bf16; toF16: f32 -> f16 (nearest, ties "
                 "to even, subnormals kept); fromF16: f16 -> f32 (exact). operands: an f32 hidden value -> the operand "
                 "that the dot product reads, as an f32 pattern, in a bf16 or int8 head (rounded, then +0 below 2^-56) "
                 "and in an f32 head (+0 below 2^-40). " + NAN_FREE,
        "toBf16": {"f32": hex32(to_bf16), "bf16": " ".join("%04x" % encode(f32(b), BF16) for b in to_bf16)},
        "toF16": {"f32": hex32(to_f16), "f16": " ".join("%04x" % encode(f32(b), F16) for b in to_f16)},
        "fromF16": {"f16": " ".join("%04x" % h for h in halves), "f32": hex32(f32_bits(decode(h, F16)) for h in halves)},
        "operands": small,
    }


def z_text(z):
    return "invalid" if z is INVALID else hex64([z])


def fix_file():
    bits = [s << 31 | e << 23 | f for e in range(256) for f in (0, 1, 0x7FFFFF) for s in (0, 1)]
    bits += [0x7FC00000, 0xFFC00000]
    source = Integers("fix")
    bits += both_signs((90 + source.below(70)) << 23 | source.bits(23) for _ in range(40))
    tie = f64_bits(f32(0x3FC00001))          # an f32, then ties and near-ties above and below it
    wide = [0, 1 << 63, tie, tie + 0x10000000, tie + 0x0FFFFFFF, tie + 0x10000001, tie - 0x10000000,
            f64_bits(1e-300), f64_bits(-30.1), f64_bits(0.1), f64_bits(math.inf), f64_bits(-math.inf), 0x7FF8000000000000,
            f64_bits(3e38), f64_bits(-3e38), f64_bits(2.0 ** 30), f64_bits(math.nextafter(2.0 ** 30, 0)),
            f64_bits(2.0 ** -32), f64_bits(math.nextafter(2.0 ** -32, 0)), f64_bits(1e39), f64_bits(-1e39)]
    return {
        "about": "fix: f32 logit bits[i] -> z[i], Q31.32 as 64-bit two's complement, or 'invalid'. 8000000000000000 is MASK. "
                 "fromF64: given f64 logits, rounded once to f32 first (so -1e39 becomes -inf, hence MASK).",
        "bits": hex32(bits), "z": " ".join(z_text(fix(b)) for b in bits),
        "fromF64": {"bits": hex64(wide), "z": " ".join(z_text(fix_f64(f64(b))) for b in wide)},
    }


def tau_file():
    u = 2.0 ** -24
    values = [0.0, -0.0, 5e-324, 1e-45, 1e-10, math.nextafter(0.5 * u, 0), 0.5 * u, math.nextafter(0.5 * u, 1),
              0.49999999999999994 * u, u, math.nextafter(1.5 * u, 0), 1.5 * u, math.nextafter(1.5 * u, 1), 2.5 * u,
              1e-6, 1e-4, 1e-3, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, math.nextafter(1.0, 2), 1.1, 1.5, 2.0, 10.0,
              100.0, 127.99999999, 128.0, 200.3, 255.0, 255.9, 255.99999, 255.99999998, 255.99999999,
              math.nextafter(256.0, 0), 256.0 - 0.5 * u, 256.0 - u, 256.0 - 1.5 * u,
              (2 ** 31 + 0.5) * u, (2 ** 31 + 0.5 - 2.0 ** -21) * u]
    source = Integers("tau")
    values += [math.ldexp(source.bits(53), -53 + source.below(9)) for _ in range(20)]
    refused = [256.0, 1e300, -5e-324, -1.0, math.inf, -math.inf, math.nan]
    return {
        "about": "Temperature: f64 bits of T[i] -> tau[i]. refused: f64 bits that are no temperature.",
        "T": hex64(f64_bits(v) for v in values), "tau": hex32(tau(v) for v in values),
        "refused": hex64(f64_bits(v) for v in refused),
    }


def range_file():
    cases = []
    below = lambda v: math.nextafter(v, 0) if v > 2.0 ** 200 else f32(f32_bits(v) - 1)
    for d in (1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1024, 1025, 4096, 65536, 65537):
        c = (d - 1).bit_length()
        for e_w in (-30, 1, 16, 63, 64, 100, 127):
            x = 2.0 ** (126 - c - e_w)        # E(2^(e-1)) = e: w = 2^(e_w - 1) has E = e_w, x has E = 127 - c - e_w
            if 2.0 ** -60 < x < 2.0 ** 126:
                w = 2.0 ** (e_w - 1)
                top = below(2 * x)
                cases += [(w, x, d), (below(2 * w), top, d), (w, 2 * x, d), (2 * w, x, d), (below(w), 2 * x, d)]
    cases += [(0.0, f32(0x7F7FFFFF), 999), (f32(0x7F7FFFFF), 0.0, 999), (0.0, 0.0, 1), (128.0, 2.0 ** 112, 64),
              (128.0, 2.0 ** 112, 128), (127.0, 2.0 ** 113, 64), (127.0, 2.0 ** 113, 65), (65504.0, 65504.0, 4096),
              (f32(0x7F7FFFFF), f32(0x7F7FFFFF), 1), (f32(0x7F7FFFFF), 0.25, 1), (f32(0x7F7FFFFF), 0.5, 1),
              (f32(0x7F7FFFFF), 2.0 ** -40, 1 << 20)]
    return {
        "about": "The range check: f32 bits of max |w| and of max |x| (rounded row), D -> whether the row passes. A case is "
                 "one string: w x D (8 hex digits each), then pass or refuse.",
        "cases": ["%08x %08x %08x %s" % (f32_bits(w), f32_bits(x), d, "pass" if in_range(w, x, d) else "refuse")
                  for w, x, d in cases],
    }


def report_file():
    source = Integers("report")
    top = 1 << 62
    ss = [0, 1, -1, 1 << 32, -(1 << 32), (1 << 53) + 1, (1 << 53) + 3, -(1 << 53) - 1, (1 << 62) - 1, top, -top,
          score(top, 0xA5C00000, 0xFFFFFFFF), (1 << 60) + 64, (1 << 60) + 192]
    ts = [0, 1, 1678, 0x00B33333, 0x01000000, 0x02000000, 0xFFE66666, 0xFFFFFFFF]
    cases = [(s, t) for s in ss for t in (0, 0x01000000)] + [(1 << 34, t) for t in ts]
    cases += [(source.bits(64) // (1 << source.below(30)) - (1 << 33), source.bits(32)) for _ in range(40)]
    cases = [(s, t) for s, t in cases if -top <= s < (1 << 62) + (1 << 46)]
    margins = [(0, 0), (1, 0), (0, -1), (1 << 32, 5), (top, -top), (ss[11], -top), (top, top - 1), ((1 << 53) + 1, 0),
               ((1 << 53) + 1, -2), ((1 << 60) + 64, 0), ((1 << 60) + 192, 0), ((1 << 60) + 65, (1 << 60) - 9)]
    margins += [(a, a - b) for a, b in ((source.bits(50), source.bits(60) >> source.below(50)) for _ in range(30))]
    assert MASK not in (s for s, _ in cases)
    return {
        "about": "Numbers for people, f64 bits. score: S[i], tau[i] -> score[i]. margin: the winner's and the runner-up's S "
                 "-> margin[i]; the exact difference may need 64 unsigned bits.",
        "score": {"S": hex64(s for s, _ in cases), "tau": hex32(t for _, t in cases),
                  "score": hex64(f64_bits(report_score(s, t)) for s, t in cases)},
        "margin": {"winner": hex64(a for a, _ in margins), "runnerUp": hex64(b for _, b in margins),
                   "margin": hex64(f64_bits(report_margin(a, b)) for a, b in margins)},
    }


def score_file():
    """Products of gamma and tau on both sides of 2^63, which a signed multiplication gets wrong."""
    source = Integers("score")
    zs = [0, 1, -1, 1 << 32, -(1 << 62), 1 << 62, MASK]
    gammas = [0, 1, 1 << 18, (1 << 31) - 1, 1 << 31, 0xAFFAC8CD, (1 << 32) - 1]
    taus = [0, 1, 1 << 18, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    rows = [(z, g, t) for z in zs for g in gammas for t in taus]
    rows += [(source.bits(62) - (1 << 61), source.bits(32), source.bits(32)) for _ in range(60)]
    return {"about": "Scores: Z[i] (64-bit two's complement; 8000000000000000 is MASK), gamma[i], tau[i] -> S[i].",
            "Z": hex64([z for z, _, _ in rows]), "gamma": hex32([g for _, g, _ in rows]), "tau": hex32([t for _, _, t in rows]),
            "S": hex64([score(*row) for row in rows])}
