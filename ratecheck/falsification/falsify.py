"""Search for an instance on which a statement fails, or comes closest to failing.

Inside the assumptions and conditions of the statement (`ratecheck.families`) the slack between the two sides is
minimised (`ratecheck.falsification.cube_search`): first on the corners and at random points of every shape, then by
differential evolution from the best shapes, then by Nelder and Mead's method from the best points. Scouts rank the
points of most shapes in batches; verdicts on the exact engine decide. The search is a function of its seed and its
number of evaluations alone. What it does not find on quadratics is looked for, last, in the worst convex functions of a
few small runs (`ratecheck.falsification.performance_estimation.worst_functions`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bounds.statement import Statement
from ratecheck import ending
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget, CubeSearch, Ended, unsure
from ratecheck.falsification.drawn import RANKED, DrawnSearch
from ratecheck.falsification.falsified import SEARCHED, Falsified, Report
from ratecheck.falsification.fixed import checked
from ratecheck.falsification.searched import Searched
from ratecheck.falsification.shrinking.work import Follow, TooLong, WorkLimit
from ratecheck.falsification.terms import ByTerm, by_term
from ratecheck.falsification.unconfirmed import larger
from ratecheck.families.cube import Cube
from ratecheck.families.registry import drawn_shapes, later_shapes, shapes
from ratecheck.families.statements import FEW
from ratecheck.inputs import whole
from ratecheck.outcome import Outcome
from ratecheck.settings.applicability import check_expectations, foreign, method_of
from ratecheck.settings.convexity import any_sign

# Slack, tightness 1/2, up to which families that are searched last are tried further.
_WORTH = 1 / 3
# Slack, tightness 4/5, up to which linear methods are tried further where runs are drawn.
_NEAR = 1 / 9
# Evaluations on runs that are drawn, by those of the families that are searched last.
_DRAWN = 4


def falsify(
    statement: Statement,
    budget: Budget = Budget(),
    *,
    seed: int = 0,
    report: Report | None = None,
    fixed: Mapping[str, float] | None = None,
) -> Falsified:
    """The instance with the least slack; see `Falsified`.

    Numbers that are ``fixed`` (sizes, noise, step sizes, parameters of the method) are those of every instance; terms
    and worst functions are not searched then.
    ``report`` receives the share of the budget that is spent and the best so far. An interrupt ends the search with the
    best instance found. Raises `InputError` for statements without a value and for methods that have no family.
    """
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so nothing can contradict it")
    if reasons := foreign(statement):
        return Falsified(statement, None, None, None, 0, 0, 0.0, reasons=reasons)
    whole("seed", seed, 0)
    check_expectations(statement, "the search")
    numbers = checked(statement, fixed or {})
    cubes = [Cube(statement, shape, numbers) for shape in shapes(statement, numbers)]
    told = report or (lambda *_: None)
    searching: Report = lambda share, text: told(share, ", ".join(filter(None, ("searching", text))))  # noqa: E731
    search = CubeSearch(statement, budget, SEARCHED, searching, budget.clock())
    # Whether runs may be of more rounds than one.
    search.longer = numbers.get(statement.vocabulary.run.get("rounds", "")) != 1
    stopped = _run(search, cubes, np.random.default_rng(seed), search)
    reasons = tuple(sorted(search.reasons, key=lambda r: -search.reasons[r]))[:3]
    spent = search.budget.clock() - search.begun
    found = Falsified(
        statement,
        None,
        None,
        None,
        search.evaluations,
        search.meeting,
        spent,
        stopped,
        reasons,
        zero=search.zero,
        scouted=search.scouted,
    )
    found = _with_best(found, search)
    found = found if search.best is None or found.few else replace(found, reasons=())
    found = replace(
        found,
        independent=search.independent,
        searched=Searched.of(statement, cubes),
        unconfirmed=search.unconfirmed,
    )
    if numbers:
        return found
    if budget.by_term and not stopped and not found.by_instance:
        found = _with_terms(found, seed, search, told, budget)
    if budget.later and not (found.stopped or found.by_instance):
        found = _with_later(found, seed, search, cubes, told)
    if budget.functions and not (any_sign(statement) or found.stopped or found.by_instance):
        found = _with_functions(found, seed, search, told, budget)
    found = _with_drawn(found, seed, search, cubes, told)
    # One violation that is confirmed decides, whatever else is open.
    return replace(found, unconfirmed=None, reasons=()) if found.outcome is Outcome.VIOLATED else found


def falsify_to_the_end(statement: Statement, budget: Budget, *, seed: int = 0) -> Falsified:
    """`falsify` as a part of a longer computation, which an interrupt of the search ends, too."""
    found = falsify(statement, budget, seed=seed)
    if found.stop is not None:
        raise found.stop
    return found


def _with_later(found: Falsified, seed: int, before: CubeSearch, others: list[Cube], told: Report) -> Falsified:
    """With a violating instance of the families that are searched last, if there is one.

    It is a search of its own, so that what the other finds does not depend on it.
    """
    statement, budget = before.statement, before.budget
    searched = {cube.shape for cube in others}
    cubes = [Cube(statement, shape) for shape in later_shapes(statement) if shape not in searched]
    if not cubes:
        return found
    told(1.0, "piecewise quadratic functions")
    most = min(budget.later, budget.evaluations)
    search = CubeSearch(statement, replace(budget, evaluations=most), before.options, lambda *_: None, before.begun)
    search.worth = _WORTH
    if stopped := _run(search, cubes, np.random.default_rng([seed, len(others)]), before):
        return replace(found, stopped=stopped)
    others += cubes
    found = _also(found, search, others)
    return _with_best(found, search) if search.violated else found


def _with_drawn(found: Falsified, seed: int, before: CubeSearch, others: list[Cube], told: Report) -> Falsified:
    """With a violating instance of which runs are drawn, if there is one."""
    statement, budget = before.statement, before.budget
    decided = not budget.later or found.stopped or found.outcome is Outcome.VIOLATED
    cubes = [] if decided else _drawn_cubes(found, others)
    if not cubes:
        return found
    told(1.0, "runs that are drawn")
    most = min(_DRAWN * budget.later, budget.evaluations)
    search = DrawnSearch(statement, replace(budget, evaluations=most), RANKED, lambda *_: None, before.begun)
    method = method_of(statement)
    if method is not None and method.algorithm.linear and found.verdict is not None:
        # On quadratics such runs are known without being drawn.
        search.worth = _NEAR
    if stopped := _run(search, cubes, np.random.default_rng([seed, _DRAWN]), before):
        return replace(found, stopped=stopped)
    if found.verdict is None:
        search.hardest()
    if found.verdict is None and search.best is not None:
        found = replace(found, applicable=max(found.applicable, search.applicable), reasons=())
    return _with_best(_also(found, search, [*others, *cubes]), search)


def _run(search: CubeSearch, cubes: list[Cube], rng: np.random.Generator, first: CubeSearch) -> str:
    """What stopped a search of cubes before its evaluations were spent; empty where nothing did.

    The answer counts the evaluations of the ``first`` of the searches, which may be this one.
    """
    try:
        with ending.as_told():
            search.all(cubes, rng)
    except Ended:
        if search.late and search.spent < search.most and not search.violated:
            return _by_clock(first.budget, first.evaluations)
    except KeyboardInterrupt as stop:
        ending.grant()
        return ending.word(stop)
    return ""


def _also(found: Falsified, search: CubeSearch, cubes: list[Cube]) -> Falsified:
    """With the time of another search, what it searched with those before, and what it did not confirm."""
    return replace(
        found,
        searched=Searched.of(found.statement, cubes),
        seconds=search.budget.clock() - search.begun,
        unconfirmed=larger(found.unconfirmed, search.unconfirmed),
    )


def _with_best(found: Falsified, search: CubeSearch) -> Falsified:
    """With the best instance of a search, if it has one."""
    if search.best is None:
        return found
    _, instance, verdict, shape = search.best
    return replace(found, instance=instance, verdict=verdict, shape=shape)


def _drawn_cubes(found: Falsified, others: list[Cube]) -> list[Cube]:
    """Where runs are drawn: of few clients everywhere, if of all that was tried nothing is known without many runs."""
    cubes = [Cube(found.statement, shape) for shape in drawn_shapes(found.statement)]
    more = others if found.verdict is None else []
    return [*cubes, *(cube for cube in more if cube.family.noise and cube.shape.n <= FEW)]


def _with_functions(found: Falsified, seed: int, search: CubeSearch, told: Report, budget: Budget) -> Falsified:
    """With the worst convex functions of small runs."""
    if search.late:
        return replace(found, stopped=_by_clock(budget, found.evaluations))
    # Imported here: many searches end without these programs.
    from ratecheck.falsification.performance_estimation.worst_functions import worst_functions

    told(1.0, "worst functions")
    try:
        with ending.as_told():
            functions = worst_functions(found.statement, seed)
    except KeyboardInterrupt as stop:
        ending.grant()
        return replace(found, stopped=ending.word(stop))
    return replace(
        found,
        functions=functions,
        seconds=search.budget.clock() - search.begun,
        unconfirmed=larger(found.unconfirmed, functions.unconfirmed),
    )


def _with_terms(found: Falsified, seed: int, search: CubeSearch, told: Report, budget: Budget) -> Falsified:
    """With what is found where each term decides the bound; an instance that is tighter takes the search's place."""
    told(0.0, "term by term")
    try:
        with ending.as_told():
            terms = by_term(
                found.statement.written,
                seed=seed,
                report=lambda share: told(share, "term by term"),
                late=lambda: search.late,
            )
            found = replace(found, terms=terms, unconfirmed=larger(found.unconfirmed, terms.unconfirmed))
            told(1.0, "confirming")
            hardest = _tighter(found, terms)
    except KeyboardInterrupt as stop:
        ending.grant()
        return replace(found, stopped=ending.word(stop))
    if search.late and not hardest.by_instance:
        hardest = replace(hardest, stopped=_by_clock(budget, found.evaluations))
    return replace(hardest, seconds=search.budget.clock() - search.begun)


