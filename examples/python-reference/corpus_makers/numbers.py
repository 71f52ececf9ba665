# SPDX-License-Identifier: Apache-2.0
"""Logits that are no plain numbers: NaN, infinities, masks, the largest, ties, empty tails, odd sizes."""

import math

from vector_makers.inputs import Integers

from .arrays import Array, logits, one_row, same_rows
from .outcomes import same_as

INF, NAN = math.inf, math.nan
TAIL = "https://github.com/vllm-project/vllm/pull/44744"
TILE = 8192


def plain(name, count, exponent=3):
    source = Integers("corpus " + name)
    return [source.value(exponent) for _ in range(count)]


def not_numbers(corpus):
    add = corpus.from_logits
    add("nan-row", "A row of NaN gives the token V, one past the last.", "https://github.com/vllm-project/vllm/pull/45060",
        same_rows(2, [NAN] * 999), temperature=[0.0, 1.0])
    good = plain("nan", 4 * 64)
    rows = [good[at:at + 64] for at in range(0, 256, 64)]
    add("nan-in-one-row-clean", "The batch of nan-in-one-row without its NaN: what the other rows must draw.",
        "https://github.com/vllm-project/vllm/pull/40376", logits(*rows))
    poisoned = [list(row) for row in rows]
    poisoned[2][17] = NAN
    add("nan-in-one-row", "A NaN in one row of a batch crashes the kernel, or changes what other rows draw.",
        "https://github.com/vllm-project/vllm/pull/40376", logits(*poisoned),
        [same_as(0, 1, "nan-in-one-row-clean", 0), same_as(3, 3, "nan-in-one-row-clean", 3)])
    add("nan-first-and-last", "One NaN makes the sampler emit token 0 for ever.", "https://github.com/JustVugg/colibri/issues/369",
        logits([NAN] + good[1:40], good[:39] + [NAN], [INF] + good[1:39] + [NAN]), temperature=0.7)
    add("nan-among-masked", "An argmax of NaN and a padding of -Infinity gives a token past the vocabulary.",
        "https://github.com/vllm-project/vllm/pull/21876", logits([NAN] + [-INF] * 99, [-INF] * 99 + [NAN]))
    add("plus-infinity", "+Infinity stops one device and passes on another.", "https://github.com/pytorch/pytorch/issues/7014",
        logits([0.0, INF], [INF, 0.0], [INF, INF]), temperature=[1.0, 1.0, 0.0])
    add("minus-infinity-everywhere", "A row without any allowed token becomes NaN in softmax and stops, or gives a masked token.",
        "https://github.com/huggingface/transformers/pull/21435", same_rows(2, [-INF] * 17), temperature=[1.0, 0.0])
    add("minus-infinity-only-token", "The same where there is only one token.",
        "https://github.com/huggingface/transformers/pull/21435", logits([-INF]))


def masked(corpus):
    add = corpus.from_logits
    sole = lambda at, size: [-3e38 if token == at else -INF for token in range(size)]
    add("sole-token", "Noise of -Infinity ties the only allowed token with masked ones, and the first of them is drawn.",
        "https://github.com/sgl-project/sglang/issues/25106", logits(sole(0, 65), sole(32, 65), sole(64, 65), sole(33, 65)), temperature=[1.0, 1.0, 1.0, 0.0])
    add("sole-token-last-of-8193", "The same where the only allowed token is alone in the last tile.", TAIL,
        one_row(([-INF], TILE), ([-3e38], 1)))
    values = plain("masked", 50)
    add("masked-40-of-50", "Tokens of probability zero are drawn now and then.", "https://github.com/pytorch/pytorch/issues/4858",
        logits([value if token % 5 == 2 else -INF for token, value in enumerate(values)]), samples=200)
    add("masked-half-precision", "Logits of -Infinity are drawn where softmax is taken in f16.", "https://github.com/cloveranon/Clover-Edition/issues/168",
        Array("f16", [1, 400], [([0xFC00], 100), ([0x3C00, 0x4000, 0xFC00], 66), ([0xFC00], 102)]), samples=64)
    add("unlikely-token", "A hash of all ones gives noise of +Infinity, and a token of no probability is drawn.",
        "https://github.com/sgl-project/sglang/issues/25106", one_row(([-100.0], 7), ([0.0], 1), ([-100.0], 2040)), seed=7847, position=12345, sequence=0, samples=8)


