"""Hard functions for clients that are alike, all there in every round and without noise: bowls, and slopes into bowls.

What a statement says of the last or the best round, of values or of distances to a minimiser is about such runs. Two
families of one variable:

- a quadratic h x^2/2 with its worst curvature h, from far below 1/(gamma K T) to L;
- a slope that ends in a bowl: L x^2/2 up to a kink, a straight line beyond, and a start from which the run stays on the
  slope until its last round. How steep it is is searched: the steeper, the farther it has to reach. With steps of 1/L
  the gap of gradient descent is then L R^2/(4N + 2) after N steps, which is the worst of all convex functions.

Starts are as far away as the statement's constants allow. T and K cost their logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bounds.statement import Assumption, Over, Statement
from ratecheck.aliases import Array
from ratecheck.exponents.modes.alike import AlikeRun, Descent
from ratecheck.settings.convexity import any_sign, says_quadratic
from ratecheck.settings.kinks import has_pieces
from ratecheck.settings.measured import wanted

# What is known in closed form on such a run.
_QUANTITIES = frozenset({"G_u", "gap", "distance2"})
_OVER = frozenset({Over.MEAN_OF_ROUNDS, Over.LAST_ROUND, Over.BEST_ROUND})
# Curvatures and slopes that are tried over so many decades, and how often the best of them is looked at closer.
_DECADES, _PER_DECADE, _CLOSER = 16, 3, 6
# What one round and two rounds of a run without memory may differ by, as a share.
_SAME = 1e-9


@dataclass(frozen=True)
class AlikeInstance:
    """A function with its start and left side; it is a straight line beyond ``kink``."""

    name: str
    curvature: float
    kink: float
    start: float
    left: float


@dataclass(frozen=True)
class Limits:
    """What the constants of a statement allow: curvature, gap, squared distance and squared gradient at the start."""

    L: float
    gap: float = math.inf
    distance2: float = math.inf
    gradient2: float = math.inf

    @staticmethod
    def of(statement: Statement, values: Mapping[str, float]) -> Limits:
        """Those at a setting."""
        facts = {fact: values[s] for s, fact in statement.vocabulary.facts.items()
                 if s in statement.parameters and s in values}  # fmt: skip
        n = values.get(statement.vocabulary.run.get("clients", ""), 1.0)
        gradient2 = min(facts.get("mean_B_0", math.inf), facts.get("B_0", math.inf) / n)
        return Limits(
            facts.get("L", 1.0), facts.get("F_0", math.inf), facts.get("distance2_0", math.inf), gradient2
        )  # fmt: skip

    def starts(self, h: Array) -> Array:
        """The farthest start on h x^2/2."""
        return np.asarray(np.sqrt(np.minimum(np.minimum(2 * self.gap / h, self.distance2), self.gradient2 / h**2)))


def covers(statement: Statement) -> bool:
    """Whether these families are about a statement.

    Of a mean over rounds only where it speaks of a minimum or of convex functions: elsewhere clients that differ, and
    noise, are what `hard_instances` has besides, and a slope is no worse than its quadratics.
    """
    claim = statement.claims[0]
    return (
        claim.metric.over in _OVER
        and Assumption.FULL_PARTICIPATION in statement.assumptions
        and has_pieces(statement)
        and not says_quadratic(statement)
        and wanted(statement) <= _QUANTITIES
        and (claim.metric.over is not Over.MEAN_OF_ROUNDS or not any_sign(statement))
    )


def only(statement: Statement) -> bool:
    """Whether no other family is known for what the statement measures."""
    return statement.claims[0].metric.over is not Over.MEAN_OF_ROUNDS or wanted(statement) != {"G_u"}


def instances(
    run: AlikeRun, over: Over, weights: Mapping[str, float], limits: Limits
) -> Iterator[AlikeInstance]:  # fmt: skip
    """The worst of each family; ``weights`` are those of the left side's quantities."""
    bowls = _Bowls(run, over, weights, limits)
    h, left = _worst(bowls.lefts, limits.L)
    yield AlikeInstance("equal clients on a quadratic", h, math.inf, float(limits.starts(np.array([h]))[0]), left)
    descent = run.descent()
    if descent is None:
        return
    slopes = _Slopes(run.T, descent, over, weights, limits)
    if 0 < slopes.steepest < math.inf:
        s, left = _worst(slopes.lefts, slopes.steepest)
        start = float(slopes.starts(np.array([s]))[0])
        yield AlikeInstance("equal clients on a slope that ends in a bowl", limits.L, s / limits.L, start, left)


