"""Instances that differ in one number alone, such as a curvature, and the worst of them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ratecheck.aliases import Array
from ratecheck.exponents.families.hard import Hard

# Numbers that are tried over so many decades below the largest, and numbers at which the best of them is looked at
# closer.
_DECADES, _FINER = 16, 9


class HardCurve(ABC):
    """A family at a setting: a number in (0, ``largest``] is an instance.

    ``per_decade`` numbers are tried in each decade, and the best is looked at ``closer`` so many times. Of the well
    conditioned instances, with numbers over a decade, ``typical`` curves have a mean that says something.
    """

    per_decade = 3
    closer = 3

    @property
    def typical(self) -> bool:
        """See the class."""
        return True

    @property
    @abstractmethod
    def largest(self) -> float:
        """The largest number."""

    @abstractmethod
    def lefts(self, numbers: Array) -> Array:
        """The left sides at these numbers, (numbers,); NaN or infinite where there is none."""

    @abstractmethod
    def decode(self, number: float, left: float) -> Hard:
        """The instance at a number, whose left side is known."""

    def glanced(self) -> tuple[Array, Array]:
        """Numbers on a logarithmic grid, and the left sides there."""
        grid = self.largest * np.logspace(-_DECADES, 0, _DECADES * self.per_decade + 1)
        return grid, self._tried(grid)

    def _tried(self, grid: Array) -> Array:
        # Where nothing limits the start it is infinite, and what a run leaves of it may have no value.
        with np.errstate(invalid="ignore", over="ignore"):
            return self.lefts(grid)

    def worst(self, grid: Array, found: Array) -> Hard:
        """The instance with the largest left side, on a grid with its left sides that is refined about the best."""
        best: tuple[float, float] | None = None
        for left in range(self.closer, 0, -1):
            at = int(np.nanargmax(found)) if np.isfinite(found).any() else 0
            if best is None or found[at] > best[1]:
                best = float(grid[at]), float(found[at])
            if left > 1:
                grid = np.geomspace(grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)], _FINER)
                found = self._tried(grid)
        assert best is not None
        return self.decode(*best)
