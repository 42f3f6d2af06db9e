"""A sound statement on many instances: its false alarms, its tightness, and a pool for its mutants."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bounds.statement import Statement
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import SEARCHED
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes
from ratecheck.outcome import Outcome
from ratecheck.selftesting.factors import EvaluatedInstances, tightest
from ratecheck.selftesting.seeds import seed_of
from ratecheck.settings.applicability import foreign
from ratecheck.settings.defaults import completed
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

# Points tried for each instance wanted.
_TRIES = 12
# An instance that is decided by sampling costs as much as so many that are computed exactly.
_SAMPLED = 10
# How `verify` evaluates its default instance, and for how many rounds.
DEFAULT = Options(vacuity=False)
_ROUNDS = 50.0


@dataclass(frozen=True)
class Alarm:
    """A sound statement that was called violated: where, by which engine, and the instance as data."""

    key: str
    engine: str
    left: float
    right: float
    error: float
    instance: dict[str, Any]


@dataclass(frozen=True)
class Survey:
    """The survey of a statement.

    ``instances`` maps an engine to how many random valid instances it decided. Others ``diverged`` within the
    conditions, or were left ``undecided``; ``causes`` counts these by outcome and cause. ``tightness`` is the
    largest left side / right side seen. ``pool`` are instances with their left sides, the search's best one last, and
    ``default`` is that of the command line, where it has one. ``clocked`` says that a clock ended the search.
    """

    key: str
    tried: int
    instances: dict[str, int]
    diverged: int
    undecided: int
    alarms: tuple[Alarm, ...]
    tightness: float | None
    pool: tuple[EvaluatedInstances, ...]
    default: EvaluatedInstances | None
    clocked: bool = False
    causes: dict[str, int] = field(default_factory=dict)


def searchable(statement: Statement) -> bool:
    """Whether the search for violating instances supports the statement."""
    try:
        return bool(shapes(statement)) and not foreign(statement)
    except InputError:
        return False


def survey(key: str, statement: Statement, instances: int, budget: Budget, seed: int) -> Survey:
    """Verify so many random valid instances, then search, then verify the default instance."""
    engines: dict[str, int] = {}
    causes: Counter[str] = Counter()
    alarms, pool, diverged, undecided, tried, spent = [], [], 0, 0, 0, 0
    cubes = [Cube(statement, shape) for shape in shapes(statement)]
    rng = np.random.default_rng(seed_of(seed, statement.key, "instances"))
    while spent < instances and tried < _TRIES * instances:
        tried += 1
        cube = cubes[rng.integers(len(cubes))]
        verified = _verified(cube, cube.drawn(rng))
        if verified is None:
            continue
        instance, verdict = verified
        diverged += verdict.outcome is Outcome.DIVERGED
        undecided += verdict.outcome is Outcome.INCONCLUSIVE
        causes.update([f"{verdict.outcome.value}: {cause(verdict)}"] if verdict.outcome in _OPEN else [])
        # What is sampled takes more replicates to hold than to be refuted; only the absence of VIOLATED counts here.
        if verdict.engine != "exact":
            spent += _SAMPLED
        if verdict.outcome not in (Outcome.HOLDS, Outcome.VIOLATED):
            continue
        engines[verdict.engine] = engines.get(verdict.engine, 0) + 1
        spent += verdict.engine == "exact"
        if verdict.outcome is Outcome.VIOLATED:
            alarms.append(_alarm(key, instance, verdict))
        pool.append(EvaluatedInstances.of(instance, verdict))
    found = falsify_to_the_end(statement, budget, seed=seed_of(seed, statement.key, "search"))
    if found.instance is not None and found.verdict is not None:
        if found.outcome is Outcome.VIOLATED:
            alarms.append(_alarm(key, found.instance, found.verdict))
        pool.append(EvaluatedInstances.of(found.instance, found.verdict))
    default = _default(statement)
    # What is sampled may err, with the probability that its level allows.
    if default is not None and default[1].outcome is Outcome.VIOLATED and default[1].engine == "exact":
        alarms.append(_alarm(key, *default))
    tight = max(found.tightness or 0.0, tightest(statement, pool)) or None
    return Survey(
        key=key,
        tried=tried,
        instances=engines,
        diverged=diverged,
        undecided=undecided,
        alarms=tuple(alarms),
        tightness=tight,
        pool=tuple(pool),
        default=None if default is None else EvaluatedInstances.of(*default),
        clocked=found.clocked,
        causes=dict(causes),
    )


def _verified(cube: Cube, point: np.ndarray) -> tuple[Instance, Verdict] | None:
    """The instance at a point and what the statement says there; None for nothing."""
    try:
        instance = cube.decode(point)
        return instance, instance.verdict(replace(SEARCHED, rigorous=True))
    except InputError:
        return None


def _alarm(key: str, instance: Instance, verdict: Verdict) -> Alarm:
    worst = verdict.worst
    assert worst is not None
    return Alarm(key, verdict.engine, worst.left, worst.right, worst.error, {**instance.fields(), "statement": key})


def default_instance(statement: Statement) -> Instance:
    """The instance that `verify` evaluates where only the rounds are given; `InputError` where there is none."""
    rounds = statement.vocabulary.run.get("rounds")
    found = completed(statement, given={} if rounds is None else {rounds: _ROUNDS})
    return Instance(statement, found.problem, None, found.values)


def _default(statement: Statement) -> tuple[Instance, Verdict] | None:
    try:
        instance = default_instance(statement)
        verdict = instance.verdict(DEFAULT)
    except InputError:
        return None
    return (instance, verdict) if verdict.comparisons else None


_OPEN = (Outcome.DIVERGED, Outcome.INCONCLUSIVE)
# Words in the reason of a verdict that decides nothing, and the cause that they tell.
_CAUSES = (
    ("the bound overflows", "the bound leaves the range of float64"),
    ("the bound has no value", "the bound leaves the range of float64"),
    ("the left side overflows", "the left side leaves the range of float64"),
    ("the left side has no value", "the rounding of the left side is not known"),
    ("were not followed", "the rounding of the left side is not known"),
    ("with a rounding error of up to", "the sides differ by less than their rounding"),
    ("the sides agree to within rounding", "a condition holds up to rounding only"),
)


def cause(verdict: Verdict) -> str:
    """The reason for which a verdict decides nothing, in words that do not depend on the numbers."""
    if verdict.replicates is not None or verdict.engine == "traces":
        return "sampled: so few replicates leave it open"
    reason, worst = next(iter(verdict.reasons), ""), verdict.worst
    if worst is not None and worst.left == worst.right == 0.0:
        return "both sides are 0 up to rounding"
    found = (words for mark, words in _CAUSES if mark in reason)
    return next(found, re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "...", reason) or "no reason is given")
