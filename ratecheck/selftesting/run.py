"""The self-test: mutants before every check, sound statements on valid instances, Monte Carlo at a known truth.

Every part is a function of the seed, a statement's key and a mutant's number, so that results do not depend on how many
processes share the work. Statements travel by key.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import bounds
from ratecheck.execution import Executor
from ratecheck.execution import share as parallel
from ratecheck.falsification.cube_search import Budget
from ratecheck.selftesting.data import Result
from ratecheck.selftesting.kept import Kept
from ratecheck.selftesting.montecarlo import LEVEL, PlantedTruth, limit, noisy, planted
from ratecheck.selftesting.mutants import Mutant, MutationKind, mutants
from ratecheck.selftesting.seeds import seed_of
from ratecheck.selftesting.survey import Alarm, Survey, survey
from ratecheck.selftesting.textbook import OverFunctions, Twin, over_functions, twin
from ratecheck.selftesting.trial import Trial, tried

Progress = Callable[[float, str], None]
# What is worked on, by its name.
Tasks: TypeAlias = Mapping[str, tuple[Any, ...]]

# Tasks after which a process is replaced by a fresh one.
_TASKS = 40
# The search on a sound statement gets so many times the evaluations of that on a mutant.
_LONGER = 2
# From which factor on a mutant counts as false by much, and by some; for the latter, of statements this tight.
MUCH, SOME, TIGHT = 5.0, 2.0, 0.2
# Shares that have to be caught.
MUCH_SHARE, SOME_SHARE = 1.0, 0.8


@dataclass(frozen=True)
class SelfTestPlan:
    """The numbers of a self-test.

    ``mutants`` (None: all) and ``instances`` are divided among the statements, ``planted`` verdicts by Monte Carlo too;
    ``evaluations`` are those of the search on each mutant. With ``seconds`` it ends after these all the same, and the
    counts depend on the machine.
    """

    mutants: int | None = 60
    instances: int = 200
    planted: int = 100
    evaluations: int = 150
    seconds: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        Budget(self.evaluations, self.seconds)

    @property
    def budget(self) -> Budget:
        """The budget of the search on a mutant."""
        return Budget(self.evaluations, self.seconds)

    @property
    def longer(self) -> Budget:
        """The budget of the search on a sound statement."""
        return Budget(_LONGER * self.evaluations, None if self.seconds is None else _LONGER * self.seconds)


@dataclass(frozen=True)
class SelfTestReport:
    """Everything that was seen, in the order of the statements and their mutants."""

    plan: SelfTestPlan
    surveys: tuple[Survey, ...]
    trials: tuple[Trial, ...]
    planted: tuple[PlantedTruth, ...]
    twins: tuple[Twin, ...] = ()
    functions: tuple[OverFunctions, ...] = ()

    @property
    def causes(self) -> dict[str, int]:
        """The causes that left valid instances open, the most frequent first."""
        found = added(each.causes for each in self.surveys)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def alarms(self) -> list[Alarm]:
        """Violations of sound statements."""
        return [alarm for each in self.surveys for alarm in each.alarms]

    @property
    def clocked(self) -> list[str]:
        """Statements and mutants on which a clock ended the search."""
        surveys = [each.key for each in self.surveys if each.clocked]
        return surveys + [each.key for each in self.trials if each.clocked]

    def false_by(self, least: float, tightness: float = 0.0) -> list[Trial]:
        """Mutants that are known to be false by such a factor, of statements that are so tight."""
        tight = {each.key for each in self.surveys if (each.tightness or 0.0) > tightness or tightness == 0.0}
        return [each for each in self.trials if each.factor >= least and each.original in tight]

    @property
    def survivors(self) -> list[Trial]:
        """Mutants false by the larger factor, or by the smaller one on tight statements, that neither check catches."""
        wanted = {each.key for each in (*self.false_by(MUCH), *self.false_by(SOME, TIGHT))}
        return [each for each in self.trials if each.key in wanted and not (each.by_audit or each.by_search)]

    @property
    def contradictions(self) -> list[Trial]:
        """Mutants that follow as well, says the audit, and are violated: one of the two is wrong."""
        return [each for each in self.trials if each.contradictory]

    @property
    def monte_carlo(self) -> tuple[int, int, int, int]:
        """Verdicts, true statements called violated, false ones that hold, and how many the level explains of each."""
        verdicts, accused, passed = (
            sum(getattr(each, name) for each in self.planted) for name in ("verdicts", "accused", "passed")
        )
        return verdicts, accused, passed, limit(verdicts, LEVEL)

    @property
    def failures(self) -> list[str]:
        """The failures, in words."""
        much, some = self.false_by(MUCH), self.false_by(SOME, TIGHT)
        found = [f"{len(self.alarms)} sound statements were called violated"] if self.alarms else []
        if diverged := sum(each.diverged for each in self.surveys):
            found.append(f"{diverged} runs of sound statements diverged within the conditions")
        if missed := [each.key for each in self.twins if not each.caught]:
            found.append(f"false twins that the search does not catch: {', '.join(missed)}")
        if blamed := [each.key for each in self.functions if each.accused]:
            found.append(f"true statements that are accused over all functions: {', '.join(blamed)}")
        if self.contradictions:
            found.append(f"{len(self.contradictions)} mutants follow as well, says the audit, and are violated")
        for trials, least, share in ((much, MUCH, MUCH_SHARE), (some, SOME, SOME_SHARE)):
            caught = sum(each.by_audit or each.by_search for each in trials)
            if caught < share * len(trials):
                found.append(f"{caught} of {len(trials)} mutants false by {least:g} are caught by audit or falsify")
        verdicts, accused, passed, most = self.monte_carlo
        for wrong, what in ((accused, "true statements violated"), (passed, "false statements hold")):
            if wrong > most:
                found.append(f"{wrong} of {verdicts} Monte Carlo verdicts call {what}, of which {most} are explained")
        return found


def selftest(
    keys: Sequence[str],
    plan: SelfTestPlan,
    workers: int | Executor = 1,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> SelfTestReport:
    """Survey every statement, then try a sample of their mutants, then Monte Carlo; parts that are ``kept`` are not.

    The textbook has no mutants: its false twins are searched, and what the worst case over all functions covers is
    evaluated there.
    """
    report = progress or (lambda *_: None)
    instances = math.ceil(plan.instances / max(len(keys), 1))
    textbook = [key for key in keys if key.startswith(f"{bounds.TEXTBOOK}/")]
    catalogue = [key for key in keys if key not in textbook]
    random = [key for key in catalogue if noisy(bounds.get(key))]
    verdicts = math.ceil(plan.planted / max(len(random), 1))
    before = kept or Kept(None, "")

    def found(
        kind: type[Result], work: Callable[..., Result], tasks: Tasks, what: str, begin: float, share: float
    ) -> tuple[Result, ...]:
        return _all(work, kind, tasks, workers, before, lambda done: report(begin + share * done, what))

    surveyed = {f"survey {key}": (key, instances, plan) for key in keys}
    surveys = found(Survey, _survey, surveyed, "valid instances", 0.0, 0.3)
    by_key = dict(zip(keys, surveys, strict=True))
    mutated = {
        f"mutant {number} of {key}": (key, number, by_key[key], plan)
        for key, number in sample(catalogue, plan.mutants, plan.seed)
    }
    trials = found(Trial, _try, mutated, "mutants", 0.3, 0.6)
    planting = {f"Monte Carlo {key}": (key, verdicts, plan.seed) for key in random}
    plants = found(PlantedTruth, _plant, planting, "Monte Carlo", 0.9, 0.05)
    wrong = {f"twin {each.key}": (each.key, plan) for each in bounds.twins()} if textbook else {}
    twins = found(Twin, _twin, wrong, "false twins", 0.95, 0.03)
    everywhere = {f"over all functions {key}": (key, plan.seed) for key in textbook}
    functions = found(OverFunctions, _over_functions, everywhere, "over all functions", 0.98, 0.02)
    return SelfTestReport(plan, surveys, trials, plants, twins, functions)


def added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of several by what they count, added up."""
    return dict(sum(map(Counter, counts), Counter[str]()))


