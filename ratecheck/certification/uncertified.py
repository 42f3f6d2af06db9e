"""Assumptions of a statement that no problem, participation or run certifies, in words.

What each assumption requires is said in `ratecheck.certification.assumptions`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bounds.assumption import Assumption
from bounds.symbols import Vocabulary
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.saddle import X, Y
from ratecheck.certification.assumptions import CERTIFICATION
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.participation import Participation
from ratecheck.problems import Certificate, Constant, Problem
from ratecheck.problems.constants import UNKNOWN

# Assumptions by which a statement says that it is about operators.
OPERATORS = ", ".join(each.name.lower() for each, entry in CERTIFICATION.items() if entry.operator)


def takes_partial_gradients(algorithm: str | None) -> bool:
    """Whether the method of a statement uses gradients in variables that min-max problems alone have."""
    method = METHODS.get(algorithm or "")
    return method is not None and {*method.algorithm.blocks} == {X, Y}


def may_continue(assumptions: Iterable[Assumption]) -> bool:
    """Whether functions may continue otherwise beyond a run, since none of the assumptions is about points there."""
    return not any(CERTIFICATION[assumption].everywhere for assumption in assumptions)


def of_operators(assumptions: Iterable[Assumption]) -> bool:
    """Whether assumptions are about operators, which need not be gradients, and none is about functions alone."""
    entries = [CERTIFICATION[assumption] for assumption in assumptions]
    return any(entry.operator for entry in entries) and all(entry.operators for entry in entries)


def unmet(assumptions: Iterable[Assumption], problem: Problem, pattern: Participation) -> str | None:
    """Why the problem or the participation is none that a statement with these assumptions is about."""
    return next(_unmet({*assumptions}, problem, pattern), None)


def _unmet(assumptions: set[Assumption], problem: Problem, pattern: Participation) -> Iterator[str]:
    if problem.bilevel:
        return
    single = problem.single
    if wrong := {each for each in assumptions if CERTIFICATION[each].lower_level}:
        yield f"the problem has no lower level, but the statement assumes: {min(a.value for a in wrong)}"
    yield from _of_operators(assumptions, problem)
    if Assumption.NO_PERSONAL in assumptions and single.d_v:
        yield f"the problem has {single.d_v} personal variables, the statement is about none: give shared={problem.d}"
    if Assumption.NO_SHARED in assumptions and single.d_u:
        yield f"the problem has {single.d_u} shared variables, the statement is about none: give shared=0"
    before = {each for each in assumptions if CERTIFICATION[each].drawn_before}
    if pattern.follows_state and before:
        yield f"the participation depends on the run, but the statement assumes: {_named(before)}"


def _of_operators(assumptions: set[Assumption], problem: Problem) -> Iterator[str]:
    """Why a statement about functions does not apply to an operator that is no gradient, or conversely."""
    about = {each for each in assumptions if CERTIFICATION[each].operator}
    if about and problem.single.d_v:
        yield f"the statement is about an operator of shared variables, and the problem has {problem.single.d_v} others"
    if problem.potential:
        return
    if functions := {each for each in assumptions if not CERTIFICATION[each].operators}:
        yield (
            f"the oracle of a {problem.kind} problem answers with an operator that is no gradient, but the statement "
            f"assumes: {_named(functions)}"
        )
    if not about:
        yield (
            f"the oracle of a {problem.kind} problem answers with an operator that is no gradient, and the statement "
            f"does not say that it is about operators: it would assume one of {OPERATORS}"
        )


def _named(assumptions: set[Assumption]) -> str:
    return "; ".join(sorted(assumption.value for assumption in assumptions))


def required(
    assumptions: Iterable[Assumption], vocabulary: Vocabulary, case: CertifiedCase
) -> dict[Assumption, tuple[Constant, ...]]:
    """Requirements of the assumptions that the vocabulary has no symbol for, by the names in messages."""
    facts, called = vocabulary.facts, vocabulary.called
    found = {}
    for assumption in assumptions:
        entry = CERTIFICATION[assumption]
        names = (name for name in assumption.constants if called(name) not in facts and name not in entry.met)
        wanted = {name: entry.facts.get(name, name) for name in names}
        if entry.exists is not None:
            name, fact_of = entry.exists
            wanted[name] = fact_of(case)
        known = ((name, case.fact(fact)) for name, fact in wanted.items())
        found[assumption] = tuple(
            Constant.absent(name, UNKNOWN) if each is None else replace(each, name=name) for name, each in known
        )
    return {assumption: constants for assumption, constants in found.items() if constants}


def lacking(found: Mapping[Assumption, Sequence[Constant]]) -> tuple[str, ...]:
    """The required constants that do not exist or are not certified, in sentences."""
    each = itertools.chain.from_iterable(found.values())
    return tuple(dict.fromkeys(constant.missing for constant in each if constant.certificate is Certificate.ABSENT))
