"""``rc.selftest``, the command ``selftest``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bounds
from bounds.statement import Statement
from ratecheck.api.given import known_elsewhere
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.execution import executor
from ratecheck.inputs import whole
from ratecheck.selftesting.kept import Kept
from ratecheck.selftesting.mutants import sound
from ratecheck.selftesting.run import SelfTestPlan, SelfTestReport
from ratecheck.selftesting.run import selftest as tested
from ratecheck.selftesting.survey import searchable
from ratecheck.views.checks.selftest import report_fields, report_text
from ratecheck.views.progress import progress

_ALL = "all"


@dataclass(frozen=True, eq=False, repr=False)
class SelftestResult(Result):
    """Whether the checks notice wrong statements and leave right ones alone; ``report`` has every mutant."""

    report: SelfTestReport

    @property
    def failures(self) -> list[str]:
        """The failures of the self-test, in one line each."""
        return list(self.report.failures)

    def __str__(self) -> str:
        return report_text(self.report)

    def _headline(self) -> str:
        return "as it has to be" if not self.failures else "; ".join(self.failures)

    def _fields(self) -> dict[str, Any]:
        return report_fields(self.report)


def selftest(
    *scopes: str,
    mutants: int | str = 60,
    instances: int = 200,
    planted: int = 100,
    evaluations: int = 150,
    seconds: float | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    seed: int = 0,
) -> SelftestResult:
    """Measure whether the checks notice wrong statements and leave right ones alone.

    ``scopes`` are keys, papers, files or "textbook"; everything by default. ``mutants`` is how many are tried in all,
    or "all"; ``instances`` the valid instances of sound statements in all; ``planted`` the Monte Carlo verdicts at a
    known truth; ``evaluations`` the instances that a search tries per mutant, and ``seconds`` a time after which it
    ends, so that counts depend on the machine; ``workers`` the processes, one per core by default, or ``scheduler`` the
    address of a Dask scheduler, whose workers do it. An interrupted self-test goes on where it stopped. Raises
    `InputError` where there is nothing to examine.
    """
    numbers = {"instances": instances, "planted": planted, "evaluations": evaluations, "seconds": seconds, "seed": seed}
    return SelfTest.of(*scopes, mutants=mutants, **numbers).run(workers, scheduler)


@dataclass(frozen=True)
class SelfTest:
    """A self-test that is about to run, and what is kept of it where it was interrupted."""

    keys: tuple[str, ...]
    plan: SelfTestPlan
    kept: Kept = field(repr=False)

    @classmethod
    def of(cls, *scopes: str, mutants: int | str, **numbers: Any) -> SelfTest:
        """Arguments as for `selftest`."""
        most = None if mutants == _ALL else whole("mutants", mutants, 0)
        counts = {name: whole(name, numbers[name], 0) for name in ("instances", "planted", "seed")}
        plan = SelfTestPlan(mutants=most, **{**numbers, **counts})
        keys = _selected(scopes)
        return cls(tuple(keys), plan, Kept.of(keys, plan))

    def run(self, workers: int | None = None, scheduler: str | None = None) -> SelftestResult:
        """The result; what is finished is kept until then."""
        if scheduler is not None:
            known_elsewhere(self.keys)
        with executor(scheduler, workers) as where, progress("self-test") as report:
            found = tested(list(self.keys), self.plan, where, report, self.kept)
        self.kept.clear()
        return SelftestResult(found)


def _selected(scopes: Sequence[str]) -> list[str]:
    """The keys of the sound statements that can be searched; raises `InputError` where there are none."""
    keys: list[str] = []
    for scope in scopes or (*bounds.PAPERS, bounds.TEXTBOOK):
        found = _scope(scope)
        keys += [key for key, statement in found.items() if not statement.order_only and searchable(statement)]
    if not keys:
        raise InputError(f"the search covers nothing in {', '.join(scopes) or 'the catalogue'}")
    return list(dict.fromkeys(keys))


def _scope(scope: str) -> dict[str, Statement]:
    """The sound statements that a key, a paper, a file or "textbook" stands for."""
    if scope.endswith(bounds.own.SUFFIX):
        return bounds.own.addresses(scope)
    if scope == bounds.TEXTBOOK:
        return {statement.key: statement for statement in bounds.statements(scope)}
    if scope in bounds.PAPERS:
        return {statement.key: statement for statement in sound(bounds.statements(scope))}
    found = {scope: bounds.get(scope)}
    if not bounds.own.is_own(scope) and (repaired := bounds.repaired_form(found[scope])):
        raise InputError(f"{scope} is false as printed, so that nothing is an error: take {repaired.key}")
    return found