def sample(keys: Sequence[str], most: int | None, seed: int) -> list[tuple[str, int]]:
    """Mutants that are not weaker, by key and number: from every kind of every statement in turn, in random order."""
    rng = np.random.default_rng(seed_of(seed, "sample"))
    groups: dict[tuple[str, MutationKind], list[int]] = {}
    for key in keys:
        for number, mutant in enumerate(_mutants(key)):
            if not mutant.weaker:
                groups.setdefault((key, mutant.kind), []).append(number)
    order = list(groups)
    queues = []
    for place in rng.permutation(len(order)):
        key, numbers = order[place][0], groups[order[place]]
        queues.append([(key, int(number)) for number in rng.permutation(numbers)])
    in_turn = [each for row in itertools.zip_longest(*queues) for each in row if each is not None]
    chosen = in_turn if most is None else in_turn[:most]
    places = {key: place for place, key in enumerate(keys)}
    return sorted(chosen, key=lambda each: (places[each[0]], each[1]))


@functools.lru_cache(maxsize=64)
def _mutants(key: str) -> list[Mutant]:
    return mutants(bounds.get(key))


def _survey(key: str, instances: int, plan: SelfTestPlan) -> Survey:
    return survey(key, bounds.get(key), instances, plan.longer, plan.seed)


def _try(key: str, number: int, seen: Survey, plan: SelfTestPlan) -> Trial:
    return tried(_mutants(key)[number], seen, plan.budget, plan.seed)


def _twin(key: str, plan: SelfTestPlan) -> Twin:
    return twin(bounds.get(key), plan.budget, plan.seed)


def _over_functions(key: str, seed: int) -> OverFunctions:
    return over_functions(bounds.get(key), seed)


def _plant(key: str, verdicts: int, seed: int) -> PlantedTruth:
    return planted(key, bounds.get(key), verdicts, seed)


def _all(
    work: Callable[..., Result],
    kind: type[Result],
    tasks: Tasks,
    workers: int | Executor,
    kept: Kept,
    report: Callable[[float], None],
) -> tuple[Result, ...]:
    """The results of every task, in order: kept from before, or computed now and kept."""
    results = {name: found for name in tasks if (found := kept.get(name, kind)) is not None}
    missing = [name for name in tasks if name not in results]

    def done(number: int, result: Result) -> None:
        results[missing[number]] = result
        kept.put(missing[number], result)
        report(len(results) / len(tasks))

    # Processes are renewed, since they keep what they compile of every mutant.
    parallel(work, [tasks[name] for name in missing], workers, done, renew=_TASKS)
    return tuple(results[name] for name in tasks)
