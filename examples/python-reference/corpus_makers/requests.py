# SPDX-License-Identifier: Apache-2.0
"""What a request says: temperatures, seeds, positions, batches, shards, masks, filters."""

import math

from vector_makers.inputs import Integers

from .arrays import Array, logits, one_row, same_rows
from .numbers import plain
from .outcomes import distinct, same_as

INF, NAN = math.inf, math.nan
TINY = "https://github.com/vllm-project/vllm/issues/1623"
ZERO = "https://github.com/karpathy/nanoGPT/pull/756"
ROWS_SEEDS = "https://github.com/flashinfer-ai/flashinfer/pull/4861"


def temperatures(corpus):
    add = corpus.from_logits
    tiny = [1e-4, 1e-6, 1e-12, 1e-38, 1e-45]
    add("temperature-tiny", "Logits divided by a tiny temperature overflow, and the answer is NaN, not the greedy token.", TINY,
        same_rows(5, [10.0, 11.06, -3.0, 9.5]), temperature=tiny)
    add("temperature-tiny-wide", "The same with logits at the ends of f16 and f32.", TINY,
        logits([65504.0, -65504.0, 0.0], [-65504.0, 65504.0, 0.0], [3e38, -3e38, 0.0], [-3e38, 0.0, 3e38], [-65504.0, -3e38, -3e38]), temperature=tiny)
    add("temperature-zero", "A temperature of zero divides by zero.", ZERO, same_rows(2, [1.0, 2.0, 0.5, -7.0]), temperature=[0.0, -0.0])
    add("temperature-mixed", "A greedy row in a batch is divided by a stand-in, and its masks turn into +Infinity.",
        "https://github.com/vllm-project/vllm/issues/22180", logits([0.0, 1.0, 2.0], [-INF, 1.0, 0.5], [0.0, 1.0, 2.0]), temperature=[1.0, 0.0, 1.0])
    add("temperature-high", "A high temperature must flatten probabilities, and still never open a mask.",
        "https://github.com/pytorch/pytorch/issues/4858", logits([value if token % 3 else -INF for token, value in enumerate(plain("hot", 60))]), temperature=255.9, samples=64)
    values = logits([1.0, 2.0, 0.5])
    for name, temperature, refusal in (("nan", NAN, "must"), ("negative", -1.0, "must"), ("infinite", INF, "may")):
        add("temperature-" + name, "A temperature that is none passes the checks, and the last token comes out for ever.",
            "https://github.com/huggingface/transformers.js/pull/1431", values, temperature=temperature, refusal=refusal)


def seeds(corpus):
    add = corpus.from_logits
    flat, given = [0.0] * 1000, [1111, 2222, 3333, 4444]
    add("seed-a-row", "Of a tensor of seeds only the first is read.", ROWS_SEEDS, same_rows(4, flat),
        [same_as(row, row, "seed-%d" % seed, 0) for row, seed in enumerate(given)], seed=given, sequence=0)
    for seed in given:
        add("seed-%d" % seed, "One row of seed-a-row alone.", ROWS_SEEDS, logits(flat), seed=seed, sequence=0)
    add("seed-large", "Seeds are cut to 32 bits: these differ only above them.", "https://github.com/numpy/numpy/pull/4676",
        same_rows(4, flat), [distinct(0, 3, 2)], seed=[1, (1 << 32) + 1, (1 << 33) + 1, (1 << 62) + 1], sequence=0)
    others = [plain("batch %d" % row, 300) for row in range(5)]
    mates = dict(seed=[5, 6, 7, 8, 9], position=[0, 9, 2, 3, 4], sequence=[4, 0, 6, 7, 8])
    add("batch-of-five", "A seed is ignored where another request of the batch has none, or the row's place decides its noise.",
        "https://github.com/vllm-project/vllm/issues/51226", logits(*others), [same_as(1, 1, "batch-of-one", 0)], **mates)
    add("batch-of-one", "One row of batch-of-five alone.", "https://github.com/vllm-project/vllm/issues/51226", logits(others[1]), seed=6, position=9, sequence=0)
    add("batch-reversed", "The rows of batch-of-five in the opposite order: the grid decides which thread makes whose noise.",
        "https://github.com/pytorch/pytorch/pull/176584", logits(*others[::-1]),
        [same_as(row, row, "batch-of-five", 4 - row) for row in range(5)], **{name: values[::-1] for name, values in mates.items()})
    add("one-seed-1000-rows", "One seed for all rows of a call gives each the same noise.", "https://github.com/vllm-project/vllm/issues/50440",
        same_rows(1000, [0.0] * 32), [distinct(0, 999, 24)])
    add("consecutive-seeds", "Consecutive seeds through one step of a generator give the same quantile: always the same token.",
        "https://github.com/kekzl/imp/pull/1143", same_rows(200, [1.0, 1.001, 0.999]), [distinct(0, 199, 3)], seed=range(1, 201), position=0, sequence=0)
    add("positions", "The offset stays 0: each step of a request draws with the same noise.", "https://github.com/NVIDIA/TensorRT-Edge-LLM/issues/211",
        same_rows(16, flat), [distinct(0, 15, 8)], position=range(16), sequence=0)
    add("samples", "Several samples of a row share their noise.",
        "https://github.com/NVIDIA/TensorRT-LLM/issues/19487", same_rows(2, flat), [distinct(0, 0, 16), distinct(1, 1, 16)], seed=[0, 1], sequence=0, samples=24)


