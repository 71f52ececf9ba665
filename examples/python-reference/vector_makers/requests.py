# SPDX-License-Identifier: Apache-2.0
"""request.json"""

from flash_sampling_reference import request
from flash_sampling_reference.score import tau

from .inputs import Integers, hex32

ALL32 = (1 << 32) - 1


def requests_list():
    source = Integers("request")
    row = lambda **k: {**dict(seed=0, sequence=0, position=0, tau=0, first=0, purpose=0), **k}
    yield 1, [row()]
    yield 1 << 24, [row(seed=(1 << 64) - 1, sequence=ALL32, position=ALL32, tau=ALL32)]
    yield 1, [row(seed=0x0123456789ABCDEF, sequence=7, position=42, tau=tau(0.7), first=(1 << 24) - 1)]
    yield 4, [row(purpose=p, tau=tau(1.0), first=3) for p in (0, 3, 5)]
    yield 2, [row(purpose=p, tau=tau(0.5)) for p in (1, 7, 254)]
    for rows in (2, 5):
        yield rows, [row(seed=source.bits(64), sequence=i, position=source.below(4096), tau=source.bits(32),
                         first=source.below(1 << 20)) for i in range(rows)]


def malformed():
    good = request.write(2, [dict(seed=1 << 40, sequence=1, position=2, tau=3, first=4, purpose=0)] * 2)

    def change(*pairs):
        words = list(good)
        for at, value in pairs:
            words[at] = value
        return words

    yield "magic", change((0, 0x31515247))
    yield "magic in the other byte order", change((0, 0x46525131))
    yield "words in total, one less", change((1, 47))
    yield "words in total of one row", change((1, 32))
    yield "words in total of three rows", change((1, 64))
    yield "rows, one more", change((2, 3))
    yield "rows, one less", change((2, 1))
    yield "rows that agree modulo 2^32 only", change((2, 0x10000002))
    yield "three rows announced, two there", change((1, 64), (2, 3))
    yield "one row announced, two there", change((1, 32), (2, 1))
    yield "cut short by a word", good[:-1]
    yield "header only", good[:16]
    yield "half a header", good[:8]
    yield "nothing", []
    yield "no samples", change((3, 0))
    yield "2^24 + 1 samples", change((3, (1 << 24) + 1))
    yield "samples 2^32 - 1", change((3, ALL32))
    yield "first sample too high", change((21, (1 << 24) - 1))
    yield "first sample too high in the second row", change((37, (1 << 24) - 1))
    yield "first sample that wraps", change((21, ALL32))
    yield "purpose 256", change((22, 256))
    yield "purpose 255, whose low purpose would be 256", change((22, 255))
    for at in range(4, 16):
        yield "reserved header word %d" % at, change((at, 1))
    for at in range(7, 16):
        yield "reserved word %d of row 0" % at, change((16 + at, 0x80000000))
        yield "reserved word %d of row 1" % at, change((32 + at, 1))


def request_file():
    good = []
    for samples, rows in requests_list():
        words = request.write(samples, rows)
        assert request.read(request.from_bytes(request.to_bytes(words))) == (samples, rows)
        good.append({
            "samples": samples,
            "rows": [{"seed": "%016x" % r["seed"], "sequence": "%08x" % r["sequence"], "position": "%08x" % r["position"],
                      "tau": "%08x" % r["tau"], "firstSample": "%08x" % r["first"], "purpose": r["purpose"]} for r in rows],
            "words": hex32(words)})
    good[0]["bytes"] = request.to_bytes(request.write(*next(requests_list()))).hex()
    bad = []
    for why, words in malformed():
        try:
            request.read(words)
        except request.BadRequest:
            bad.append({"why": why, "words": hex32(words)})
        else:
            raise AssertionError("accepted: " + why)
    return {"about": "Requests. good: fields -> u32 words (as values, in order; the first also as the bytes they make). malformed: "
                     "words that a reader refuses.", "good": good, "malformed": bad}
