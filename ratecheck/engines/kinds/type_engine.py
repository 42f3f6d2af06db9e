"""Affine runs on a population, round by round: clients of a type are exchangeable."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Progress
from ratecheck.engines.engine import Engine
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.kinds.moment_engine import not_affine
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import fastest
from ratecheck.engines.wanted import Wanted
from ratecheck.problems.problem import Known


class TypeEngine(Engine):
    """Moments of the types of clients, at a cost that does not grow with their numbers."""

    name: ClassVar[str] = "types"
    needs: ClassVar[frozenset[Known]] = frozenset({Known.AFFINE, Known.TYPES})

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        return not_affine(setup, wanted) or wanted.too_long(setup.T)

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        return fastest.expect(setup, progress=progress)
