"""Least squares of one sample for each client: Hessians of rank one, which are curved in directions of their own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.families import coordinates
from ratecheck.families.family import Coordinates, Family, InstanceCube, InstanceShape
from ratecheck.families.statements import FEW, bounds_dissimilarity, of_functions, participants
from ratecheck.problems import Quadratic
from ratecheck.settings.applicability import method_of

# What the coordinates of a_i and of the common minimiser are multiples of, so that a_i a_i' and a_i a_i' x* are exact:
# else the least eigenvalue of a client may be negative by rounding.
_OF_SAMPLES, _OF_MINIMISER = 2.0**-20, 2.0**-8
_LEAST = 1 / coordinates.WIDE
# No client has a Hessian that the statement's assumption excludes of rank one.
_FULL_RANK = frozenset({Assumption.CLIENTS_STRONG_CONVEXITY})


@dataclass(frozen=True)
class RankOne(Family):
    """f_i(x) = (a_i'x - b_i)^2/2 in two variables, with the angle between a_i and a_0 from 1e-3 to pi/2.

    b_i = a_i'x* for two clients, and also for more where one point minimises every client's function. f is as badly
    conditioned as the angles are small, and Hessians do not commute.
    """

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Two clients, all or one of whom take part, and three, where clients may differ in their curvatures."""
        sizes = [(2, 1), *((n, n) for n in range(2, FEW + 1))] if self._fits(statement) else []
        return [InstanceShape(self, n, 2, 0, size) for n, size in sizes if size in participants(statement, n)]

    def _fits(self, statement: Statement) -> bool:
        method = method_of(statement)
        excluded = bounds_dissimilarity(statement) or bool(_FULL_RANK & {*statement.assumptions})
        return method is not None and method.shared and of_functions(statement) and not excluded

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Curvatures |a_i|^2, angles, the common minimiser, and of more than two clients what b_i is off by."""
        n = cube.shape.n
        yield from (f"curvature {i}" for i in range(n))
        yield from (f"angle {i}" for i in range(1, n))
        yield from (f"minimiser {c}" for c in range(2))
        yield from (f"residual {i}" for i in self._apart(cube))

    def _apart(self, cube: InstanceCube) -> range:
        """Clients whose minimisers are not a common one: the lines of two in the plane always meet."""
        alike = cube.shape.n == 2 or Assumption.INTERPOLATION in cube.statement.assumptions
        return range(0 if alike else cube.shape.n)

    def problem(self, cube: InstanceCube, at: Coordinates) -> Quadratic:
        """See the class; no client is flat, so that f has one minimiser."""
        n = cube.shape.n
        curvature = np.array([max(coordinates.curvature(at[f"curvature {i}"]), _LEAST) for i in range(n)])
        angle = np.array([0.0, *(coordinates.angle(at[f"angle {i}"]) for i in range(1, n))])
        a = np.sqrt(curvature)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        a = np.trunc(a / _OF_SAMPLES) * _OF_SAMPLES
        minimiser = np.round([coordinates.slope(at[f"minimiser {c}"]) / _OF_MINIMISER for c in range(2)])
        b = a @ (minimiser * _OF_MINIMISER)
        for i in self._apart(cube):
            b[i] += coordinates.centred(at[f"residual {i}"]) * coordinates.factor(at["spread"])
        return Quadratic(a[:, :, None] * a[:, None, :], a * b[:, None], 2)

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """See ``hard_for``: the minimiser is along the direction in which f is flat, or across it."""
        n = cube.shape.n
        for (rounds, angle), (x, y) in itertools.product(((0.3, 0.0), (1.0, 0.0), (0.3, 0.3)), ((1, 1), (0.5, 1))):
            own = {"rounds": rounds, "local_steps": 0.6, "spread": 0.5, "minimiser 0": x, "minimiser 1": y}
            own |= {f"curvature {i}": 1.0 if i == 0 else 0.45 for i in range(n)}
            own |= {f"angle {i}": angle + 0.3 * (i - 1) for i in range(1, n)}
            yield cube.at(own | {f"residual {i}": 0.5 for i in range(n)})


RANK_ONE = RankOne(
    "least squares of one sample for each client",
    "clients that are curved in nearly the same direction, so that f is next to flat in another",
    45, label="Hessians of rank one", any_number=False, centred=("residual",),
)  # fmt: skip
FAMILIES = (RANK_ONE,)
