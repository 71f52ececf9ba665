# SPDX-License-Identifier: Apache-2.0
"""The WebAssembly core from Python: the tokens of `flash-sampling sample`, without Node. docs/wasm-abi.md says what each call means.

    pip install wasmtime numpy
    python core_from_python.py core.wasm --logits logits.npy --seed 42
    python core_from_python.py core.wasm --weights head.npy --hidden hidden.npy --seed 42 --temperature 0.7

core.wasm is dist/core.wasm of the npm package. Logits are f4 [B, V]; weights f4 or f2 [V, D], hidden states f4 [B, D].
Prints a token a row; -1 for a row without one.
"""

import argparse
import math

import numpy as np
import wasmtime

PAGE = 65536
FIRST_AREA, AREA = 2048, 4096
ROW_BYTES, DRAW_BYTES, TILE = 64, 32, 64
MAX_ROWS, LOGITS_CHUNK, READ_AHEAD = 64, 16384, 64
LANES = 32
AREAS = ("words", "rows", "draws", "logit_tile", "z_tile", "partial", "panel", "staged", "hidden", "hidden_alone", "hidden_rounded", "bound_table", "weights", "scales")


def lay_out(head):
    """Bytes of each area, in the order of setAreas. head: None for given logits, or (V, padded D, bytes of a weight)."""
    vocab, width, item = head or (0, 0, 0)
    has_bounds = item == 2
    sizes = dict.fromkeys(AREAS, 0)
    sizes.update(words=128, rows=MAX_ROWS * ROW_BYTES, draws=MAX_ROWS * DRAW_BYTES, logit_tile=MAX_ROWS * TILE * 4, partial=8 * 2 * 6 * 16)
    sizes["staged"] = 4 * (width if head else LOGITS_CHUNK)
    if head:
        sizes.update(panel=2 * (width * 4 + 64), hidden=MAX_ROWS * width * 4, weights=vocab * width * item + READ_AHEAD)
    if has_bounds:
        sizes.update(hidden_alone=MAX_ROWS * width * 4, hidden_rounded=MAX_ROWS * width * 2, bound_table=2 * MAX_ROWS * 4)
    return sizes


class Core:
    """One instance and its memory. Draws one sample a row."""

    def __init__(self, wasm_path, weights=None):
        """weights: f4 or f2 [V, D], finite; None for given logits."""
        head = None
        if weights is not None:
            self.vocab_size, self.hidden_size = weights.shape
            self.blocks = math.ceil(self.hidden_size / LANES)
            self.item = weights.itemsize
            head = (self.vocab_size, self.blocks * LANES, self.item)
        self.at, end = {}, FIRST_AREA
        for name, size in lay_out(head).items():
            self.at[name] = end
            end = math.ceil((end + size) / AREA) * AREA
        pages = math.ceil(end / PAGE)
        self.store = wasmtime.Store(wasmtime.Engine())
        self.memory = wasmtime.Memory(self.store, wasmtime.MemoryType(wasmtime.Limits(pages, pages)))
        module = wasmtime.Module.from_file(self.store.engine, wasm_path)
        self.exports = wasmtime.Instance(self.store, module, [self.memory]).exports(self.store)
        if self.call("heapBase") > FIRST_AREA or self.call("rowBytes") > ROW_BYTES or self.call("drawBytes") > DRAW_BYTES:
            raise RuntimeError("this core needs more room than this file gives it: take both from one version")
        self.call("setAreas", *(self.at[name] for name in AREAS))
        if weights is not None:
            self.load(weights)

    def call(self, name, *args):
        return self.exports[name](self.store, *args)

    def put(self, area, values):
        self.memory.write(self.store, values.tobytes(), self.at[area])

    def load(self, weights):
        if not np.isfinite(weights).all():
            raise ValueError("weights must be finite")
        padded = np.zeros((self.vocab_size, self.blocks * LANES), weights.dtype)
        padded[:, : self.hidden_size] = small_to_zero(weights)
        self.put("weights", padded)
        self.call("setHead", self.vocab_size, self.blocks, self.blocks, 0)
        if self.item == 2:
            self.call("measureWeights")

    def set_row(self, row, seed, sequence, position, temperature):
        if not (0 <= seed < 2**64 and 0 <= temperature < 256 and 0 <= position < 2**32):
            raise ValueError("expected 0 <= seed < 2^64, 0 <= temperature < 256, 0 <= position < 2^32")
        tau = min(math.floor(temperature * 2**24 + 0.5), 2**32 - 1)
        words = (seed & 0xFFFFFFFF, seed >> 32, sequence, position, tau, 0, 0)
        # wasmtime takes 32 bits as a number with sign.
        self.call("setRow", row, *(word - (word >> 31 << 32) for word in words))

    def sample_logits(self, logits, seed, temperature=1.0, position=0):
        """A token for each row of logits [B, V]; the row's index is its sequence."""
        tokens = []
        for row, values in enumerate(np.asarray(logits, np.float32)):
            self.set_row(0, seed, row, position, temperature)
            self.call("resetDraws", 1)
            for first in range(0, len(values), LOGITS_CHUNK):
                chunk = values[first : first + LOGITS_CHUNK]
                self.put("staged", np.pad(chunk, (0, -len(chunk) % TILE), constant_values=-np.inf))
                self.call("sampleLogits", len(chunk), 1, first)
            tokens.append(-1 if self.call("isInvalid", 0) else self.call("token", 0))
        return tokens

    def sample(self, hidden_states, seed, temperature=1.0, position=0):
        """A token for each hidden state of [B, D], finite and in range; the row's index is its sequence."""
        pack, sample = ("packF16", "sampleF16") if self.item == 2 else ("packF32", "sampleF32")
        rounded = np.asarray(hidden_states, np.float32)
        if self.item == 2:
            rounded = rounded.astype(np.float16).astype(np.float32)
        if not np.isfinite(rounded).all():
            raise ValueError("hidden states must be finite, also as the head's format")
        rounded = rounded if self.item == 2 else small_to_zero(rounded)
        tokens = []
        for first in range(0, len(rounded), MAX_ROWS):
            block = rounded[first : first + MAX_ROWS]
            for row, values in enumerate(block):
                self.set_row(row, seed, first + row, position, temperature)
                self.put("staged", np.pad(values, (0, -len(values) % LANES)))
                self.call(pack, row, len(block))
            self.call("resetDraws", len(block))
            self.call(sample, len(block), 1)
            tokens += [self.call("token", row) for row in range(len(block))]
        return tokens


def small_to_zero(values):
    """Section 4.1 of docs/spec.md: an f32 operand below 2^-40 reads as zero, f16 operands are taken as they are."""
    return values if values.dtype == np.float16 else np.where(np.abs(values) < 2.0**-40, np.float32(0), values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("core")
    parser.add_argument("--logits")
    parser.add_argument("--weights")
    parser.add_argument("--hidden")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--position", type=int, default=0)
    args = parser.parse_args()
    rest = (args.seed, args.temperature, args.position)
    if args.logits:
        tokens = Core(args.core).sample_logits(np.load(args.logits), *rest)
    else:
        tokens = Core(args.core, np.load(args.weights)).sample(np.load(args.hidden), *rest)
    print("\n".join(map(str, tokens)))


if __name__ == "__main__":
    main()
