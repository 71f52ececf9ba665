# SPDX-License-Identifier: Apache-2.0
"""Section 7: the binary request."""

import struct

MAGIC = 0x31515246
SAMPLES_END = 1 << 24
LAST_HIGH_PURPOSE = 254                            # the low word uses the next one, and both are u8


class BadRequest(ValueError):
    pass


def write(samples, rows):
    """rows: dictionaries with seed, sequence, position, tau, first, purpose. Returns a list of u32."""
    words = [MAGIC, 16 + 16 * len(rows), len(rows), samples] + [0] * 12
    for r in rows:
        words += [r["seed"] & 0xFFFFFFFF, r["seed"] >> 32, r["sequence"], r["position"], r["tau"],
                  r["first"], r["purpose"]] + [0] * 9
    read(words)
    return words


def read(words):
    """A list of u32 -> (samples, rows). Raises BadRequest."""
    if len(words) < 16 or words[0] != MAGIC:
        raise BadRequest("magic")
    count = words[2]
    if words[1] != 16 + 16 * count or len(words) != words[1]:
        raise BadRequest("length")
    samples = words[3]
    if not 1 <= samples <= SAMPLES_END:
        raise BadRequest("samples")
    if any(words[4:16]):
        raise BadRequest("reserved word in the header")
    rows = []
    for at in range(16, len(words), 16):
        low, high, sequence, position, tau, first, purpose = words[at:at + 7]
        if first + samples > SAMPLES_END:
            raise BadRequest("first sample")
        if purpose > LAST_HIGH_PURPOSE:
            raise BadRequest("purpose")
        if any(words[at + 7:at + 16]):
            raise BadRequest("reserved word in a record")
        rows.append({"seed": low | high << 32, "sequence": sequence, "position": position, "tau": tau,
                     "first": first, "purpose": purpose})
    return samples, rows


def to_bytes(words):
    return struct.pack("<%dI" % len(words), *words)


def from_bytes(data):
    if len(data) % 4:
        raise BadRequest("length")
    return list(struct.unpack("<%dI" % (len(data) // 4), data))
