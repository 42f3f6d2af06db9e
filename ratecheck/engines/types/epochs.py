"""Second moments where every epoch takes the clients block by block, in an order that is drawn anew.

Which clients have had their turn in the epoch is a state of its own. Given that they are the set A, the next block is
any S of the others with equal probability, whatever came before; so the moments given A follow those given A without
the last block, by the map of a round with given participants:

    E[. given A] = mean over the blocks B in A of E[map of B applied to (. given A without B)].

An epoch costs one round per pair of a set and a block, n 2^(n-1) of them for S = 1.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ratecheck.engines.moments.expectation import Moments, check_affine
from ratecheck.engines.moments.moment import EPS, Moment, majorant
from ratecheck.engines.moments.roundmap import RoundMap
from ratecheck.engines.setup import Setup, check_clients
from ratecheck.errors import InputError

# Rounds that are followed in an epoch, and multiplications in all.
_MOST_PAIRS, _MOST_WORK = 10_000, 1e11

# Roundings of a weight: it is multiplied once a round.
_ROUNDED = 128

# How many of each kind of clients.
_Counts = tuple[int, ...]
_Given = dict[_Counts, tuple[float, Moment]]


def check(setup: Setup) -> None:
    """Raise `InputError` unless the run is affine, blocks partition the clients, and there are few sets of them."""
    check_clients(setup)
    check_affine(setup)
    n, S = setup.problem.n, setup.trace.partition
    if S is None:
        raise InputError("orders are followed where blocks partition the clients in every epoch: use engine=step")
    memory = {
        "depends on delays": setup.algorithm.uses_delay,
        "varies": bool(setup.algorithm.varying),
        "tosses a coin in every round": setup.algorithm.coin is not None,
    }
    for what, found in memory.items():
        if found:
            raise InputError(f"{setup.method.spoken} {what}, and orders are drawn at random: use engine=step")
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
    """The recursion of a run that was checked: moments given who has had a turn in this epoch.

    Clients that remember nothing and do the same count as one kind: it is enough how many of them have had a turn.
    """

    def before_rounds(self) -> Iterator[Moment]:
        """The moment before each of the T rounds, over all orders."""
        S, kinds = self.setup.trace.partition, self._kinds()
        assert S is not None
        everybody, nobody = tuple(map(len, kinds)), (0,) * len(kinds)
        blocks = {}
        for block in _blocks(everybody, S):
            members = np.sort(np.concatenate([kind[:count] for kind, count in zip(kinds, block, strict=True)]))
            blocks[block] = self._given(members, np.ones(S, dtype=int))
        given = {nobody: (1.0, self.start())}
        for t in range(self.setup.T):
            yield mixed([*given.values()])
            if t + 1 < self.setup.T:
                given = _advanced(given, everybody, blocks)
                if everybody in given:
                    given = {nobody: (1.0, given[everybody][1])}

    def _kinds(self) -> list[NDArray[np.intp]]:
        """The clients of each kind."""
        if self.client:
            return [np.array([i]) for i in range(self.n)]
        found: dict[bytes, list[int]] = {}
        _, to_server = self.rounds_of.aggregate(self.setup.trace.partition or 1)
        for i in range(self.n):
            B, error, noise = self.increment(i, 1.0, to_server)
            parts = (B, error, noise.covariance, noise.off, noise.rough)
            found.setdefault(b"".join(part.tobytes() for part in parts), []).append(i)
        return [np.array(members) for members in found.values()]


def _blocks(left: _Counts, S: int) -> Iterator[_Counts]:
    """All ways to have S clients, at most so many of each kind."""
    if not left:
        if S == 0:
            yield ()
        return
    for count in range(min(left[0], S) + 1):
        for rest in _blocks(left[1:], S - count):
            yield count, *rest


def _advanced(given: _Given, everybody: _Counts, blocks: Mapping[_Counts, RoundMap]) -> _Given:
    """The probabilities of who has had a turn, and the moments given that, a round later."""
    found: dict[_Counts, list[tuple[float, Moment]]] = {}
    for done, (probability, moment) in given.items():
        left = [most - count for most, count in zip(everybody, done, strict=True)]
        for block, round_map in blocks.items():
            ways = math.prod(map(math.comb, left, block))
            if ways:
                share = probability * ways / math.comb(sum(left), sum(block))
                after = tuple(map(operator.add, done, block))
                found.setdefault(after, []).append((share, round_map.advance(moment)))
    return {done: (sum(share for share, _ in parts), mixed(parts)) for done, parts in found.items()}


def mixed(parts: Sequence[tuple[float, Moment]]) -> Moment:
    """The moment of a state that has each of these with a probability in proportion to the number before it."""
    if len(parts) == 1:
        return parts[0][1]
    shares, moments = np.array([share for share, _ in parts]), [moment for _, moment in parts]
    shares = shares / shares.sum()
    means = np.stack([each.mean for each in moments])
    # Roundings of a weighted sum, and of the weights.
    mean, unit = shares @ means, len(parts) + _ROUNDED
    apart = means - mean
    covariance, off, rounding = (
        np.tensordot(shares, np.stack([getattr(each, name) for each in moments]), axes=1)
        for name in ("covariance", "off", "rounding")
    )
    covariance = covariance + (apart.T * shares) @ apart
    # Errors of the mean add up with those that there are.
    old, fresh = np.maximum(np.diagonal(off), 0.0), majorant(unit * (shares @ np.abs(means)))
    here = (fresh > 0) & (old > 0)
    a = max(1.0, math.sqrt(float(np.max(old[here] / fresh[here])))) if here.any() else 1.0
    off = (1 + 1 / a) * off + np.diag((1 + a) * fresh + 4 * unit * EPS * majorant(np.sqrt(old)))
    spread = shares @ (np.stack([np.abs(np.diagonal(each.covariance)) for each in moments]) + apart**2)
    own = np.sqrt(np.maximum(np.diagonal(rounding), 0.0))
    rounding = rounding + np.diag(majorant(np.sqrt(2 * unit * spread)) + 4 * unit * EPS * majorant(own))
    nothing = np.zeros_like(mean)
    return Moment(mean, covariance, off, rounding, nothing, nothing)
