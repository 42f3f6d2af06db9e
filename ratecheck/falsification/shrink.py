"""Counterexamples made as small as they can be: fewest clients, variables, rounds and steps, then the simplest numbers.

A proposal is kept where it is simpler, in the order of `simplicity`, and the statement is still violated there with
every assumption certified: the verdict is that of `verify --instance`. Passes are repeated until none of them finds
anything simpler, so that a shrunk instance shrinks to itself. What is kept depends on the instance and on the work that
may be done (`ratecheck.falsification.shrinking.work`), and on a clock only where one is set. The idea of reducing by
proposals and a total order is that of Hypothesis (MacIver and Donaldson, "Test-case reduction via test-case
generation", 2020).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bounds.statement import Statement
from ratecheck import ending
from ratecheck.engines.kinds.mean_field_engine import MeanFieldEngine
from ratecheck.errors import InputError
from ratecheck.falsification.drawn import CONFIRMED
from ratecheck.falsification.falsified import SEARCHED, Falsified, Report, Shrunk
from ratecheck.falsification.shrinking import jointly, simpler
from ratecheck.falsification.shrinking.simpler import Numbers, ShrinkingState
from ratecheck.falsification.shrinking.work import LATE, MOST_PRODUCTS, Follow, Spent, TooLong, WorkLimit
from ratecheck.outcome import Outcome
from ratecheck.settings.setting import Options
from ratecheck.verification.instance import Instance
from ratecheck.verification.rigorous import REQUESTED
from ratecheck.verification.shifted_index import with_shift
from ratecheck.verification.verdict import Verdict

# Work that shrinking takes at most, in short evaluations of both sides: a third of what a whole search takes.
WORK = 1000.0
# The share of it that is kept for the numbers.
_FOR_NUMBERS = 0.25

_PASSES = (*simpler.PASSES, *jointly.PASSES)
_OF_NUMBERS = (jointly.units, jointly.rounded, simpler.problem_numbers, simpler.other_numbers, simpler.step_sizes)


@dataclass
class Shrinking:
    """The instance reached so far; passes of `ratecheck.falsification.shrinking` offer others in its place.

    ``proved``: the violation is proved in interval arithmetic, so that one which is not does not take its place.
    """

    instance: Instance
    verdict: Verdict
    numbers: Numbers
    work: WorkLimit
    report: Report
    fixed: Collection[str] = ()
    proved: bool = False
    evaluations: int = 0
    tried: set[str] = field(default_factory=set)

    def offer(self, make: Callable[[Instance], Instance]) -> bool:
        """Whether what ``make`` makes of the instance takes its place; raises `Spent` where nothing may be tried."""
        try:
            proposed = simpler.consistent(make(self.instance))
            if self._rank(proposed) >= self._rank(self.instance):
                return False
            if any(self._of(proposed, name) != self._of(self.instance, name) for name in self.fixed):
                return False
        except (InputError, IndexError):
            return False
        name = _name(proposed)
        if name in self.tried:
            return False
        self.work.check()
        self.tried.add(name)
        self.evaluations += 1
        self.report(min(self.work.done / self.work.most, 1.0), "shrinking")
        verdict, proved = self._evaluated(proposed)
        if verdict is None or not _as_much(verdict, self.verdict) or self.proved > proved:
            return False
        self.instance, self.verdict, self.proved = proposed, verdict, proved
        return True

    def simplified(self) -> str:
        """Passes until none of them finds anything simpler; why they ended before, else nothing.

        A part of the work is kept for the numbers, so that long ones are no longer where sizes took all else.
        """
        most = self.work.most
        try:
            self.work.check()
            self.prove()
            self.work.most = (1 - _FOR_NUMBERS) * most
            self._until_nothing(_PASSES)
        except Spent as end:
            self.work.most = most
            return str(end) if str(end) == LATE else self._numbers_alone(str(end))
        self.work.most = most
        return ""

    def _numbers_alone(self, why: str) -> str:
        try:
            self._until_nothing(_OF_NUMBERS)
        except Spent as end:
            return str(end)
        return why

    def _until_nothing(self, passes: Sequence[Callable[[ShrinkingState], None]]) -> None:
        while True:
            before = self._rank(self.instance)
            for each in passes:
                each(self)
            if self._rank(self.instance) == before:
                return

    def _evaluated(self, proposed: Instance) -> tuple[Verdict | None, bool]:
        """As `_violation`, within what one instance may cost."""
        try:
            follow = self.work.evaluate(proposed, *self.numbers.lengths(proposed))
        except TooLong:
            return None, False
        return _violation(proposed, follow, MOST_PRODUCTS, self.options)

    def prove(self) -> None:
        """Note whether the violation of the first instance is proved at the cost that others may have."""
        try:
            with np.errstate(all="ignore"):
                proof = self.instance.proof(products=MOST_PRODUCTS)
        except (InputError, ArithmeticError, np.linalg.LinAlgError):
            return
        self.work.proved(proof.products)
        self.proved = proof.outcome is Outcome.VIOLATED

    def shifted(self) -> Verdict:
        """The verdict with a note where shifting the index would make the statement hold."""

        def again(statement: Statement) -> Verdict:
            other = replace(self.instance, statement=statement)
            return other.verdict(self.options, progress=self.work.evaluate(other, *self.numbers.lengths(other)))

        try:
            return with_shift(self.verdict, again)
        except (Spent, TooLong):
            return self.verdict

    @property
    def options(self) -> Options:
        """How what is offered is evaluated: by many runs where the violation is that of drawn ones."""
        return SEARCHED if self.verdict.replicates is None else CONFIRMED

    def _rank(self, instance: Instance) -> tuple[int, ...]:
        """The simplicity, and of what is as simple how often neighbours differ."""
        return *self.numbers.simplicity(instance), simpler.unlike_neighbours(instance)

    def _of(self, instance: Instance, name: str) -> object:
        """What an instance has for a number that is fixed."""
        if name == self.numbers.size("clients"):
            return instance.problem.n
        if instance.statement.vocabulary.facts.get(name) == "dimension":
            return instance.problem.d
        return np.asarray(instance.given.get(name)).tolist()


def shrink(
    instance: Instance,
    evaluations: float = WORK,
    report: Report | None = None,
    fixed: Collection[str] = (),
    *,
    verdict: Verdict | None = None,
    seconds: float | None = None,
) -> Shrunk | None:
    """The simplest instance reached from a violating one; None where the statement is not violated there.

    It takes as much work as so many short ``evaluations`` at most. The numbers named by ``fixed`` stay as they are. A
    ``verdict`` that is known is not found again. Nothing is begun after so many ``seconds``, where they are given. An
    interrupt ends it with what was reached.
    """
    verdict = verdict or violation(instance)
    if verdict is None:
        return None
    numbers = Numbers.of(verdict)
    spent = WorkLimit(evaluations, None if seconds is None else time.monotonic() + seconds, 1.0)
    state = Shrinking(instance, verdict, numbers, spent, report or (lambda *_: None), fixed, evaluations=1)
    stopped = ""
    try:
        with ending.as_told():
            stopped = state.simplified()
            if stopped != LATE:
                state.verdict = state.shifted()
    except KeyboardInterrupt as stop:
        stopped = ending.word(stop)
        ending.grant()
    ends = numbers.simplicity(instance), numbers.simplicity(state.instance)
    return Shrunk(state.instance, state.verdict, state.evaluations, *ends, stopped)


def shrunk(
    found: Falsified, report: Report | None = None, fixed: Collection[str] = (), seconds: float | None = None
) -> Falsified:
    """A search with the counterexample that it found shrunk, if it found one; what it left fixed stays as it is."""
    if found.instance is None or found.outcome is not Outcome.VIOLATED or found.stop is not None:
        return found
    known = found.verdict if found.by_instance else None
    return replace(found, shrunk=shrink(found.instance, report=report, fixed=fixed, verdict=known, seconds=seconds))


def left(seconds: float | None, found: Falsified) -> float | None:
    """What a search has left of the seconds that it was given; None where it was given none."""
    return None if seconds is None else max(seconds - found.seconds, 0.0)


def violation(instance: Instance) -> Verdict | None:
    """The verdict where the statement is violated, in floating point and in what interval arithmetic proves of it."""
    return _violation(instance, None, REQUESTED, SEARCHED)[0] or _violation(instance, None, REQUESTED, CONFIRMED)[0]


def _violation(
    instance: Instance, follow: Follow | None, products: float, options: Options
) -> tuple[Verdict | None, bool]:
    """The verdict where the statement is violated, and whether that is proved at a cost of so many products."""
    proved = False
    try:
        with np.errstate(all="ignore"):
            verdict = instance.verdict(options, progress=follow)
            if verdict.outcome is Outcome.VIOLATED and not verdict.impossible:
                proof = instance.proof(products=products)
                if follow is not None:
                    follow.work.proved(proof.products)
                if MeanFieldEngine.needs <= instance.problem.knows and not proof.proved:
                    return None, False
                verdict, proved = proof.decides(verdict), proof.proved
    except (InputError, ArithmeticError, np.linalg.LinAlgError, TooLong):
        return None, False
    proved |= bool(verdict.impossible)
    return (verdict if verdict.outcome is Outcome.VIOLATED else None), proved


def _as_much(verdict: Verdict, before: Verdict) -> bool:
    """Whether a claim fails that failed before, on no more suppositions."""
    return bool(_failing(verdict) & _failing(before)) and {*verdict.supposes} <= {*before.supposes}


def _failing(verdict: Verdict) -> set[str]:
    """The claims that are impossible; without one, that with the least slack."""
    worst = {verdict.worst.claim} if verdict.worst else set()
    return {each.claim for each in verdict.impossible} or worst


def _name(instance: Instance) -> str:
    """A text that says which instance it is, of those made of one."""
    try:
        return json.dumps(instance.fields(), sort_keys=True)
    except InputError:  # a problem without a form in a file is that of the instance
        return repr((sorted((k, np.asarray(v).tolist()) for k, v in instance.given.items()), instance.problem.n))
