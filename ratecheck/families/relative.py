"""Quadratics under noise whose variance grows with the gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.engines.moments.relative import follows
from ratecheck.families import coordinates
from ratecheck.families.family import OF_QUIET_RUNS, Coordinates, InstanceCube, InstanceShape
from ratecheck.families.quadratics import Quadratics
from ratecheck.families.statements import FEW, of_functions, participants
from ratecheck.problems import RelativeQuadratic
from ratecheck.settings.applicability import every_participation, method_of

_GROWING = frozenset({Assumption.RELATIVE_NOISE, Assumption.EXPECTED_SMOOTHNESS})
# Local steps and rounds: moments are followed round by round.
_REACH = (1.0, 500.0)


@dataclass(frozen=True)
class RelativeNoise(Quadratics):
    """f_i = h_i x^2/2 - g_i x with gradients of the variance sigma^2 + rho f_i'^2, rho from 1e-3 to 1e3."""

    any_dimension: bool = False

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements that allow such noise, about methods that take one gradient a round."""
        method = method_of(statement)
        if method is None or not of_functions(statement) or not _GROWING & {*statement.assumptions}:
            return
        if OF_QUIET_RUNS & {*statement.assumptions} or every_participation(statement) or not follows(method.algorithm):
            return
        for n in range(1, FEW + 1):
            yield from (InstanceShape(self, n, 1, 0, size) for size in participants(statement, n))

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return _REACH

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Beside those of quadratics rho."""
        yield from super().axes(cube)
        yield "growth"

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[RelativeQuadratic]:
        own = zip(super().problems(cube, points), points, strict=True)
        return [RelativeQuadratic(each.H, each.g, each.d_u, coordinates.factor(at["growth"])) for each, at in own]

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Steep functions far from their minimum, with no other noise: what grows is all that a step adds."""
        own = {name: 1.0 for name in cube.coordinates if name.startswith(("curvature", "slope"))} | {"spread": 0.5}
        for growth in (0.4, 0.5, 0.6, 0.8):
            yield from (cube.at(own | {"growth": growth, "rounds": rounds}) for rounds in (0.1, 0.4, 0.8))


RELATIVE = RelativeNoise(
    "quadratics with noise that grows with gradients",
    "steps that do not shrink with rho: noise of a large gradient is larger than what the step gains",
    48, label="relative noise", any_number=False, growing=True,
)  # fmt: skip
FAMILIES = (RELATIVE,)
