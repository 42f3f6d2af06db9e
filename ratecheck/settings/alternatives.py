"""Statements of the catalogue that apply where another one does not."""

from __future__ import annotations

from collections.abc import Iterator

import bounds
from bounds.statement import Statement
from ratecheck.algorithms import METHODS, Method
from ratecheck.certification.certified_constants import NOISE, CertifiedCase
from ratecheck.certification.uncertified import lacking, required, unmet
from ratecheck.errors import InputError
from ratecheck.participation import Participation, Uniform
from ratecheck.problems import Certificate, Problem
from ratecheck.settings.applicability import certifiable, foreign, unlike
from ratecheck.settings.convexity import not_quadratic

# Statements that are named; of others the number is said.
_NAMED = 4


def instead(
    statement: Statement, problem: Problem, participation: Participation | None, *, any_problem: bool = False
) -> str:
    """A sentence with the statements that apply here, lemmas last, the same method first; empty where none is known.

    Here is a problem, or any where that is a default, and participation, by default as each statement assumes.
    Assumptions are certified as in a
    verdict; what only a run or other numbers could tell is not looked at.
    """
    found = list(_applicable(problem, participation, any_problem=any_problem))
    found.sort(key=lambda each: ("/lemma" in each.key, each.algorithm != statement.algorithm))
    if not found:
        return ""
    more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"statements that apply here: {', '.join(each.key for each in found[:_NAMED])}{more}"


def _runs(method: Method, problem: Problem) -> bool:
    """Whether the method is one for such problems."""
    try:
        method.check_problem(problem)
    except InputError:
        return False
    return True


def _applicable(problem: Problem, participation: Participation | None, *, any_problem: bool) -> Iterator[Statement]:
    pattern = participation or Uniform(problem.n, problem.n)
    case = CertifiedCase(problem, pattern, None)
    for statement in (each for paper in (*bounds.PAPERS, *bounds.BESIDE) for each in bounds.statements(paper)):
        method = METHODS.get(statement.algorithm or "")
        if method is None or statement.order_only or foreign(statement) or not_quadratic(statement.title, problem):
            continue
        algorithm, run = method.algorithm, statement.vocabulary.run
        on_graph = pattern.neighbours is not None if participation else bool(algorithm.mixed)
        fixed = statement.settings.get(run.get("clients", ""))
        if algorithm.bilevel != problem.bilevel or bool(algorithm.mixed) != on_graph:
            continue
        if fixed is not None and fixed != problem.n:
            continue
        if participation and unlike(statement, problem, participation, participation.size or 0):
            continue
        if any_problem:
            yield statement
            continue
        if unmet(statement.assumptions, problem, pattern) or not _runs(method, problem):
            continue
        facts = (case.fact(fact) for fact in certifiable(statement).values() if fact not in NOISE)
        if any(each is None or each.certificate is Certificate.ABSENT for each in facts):
            continue
        if not lacking(required(statement.assumptions, statement.vocabulary, case)):
            yield statement
