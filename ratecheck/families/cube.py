"""All instances of a statement with one shape, as points of a unit cube.

A shape fixes what is discrete (family, sizes, participation); a point of the cube gives the rest: the problem, noise,
how many rounds and local steps, where in the admissible region the step sizes lie, and constants that are claimed
larger than they are. Every decoded instance meets the statement's assumptions by construction; its conditions are met
as far as step sizes inside their intervals do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.families import who
from ratecheck.families.choices import Choices
from ratecheck.families.family import Coordinates, InstanceShape
from ratecheck.problems import Problem
from ratecheck.settings.convexity import any_sign
from ratecheck.verification.instance import Instance


class Cube(Choices):
    """The instances of a shape; ``coordinates`` names the axes of the cube in order.

    Numbers that are ``fixed`` are those of all of them; see `ratecheck.falsification.fixed`.
    """

    def __init__(self, statement: Statement, shape: InstanceShape, fixed: Mapping[str, float] | None = None) -> None:
        super().__init__(statement, shape, fixed)
        self.coordinates = tuple(self._names())

    def _names(self) -> Iterator[str]:
        yield from self._step_axes()
        yield from self.family.axes(self)
        yield "spread"
        yield from self._size_axes()
        yield from (f"step {name}" for name in self.free_steps)
        yield from (f"claim {name}" for name in self.claimable)
        yield from who.axes(self)

    @property
    def size(self) -> int:
        """Coordinates of the cube."""
        return len(self.coordinates)

    def drawn(self, rng: np.random.Generator) -> Array:
        """A random point, whose coordinates are at an end one time in three."""
        point = rng.random(self.size)
        ends = rng.random(self.size) < 1 / 3
        point = np.where(ends, rng.integers(0, 2, self.size).astype(float), point)
        if self.family.centred:
            # What is 0 in the middle is so one time in four.
            point = np.where(self._centred & (rng.random(self.size) < 1 / 4), 0.5, point)
        return point

    @cached_property
    def _centred(self) -> NDArray[np.bool_]:
        """Which coordinates are often in their middle."""
        return np.array([name.startswith(self.family.centred) for name in self.coordinates])

    @cached_property
    def any_sign(self) -> bool:
        """Whether functions need not be convex; see `ratecheck.settings.convexity.any_sign`."""
        return any_sign(self.statement)

    def hard(self) -> Iterator[Array]:
        """Points that the family knows to be hard."""
        return self.family.hard(self)

    def at(self, own: Coordinates) -> Array:
        high = ("step", "parameter")
        return np.array([own.get(name, float(name.startswith(high))) for name in self.coordinates])

    def decode(self, point: Array, fewest: int = 1) -> Instance:
        """The instance at a point of the cube, of that many rounds at least, unless their number is fixed.

        Raises `InputError` where the statement says nothing there.
        """
        at = dict(zip(self.coordinates, (float(x) for x in point), strict=True))
        statement, run = self.statement, self.statement.vocabulary.run
        problem = self.problem(at)
        given = self.settings(at)
        rounds, most = run.get("rounds", ""), run.get("participants", "")
        if rounds in given and rounds not in self.fixed:
            given[rounds] = max(given[rounds], float(fewest))
        start = self.family.start(self, at, problem)
        given = self.family.shortened(self, given, problem, fewest)
        pattern = who.pattern(self, at, int(given.get(rounds, 1)))
        if pattern is not None and pattern.delta is not None and "delta" in statement.vocabulary:
            given["delta"] = pattern.delta
        if pattern is not None and pattern.matrix is not None and most in given:
            # Rounds of a trace differ in size: the setting is that of the largest.
            given[most] = float(pattern.matrix.sum(axis=1).max())
        claims = self._claims(at, problem, given, pattern)
        if self.restricted:
            given |= self.chosen(at, problem, {**given, **claims}, pattern, self.restricted, "parameter")
            # What the method's parameters decide, such as the gap, is claimed once they are known.
            claims = self._claims(at, problem, given, pattern)
        given |= claims
        given |= self.chosen(at, problem, given, pattern, self.free_steps, "step")
        return Instance(statement, problem, pattern, given, start)

    def problem(self, at: Coordinates) -> Problem:
        """The problem at a point."""
        return self.family.problem(self, at)

    def problems(self, points: Sequence[Coordinates]) -> Sequence[Problem | None]:
        """The problems at points, None for one that there is not."""
        try:
            return self.family.problems(self, points)
        except InputError:
            # Problems of one shape, all of which are too large.
            return [None] * len(points)
