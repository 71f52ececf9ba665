# SPDX-License-Identifier: Apache-2.0
"""philox.json, words.json, gamma26.json, noise-digest.json"""

from flash_sampling_reference.gumbel import clz, gamma26, q32, row_noise, split
from flash_sampling_reference.philox import philox4x32_10, word

from .inputs import Integers, hex32

ALL32 = 0xFFFFFFFF
ALL64 = (1 << 64) - 1


def philox():
    known = [([0] * 4, [0] * 2), ([ALL32] * 4, [ALL32] * 2),
             ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0])]
    inputs = list(known)
    for i in range(4):                       # one bit in one place
        inputs.append(([1 << 31 if j == i else 0 for j in range(4)], [0, 0]))
        inputs.append(([1 if j == i else 0 for j in range(4)], [0, 0]))
    inputs += [([0] * 4, [1, 0]), ([0] * 4, [0, 1]), ([0] * 4, [ALL32, 0]), ([0] * 4, [0, ALL32])]
    source = Integers("philox")
    for _ in range(20):
        inputs.append(([source.bits(32) for _ in range(4)], [source.bits(32) for _ in range(2)]))
    return {
        "about": "Philox4x32-10. Each case: counter x0..x3, key k0 k1, output x0..x3, all u32. The first three cases are "
                 "Random123's known answers.",
        "cases": [{"counter": hex32(c), "key": hex32(k), "output": hex32(philox4x32_10(c, k))} for c, k in inputs],
    }


def words():
    cases = [(0, 0, 0, 0, p, t) for p in range(7) for t in (0, 1, 2, 3, 4)]
    cases += [(ALL64, 0, 0, 0, 0, 0), (1 << 32, 0, 0, 0, 0, 0), (ALL32, 0, 0, 0, 0, 0), (0, ALL32, 0, 0, 0, 0),
              (0, 0, ALL32, 0, 0, 0), (0, 0, 0, (1 << 24) - 1, 0, 0), (0, 0, 0, 0, 0, ALL32), (0, 0, 0, 1, 0, 0),
              (ALL64, ALL32, ALL32, (1 << 24) - 1, 6, ALL32), (1 << 63, 1 << 31, 1 << 31, 1 << 23, 1, 1 << 31)]
    source = Integers("words")
    for _ in range(60):
        cases.append((source.bits(64), source.bits(32), source.bits(32), source.bits(24), source.below(7),
                      source.bits(32) >> source.below(20)))
    return {
        "about": "The random word of a token. A case is one string: seed (u64), sequence, position, sample, purpose, "
                 "token, word (u32 each).",
        "cases": ["%016x %s" % (c[0], hex32(list(c[1:]) + [word(*c)])) for c in cases],
    }


def interesting_pairs():
    """(hi, lo): powers of two and neighbours, every J, every n, both ends."""
    his = sorted({((1 << b) + d) & ALL32 for b in range(32) for d in (-1, 0, 1)} | {0, ALL32})
    pairs = [(hi, lo) for hi in his for lo in (0, ALL32)]
    for n in range(58):                      # J = 0 and exactly n leading zeros behind the first bit
        if n <= 30:
            pairs.append((0x80000000 | 1 << (30 - n), 0))
            pairs.append((0x80000000 | ((1 << (31 - n)) - 1), ALL32))
        elif n == 31:
            pairs += [(0x80000000, 0x80000000), (0x80000000, ALL32)]
        else:
            bit = 62 - n
            pairs.append((0x80000000, 1 << bit))
            pairs.append((0x80000000, (2 << bit) - 1))
    pairs += [(0x80000000, lo) for lo in (0, 1, 31, 32, 33, 63, 64, 65, 127)]
    return pairs


def gamma26_file():
    pairs = interesting_pairs()
    source = Integers("gamma26")
    for j in range(32):                      # two random points in each octave
        for _ in range(2):
            pairs.append(((1 << (31 - j)) | (source.bits(32) & ((1 << (31 - j)) - 1)), source.bits(32)))
    while len(pairs) < 480:
        pairs.append((source.bits(32), source.bits(32)))
    js, ns = set(), set()
    for hi, lo in pairs:
        j, h1, l1 = split(hi, lo)
        js.add(j)
        if j == 0:
            ns.add(clz(h1) if h1 else 32 + clz(l1))
    assert js == set(range(32)) and ns == set(range(58))
    ts = sorted({0, ALL32} | {((1 << b) + d) & ALL32 for b in range(0, 32, 3) for d in (-1, 0, 1)}
                | {(i * 0x0F5C28F7) & ALL32 for i in range(40)})
    return {
        "about": "Gumbel noise. hi[i], lo[i] -> gamma[i] (u32, Q26), three lists of equal length, covering J = 0..31 and "
                 "n = 0..57; and t[i] -> q[i] = q32(t[i]).",
        "hi": hex32(h for h, _ in pairs), "lo": hex32(l for _, l in pairs),
        "gamma": hex32(gamma26(h, l) for h, l in pairs),
        "q32": {"t": hex32(ts), "q": hex32(q32(t) for t in ts)},
    }


def noise_digest():
    addresses = [(0, 0, 0, 0, 0), (0x0123456789ABCDEF, 7, 42, 3, 0), (ALL64, ALL32, ALL32, (1 << 24) - 1, 5)]
    cases = []
    for seed, sequence, position, sample, purpose in addresses:
        d = 0
        row = row_noise(seed, sequence, position, sample, 100000, purpose)
        for g in row:
            d = ((d * 0x01000193) & ALL32) ^ g
        cases.append({"seed": "%016x" % seed, "sequence": "%08x" % sequence, "position": "%08x" % position,
                      "sample": "%08x" % sample, "purpose": "%08x" % purpose, "tokens": 100000,
                      "first": hex32(row[:8]), "last": hex32(row[-4:]), "digest": "%08x" % d})
    return {
        "about": "Digest of the noise of the tokens 0..99999: d = 0; for each token t in order d = (d * 0x01000193 mod "
                 "2^32) ^ gamma(t). purpose is the high purpose (lo uses purpose + 1). first and last list gamma of the "
                 "tokens 0..7 and 99996..99999.",
        "cases": cases,
    }
