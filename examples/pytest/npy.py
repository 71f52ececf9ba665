# SPDX-License-Identifier: Apache-2.0
"""Arrays in .npy files with the standard library alone. Where numpy is, np.load and np.save do the same."""

import math
import re
import struct

CODES = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u4": "I", "u8": "Q"}


def read(path):
    """All numbers of a little-endian array, row by row, as a list."""
    with open(path, "rb") as file:
        magic, length = file.read(8), struct.unpack("<H", file.read(2))[0]
        descr = re.search(r"'descr': '<(\w+)'", file.read(length).decode("latin1"))
        data = file.read()
    if magic != b"\x93NUMPY\x01\x00" or descr is None:
        raise ValueError(f"{path} is no little-endian .npy file of version 1.0")
    return [number for number, in struct.iter_unpack("<" + CODES[descr[1]], data)]


def write(path, descr, shape, numbers):
    """descr: "<f4", "<i8", ...; numbers: row by row."""
    if math.prod(shape) != len(numbers):
        raise ValueError(f"{len(numbers)} numbers do not fill {shape}")
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).encode()
    header = header.ljust(-(-(11 + len(header)) // 64) * 64 - 11) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        file.write(struct.pack(f"<{len(numbers)}{CODES[descr[1:]]}", *numbers))
