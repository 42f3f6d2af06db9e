"""Time averages of one-dimensional runs where groups of clients come and go together by a schedule that repeats.

Clients that are alike and come at the same times are one client whose noise is divided by their number. A stretch of
rounds with the same participants is a power of one affine map; a period is a product of stretches, and T rounds a power
of it: so neither long absences nor many rounds cost more than their logarithms. Many curvatures are computed at once.

As in `exchangeable` the numbers are meant for searching: what is claimed of an instance is what the exact engine says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ratecheck.algebra.repeated import repeated
from ratecheck.algorithms import Method
from ratecheck.exponents.modes.modes import Long, Modes, client_maps
from ratecheck.exponents.modes.types import TypeMoments


@dataclass(frozen=True)
class Stretch:
    """``rounds`` rounds in which these groups take part, in every one of them."""

    groups: frozenset[int]
    rounds: int


@dataclass(frozen=True)
class ScheduledRun:
    """A method with its numbers on the modes of one of its blocks; ``period`` repeats until T rounds are over.

    ``step_sizes`` are the method's own parameters, fixed ones included. Group k has ``modes.sizes[k]`` clients.
    """

    method: Method
    block: str
    K: int
    T: int
    step_sizes: Mapping[str, float]
    period: tuple[Stretch, ...]

    def averages(self, modes: Modes, *, start: float = 0.0, noise: float = 0.0) -> NDArray[np.float64]:
        """(1/T) sum_{t<T} E ||grad f(x^t)||^2, (modes,), x being the server's first variable of the block.

        All clients start at ``start``; every gradient has independent noise of variance ``noise``.
        """
        with np.errstate(all="ignore"):
            return UnderWay(self, modes, noise).average(start).astype(np.float64)


@dataclass(frozen=True)
class _Stage:
    """Some rounds as one: z -> A z + noise, and the sum of the squares of q'z at their beginnings.

    In mean square the sum is <W, E z z'> + c, and the noise at the end has the covariance N.
    """

    A: Long
    N: Long
    W: Long
    c: Long

    def then(self, other: _Stage) -> _Stage:
        """The rounds, then others: (A_2 A_1, N_2 + A_2 N_1 A_2', W_1 + A_1' W_2 A_1, c_1 + c_2 + <W_2, N_1>)."""
        A, turned = self.A, np.swapaxes(self.A, -1, -2)
        later = np.swapaxes(other.A, -1, -2)
        inner = (other.W * self.N).sum(axis=(-2, -1))
        return _Stage(
            other.A @ A, other.N + other.A @ self.N @ later, self.W + turned @ other.W @ A, self.c + other.c + inner
        )

    def times(self, count: int) -> _Stage:
        """The rounds ``count`` times, at least once, by repeated doubling: O(log count) products."""
        return repeated(self, count, _Stage.then)


class UnderWay(TypeMoments):
    """A run as maps of z = (s, 1, c_1, ..., c_G), no w_g being of use where whole groups take part."""

    def __init__(self, run: ScheduledRun, modes: Modes, noise: float) -> None:
        self.run, self.noise = run, noise
        algorithm = run.method.algorithm
        clients = [
            client_maps(run, modes, noise, 1.0, delay) for delay in ((1.0, 2.0) if algorithm.uses_delay else (1.0,))
        ]
        super().__init__(algorithm, clients, apart=False)
        self._stages: dict[tuple[tuple[int, float], ...], _Stage] = {}
        self._alike: dict[Stretch, _Stage] = {}

    def once(self, delays: tuple[tuple[int, float], ...]) -> _Stage:
        """One round in which the groups take part that are named, each with the delay of its clients."""
        if not self.run.method.algorithm.uses_delay:
            delays = tuple((group, 1.0) for group, _ in delays)
        if delays not in self._stages:
            clients = {g: client_maps(self.run, self.modes, self.noise, 1.0, delay) for g, delay in delays}
            found = self.given(clients)
            none = np.zeros(self.maps.count, dtype=np.longdouble)
            self._stages[delays] = _Stage(found.A, found.N, self._square, none)
        return self._stages[delays]

    @cached_property
    def _square(self) -> Long:
        """W with <W, E z z'> = E ||grad f(x)||^2."""
        share = np.array(self.modes.sizes) / self.modes.n
        row = np.zeros((self.maps.count, self.size), dtype=np.longdouble)
        row[:, 0] = self.modes.curvature @ share
        row[:, self.ds] = -(self.modes.slope @ share)
        return row[:, :, None] * row[:, None, :]

    def _stretch(self, stretch: Stretch, last: dict[int, int], t: int) -> _Stage:
        """A stretch from round t on, ``last`` being the last rounds of the groups, which it moves on."""
        first = tuple((group, float(t - last[group])) for group in sorted(stretch.groups))
        last.update(dict.fromkeys(stretch.groups, t + stretch.rounds - 1))
        found = self.once(first)
        return found.then(self._after_first(stretch)) if stretch.rounds > 1 else found

    def _after_first(self, stretch: Stretch) -> _Stage:
        """The rounds of a stretch from the second on, whose delays are 1 in every period."""
        if stretch not in self._alike:
            again = self.once(tuple((group, 1.0) for group in sorted(stretch.groups)))
            self._alike[stretch] = again.times(stretch.rounds - 1)
        return self._alike[stretch]

    def _period(self, last: dict[int, int], t: int) -> _Stage:
        stages = []
        for stretch in self.run.period:
            stages.append(self._stretch(stretch, last, t))
            t += stretch.rounds
        found = stages[0]
        for each in stages[1:]:
            found = found.then(each)
        return found

    def average(self, start: float) -> Long:
        """(1/T) sum over t < T, (modes,)."""
        length = sum(stretch.rounds for stretch in self.run.period)
        whole, rest = divmod(self.run.T, length)
        moment, total = self.start(start), np.zeros(self.maps.count, dtype=np.longdouble)
        last = dict.fromkeys(self.groups, -1)
        stages, t = [], 0
        # The first period has the delays of the start.
        if whole:
            stages.append(self._period(last, 0))
            t = length
        if whole > 1:
            stages.append(self._period(dict(last), t).times(whole - 1))
            last = {group: each + (whole - 1) * length for group, each in last.items()}
            t = whole * length
        for stretch in self.run.period:
            rounds = min(stretch.rounds, rest)
            if rounds:
                stages.append(self._stretch(Stretch(stretch.groups, rounds), last, t))
                t, rest = t + rounds, rest - rounds
        for stage in stages:
            total = total + (stage.W * moment).sum(axis=(-2, -1)) + stage.c
            moment = stage.A @ moment @ np.swapaxes(stage.A, -1, -2) + stage.N
        return np.asarray(total / self.run.T)


