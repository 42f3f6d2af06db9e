"""Second moments of runs whose noise grows with the gradient, where each client takes one gradient a round."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Progress
from ratecheck.engines.engine import Engine, objection
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import relative
from ratecheck.engines.moments.expectation import follow
from ratecheck.engines.setup import Setup
from ratecheck.engines.wanted import Wanted

# Pairs of coordinates of all clients in all rounds that make moments slower than sampling.
_MOST_PAIRS = 1e5


class RelativeNoiseEngine(Engine):
    """Means and covariances by the recursion of `relative.RelativeMoments`."""

    name: ClassVar[str] = "relative noise"
    growing: ClassVar[bool] = True

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        if not wanted.recordable:
            return "the exact engine knows what runs record, alone, where noise depends on the point: use engine=step"
        return objection(relative.check, setup) or wanted.too_long(setup.T)

    def cost(self, setup: Setup, wanted: Wanted) -> float:
        """See `Engine.cost`: by the pairs of coordinates."""
        return setup.problem.n * setup.problem.d**2 * setup.T / _MOST_PAIRS

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """See `Engine.follow`."""
        return follow(setup, relative.RelativeMoments, progress=progress)
