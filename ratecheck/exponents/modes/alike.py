"""Runs of clients that are alike, all of them there in every round and without noise: how far they get in T rounds.

On a quadratic of one variable, and on a straight line, a round is one affine map of what server and client keep, so
that T rounds are a power of it and K local steps a power within: both cost their logarithms. The numbers are of
NumPy's longest type and, as in `scheduled`, meant for searching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ratecheck.algorithms import Method
from ratecheck.aliases import Array
from ratecheck.exponents.modes.modes import Long, Modes, long, modes, repeated_steps, sum_over_rounds
from ratecheck.exponents.modes.scheduled import ScheduledRun, Stretch, UnderWay

# What the rounds of a run on a line may differ by, as a share.
_SAME = 1e-9


@dataclass(frozen=True)
class Descent:
    """A run on f(x) = x: how far x is before round 1 and the last one, and the farthest point of a gradient.

    All are distances below the start; with a slope of s in place of 1 they are s times as large.
    """

    first: float
    last: float
    farthest: float


@dataclass(frozen=True)
class AlikeRun:
    """A method with its numbers: ``n`` clients that are alike, K local steps, T rounds; see `ScheduledRun`."""

    method: Method
    n: float
    K: int
    T: int
    step_sizes: Mapping[str, float]

    def contraction(self, curvature: Array, rounds: int) -> Array:
        """x^rounds / x^0 on f = h x^2/2 for each curvature h, (modes,)."""
        with np.errstate(all="ignore"):
            run = self._run(modes(np.asarray(curvature)[:, None], 0.0, (self.n,)))
            return np.asarray(_state(run, 1.0, rounds)[:, 0], dtype=np.float64)

    def mean_square(self, curvature: Array) -> Array:
        """(1/T) sum_{t<T} (x^t / x^0)^2 on f = h x^2/2 for each curvature h > 0, (modes,)."""
        h = np.asarray(curvature)
        with np.errstate(all="ignore"):
            return np.asarray(self._run(modes(h[:, None], 0.0, (self.n,))).average(1.0) / h**2, dtype=np.float64)

    def descent(self) -> Descent | None:
        """On f(x) = x; None for a method whose rounds or local steps there are not all equally long, and downhill."""
        run = self._run(modes([[0.0]], [[-1.0]], (self.n,)))
        states = {t: _state(run, 0.0, t) for t in {0, 1, max(self.T - 2, 0), self.T - 1}}
        way = {t: -float(state[0, 0]) for t, state in states.items()}
        last = way[self.T - 1]
        evaluated = [last]
        if self.T > 1:
            for t in (0, self.T - 2):
                points = [-_evaluated_at(run, states[t], k) for k in (0, 1, self.K - 1)]
                if self.K > 1 and not _near(points[2] - points[0], (self.K - 1) * (points[1] - points[0])):
                    return None
                evaluated += [points[0], points[2]]
        if not _near(last, (self.T - 1) * way[1]) or way[1] < 0:
            return None
        return Descent(way[1], last, max(evaluated))

    def _run(self, of: Modes) -> UnderWay:
        steps = {**self.step_sizes, "m": self.n}
        return UnderWay(ScheduledRun(self.method, "u", self.K, self.T, steps, (Stretch(frozenset({0}), 1),)), of, 0.0)


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= _SAME * max(abs(a), abs(b))


def _state(run: UnderWay, start: float, rounds: int) -> Long:
    """(server, 1, client) before a round, (modes, variables)."""
    # The second moments of what is not random are products of it; the one in the middle is 1.
    found = run.start(start)[:, :, run.ds]
    _, found = sum_over_rounds(np.zeros_like(found), run.once(((0, 1.0),)).A, found, rounds)
    return found + found @ run.sums.T


def _evaluated_at(run: UnderWay, state: Long, steps: int) -> float:
    """Where the gradient is evaluated after so many local steps of a round on f(x) = x."""
    maps = run.maps
    server, client = (maps.ds, maps.maps.server.slots), (maps.dc, maps.maps.client.slots)
    begin_s, begin_c = (long(each) for each in maps.table("begin", maps.dl, (server, client)))
    own, pull = (long(each) for each in maps.table("step", maps.dl, ((maps.dl, maps.maps.local.slots), (1, 1))))
    at = begin_s @ state[0, : maps.ds] + begin_c @ state[0, maps.ds + 1 :]
    change = np.zeros((1, maps.dl + 1, maps.dl + 1), dtype=np.longdouble)
    change[0, : maps.dl, : maps.dl] = own - np.eye(maps.dl)
    change[0, : maps.dl, maps.dl :] = pull
    changes, _ = repeated_steps(change, np.zeros_like(change), steps)
    here = np.append(at, np.longdouble(1))
    return float((here + changes[0] @ here)[0])
