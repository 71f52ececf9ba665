# SPDX-License-Identifier: Apache-2.0
"""Section 5: winner, runner-up, several samples, draws without replacement."""

from .gumbel import row_noise
from .philox import SAMPLING
from .score import INVALID, MASK, f64_hex, report_margin, report_score, score, score_bits


def state(zs):
    """'invalid' comes before 'all-masked'; 'ok' otherwise."""
    if any(z is INVALID for z in zs):
        return "invalid"
    return "all-masked" if all(z == MASK for z in zs) else "ok"


def ranked(zs, tau_q24, seed, sequence, position, sample, purpose=SAMPLING):
    """All unmasked tokens as (S, token), best first: S descending, token ascending."""
    gammas = row_noise(seed, sequence, position, sample, len(zs), purpose)
    scored = [(score(z, g, tau_q24), v) for v, (z, g) in enumerate(zip(zs, gammas)) if z != MASK]
    return sorted(scored, key=lambda sv: (-sv[0], sv[1]))


def draw(zs, tau_q24, seed, sequence, position, sample, purpose=SAMPLING):
    """One draw of one row, as the dictionary that the known answers hold."""
    outcome = state(zs)
    if outcome != "ok":
        return {"outcome": outcome}
    best = ranked(zs, tau_q24, seed, sequence, position, sample, purpose)[:2]
    s, token = best[0]
    s2, token2 = best[1] if len(best) == 2 else (None, None)
    return {
        "token": token,
        "scoreBits": score_bits(s),
        "runnerUp": token2,
        "runnerUpScoreBits": None if s2 is None else score_bits(s2),
        "score": f64_hex(report_score(s, tau_q24)),
        "margin": None if s2 is None else f64_hex(report_margin(s, s2)),
    }


def draws(zs, tau_q24, seed, sequence, position, samples, first=0, purpose=SAMPLING):
    if not (samples >= 1 and first >= 0 and first + samples <= 1 << 24):
        raise ValueError("sample numbers stay below 2^24")
    return [draw(zs, tau_q24, seed, sequence, position, first + i, purpose) for i in range(samples)]


def without_replacement(zs, tau_q24, seed, sequence, position, sample, k, purpose=SAMPLING):
    """The k best (S, token) of one draw; fewer where fewer tokens are unmasked."""
    if state(zs) != "ok":
        return []
    return ranked(zs, tau_q24, seed, sequence, position, sample, purpose)[:k]
