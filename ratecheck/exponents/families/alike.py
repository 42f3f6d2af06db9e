"""Hard functions for clients that are alike, all there in every round and without noise: bowls, and slopes into bowls.

What a statement says of the last or the best round, of values or of distances to a minimiser is about such runs. Two
families of one variable:

- a quadratic h x^2/2 with its worst curvature h, from far below 1/(gamma K T) to L;
- a slope that ends in a bowl: L x^2/2 up to a breakpoint, a straight line beyond, and a start from which the run stays
  on the slope until its last round. The slope is searched: the steeper, the farther it has to reach. With steps of 1/L
  the gap of gradient descent is then L R^2/(4N + 2) after N steps, which is the worst of all convex functions.

Starts are as far away as the statement's constants allow. T and K cost their logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Over, Statement
from ratecheck.aliases import Array
from ratecheck.exponents.families.curve import HardCurve
from ratecheck.exponents.families.hard import Hard
from ratecheck.exponents.families.setting import HardSetting
from ratecheck.exponents.modes.alike import AlikeRun, Descent
from ratecheck.exponents.regimes import DISTURBANCES
from ratecheck.settings.convexity import any_sign, says_quadratic
from ratecheck.settings.piecewise import has_pieces

# What is known in closed form on such a run.
_QUANTITIES = frozenset({"G_u", "gap", "distance2"})
_OVER = frozenset({Over.MEAN_OF_ROUNDS, Over.LAST_ROUND, Over.BEST_ROUND})
# How often the best curvature or slope is looked at closer.
_CLOSER = 6
# What one round and two rounds of a run without memory may differ by, as a share.
_SAME = 1e-9


@dataclass(frozen=True)
class Limits:
    """Limits by the constants of a statement: curvature, gap, squared distance and squared gradient at the start."""

    L: float
    gap: float = math.inf
    distance2: float = math.inf
    gradient2: float = math.inf

    @staticmethod
    def of(setting: HardSetting) -> Limits:
        """The limits at a setting: min(mean_B_0, B_0/n) for ||grad f(u^0)||^2."""
        known = setting.constants
        gradient2 = min(known.get("mean_B_0", math.inf), known.get("B_0", math.inf) / setting.size("clients"))
        L, gap, distance2 = (
            known.get(fact, no) for fact, no in (("L", 1.0), ("F_0", math.inf), ("distance2_0", math.inf))
        )
        return Limits(L, gap, distance2, gradient2)

    def starts(self, h: Array) -> Array:
        """The farthest start on h x^2/2."""
        return np.asarray(np.sqrt(np.minimum(np.minimum(2 * self.gap / h, self.distance2), self.gradient2 / h**2)))


def covers(statement: Statement) -> bool:
    """Whether these families are about a statement.

    Of a mean over rounds only where it speaks of a minimum or of convex functions: elsewhere clients that differ, and
    noise, are what `differing` has besides, and a slope is no worse than its quadratics.
    """
    claim = statement.claims[0]
    return (
        claim.metric.over in _OVER
        and Assumption.FULL_PARTICIPATION in statement.assumptions
        and has_pieces(statement)
        and not says_quadratic(statement.title)
        and statement.recorded <= _QUANTITIES
        and (claim.metric.over is not Over.MEAN_OF_ROUNDS or not any_sign(statement))
    )


def only(statement: Statement) -> bool:
    """Whether no other family is known for what the statement measures."""
    return statement.claims[0].metric.over is not Over.MEAN_OF_ROUNDS or statement.recorded != {"G_u"}


def curves(statement: Statement, values: Mapping[str, float]) -> Iterator[HardCurve]:
    """Both families at a setting; none where something disturbs the clients."""
    facts = statement.vocabulary.facts.items()
    if not covers(statement) or any(values.get(s) for s, fact in facts if fact in DISTURBANCES):
        return
    setting = HardSetting(statement, statement.complete(values)[0])
    yield (bowls := Bowls.of(setting))
    descent = bowls.run.descent()
    slopes = None if descent is None else Slopes(setting, descent, bowls.limits)
    if slopes is not None and 0 < slopes.largest < math.inf:
        yield slopes


@dataclass(frozen=True)
class Bowls(HardCurve):
    """f = h x^2/2, by h."""

    setting: HardSetting
    run: AlikeRun
    limits: Limits
    closer = _CLOSER

    @staticmethod
    def of(setting: HardSetting) -> Bowls:
        """The bowls at a setting."""
        run = AlikeRun(setting.method, setting.size("clients"), *setting.steps_and_rounds, setting.step_sizes)
        return Bowls(setting, run, Limits.of(setting))

    @property
    def largest(self) -> float:
        """L."""
        return self.limits.L

    def decode(self, h: float, left: float) -> Hard:
        """With this curvature."""
        start = float(self.limits.starts(np.array([h]))[0])
        return _hard(self.setting, "equal clients on a quadratic", h, start, left)

    def lefts(self, h: Array) -> Array:
        """The left side for each curvature."""
        first = self.limits.starts(h) ** 2
        if (over := self.setting.statement.claims[0].metric.over) is Over.MEAN_OF_ROUNDS:
            return self._value(h, first * self.run.mean_square(h))
        last = self._value(h, first * self.run.contraction(h, self.run.T - 1) ** 2)
        if over is Over.LAST_ROUND:
            return last
        # Without memory x shrinks in every round or grows in every round, and the best one is at an end.
        one, two = (self.run.contraction(h, rounds) for rounds in (1, 2))
        plain = np.abs(two - one**2) <= _SAME * one**2
        return np.where(plain, np.minimum(last, self._value(h, first)), -np.inf)

    def _value(self, h: Array, square: Array) -> Array:
        """The weighted quantities where x^2 has this value."""
        found = {"G_u": h**2 * square, "gap": h * square / 2, "distance2": square}
        return np.asarray(sum(weight * found[name] for name, weight in self.setting.weights.items()))


@dataclass(frozen=True)
class Slopes(HardCurve):
    """f = L x^2/2 up to s/L and s x - s^2/(2 L) beyond, where the whole run is, by s."""

    setting: HardSetting
    descent: Descent
    limits: Limits
    closer = _CLOSER

    @property
    def typical(self) -> bool:
        """A slope is no well conditioned function."""
        return False

    @property
    def largest(self) -> float:
        """The largest s with which no gradient is evaluated inside the bowl; infinite where nothing limits it."""
        limits, far = self.limits, self.descent.farthest
        by_distance = math.sqrt(limits.distance2) / (far + 1 / limits.L)
        by_gap = math.sqrt(limits.gap / (far + 1 / (2 * limits.L)))
        return min(by_distance, by_gap, math.sqrt(limits.gradient2))

    def decode(self, s: float, left: float) -> Hard:
        """With this slope."""
        name, L, start = "equal clients on a slope that ends in a bowl", self.limits.L, self.starts(np.array([s]))
        return replace(_hard(self.setting, name, L, float(start[0]), left), kink=s / L)

    def starts(self, s: Array) -> Array:
        """The farthest start, (slopes,)."""
        by_gap = self.limits.gap / s + s / (2 * self.limits.L)
        return np.minimum(math.sqrt(self.limits.distance2), by_gap)

    def lefts(self, s: Array) -> Array:
        """The left side for each slope."""
        start, each, rounds = self.starts(s), s * self.descent.first, self.setting.steps_and_rounds[1] - 1
        last = start - s * self.descent.last
        # x falls by as much in every round, so that the best one is the last.
        x, square = last, last**2
        if self.setting.statement.claims[0].metric.over is Over.MEAN_OF_ROUNDS:
            x = start - each * rounds / 2
            square = start**2 - start * each * rounds + each**2 * rounds * (2 * rounds + 1) / 6
        found = {"G_u": s**2, "gap": s * x - s**2 / (2 * self.limits.L), "distance2": square}
        return np.asarray(sum(weight * found[name] for name, weight in self.setting.weights.items()))


def _hard(setting: HardSetting, name: str, h: float, start: float, left: float) -> Hard:
    n = setting.size("clients")
    return Hard(setting.statement, setting.values, name, "u", (n,), (h,), (0.0,), start, (), left)