def shards(corpus):
    rows = [plain("shards %d" % row, 420) for row in range(4)]
    ranks = "https://github.com/openai/gpt-oss/issues/270"
    for parts in (1, 2, 3, 7):
        corpus.from_logits("shards-%d" % parts, "Ranks that each hold a part of the vocabulary disagree on the token.", ranks, logits(*rows),
                           [] if parts == 1 else [same_as(0, 3, "shards-1", 0)], shards=parts)
    corpus.from_logits("shards-equal-logits", "Ranks with the same seed draw the same noise: of two equal logits on two ranks always the same one wins.",
                       "https://github.com/huggingface/transformers/issues/36634", same_rows(256, [0.0, 0.0]), [distinct(0, 255, 2)], position=range(256), sequence=0, shards=2)


def masks(corpus):
    high = [0.0] * 96 + [30.0] * 4
    narrow = Array("u32", [1, 3], [([0xFFFFFFFF], 3)])
    corpus.from_logits("mask-narrower-than-vocabulary", "A grammar's mask is narrower than the LM head: what lies past it must not be drawn.",
                       "https://github.com/Blaizzy/mlx-vlm/pull/1805", logits(high), mask=narrow, kept=[range(96)], refusal="may")
    words = [0x80000001, 0x00000000, 0x00010000, 0x00000008]
    allowed = [token for token in range(100) if words[token // 32] >> token % 32 & 1]
    corpus.from_logits("mask-bits", "Bits of a mask are read from the wrong end, or past its last word.",
                       "https://github.com/Blaizzy/mlx-vlm/issues/1917", logits(plain("mask", 100)), mask=Array("u32", [1, 4], [(words, 1)]), kept=[allowed], samples=64)
    corpus.from_logits("mask-of-nothing", "A mask that allows nothing: a token comes out all the same.",
                       "https://github.com/huggingface/transformers/pull/21435", logits(plain("mask", 100)), mask=Array("u32", [1, 4], [([0], 4)]), kept=[[]])


def filters(corpus):
    add = corpus.from_logits
    source = Integers("corpus filters")
    values = [source.value(2) for _ in range(40)]
    best = max(range(40), key=lambda token: values[token])
    row, everything = logits(values), range(40)
    top_k, top_p = "https://github.com/karpathy/nanochat/issues/466", "https://github.com/ohdearquant/lattice/issues/328"
    add("filters-off", "The row of the cases below, without a filter.", top_k, row, samples=16)
    add("top-k-one", "The best token alone.", "https://github.com/vllm-project/tpu-inference/pull/3580", row, kept=[[best]], topK=1, samples=16)
    add("top-k-all", "As many as there are tokens: the same as no filter.", top_k, row, [same_as(0, 0, "filters-off", 0)], kept=[everything], topK=40, samples=16)
    for name, k, issue in (("zero", 0, top_k), ("minus-one", -1, "https://github.com/Lightning-AI/litgpt/pull/2309"),
                           ("past-all", 41, "https://github.com/TransformerLensOrg/TransformerLens/pull/1347"),
                           ("huge", 2147483647, "https://github.com/torch-spyre/sendnn-inference/issues/542")):
        add("top-k-" + name, "A number of tokens that cannot be kept crashes the server. No filter, or a refusal.", issue, row,
            refusal="may", defined=False, topK=k, samples=16)
    add("top-k-tied", "More tokens tie for the last place than there is room for.", "https://github.com/apple/axlearn/pull/1022",
        logits([1.0, 5.0, 3.0, 3.0, 3.0, -2.0]), kept=[[1, 2, 3, 4]], defined=False, topK=2, samples=16)
    add("top-p-tiny", "A mass that even the best token passes: the best token alone, never an empty set.", "https://github.com/meta-llama/llama/pull/1410",
        row, kept=[[best]], topP=1e-9, samples=16)
    add("top-p-one", "All of the mass: the same as no filter.", top_p, row, [same_as(0, 0, "filters-off", 0)], kept=[everything], topP=1.0, samples=16)
    add("top-p-zero", "No mass at all: the best token alone, or a refusal.", "https://github.com/google-deepmind/gemma/pull/790", row,
        kept=[[best]], refusal="may", topP=0.0, samples=16)
    add("top-p-past-one", "More than all of the mass. No filter, or a refusal.", top_p, row, refusal="may", defined=False, topP=1.0000001, samples=16)
    add("top-p-nan", "NaN turns the filter off without a word.", top_p, row, refusal="must", defined=False, topP=NAN)


def add_all(corpus):
    for maker in (temperatures, seeds, shards, masks, filters):
        maker(corpus)
    corpus.from_logits("batch-of-4-large", "Rows of a large batch, of a size that no tile divides.",
                       "https://github.com/vllm-project/vllm/pull/44744", Array("f32", [4, 32771], [(logits(plain("large", 61)).words, 2148), (logits(plain("large", 56)).words, 1)]), large=True)
    corpus.from_logits("one-row-of-zeros", "The logits of head-of-zeros.", "https://github.com/jax-ml/jax/issues/30879", one_row(([0.0], 300)), samples=8)
