# SPDX-License-Identifier: Apache-2.0
"""LM heads and hidden states: odd shapes, small and large numbers, cancellation, near ties, int8 scales, padding."""

import math

from flash_sampling_reference.formats import f32_bits
from vector_makers.inputs import Integers, encoded

from .arrays import Array, bits, logits, same_rows
from .outcomes import same_as

INF, NAN = math.inf, math.nan
PERIOD = 61
PADDED = "https://github.com/mirage-project/mirage/issues/751"
BATCH = "https://github.com/huggingface/transformers/issues/25921"
OVERFLOW = "https://github.com/huggingface/transformers/issues/27179"
SCALES = "https://github.com/NVIDIA/TensorRT-LLM/pull/17728"


def head(dtype, *rows):
    """Weights of floats; int8 of integers."""
    words = [word for row in rows for word in ([value & 0xFF for value in row] if dtype == "int8" else encoded(row, dtype))]
    return Array(dtype, [len(rows), len(rows[0])], [(words, 1)])


def scale(*values):
    return Array("f32", [len(values)] if isinstance(values[0], float) else [len(values), len(values[0])],
                 [([f32_bits(v) for value in values for v in ([value] if isinstance(value, float) else value)], 1)])


def hidden(source, rows, columns):
    """f32 of 8 significant bits: every operand format holds them."""
    return logits(*[[(source.below(255) - 127) / 32 for _ in range(columns)] for _ in range(rows)])


def weight_rows(source, dtype, count, columns):
    value = (lambda: source.below(256) - 128) if dtype == "int8" else (lambda: (source.below(255) - 127) / 64 / columns ** 0.5)
    return [[value() for _ in range(columns)] for _ in range(count)]


def shapes(corpus):
    what = "Vocabularies and hidden sizes that no tile divides crash, or lose their last rows or columns."
    for size, columns, dtype in ((1, 1, "f32"), (2, 3, "bf16"), (3, 7, "int8"), (31, 8, "f16"), (32, 9, "f32"), (33, 64, "int8"), (127, 1, "bf16"),
                                 (128, 3, "f16"), (129, 7, "f32"), (999, 8, "bf16"), (4097, 9, "int8"), (40001, 3, "f16")):
        name = "head-%dx%d-%s" % (size, columns, dtype)
        source = Integers("corpus " + name)
        count = min(size, PERIOD)
        words = head(dtype, *weight_rows(source, dtype, count, columns)).words
        repeats, rest = divmod(size, count)
        weights = Array(dtype, [size, columns], [(words, repeats)] + ([(words[:rest * columns], 1)] if rest else []))
        scales = Array("f32", [size], [([f32_bits(2.0 ** -7)], size)]) if dtype == "int8" else None
        corpus.from_head(name, what, "https://github.com/turboderp-org/exllamav2/issues/778", weights, hidden(source, 2, columns), scales)


def small_numbers(corpus):
    add = corpus.from_head
    add("head-f16-subnormals", "Subnormal f16 weights are flushed to zero: the greedy token changes.", "https://github.com/ggml-org/llama.cpp/pull/7843",
        Array("f16", [5, 2], [([0x0001, 0, 0, 0x1400, 0x8001, 0, 0x03FF, 0, 0x03FE, 0], 1)]), logits([32768.0, 1.0], [32768.0, 1.0]), temperature=[0.0, 1.0])
    add("head-bf16-subnormals", "Subnormal bf16 weights stall or become NaN.", "https://github.com/ggml-org/llama.cpp/pull/7843",
        Array("bf16", [4, 2], [([0x0001, 0x8001, 0x007F, 0x007F, 0x3580, 0x0000, 0x807F, 0x0001], 1)]), logits([1.0, 1.0], [1.0, 1.0]), temperature=[0.0, 1.0])
    add("head-f32-subnormals", "Products below the normal numbers are flushed on one device alone.", "https://github.com/ROCm/rocMLIR/pull/1962",
        Array("f32", [3, 3], [([bits(1e-40), bits(1e-20), 0, bits(2e-40), bits(-1e-20), 0, bits(1e-39), bits(1e-30), bits(-1e-30)], 1)]),
        logits([1e-20, 1e-20, 1e-20], [1.0, 0.0, 0.0]), temperature=[0.0, 1.0])


def rounding(corpus):
    add = corpus.from_head
    source = Integers("corpus cancellation")
    rows = []
    for row in range(8):
        values = [(source.below(127) + 1) * 2.0 ** (source.below(12) + 2) for _ in range(32)]
        rows.append([v for value in values for v in (value, -value)])
        rows[-1][5 * row] += 2.0 ** -3
    rows.append([-1.0] * 64)
    for dtype in ("bf16", "f32"):
        add("head-cancellation-" + dtype, "Large terms cancel, and the order of the sums decides what is left: the token depends on the tile.", BATCH,
            head(dtype, *rows), same_rows(2, [64.0] * 32 + [96.0] * 32), temperature=[0.0, 1.0])
    one = [1.0, 0.5, -0.25, 2.0]
    for dtype, step in (("bf16", 2.0 ** -7), ("f16", 2.0 ** -10), ("f32", 2.0 ** -23)):
        up = [1.0 + step] + one[1:]
        x = [2.0 ** -16 if dtype == "bf16" else 2.0 ** -13 if dtype == "f16" else 1.0, 1.0, 1.0, 1.0]
        add("head-one-ulp-" + dtype, "Two tokens one step of a logit apart: another order of the sums, another token.", BATCH,
            head(dtype, [0.0] * 4, one, [0.5] * 4, up, one), same_rows(2, x), temperature=[0.0, 1.0])
    source = Integers("corpus outliers")
    weights = head("bf16", *weight_rows(source, "bf16", 40, 64))
    x = hidden(source, 2, 64).values()
    for row in x:
        row[3], row[40] = 1024.0, -896.0
    add("head-outlier-columns", "A few columns a thousand times the others: rounded with them, the others are lost.", "https://github.com/huggingface/accelerate/issues/1104",
        weights, logits(*x), temperature=[0.0, 1.0])
    add("head-equal-rows", "Equal rows of a head, as of tied or padded embeddings: which of them is the greedy token depends on the reduction.",
        "https://github.com/Pushkinist/rMLX/issues/373", head("bf16", [0.25, 1.0], [1.0, 0.5], [0.5, 0.5], [1.0, 0.5], [1.0, 0.5]), same_rows(2, [1.0, 1.0]), temperature=[0.0, 1.0])


