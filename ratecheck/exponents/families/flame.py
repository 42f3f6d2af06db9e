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
from ratecheck.exponents.families.curve import HardCurve
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.families.setting import HardSetting
from ratecheck.exponents.modes.flame_modes import FlameModes

# What is spent of the gap: rounding may not carry an instance beyond it.
_SPENT = 1 - 1e-9
# So many times as many clients as participants can be skewed: two groups that are drawn seldom, and the rest.
SKEWABLE = 4
# What a statement has to be about, by the paper's names.
_NUMBERS = {"m", "s", "T", "lambda_", "rho", "alpha_min", "L"}
_QUANTITIES = {"grad_L2", "grad_theta2"}


def covers(statement: Statement) -> bool:
    """Whether a statement is about runs and quantities that these instances are known for."""
    facts, weights = statement.vocabulary.facts, statement.claims[0].metric.weights
    named = {*statement.parameters} >= _NUMBERS
    return named and {facts.get(quantity.name) for quantity in weights} <= _QUANTITIES


def curves(statement: Statement, values: Mapping[str, float], *, starts: bool) -> Iterator[FlameCurve]:
    """The families that spend the initial gap, or the inner error."""
    setting = HardSetting(statement, statement.complete(values)[0])
    numbers = _Numbers.of(setting)
    for name, runs, family in numbers.of_gap() if starts else numbers.of_errors():
        yield FlameCurve(setting, name, runs, family)


@dataclass(frozen=True)
class FlameCurve(HardCurve):
    """A family by the curvature; ``runs`` is whether `verify` has runs of this kind."""

    setting: HardSetting
    name: str
    runs: bool
    family: _Family
    per_decade = 2

    @property
    def largest(self) -> float:
        """L."""
        return self.setting.values["L"]

    def lefts(self, h: Array) -> Array:
        """The left side at each curvature."""
        modes, starts = self.family(h)
        return modes.averages(self.setting.weights, starts)

    def decode(self, h: float, left: float) -> Hard:
        """With this curvature."""
        modes, starts = self.family(np.array([h]))
        curvatures, slopes = (
            tuple(float(x) for x in np.broadcast_to(each, (1, len(modes.sizes)))[0])
            for each in (modes.curvature, modes.slope)
        )
        return Hard(
            self.setting.statement, self.setting.values, self.name, "u", modes.sizes, curvatures, slopes,
            float(starts[0]), (), left, self.runs,
        )  # fmt: skip


# The modes of a family at curvatures (k,), and their starts, (k,).
_Family = Callable[[Array], tuple[FlameModes, Array]]


@dataclass(frozen=True)
class _Numbers:
    """The numbers of a setting; ``skew`` is None where the selection is uniform by assumption."""

    m: float
    s: float
    T: int
    lambda_: float
    rho: float
    alpha: float
    gap: float
    eps: float
    skew: float | None

    @staticmethod
    def of(setting: HardSetting) -> _Numbers:
        values, skewed = setting.values, Assumption.SKEWED_SELECTION in setting.statement.assumptions
        return _Numbers(
            values["m"], values["s"], int(values["T"]), values["lambda_"], values["rho"], values["alpha_min"],
            _SPENT * values.get("gap", 0.0), values.get("eps_max", 0.0),
            values["gamma_bar"] if skewed else None,
        )  # fmt: skip

    def _modes(self, h: Array, sizes: tuple[float, ...]) -> FlameModes:
        none = np.zeros((len(h), 1))
        return FlameModes(h[:, None], none, sizes, self.s, self.T, self.lambda_, self.rho, self.alpha)

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
