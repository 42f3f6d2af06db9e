"""An interval of positive numbers whose ends know which conditions set them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

TOLERANCE = 1e-12
# What is cut off is more than this, so that the ends of what is left are exact to more than what counts as empty.
_LEAST_CUT = 4e-13
# Stand-ins for the open ends of an interval, far outside every sensible step size and inside the range of floats.
TINY, HUGE = 1e-60, 1e60
# How far inside an open end a function is evaluated, relative to it.
INSIDE = 1e-9

# What sets the two ends of an interval: rules of `ratecheck.stepsizes.constraints`.
Reasons = tuple[frozenset[Any], frozenset[Any]]
NO_REASONS: Reasons = (frozenset(), frozenset())


@dataclass(frozen=True)
class Interval:
    """Admissible values from low to high; ``because`` has the rules that set the two ends.

    An end is admissible itself unless ``strict`` says otherwise; zero and infinity never are.
    """

    low: float = 0.0
    high: float = math.inf
    because: Reasons = NO_REASONS
    strict: tuple[bool, bool] = (False, False)

    def __repr__(self) -> str:
        left, right = self.open
        return f"<Interval {'(' if left else '['}{self.low:.6g}, {self.high:.6g}{')' if right else ']'}>"

    @property
    def open(self) -> tuple[bool, bool]:
        """Whether the interval goes up to its ends without containing them."""
        return self.strict[0] or self.low == 0.0, self.strict[1] or math.isinf(self.high)

    @property
    def single(self) -> bool:
        """Whether only one value is admissible."""
        return self.low == self.high

    @property
    def box(self) -> tuple[float, float]:
        """The ends of a closed interval of positive numbers that leaves out open ends."""
        low = self.low * (1 + INSIDE) if self.strict[0] else self.low
        high = self.high * (1 - INSIDE) if self.strict[1] else self.high
        return max(low, TINY), min(high, HUGE)

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval as numbers at which a condition can be evaluated."""
        return self.low, min(self.high, HUGE)

    @property
    def centre(self) -> float:
        """A number inside, on the scale of the interval."""
        # Written out: projections evaluate it a hundred thousand times.
        low, high = self.low, self.high
        return math.sqrt(max(low, TINY)) * math.sqrt(min(high, HUGE))

    @property
    def empty(self) -> bool:
        """Whether no value is left (with slack for rounding)."""
        if any(self.open) and self.low >= self.high * (1 - TOLERANCE):
            return True
        return self.low > self.high * (1 + TOLERANCE)

    def contains(self, value: float) -> bool:
        """Whether the value is admissible (with slack for rounding)."""
        return not self.cut(value, value, frozenset()).empty

    def nearest(self, value: float) -> float:
        """The admissible value whose ratio to the given one is closest to 1; just inside where an end is open."""
        low, high = self.box
        return min(max(value, low), high)

    def cut(self, low: float, high: float, because: frozenset[Any], *, strict: bool = False) -> Interval:
        """The intersection with [low, high], without these ends if ``strict``."""
        new = self
        if low > new.low * (1 + _LEAST_CUT):
            new = replace(new, low=low, because=(because, new.because[1]), strict=(strict, new.strict[1]))
        elif strict and not new.open[0] and low >= new.low * (1 - TOLERANCE):
            new = replace(new, because=(because, new.because[1]), strict=(True, new.strict[1]))
        if high < new.high * (1 - _LEAST_CUT):
            new = replace(new, high=high, because=(new.because[0], because), strict=(new.strict[0], strict))
        elif strict and not new.open[1] and high <= new.high * (1 + TOLERANCE):
            new = replace(new, because=(new.because[0], because), strict=(new.strict[0], True))
        return new


def point(value: float) -> Interval:
    """The interval of one value."""
    return Interval(value, value)
