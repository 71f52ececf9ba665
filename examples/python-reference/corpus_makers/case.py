# SPDX-License-Identifier: Apache-2.0
"""A case of the corpus: inputs, parameters, the rule's tokens, and what any sampler may draw."""

import math
from fractions import Fraction

from flash_sampling_reference.digest import head_digest
from flash_sampling_reference.formats import FORMATS, decode, f32_bits
from flash_sampling_reference.head import Head
from flash_sampling_reference.operands import Refused
from flash_sampling_reference.sample import draw
from flash_sampling_reference.score import INVALID, MASK, fix, tau

from .arrays import widened
from .outcomes import grouped, row_outcome

SEED, POSITION = 42, 7
# How far a sum of f32 products may be off, relative to the sum of their sizes, for each column; and for weights rounded once more.
ROUNDING = {"f32": Fraction(2, 1 << 24), "f16": Fraction(1, 1 << 24), "bf16": Fraction(1, 1 << 24), "int8": Fraction(1, 1 << 24)}
REROUNDED = {"f32": 0, "f16": 0, "bf16": 0, "int8": Fraction(1, 1 << 8)}
# Operands below this may count as zero.
SMALLEST = {"f32": Fraction(1, 1 << 40), "f16": 0, "bf16": Fraction(1, 1 << 56), "int8": Fraction(1, 1 << 56)}


class Parameters:
    """One value for all rows or a list with one a row. top_k, top_p, shards: only where a case has them."""

    def __init__(self, rows, seed=SEED, temperature=1.0, position=POSITION, sequence=None, samples=1, **more):
        spread = lambda value: list(value) if isinstance(value, (list, tuple, range)) else [value] * rows
        self.seed, self.temperature, self.position = spread(seed), spread(temperature), spread(position)
        self.sequence = list(range(rows)) if sequence is None else spread(sequence)
        self.samples, self.more = samples, more

    def json(self):
        return {"seed": joined([str(seed) for seed in self.seed]), "temperature": joined([number(t) for t in self.temperature]),
                "position": joined(self.position), "sequence": joined(self.sequence), "numSamples": self.samples,
                **{name: number(value) for name, value in self.more.items()}}

    def draws(self, row_z):
        """The draws of each row by the rule. row_z: for each row its Z, or None where it was refused."""
        out = []
        for row, zs in enumerate(row_z):
            for sample in range(self.samples):
                refused = zs is None or not 0 <= self.temperature[row] < 256
                out.append({"outcome": "refused"} if refused else draw(
                    zs, tau(self.temperature[row]), self.seed[row], self.sequence[row], self.position[row], sample))
        return out


def joined(values):
    return values[0] if all(value == values[0] for value in values) else values


def number(value):
    """What JSON has no number for is text."""
    if isinstance(value, float) and (not math.isfinite(value) or math.copysign(1, value) < 0 and value == 0):
        return {math.inf: "Infinity", -math.inf: "-Infinity", 0.0: "-0"}.get(value, "NaN")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def expected(draws):
    return {"tokens": [d.get("token", -1) for d in draws], "scoreBits": " ".join(d.get("scoreBits", "-") for d in draws)}


def case(name, trouble, issue, kind, files, sizes, parameters, draws, outcomes, large=False):
    """draws: None where the rule says nothing of the parameters."""
    return {"name": name, "trouble": trouble, "issue": issue, "kind": kind, "files": files, **sizes, **({"large": True} if large else {}),
            "parameters": parameters.json(), "expected": None if draws is None else expected(draws), "outcomes": outcomes}