def quadratics(run: AlikeRun, over: Over, weights: Mapping[str, float], limits: Limits, curvatures: Array) -> Array:
    """The left sides on quadratics of one variable with these curvatures."""
    return _Bowls(run, over, weights, limits).lefts(curvatures)


def _worst(lefts: Callable[[Array], Array], largest: float) -> tuple[float, float]:
    """Where the left side is largest, between ``largest`` and many decades below it; and its value there."""
    grid = largest * np.logspace(-_DECADES, 0, _DECADES * _PER_DECADE + 1)
    best, value = largest, -math.inf
    for _ in range(_CLOSER):
        # Where nothing limits the start it is infinite, and what a run leaves of it may have no value.
        with np.errstate(invalid="ignore", over="ignore"):
            found = lefts(grid)
        at = int(np.nanargmax(found)) if np.isfinite(found).any() else 0
        if found[at] > value:
            best, value = float(grid[at]), float(found[at])
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        grid = np.geomspace(low, high, 9)
    return best, value


@dataclass(frozen=True)
class _Bowls:
    """f = h x^2/2."""

    run: AlikeRun
    over: Over
    weights: Mapping[str, float]
    limits: Limits

    def lefts(self, h: Array) -> Array:
        """The left side for each curvature."""
        first = self.limits.starts(h) ** 2
        if self.over is Over.MEAN_OF_ROUNDS:
            return self._value(h, first * self.run.mean_square(h))
        last = self._value(h, first * self.run.contraction(h, self.run.T - 1) ** 2)
        if self.over is Over.LAST_ROUND:
            return last
        # Without memory x shrinks in every round or grows in every round, and the best one is at an end.
        one, two = (self.run.contraction(h, rounds) for rounds in (1, 2))
        plain = np.abs(two - one**2) <= _SAME * one**2
        return np.where(plain, np.minimum(last, self._value(h, first)), -np.inf)

    def _value(self, h: Array, square: Array) -> Array:
        """The weighted quantities where x^2 has this value."""
        found = {"G_u": h**2 * square, "gap": h * square / 2, "distance2": square}
        return np.asarray(sum(weight * found[name] for name, weight in self.weights.items()))


@dataclass(frozen=True)
class _Slopes:
    """f = L x^2/2 up to s/L and s x - s^2/(2 L) beyond, where the whole run is, for slopes s."""

    T: int
    descent: Descent
    over: Over
    weights: Mapping[str, float]
    limits: Limits

    @property
    def steepest(self) -> float:
        """The largest s with which no gradient is asked for inside the bowl; infinite where nothing limits it."""
        limits, far = self.limits, self.descent.farthest
        by_distance = math.sqrt(limits.distance2) / (far + 1 / limits.L)
        by_gap = math.sqrt(limits.gap / (far + 1 / (2 * limits.L)))
        return min(by_distance, by_gap, math.sqrt(limits.gradient2))

    def starts(self, s: Array) -> Array:
        """The farthest start, (slopes,)."""
        by_gap = self.limits.gap / s + s / (2 * self.limits.L)
        return np.minimum(math.sqrt(self.limits.distance2), by_gap)

    def lefts(self, s: Array) -> Array:
        """The left side for each slope."""
        start, each, rounds = self.starts(s), s * self.descent.first, self.T - 1
        last = start - s * self.descent.last
        # x falls by as much in every round, so that the best one is the last.
        x, square = last, last**2
        if self.over is Over.MEAN_OF_ROUNDS:
            x = start - each * rounds / 2
            square = start**2 - start * each * rounds + each**2 * rounds * (2 * rounds + 1) / 6
        found = {"G_u": s**2, "gap": s * x - s**2 / (2 * self.limits.L), "distance2": square}
        return np.asarray(sum(weight * found[name] for name, weight in self.weights.items()))
