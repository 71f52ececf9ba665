# SPDX-License-Identifier: Apache-2.0
"""sample.json and refused.json: whole problems, from weights and unrounded hidden states to draws."""

from flash_sampling_reference.formats import f32_bits
from flash_sampling_reference.head import Head
from flash_sampling_reference.operands import Refused
from flash_sampling_reference.sample import draws
from flash_sampling_reference.score import tau

from .draws import DRAW, LAST_SAMPLE, TEMPERATURES, address, address_json, temperature_json
from .inputs import Integers, encoded, hex32, hex64, hexes

# dtype, V, D, G, rows, what
SHAPES = [
    ("f32", 1, 1, 0, 1, ""), ("f32", 2, 3, 0, 2, ""), ("f32", 17, 33, 0, 2, ""), ("f32", 33, 64, 0, 2, "duplicates"),
    ("f32", 70, 31, 0, 3, ""), ("f32", 5, 140, 0, 1, "small operands"),
    ("bf16", 1, 5, 0, 1, ""), ("bf16", 3, 1, 0, 2, ""), ("bf16", 31, 32, 0, 2, ""), ("bf16", 64, 65, 0, 2, "duplicates"),
    ("bf16", 70, 140, 0, 2, ""), ("bf16", 7, 40, 0, 2, "small operands"), ("bf16", 6, 34, 0, 1, "large"),
    ("f16", 1, 32, 0, 1, ""), ("f16", 4, 2, 0, 2, ""), ("f16", 32, 63, 0, 2, ""), ("f16", 63, 97, 0, 2, "duplicates"),
    ("f16", 9, 128, 0, 2, "small operands"),
    ("int8", 1, 4, 4, 1, ""), ("int8", 8, 7, 7, 2, ""), ("int8", 65, 64, 32, 2, "duplicates"), ("int8", 34, 128, 64, 2, ""),
    ("int8", 70, 96, 32, 2, ""), ("int8", 12, 140, 140, 2, ""), ("int8", 5, 64, 32, 1, "saturating"),
]


