# SPDX-License-Identifier: Apache-2.0
"""The sampler under test. Here it is the rule itself, from ../python-reference; put your kernel in place of sample().

    python sampler.py DIR      one call of `flash-sampling invariance`
    python sampler.py --serve  all calls of `flash-sampling invariance --server`
"""

import json
import struct
import sys
from pathlib import Path

import npy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python-reference"))
from flash_sampling_reference.gumbel import gamma26  # noqa: E402
from flash_sampling_reference.philox import block  # noqa: E402
from flash_sampling_reference.score import INVALID, MASK, fix, score, tau  # noqa: E402


def sample(logits, temperature, seed, sequence, position, num_samples=1):
    """Tokens of one row: logits is a list of floats, the others are numbers. -1 where there is none to draw."""
    bits = struct.unpack(f"<{len(logits)}I", struct.pack(f"<{len(logits)}f", *logits))
    zs = [fix(value) for value in bits]
    if INVALID in zs:
        return [-1] * num_samples
    return [draw(zs, tau(temperature), (seed, sequence, position, number)) for number in range(num_samples)]


def draw(zs, tau_q24, address):
    best, best_score = -1, MASK
    for first in range(0, len(zs), 4):
        group = zs[first : first + 4]
        if all(z == MASK for z in group):
            continue
        words = zip(block(*address, 0, first), block(*address, 1, first))
        for token, (z, (high, low)) in enumerate(zip(group, words), first):
            value = score(z, gamma26(high, low), tau_q24)
            if value > best_score:
                best, best_score = token, value
    return best


def answer(folder):
    """Reads a call from a folder and writes its tokens there."""
    folder = Path(folder)
    call = json.loads((folder / "call.json").read_text())
    size = call["vocab_size"]
    logits = npy.read(folder / "logits.npy")
    per_row = [npy.read(folder / f"{name}.npy") for name in ("temperature", "seed", "sequence", "position")]
    tokens = []
    for row, values in enumerate(zip(*per_row)):
        tokens += sample(logits[row * size : (row + 1) * size], *values, call["num_samples"])
    npy.write(folder / "tokens.npy", "<i8", (call["rows"], call["num_samples"]), tokens)


def serve():
    for line in sys.stdin:
        answer(json.loads(line)["dir"])
        print("{}", flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else answer(sys.argv[1])
