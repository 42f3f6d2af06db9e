"""``rc.falsify``, the command ``falsify``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import bounds
from bounds.statement import Statement
from ratecheck import ending, files
from ratecheck.api.given import (
    Parameter,
    Parameters,
    StatementLike,
    addresses,
    known_elsewhere,
    place_of,
    select,
    warning,
)
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.execution import executor, share
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.falsify import falsify as search
from ratecheck.falsification.fixed import checked
from ratecheck.falsification.not_convex import with_not_convex
from ratecheck.falsification.shrink import left, shrunk
from ratecheck.inputs import whole
from ratecheck.outcome import Outcome
from ratecheck.settings.applicability import check_expectations
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.counterexample import WrittenCounterexample
from ratecheck.views.checks.falsify import (
    again,
    counterexample,
    falsified_fields,
    falsified_table,
    falsified_text,
    outcome_text,
    shown_ratio,
    simplest,
    worst_case_text,
)
from ratecheck.views.numbers import number
from ratecheck.views.progress import progress

if TYPE_CHECKING:
    from ratecheck.falsification.performance_estimation.worst_case import WorstCase
    from ratecheck.proving.prove import PotentialProof

# The worse, the earlier.
_ORDER = (Outcome.VIOLATED, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, eq=False, repr=False)
class FalsifyResult(Result):
    """The results of searches for violating instances, one per statement.

    ``outcome``, ``tightness`` and ``instance`` are those of `search`, the one that comes closest to failing.
    ``stop`` is the interrupt or the termination that ended it early, None where none did, and ``missing`` are the keys
    about which nothing is known because of that. ``proof`` is one at some numbers, where the only search found no
    violation and a proof is found in a tenth of a second; a statement without one may still have one.
    """

    searches: tuple[Falsified, ...]
    several: bool = False
    missing: tuple[str, ...] = ()
    stop: KeyboardInterrupt | None = None
    proof: PotentialProof | None = None

    @property
    def search(self) -> Falsified:
        """The search; of several the one with the worst outcome, and among these the largest left / right side."""

        def rank(each: Falsified) -> tuple[int, bool, float]:
            return _ORDER.index(each.outcome), each.unconfirmed is None, -(each.tightness or 0.0)

        return min(self.searches, key=rank)

    @property
    def outcome(self) -> Outcome:
        """VIOLATED, INCONCLUSIVE where no violation was confirmed, or NOT_APPLICABLE where nothing was evaluated."""
        return self.search.outcome

    @property
    def tightness(self) -> float | None:
        """Left side / right side of the instance, the largest that was found; None where nothing could be evaluated.

        Of a counterexample that was shrunk it is that of its sentence: the search may have seen a larger one.
        """
        return self._ratio

    @cached_property
    def _ratio(self) -> float | None:
        return shown_ratio(self.search)

    @property
    def instance(self) -> Instance | None:
        """The instance with that ratio, a counterexample after it was shrunk.

        Its ``save(path)`` writes it and ``rc.verify(instance=...)`` evaluates it again.
        """
        return simplest(self.search)

    def as_text(self) -> str:
        """The counterexample in one sentence, as the output has it; raises `InputError` where none was found."""
        return self._written.text

    def as_latex(self) -> str:
        """The counterexample in one sentence of LaTeX; raises `InputError` where none was found."""
        return self._written.latex

    @property
    def _written(self) -> WrittenCounterexample:
        found = counterexample(self.search)
        if found is None:
            none = "no violation was found, so there is no counterexample"
            none = (
                "the counterexample is a function given by its values and gradients"
                if self.search.by_function
                else none
            )
            raise InputError(f"{self.search.statement.key}: {none}")
        return found

    def __str__(self) -> str:
        return falsified_table(self.searches) if self.several else falsified_text(self.searches[0], self.proof)

    def _headline(self) -> str:
        largest = "largest " * (self.search.shrunk is None)
        tight = "" if self.tightness is None else f", {largest}left / right {number(self.tightness)}"
        keys = ", ".join(each.statement.key for each in self.searches)
        return f"{keys}: {outcome_text(self.search)}{tight}"

    def _fields(self) -> dict[str, Any]:
        fields = [falsified_fields(each) for each in self.searches]
        return {"searches": fields} if self.several else {**fields[0], "proof": self._proof_fields}

    @property
    def _proof_fields(self) -> dict[str, Any] | None:
        """What is proved at some numbers, as JSON data."""
        if self.proof is None:
            return None
        from ratecheck.views.proofs.prove import proved_fields

        return proved_fields(self.proof)


@dataclass(frozen=True, eq=False, repr=False)
class WorstCaseResult(Result):
    """The largest left side over all smooth functions, enclosed from below and from above, one per statement."""

    cases: tuple[WorstCase, ...]
    several: bool = False

    @property
    def violated(self) -> bool:
        """Whether a checked instance has a larger left side than right side."""
        return any(case.violated for case in self.cases)

    @property
    def undecided(self) -> bool:
        """Whether the two values leave open of a statement which side is larger."""
        return any(case.undecided for case in self.cases)

    def pepit(self) -> str:
        """The text of a program for PEPit that asks for the worst left side anew; `InputError` for several statements.

        It prints the largest left side that PEPit finds, and the right side.
        """
        if len(self.cases) != 1:
            raise InputError(f"a PEPit program is about one statement, not about {len(self.cases)}")
        (found,) = self.cases
        return found.script(again(found))

    def __str__(self) -> str:
        return "\n\n".join(map(worst_case_text, self.cases))

    def _headline(self) -> str:
        return f"{', '.join(case.case.statement.key for case in self.cases)}: {'' if self.violated else 'not '}violated"

    def _fields(self) -> dict[str, Any]:
        fields = [case.to_json() for case in self.cases]
        return fields[0] if len(fields) == 1 and not self.several else {"worst_cases": fields}


@overload
def falsify(
    *statements: StatementLike,
    evaluations: int = 1000,
    seconds: float | None = None,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    out: str | Path | None = None,
    pep: Literal[False] = False,
    shrink: bool = True,
    each: Callable[[FalsifyResult], None] | None = None,
    confirmed: Callable[[FalsifyResult], None] | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> FalsifyResult: ...
@overload
def falsify(
    *statements: StatementLike,
    evaluations: int = 1000,
    seconds: float | None = None,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    out: str | Path | None = None,
    pep: Literal[True],
    shrink: bool = True,
    each: Callable[[FalsifyResult], None] | None = None,
    confirmed: Callable[[FalsifyResult], None] | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> WorstCaseResult: ...
def falsify(
    *statements: StatementLike,
    evaluations: int = 1000,
    seconds: float | None = None,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    out: str | Path | None = None,
    pep: bool = False,
    shrink: bool = True,
    each: Callable[[FalsifyResult], None] | None = None,
    confirmed: Callable[[FalsifyResult], None] | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> FalsifyResult | WorstCaseResult:
    """Search for an instance on which a statement fails, and say how close to failing it comes.

    Parameters
    ----------
    *statements
        As for `verify`.
    evaluations
        Instances to try, at most.
    seconds
        Time after which no new instance is tried, of a search and of its shrinking; the result then depends on the
        machine.
    seed
        Seed of the search; the result is a function of it and of ``evaluations``.
    workers
        Processes that share the statements, where there are several; no result depends on it.
    scheduler
        The address of a Dask scheduler, whose workers share the statements in their place.
    out
        Where the worst instance of a single statement is written, violating or not, a violating one before it is
        shrunk and then again; nothing is written by default.
    pep
        Search nothing: at the numbers given enclose the largest left side over all functions, and noise of two
        opposite values where there is some, between an exactly checked instance and the upper value of a semidefinite
        program.
    shrink
        Make a counterexample that is found as small and its numbers as simple as can be; see `as_latex`.
    each
        Called with the result of every search as soon as there is one.
    confirmed
        Called with a search whose violating instance is about to be shrunk.
    parameters, **named
        Numbers that the search leaves as they are: sizes of the run, noise, step sizes, parameters of the method.
        With ``pep`` the numbers n, K, T, L, F_0, ...

    Raises
    ------
    InputError
        For input that cannot be used, and for a file that cannot be written.

    Examples
    --------
    >>> import ratecheck as rc
    >>> rc.falsify("pfl/theorem-3.7", evaluations=50).outcome.value
    'INCONCLUSIVE'
    """
    chosen = select(statements)
    path = None if out is None else place_of("out", out)
    check_out(path, chosen)
    for one in chosen:
        check_expectations(one, "falsify")
    if pep:
        return _enclosed(chosen, parameters, named, seed)
    whole("workers", workers, 1)
    # What cannot be fixed is said before anything is searched.
    fixed = [checked(each, numbers(parameters, named, each.vocabulary)) for each in chosen]
    tasks = [_Task(*each, Budget(evaluations, seconds), seed, shrink) for each in zip(chosen, fixed, strict=True)]
    told = _Told(each, confirmed, path)
    if scheduler is None and (workers == 1 or len(chosen) == 1):
        found, stop = _searched(tasks, told)
    else:
        found, stop = _shared(tasks, told, workers, scheduler)
    answered = {search.statement.key for search in found}
    missing = tuple(statement.key for statement in chosen if statement.key not in answered)
    unsearched = () if stop is None or not missing else (f"{ending.word(stop)}: not searched: {', '.join(missing)}",)
    remarks = (*unsearched, *(text for statement in chosen for text in warning(statement)))
    instance = simplest(found[0])
    several = len(chosen) > 1
    proof = None if several else _proof(found[0], fixed[0])
    result = FalsifyResult(tuple(found), several, missing, stop, proof, remarks=remarks)
    if path is not None and instance is not None:
        with result.kept():
            instance.save(path)
    return result


def _proof(found: Falsified, fixed: dict[str, float]) -> PotentialProof | None:
    """What is proved with little work of a statement that a whole search has not refuted."""
    if found.outcome is not Outcome.INCONCLUSIVE or found.unconfirmed is not None or found.stopped:
        return None
    from ratecheck.proving.prove import quick_proof

    return quick_proof(found.statement, fixed)


def check_out(path: Path | None, statements: Sequence[Statement]) -> None:
    """Raise `InputError` unless the instance of the statement can be written there."""
    if path is None:
        return
    if len(statements) > 1:
        raise InputError(f"--out {path} is for one statement, not for {len(statements)}")
    files.check_target(path)


@dataclass(frozen=True)
class _Told:
    """Who is told of results, and the file in which a violating instance is kept while it is shrunk."""

    each: Callable[[FalsifyResult], None] | None
    confirmed: Callable[[FalsifyResult], None] | None
    path: Path | None

    def of_result(self, found: Falsified) -> None:
        """A search has ended."""
        if self.each is not None:
            self.each(FalsifyResult((found,)))

    def of_violation(self, found: Falsified) -> None:
        """A violating instance is confirmed, and not shrunk yet."""
        if self.path is not None and found.instance is not None:
            # Where it cannot be written the result says so, with what was found.
            with suppress(InputError):
                found.instance.save(self.path)
        if self.confirmed is not None:
            self.confirmed(FalsifyResult((found,)))


@dataclass(frozen=True)
class _Task:
    """One search."""

    statement: Statement
    fixed: dict[str, float]
    budget: Budget
    seed: int
    shrink: bool

    def shrinks(self, found: Falsified) -> bool:
        """Whether what was found is to be shrunk."""
        return self.shrink and found.by_instance and found.stop is None


def _searched(tasks: list[_Task], told: _Told) -> tuple[list[Falsified], KeyboardInterrupt | None]:
    """The searches that came to an end, or were interrupted, and the interrupt."""
    found: list[Falsified] = []
    try:
        for task in tasks:
            key = task.statement.key
            with progress(f"falsifying {key}") as report:
                found.append(search(task.statement, task.budget, seed=task.seed, report=report, fixed=task.fixed))
            if task.shrinks(found[-1]):
                told.of_violation(found[-1])
                with progress(f"the counterexample to {key}") as report:
                    found[-1] = shrunk(found[-1], report, task.fixed, left(task.budget.seconds, found[-1]))
            elif task.shrink and not task.fixed:
                found[-1] = _not_convex(found[-1], task.budget, task.seed)
            told.of_result(found[-1])
            if found[-1].stop is not None:
                return found, found[-1].stop
    except KeyboardInterrupt as stop:  # between two searches
        if not found:
            raise
        ending.grant()
        return found, stop
    return found, None


def _shared(
    tasks: list[_Task], told: _Told, workers: int, scheduler: str | None
) -> tuple[list[Falsified], KeyboardInterrupt | None]:
    """The searches that came to an end, in the order of the statements, a process for each; and an interrupt.

    Counterexamples are shrunk in processes of their own once all searches have ended, so that they are here by then.
    """
    statements = [task.statement for task in tasks]
    if scheduler is not None:
        known_elsewhere(statements)
    found: dict[int, Falsified] = {}
    violating: list[tuple[int, Falsified]] = []
    stop = None
    with executor(scheduler, workers) as where, progress(f"falsifying {len(tasks)} statements") as report:

        def searched(number: int, search: Falsified) -> None:
            found[number] = replace(search, statement=tasks[number].statement)
            report(len(found) / len(tasks), "searching")
            if tasks[number].shrinks(search):
                violating.append((number, search))
                told.of_violation(found[number])
            else:
                told.of_result(found[number])

        def simplified(place: int, search: Falsified) -> None:
            number = violating[place][0]
            found[number] = replace(search, statement=tasks[number].statement)
            report((place + 1) / len(violating), "shrinking")
            told.of_result(found[number])

        try:
            keys = addresses(statements)
            wanted = [(key, t.budget, t.seed, t.shrink, t.fixed) for key, t in zip(keys, tasks, strict=True)]
            share(_search, wanted, where, searched)
            violating.sort(key=lambda each: each[0])
            share(
                _shrink, [(each, tasks[number].fixed, tasks[number].budget) for number, each in violating], where,
                simplified,
            )  # fmt: skip
        except KeyboardInterrupt as signal:
            if not found:
                raise
            stop = signal
            ending.grant()
    return [found[number] for number in sorted(found)], stop


def _search(key: str, budget: Budget, seed: int, shrink: bool, fixed: dict[str, float]) -> Falsified:
    found = search(bounds.get(key), budget, seed=seed, fixed=fixed)
    return _not_convex(found, budget, seed) if shrink and not found.by_instance and not fixed else found


def _shrink(found: Falsified, fixed: dict[str, float], budget: Budget) -> Falsified:
    return shrunk(found, fixed=fixed, seconds=left(budget.seconds, found))


def _not_convex(found: Falsified, budget: Budget, seed: int) -> Falsified:
    return with_not_convex(found, seed, left(budget.seconds, found))


def _enclosed(
    statements: list[Statement], parameters: Parameters | None, named: Parameters, seed: int
) -> WorstCaseResult:
    from ratecheck.falsification.performance_estimation.pep import UndecidedCaseError
    from ratecheck.falsification.performance_estimation.worst_case import worst_case

    found: list[WorstCase] = []
    remarks = []
    for statement in statements:
        given = numbers(parameters, named, statement.vocabulary)
        try:
            with progress(f"enclosing {statement.key}"):
                found.append(worst_case(statement, given, seed=seed))
        except InputError as error:
            if len(statements) == 1 and not isinstance(error, UndecidedCaseError):
                raise
            remarks.append(f"{statement.key}: {error}")
    remarks += [text for statement in statements for text in warning(statement)]
    return WorstCaseResult(tuple(found), several=len(statements) > 1, remarks=tuple(remarks))
