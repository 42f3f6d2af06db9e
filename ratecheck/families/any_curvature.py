"""Functions of any curvature where the run is, which continue otherwise beyond what it sees; nothing is random."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.certification.uncertified import may_continue
from ratecheck.families import coordinates
from ratecheck.families.family import VISITED, InstanceCube, InstanceShape
from ratecheck.families.quadratics import Quadratics
from ratecheck.families.statements import FEW, blocks, of_functions
from ratecheck.settings.applicability import method_of
from ratecheck.settings.convexity import any_sign, says_quadratic


@dataclass(frozen=True)
class AnyCurvature(Quadratics):
    """Quadratics with curvatures in [-1, 1] that differ although the statement bounds the clients' dissimilarity."""

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements about functions that need not be convex, all of whose constants are measured along a run."""
        covered = method_of(statement) is not None and of_functions(statement) and not says_quadratic(statement.title)
        if not (covered and any_sign(statement) and may_continue(statement.assumptions)):
            return ()
        return [InstanceShape(self, n, *blocks(statement)[0], n) for n in range(1, FEW + 1)]

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def _common(self, cube: InstanceCube) -> bool:
        return False

    def _curvature(self, x: float) -> float:
        return coordinates.any_curvature(x)

    def _bounded_below(self, curvature: Array, slope: Array) -> Array:
        return slope

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return VISITED

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """On a graph: one client is curved, and the others are next to flat or nearly as curved the other way.

        Elsewhere two clients of these kinds pull apart next to the minimiser of f, from which their steps lead away.
        """
        if cube.shape.n == 2 and not cube.shape.graph:
            yield from (self._balanced(cube, steps) for steps in (0.0, 1.0))
        if cube.shape.graph:
            yield from (self._pulled_apart(cube, rounds, edges) for rounds, edges in ((1.0, 0.3), (0.5, 0.3), (1.0, 0)))
            yield from (self._cancelled(cube, low, edges) for low in (0.99, 0.9) for edges in (0.4, 0.2))

    def _balanced(self, cube: InstanceCube, steps: float) -> Array:
        """Slopes 1/2 and, of the second client, a little less than -1/2: one is curved, and the other next to flat."""
        own = {"rounds": 1.0, "local_steps": steps, "spread": 0.5}
        for i, c in itertools.product(range(2), range(cube.shape.d_u)):
            own |= {f"curvature {i} {c}": (1.0, 0.5)[i], f"slope {i} {c}": (0.75, 0.2501)[i]}
        return cube.at(own)

    def _pulled_apart(self, cube: InstanceCube, rounds: float, edges: float) -> Array:
        own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5, "edges": edges}
        for i, c in itertools.product(range(cube.shape.n), range(cube.shape.d_u)):
            own[f"curvature {i} {c}"] = 1.0 if i == 0 else 0.35
            own[f"slope {i} {c}"] = (1.0, 0.01, 0.5)[min(i, 2)]
        return cube.at(own)

    def _cancelled(self, cube: InstanceCube, low: float, edges: float) -> Array:
        """Curvatures 1 and, shared by the other clients, -``low``: f is next to flat, and distances on the graph grow.

        Of two clients DSGD moves the mean by gamma (1 + low)/2 times their distance, which moves their distance so.
        """
        own = {"rounds": 1.0, "local_steps": 0.0, "spread": 0.5, "edges": edges}
        opposite = coordinates.of_negative(-low / (cube.shape.n - 1))
        for i, c in itertools.product(range(cube.shape.n), range(cube.shape.d_u)):
            own |= {f"curvature {i} {c}": opposite if i else 1.0, f"slope {i} {c}": 1.0 if i else 0.75}
        return cube.at(own)


ANY_CURVATURE = AnyCurvature(
    "functions of any curvature where the run is, without noise",
    "clients on a graph that pull apart at a point next to the minimiser of f, or whose curvatures nearly cancel",
    30, label="curvatures of any sign", quiet=True, noise=False, any_number=False, continued=True,
)  # fmt: skip
FAMILIES = (ANY_CURVATURE,)
