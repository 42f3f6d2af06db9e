"""Instances that make the terms of FLAME's bounds needed: one-dimensional quadratics that spend its constants.

The initial gap L^0 - F^* is spent on a common start, x0^2 = 2 gap/(alpha m h), or
on opposite slopes, g^2 = 2 (lambda + h) gap/(alpha m), each of which stays at its client until that one is drawn. Where
the selection may be skewed a part of the clients, with all of the slopes, is drawn as seldom as gamma_bar allows.

The inner error is spent on errors grad_theta_i L = e_i with e_i^2 = eps_max: of one sign, which moves w for ever where
there is little curvature, or of a sign drawn anew for every client and round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.exponents.modes.flame_modes import FlameModes

# Curvatures that are tried over so many decades below L, and how often the best of them is looked at closer.
_DECADES, _PER_DECADE, _CLOSER = 16, 2, 3
# What is spent of the gap: rounding may not carry an instance beyond it.
_SPENT = 1 - 1e-9
# So many times as many clients as participants can be skewed: two groups that are drawn seldom, and the rest.
SKEWABLE = 4
# What a statement has to be about, by the paper's names.
_NUMBERS = {"m", "s", "T", "lambda_", "rho", "alpha_min", "L"}
_QUANTITIES = {"grad_L2", "grad_theta2"}


@dataclass(frozen=True)
class FlameInstance:
    """An instance and its left side; groups as in `Hard`. ``runs`` is whether `verify` has runs of this kind."""

    name: str
    sizes: tuple[float, ...]
    curvatures: tuple[float, ...]
    slopes: tuple[float, ...]
    start: float
    left: float
    runs: bool = True


# The modes of a family at curvatures (k,), and their starts, (k,).
_Family = Callable[[Array], tuple[FlameModes, Array]]


def covers(statement: Statement) -> bool:
    """Whether a statement is about runs and quantities that these instances are known for."""
    facts, weights = statement.vocabulary.facts, statement.claims[0].metric.weights
    named = {*statement.parameters} >= _NUMBERS
    return named and {facts.get(quantity.name) for quantity in weights} <= _QUANTITIES


def instances(
    statement: Statement, values: Mapping[str, float], weights: Mapping[str, float], *, starts: bool
) -> Iterator[FlameInstance]:
    """The worst instance of every family at a setting; ``weights`` are those of the recorded quantities."""
    setting = _Setting.of(statement, values)
    for name, runs, family in setting.families(starts=starts):
        yield _worst(name, runs, family, weights, setting.L)


def averages(
    statement: Statement,
    values: Mapping[str, float],
    weights: Mapping[str, float],
    curvatures: Array,
    *,
    starts: bool,
) -> Iterator[Array]:
    """The left sides of every family at these curvatures in units of L, each (k,)."""
    setting = _Setting.of(statement, values)
    for _, _, family in setting.families(starts=starts):
        modes, at = family(setting.L * curvatures)
        yield modes.averages(weights, at)


def _worst(name: str, runs: bool, family: _Family, weights: Mapping[str, float], L: float) -> FlameInstance:
    grid = L * np.logspace(-_DECADES, 0, _DECADES * _PER_DECADE + 1)
    found = FlameInstance(name, (), (), (), 0.0, -math.inf, runs)
    for _ in range(_CLOSER):
        modes, starts = family(grid)
        lefts = modes.averages(weights, starts)
        at = int(np.nanargmax(lefts)) if np.isfinite(lefts).any() else 0
        if not found.sizes or lefts[at] > found.left:
            h, g = (np.broadcast_to(each, (len(grid), len(modes.sizes)))[at] for each in (modes.curvature, modes.slope))
            curvatures, slopes = (tuple(float(x) for x in each) for each in (h, g))
            found = FlameInstance(name, modes.sizes, curvatures, slopes, float(starts[at]), float(lefts[at]), runs)
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        grid = np.geomspace(low, high, 9)
    return found


@dataclass(frozen=True)
class _Setting:
    """The numbers of a setting; ``skew`` is None where the selection is uniform by assumption."""

    m: float
    s: float
    T: int
    lambda_: float
    rho: float
    alpha: float
    L: float
    gap: float
    eps: float
    skew: float | None

    @staticmethod
    def of(statement: Statement, values: Mapping[str, float]) -> _Setting:
        skewed = Assumption.SKEWED_SELECTION in statement.assumptions
        return _Setting(
            values["m"], values["s"], int(values["T"]), values["lambda_"], values["rho"], values["alpha_min"],
            values["L"], _SPENT * values.get("gap", 0.0), values.get("eps_max", 0.0),
            values["gamma_bar"] if skewed else None,
        )  # fmt: skip

    def _modes(self, h: Array, sizes: tuple[float, ...]) -> FlameModes:
        none = np.zeros((len(h), 1))
        return FlameModes(h[:, None], none, sizes, self.s, self.T, self.lambda_, self.rho, self.alpha)

    def families(self, *, starts: bool) -> Iterator[tuple[str, bool, _Family]]:
        """Those of the gap, or of the error: name, whether `verify` has such runs, modes."""
        return self.of_gap() if starts else self.of_errors()

    def of_gap(self) -> Iterator[tuple[str, bool, _Family]]:
        """The families that spend the initial gap."""
        yield "equal curvatures", True, self._start
        if self.m > 1:
            yield "equal curvatures, opposite slopes", True, self._slopes
        rare = max(self.s, self.m // SKEWABLE)
        if self.skew is not None and self.skew < 1 and self.m - 2 * rare >= self.s:
            yield "equal curvatures, opposite slopes of clients that are seldom drawn", False, self._seldom

    def _start(self, h: Array) -> tuple[FlameModes, Array]:
        return self._modes(h, (self.m,)), np.sqrt(2 * self.gap / (self.alpha * self.m * h))

    def _slopes(self, h: Array) -> tuple[FlameModes, Array]:
        second = self.m // 2
        first = self.m - second
        # Of mean zero and mean square one.
        signs = np.array([math.sqrt(second / first), -math.sqrt(first / second)])
        g = np.sqrt(2 * (self.lambda_ + h) * self.gap / (self.alpha * self.m))
        modes = replace(self._modes(h, (first, second)), slope=g[:, None] * signs)
        return modes, np.zeros_like(h)

    def _seldom(self, h: Array) -> tuple[FlameModes, Array]:
        """Two groups that are drawn with gamma_bar times the chance of uniform selection."""
        assert self.skew is not None
        rare = max(self.s, self.m // SKEWABLE)
        chance = self.skew * rare / self.m
        g = np.sqrt((self.lambda_ + h) * self.gap / (self.alpha * rare))
        modes = replace(
            self._modes(h, (rare, rare, self.m - 2 * rare)),
            slope=g[:, None] * np.array([1.0, -1.0, 0.0]),
            chances=(chance, chance, 1 - 2 * chance),
        )
        return modes, np.zeros_like(h)

    def of_errors(self) -> Iterator[tuple[str, bool, _Family]]:
        """The families that spend the inner error."""
        yield "equal curvatures, inner errors alike", False, self._alike
        yield "equal curvatures, inner errors of random sign", False, self._random

    def _alike(self, h: Array) -> tuple[FlameModes, Array]:
        return replace(self._modes(h, (self.m,)), error=math.sqrt(self.eps)), np.zeros_like(h)

    def _random(self, h: Array) -> tuple[FlameModes, Array]:
        return replace(self._modes(h, (self.m,)), random_error=math.sqrt(self.eps)), np.zeros_like(h)