def delays(period: tuple[Stretch, ...], groups: int, T: int) -> tuple[int, float]:
    """tau_max over rounds 0 ... T and tau_avg over 0 ... T-1, tau_t being the longest absence of a group at t.

    Each group is away since before the start until it first takes part.
    """
    length = sum(stretch.rounds for stretch in period)
    last = dict.fromkeys(range(groups), -1)

    def over(t: int, until: int) -> tuple[int, int]:
        """The largest and the sum of tau over rounds t ... until - 1."""
        most = total = 0
        while t < until:
            for stretch in period:
                rounds = min(stretch.rounds, until - t)
                if rounds <= 0:
                    break
                last.update(dict.fromkeys(stretch.groups, t))
                oldest = min((last[g] for g in last if g not in stretch.groups), default=None)
                if oldest is not None:
                    first = t - oldest
                    most = max(most, first + rounds - 1)
                    total += rounds * first + rounds * (rounds - 1) // 2
                last.update(dict.fromkeys(stretch.groups, t + rounds - 1))
                t += rounds
        return most, total

    if 3 * length >= T:
        most, _ = over(0, T + 1)
        last.update(dict.fromkeys(range(groups), -1))
        return most, over(0, T)[1] / T
    first = over(0, length)
    again = over(length, 2 * length)
    whole, rest = divmod(T - 2 * length, length)
    last = {group: each + whole * length for group, each in last.items()}
    end = over(T - rest, T)
    return max(first[0], again[0], end[0]), (first[1] + (whole + 1) * again[1] + end[1]) / T
