"""Whether a statement fails for functions that are not convex, where it speaks of a minimum and not of convexity.

That may be an assumption that is missing, or one that is meant: what is found here is said, and is no violation.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import SEARCHED, Falsified
from ratecheck.falsification.shrink import shrink
from ratecheck.families.cube import Cube
from ratecheck.families.family import InstanceCube, InstanceShape
from ratecheck.families.piecewise import PIECEWISE, PiecewiseQuadratics
from ratecheck.families.registry import shapes
from ratecheck.outcome import Outcome
from ratecheck.settings.convexity import OF_F, any_sign, says_convex
from ratecheck.verification.instance import Instance

# Points of each shape that are drawn, the fewest rounds, and the most local steps and rounds.
_DRAWN, _FEWEST, _REACH = 80, 2, (4.0, 24.0)


@dataclass(frozen=True)
class _Bent(PiecewiseQuadratics):
    """Piecewise quadratic functions, concave between breakpoints and convex beyond, so that f has a minimum."""

    def bent_both_ways(self, statement: Statement, *, not_convex: bool) -> bool:
        """Whatever the statement says."""
        return True

    def reach(self, statement: Statement, shape: InstanceShape) -> tuple[float, float]:
        """Short runs."""
        return _REACH

    def hard(self, cube: InstanceCube) -> Iterator[Array]:
        """Points that are known to be hard, with a concave piece on which steps grow until a convex one."""
        if cube.shape.n == 1:
            yield from (self.one_client(cube, rounds, (0.01, 10.0), (1.0, 0.0, 1.0)) for rounds in (0.35, 0.45, 0.52))
        yield from super().hard(cube)


_BENT = _Bent(
    "piecewise quadratic functions that are not convex",
    "statements that mean convex functions",
    quiet=True,
    noise=False,
)


def may_mean_convex(statement: Statement) -> bool:
    """Whether a statement speaks of a minimum and neither assumes convexity, or a condition like it, nor says so."""
    return not (any_sign(statement) or says_convex(statement) or OF_F & {*statement.assumptions})


def with_not_convex(found: Falsified, seed: int, seconds: float | None = None) -> Falsified:
    """A search that found no violation, with an instance that is none only if convexity is meant, if there is one.

    No instance is tried after so many ``seconds``, where they are given.
    """
    if found.outcome is not Outcome.INCONCLUSIVE or found.stopped or not may_mean_convex(found.statement):
        return found
    until = math.inf if seconds is None else time.monotonic() + seconds
    instance = _hardest(found.statement, seed, until)
    small = (
        None if instance is None else shrink(instance, seconds=None if seconds is None else until - time.monotonic())
    )
    return replace(found, not_convex=small) if small is not None and _concave_somewhere(small.instance) else found


def _hardest(statement: Statement, seed: int, until: float) -> Instance | None:
    """An instance on a function that is not convex and violates the statement; None where none of some is one."""
    found = (shape for shape in shapes(statement) if shape.family == PIECEWISE and shape.n < 3)
    for number, shape in enumerate(found):
        cube = Cube(statement, replace(shape, family=_BENT))
        rng = np.random.default_rng([seed, number])
        for point in itertools.chain(cube.hard(), (cube.drawn(rng) for _ in range(_DRAWN))):
            if time.monotonic() > until:
                return None
            instance = _violating(cube, point)
            if instance is not None and _concave_somewhere(instance):
                return instance
    return None


def _violating(cube: Cube, point: Array) -> Instance | None:
    try:
        instance = cube.decode(point, _FEWEST)
        if instance.verdict(SEARCHED).outcome is not Outcome.VIOLATED:
            return None
        verdict = instance.verdict(replace(SEARCHED, rigorous=True))
    except InputError:
        return None
    return instance if verdict.outcome is Outcome.VIOLATED and not verdict.supposes else None


def _concave_somewhere(instance: Instance) -> bool:
    least = instance.problem.least_curvature
    return least is not None and least < 0