def make(index, dtype, v, d, group, row_count, what):
    source = Integers("problem %d" % index)
    hidden = [[f32_bits(source.wide_value(-5, 2)) for _ in range(d)] for _ in range(row_count)]
    scales = None
    if dtype == "int8":
        weights = [[source.bits(8) for _ in range(d)] for _ in range(v)]
        low, high = (28, 34) if what == "saturating" else (-9, -7)
        scales = [[f32_bits(abs(source.wide_value(low, high))) for _ in range(d // group)] for _ in range(v)]
    else:
        weights = [encoded([source.value(-1) for _ in range(d)], dtype) for _ in range(v)]
    if what == "duplicates":                     # other rows repeat the best one of each hidden row: exact ties at T = 0
        head = Head(dtype, weights, scales, group)
        for row in hidden:
            zs = head.row_z(row)
            best = zs.index(max(zs))
            for i in (source.below(v), source.below(v)):
                weights[i] = list(weights[best])
                if scales:
                    scales[i] = list(scales[best])
    if what == "small operands":                 # small against small, against large, and large against small
        low, high, large = {"bf16": (-60, -50, (25, 30)), "f32": (-44, -36, (12, 15)), "f16": (-26, -12, (12, 15))}[dtype]
        hidden = [[f32_bits(source.wide_value(*(large if k % 4 == 0 else (low, high)))) for k in range(d)]
                  for _ in range(row_count)]
        weights = [encoded([source.wide_value(*(large if k % 4 == 1 else (low, high))) for k in range(d)], dtype)
                   for _ in range(v)]
    if what == "large":
        weights = [encoded([source.wide_value(40, 60) for _ in range(d)], dtype) for _ in range(v)]
        hidden = [[f32_bits(source.wide_value(-45, -30)) for _ in range(d)] for _ in range(row_count)]
    return source, weights, scales, hidden


def problem(index, shape):
    dtype, v, d, group, row_count, what = shape
    source, weights, scales, hidden = make(index, *shape)
    head = Head(dtype, weights, scales, group)
    out = {"name": "%s V=%d D=%d %s" % (dtype, v, d, what), "dtype": dtype, "V": v, "D": d}
    if dtype == "int8":
        out["G"] = group
    out["weights"] = [hexes(row, dtype) for row in weights]
    if dtype == "int8":
        out["scales"] = [hex32(row) for row in scales]
    out["hidden"] = [hex32(row) for row in hidden]
    prepared = [head.prepare(row) for row in hidden]
    if dtype != "int8":
        out["logits"] = [hex32(head.logit_bits(t, xs) for t in range(v)) for xs in prepared]
    zs = [[head.z(t, xs) for t in range(v)] for xs in prepared]
    out["Z"] = [hex64(row) for row in zs]
    out["calls"] = []
    for i, t in enumerate(TEMPERATURES):
        samples = (1, 1, 3, 2, 1)[i]
        first = LAST_SAMPLE + 1 - samples if (index + i) % 4 == 3 else (index + i) % 4
        rows = []
        for r in range(row_count):
            a = address(source, (index + 2 * i + r) % 9)
            rows.append({**address_json(a), "draws": draws(zs[r], tau(t), *a, samples, first)})
        out["calls"].append({**temperature_json(t), "samples": samples, "firstSample": "%08x" % first, "rows": rows})
    return out


def sample_file():
    return {
        "about": "Whole problems. weights: V rows of bits in the dtype (int8: bytes); scales: V rows of f32 bits; hidden: rows "
                 "of f32 bits, not yet rounded to the operand format. logits (f32 bits) and Z are intermediate results, one "
                 "list a hidden row. A call has one T, and for each hidden row its address and draws, purpose 0. " + DRAW,
        "problems": [problem(i, shape) for i, shape in enumerate(SHAPES)],
    }


def refused_file():
    one16, one32 = {"bf16": 0x3F80, "f16": 0x3C00}, f32_bits(1.0)
    cases = []

    def add(name, dtype, weights, hidden, scales=None, group=None):
        case = {"name": name, "dtype": dtype, "weights": [hexes(w, dtype) for w in weights], "hidden": [hex32(h) for h in hidden]}
        if dtype == "int8":
            case.update(G=group, scales=[hex32(s) for s in scales])
        try:
            head = Head(dtype, weights, scales, group)
            for r, row in enumerate(hidden):
                head.prepare(row, r)
            case["result"] = "ok"
        except Refused as e:
            case.update(result=e.reason)
            if e.row is not None and "finite" in e.reason and "scale" not in e.reason:
                case.update(row=e.row, column=e.column)
        cases.append(case)

    for dtype, inf, nan in (("bf16", 0x7F80, 0x7FC0), ("f16", 0x7C00, 0x7E00), ("f32", 0x7F800000, 0x7FC00000)):
        one = one16.get(dtype, one32)
        for bad in (inf, nan, inf | 1 << (31 if dtype == "f32" else 15)):
            add("weight", dtype, [[one] * 3, [one, one, bad]], [[one32] * 3])
        for bad in (0x7F800000, 0xFF800000, 0x7FC00000):
            add("hidden", dtype, [[one] * 3], [[one32] * 3, [one32, bad, one32]])
        for edge in (65504.0, 65519.996, 65520.0, -65520.0, 1e30):
            add("hidden near the f16 limit", dtype, [[one] * 2], [[f32_bits(edge), one32]])
        for edge in (0x7F7F7FFF, 0x7F7F8000, 0xFF7F8000, 0x7F7FFFFF):
            add("hidden near the bf16 limit", dtype, [[one] * 2], [[one32, edge]])
    for scale in (0, 0x80000000, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0xBF800000):
        add("scale", "int8", [[1, 2]], [[one32] * 2], [[scale]], 2)
    for d, g in ((64, 32), (64, 64), (64, 16), (96, 64), (40, 40), (40, 20), (33, 32)):
        add("group", "int8", [[1] * d], [[one32] * d], [[one32] * (d // g)], g)
    add("range", "bf16", [[0x5F00]], [[f32_bits(2.0 ** 62)]])
    add("range", "bf16", [[0x5F00]], [[f32_bits(2.0 ** 63)]])
    add("range after rounding up", "bf16", [[0x5F00]], [[f32_bits(2.0 ** 63) - 1]])
    add("range over the whole head", "f32", [[one32], [0x7F000000]], [[f32_bits(2.0)]])
    add("range with zeros", "f32", [[0x7F7FFFFF] * 4], [[0] * 4])
    add("range, 128 counts as below 2^8", "int8", [[0x80, 0x00]], [[f32_bits(2.0 ** 117)] * 2], [[one32]], 2)
    add("range, 128 counts as below 2^8", "int8", [[0x80, 0x00]], [[f32_bits(2.0 ** 118)] * 2], [[one32]], 2)
    return {
        "about": "Heads and hidden states that are errors, beside ones that are not. result is 'ok' or the reason in words (the "
                 "words are free, the place is not): row and column, counted from 0, where the rule asks for the place.",
        "cases": cases,
    }
