"""How often sums over delays count each round.

A claim about sums of arbitrary quantities q_p >= 0, p = 0 ... T-1, holds for all of them exactly when every q_p has no
larger coefficient on the left than on the right. Round -1, with x^(-1) = x^(0) and y^(-1) = 0, counts for nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from bounds.ledger.draw import Rational
from bounds.ledger.participation import ParticipationMatrix
from bounds.ledger.proof import Proof, counting
from bounds.ledger.step import Step
from bounds.papers.fedsum.proofs.shared import delays

Window = tuple[Rational, Iterable[int]]
Counts = list[Fraction]
Pairs = Iterable[tuple[Fraction, Fraction]]


def counts(rounds: int, windows: Iterable[Window]) -> Counts:
    """The coefficient of each q_p in a sum over windows of rounds, each with a factor."""
    found = [Fraction(0)] * rounds
    for factor, window in windows:
        for p in window:
            if 0 <= p < rounds:
                found[p] += Fraction(factor)
    return found


def both(left: Counts, right: Counts) -> Pairs:
    """Coefficient by coefficient."""
    return list(zip(left, right, strict=True))


def visits(p: ParticipationMatrix) -> Iterator[tuple[int, int, int, int]]:
    """For every t < T and i in A_t: i, t, the last round a = a_{i,t} of client i, and the one before, a_{i,a-1}."""
    for t in range(p.T):
        for i in p.seen(t):
            last = p.last(i, t)
            yield i, t, last, p.before(i, last)


def absent(p: ParticipationMatrix) -> tuple[int, int]:
    """sum_j sum_{t=0}^{T} of that indicator against N*tau_max, for a matrix of the rounds 0 ... T."""
    return sum(p.last(j, t) < 0 for t in range(p.T) for j in range(p.N)), p.N * p.tau_max


def _delay_windows(p: ParticipationMatrix) -> Counts:
    """sum_{t<T} sum_{q=t-tau_t}^{t-1}."""
    return counts(p.T, ((1, range(t - p.delay(t), t)) for t in range(p.T)))


def _clipped_windows(p: ParticipationMatrix, clip: Callable[[int, int], int]) -> Counts:
    """sum_{t<T} sum_{q=clip(0,t-tau_max)}^{t-1}."""
    return counts(p.T, ((1, range(clip(0, t - p.tau_max), t)) for t in range(p.T)))


def _shifted(p: ParticipationMatrix) -> Counts:
    """sum_{q<T} sum_{t=q+1}^{q+tau_max}."""
    return [Fraction(len(range(q + 1, q + p.tau_max + 1))) for q in range(p.T)]


def _times_delay(p: ParticipationMatrix, power: int) -> Counts:
    """tau_max^power * sum_{q<T}."""
    return [Fraction(p.tau_max) ** power for _ in range(p.T)]


def _weighted(p: ParticipationMatrix) -> Counts:
    """sum_{t<T} tau_t sum_{q=t-tau_t}^{t-1}."""
    return counts(p.T, ((p.delay(t), range(t - p.delay(t), t)) for t in range(p.T)))


def window_bound(part: Proof) -> Step:
    """Lemmas C.2, D.2 and E.2."""
    return part(
        "statement",
        "sum_t sum_{p=t-tau_t}^{t-1} q_p <= tau_max sum_t q_t",
        counting(lambda p: both(_delay_windows(p), _times_delay(p, 1)), clients=(1, 2, 3), form=delays.window_bound),
        remark="q_p = E||sum of the gradients in y^(p)||^2; coefficient by coefficient, with q_{-1} = 0.",
    )


def lemma_2(part: Proof, *, last: str) -> tuple[Step, ...]:
    """The proof of Lemmas C.2 and D.2; ``last`` is the operator of the last relation."""
    q = "q_p is any quantity >= 0 of round p; coefficient by coefficient, with q_{-1} = 0."
    clipped = "sum_t sum_{p=min{0,t-tau_max}}^{t-1} q_p"
    return (
        part(
            "proof, first display",
            "t - tau_t >= min{0, t - tau_max}",
            counting(
                lambda p: [(t - p.delay(t), min(0, t - p.tau_max)) for t in range(p.T)], ">=", form=delays.window_begins
            ),
        ),
        part(
            "proof, chain, first inequality",
            f"sum_t sum_{{p=t-tau_t}}^{{t-1}} q_p <= {clipped}",
            counting(lambda p: both(_delay_windows(p), _clipped_windows(p, min)), form=delays.wider_window),
            remark=q,
        ),
        part(
            "proof, chain, second inequality",
            f"{clipped} <= sum_p sum_{{t=p+1}}^{{p+tau_max}} q_p",
            counting(lambda p: both(_clipped_windows(p, min), _shifted(p))),
            repaired=counting(lambda p: both(_clipped_windows(p, max), _shifted(p)), form=delays.swapped_window),
            repair="max{0, t - tau_max} in place of min{0, t - tau_max}, here and in the line before",
            remark=f"With the minimum the window is all of 0 ... t-1 from round tau_max on. {q}",
        ),
        part(
            "proof, chain, last relation",
            f"sum_p sum_{{t=p+1}}^{{p+tau_max}} q_p {last} tau_max sum_p q_p",
            counting(
                lambda p: both(_shifted(p), _times_delay(p, 1)), last, form=functools.partial(delays.length, last)
            ),
            remark=q,
        ),
        window_bound(part),
    )


def corollary_3(part: Proof) -> tuple[Step, ...]:
    """Corollaries C.3, D.3 and E.3."""
    return (
        part(
            "statement",
            "sum_t tau_t sum_{p=t-tau_t}^{t-1} q_p <= tau_max^2 sum_t q_t",
            counting(lambda p: both(_weighted(p), _times_delay(p, 2)), clients=(1, 2, 3), form=delays.weighted_windows),
            remark="Coefficient by coefficient of q_p >= 0, with q_{-1} = 0.",
        ),
    )
