"""Cubes in other units, in which numbers are tiny or huge, with many clients and long runs, for the self-test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from bounds.statement import Statement
from ratecheck.certification.certified_constants import NOISE
from ratecheck.errors import InputError
from ratecheck.families.cube import Cube
from ratecheck.families.family import Coordinates, InstanceShape
from ratecheck.families.registry import shapes
from ratecheck.families.statements import is_bilevel
from ratecheck.families.who import TRACES
from ratecheck.participation import Participation
from ratecheck.problems import Bilevel, Problem
from ratecheck.settings.applicability import every_participation, method_of
from ratecheck.stepsizes.interval import Interval
from ratecheck.verification.instance import Instance

# The most clients, local steps and rounds, and how far units reach, as powers of ten.
CLIENTS, STEPS, ROUNDS, UNITS = 300, 1e6, 1e6, 8.0
# Entries of the state beyond which rounds are followed one by one, and numbers that these may multiply.
_SQUARED, _WORK = 44, 3e7
# Points that are tried for an instance; what is no end of an interval.
_TRIES, _NOWHERE = 40, 1e-30
# Powers of ten by which a run may grow, where nothing limits its steps.
_GROWTH = 60


class WideCube(Cube):
    """A cube in other units: Hessians times ``curvature``, gradients at 0 times ``slope``."""

    def __init__(self, statement: Statement, shape: InstanceShape, curvature: float, slope: float) -> None:
        super().__init__(statement, shape)
        length = slope / curvature
        self._units = curvature * length**2, length

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The largest number of local steps and of rounds that are followed within a second or so."""
        steps, rounds = super().reach
        method = method_of(self.statement)
        if method is None:
            return steps, rounds
        block = self.shape.d_u + self.shape.d_v
        size = 1 + block * (len(method.algorithm.server) + self.shape.n * len(method.algorithm.client))
        far = size <= _SQUARED and rounds > ROUNDS
        return min(steps, STEPS), ROUNDS if far else max(min(rounds, _WORK / size**3, ROUNDS), 2.0)

    def _unit(self, name: str) -> float:
        f, x = self._units
        quantity = self.statement.vocabulary[name]
        return float(f**quantity.f_degree * x**quantity.x_degree)

    def inside(self, name: str, interval: Interval, x: float) -> float:
        """Where nothing restricts a number, one of the problem's own units."""
        limited = math.isfinite(interval.high) or interval.box[0] > _NOWHERE
        unit = 1.0 if limited or is_bilevel(self.statement) else self._unit(name)
        return super().inside(name, interval, x) * unit

    @cached_property
    def _unlimited(self) -> bool:
        """Whether no condition and no rule speaks of a step size that is drawn."""
        statement, drawn = self.statement, {*self.free_steps}
        ruled = {rule.symbol.name for rule in statement.step_rules}
        return not drawn & ruled.union(*(condition.symbols for condition in statement.conditions))

    def chosen(
        self, at: Coordinates, problem: Problem, given: Mapping[str, float],
        pattern: Participation | None,
        wanted: Sequence[str], kind: str,
    ) -> dict[str, float]:  # fmt: skip
        """Where no condition limits them, steps with which a run may grow, but not beyond floats."""
        chosen = super().chosen(at, problem, given, pattern, wanted, kind)
        if kind != "step" or not self._unlimited:
            return chosen
        run, vocabulary = self.statement.vocabulary.run, self.statement.vocabulary
        curvature = _curvature(problem)
        steps = [given.get(run.get(role, ""), 1.0) for role in ("local_steps", "rounds")]
        scaled = [name for name in chosen if vocabulary[name].f_degree]
        numbers = [value for name, value in chosen.items() if name not in scaled]
        # Products and quotients of step sizes are steps, too.
        longest = math.prod(max(value, 1 / value) for value in numbers if value > 0)
        most = (1 + 10 ** (_GROWTH / math.prod(steps))) / longest / steps[0]
        most = most / curvature if curvature else math.inf
        return {name: min(value, most) if name in scaled else value for name, value in chosen.items()}

    def problem(self, at: Coordinates) -> Problem:
        """The problem in these units; raises `InputError` where L is positive and nothing is curved."""
        found = super().problem(at)
        problem = found.quadratic
        if problem is None:
            return found
        if not problem.H.any() and "L" in self.statement.vocabulary.facts.values():
            raise InputError("L is positive, and nothing is curved")
        f, x = self._units
        return found.with_arrays({"H": problem.H * (f / x**2), "g": problem.g * (f / x)})

    def settings(self, at: Coordinates) -> dict[str, float]:
        """The sizes, with noise and parameters in these units."""
        given = super().settings(at)
        facts, vocabulary = self.statement.vocabulary.facts, self.statement.vocabulary
        if is_bilevel(self.statement):
            return given
        own = {name for name in given if facts.get(name) in NOISE or name in self._parameters} - {*vocabulary.aliases}
        return {name: value * self._unit(name) if name in own else value for name, value in given.items()}


def _curvature(problem: Problem) -> float:
    """At least the largest curvature that a step meets, up to a factor."""
    if (bilevel := problem.seen_as(Bilevel)) is not None:
        least = min(float(np.linalg.eigvalsh(A)[0]) for A in bilevel.A)
        upper, coupling = (float(np.abs(part).max(initial=0.0)) for part in (bilevel.Q, bilevel.B))
        return float(np.abs(bilevel.A).max()) + upper * (1 + coupling / least) ** 2
    assert problem.quadratic is not None
    return float(np.abs(problem.quadratic.H).max(initial=0.0))


def instance(statement: Statement, rng: np.random.Generator) -> Instance | None:
    """A random valid one; None where none was met."""
    sizes = [shape for shape in shapes(statement) if shape.family.quadratic and not shape.trace]
    for _ in range(_TRIES):
        shape = sizes[rng.integers(len(sizes))]
        if shape.family.any_number:
            n = round(math.exp(rng.uniform(0, math.log(CLIENTS))))
            some = shape.n if shape.size == shape.n else max(1, round(n * rng.random()))
            everybody = all(each.size == each.n for each in sizes)
            kind = TRACES[rng.integers(len(TRACES))] if every_participation(statement) and n > 1 else ""
            shape = replace(shape, n=n, size=n if everybody else min(some, n), trace=kind)
            shape = replace(shape, size=1) if kind else shape
        cube = WideCube(statement, shape, *10 ** rng.uniform(-UNITS, UNITS, 2))
        try:
            return cube.decode(cube.drawn(rng))
        except InputError:
            continue
    return None
