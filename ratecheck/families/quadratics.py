"""Quadratics: each client has curvatures and slopes of its own, as far as the statement lets clients differ.

Where it says only of their mean f that it is convex, clients may have curvatures of either sign.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Statement
from ratecheck.aliases import Array
from ratecheck.families import coordinates
from ratecheck.families.family import OF_QUIET_RUNS, Coordinates, Family, InstanceCube, InstanceShape
from ratecheck.families.statements import (
    FEW,
    blocks,
    bounds_dissimilarity,
    bounds_pair,
    chooses_many,
    of_f_alone,
    of_functions,
    participants,
)
from ratecheck.families.who import TRACES
from ratecheck.problems import Quadratic
from ratecheck.settings.applicability import every_participation, method_of

# Numbers of clients in two groups of equal ones: where nothing runs, many cost little, and delays grow with them.
_MANY = (10, 40)
_GROUPED = 10
# Variables of one client whose method chooses among them.
_WIDE = 8
# Assumptions under which gradients are noisy.
_NOISY = frozenset({Assumption.NOISE, Assumption.RELATIVE_NOISE, Assumption.TOTAL_NOISE})
# The least curvature of f where clients are not convex.
_LEAST = 0.002
# The coordinate of the share of entries that compression keeps, and small shares.
_SHARE, _SHARES = "parameter q", (0.3, 0.08, 0.01)
# Where a curvature is the least one that is not 0.
_SLIGHTLY = 0.1


def grouped(family: Family, statement: Statement, n: int) -> Iterator[InstanceShape]:
    """Shapes of many clients, in two groups of equal ones."""
    d_u, d_v = blocks(statement)[0]
    groups = 0 if method_of(statement) is None else 2
    for size in sorted({*participants(statement, n)} & {1, n // 2, n - 1, n}):
        yield InstanceShape(family, n, d_u, d_v, size, groups=groups)


def coupled(cube: InstanceCube) -> int:
    """Groups of clients whose shared and personal variable are coupled: none where a dissimilarity is bounded."""
    shape = cube.shape
    apart = shape.n > 1 and bounds_dissimilarity(cube.statement)
    return (shape.groups or shape.n) if (shape.d_u, shape.d_v) == (1, 1) and not apart else 0


@dataclass(frozen=True)
class Quadratics(Family):
    """f_i(w) = w' H_i w/2 - g_i' w with diagonal H_i, or with a shared and a personal variable that are coupled.

    Curvatures are at most 1, so that coordinates of 1 make the largest steps too large to within rounding; slopes are
    in [-1, 1] about their mean, and spread about it.
    """

    any_dimension: bool = True
    grouped: bool = True

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Few clients, who take part as the statement says or by a trace, and many in two groups."""
        if not of_functions(statement):
            return
        for n, (d_u, d_v) in itertools.product(range(1, FEW + 1), blocks(statement)):
            for size in participants(statement, n):
                kinds = () if not every_participation(statement) else TRACES if n > 1 else ("rare", "leaving")
                yield InstanceShape(self, n, d_u, d_v, size)
                if size == 1:
                    yield from (InstanceShape(self, n, d_u, d_v, size, kind) for kind in kinds)
        if chooses_many(statement) and 1 in participants(statement, 1):
            yield InstanceShape(self, 1, _WIDE, 0, 1)
        for n in _MANY if method_of(statement) is None else (_GROUPED,):
            for shape in grouped(self, statement, n):
                yield shape
                if shape.size == 1 and every_participation(statement):
                    # Long absences of everybody.
                    yield replace(shape, trace="cyclic")

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return grouped(self, statement, n) if of_functions(statement) else ()

    def text(self, statement: Statement) -> str:
        # Where nothing runs only the vectors of a statement matter.
        return self.name if method_of(statement) is not None else "vectors"

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Curvatures and slopes of each client or group, and couplings.

        Shared coordinates have one curvature for all clients where a dissimilarity is bounded, which else does not
        exist.
        """
        shape = cube.shape
        for i, c in itertools.product(range(shape.groups or shape.n), range(shape.d_u + shape.d_v)):
            if i == 0 or c >= shape.d_u or not self._common(cube):
                yield f"curvature {i} {c}"
            yield f"slope {i} {c}"
        yield from (f"coupling {i}" for i in range(coupled(cube)))

    def _common(self, cube: InstanceCube) -> bool:
        return bounds_dissimilarity(cube.statement)

    def problem(self, cube: InstanceCube, at: Coordinates) -> Quadratic:
        return self.problems(cube, [at])[0]

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[Quadratic]:
        """See the class; where f is not curved at all a curvature of 1e-3 stands in."""
        shape = cube.shape
        curvature, slope = np.empty((2, len(points), shape.d_u + shape.d_v, shape.groups or shape.n))
        for group, c in itertools.product(range(curvature.shape[2]), range(curvature.shape[1])):
            own = f"curvature {group} {c}"
            own = own if own in points[0] else f"curvature 0 {c}"
            curvature[:, c, group] = [self._curvature(at[own]) for at in points]
            own = f"slope {group} {c}"
            slope[:, c, group] = [coordinates.slope(at[own]) for at in points]
        curvature, slope = (np.take(each, shape.group_of, axis=2).swapaxes(1, 2) for each in (curvature, slope))
        curvature = self._admissible(curvature)
        # Statements are about functions that are not linear.
        curvature[~curvature.any(axis=(1, 2)), :, 0] = 1 / coordinates.WIDE
        times, shared = np.array([[coordinates.factor(at["spread"])] for at in points]), slope[..., : shape.d_u]
        shared[:] = coordinates.apart(shared.swapaxes(0, 1), times).swapaxes(0, 1)
        if Assumption.INTERPOLATION in cube.statement.assumptions:
            # The common minimiser has coordinates of 1 and -1, so that products are exact.
            slope = curvature * np.where(slope[:, :1] < 0, -1.0, 1.0)
        return Quadratic.stacked(
            self._hessians(cube, points, curvature), self._bounded_below(curvature, slope), shape.d_u
        )

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Under noise all clients start next to one minimiser: all that a bound has beside its noise is next to 0.

        Of two clients the one that takes part in the last of many rounds alone has all of the gradient at the start,
        which small steps leave as it is: what is left there grows with its delay.
        """
        shape, assumed = cube.shape, {*cube.statement.assumptions}
        if shape.trace == "late" and shape.n == 2:
            own = {name: 0.5 for name in cube.coordinates if name.startswith(("slope 0", "slope 1"))}
            own |= {name: 0.0 for name in cube.coordinates if name.startswith(("curvature 0", "step"))}
            own |= {name: _SLIGHTLY for name in cube.coordinates if name.startswith("curvature 1")}
            yield cube.at(own | {"slope 1 0": 1.0, "spread": 0.5, "rounds": 1.0, "local_steps": 0.0})
        if shape.n > 2 or shape.size < shape.n or shape.trace or not _NOISY & assumed or OF_QUIET_RUNS & assumed:
            return
        own = {name: 1.0 for name in cube.coordinates if name.startswith("curvature")}
        own |= {name: 0.5 + coordinates.NEXT_TO_IT for name in cube.coordinates if name.startswith("slope")}
        own |= {name: coordinates.OF_ONE for name in cube.coordinates if name.startswith("noise")}
        yield from (cube.at(own | {"spread": 0.5, "rounds": rounds, "local_steps": 0.0}) for rounds in (0.0, 0.3))

    def _curvature(self, x: float) -> float:
        return coordinates.curvature(x)

    def _admissible(self, curvature: Array) -> Array:
        """The curvatures, (N, clients, coordinates), made to meet what the family says of f."""
        return curvature

    def _bounded_below(self, curvature: Array, slope: Array) -> Array:
        """Without curvature a slope has no minimum: as if it were not there."""
        return np.where(curvature == 0.0, 0.0, slope)

    def _hessians(self, cube: InstanceCube, points: Sequence[Coordinates], curvature: Array) -> Array:
        N, n, d = curvature.shape
        H = np.zeros((N, n, d, d))
        H[..., range(d), range(d)] = curvature
        for i, group in enumerate(cube.shape.group_of if coupled(cube) else ()):
            coupling = np.array([coordinates.coupling(at[f"coupling {group}"]) for at in points])
            H[:, i, 0, 1] = H[:, i, 1, 0] = coupling * np.sqrt(curvature[:, i].prod(axis=1))
        return H


