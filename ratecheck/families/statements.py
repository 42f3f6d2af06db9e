"""What a statement says that families depend on: its kind of problem, its variables, its participants, its delays."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from bounds.statement import Assumption, Claim, Statement
from ratecheck.algorithms.model.registered import Method
from ratecheck.certification.certified_constants import DELAYS, MEAN_DELAYS
from ratecheck.certification.uncertified import takes_partial_gradients
from ratecheck.families.family import InstanceShape
from ratecheck.settings import pointwise
from ratecheck.settings.applicability import method_of
from ratecheck.settings.convexity import OF_F, any_sign

# The number of clients up to which each is of its own kind.
FEW = 3
# Assumptions that exclude clients of curvatures of either sign.
_ON_CLIENTS = frozenset({Assumption.CONVEXITY, Assumption.DISSIMILARITY, Assumption.INTERPOLATION})
# Laws by which clients take part according to their weights in the objective.
_BY_WEIGHT = frozenset({Assumption.WEIGHTED_DRAWS, Assumption.WEIGHTED_SUBSETS})
# Summands of one term beyond which it stays in one piece.
_MOST = 8


def summands(claim: Claim) -> tuple[sp.Expr, ...]:
    """The terms of a right side; of a single one its summands, multiplied out where it is a product or a square."""
    terms = tuple(claim.terms.values())
    return terms if len(terms) > 1 else _summands(*terms)


@functools.cache
def _summands(term: sp.Expr) -> tuple[sp.Expr, ...]:
    written = sp.expand_multinomial(term, deep=False)
    for parts in map(sp.Add.make_args, (term, sp.expand_mul(written), written)):
        # What is subtracted is no part of a bound on its own.
        if 1 < len(parts) <= _MOST and all(part.as_coeff_Mul()[0].is_positive for part in parts):
            return tuple(parts)
    return (term,)


def is_bilevel(statement: Statement) -> bool:
    """Whether the statement is about problems with a lower level."""
    method = method_of(statement)
    if method is not None:
        return method.algorithm.bilevel
    names = statement.measured
    return bool(names) and {statement.vocabulary.facts.get(name) for name in names} <= pointwise.NAMES


def of_functions(statement: Statement) -> bool:
    """Whether a statement is about problems of one level, and about gradients in all variables at once."""
    return not (is_bilevel(statement) or takes_partial_gradients(statement.algorithm))


def has_delays(statement: Statement) -> bool:
    """Whether the bound or a condition has a delay in it."""
    facts = statement.vocabulary.facts
    return any(facts.get(name) in (*DELAYS, *MEAN_DELAYS) for name in statement.parameters)


def of_f_alone(statement: Statement) -> bool:
    """Whether f has a minimum by an assumption on f, which says nothing of single clients."""
    assumed, method = {*statement.assumptions}, method_of(statement)
    return bool(assumed & OF_F) and not assumed & _ON_CLIENTS and method is not None and method.shared


def bounds_pair(statement: Statement) -> bool:
    """Whether (G, B) bounds the clients' gradients by that of f, of functions that need not be convex."""
    method, assumed = method_of(statement), {*statement.assumptions}
    alone = Assumption.GB_DISSIMILARITY in assumed and not assumed & _ON_CLIENTS
    return alone and any_sign(statement) and method is not None and method.shared


def weighs(statement: Statement) -> bool:
    """Whether a statement is about clients of any weights in the objective."""
    method = method_of(statement)
    return method is not None and (method.algorithm.own_functions or bool(_BY_WEIGHT & {*statement.assumptions}))


def bounds_dissimilarity(statement: Statement) -> bool:
    """Whether the difference of gradients is bounded, so that clients have shared curvatures in common."""
    return Assumption.DISSIMILARITY in statement.assumptions


def sets_alike(statement: Statement) -> bool:
    """Whether all clients have one function: the statement sets the difference of their gradients to 0."""
    method, facts = method_of(statement), statement.vocabulary.facts
    alone = method is not None and method.shared and not method.personal
    return alone and any(statement.settings.get(name) == 0 for name, fact in facts.items() if fact == "b")


def blocks(statement: Statement) -> list[tuple[int, int]]:
    """Numbers of shared and personal variables that are tried."""
    method = method_of(statement)
    if method is None:
        return [(1, 0), (2, 0)]
    sizes_u = (1, 2, 3) if method.shared and _chooses(method) else (1, 2) if method.shared else (0,)
    sizes_v = (0, 1) if method.personal and method.shared else (1, 2) if method.personal else (0,)
    return list(itertools.product(sizes_u, sizes_v))


def _chooses(method: Method) -> bool:
    """Whether the method may send or move some variables only, so that two of them are few."""
    return not method.algorithm.linear or bool(method.algorithm.compressed)


def chooses_many(statement: Statement) -> bool:
    """Whether the method may move so many of its shared variables that three are few, such as the three largest."""
    method = method_of(statement)
    return method is not None and not method.algorithm.linear and method.shared


def dimension(statement: Statement, fixed: Mapping[str, float]) -> tuple[str, float] | None:
    """The symbol for the number of variables, and the number where it is given or the statement sets it."""
    facts, settings = statement.vocabulary.facts, statement.settings
    for name in (name for name, fact in facts.items() if fact == "dimension"):
        if name in fixed:
            return name, fixed[name]
        if name in settings and settings[name].is_Integer:
            return name, float(settings[name])
    return None


def participants(statement: Statement, n: int) -> Sequence[int]:
    """Numbers of participants that are tried, of n clients."""
    if Assumption.FULL_PARTICIPATION in statement.assumptions:
        return (n,)
    return range(1, n + 1)


def excluded(statement: Statement, shape: InstanceShape) -> bool:
    """Whether the conditions on the number of clients alone are broken."""
    name = statement.vocabulary.run.get("clients", "")
    alone = replace(statement, conditions=tuple(c for c in statement.conditions if c.symbols == {name}))
    return any(check.holds is False for check in alone.check_conditions({name: float(shape.n)}))
