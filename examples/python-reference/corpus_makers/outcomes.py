# SPDX-License-Identifier: Apache-2.0
"""What any correct sampler may draw from a row, by exact arithmetic on its logits, whatever its noise."""

import math
from fractions import Fraction

# A token further below the highest logit than this, in units of the temperature, has a probability below 1e-26.
REACH = 60


def ranges(tokens):
    """Sorted tokens as inclusive ranges."""
    out = []
    for token in tokens:
        if out and out[-1][1] == token - 1:
            out[-1][1] = token
        else:
            out.append([token, token])
    return out


def row_outcome(values, temperature, errors=None, kept=None):
    """values: a row's logits as floats or Fractions, all exact; errors: how far each may be off; kept: tokens that a filter keeps."""
    kept = range(len(values)) if kept is None else kept
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        return {"refusal": "must"}
    infinite = [v for v in kept if values[v] == math.inf]
    if infinite:
        return {"allowed": ranges(infinite), "refusal": "may"}
    open_ = [v for v in kept if values[v] != -math.inf]
    if not open_:
        return {"refusal": "must"}
    # Few of a row's logits differ: each is looked at once.
    ends = {pair: (Fraction(pair[0]) - pair[1], Fraction(pair[0]) + pair[1]) for pair in {(values[v], errors[v] if errors else 0) for v in open_}}
    floor = max(low for low, _ in ends.values()) - REACH * Fraction(temperature)
    reached = {pair for pair, (_, high) in ends.items() if high >= floor}
    return {"allowed": ranges([v for v in open_ if (values[v], errors[v] if errors else 0) in reached])}


def grouped(outcomes):
    """One outcome a row -> outcomes of rows that follow each other."""
    out = []
    for row, outcome in enumerate(outcomes):
        last = out[-1] if out else None
        if last and {key: value for key, value in last.items() if key != "rows"} == outcome:
            last["rows"][1] = row
        else:
            out.append({"rows": [row, row], **outcome})
    return out


def distinct(first, last, least):
    """Among the draws of these rows there are so many different tokens."""
    return {"rows": [first, last], "distinct": least}


def same_as(first, last, case, row):
    """These rows draw what the rows of another case from `row` on draw."""
    return {"rows": [first, last], "sameAs": {"case": case, "row": row}}
