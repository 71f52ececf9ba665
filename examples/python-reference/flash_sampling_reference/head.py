# SPDX-License-Identifier: Apache-2.0
"""Section 4 put together: a head of weights, and the integer logits of a hidden row."""

import math

from .formats import FORMATS, decode, f32_bits
from .logit import dot_l32, scaled_group, sum_groups
from .operands import OPERAND_FORMAT, Refused, canonical, in_range, round_hidden
from .score import fix


class Head:
    """weights: V lists of D bit patterns (int8: bytes 0..255, two's complement). int8 also brings scales and group."""

    def __init__(self, dtype, weights, scales=None, group=None):
        self.dtype = dtype
        self.operand_format = OPERAND_FORMAT[dtype]
        self.columns = len(weights[0])
        if dtype == "int8":
            self._load_int8(weights, scales, group)
        else:
            self._load_float(weights)
        self.max_w = max(abs(w) for row in self.raw for w in row)
        self.weights = self.raw if dtype == "int8" else [
            [canonical(w, self.operand_format) for w in row] for row in self.raw]

    def _load_float(self, weights):
        fmt = FORMATS[self.dtype]
        self.raw = [[decode(b, fmt) for b in row] for row in weights]
        for v, row in enumerate(self.raw):
            for k, w in enumerate(row):
                if not math.isfinite(w):
                    raise Refused("weight is not finite", v, k)

    def _load_int8(self, weights, scales, group):
        d = self.columns
        if group != d and not (group > 0 and group % 32 == 0 and d % group == 0):
            raise Refused("group is neither D nor a multiple of 32 that divides D")
        for v, row in enumerate(scales):
            if len(row) != d // group:
                raise Refused("wrong number of scales", v)
            for g, bits in enumerate(row):
                if not 0x00800000 <= bits < 0x7F800000:
                    raise Refused("scale is not a positive normal finite f32", v, g)
        self.raw = [[float(b - 256 if b > 127 else b) for b in row] for row in weights]
        self.scales, self.group = scales, group

    def prepare(self, hidden_bits, row=0):
        """Round, check, and make canonical one hidden row."""
        if len(hidden_bits) != self.columns:
            raise Refused("hidden row has the wrong length", row)
        rounded = round_hidden(hidden_bits, self.operand_format, row)
        if not in_range(self.max_w, max(abs(x) for x in rounded), self.columns):
            raise Refused("range", row)
        return [canonical(x, self.operand_format) for x in rounded]

    def logit_bits(self, v, xs):
        """f32 bits of the logit of token v (not int8)."""
        return f32_bits(dot_l32(self.weights[v], xs))

    def group_sums(self, v, xs):
        """int8: the f32 bits of the sum of each group."""
        step = self.group
        return [f32_bits(dot_l32(self.weights[v][k:k + step], xs[k:k + step]))
                for k in range(0, self.columns, step)]

    def z(self, v, xs):
        if self.dtype != "int8":
            return fix(self.logit_bits(v, xs))
        return sum_groups(scaled_group(a, s) for a, s in zip(self.group_sums(v, xs), self.scales[v]))

    def row_z(self, hidden_bits, row=0):
        xs = self.prepare(hidden_bits, row)
        return [self.z(v, xs) for v in range(len(self.weights))]
