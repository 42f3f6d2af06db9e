"""Search of cubes for the instance with the least slack.

Where a scout evaluates instances in batches it sees thousands of points: corners and random ones of every shape, then
those of differential evolution on the best shapes and in the niche of every term, then steps along the coordinates from
the best. Whole verdicts are given to its leaders, and they alone count. Shapes without a scout are searched by
verdicts, first on corners and random points, then by evolution, then by Nelder and Mead's method.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from bounds.statement import Over, Relation, Statement
from ratecheck.algorithms.model.asking import MethodError
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import Report
from ratecheck.falsification.scouts import Place, Scouts, Seen, Sight, Value, by_slack, evolve, in_niche
from ratecheck.falsification.unconfirmed import Unconfirmed, larger
from ratecheck.families.cube import Cube
from ratecheck.families.family import InstanceShape
from ratecheck.families.statements import has_delays, summands
from ratecheck.inputs import positive, whole
from ratecheck.outcome import Outcome
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

# What of the evaluations goes to the first look and to differential evolution; the rest polishes.
_LOOK, _EVOLVE = 0.4, 0.4
# Points that a scout sees for every evaluation of the budget, and verdicts on its leaders: on so many of each shape, on
# so many that have a slack, and in all.
_PER_EVALUATION, _JUDGED_OF_EACH, _JUDGED, _MOST_JUDGED = 3, 2, 5, 30
# How often a shorter run takes the place of one that is known too roughly.
_SHORTER = 4
# What of these points goes to the first look and to evolution; the rest are steps from the best.
_SEEN, _EVOLVED = 0.4, 0.25
# How often evolution and steps go on at most, with what share of the points each time, and by which factor the
# tightness has to grow that they do again.
_AGAIN, _GO_ON, _MUCH = 4, 0.3, 1.02
# Turns without a gain after which a shape has no more of them.
_IDLE = 2
# Slack by which a statement fails clearly, and up to which both sides of a scout are equal but for rounding.
_CLEAR, _EQUAL = 1e-6, 1e-13
# The share of evaluations for shapes without a scout beside others, relative to how many these are, and the least.
_REST, _FEWEST = 0.5, 20
# How many shapes are evolved and how many points polished; members of a population.
_SHAPES, _POLISHED, _POPULATION = 3, 3, 12
# Points for every evaluation of the budget, known instances included, after which a search ends.
_REQUESTS = 4
# Slack before the first round at which a bound counts as reached there.
_REACHED = 0.03
# (left - right)/max(|left|, |right|) up to which an excess is rounding and is not listed as unconfirmed.
_ROUNDING = 1e-6
# Slack of an instance that the statement says nothing about.
NOTHING = 2.0
# Dials of step sizes, slopes, curvatures and probabilities have their extremes at 1; noise and claims at 0.
_HIGH = frozenset({"step", "curvature", "piece", "slope", "coupling", "turn", "probability", "parameter"})

# Points of every shape, each of which is looked at once.
Streams = list[tuple[Cube, Iterator[Array]]]


@dataclass(frozen=True)
class Budget:
    """Evaluations of both sides, at most.

    ``seconds``, where given, is a time by ``clock`` after which no new one begins. What is found then depends on the
    machine.
    ``by_term`` says whether every term of the bound is searched on its own afterwards, at large sizes: some dozens of
    instances for each term, which are not counted. ``functions`` says whether the worst convex functions are, too.
    ``later`` bounds the evaluations of families that are searched where no other violates the statement, such as
    piecewise quadratic functions under noise, which are not counted either; nor are they more than ``evaluations``.
    """

    evaluations: int = 1000
    seconds: float | None = None
    by_term: bool = True
    functions: bool = True
    later: int = 40
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        whole("evaluations", self.evaluations, 1)
        whole("later", self.later, 0)
        if self.seconds is not None:
            positive("seconds", self.seconds)


def _as_run(shape: InstanceShape, verdict: Verdict) -> InstanceShape:
    """The shape with the participants of the run, which the statement may fix."""
    size = verdict.values.get(verdict.statement.vocabulary.run.get("participants", ""))
    return shape if shape.trace or size is None else replace(shape, size=int(size))


class Ended(Exception):  # noqa: N818  # not an error: ends the optimisers
    """An instance fails, or the budget is spent."""


class CubePoint(NamedTuple):
    """A point of a family's cube with its slack, and whether that is the slack before the first round."""

    slack: float
    cube: Cube
    point: Array
    at_start: bool


