"""Means over the rounds of long affine runs, by squaring the map of a round or of a period."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ratecheck.aliases import Progress
from ratecheck.engines.engine import Engine
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.kinds.moment_engine import MomentEngine, not_affine
from ratecheck.engines.kinds.type_engine import TypeEngine
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import fastest, long_runs
from ratecheck.engines.wanted import Wanted
from ratecheck.problems.problem import Known

# Rounds that are followed one by one where repeated squaring overflows: a run that blows up does so early.
_EARLY = 20_000


class LongRunEngine(Engine):
    """Averages over T rounds at a cost that grows with log T; rounds one by one where they lose less."""

    name: ClassVar[str] = "long runs"
    needs: ClassVar[frozenset[Known]] = frozenset({Known.AFFINE})

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        """See `Engine.refuses`: as the engine that follows rounds, and where that costs no more."""
        if reason := not_affine(setup, wanted):
            return reason
        if wanted.means and wanted.recordable and long_runs.pays(setup):
            return ""
        return _by_rounds(setup).refuses(setup, wanted) or "rounds are followed one by one"

    def cost(self, setup: Setup, wanted: Wanted) -> float:
        """See `Engine.cost`: less than that of the rounds."""
        return _by_rounds(setup).cost(setup, wanted) / 2

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        average = long_runs.average(setup)
        records, errors = ({k: np.array([v]) for k, v in each.items()} for each in (average.records, average.errors))
        finite, bounded = (all(math.isfinite(x) for x in each.values()) for each in (average.records, average.errors))
        if finite and (bounded or setup.T > _EARLY):
            return Expectation(records, errors, average.weights, setup.trace.rate)
        if finite:
            # Rounds one by one lose less than powers of the map.
            return fastest.expect(setup, progress=progress)
        early = replace(setup, T=min(_EARLY, setup.T))
        return replace(fastest.expect(early, progress=progress), rounds=setup.T)


def _by_rounds(setup: Setup) -> Engine:
    return TypeEngine() if Known.TYPES in setup.problem.knows else MomentEngine()
