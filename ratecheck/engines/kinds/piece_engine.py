"""Runs without randomness on functions that are quadratic piece by piece, in exact numbers."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algebra.enclosure import UndecidedError
from ratecheck.aliases import Progress
from ratecheck.engines.engine import Engine
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.rigorous import piecewise_runs
from ratecheck.engines.setup import Setup
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError
from ratecheck.problems.piecewise_quadratic.piecewise import CHANGES
from ratecheck.problems.problem import Known

# Gradients up to which a run is exact: in a search, where a longer one is much faster in floating point, and where it
# is the verdict that counts.
_IN_SEARCHES, _IN_VERDICTS = 200, 10_000


class PieceEngine(Engine):
    """One run in rationals or in enclosures, rounded to floats in the end."""

    name: ClassVar[str] = "pieces"
    needs: ClassVar[frozenset[Known]] = frozenset({Known.PIECES})

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        try:
            piecewise_runs.followed(setup)
        except UndecidedError as error:
            return f"{error}: use engine=step"
        return ""

    def cost(self, setup: Setup, wanted: Wanted) -> float:
        """See `Engine.cost`: by gradients; a verdict on what changes in a round is found nowhere else."""
        if wanted.proof and wanted.quantities & CHANGES:
            return 0.0
        most = _IN_VERDICTS if wanted.proof else _IN_SEARCHES
        return setup.problem.n * setup.problem.d * setup.K * setup.T / most

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """See `Engine.follow`; raises `InputError` also for what is not recorded rigorously."""
        try:
            return piecewise_runs.expect(setup, wanted.quantities)
        except UndecidedError as error:
            raise InputError(str(error)) from None
