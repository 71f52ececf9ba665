# SPDX-License-Identifier: Apache-2.0
"""dot.json and int8.json"""

import math
from fractions import Fraction

from flash_sampling_reference.formats import FORMATS, decode, f32_bits, fl
from flash_sampling_reference.logit import LIMIT, clamp, dot_l32, lanes, scaled_group, sum_groups
from flash_sampling_reference.operands import canonical

from .inputs import Integers, encoded, hex32, hex64, hexes

LENGTHS = (1, 2, 3, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 255, 999)


# Orders that are wrong. They only label the cases that tell them apart.

def sequential(ws, xs):
    s = 0.0
    for w, x in zip(ws, xs):
        s = fl(s + fl(w * x))
    return s


def halving_tree(ws, xs):
    """The same lanes, but the tree adds lane j and lane j + n/2."""
    s = lanes(ws, xs)
    while len(s) > 1:
        s = [fl(a + b) for a, b in zip(s[:len(s) // 2], s[len(s) // 2:])]
    return s[0]


def round_exact(q):
    """A Fraction that is a multiple of a power of two -> f32, one rounding, ties to even."""
    if q == 0:
        return 0.0
    n, k = abs(q.numerator), q.denominator.bit_length() - 1
    drop = n.bit_length() - 24
    if drop > 0:
        n, rest = n >> drop, n & ((1 << drop) - 1)
        n += rest > 1 << (drop - 1) or (rest == 1 << (drop - 1) and n & 1)
        k -= drop
    return math.copysign(math.ldexp(n, -k), q)


def fused(ws, xs):
    """The right order, but without the rounding of the product."""
    s = [0.0] * 32
    for k, (w, x) in enumerate(zip(ws, xs)):
        s[k % 32] = round_exact(Fraction(s[k % 32]) + Fraction(w) * Fraction(x))
    return dot_l32(s, [1.0] * 32)


def double(ws, xs):
    """Summed exactly, rounded to f64, then to f32."""
    return fl(math.fsum(w * x for w, x in zip(ws, xs)))


WRONG = (("sequential", sequential), ("halving-tree", halving_tree), ("fused", fused), ("f64", double))


def dot_case(name, dtype, w_bits, x_bits):
    fmt = FORMATS[dtype]
    ws = [canonical(decode(b, fmt), dtype) for b in w_bits]
    xs = [canonical(decode(b, fmt), dtype) for b in x_bits]
    right = f32_bits(dot_l32(ws, xs))
    return {"name": name, "dtype": dtype, "D": len(ws), "w": hexes(w_bits, dtype), "x": hexes(x_bits, dtype),
            "logit": "%08x" % right,
            "differsFrom": [n for n, order in WRONG if f32_bits(order(ws, xs)) != right]}


def cancelling(source, dtype, d, top):
    """Large terms that nearly cancel, across lanes and inside them, with small ones between."""
    ws = [source.wide_value(0, top) for _ in range(d)]
    xs = [source.wide_value(0, top) for _ in range(d)]
    for k in range(d - 1):
        if k % 3 == 0:
            other = k + (1 if k % 2 else min(32, d - 1 - k))
            ws[other], xs[other] = -ws[k], xs[k] * (1 + 2.0 ** -9)
    return encoded(ws, dtype), encoded(xs, dtype)


def dot_file():
    cases = []
    for dtype in ("f32", "bf16", "f16"):
        source = Integers("dot " + dtype)
        for d in LENGTHS:
            if d < 999 or dtype != "f16":
                cases.append(dot_case("plain", dtype, encoded([source.value(0) for _ in range(d)], dtype),
                                      encoded([source.value(2) for _ in range(d)], dtype)))
            if 2 < d < 300:
                cases.append(dot_case("cancelling", dtype, *cancelling(source, dtype, d, 6 if dtype == "f16" else 12)))
        one = encoded([1.0], dtype)[0]
        cases.append(dot_case("alternating big", dtype, encoded([4096.0 * (-1) ** (k // 2) for k in range(66)], dtype),
                              encoded([4096.0 if k % 3 else 1.0 for k in range(66)], dtype)))
        cases.append(dot_case("negative zeros", dtype, encoded([-0.0] * 40, dtype), [one] * 40))
        cases.append(dot_case("exact zero", dtype, encoded([1.5, -1.5], dtype), [one] * 2))
        cases.append(dot_case("tie up", dtype, encoded([4096.0, 1.0], dtype) * 1, encoded([4096.0, 1.0], dtype)))
        # lane 0 meets column 32: 2^24 + 1 is a tie, and 2^24 + 1 + 1 depends on the order
        w = [0.0] * 65
        w[0], w[32], w[64], w[1] = 4096.0, 1.0, 1.0, 2.0
        x = [1.0] * 65
        x[0] = 4096.0
        cases.append(dot_case("ties in a lane", dtype, encoded(w, dtype), encoded(x, dtype)))
    # operands below the thresholds read as +0, the f16 subnormals do not
    small = [f32_bits(v) for v in (2.0 ** -41, -2.0 ** -41, 2.0 ** -40, 1e-40)]
    cases.append(dot_case("small operands", "f32", small, [f32_bits(1024.0)] * 4))
    cases.append(dot_case("small operands", "bf16", [0x2380, 0x237F, 0xA380, 0xA3FF, 0x0001], [0x4000] * 4 + [0x7F00]))
    cases.append(dot_case("subnormals", "f16", [0x0001, 0x8001, 0x03FF, 0x0001], [0x3C00, 0x0001, 0x03FF, 0x0200]))
    # (1 + 2^-12)^2 - 1 - 2^-11: both roundings give 0, a fused one 2^-24. Columns 0 and 32 share a lane.
    w, x = [0.0] * 33, [1.0] * 33
    w[0], x[0], w[32] = 1 + 2.0 ** -11, 1.0, -(1 + 2.0 ** -12)
    x[32] = 1 + 2.0 ** -12
    cases.append(dot_case("product rounding", "f32", encoded(w, "f32"), encoded(x, "f32")))
    count = {n: sum(n in c["differsFrom"] for c in cases) for n, _ in WRONG}
    assert all(c >= 5 for c in count.values())
    assert sum("fused" in c["differsFrom"] and c["dtype"] == "f32" for c in cases) == count["fused"]
    return {
        "about": "Dot products in the order L32: w and x are the operands' bits in the dtype (already rounded; the rule for "
                 "small operands still applies), logit the f32 bits. differsFrom names wrong ways that give other bits in "
                 "this case: sequential (one sum), halving-tree (lane j + lane j + n/2), fused (no rounding of the "
                 "product), f64 (summed exactly, rounded to f64, then to f32).",
        "differing": count,
        "cases": cases,
    }


def scaled_pairs():
    source = Integers("int8 scale")
    f = f32_bits
    pairs = [(0, f(1.0)), (0x80000000, f(1.0)), (f(1.0), f(1.0)), (f(-1.0), f(1.0)), (f(1.0), 0x00800000),
             (f(-1.0), 0x00800000), (f(-1.0), f(2.0 ** -33)), (f(1.0), f(2.0 ** -32)), (f(-1.5), f(2.0 ** -32)),
             (f(-1.0), f(0.1)), (f(1.0), f(0.1)), (f(-3.0), f(1e-9)), (f(2.0 ** 30), f(1.0)), (f(-2.0 ** 30), f(1.0)),
             (f(2.0 ** 29), f(1.9999999)), (f(2.0 ** 30) - 1, f(1.0)), (0x7F7FFFFF, 0x7F7FFFFF), (0xFF7FFFFF, 0x7F7FFFFF),
             (0x00800000, 0x00800000), (0x80800000, 0x00800000), (0x00800000, 0x7F7FFFFF), (f(-2.0 ** 100), f(2.0 ** -126))]
    # every shift around the ends: e_a + e_scale - 268 from -70 to +20, significands all ones
    for shift in list(range(-70, -60)) + list(range(-50, -44)) + list(range(-26, -20)) + [-1, 0, 1] + list(range(13, 20)):
        e = shift + 268 - 127
        for s in (0, 1):
            pairs.append((s << 31 | e << 23 | 0x7FFFFF, 127 << 23 | 0x7FFFFF))
            pairs.append((s << 31 | e << 23, 127 << 23))
    for shift in (47, 48, 63, 64, 65, 200, 240):           # left shifts past every register
        pairs.append((254 << 23 | 1, (shift + 14) << 23 | 1))
    pairs += [(source.bits(1) << 31 | (100 + source.below(60)) << 23 | source.bits(23),
               (90 + source.below(60)) << 23 | source.bits(23)) for _ in range(60)]
    return pairs


def int8_rows():
    source = Integers("int8 rows")
    shapes = [(1, 1), (7, 7), (33, 33), (45, 45), (64, 64), (64, 32), (96, 32), (128, 64), (192, 64), (160, 32), (256, 256),
              (96, 96)]
    rows = []
    for i, (d, g) in enumerate(shapes):
        ws = [source.bits(8) for _ in range(d)]
        ws[0] = 0x80
        xs = encoded([canonical(source.wide_value(-6, 3), "bf16") for _ in range(d)], "bf16")
        scales = [f32_bits(abs(source.wide_value(-9, -5 if i % 2 else 30))) for _ in range(d // g)]
        values = [float(b - 256 if b > 127 else b) for b in ws]
        hidden = [decode(b, FORMATS["bf16"]) for b in xs]
        sums = [f32_bits(dot_l32(values[k:k + g], hidden[k:k + g])) for k in range(0, d, g)]
        zs = [scaled_group(a, s) for a, s in zip(sums, scales)]
        rows.append({"D": d, "G": g, "w": hexes(ws, "int8"), "x": hexes(xs, "bf16"), "scales": hex32(scales),
                     "sums": hex32(sums), "zGroups": hex64(zs), "Z": hex64([sum_groups(zs)])})
    return rows


def int8_file():
    pairs = scaled_pairs()
    big, half, one = f32_bits(2.0 ** 31), f32_bits(2.0 ** 29), f32_bits(1.0)
    neg = 0x80000000
    lists = [[big, big, half | neg], [half | neg, big, big], [big | neg, big | neg, half], [half, half, half, half | neg],
             [big, big | neg, big | neg, big], [half, half, one, half | neg, half | neg],
             [half | neg, half | neg, one | neg, half], [one, big, one | neg, one | neg]]
    groups = []
    for sums in lists:
        zs = [scaled_group(a, one) for a in sums]
        groups.append({"sums": hex32(sums), "scales": hex32([one] * len(sums)), "zGroups": hex64(zs),
                       "Z": hex64([sum_groups(zs)]), "clampedOnlyAtTheEnd": hex64([clamp(sum(zs))])})
    assert sum(g["Z"] != g["clampedOnlyAtTheEnd"] for g in groups) >= 4 and LIMIT == 1 << 62
    return {
        "about": "int8 heads. scaled: f32 sum[i], f32 scale[i] -> zGroup[i]. groups: sums and scales of one weight row in "
                 "group order -> Z, clamped after each group (clampedOnlyAtTheEnd is the wrong answer). rows: weights (bytes, "
                 "two's complement), x (bf16 operands), one scale a group -> sums, zGroups, Z. Z are 64-bit two's complement.",
        "scaled": {"sum": hex32(a for a, _ in pairs), "scale": hex32(s for _, s in pairs),
                   "zGroup": hex64(scaled_group(a, s) for a, s in pairs)},
        "groups": groups,
        "rows": int8_rows(),
    }
