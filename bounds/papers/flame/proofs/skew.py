"""Section 4.4, Definition 2: the relative skew, eqs. (17) and (18)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from bounds.ledger.draw import Draw, mean, subsets
from bounds.ledger.proof import Proof
from bounds.ledger.step import Step
from bounds.papers.flame.proofs.common import drawn

_step = Proof("flame/theorem-2-biased", "Section 4.4, Definition 2")


def relative_skew(selections: Sequence[Sequence[int]], moves: Sequence[Fraction]) -> Fraction:
    """The gamma of (17) for equally likely selections and squared movements of the clients."""
    return mean(mean(moves[i] for i in selected) for selected in selections) / mean(moves)


def _largest(order: Sequence[int], c: int, s: int) -> list[Sequence[int]]:
    """The selections of Algorithm 1: the s first of `order` among c candidates, every set of candidates alike."""
    return [sorted(candidates, key=order.index)[:s] for candidates in subsets(len(order), c)]


def _sizes(draw: Draw) -> tuple[int, int, int]:
    m = draw.whole(2, 4)
    s = draw.whole(1, m)
    return m, draw.whole(s, m), s


def _unbiased(draw: Draw, *, skew: int) -> tuple[Fraction, Fraction]:
    m, _, s = _sizes(draw)
    return relative_skew(list(subsets(m, s)), [draw.positive() for _ in range(m)]), Fraction(skew)


def _least(draw: Draw, *, spare: int, skew: int) -> tuple[Fraction, Fraction]:
    """(18) with up to `spare` more candidates than selected: the least of (17) lies where one client alone moves."""
    m, _, s = _sizes(draw)
    selections = _largest(range(m), min(m, s + draw.whole(0, spare)), s)
    draw.show(m=m, s=s, sets_of_candidates=len(selections))
    alone = ([Fraction(i == j) for j in range(m)] for i in range(m))
    return min(relative_skew(selections, moves) for moves in alone), Fraction(skew)


def _in_order(draw: Draw, *, skew: int) -> tuple[Fraction, Fraction]:
    """(17) where those with larger gradients do move more."""
    m, c, s = _sizes(draw)
    moves = sorted((draw.positive() for _ in range(m)), reverse=True)
    return relative_skew(_largest(range(m), c, s), moves), Fraction(skew)


STEPS: tuple[Step, ...] = (
    _step("below eq. (17)", "gamma(S, theta') = 1 for the unbiased selection", drawn(_unbiased, "==", skew=1)),
    _step(
        "below eq. (18)",
        "gamma_bar becomes larger when clients with larger moves are selected: at least 1, as for unbiased selection",
        drawn(partial(_least, spare=3), ">=", skew=1),
        repaired=drawn(_in_order, ">=", skew=1),
        repair="(17) at moves that are in the order of selection, instead of the least (18) over all moves",
        remark="theta' is free in (18), and the selection sees theta alone: the least is m/s times the smallest "
        "probability of being selected, at most 1 for every strategy, so the bound of the biased selection is never "
        "below that of the unbiased one. (54) starts from (17) at the run's own steps. Where nobody moves (17) is 0/0.",
    ),
    _step(
        "eq. (18), as used in eqs. (20) and (55)",
        "gamma_bar > 0 for the biased selection of Algorithm 1",
        drawn(partial(_least, spare=3), ">", skew=0),
        repaired=drawn(partial(_least, spare=0), ">", skew=0),
        repair="as many candidates as selected clients, c = s, which is the unbiased selection",
        remark="(20) and (55) divide by gamma_bar. With more candidates than selected clients the one with the "
        "smallest gradient is never taken, and (17) is 0 where it alone moves.",
    ),
)
