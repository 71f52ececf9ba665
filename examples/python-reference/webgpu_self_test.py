# SPDX-License-Identifier: Apache-2.0
"""Write gpu/webgpu/self-test-answers.ts: what a device must answer before it may sample.

    python3 webgpu_self_test.py            write the file
    python3 webgpu_self_test.py --check    write nothing; exit 1 when the file differs

The inputs are made twice, here and in gpu/webgpu/self-test-inputs.ts, by the same few integer operations. So the package
carries answers alone. What each input is for stands there.
"""

import argparse
import pathlib
import sys

from flash_sampling_reference.head import Head
from flash_sampling_reference.sample import draws
from flash_sampling_reference.score import MASK, fix

M32 = 0xFFFFFFFF

# name, dtype, V, D, G
HEADS = [
    ("bf16", "bf16", 133, 1100, 0), ("f16", "f16", 133, 1100, 0), ("f32", "f32", 133, 590, 0),
    ("int8", "int8", 77, 2200, 2200), ("int8 groups", "int8", 133, 256, 128), ("int8 narrow", "int8", 133, 1088, 544),
]
LOGITS_V = 517
CLASSES = {"bf16": (30, 17), "f16": (12, 14), "f32": (18, 11), "int8": (3, 2)}
LAST_BIT = {"bf16": 1 << 16, "f16": 1 << 13, "f32": 1}
# token 71's last weight is 2^-NEAR of its others, tokens 7 and 70 have 2^-20: their logits differ by one unit in the last place
NEAR = {"bf16": 14, "f16": 14, "f32": 15}
SCALES = (0, 0, 26, -18, 0, 0)
SAMPLES = 12
# (input row, tau) of the draws at T = 0 and of those with noise
HEAD_GREEDY = [(0, 0), (1, 0), (2, 0), (3, 0)]
HEAD_NOISY = [(4, 50 << 24), (5, 120 << 24), (2, 0xFFE66666), (3, 1 << 23)]
LOGITS_GREEDY = [(row, 0) for row in range(7)]
LOGITS_NOISY = [(0, 5 << 24), (1, 0xFFE66666), (6, 1 << 24)]


def word(stream, index):
    """The finaliser of MurmurHash3 (Appleby) on a counter."""
    x = (index * 0x9E3779B1 + stream * 0x85EBCA77) & M32
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & M32
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & M32
    return x ^ (x >> 16)


def operand_class(dtype, k):
    a, b = CLASSES[dtype]
    return (0, a, 0, -a, 0, b, 0, -b)[((k >> 1) + (k >> 5)) & 7]


def number(fmt, sign, exponent, fraction):
    """Bits of a number in the format, the rest of its fraction cut off; f16 has limits."""
    if fmt != "f16":
        bits = sign << 31 | (exponent + 127) << 23 | fraction
        return bits >> 16 if fmt == "bf16" else bits
    fraction >>= 13
    exponent = min(exponent, 15)
    if exponent >= -14:
        return sign << 15 | (exponent + 15) << 10 | fraction
    return sign << 15 | (1024 | fraction) >> min(31, -14 - exponent)


def hidden_word(d, h, k):
    if k & 1 and not k & 4:
        k -= 1                                     # pairs of equal columns, for weights that cancel
    return word(1, h * d + k)


def hidden_value(dtype, d, h, k):
    """f32 bits."""
    w = hidden_word(d, h, k)
    exponent = -2 + (w >> 23 & 3) + operand_class(dtype, k) + SCALES[h]
    fmt = "bf16" if dtype == "int8" else dtype
    bits = number(fmt, w >> 31, exponent, w & 0x7FFFFF)
    if fmt == "bf16":
        return bits << 16
    if fmt == "f32":
        return bits
    size = bits & 0x7FFF
    if size < 1024:                                # subnormal: size * 2^-24
        if size == 0:
            return bits << 16
        shift = size.bit_length() - 1
        return (bits & 0x8000) << 16 | (127 - 24 + shift) << 23 | ((size << (23 - shift)) & 0x7FFFFF)
    return (bits & 0x8000) << 16 | ((size << 13) + (112 << 23))


def aligned_row(v, rows):
    """The hidden row whose signs a token has, or None."""
    if v in (7, 70, 71):
        return 0
    return 1 if v == rows - 1 else None


def weight(dtype, rows, d, v, k):
    source = 7 if v in (70, 71) else v
    w = word(0, source * d + k)
    h = aligned_row(v, rows)
    last = k == d - 1
    if h is not None:
        sign = hidden_word(d, h, k) >> 31
        if dtype == "int8":
            size = 127 - (w >> 28)
            if last:
                size = 1 if v == 71 else 0
            return -size & 255 if sign else size
        exponent = -1 - operand_class(dtype, k)
        if last:
            exponent -= NEAR[dtype] if v == 71 else 20
        return number(dtype, sign, exponent, w & 0x7FFFFF)
    cancels = v % 4 == 1 and k & 1
    if cancels:
        w = word(0, source * d + k - 1)
    if dtype == "int8":
        return w >> 24 ^ (255 if cancels else 0)
    if cancels:
        w ^= 0x80000000 ^ LAST_BIT[dtype]
    return number(dtype, w >> 31, -4 + (w >> 23 & 3) - operand_class(dtype, k), w & 0x7FFFFF)


