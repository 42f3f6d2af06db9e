"""Quadratic min-max problems: the operators of statements that speak of no function."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.certification.uncertified import of_operators
from ratecheck.families import coordinates
from ratecheck.families.coordinates import NEXT_TO_IT
from ratecheck.families.family import Coordinates, Family, InstanceCube, InstanceShape
from ratecheck.families.statements import FEW, participants
from ratecheck.problems import MinMax
from ratecheck.settings.applicability import method_of

# What is definite has at least this curvature.
_LEAST = 1 / coordinates.WIDE


@dataclass(frozen=True)
class MinMaxPairs(Family):
    """Pairs (x_c, y_c) of client i: a x^2/2 + b x y - c y^2/2 less slopes, the x being minimised over.

    Curvatures a and c and turns b are at most 1; b is largest where both curvatures are 0. What has to be definite is
    at least nearly so.
    """

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements about operators alone, of methods that use gradients of shared variables."""
        fixed = statement.settings.get(statement.vocabulary.run.get("clients", ""))
        if fixed is not None and fixed.is_Integer:
            return self.sized(statement, int(fixed))
        return self._of(statement, self._sizes())

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        """One pair, and for one client two."""
        return self._of(statement, [(k, d) for k, d in self._sizes() if k == n] or [(n, 2)])

    def _sizes(self) -> list[tuple[int, int]]:
        return [(1, 2), (1, 4), *((k, 2) for k in range(2, FEW + 1))]

    def _of(self, statement: Statement, sizes: list[tuple[int, int]]) -> list[InstanceShape]:
        method = method_of(statement)
        if method is None or not (
            of_operators(statement.assumptions) and method.algorithm.asks_gradients and method.shared
        ):
            return []
        return [InstanceShape(self, n, d, 0, size) for n, d in sizes for size in participants(statement, n)]

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        return *super().missed(others), "operators that are neither affine nor gradients, and pairs that do not split"

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Of every client curvatures and slopes, then its turns."""
        n, d = cube.shape.n, cube.shape.d_u
        yield from (f"{name} {i} {c}" for i in range(n) for c in range(d) for name in ("curvature", "slope"))
        yield from (f"turn {i} {c}" for i in range(n) for c in range(d // 2))

    def problem(self, cube: InstanceCube, at: Coordinates) -> MinMax:
        n, pairs, assumed = cube.shape.n, cube.shape.d_u // 2, {*cube.statement.assumptions}

        def of_clients(name: str, number: int, value: coordinates.Value) -> Array:
            return np.array([[value(at[f"{name} {i} {c}"]) for c in range(number)] for i in range(n)])

        curvature = of_clients("curvature", 2 * pairs, coordinates.curvature)
        slope = of_clients("slope", 2 * pairs, coordinates.slope)
        turn = of_clients("turn", pairs, coordinates.turn)
        if Assumption.COCOERCIVE_OPERATOR in assumed:
            # Where a turn meets no curvature there is no such constant.
            curvature = np.where(np.tile(turn != 0, 2), np.maximum(curvature, _LEAST), curvature)
        if assumed & {Assumption.STRONGLY_MONOTONE_OPERATOR, Assumption.CLIENTS_STRONGLY_MONOTONE}:
            curvature = np.maximum(curvature, _LEAST)
        if not curvature.any() and not turn.any():
            turn[:, 0] = 1.0
        slope = coordinates.apart(slope, coordinates.factor(at["spread"]))
        # Without curvature and turn a slope has no zero: as if it were not there.
        slope[:, (curvature.mean(axis=0) == 0) & (np.tile(turn.mean(axis=0), 2) == 0)] = 0.0
        over_x, over_y = np.split(curvature, 2, axis=1)
        A, B, C = (values[:, :, None] * np.eye(pairs) for values in (over_x, turn, over_y))
        return MinMax(A, B, C, slope[:, :pairs], slope[:, pairs:])

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """All have one operator, curved alike in all coordinates and turned most; under noise next to its zero."""
        noises = {name: coordinates.OF_ONE for name in cube.coordinates if name.startswith("noise")}
        for curved, step in itertools.product((0.35, 0.55, 1.0), (1.0, 0.5)) if noises else ():
            yield cube.at(_turning(cube, 1.0, curved, step, 0.5 + NEXT_TO_IT) | noises)
        # At its edge a step decides in the first rounds; a smaller one in the last.
        for rounds, curved, step in itertools.product((0.3, 1.0), (0.0, 0.35, 0.55), (1.0, 0.5)):
            yield cube.at(_turning(cube, rounds, curved, step, 1.0))


def _turning(cube: InstanceCube, rounds: float, curvature: float, step: float, slope: float) -> dict[str, float]:
    """Coordinates of clients that have one operator, turned most, with one local step."""
    kinds = {"step": step, "turn": 1.0, "curvature": curvature, "slope": slope}
    own = {name: kinds[kind] for name in cube.coordinates if (kind := name.partition(" ")[0]) in kinds}
    return own | {"rounds": rounds, "local_steps": 0.0, "spread": 0.5}


MIN_MAX = MinMaxPairs(
    "quadratic min-max problems of pairs of variables",
    "steps around a saddle point: all clients turn alike, with no curvature, little, or half; noise next to it",
    10, label="min-max problems",
)  # fmt: skip
FAMILIES = (MIN_MAX,)
