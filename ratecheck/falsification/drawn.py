"""Instances of which runs are drawn: ranked by the means of few runs, and confirmed by many others.

A mean over few runs that exceeds a bound is no violation, however far it does: it may be chance, and is the largest of
many. Whether it is one is decided by other draws, at a level that many such decisions do not use up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp

from bounds.statement import names_in
from ratecheck.aliases import Array
from ratecheck.certification.certified_constants import NOISE
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import NOTHING, CubePoint, CubeSearch, Ended, streams_of, unsure
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.scouts import in_niche
from ratecheck.falsification.unconfirmed import larger
from ratecheck.families.cube import Cube
from ratecheck.families.statements import summands
from ratecheck.outcome import Outcome
from ratecheck.scouting.numbers import evaluated
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

# Few runs, the same noise for all instances; and many others.
RANKED = replace(SEARCHED, replicates=24)
CONFIRMED = replace(SEARCHED, replicates=1024, level=1e-9, seed=1)
# (left - right)/(left + right) from which a mean over few runs is worth many; how often that is asked.
_EXCESS, _MOST = 0.01, 6
# Where little is hoped for, the budget of which a share is looked at first: what families know to be hard of each.
_FIRST = 40
# Rounds of a run at most.
_LONGEST = 64
# What runs are random by.
_RANDOM = frozenset({*NOISE, "b"})


@dataclass
class DrawnSearch(CubeSearch):
    """A search of instances of which runs are drawn; its best instance is one that violates the statement, or none."""

    asked: int = 0
    excess: float = _EXCESS

    def all(self, cubes: list[Cube], rng: np.random.Generator) -> None:
        """Corners, random points, evolution and descent, until `Ended` is raised."""
        streams = streams_of(cubes, rng)
        if self.worth:
            self.limit = _FIRST
            self.look(streams)
            self.limit = None
            if min((each.slack for each in self.points), default=1.0) > self.worth:
                return
        self.look(streams)
        self.evolve(rng)
        self.polish()

    def slack(self, cube: Cube, point: Array) -> float:
        """As of `CubeSearch`, in runs of `_LONGEST` rounds at most."""
        most = math.log(_LONGEST + 1) / math.log(max(cube.reach[1], _LONGEST) + 1)
        return super().slack(cube, np.where(np.array(cube.coordinates) == "rounds", np.minimum(point, most), point))

    def _slack(self, cube: Cube, point: Array, instance: Instance) -> float:
        """The slack by the means of few runs; nothing for an instance in which nothing is random."""
        try:
            verdict = instance.verdict(self.options)
            worst = verdict.worst
            if worst is None or verdict.replicates is None or not np.isfinite([worst.left, worst.right]).all():
                return NOTHING
            size = abs(worst.left) + abs(worst.right)
            slack = (worst.right - worst.left) / size if size else NOTHING
            self.applicable += 1
            value = float(in_niche(0)(np.array([slack]), np.array([[self._share(verdict, worst.right)]]))[0])
            self.points.append(CubePoint(value, cube, point, at_start=False))
            if slack < -self.excess and self.asked < _MOST:
                self.asked += 1
                # What was not confirmed is asked again where it is clearer only.
                self.excess = -slack
                self._confirm(cube, slack, instance)
        except InputError as error:
            self._note(str(error))
            return NOTHING
        return value

    def _share(self, verdict: Verdict, right: float) -> float:
        """What is random as a share of the bound, 1 where it has none: without noise it may be tight for no reason."""
        values = {name: np.asarray(value) for name, value in verdict.values.items()}
        found = [float(evaluated(part, values)) for part in self._random if names_in(part) <= values.keys()]
        return sum(found) / right if found and right > 0 else 1.0

    @cached_property
    def _random(self) -> list[sp.Expr]:
        """The summands of the bound in which noise or the dissimilarity of clients is."""
        facts = self.statement.vocabulary.facts
        return [part for part in summands(self.statement.claims[0]) if {*map(facts.get, names_in(part))} & _RANDOM]

    def hardest(self) -> None:
        """Make the instance that comes closest by the means of few runs the best, with a verdict by many."""
        first = min(self.points, key=lambda each: each.slack, default=None)
        if first is None or self.best is not None:
            return
        instance = first.cube.decode(np.clip(first.point, 0.0, 1.0))
        found = self._decided(instance)
        if found is not None:
            self.best = first.slack, instance, found, first.cube.shape

    def _confirm(self, cube: Cube, slack: float, instance: Instance) -> None:
        """Raise `Ended` where other runs confirm that an instance violates the statement."""
        found = self._decided(instance)
        if found is not None and found.outcome is Outcome.VIOLATED:
            self.best = slack, instance, found, cube.shape
            raise Ended

    def _decided(self, instance: Instance) -> Verdict | None:
        """The verdict by many runs; None where it violates the statement on a supposition, which is noted."""
        found = instance.verdict(CONFIRMED)
        if found.outcome is not Outcome.VIOLATED or not found.supposes:
            return found
        self.unconfirmed = larger(self.unconfirmed, unsure(instance, found))
        return None