class Corpus:
    def __init__(self):
        self.arrays, self.cases, self.names = {}, [], {}

    def file(self, name, array):
        """The name of the array's file. Equal arrays are one file."""
        key = (array.dtype, tuple(array.shape), tuple(array.words))
        if key not in self.names:
            self.names[key] = name
            self.arrays[name] = array.json()
        return self.names[key]

    def from_logits(self, name, trouble, issue, logits, more_outcomes=(), mask=None, kept=None, refusal=None, defined=True,
                    large=False, **parameters):
        """kept: for each row, the tokens that a mask or filter leaves. refusal: what the parameters allow beside the tokens."""
        rows, vocabulary = logits.shape
        parameters = Parameters(rows, **parameters)
        values = logits.values()
        outcomes, row_z = [], []
        for row, words in enumerate(logits.rows()):
            left = None if kept is None else kept[row]
            temperature = parameters.temperature[row]
            reach = temperature if 0 <= temperature < math.inf else 1e9
            outcome = {"refusal": "must"} if refusal == "must" else row_outcome(values[row], reach, kept=left)
            outcomes.append({**outcome, **({"refusal": "may"} if refusal == "may" and "allowed" in outcome else {})})
            known = {word: fix(widened(word, logits.dtype)) for word in set(words)}
            zs = [known[word] for word in words]
            row_z.append(zs if left is None else [z if z is INVALID or v in left else MASK for v, z in enumerate(zs)])
        files = {"logits": self.file(name + ".logits", logits)}
        if mask is not None:
            files["mask"] = self.file(name + ".mask", mask)
        self.cases.append(case(name, trouble, issue, "logits", files, {"V": vocabulary, "rows": rows}, parameters,
                               parameters.draws(row_z) if defined else None, grouped(outcomes) + list(more_outcomes), large))

    def from_head(self, name, trouble, issue, weights, hidden, scales=None, more_outcomes=(), refusals=None, **parameters):
        """refusals: row -> "may" or "must", for hidden rows that a sampler may or must refuse."""
        vocabulary, columns = weights.shape
        rows = hidden.shape[0]
        group = columns // (scales.shape[1] if len(scales.shape) == 2 else 1) if scales else 0
        scale_rows = [] if scales is None else [scales.words[at:at + columns // group] for at in range(0, len(scales.words), columns // group)]
        head = Head(weights.dtype, weights.rows(), scale_rows or None, group or None)
        parameters = Parameters(rows, **parameters)
        outcomes, row_z = [], []
        for row, given in enumerate(hidden.rows()):
            words = [widened(word, hidden.dtype) for word in given]
            row_z.append(row_scores(head, words))
            refusal = (refusals or {}).get(row)
            if refusal == "must":
                outcomes.append({"refusal": "must"})
                continue
            values, errors = exact_logits(head, [decode(word, FORMATS["f32"]) for word in words])
            outcomes.append({**row_outcome(values, parameters.temperature[row], errors), **({"refusal": refusal} if refusal else {})})
        files = {"weights": self.file(name + ".weights", weights), "hidden": self.file(name + ".hidden", hidden)}
        if scales is not None:
            files["scales"] = self.file(name + ".scales", scales)
        sizes = {"V": vocabulary, "D": columns, "rows": rows, "dtype": weights.dtype,
                 "headDigest": head_digest(weights.dtype, weights.rows(), group, scale_rows)}
        self.cases.append(case(name, trouble, issue, "head", files, sizes, parameters, parameters.draws(row_z), grouped(outcomes) + list(more_outcomes)))


def row_scores(head, words):
    """Z of each token, or None for a refused row. Equal vocabulary rows are computed once."""
    try:
        xs = head.prepare(words)
    except Refused:
        return None
    keys = [(tuple(row), tuple(head.scales[v]) if head.dtype == "int8" else ()) for v, row in enumerate(head.raw)]
    places = {key: v for v, key in enumerate(keys)}
    known = {key: head.z(v, xs) for key, v in places.items()}
    return [known[key] for key in keys]


def exact_logits(head, xs):
    """Each token's logit in exact arithmetic, and how far any f32 arithmetic may be from it."""
    scales = head.scales if head.dtype == "int8" else [[f32_bits(1.0)]] * len(head.raw)
    keys = [(tuple(row), tuple(decode(bits, FORMATS["f32"]) for bits in scale)) for row, scale in zip(head.raw, scales)]
    known = {(row, scale): exact_logit(head.dtype, row, scale, xs) for row, scale in set(keys)}
    return [known[key][0] for key in keys], [known[key][1] for key in keys]


def exact_logit(dtype, row, scale, xs):
    step = len(xs) // len(scale)
    terms = [Fraction(w) * Fraction(x) * Fraction(scale[k // step]) for k, (w, x) in enumerate(zip(row, xs))]
    size = sum(abs(term) for term in terms)
    small = SMALLEST[dtype] * Fraction(len(xs) * max(1.0, max(abs(x) for x in xs), max(abs(w) for w in row)) * max(scale))
    return sum(terms), size * (len(xs) * ROUNDING[dtype] + REROUNDED[dtype]) + small
