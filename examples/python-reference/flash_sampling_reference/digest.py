# SPDX-License-Identifier: Apache-2.0
"""Section 8: the digest that names a head. XXH32 after Collet's specification of xxHash."""

import hashlib
import struct

M32 = 0xFFFFFFFF
P1, P2, P3, P4, P5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1

# Stored bytes of a weight, and the f32 exponent field below which it is stored as +0.
STORED = {"bf16": (2, 71), "f16": (2, 0), "f32": (4, 87), "int8": (1, 0)}


def rotate(x, n):
    return (x << n | x >> (32 - n)) & M32


def xxh32(data, seed):
    at, n = 0, len(data)
    if n >= 16:
        lanes = [(seed + P1 + P2) & M32, (seed + P2) & M32, seed, (seed - P1) & M32]
        while at + 16 <= n:
            for i, word in enumerate(struct.unpack_from("<4I", data, at)):
                lanes[i] = rotate((lanes[i] + word * P2) & M32, 13) * P1 & M32
            at += 16
        h = sum(rotate(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18))) & M32
    else:
        h = (seed + P5) & M32
    h = (h + n) & M32
    while at + 4 <= n:
        h = rotate((h + struct.unpack_from("<I", data, at)[0] * P3) & M32, 17) * P4 & M32
        at += 4
    for byte in data[at:]:
        h = rotate((h + byte * P5) & M32, 11) * P1 & M32
    h = (h ^ h >> 15) * P2 & M32
    h = (h ^ h >> 13) * P3 & M32
    return h ^ h >> 16


def row_digest(data):
    return struct.pack("<2I", xxh32(data, 0), xxh32(data, 1))


def canonical_bytes(dtype, row):
    """row: the stored bits of its weights."""
    size, smallest = STORED[dtype]
    kept = []
    for bits in row:
        exponent = bits >> (7 if dtype == "bf16" else 23) & 0xFF
        kept.append(bits if smallest == 0 or exponent >= smallest else 0)
    return b"".join(bits.to_bytes(size, "little") for bits in kept)


def head_digest(dtype, rows, group_size=0, scale_rows=()):
    """rows: V lists of D stored bits. scale_rows: V lists of f32 bits, for int8."""
    whole = hashlib.sha256()
    whole.update(("flash-sampling head 1\n%s %d %d %d\n" % (dtype, len(rows), len(rows[0]), group_size)).encode("ascii"))
    for row in rows:
        whole.update(row_digest(canonical_bytes(dtype, row)))
    for row in scale_rows:
        whole.update(row_digest(struct.pack("<%dI" % len(row), *row)))
    return whole.hexdigest()
