"""Equal clients with one convex piecewise quadratic function, whose sampled gradients are off by +-sigma."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bounds.assumption import BOUNDED
from bounds.statement import Statement
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.aliases import Array
from ratecheck.engines.rigorous.mean_field_runs import FEW
from ratecheck.errors import InputError
from ratecheck.families import coordinates
from ratecheck.families.coordinates import WIDE
from ratecheck.families.family import OF_QUIET_RUNS, Coordinates, InstanceCube, InstanceShape
from ratecheck.families.piecewise import HALVINGS, PiecewiseQuadratics
from ratecheck.families.statements import excluded
from ratecheck.problems import PiecewiseSamples, Problem
from ratecheck.settings.applicability import every_participation
from ratecheck.settings.convexity import says_quadratic
from ratecheck.settings.piecewise import has_noisy_pieces
from ratecheck.settings.setting import Options

# Clients whose mean is nearly their expectation; local steps and rounds of these, and of one client.
_CROWD = 10**6
_OF_CROWD, _OF_ONE = (8.0, 500.0), (6.0, 13.0)
# The lesser curvature at a breakpoint where walks of two steps move furthest; how step sizes are evaluated.
_SOFT = 1 / 3
_FLOATS = Options(vacuity=False, rigorous=False)


@dataclass(frozen=True)
class PiecewiseWithSamples(PiecewiseQuadratics):
    """One client, or so many that each round is nearly its mean; the noise has two values."""

    any_dimension: bool = False

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """Statements about noise and any number of clients, whose titles speak of no other kind of noise."""
        # With one breakpoint a function that is linear far away is so everywhere, or has no minimum.
        if (OF_QUIET_RUNS | BOUNDED) & {*statement.assumptions}:
            return ()
        other = "gaussian" in statement.title.lower() or says_quadratic(statement.title)
        if other or every_participation(statement) or not has_noisy_pieces(statement):
            return ()
        fixed = statement.settings.get(statement.vocabulary.run.get("clients", ""))
        found = [InstanceShape(self, n, 1, 0, n, groups=1) for n in ((1, _CROWD) if fixed is None else ())]
        return [shape for shape in found if not excluded(statement, shape)]

    def sized(self, statement: Statement, n: int) -> Iterable[InstanceShape]:
        return ()

    def text(self, statement: Statement) -> str:
        return self.name

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return _OF_ONE if shape.n == 1 else _OF_CROWD

    def problems(self, cube: InstanceCube, points: Sequence[Coordinates]) -> Sequence[Problem]:
        pieces = zip(*self._pieces(cube, points), strict=True)
        return [PiecewiseSamples(*each, clients=cube.shape.n) for each in pieces]

    def shortened(self, cube: InstanceCube, given: dict[str, float], problem: Problem, fewest: int) -> dict[str, float]:
        """With no more rounds of one client than have few outcomes, all of which are followed."""
        run = cube.statement.vocabulary.run
        rounds, steps = run.get("rounds", ""), int(given.get(run.get("local_steps", ""), 1))
        if rounds not in given or cube.shape.n > 1:
            return given
        return {**given, rounds: max(min(given[rounds], 1.0 + FEW // steps), float(fewest))}

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        yield from (self._walking(cube, steps, low) for low in (_SOFT, 0.1) for steps in (0.51, 0.75, 1.0))

    def _walking(self, cube: InstanceCube, steps: float, low: float) -> Array:
        """Clients at a point where f' < 0 and to which a round returns on average: a breakpoint is as far as they walk.

        f' is ``low`` (x - 1) up to 1 and x - 1 beyond, where steps against the noise's sign are longer.
        """
        own = {"rounds": 1.0, "local_steps": steps, "spread": 0.5, "kink 0 0 0": coordinates.of_kink(1.0)}
        own |= {"piece 0 0 0": 0.1 + 0.5 * (1 + math.log(low) / math.log(WIDE)), "piece 0 0 1": 1.0}
        own |= {"slope 0 0": (1 - low) / 2}

        def at(sigma: float) -> Array:
            noise = 0.3 + 0.7 * min(max(coordinates.of_factor(sigma), 0.0), 1.0)
            return cube.at(own | dict.fromkeys((f"noise {symbol}" for symbol in cube.noises), noise))

        try:
            values = cube.decode(at(1.0)).values(_FLOATS)
        except InputError:
            return at(1.0)
        K = int(values.get(cube.statement.vocabulary.run.get("local_steps", ""), 1))
        gamma = values.get(cube.statement.vocabulary.called("gamma_u"), 0.0)

        def moved(log_sigma: float) -> float:
            u = np.zeros(1)
            for _ in range(K):
                slope = np.where(u < 1, low, 1.0) * (u - 1)
                u = np.concatenate([u - gamma * (slope + sign * math.exp(log_sigma)) for sign in (1, -1)])
            return float(u.mean())

        ends = math.log(1 / WIDE), math.log(WIDE)
        if not gamma > 0 or not moved(ends[0]) > 0 > moved(ends[1]):
            return at(1.0)
        return at(math.exp(bisect(lambda x: moved(x) > 0, *ends, steps=HALVINGS)[0]))


WITH_SAMPLES = PiecewiseWithSamples(
    "equal clients with a convex piecewise quadratic function of one breakpoint, noise of two values",
    "local steps with noise, which walk to a breakpoint and back at a point that is no minimiser",
    60, label="equal clients with noise, 1 breakpoint", quadratic=False, linear_far_away=True, simulated=False,
    later=True, kinks=1,
)  # fmt: skip
FAMILIES = (WITH_SAMPLES,)
