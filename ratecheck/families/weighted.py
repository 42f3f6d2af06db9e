"""Quadratics of clients with unequal weights p_i in the objective."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.families import coordinates
from ratecheck.families.family import Coordinates, InstanceCube, InstanceShape
from ratecheck.families.quadratics import Quadratics
from ratecheck.families.statements import FEW, bounds_dissimilarity, of_functions, participants, weighs
from ratecheck.problems import WeightedQuadratic

# What weights are multiples of, so that their sum is exactly 1.
_OF_WEIGHTS = 2.0**-20
# The coordinate of a weight as large as that of client 0, and how far a start is from the minimiser.
_EQUAL, _NEARLY = 0.5, 1 - 2.0**-10


@dataclass(frozen=True)
class UnequalWeights(Quadratics):
    """f = sum_i p_i f_i with f_i = h_i x^2/2 - g_i x, and ratios of the p_i from 1e-3 to 1e3."""

    any_dimension: bool = False

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements about methods that know of weights; a bounded dissimilarity is one of equal weights."""
        covered = weighs(statement) and of_functions(statement) and not bounds_dissimilarity(statement)
        return [InstanceShape(self, n, 1, 0, size) for n in (2, FEW) for size in participants(statement, n) if covered]

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Beside those of quadratics how many times the weight of client 0 others have."""
        yield from super().axes(cube)
        yield from (f"weight {i}" for i in range(1, cube.shape.n))

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[WeightedQuadratic]:
        found = []
        for own, at in zip(super().problems(cube, points), points, strict=True):
            ratios = [1.0, *(coordinates.factor(at[f"weight {i}"]) for i in range(1, cube.shape.n))]
            found.append(WeightedQuadratic(own.H, own.g, own.d_u, _shares(np.array(ratios))))
        return found

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Of two clients one has little weight, and at the start all but cancels the other."""
        rest = {f"curvature {i} 0": 1.0 for i in range(cube.shape.n)} | {"spread": 0.5, "local_steps": 0.6}
        rest |= {f"slope {i} 0": 0.5 for i in range(2, cube.shape.n)} | {"slope 1 0": 1.0}
        for rare, rounds in ((0.0, 0.3), (0.35, 1.0), (0.2, 0.6)):
            low = _NEARLY * coordinates.factor(rare)
            own = {"weight 1": rare, "slope 0 0": (1 - low) / 2, "rounds": rounds}
            yield cube.at(rest | own | {f"weight {i}": _EQUAL for i in range(2, cube.shape.n)})


def _shares(ratios: Array) -> Array:
    """Weights in these ratios, (n,): multiples of a power of 2, that of the largest being what is left."""
    shares = np.maximum(np.floor(ratios / ratios.sum() / _OF_WEIGHTS), 1.0) * _OF_WEIGHTS
    largest = int(shares.argmax())
    shares[largest] = 1.0 - (shares.sum() - shares[largest])
    return shares


UNEQUAL = UnequalWeights(
    "quadratics of clients with unequal weights",
    "clients of little weight with large gradients, which cancel the others where the run starts",
    47, label="unequal weights", any_number=False, weighted=True,
)  # fmt: skip
FAMILIES = (UNEQUAL,)
