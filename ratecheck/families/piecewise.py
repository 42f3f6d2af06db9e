"""Sums of piecewise quadratic functions of one coordinate each, without noise, with everybody in every round."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bounds.assumption import BOUNDED
from bounds.statement import Assumption, Statement
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.families import coordinates
from ratecheck.families.coordinates import BARELY, NEAREST
from ratecheck.families.family import Coordinates, Family, InstanceCube, InstanceShape
from ratecheck.families.statements import FEW, blocks, bounds_dissimilarity, of_functions
from ratecheck.problems import Piecewise, Problem
from ratecheck.settings.applicability import method_of
from ratecheck.settings.convexity import any_sign, assumes_convexity, says_quadratic
from ratecheck.settings.piecewise import has_pieces, has_quiet_steps
from ratecheck.settings.setting import Options

# Runs are followed local step by local step.
_REACH = (16.0, 500.0)
# How step sizes are evaluated.
_FLOATS = Options(vacuity=False, rigorous=False)
# The least curvature of a function that is strongly convex.
_LEAST = 0.02
STRONG = frozenset({Assumption.STRONG_CONVEXITY, Assumption.CLIENTS_STRONG_CONVEXITY})
# Halvings after which a root is known to the last digit.
HALVINGS = 53
# Beside a hill: how far gradients are from their mean, in the cube's coordinates and really; and rounds, of which the
# least error of the start grows with every one.
_APART, _PULL, _AWHILE = 0.2, 2.0, 0.74


@dataclass(frozen=True)
class PiecewiseQuadratics(Family):
    """Functions whose derivative in a coordinate is linear between breakpoints, ``kinks`` many, of curvature up to 1.

    Where dissimilarity is bounded clients agree far away, where f has a minimum as far as one is assumed.
    """

    kinks: int = 2
    # What of their runs is random, in words.
    runs: str = "without noise"
    any_dimension: bool = True
    grouped: bool = True

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements of which runs on such functions are followed exactly."""
        clients = range(1, FEW + 1) if method_of(statement) is not None and of_functions(statement) else ()
        return [shape for n in clients for shape in self.sized(statement, n)]

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        """Every client is of its own kind."""
        d_u = blocks(statement)[0][0]
        covered = d_u and self.follows(statement) and not says_quadratic(statement.title)
        # Floats seldom give piecewise quadratic functions one minimiser.
        covered = covered and (n == 1 or Assumption.INTERPOLATION not in statement.assumptions)
        return [InstanceShape(self, n, d_u, 0, n)] if covered else []

    def follows(self, statement: Statement) -> bool:
        """Whether its runs are followed for what the statement measures."""
        return has_pieces(statement)

    def bent_both_ways(self, statement: Statement, *, not_convex: bool) -> bool:
        """Whether functions may be concave between their breakpoints; f need not be where it is ``not_convex``."""
        dominated = Assumption.POLYAK_LOJASIEWICZ in statement.assumptions
        return not_convex or (dominated and not assumes_convexity(statement))

    def _bent(self, cube: InstanceCube) -> bool:
        return self.bent_both_ways(cube.statement, not_convex=cube.any_sign)

    def text(self, statement: Statement) -> str:
        convex = "" if self.bent_both_ways(statement, not_convex=any_sign(statement)) else "convex "
        return f"{convex}piecewise quadratic functions with {self.kinks} breakpoints, {self.runs}"

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        alike = any(each.noise and not each.quadratic for each in others)
        exceptions = [
            *(["equal clients with one breakpoint and noise of two values"] if alike else []),
            *(["short runs in one variable, which are drawn"] if any(each.drawn for each in others) else []),
        ]
        but = f", but for {' and '.join(exceptions)}" if exceptions else ""
        return (
            f"functions that are not quadratic, with noise or with sampled clients{but}",
            "functions that do not split into coordinates, but for quadratics",
        )

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return _REACH

    def axes(self, cube: InstanceCube) -> Iterator[str]:
        """Breakpoints, curvatures between them and the slope at 0, of each client or group in each coordinate."""
        shape = cube.shape
        for i, c in itertools.product(range(shape.groups or shape.n), range(shape.d_u)):
            yield from (f"kink {i} {c} {j}" for j in range(self.kinks))
            yield from (f"piece {i} {c} {j}" for j in range(self.kinks + 1))
            yield f"slope {i} {c}"

    def problem(self, cube: InstanceCube, at: Coordinates) -> Problem:
        return self.problems(cube, [at])[0]

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[Problem]:
        return Piecewise.stacked(*self._pieces(cube, points))

    def _pieces(self, cube: InstanceCube, points: Sequence[Coordinates]) -> tuple[Array, Array, Array]:
        """Breakpoints (N, n, d, J), curvatures (N, n, d, J + 1) and slopes (N, n, d)."""
        shape, assumed, J = cube.shape, cube.statement.assumptions, self.kinks
        size = len(points), shape.groups or shape.n, shape.d_u
        kinks, curvature, slope = np.empty((*size, J)), np.empty((*size, J + 1)), np.empty(size)
        alike_far_away, any_sign_inside = bounds_dissimilarity(cube.statement), self._bent(cube)
        for i, c in itertools.product(range(size[1]), range(size[2])):
            for j in range(J):
                kinks[:, i, c, j] = [coordinates.kink(at[f"kink {i} {c} {j}"]) for at in points]
            for j in range(J + 1):
                own = f"piece {0 if alike_far_away and j in (0, J) else i} {c} {j}"
                bent = coordinates.any_curvature if any_sign_inside and 0 < j < J else coordinates.curvature
                curvature[:, i, c, j] = [bent(at[own]) for at in points]
            slope[:, i, c] = [coordinates.slope(at[f"slope {i} {c}"]) for at in points]
        if BOUNDED & {*assumed}:
            curvature[..., [0, -1]] = 0.0
        if STRONG & {*assumed}:
            curvature = np.maximum(curvature, _LEAST)
        times = np.array([[coordinates.factor(at["spread"])] for at in points])
        return np.sort(kinks), curvature, coordinates.apart(slope.swapaxes(0, 1), times).swapaxes(0, 1)

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """See ``hard_for``: clients that drift, in a run of any length; one on a slope, T = 2 or 5, or on a hill."""
        if cube.shape.n == 1:
            # The slope ends 2 T - 2 steps away.
            for rounds, end in ((0.16, 2.0), (0.28, 8.0)):
                yield self.one_client(cube, rounds, (end, end + 2), (0.0, 1.0, 0.0))
            yield self.one_client(cube, 0.16, (0.5, 1.0), (1.0, 0.0, 1.0))
            if self._bent(cube) and self.kinks == 2:
                yield from (self._on_a_hill(cube, rounds, wide=wide) for rounds in (2, 3) for wide in (False, True))
            return
        yield from (self._clients_apart(cube, rounds, steps) for rounds, steps in ((1.0, 1.0), (0.8, 0.4)))
        dissimilar = bounds_dissimilarity(cube.statement) and self._bent(cube)
        if dissimilar and (cube.shape.n, cube.shape.d_u, self.kinks) == (2, 1, 2):
            yield from (self._beside_a_hill(cube, steps) for steps in (1.0, 0.4))

    def one_client(self, cube: InstanceCube, rounds: float, kinks: Sequence[float], pieces: Sequence[float]) -> Array:
        """One client with all coordinates alike, and a slope of -1 at the start."""
        own = {"rounds": rounds, "local_steps": 0.0, "spread": 0.5}
        for c in range(cube.shape.d_u):
            own |= {f"kink 0 {c} {j}": coordinates.of_kink(kink) for j, kink in enumerate(kinks)}
            own |= {f"piece 0 {c} {j}": piece for j, piece in enumerate(pieces)}
        return cube.at(own)

    def _on_a_hill(self, cube: InstanceCube, rounds: int, *, wide: bool) -> Array:
        """One client that starts on a hill and reaches its end, where f is steepest, in the last round.

        A double well where the hill is ``wide``, else with a wall behind the start.
        """
        # In the middle of what is this number of rounds.
        place = math.log(rounds + 0.5) / math.log(cube.reach[1] + 1)
        own = self.one_client(cube, place, (1.0, 1.0), (1.0, 0.0, 1.0))
        try:
            values = cube.decode(own).values(_FLOATS)
        except InputError:
            return own
        run, gamma = cube.statement.vocabulary.run, values.get(cube.statement.vocabulary.called("gamma_u"), 1.0)
        steps = values.get(run.get("local_steps", ""), 1.0) * (values.get(run.get("rounds", ""), 1.0) - 1)
        # A step on the hill is 1 + gamma times the one before, and f'(0) = -1; the hill's top is at -1.
        end = min(max((1 + gamma) ** steps - 1, NEAREST), 10.0)
        for c in range(cube.shape.d_u):
            own[cube.coordinates.index(f"kink 0 {c} 0")] = 1 - coordinates.of_kink(2 + end if wide else 2 * NEAREST)
            own[cube.coordinates.index(f"kink 0 {c} 1")] = coordinates.of_kink(end)
        return own

    def _clients_apart(self, cube: InstanceCube, rounds: float, steps: float) -> Array:
        own = {"rounds": rounds, "local_steps": steps, "spread": 0.5}
        for i, c in itertools.product(range(cube.shape.n), range(cube.shape.d_u)):
            own |= {f"kink {i} {c} {j}": 1 / 6 + 2 / 3 * (j > 0) for j in range(self.kinks)}
            own |= {f"piece {i} {c} {j}": 1.0 if i == 0 else BARELY for j in range(1, self.kinks)}
            own |= {f"piece {i} {c} {j}": 1.0 for j in (0, self.kinks)}
            own[f"slope {i} {c}"] = (1.0, 0.02, 0.51)[min(i, 2)]
        return cube.at(own)

    def _beside_a_hill(self, cube: InstanceCube, steps: float) -> Array:
        """Two clients that step into a bowl on one side and onto a hill on the other, where steps grow.

        grad f_1 = D + d and grad f_2 = D - d, where D has the slopes 1, -1 and 1. The start is where the steps of both
        cancel, so that runs stay there for a while although grad f = D is about (gamma K/2) d.
        """
        own = {"local_steps": steps, "spread": coordinates.of_factor(_PULL / _APART)}
        for i in range(2):
            own |= {f"kink {i} 0 0": 0.5, **{f"piece {i} 0 {j}": float(j != 1) for j in range(3)}}

        def at(slope: float, hill: float, rounds: float) -> Array:
            places = {f"kink {i} 0 1": coordinates.of_kink(hill) for i in range(2)}
            slopes = {"slope 0 0": (1 + slope + _APART) / 2, "slope 1 0": (1 + slope - _APART) / 2}
            return cube.at(own | places | slopes | {"rounds": rounds})

        first = at(_APART, 1.0, 0.0)
        try:
            values = cube.decode(first).values()
        except InputError:
            return first
        K = int(values.get(cube.statement.vocabulary.run.get("local_steps", ""), 1))
        gamma = values.get(cube.statement.vocabulary.called("gamma_u"), 0.0)
        # On the hill a step is 1 + gamma times the one before.
        hill = 1.1 * _PULL * max((1 + gamma) ** K - 1, NEAREST)

        def moved(slope: float) -> float:
            total = 0.0
            for pull in (_PULL, -_PULL):
                x = 0.0
                for _ in range(K):
                    D = slope + min(x, 2 * NEAREST - x) if x < hill else slope + 2 * NEAREST + x - 2 * hill
                    x -= gamma * (D + pull)
                total += x
            return total

        if not moved(0.0) > 0 > moved(1 - _APART):
            return first
        return at(bisect(lambda slope: moved(slope) > 0, 0.0, 1 - _APART, steps=HALVINGS)[0], hill, _AWHILE)


@dataclass(frozen=True)
class PiecewiseStepByStep(PiecewiseQuadratics):
    """Functions on which the step engine follows runs whose rounds differ, mix clients or are not linear."""

    def follows(self, statement: Statement) -> bool:
        return has_quiet_steps(statement)


PIECEWISE = PiecewiseQuadratics(
    "piecewise quadratic functions, without noise",
    "one client: gradient descent with steps of 1/L stays on a slope until the last round, and where curvatures may be "
    "negative meets the same gradient again, or runs down a hill until the last round; several: they pull apart and "
    "drift, as one is curved and another is not",
    50, label="2 breakpoints", quiet=True, noise=False, quadratic=False, linear_far_away=True, simulated=False,
)  # fmt: skip
STEP_BY_STEP = PiecewiseStepByStep(
    "piecewise quadratic functions, without noise, step by step",
    "methods whose rounds differ, mix clients on a graph or are not linear, where gradients are bounded or do not grow",
    55, label="2 breakpoints, step by step", quiet=True, noise=False, quadratic=False, linear_far_away=True,
    simulated=False, later=True,
)  # fmt: skip
FAMILIES = (PIECEWISE, STEP_BY_STEP)