def _tighter(found: Falsified, terms: ByTerm) -> Falsified:
    """With the hardest instance of the niches, where `verify` agrees that it is tighter; or with a violation of one."""
    if terms.violation is not None:
        # `verify` has answered.
        return replace(found, instance=terms.violation.instance, verdict=terms.violation.answer, shape=None)
    if (hard := terms.hardest) is None or (instance := hard.instance()) is None:
        return found
    # What a niche says is known already: a confirmation is not worth a hundred times the search.
    rounds = hard.values.get(found.statement.vocabulary.run.get("rounds", ""), 1)
    follow = Follow(WorkLimit(math.inf), rounds)
    try:
        verdict = instance.verdict(replace(SEARCHED, rigorous=True), progress=follow)
    except (InputError, TooLong):
        return found
    other = replace(found, instance=instance, verdict=verdict, shape=None)
    if verdict.outcome is Outcome.VIOLATED and verdict.supposes:
        return replace(found, unconfirmed=larger(found.unconfirmed, unsure(instance, verdict)))
    if found.verdict is None or other.by_instance:
        return other if verdict.worst is not None else found
    return other if (other.tightness or 0.0) > (found.tightness or 0.0) else found


def _by_clock(budget: Budget, spent: int) -> str:
    return (
        f"stopped by the clock of {budget.seconds:g} s after {spent} of {budget.evaluations} evaluations: the answer "
        "depends on this machine's speed"
    )
