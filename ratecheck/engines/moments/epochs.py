"""Second moments where every epoch takes the clients block by block, in an order that is drawn anew.

Which clients have had their turn in the epoch is a state of its own. Given that they are the set A, the next block is
any S of the others with equal probability, whatever came before; so the moments given A follow those given A without
the last block, by the map of a round with given participants:

    E[. given A] = mean over the blocks B in A of E[map of B applied to (. given A without B)].

An epoch costs one round per pair of a set and a block, n 2^(n-1) of them for S = 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ratecheck.engines.moments.exact import Moments, check_affine
from ratecheck.engines.moments.moment import EPS, Moment, majorant
from ratecheck.engines.moments.roundmap import RoundMap
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError

# Rounds that are followed in an epoch, and multiplications in all.
_MOST_PAIRS, _MOST_WORK = 10_000, 1e11

_Set = frozenset[int]


def check(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine, blocks partition the clients, and there are few sets of them."""
    check_affine(setup)
    n, S = setup.problem.n, setup.trace.partition
    if S is None:
        raise InputError("orders are followed where blocks partition the clients in every epoch: use engine=step")
    for what, found in (("depends on delays", setup.algorithm.uses_delay), ("varies", bool(setup.algorithm.varying))):
        if found:
            raise InputError(f"{setup.method.name} {what}, and orders are drawn at random: use engine=step")
    pairs = sum(math.comb(n, done) * math.comb(n - done, S) for done in range(0, n, S))
    if pairs > _MOST_PAIRS:
        raise InputError(
            f"an epoch of n={n} clients in blocks of {S} has {pairs:g} pairs of a block and the clients before it, "
            f"above {_MOST_PAIRS}: use engine=step"
        )
    size = setup.problem.d * (len(setup.algorithm.server) + n * len(setup.algorithm.client)) + 1
    if (work := pairs * setup.T * S / n * float(size) ** 3) > _MOST_WORK:
        raise InputError(
            f"to follow all orders takes {work:.1g} multiplications, above {_MOST_WORK:g}: use engine=step"
        )


class EpochMoments(Moments):
    """The recursion of a run that was checked: moments given who has had a turn in this epoch."""

    def before_rounds(self) -> Iterator[Moment]:
        """The moment before each of the T rounds, over all orders."""
        S = self.setup.trace.partition
        assert S is not None
        everybody = frozenset(range(self.n))
        maps = {
            frozenset(block): self._given(np.array(block), np.ones(S, dtype=int))
            for block in itertools.combinations(everybody, S)
        }
        given = {frozenset[int](): self.start()}
        for t in range(self.setup.T):
            yield mixed([*given.values()])
            if t + 1 < self.setup.T:
                given = _advanced(given, maps)
                if everybody in given:
                    given = {frozenset[int](): given[everybody]}


def _advanced(given: dict[_Set, Moment], maps: dict[_Set, RoundMap]) -> dict[_Set, Moment]:
    """The moments given who has had a turn, a round later."""
    found: dict[_Set, list[Moment]] = {}
    for done, moment in given.items():
        for block, round_map in maps.items():
            if not block & done:
                found.setdefault(done | block, []).append(round_map.advance(moment))
    return {done: mixed(moments) for done, moments in found.items()}


def mixed(moments: Sequence[Moment]) -> Moment:
    """The moment of a state that has each of these with equal probability."""
    if len(moments) == 1:
        return moments[0]
    means = np.stack([each.mean for each in moments])
    mean, unit = means.mean(axis=0), len(moments) + 8
    apart = means - mean
    covariance, off, rounding = (
        np.mean([getattr(each, name) for each in moments], axis=0) for name in ("covariance", "off", "rounding")
    )
    covariance = covariance + apart.T @ apart / len(moments)
    # Both differ by what their sums round; errors of the mean add up with those that there are.
    old, fresh = np.maximum(np.diagonal(off), 0.0), majorant(unit * np.abs(means).mean(axis=0))
    here = (fresh > 0) & (old > 0)
    a = max(1.0, math.sqrt(float(np.max(old[here] / fresh[here])))) if here.any() else 1.0
    off = (1 + 1 / a) * off + np.diag((1 + a) * fresh + 4 * unit * EPS * majorant(np.sqrt(old)))
    spread = np.mean([np.abs(np.diagonal(each.covariance)) for each in moments], axis=0) + (apart**2).mean(axis=0)
    own = np.sqrt(np.maximum(np.diagonal(rounding), 0.0))
    rounding = rounding + np.diag(majorant(np.sqrt(2 * unit * spread)) + 4 * unit * EPS * majorant(own))
    nothing = np.zeros_like(mean)
    return Moment(mean, covariance, off, rounding, nothing, nothing)
