"""Piecewise quadratic functions under noise: clients whose gradients are off by +-sigma, and runs that are drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bounds.assumption import BOUNDED
from bounds.statement import Statement
from ratecheck.algebra.one_dimensional import bisect
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE
from ratecheck.engines.rigorous.mean_field_runs import FEW
from ratecheck.errors import InputError
from ratecheck.families import coordinates
from ratecheck.families.coordinates import WIDE
from ratecheck.families.family import OF_QUIET_RUNS, Coordinates, Family, InstanceCube, InstanceShape
from ratecheck.families.piecewise import HALVINGS, STRONG, PiecewiseQuadratics
from ratecheck.families.statements import excluded, participants
from ratecheck.problems import PiecewiseSamples, Problem
from ratecheck.problems.piecewise_quadratic.piecewise import CHANGES
from ratecheck.settings.applicability import every_participation, method_of
from ratecheck.settings.convexity import says_quadratic
from ratecheck.settings.piecewise import has_noisy_pieces, has_runs
from ratecheck.settings.setting import Options

# Clients whose mean is nearly their expectation; local steps and rounds of these, and of one client.
_CROWD = 10**6
_OF_CROWD, _OF_ONE = (8.0, 500.0), (6.0, 13.0)
# The lesser curvature at a breakpoint where walks of two steps move furthest; how step sizes are evaluated.
_SOFT = 1 / 3
_FLOATS = Options(vacuity=False, rigorous=False)
# Local steps and rounds of a run that is drawn some dozens of times.
_OF_DRAWN = (8.0, 64.0)
# A coordinate of a curvature of 1/4.
_QUARTER = 0.5
# Noise that carries a run some steps beyond breakpoints at -1 and 1.
_FAR = 5.0


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


@dataclass(frozen=True)
class DrawnPieces(PiecewiseQuadratics):
    """Functions of one variable: of one client with noise, or of two that are sampled."""

    runs: str = "with noise or sampled clients, runs drawn"
    any_dimension: bool = False

    def shapes(self, statement: Statement) -> Iterable[InstanceShape]:
        """One client where noise is open or the method draws by itself, and two of which one takes part."""
        method = method_of(statement)
        if OF_QUIET_RUNS & {*statement.assumptions} or CHANGES & statement.recorded:
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

    def missed(self, others: Collection[Family]) -> tuple[str, ...]:
        if any(not (each.quadratic or each.drawn) for each in others):
            # They say it.
            return ()
        return ("functions that are not quadratic, but for short runs in one variable",)

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        return _OF_DRAWN

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Functions that are flat where noise carries a run, or between steep sides, from next to the minimiser.

        Noise of 5 leaves the pieces next to it in every few steps, where a function that is flat beyond pulls as a
        linear one does. Gradients of two clients are as far from their mean as noise is. Strongly convex functions are
        a quarter as curved in place of flat, since bounds have 1/mu.
        """
        low = _QUARTER if STRONG & {*cube.statement.assumptions} else 0.0
        one_sided, flat, steep = (1.0, 1.0, low), (low, 1.0, low), (1.0, low, 1.0)
        for rounds, size, pieces in (
            *((1.0, _FAR, each) for each in (flat, one_sided)),
            *((rounds, 1.0, each) for rounds in (1.0, 0.4) for each in (one_sided, flat, steep)),
        ):
            yield cube.at(
                {
                    "rounds": rounds,
                    "local_steps": 0.0,
                    **dict.fromkeys((f"noise {symbol}" for symbol in cube.noises), coordinates.of_or_zero(size)),
                    **self._next_to_the_minimiser(cube, size, pieces),
                }
            )

    def _next_to_the_minimiser(self, cube: InstanceCube, size: float, pieces: Sequence[float]) -> Coordinates:
        """Functions with breakpoints at -1 and 1, next to the minimiser of f; of two clients f_i' - f' is +-size."""
        kinds = cube.shape.groups or cube.shape.n
        own = {"spread": coordinates.of_factor(2 * size) if kinds == 2 else 0.5}
        for i, apart in zip(range(kinds), (0.25, -0.25) if kinds == 2 else (0.0,), strict=True):
            own |= {f"piece {i} 0 {j}": piece for j, piece in enumerate(pieces)}
            own |= {f"kink {i} 0 {j}": 0.5 + (j - 0.5) * 2 / 3 for j in range(self.kinks)}
            own |= {f"slope {i} 0": 0.5 + coordinates.NEXT_TO_IT + apart}
        return own


WITH_SAMPLES = PiecewiseWithSamples(
    "equal clients with a convex piecewise quadratic function of one breakpoint, noise of two values",
    "local steps with noise, which walk to a breakpoint and back at a point that is no minimiser",
    60, label="equal clients with noise, 1 breakpoint", quadratic=False, linear_far_away=True, simulated=False,
    later=True, kinks=1,
)  # fmt: skip
DRAWN = DrawnPieces(
    "piecewise quadratic functions with noise or sampled clients, runs drawn",
    "one client next to its minimiser, which noise carries to where its function is flat or steep",
    65, label="2 breakpoints, drawn", noise=True, quadratic=False, linear_far_away=True, drawn=True,
)  # fmt: skip
FAMILIES = (WITH_SAMPLES, DRAWN)
