"""Counterexamples made as small as they can be: fewest clients, variables, rounds and steps, then the simplest numbers.

A proposal is kept where it is simpler, in the order of `simplicity`, and the statement is still violated there with
every assumption certified: the verdict is that of `verify --instance`. Passes are repeated until none of them finds
anything simpler, so that a shrunk instance shrinks to itself. What is kept depends on the instance alone, never on a
clock. The idea of reducing by proposals and a total order is that of Hypothesis (MacIver and Donaldson, "Test-case
reduction via test-case generation", 2020).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

import numpy as np

from ratecheck import ending
from ratecheck.engines.kinds.mean_field import MeanFieldEngine
from ratecheck.errors import InputError
from ratecheck.falsification import simpler
from ratecheck.falsification.falsified import SEARCHED, Falsified, Report, Shrunk
from ratecheck.falsification.simpler import Numbers
from ratecheck.outcome import Outcome
from ratecheck.verification.instance import Instance
from ratecheck.verification.shifted_index import with_shift
from ratecheck.verification.verdict import Verdict

# Evaluations of both sides that shrinking takes at most.
EVALUATIONS = 600
# Why shrinking ended before nothing simpler was left to try.
SPENT = "no evaluations left"


class _Spent(Exception):  # noqa: N818  # not an error: ends the passes
    """The evaluations are spent."""


@dataclass
class Shrinking:
    """The instance reached so far; passes of `ratecheck.falsification.simpler` offer others in its place."""

    instance: Instance
    verdict: Verdict
    numbers: Numbers
    evaluations: int
    report: Report
    fixed: Collection[str] = ()
    spent: int = 0
    tried: set[str] = field(default_factory=set)

    def offer(self, make: Callable[[Instance], Instance]) -> bool:
        """Whether what ``make`` makes of the instance takes its place; raises `_Spent` where no evaluation is left."""
        try:
            proposed = simpler.consistent(make(self.instance))
            if self.numbers.simplicity(proposed) >= self.numbers.simplicity(self.instance):
                return False
            if any(self._of(proposed, name) != self._of(self.instance, name) for name in self.fixed):
                return False
        except (InputError, IndexError):
            return False
        name = _name(proposed)
        if name in self.tried:
            return False
        if self.spent >= self.evaluations:
            raise _Spent
        self.tried.add(name)
        self.spent += 1
        self.report(self.spent / self.evaluations, "shrinking")
        verdict = violation(proposed)
        if verdict is None or not _as_much(verdict, self.verdict):
            return False
        self.instance, self.verdict = proposed, verdict
        return True

    def _of(self, instance: Instance, name: str) -> object:
        """What an instance has for a number that is fixed."""
        if name == self.numbers.size("clients"):
            return instance.problem.n
        if instance.statement.vocabulary.facts.get(name) == "dimension":
            return instance.problem.d
        return np.asarray(instance.given.get(name)).tolist()


def shrink(
    instance: Instance,
    evaluations: int = EVALUATIONS,
    report: Report | None = None,
    fixed: Collection[str] = (),
) -> Shrunk | None:
    """The simplest instance reached from a violating one; None where the statement is not violated there.

    The numbers named by ``fixed`` stay as they are. An interrupt ends it with what was reached.
    """
    verdict = violation(instance)
    if verdict is None:
        return None
    numbers = Numbers.of(verdict)
    state = Shrinking(instance, verdict, numbers, evaluations, report or (lambda *_: None), fixed, spent=1)
    stopped = ""
    try:
        with ending.as_told():
            while True:
                before = numbers.simplicity(state.instance)
                for each in simpler.PASSES:
                    each(state)
                if numbers.simplicity(state.instance) == before:
                    break
    except _Spent:
        stopped = SPENT
    except KeyboardInterrupt as stop:
        stopped = ending.word(stop)
        ending.grant()
    ends = numbers.simplicity(instance), numbers.simplicity(state.instance)
    simplest = state.instance
    noted = with_shift(state.verdict, lambda each: replace(simplest, statement=each).verdict(SEARCHED))
    return Shrunk(simplest, noted, state.spent, *ends, stopped)


def shrunk(found: Falsified, report: Report | None = None, fixed: Collection[str] = ()) -> Falsified:
    """A search with the counterexample that it found shrunk, if it found one; what it left fixed stays as it is."""
    if found.instance is None or found.outcome is not Outcome.VIOLATED or found.stop is not None:
        return found
    return replace(found, shrunk=shrink(found.instance, report=report, fixed=fixed))


def violation(instance: Instance) -> Verdict | None:
    """The verdict where the statement is violated, in floating point and in what interval arithmetic proves of it."""
    try:
        with np.errstate(all="ignore"):
            verdict = instance.verdict(SEARCHED)
            if verdict.outcome is Outcome.VIOLATED and not verdict.impossible:
                proof = instance.proof()
                if MeanFieldEngine.needs <= instance.problem.knows and not proof.proved:
                    return None
                verdict = proof.decides(verdict)
    except (InputError, ArithmeticError, np.linalg.LinAlgError):
        return None
    return verdict if verdict.outcome is Outcome.VIOLATED else None


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