def scale(groups, v, group):
    w = word(2, (7 if v in (70, 71) else v) * groups + group)
    return (127 - 10 + (w >> 23 & 3)) << 23 | w & 0x7FFFFF


def logit(row, v):
    w = word(4, row * LOGITS_V + v)
    special = {0: {3: 0x41A00000, 260: 0x41A00000, 516: 0x41A00001}, 3: {300: 0x7FC00000}, 4: {516: 0x7F800000}, 5: {258: 0x3F800000}}
    if v in special.get(row, {}):
        return special[row][v]
    if row == 1:
        return 0xFF800000 if w % 5 == 0 else w & 0x807FFFFF | (127 + 22 + (w >> 23 & 15)) << 23
    if row in (2, 5):
        return 0xFF800000
    if row == 6:
        return w & 0x807FFFFF                      # zeros and subnormals
    return w & 0x807FFFFF | (127 - 28 + (w >> 23 & 31)) << 23


def address(index):
    """What names the draws of known row `index`."""
    a = [word(3, index * 5 + i) for i in range(5)]
    return {"seed": a[1] << 32 | a[0], "sequence": a[2], "position": a[3], "first": a[4] & 0xFFFF00}


def line(draw):
    if "outcome" in draw:
        return draw["outcome"]
    if draw["runnerUp"] is None:
        return "%d %s" % (draw["token"], draw["scoreBits"])
    return "%d %s %d %s" % (draw["token"], draw["scoreBits"], draw["runnerUp"], draw["runnerUpScoreBits"])


def answers(zs, greedy, noisy):
    lines = []
    for index, (row, tau) in enumerate(greedy + noisy):
        made = draws(zs[row], tau, samples=1 if index < len(greedy) else SAMPLES, **address(index))
        lines += [line(draw) for draw in made]
    return lines


def head_answers(dtype, rows, d, g):
    weights = [[weight(dtype, rows, d, v, k) for k in range(d)] for v in range(rows)]
    scales = [[scale(d // g, v, i) for i in range(d // g)] for v in range(rows)] if g else None
    head = Head(dtype, weights, scales, g)
    hidden = [[hidden_value(dtype, d, h, k) for k in range(d)] for h in range(6)]
    zs = [head.row_z(row) for row in hidden]
    assert zs[0][7] == zs[0][70] < zs[0][71]
    assert max(range(rows), key=lambda v: zs[1][v]) == rows - 1, "the last token must win row 1"
    assert max(range(rows), key=lambda v: zs[0][v]) == 71, "71 must win row 0, 7 and 70 come after it"
    assert any(abs(z) == 1 << 62 for z in zs[2]) and any(abs(z) != 1 << 62 for z in zs[2]), "some of row 2 must be clamped"
    assert any(z < 0 for z in zs[4]) and any(z > 0 for z in zs[4])
    if not g:
        ulps = abs(int(head.logit_bits(71, head.prepare(hidden[0]))) - int(head.logit_bits(7, head.prepare(hidden[0]))))
        assert ulps == 1, ulps
    return answers(zs, HEAD_GREEDY, HEAD_NOISY)


def logits_answers():
    zs = [[fix(logit(row, v)) for v in range(LOGITS_V)] for row in range(7)]
    assert all(z == MASK for z in zs[2])
    return answers(zs, LOGITS_GREEDY, LOGITS_NOISY)


def text():
    problems = [(name, head_answers(*shape)) for name, *shape in HEADS] + [("logits", logits_answers())]
    lines = [
        "/**",
        " * Made by examples/python-reference/webgpu_self_test.py: a second implementation of docs/spec.md, not this package, says what",
        " * is right. A line a draw: token, S, runner-up, its S; or what a row without a token is.",
        " */",
        "export const KNOWN_BITS = {",
    ]
    for name, draws_of in problems:
        lines.append("  %s: [" % (name if name.isalnum() else '"%s"' % name))
        lines += ['    "%s",' % draw for draw in draws_of]
        lines.append("  ],")
    return "\n".join(lines + ["} as const;", ""])


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    path = here.parent.parent / "gpu" / "webgpu" / "self-test-answers.ts"
    data = text()
    if not parser.parse_args().check:
        path.write_text(data, encoding="ascii")
        return 0
    agrees = path.is_file() and path.read_text(encoding="ascii") == data
    print("agrees" if agrees else "differs: " + path.name)
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
