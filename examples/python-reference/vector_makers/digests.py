# SPDX-License-Identifier: Apache-2.0
"""digest.json"""

from flash_sampling_reference.digest import STORED, head_digest, xxh32

from .inputs import Integers, hex32

SMALL = {"bf16": [0x8000, 0x0001, 0x237F, 0xA37F, 0x2380, 0xA380], "f16": [0x8000, 0x0001, 0x8001],
         "f32": [0x80000000, 1, 0x2B7FFFFF, 0xAB7FFFFF, 0x2B800000], "int8": [0x80, 0xFF]}
ONE = {"bf16": 0x3F80, "f16": 0x3C00, "f32": 0x3F800000, "int8": 1}


def weight(source, dtype):
    """A finite weight: one with other low bits. The digest looks at nothing else."""
    return source.below(256) if dtype == "int8" else ONE[dtype] + source.below(128)


def digest_file():
    source = Integers("digests")
    hashes = []
    for length in list(range(0, 21)) + [31, 32, 33, 63, 64, 100]:
        data = bytes(source.below(256) for _ in range(length))
        hashes += [{"bytes": data.hex(), "seed": seed, "xxh32": "%08x" % xxh32(data, seed)} for seed in (0, 1)]
    heads = []
    for dtype, (size, _) in STORED.items():
        for v, d, group in ((1, 1, 1), (2, 3, 3), (3, 7, 7), (5, 32, 32), (4, 64, 32)):
            rows = [[weight(source, dtype) for _ in range(d)] for _ in range(v)]
            rows[-1][:len(SMALL[dtype])] = SMALL[dtype][:d]
            group = group if dtype == "int8" else 0
            scales = [[0x3C000000 + source.below(1 << 23) for _ in range(d // group)] for _ in range(v)] if group else []
            head = {"dtype": dtype, "weights": [" ".join("%0*x" % (2 * size, bits) for bits in row) for row in rows]}
            if group:
                head.update({"G": group, "scales": [hex32(row) for row in scales]})
            heads.append({**head, "digest": head_digest(dtype, rows, group, scales)})
    return {"about": "Digests. hashes: XXH32 of bytes. heads: stored weights (row by row, bits in the dtype) and, for int8, "
                     "scales (f32 bits, G columns each) -> the head digest. Small weights and -0 are among them.",
            "hashes": hashes, "heads": heads}