@dataclass
class CubeSearch:
    """A search of cubes for the least slack: what it spent, what it saw, and the best instance so far.

    ``spent`` counts verdicts, ``seen`` points of scouts, ``requests`` points that were given to verdicts.
    ``worth``, where not 0, is the slack of corners and random points above which nothing more is tried.
    """

    statement: Statement
    budget: Budget
    options: Options
    report: Report
    begun: float
    spent: int = 0
    scouted: int = 0
    met: int = 0
    share: float = 0.0
    requests: int = 0
    applicable: int = 0
    zero: int = 0
    known: dict[str, float] = field(default_factory=dict)
    best: tuple[float, Instance, Verdict, InstanceShape] | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    points: list[CubePoint] = field(default_factory=list)
    start_reached: bool = False
    longer: bool = True
    worth: float = 0.0
    limit: int | None = None
    evolved: list[Cube] = field(default_factory=list)
    unconfirmed: Unconfirmed | None = None

    @property
    def most(self) -> int:
        """Verdicts after which the search ends."""
        return self.budget.evaluations if self.limit is None else self.limit

    @property
    def late(self) -> bool:
        """Whether the time that the user set is over."""
        return self.budget.seconds is not None and self.budget.clock() - self.begun > self.budget.seconds

    def slack(self, cube: Cube, point: Array) -> float:
        """(right - left)/(|right| + |left|) of the claim with the least slack: negative where it fails; 2 for nothing.

        Points of a cube that are the same instance, as where a coordinate is beyond its edge, are one evaluation.
        Raises `Ended` at an instance that fails and at the end of the budget.
        """
        if self.spent >= self.most or self.requests >= _REQUESTS * self.most or self.late:
            raise Ended
        self.requests += 1
        try:
            instance = cube.decode(np.clip(point, 0.0, 1.0), 2 if self._of_one_round and self.start_reached else 1)
        except MethodError as error:
            # No other instance mends the method.
            raise _on(error, cube) from error
        except InputError as error:
            self.spent += 1
            self._note(str(error))
            return NOTHING
        # Every shape keeps its own points, so that `independent` compares searches that share none.
        name = f"{cube.shape} {self.start_reached} {instance.fields()}"
        if name not in self.known:
            self.spent += 1
            self.known[name] = self._slack(cube, point, instance)
        return self.known[name]

    def _slack(self, cube: Cube, point: Array, instance: Instance) -> float:
        """The slack of an instance that was not evaluated yet; see `slack`."""
        try:
            verdict = self._later(instance, self._verdict(instance))
        except MethodError as error:
            raise _on(error, cube) from error
        except InputError as error:
            self._note(str(error))
            return NOTHING
        worst = verdict.worst
        if worst is None or not math.isfinite(worst.left) or not math.isfinite(worst.right):
            self._note("; ".join(verdict.reasons))
            return NOTHING
        size = abs(worst.left) + abs(worst.right)
        self.applicable += 1
        if self._idle(instance, verdict, size):
            return NOTHING
        equal = any(claim.relation is Relation.EQUAL for claim in self.statement.claims)
        slack = (-abs(worst.right - worst.left) if equal else worst.right - worst.left) / size
        violated = verdict.outcome is Outcome.VIOLATED
        # A slack that is smaller than its rounding is no counterexample and gives no direction.
        if not violated and not (worst.significant and worst.error <= 1e-3 * size):
            self._note("the left side is known too roughly, by rounding or by sampling, to be compared with others")
            return NOTHING
        if self.best is None or violated or slack < self.best[0]:
            self.best = slack, instance, verdict, _as_run(cube.shape, verdict)
            self._tell(self.evaluations / self.budget.evaluations, _best_text(slack))
        self.points.append(CubePoint(slack, cube, point, self._at_start(instance, verdict)))
        if violated:
            raise Ended
        if self.spent % 16 == 0:
            self._tell(self.evaluations / self.budget.evaluations, _best_text(self.best[0]))
        return slack

    def _later(self, instance: Instance, verdict: Verdict) -> Verdict:
        """The verdict of the rounds from the second on, once some instance has nearly reached the bound before it.

        A bound that is reached at the start, as F_0 is by f - inf f, would end the search there. Of the last and the
        best round, and of means over rounds, that is a run of one round: from then on there are two at least.
        """
        worst = verdict.worst
        if worst is None or verdict.outcome is Outcome.VIOLATED or not self._at_start(instance, verdict):
            return verdict
        near = worst.right - worst.left <= _REACHED * (abs(worst.left) + abs(worst.right))
        if near and self.longer and not self.start_reached:
            self.start_reached = True
            self.points = [each for each in self.points if not each.at_start]
            self.best = None if self.best is None or self._at_start(*self.best[1:3]) else self.best
        if self._from_second is None or not self.start_reached:
            return verdict
        found = replace(instance, statement=self._from_second).verdict(self.options)
        note = "before round 0 the bound is nearly reached: what is shown is the tightest of the later rounds"
        return replace(found, notes=(*found.notes, note)) if found.worst is not None else verdict

    def _idle(self, instance: Instance, verdict: Verdict, size: float) -> bool:
        """Whether an instance that meets the statement gives no direction: sides of 0, or a start that was reached."""
        if size == 0.0:
            self.zero += 1
            return True
        return self.start_reached and verdict.outcome is not Outcome.VIOLATED and self._at_start(instance, verdict)

    @cached_property
    def _from_second(self) -> Statement | None:
        return from_second_round(self.statement)

    @cached_property
    def _of_one_round(self) -> bool:
        """Whether claims are about the last or best round, or the mean of all: in a run of one round the first."""
        of_all = (Over.LAST_ROUND, Over.BEST_ROUND, Over.MEAN_OF_ROUNDS)
        return all(claim.metric.over in of_all for claim in self.statement.claims)

    def _at_start(self, instance: Instance, verdict: Verdict) -> bool:
        """Whether what is closest to failing is so before the first round, which every run has."""
        if self._of_one_round:
            return instance.given.get(self.statement.vocabulary.run.get("rounds", "")) == 1
        single = any(claim.metric.over is Over.EVERY_ROUND for claim in self.statement.claims)
        return single and verdict.worst is not None and verdict.worst.round == 0

    def _verdict(self, instance: Instance) -> Verdict:
        """The verdict on an instance; raises `InputError` for a violation that exact arithmetic does not confirm."""
        verdict = instance.verdict(self.options)
        if verdict.outcome in (Outcome.VIOLATED, Outcome.DIVERGED) and not self.options.rigorous:
            alone, verdict = verdict, instance.verdict(replace(self.options, rigorous=True))
            if verdict.outcome not in (Outcome.VIOLATED, Outcome.HOLDS):
                self.unconfirmed = larger(self.unconfirmed, unsure(instance, alone, verdict.reasons))
            if alone.outcome is Outcome.VIOLATED and verdict.outcome is not Outcome.VIOLATED:
                raise InputError("float64 alone calls it violated, and the interval engine does not")
        if verdict.outcome is Outcome.VIOLATED and verdict.supposes:
            self.unconfirmed = larger(self.unconfirmed, unsure(instance, verdict))
            raise InputError(f"violated only if {' and '.join(verdict.supposes)}")
        return verdict

    @property
    def independent(self) -> tuple[float, ...]:
        """Left / right of the best instance of each shape that was evolved by itself, largest first."""
        by_shape = ([each.slack for each in self.points if each.cube is cube] for cube in self.evolved)
        slacks = [min(each) for each in by_shape if each]
        return tuple(sorted((_tightness(slack) for slack in slacks if slack > -1), reverse=True))

    def _tell(self, share: float, text: str) -> None:
        """Report the share that is done, which never falls."""
        self.share = max(self.share, share)
        self.report(self.share, text)

    def _note(self, reason: str) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    @property
    def violated(self) -> bool:
        """Whether the best instance violates the statement."""
        return self.best is not None and self.best[2].outcome is Outcome.VIOLATED

    def all(self, cubes: list[Cube], rng: np.random.Generator) -> None:
        """Search by scouts, and by verdicts where there are none, until `Ended` is raised."""
        # What is searched by verdicts does not depend on what scouts draw.
        seed = int(copy.deepcopy(rng).integers(2**63))
        scouts = self._scouted(cubes, seed)
        if self.start_reached and scouts.scouted:
            # The bound is reached at the start: from now on it is about later rounds.
            statement = self._from_second or self.statement
            later = [Cube(statement, cube.shape, cube.fixed) for cube in scouts.scouted]
            fewest = 2 if self._of_one_round else 1
            # Of the same statement most of these points are known.
            known = scouts.of_rounds(fewest) if self._from_second is None else {}
            self._scouted(later, seed, fewest, known)
        if not scouts.rest:
            return
        share = len(scouts.rest) / len(cubes)
        if scouts.scouted:
            # What has a scout was searched better than verdicts would.
            most = int(min(self.budget.evaluations, max(_REST * share * self.budget.evaluations, _FEWEST)))
            self.limit, self.requests = self.spent + most, 0
            self.evolved, self.points = [], []
        self.look(streams_of(scouts.rest, rng))
        if self.worth and min((each.slack for each in self.points), default=1.0) > self.worth:
            return
        self.evolve(rng)
        self.polish()

    def _scouted(
        self, cubes: list[Cube], seed: int, fewest: int = 1, known: Mapping[Place, Sight] | None = None
    ) -> Scouts:
        """What scouts see of cubes, and verdicts on the leaders; some points of the first look may be known."""
        scouts = Scouts(cubes, self._proceed, fewest, known or {})
        if not scouts.scouted:
            return scouts
        total = _PER_EVALUATION * self.budget.evaluations
        again = fewest > 1 or cubes[0].statement is self._from_second
        try:
            scouts.look(_points, max(int(_SEEN * total / len(cubes)), 3), seed)
            self._tell(_SEEN, "scouting")
            self._reached(scouts)
            if _best(scouts) < -_CLEAR:
                # What fails by more than rounding gets a verdict at once.
                self._judge(scouts, 1)
            if again or not self.start_reached:
                self._narrow(scouts, total, seed)
        except (Ended, KeyboardInterrupt):
            # The best so far is worth a verdict, whatever ended the search; what violates the statement has one.
            if not self.violated:
                self._judge(scouts, 1)
            raise
        self._judge(scouts, _JUDGED)
        # Constants that the functions have themselves are easier to recompute, so that these come first.
        for cube, point in [] if again else scouts.unseen():
            self.slack(cube, point)
        return scouts

    def _narrow(self, scouts: Scouts, total: float, seed: int) -> None:
        """Evolution of the best shapes and of every term's niche, and neighbours of what comes out of it."""
        chosen = self._evolvable(_cubes(scouts.ranked()))
        terms = len(summands(self.statement.claims[0]))
        values = [in_niche(term) for term in range(terms if terms > 1 else 0)]
        niches = [(value, cube) for value in values for cube in _unlike(scouts.ranked(value))]
        evolved: list[tuple[Value, Cube]] = [*((by_slack, cube) for cube in chosen), *niches]
        each = int(_EVOLVED * total / max(len(chosen) + len(values), 1))
        for number, (value, cube) in enumerate(evolved):
            scouts.evolve(cube, each, [seed, 1, number], value)
            self._tell(_SEEN + _EVOLVED * (number + 1) / len(evolved), "scouting")
        before = _best(scouts)
        # Half of the rest goes to the best of all.
        rest = (1 - _SEEN - _EVOLVED) * total / 2
        for first in scouts.ranked()[:1]:
            scouts.compass(first.cube, int(rest))
        for value in values:
            for first in scouts.ranked(value)[:1]:
                scouts.compass(first.cube, int(rest / len(values)), value)
        self._go_on(scouts, before, total, seed)
        self.evolved = [*self.evolved, *chosen]

    def _go_on(self, scouts: Scouts, before: float, total: float, seed: int) -> None:
        """Evolution and steps again, in more shapes, while they gain much on the slack ``before``.

        A shape that has not improved the best of all in two successive turns is given no further points.
        """
        idle: dict[int, int] = {}
        for again in range(_AGAIN):
            best = _best(scouts)
            if best <= 0 or _tightness(best) < _MUCH * _tightness(before):
                return
            before, cubes = best, _cubes(scouts.ranked())[: 2 * _SHAPES]
            each = int(_GO_ON * total / max(len(cubes), 1))
            for number, cube in enumerate(cubes):
                turns = (
                    partial(scouts.evolve, cube, each, [seed, 2, again, number]),
                    partial(scouts.compass, cube, each),
                )
                for turn in turns if idle.get(id(cube), 0) < _IDLE else ():
                    known = _best(scouts)
                    turn()
                    idle[id(cube)] = 0 if _best(scouts) < known else idle.get(id(cube), 0) + 1

    def _proceed(self) -> None:
        """Raise `Ended` where the time that the user set is over."""
        if self.late:
            raise Ended

    def _starts(self, each: Seen) -> bool:
        """Whether a slack is that before the first round, which every run has."""
        if self._of_one_round:
            return each.instance.given.get(self.statement.vocabulary.run.get("rounds", "")) == 1
        return each.at_start

    def _reached(self, scouts: Scouts) -> None:
        """Note where some instance has nearly reached the bound before the first round."""
        slack = min((each.slack for each in scouts.seen if self._starts(each)), default=1.0)
        self.start_reached |= self.longer and -_EQUAL <= slack <= _REACHED

    def _judge(self, scouts: Scouts, enough: int) -> None:
        """Verdicts on the leaders, until so many of them have a slack."""
        self.scouted, self.met = (
            self.scouted + scouts.count - scouts.told[0],
            self.met + scouts.met - scouts.told[1],
        )
        scouts.told = scouts.count, scouts.met
        judged = tried = 0
        for each in scouts.leaders(_MOST_JUDGED, _JUDGED_OF_EACH):
            if judged >= enough and (each.slack > 0 or enough == 1):
                break
            # A bound that is attained is so in many shapes, at the start in all that there are, of which another look
            # is at later rounds: what says nothing new is not judged over and over.
            known = judged >= enough or (tried >= enough and self.start_reached and self._starts(each))
            if known and each.slack > -_EQUAL and not self._unknown(each.cube):
                continue
            if enough > 1:
                self._proceed()
            tried += 1
            judged += self._judged(scouts, each)

    def _unknown(self, cube: Cube) -> bool:
        """Whether a shape was evolved by itself, and no verdict says yet what came out of it; see `independent`."""
        return any(each is cube for each in self.evolved) and all(each.cube is not cube for each in self.points)

    def _judged(self, scouts: Scouts, leader: Seen) -> bool:
        """Whether a leader has a slack, or the best of its shape in a much shorter run, which is known more exactly."""
        each: Seen | None = leader
        for _ in range(_SHORTER):
            if each is None:
                break
            before = len(self.points)
            self.spent += 1
            self._slack(each.cube, each.point, each.instance)
            if len(self.points) > before:
                return True
            each = scouts.shorter(each)
        return False

    @property
    def evaluations(self) -> int:
        """Evaluations of the budget that are spent; a point that a scout saw is a share of one."""
        return min(self.budget.evaluations, self.spent + math.ceil(self.scouted / _PER_EVALUATION))

    @property
    def meeting(self) -> int:
        """How many of the evaluations are of instances that meet every condition, counted alike; 0 if no verdict is."""
        if not self.applicable:
            return 0
        return min(self.evaluations, self.applicable + math.ceil(self.met / _PER_EVALUATION))

    @property
    def _left(self) -> int:
        return self.most - self.spent

    def look(self, streams: Streams) -> None:
        """The next points of all shapes in turn, until something is known."""
        end = self.spent + _LOOK * self._left
        while self.spent < end or not self.points:
            for cube, stream in streams:
                self.slack(cube, next(stream))

    def evolve(self, rng: np.random.Generator) -> None:
        """Differential evolution on the best shapes, begun at the best points known of them."""
        ranked = sorted(self.points, key=lambda each: each.slack)
        chosen = self._evolvable(_cubes(ranked))
        self.evolved, whole = chosen, self._left / (1 - _LOOK)
        for k, cube in enumerate(chosen):
            # Where less is left than polishing begins with, all of it is spent on the last.
            few = cube is chosen[-1] and self._left <= 2 * cube.size
            most = self._left if few else _EVOLVE * whole / max(len(chosen), 1)
            known = [each for each in ranked if each.cube is cube][:_POPULATION]
            size = int(min(_POPULATION, max(most, 4)))
            fill = [rng.random(cube.size) for _ in range(max(size - len(known), 0))]
            values = np.array([*(each.slack for each in known), *([math.inf] * len(fill))])
            population = np.array([*(each.point for each in known), *fill])
            own = np.random.default_rng([k, int(rng.integers(2**31))])
            # Known instances cost nothing, so that it goes on until the budget ends.
            generations = self.most if few else max(int(most / len(population)), 1)
            evolve(partial(self._slacks, cube), population, values, generations, own)

    def _slacks(self, cube: Cube, points: Array) -> Array:
        """`slack` at points (N, coordinates)."""
        return np.array([self.slack(cube, point) for point in points])

    def _evolvable(self, ranked: list[Cube]) -> list[Cube]:
        """The best shapes; where delays matter, one with clients that stay away is among them.

        With everybody there a bound may be tight in its other terms, whatever it says of delays.
        """
        chosen = ranked[:_SHAPES]
        late = [cube for cube in ranked if cube.shape.trace]
        if has_delays(self.statement) and late and not any(cube.shape.trace for cube in chosen):
            chosen = [*chosen[: _SHAPES - 1], late[0]]
        return chosen

    def _late(self, ranked: list[CubePoint]) -> list[CubePoint]:
        """Where delays matter, the best point of each evolved shape with clients that stay away."""
        if not has_delays(self.statement):
            return []
        away = [cube for cube in self.evolved if cube.shape.trace]
        best = (next((each for each in ranked if each.cube is cube), None) for cube in away)
        return [each for each in best if each is not None]

    def polish(self) -> None:
        """Nelder and Mead's method from the best points, until the budget ends."""
        while True:
            ranked = sorted(self.points, key=lambda each: each.slack)
            late = self._late(ranked)
            ranked = [*ranked[: _POLISHED - len(late)], *late]
            before = self.spent
            for each in ranked:
                share = max(self._left // max(len(ranked), 1), 30)
                descend(partial(self.slack, each.cube), each.point, share)
            if self.spent == before:
                return


def _on(error: MethodError, cube: Cube) -> MethodError:
    """The error of a method with the number of variables of the instance, which may be what it does not bear."""
    d = cube.shape.d_u + cube.shape.d_v
    return MethodError(f"{error}, on an instance with d={d}: d=... searches instances of another dimension alone")


def unsure(instance: Instance, verdict: Verdict, reasons: Sequence[str] = ()) -> Unconfirmed | None:
    """The excess of an unconfirmed verdict; None where it is rounding, or where conditions fail."""
    worst = verdict.worst
    if any(check.holds is False for check in verdict.conditions):
        return None
    ratio = math.inf
    if worst is not None and verdict.outcome is Outcome.VIOLATED:
        if worst.left - worst.right <= _ROUNDING * max(abs(worst.left), abs(worst.right)):
            return None
        ratio = worst.tightness if worst.tightness is not None else math.inf
    run = instance.statement.vocabulary.run
    sizes = ", ".join(
        f"{name}={instance.given[name]:g}" for name in run.values() if np.isscalar(instance.given.get(name))
    )
    why = f"it is violated only if {' and '.join(verdict.supposes)}" if verdict.supposes else "; ".join(reasons[-1:])
    return Unconfirmed(ratio, f"a {instance.problem.kind} problem, {sizes}", why or "no other evaluation decides it")


def from_second_round(statement: Statement) -> Statement | None:
    """The statement without round 0 of claims about every round; None where it has no such claim."""
    claims = [
        replace(claim, metric=replace(claim.metric, over=Over.EVERY_ROUND_BUT_FIRST))
        if claim.metric.over is Over.EVERY_ROUND
        else claim
        for claim in statement.claims
    ]
    changed = any(claim.metric.over is Over.EVERY_ROUND for claim in statement.claims)
    return replace(statement, claims=tuple(claims)) if changed else None


def _cubes(ranked: Sequence[Seen | CubePoint]) -> list[Cube]:
    """The cubes of points, in the order of the first of each."""
    return [*{id(each.cube): each.cube for each in ranked}.values()]


def _unlike(ranked: Sequence[Seen]) -> list[Cube]:
    """The cube of the best, and those of the most clients with one of them a round, and with all.

    What is wrong in n or m shows where they are large, or far apart.
    """
    cubes = _cubes(ranked)
    apart = sorted(cubes, key=lambda cube: (-cube.shape.n, cube.shape.size))[:1]
    together = sorted(cubes, key=lambda cube: -cube.shape.size)[:1]
    return [*{id(cube): cube for cube in (*cubes[:1], *apart, *together)}.values()]


def _best(scouts: Scouts) -> float:
    """The least slack that scouts saw."""
    return min((each.slack for each in scouts.seen), default=1.0)


def _tightness(slack: float) -> float:
    """Left side / right side at a slack: (1 - s)/(1 + s)."""
    return (1 - slack) / (1 + slack)


def _best_text(slack: float) -> str:
    """The best in words."""
    return "violated" if slack <= 0 else f"tightness {_tightness(slack):.4g}"


def streams_of(cubes: list[Cube], rng: np.random.Generator) -> Streams:
    """Corners and random points of every shape."""
    return [(cube, _points(cube, np.random.default_rng(rng.integers(2**63)))) for cube in cubes]


def _points(cube: Cube, rng: np.random.Generator) -> Iterator[Array]:
    """What a family knows to be hard, corners of the cube, and points with coordinates at its ends, in turn."""
    kinds = [coordinate.partition(" ")[0] for coordinate in cube.coordinates]
    high = np.array([kind in _HIGH for kind in kinds])
    lengths = iter((0.3, 0.6, 1.0, 0.0))
    yield from cube.hard()
    while True:
        if (length := next(lengths, None)) is not None:
            point = np.where(high, 1.0, 0.0)
            point[kinds.index("spread")] = 0.5
            point[:2] = length
            yield point
        yield cube.drawn(rng)


def descend(slack: Callable[[Array], float], point: Array, evaluations: int) -> None:
    """Nelder and Mead's method from a point of a cube; `benchmarks/polish.py` has others beside it."""
    from scipy.optimize import minimize

    options = {"maxfev": evaluations, "initial_simplex": _simplex(point), "adaptive": True}
    minimize(slack, point, method="Nelder-Mead", bounds=[(0.0, 1.0)] * len(point), options=options)


def _simplex(point: Array) -> Array:
    """Corners one tenth away, inwards."""
    corners = np.tile(np.clip(point, 0.0, 1.0), (len(point) + 1, 1))
    for k in range(len(point)):
        corners[k + 1, k] += -0.1 if corners[k + 1, k] > 0.5 else 0.1
    return corners
