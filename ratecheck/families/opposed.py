"""Quadratics of clients that are not convex, although f, their mean, is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.families import coordinates
from ratecheck.families.family import InstanceCube, InstanceShape
from ratecheck.families.quadratics import Quadratics
from ratecheck.families.statements import FEW, of_f_alone, of_functions, participants

# The least curvature of f.
_LEAST = 0.002


@dataclass(frozen=True)
class OpposedClients(Quadratics):
    """f_i = h_i x^2/2 - g_i x with h_i in [-1, 1] and a positive mean of the h_i."""

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements that give f a minimum by an assumption on f, which says nothing of single clients."""
        covered = of_f_alone(statement) and of_functions(statement)
        return [InstanceShape(self, n, 1, 0, size) for n in (2, FEW) for size in participants(statement, n) if covered]

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def _curvature(self, x: float) -> float:
        return coordinates.any_curvature(x)

    def _admissible(self, curvature: Array) -> Array:
        return curvature + np.maximum(_LEAST - curvature.mean(axis=0), 0.0)

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """f_1 = (x - 1)^2/2 and another client that is -``low`` times that; others are next to flat."""
        for low, rounds in ((0.9, 0.24), (0.99, 0.24), (0.99, 0.4)):
            own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5, "curvature 0 0": 1.0, "slope 0 0": 1.0}
            own |= {"curvature 1 0": coordinates.of_negative(-low), "slope 1 0": (1 - low) / 2}
            yield cube.at(own | {"curvature 2 0": coordinates.BARELY, "slope 2 0": 0.5})


OPPOSED = OpposedClients(
    "quadratics with clients that are not convex",
    "clients that share their stationary point, and nearly cancel",
    40, label="clients that are not convex",
)  # fmt: skip
FAMILIES = (OPPOSED,)
