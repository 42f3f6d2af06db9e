"""What a statement assumes that no problem, participation or run certifies, in words.

A constant enters through its certificate (`ratecheck.certification.certified_constants`). Here is what an assumption
needs besides: a kind of problem, blocks of variables that are absent, a method of a kind, a participation that is
drawn beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from bounds.statement import Assumption, Over, Statement
from ratecheck.algorithms import METHODS
from ratecheck.certification.certified_constants import CertifiedCase
from ratecheck.participation import Participation
from ratecheck.problems import Bilevel, Certificate, Problem

# Assumptions that no certificate exists for.
_OPEN = {Assumption.BOUNDED_GRADIENTS, Assumption.QUOTED}
# Those about vectors that a claim about no run draws.
_OF_VECTORS = {Assumption.INDEPENDENT_SAMPLING, Assumption.MARTINGALE}
_OF_BILEVEL = {
    Assumption.LOWER_LEVEL,
    Assumption.BILEVEL_LIPSCHITZ,
    Assumption.BILEVEL_NOISE,
    Assumption.LOWER_HETEROGENEITY,
    Assumption.LOCAL_WEIGHTS,
    Assumption.BALL,
    Assumption.EVERY_SAMPLE,
}
# Those about the problems that each client solves in a round, by the parameter of the method that they are made of.
_OF_INNER = {
    Assumption.INNER_CONVEXITY,
    Assumption.INNER_ACCURACY,
    Assumption.EXACT_INNER,
    Assumption.DUAL_START,
    Assumption.SKEWED_SELECTION,
}
_INNER = "lambda_"
_DRAWN_BEFORE = {Assumption.OBLIVIOUS_PARTICIPATION, Assumption.UNBIASED_SELECTION, Assumption.UNIFORM_SUBSETS}
# What bounds a constant that an assumption defines, where the vocabulary has no symbol for it.
_FACTS = {"mu": "inner_convexity", "eps_max": "inner_error", "gamma_bar": "selection_skew"}


def uncertifiable(statement: Statement) -> tuple[str, ...]:
    """Assumptions that nothing certifies, whatever the problem."""
    return tuple(
        f"nothing certifies its assumption: {assumption.value}"
        for assumption in statement.assumptions
        if assumption in _OPEN or not _fits(statement, assumption)
    )


def _fits(statement: Statement, assumption: Assumption) -> bool:
    """Whether the assumption can be true of the statement's method."""
    method = METHODS.get(statement.algorithm or "")
    kinds = () if method is None else method.algorithm.problem_kinds
    if assumption in _OF_BILEVEL and method is not None:
        return Bilevel.kind in kinds
    if assumption in _OF_INNER:
        return method is not None and _INNER in method.algorithm.step_sizes
    if assumption in _OF_VECTORS:
        return all(claim.metric.over is Over.NO_RUN for claim in statement.claims)
    return True


def unmet(statement: Statement, problem: Problem, pattern: Participation) -> str | None:
    """Why the problem or the participation is none that the statement is about."""
    return next(_unmet(statement, problem, pattern), None)


def _unmet(statement: Statement, problem: Problem, pattern: Participation) -> Iterator[str]:
    assumptions = {*statement.assumptions}
    if isinstance(problem, Bilevel):
        return
    if wrong := assumptions & _OF_BILEVEL:
        yield f"the problem has no lower level, but the statement assumes: {min(a.value for a in wrong)}"
    if Assumption.NO_PERSONAL in assumptions and problem.d_v:
        yield f"the problem has {problem.d_v} personal variables, the statement is about none: give shared={problem.d}"
    if Assumption.NO_SHARED in assumptions and problem.d_u:
        yield f"the problem has {problem.d_u} shared variables, the statement is about none: give shared=0"
    if pattern.follows_state and assumptions & _DRAWN_BEFORE:
        yield f"the participation depends on the run, but the statement assumes: {_named(assumptions & _DRAWN_BEFORE)}"


def _named(assumptions: set[Assumption]) -> str:
    return "; ".join(sorted(assumption.value for assumption in assumptions))


def lacking(statement: Statement, case: CertifiedCase) -> tuple[str, ...]:
    """Constants of the assumptions that the vocabulary has no symbol for, and that do not exist on the case."""
    facts = statement.vocabulary.facts
    names = [name for assumption in statement.assumptions for name in assumption.constants]
    wanted = {name: _FACTS.get(name, name) for name in names if name not in facts and name not in _OF_RUN}
    if Assumption.BOUNDED_BELOW in statement.assumptions:
        below = "Phi_gap" if isinstance(case.problem, Bilevel) else "F_0"
        wanted["a lower bound"] = "joint_minimum" if "lambda_" in case.parameters else below
    found = []
    for name, fact in wanted.items():
        constant = case.fact(fact)
        if constant is None:
            found.append(f"{name} is not certified: problems of this kind know no such constant")
        elif constant.certificate is Certificate.ABSENT or math.isinf(constant.value):
            found.append(f"{name} does not exist: {constant.reason}")
    return tuple(found)


# Settings of the run, and noise, which a run without it meets.
_OF_RUN = {"tau_bar", "sigma", "sigma_u", "sigma_v", "sigma_f", "sigma_g", "sigma_gg", "delta"}