def integers(corpus):
    add = corpus.from_head
    rows = [[127, 127], [-128, -128], [1, 0], [0, 0], [127, -128]]
    add("head-int8-scale-ends", "Scales at the ends of f32 overflow, or vanish.", "https://github.com/InternLM/lmdeploy/pull/3652",
        head("int8", *rows), same_rows(2, [1.0, 1.0]), scale(2.0 ** -126, 3e38, 1.0, 3e38, 1e-3), temperature=[0.0, 1.0])
    add("head-int8-scale-matters", "The scales are left out: the token with the largest integers wins.", SCALES,
        head("int8", [127] * 4, [2] * 4, [-128] * 4), same_rows(2, [1.0] * 4), scale(2.0 ** -12, 1.0, 2.0 ** -9), temperature=[0.0, 1.0])
    groups = [[100] * 32 + [-100] * 32, [-100] * 32 + [100] * 32, [10] * 64]
    add("head-int8-groups", "The scales of groups are read in the wrong order.", "https://github.com/1bit-MONSTER/1bit-MONSTER/issues/153",
        head("int8", *groups), same_rows(2, [1.0] * 64), scale([2.0 ** -6, 2.0 ** -9], [2.0 ** -6, 2.0 ** -9], [2.0 ** -9, 2.0 ** -9]), temperature=[0.0, 1.0])
    add("head-int8-minimum", "-128 has no positive twin: negated in a byte it stays negative.", SCALES,
        head("int8", [-128, -128], [127, 127], [-127, -128]), same_rows(2, [-1.0, -1.0]), scale(0.5, 0.5, 0.5), temperature=[0.0, 1.0])


def padding(corpus):
    add = corpus.from_head
    source = Integers("corpus padding")
    for dtype in ("bf16", "f32"):
        rows = [[-1.0 - source.below(64) / 64 for _ in range(16)] for _ in range(100)]
        add("head-padding-" + dtype, "Rows of zeros fill the head up to whole tiles, and win where every real logit is negative.", PADDED,
            head(dtype, *rows), same_rows(2, [2.0] * 16), temperature=[0.0, 1.0])


def refusals(corpus):
    add = corpus.from_head
    source = Integers("corpus refusals")
    weights, x = head("bf16", *weight_rows(source, "bf16", 30, 8)), hidden(source, 4, 8).values()
    issue = "https://github.com/vllm-project/vllm/pull/40376"
    add("head-nan-in-one-row-clean", "The batch of head-nan-in-one-row without what is not finite.", issue, weights, logits(*x))
    bad = [list(row) for row in x]
    bad[1][3], bad[2][0] = NAN, INF
    add("head-nan-in-one-row", "A hidden state that is not finite spoils its row, and must not touch the others.", issue, weights, logits(*bad), None,
        [same_as(0, 0, "head-nan-in-one-row-clean", 0), same_as(3, 3, "head-nan-in-one-row-clean", 3)], refusals={1: "must", 2: "must"})
    add("head-hidden-past-f16", "A hidden state past 65504 is infinite in f16.", OVERFLOW, head("f16", [1.0, 0.0], [0.5, 0.0], [-1.0, 1.0]),
        logits([65520.0, 1.0], [65504.0, 1.0]), refusals={0: "may"}, temperature=0.0)
    add("head-sums-past-f32", "Sums of products pass the largest f32, and infinities meet.", OVERFLOW, head("f32", [3e38, 3e38], [-3e38, 3e38], [1.0, 1.0]),
        logits([3e38, 3e38], [1e-3, 1e-3]), refusals={0: "may"}, temperature=0.0)


def batches(corpus):
    add = corpus.from_head
    up = [1.0 + 2.0 ** -7, 0.5, -0.25, 2.0] * 16
    weights = head("bf16", [0.5] * 64, [1.0, 0.5, -0.25, 2.0] * 16, up, [1.0, 0.5, -0.25, 2.0] * 16)
    source = Integers("corpus batches")
    x = hidden(source, 17, 64).values()
    x[16] = [2.0 ** -12, 1.0, 1.0, 1.0] * 16
    what = "The kernel for one row sums in another order than the one for many: a near tie falls otherwise."
    issue = "https://github.com/vllm-project/vllm/issues/48271"
    add("head-batch-of-17", what, issue, weights, logits(*x), None, [same_as(16, 16, "head-batch-of-1", 0)], temperature=0.0)
    add("head-batch-of-1", "The last row of head-batch-of-17 alone.", issue, weights, logits(x[16]), temperature=0.0)
    add("head-of-zeros", "A hidden state of zeros: every token is as likely as any other.", "https://github.com/jax-ml/jax/issues/30879",
        head("bf16", *weight_rows(source, "bf16", 300, 4)), logits([0.0] * 4), None, [same_as(0, 0, "one-row-of-zeros", 0)], samples=8)


def add_all(corpus):
    for maker in (shapes, small_numbers, rounding, integers, padding, refusals, batches):
        maker(corpus)
