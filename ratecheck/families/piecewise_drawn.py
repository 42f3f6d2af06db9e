"""Sums of piecewise quadratic functions with noise or sampled clients, of which runs are drawn."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE
from ratecheck.families import coordinates
from ratecheck.families.family import OF_QUIET_RUNS, Family, InstanceCube, InstanceShape
from ratecheck.families.piecewise import PiecewiseQuadratics
from ratecheck.families.statements import participants
from ratecheck.settings.applicability import method_of
from ratecheck.settings.piecewise import has_runs

# Local steps and rounds of a run that is drawn some dozens of times.
_REACH = (8.0, 64.0)
# What differs from its minimum by is no sum of squares, so that no run that is drawn records it.
_DIFFERENCES = frozenset({"gap", "change:gap"})


@dataclass(frozen=True)
class DrawnPieces(PiecewiseQuadratics):
    """Functions of one variable: of one client with noise, or of two that are sampled."""

    any_dimension: bool = False

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """One client where noise is open or the method draws by itself, and two of which one takes part."""
        method = method_of(statement)
        if OF_QUIET_RUNS & {*statement.assumptions} or _DIFFERENCES & statement.recorded:
            return
        facts, settings = statement.vocabulary.facts, statement.settings
        drawn = method is not None and bool(method.algorithm.compressed or method.algorithm.coin)
        drawn |= any(facts.get(name) in NOISE and name not in settings for name in statement.parameters)
        for shape in (*(self.sized(statement, 1) if drawn else ()), *self.sized(statement, 2)):
            if shape.n == 1:
                yield shape
            elif 1 in participants(statement, 2):
                yield InstanceShape(self, 2, 1, 0, 1)

    def follows(self, statement: Statement) -> bool:
        method = method_of(statement)
        return has_runs(statement) and method is not None and not method.algorithm.second_oracle

    def text(self, statement: Statement) -> str:
        return super().text(statement).replace("without noise", "with noise or sampled clients, runs drawn")

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        if any(not (each.quadratic or each.drawn) for each in others):
            # They say it.
            return ()
        return ("functions that are not quadratic, but for short runs in one variable",)

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return _REACH

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Functions that are flat on the side where noise carries a run, or between steep ones, from the minimiser."""
        own = {name: coordinates.OF_ONE for name in cube.coordinates if name.startswith("noise")}
        for rounds, pieces in itertools.product((1.0, 0.4), ((1.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 1.0))):
            at = own | {f"piece {i} 0 {j}": piece for i in range(cube.shape.n) for j, piece in enumerate(pieces)}
            at |= {f"kink {i} 0 {j}": 0.5 + (j - 0.5) * 2 / 3 for i in range(cube.shape.n) for j in range(self.kinks)}
            at |= {f"slope {i} 0": 0.5 + coordinates.NEXT_TO_IT for i in range(cube.shape.n)}
            yield cube.at(at | {"rounds": rounds, "local_steps": 0.0, "spread": 0.5})


DRAWN = DrawnPieces(
    "piecewise quadratic functions with noise or sampled clients, runs drawn",
    "one client next to its minimiser, which noise carries to where its function is flat or steep",
    60, label="2 breakpoints, drawn", noise=True, quadratic=False, linear_far_away=True, drawn=True,
)  # fmt: skip

FAMILIES = (DRAWN,)
