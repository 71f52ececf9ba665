# SPDX-License-Identifier: Apache-2.0
"""Compare this reference with another, independently made set of known answers.

    python3 cross_check.py sampling.json

The set is one JSON file with the keys gamma26, noise, noiseDigest, cases, logits. It holds float heads only, no
int8. Its conventions in "logits": runnerUp names a masked token where the rule has no runner-up (counted, and not as a
difference), and token -1 stands for no token.
Exits 1 at any difference.
"""

import json
import sys

from flash_sampling_reference.gumbel import gamma26, row_noise, token_noise
from flash_sampling_reference.head import Head
from flash_sampling_reference.sample import draw
from flash_sampling_reference.score import MASK, fix, tau
from vector_makers.inputs import hex32, hex64


class Comparison:
    def __init__(self):
        self.equal, self.masked_runner_up, self.different = 0, 0, []

    def check(self, what, ours, theirs):
        if ours == theirs:
            self.equal += 1
        else:
            self.different.append("%s: here %s, there %s" % (what, ours, theirs))


def numbers(text):
    return [int(b, 16) for b in text.split()]


def matrix(text, columns):
    flat = numbers(text)
    return [flat[i:i + columns] for i in range(0, len(flat), columns)]


def check_draw(c, what, got, other, zs):
    c.check(what + " token", got.get("token", -1), other["token"])
    c.check(what + " score", got.get("scoreBits"), other["scoreHex"])
    theirs = other["runnerUp"]
    if got.get("runnerUp") is None and theirs is not None and zs[theirs] == MASK:
        c.masked_runner_up += 1
    else:
        c.check(what + " runner-up", got.get("runnerUp"), theirs)


def check_problem(c, what, case):
    head = Head(case["dtype"], matrix(case["weightBits"], case["D"]))
    t = tau(case["temperature"])
    c.check(what + " tau", t, case["tau"])
    for r, (hidden, other) in enumerate(zip(matrix(case["hiddenBits"], case["D"]), case["rows"])):
        here = "%s row %d" % (what, r)
        xs = head.prepare(hidden, r)
        if "logitBits" in other:
            c.check(here + " logits", hex32(head.logit_bits(v, xs) for v in range(case["V"])), other["logitBits"])
        zs = [head.z(v, xs) for v in range(case["V"])]
        sequence = r if case["sequence"] == "row index" else case["sequence"]
        check_draw(c, here, draw(zs, t, int(case["seed"]), sequence, case["position"], case["sample"]), other, zs)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        other = json.load(f)
    c = Comparison()
    for e in other["gamma26"]:
        c.check("gamma26 %s %s" % (e["hi"], e["lo"]), "%08x" % gamma26(int(e["hi"], 16), int(e["lo"], 16)), e["gamma"])
    for e in other["noise"]:
        at = [int(e[k]) for k in ("seed", "sequence", "position", "sample", "token")]
        c.check("noise %s" % at, "%08x" % token_noise(*at), e["gamma"])
    d = 0
    for g in row_noise(0, 0, 0, 0, 100000):
        d = ((d * 0x01000193) & 0xFFFFFFFF) ^ g
    c.check("noise digest", "%08x" % d, other["noiseDigest"]["digest"])
    for i, case in enumerate(other["cases"]):
        check_problem(c, "case %d (%s)" % (i, case["dtype"]), case)
    for i, e in enumerate(other["logits"]):
        zs = [fix(b) for b in numbers(e["logitBits"])]
        c.check("logits %d Z" % i, hex64(zs), e["zHex"])
        got = draw(zs, tau(e["temperature"]), int(e["seed"]), e["sequence"], e["position"], e.get("sample", 0))
        check_draw(c, "logits %d" % i, got, e, zs)
    print("%d equal, %d different, %d masked runners-up by the other set's convention"
          % (c.equal, len(c.different), c.masked_runner_up))
    for line in c.different:
        print(line)
    return 1 if c.different else 0


if __name__ == "__main__":
    sys.exit(main())
