"""The exponent of a printed order beside the one that the worst case found has.

An order hides its constant, so that nothing can be said about a value: only exponents are compared. A matching one is
evidence that the order is tight, a smaller one says what was searched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ratecheck.aliases import Array
from ratecheck.exponents.finding import CellFinding
from ratecheck.statistics.exponent_fit import slope

# Exponents that differ by no more than this agree.
AGREE = 0.03
# A left side that is known less accurately than this, relative to itself, is no point of a law.
ACCURATE = 0.01


@dataclass(frozen=True)
class OrderExponent:
    """Exponents of a printed term and of the worst case found, in one parameter.

    ``predicted`` and ``measured`` are the least-squares slopes in log-log over ``values`` (points,) of the term and of
    the left side ``lefts`` (points,), which is off by at most ``errors``. ``low`` and ``high`` are the least and the
    largest local slope of the left side over the term, between neighbouring points and with their errors, added to
    ``predicted``: the exponent keeps to [low, high] through the whole range. ``where`` says on which instances, or why
    there are none: then the arrays are empty and the numbers NaN.
    """

    parameter: str
    predicted: float
    measured: float
    low: float
    high: float
    values: Array
    lefts: Array
    errors: Array
    where: str

    @property
    def verdict(self) -> CellFinding:
        """ATTAINED within 0.03, LOOSE below, EXCEEDED above where every local slope is.

        NOT_REACHED without a range, with a left side that is off by more than 1%, or where that gains on the term in
        a part of the range only.
        """
        if (
            not len(self.values)
            or not (self.errors <= ACCURATE * self.lefts).all()
            or not math.isfinite(self.predicted)
        ):
            return CellFinding.NOT_REACHED
        gain = self.measured - self.predicted
        if abs(gain) <= AGREE:
            return CellFinding.ATTAINED
        if gain < 0:
            return CellFinding.LOOSE
        return CellFinding.EXCEEDED if self.low > self.predicted else CellFinding.NOT_REACHED

    @property
    def loose(self) -> float | None:
        """P where the term is loose by the parameter to the p."""
        return self.predicted - self.measured if self.verdict is CellFinding.LOOSE else None

    @property
    def text(self) -> str:
        """The verdict in words: such as ``LOOSE by T^0.25``."""
        if self.verdict not in (CellFinding.LOOSE, CellFinding.EXCEEDED):
            return self.verdict.value
        return f"{self.verdict.value} by {self.parameter}^{abs(self.measured - self.predicted):.2f}"


def compare(
    parameter: str, values: Sequence[float], terms: Sequence[float], lefts: Array, errors: Array, where: str
) -> OrderExponent:
    """Exponents of a printed term and of the left side over the same values, at least two, all numbers positive."""
    x, term = np.log(np.asarray(values, dtype=float)), np.log(np.asarray(terms, dtype=float))
    y, off = np.log(lefts), errors / lefts
    gains = np.diff(y - term)
    width, slack = np.diff(x), off[1:] + off[:-1]
    predicted = slope(x, term)
    low, high = float(np.min((gains - slack) / width)), float(np.max((gains + slack) / width))
    return OrderExponent(
        parameter, predicted, slope(x, y), predicted + low, predicted + high, np.exp(x), lefts, errors, where
    )


def not_reached(parameter: str, reason: str) -> OrderExponent:
    """No range of this parameter, for this reason."""
    nan, none = float("nan"), np.zeros(0)
    return OrderExponent(parameter, nan, nan, nan, nan, none, none, none, reason)