def tails(corpus):
    add = corpus.from_logits
    what = "Padding behind the last token wins against logits that are all masked or all negative, and the token is V or more."
    pattern = [-5.0, -6.0, -7.0, -5.5, -9.0]
    for size in (8193, 10000):
        real, empty = size // TILE * TILE, (logits([-INF]).words, size % TILE)
        parts = [(logits(pattern).words, real // 5), (logits(pattern[:real % 5]).words, 1), empty, (logits([-5.0]).words, real), empty]
        add("tail-masked-%d" % size, what, TAIL, Array("f32", [2, size], parts), temperature=[1.0, 0.0])
    add("tail-masked-151936", what, TAIL, one_row((pattern, 29491), ([-5.0], 1), ([-INF], 4480)))
    add("tail-masked-262144", what, TAIL, one_row((pattern, 50790), ([-6.0], 2), ([-INF], 8192)), large=True)
    add("tail-low-8193", "A last tile with one low logit: zeros that fill it up win.", TAIL, one_row((pattern, 1638), ([-5.0], 2), ([-5000.0], 1)))


def sizes(corpus):
    what = "A vocabulary that is no multiple of the block crashes, or leaves out its end: 40000 works, 40001 does not."
    for size in (1, 2, 3, 31, 32, 33, 127, 129, 999, 4097, 40001):
        period = plain("size", 61)
        corpus.from_logits("odd-size-%d" % size, what, "https://github.com/turboderp-org/exllamav2/issues/778",
                           one_row((period, size // 61), (period[:size % 61], 1)) if size % 61 else one_row((period, size // 61)))


def large(corpus):
    add = corpus.from_logits
    far = "https://github.com/tensorflow/tensorflow/issues/2774"
    add("equal-1000", "exp overflows, and an index past the end comes out.", far, same_rows(3, [1000.0] * 5), temperature=[1.0, 0.0, 255.9])
    add("equal-minus-1000", "exp underflows to a sum of zero, and an index past the end comes out.", far,
        same_rows(3, [-1000.0] * 5), temperature=[1.0, 0.0, 255.9])
    add("largest-f32", "The largest numbers overflow when the highest is taken off, or when they are divided by the temperature.", "https://github.com/pytorch/pytorch/issues/871",
        logits([3e38, -3e38], [-3e38, 3e38], [3e38, 3e38], [-3e38, -3e38]), temperature=[1.0, 255.9, 0.5, 1e-4])
    add("past-f16", "Logits past 65504 become infinite in f16, and softmax gives NaN.", "https://github.com/QwenLM/Qwen3-TTS/pull/355",
        logits([65504.0, 65520.0, 70000.0, 1e5], [1e5, 70000.0, 65520.0, -65504.0], [-1e5, -70000.0, -65536.0, -65504.0]), temperature=[1.0, 0.0, 1.0])
    add("subnormal-logits", "Subnormal logits are flushed on one device and kept on another; either way they are as good as zero.",
        "https://github.com/gpuweb/gpuweb/issues/1716", logits([0x00000001, 0x807FFFFF, 0x00000000, 0x80000000, 0x007FFFFF]), samples=32)


def ties(corpus):
    add = corpus.from_logits
    add("ties-greedy", "Of equal logits one path takes the first and another the last: the same request, two answers.",
        "https://github.com/ohdearquant/lattice/issues/280", logits([0.5, 3.0, -1.0, 3.0, 3.0, 2.0], [0.0] * 6, [2.0, 1.0, 0.0, 0.0, 0.0, 2.0]), temperature=0.0)
    add("ties-across-tiles", "Equal highest logits in different tiles or ranks: the reduction's order decides.",
        "https://github.com/openai/gpt-oss/issues/270", one_row(([0.0], 17), ([3.0], 1), ([0.0], 4078), ([3.0], 1)), temperature=0.0)
    half = [0x3F80, 0x4000, 0xFF80, 0xC040, 0x4049]
    add("logits-bf16", "Noise is made in the logits' own format: bf16 logits draw other tokens than the same values in f32.",
        "https://github.com/jax-ml/jax/issues/30879", Array("bf16", [1, 1000], [(half, 200)]), [same_as(0, 0, "logits-f32", 0)], samples=8)
    add("logits-f32", "The values of logits-bf16, in f32.", "https://github.com/jax-ml/jax/issues/30879",
        Array("f32", [1, 1000], [([word << 16 for word in half], 200)]), samples=8)


def add_all(corpus):
    for maker in (not_numbers, masked, tails, sizes, large, ties):
        maker(corpus)