@dataclass(frozen=True)
class OpposedClients(Quadratics):
    """f_i = h_i x^2/2 - g_i x with h_i in [-1, 1] and a positive mean of the h_i."""

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements that give f a minimum by an assumption on f, or bound (G, B): neither says clients are convex."""
        covered = (of_f_alone(statement) or bounds_pair(statement)) and of_functions(statement)
        return [InstanceShape(self, n, 1, 0, size) for n in (2, FEW) for size in participants(statement, n) if covered]

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def _curvature(self, x: float) -> float:
        return coordinates.any_curvature(x)

    def _admissible(self, curvature: Array) -> Array:
        return curvature + np.maximum(_LEAST - curvature.mean(axis=1, keepdims=True), 0.0)

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """f_1 = (x - 1)^2/2 and another client that is -``low`` times that; others are next to flat."""
        for low, rounds in ((0.9, 0.24), (0.99, 0.24), (0.99, 0.4)):
            own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5, "curvature 0 0": 1.0, "slope 0 0": 1.0}
            own |= {"curvature 1 0": coordinates.of_negative(-low), "slope 1 0": (1 - low) / 2}
            own |= {"curvature 2 0": coordinates.BARELY, "slope 2 0": 0.5}
            yield cube.at(own)
            if _SHARE in cube.coordinates:
                # What compression adds grows with the clients' gradients, and these are far larger than that of f.
                yield from (cube.at(own | {_SHARE: coordinates.of_share(share)}) for share in _SHARES)


QUADRATICS = Quadratics(
    "quadratics", "statements of means over rounds: noise, drift and sampling at once; noise next to a minimiser", 20
)
OPPOSED = OpposedClients(
    "quadratics with clients that are not convex",
    "clients that share their stationary point, and nearly cancel",
    40, label="clients that are not convex",
)  # fmt: skip
FAMILIES = (QUADRATICS, OPPOSED)
