"""Which statements have a worst case that is computed: what is not modelled of one, in words.

Modelled are methods whose clients use gradients or take proximal steps, with shared variables; the symbols of the basic
setting; and a first claim that bounds, in single rounds, the best of them or on average, what a run measures.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from bounds.statement import Assumption, Over, Relation, Statement
from bounds.symbols import COMMON, PREVIOUS, ROUND, Role, Vocabulary, written_out
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.model.algorithm import Algorithm, U
from ratecheck.errors import InputError
from ratecheck.settings.applicability import foreign
from ratecheck.settings.convexity import assumes_convexity, says_quadratic

_ASSUMED = {
    Assumption.SMOOTHNESS,
    Assumption.NOISE,
    Assumption.DISSIMILARITY,
    Assumption.UNIFORM_SAMPLING,
    Assumption.FULL_PARTICIPATION,
    Assumption.NO_PERSONAL,
    Assumption.CONVEXITY,
    Assumption.STRONG_CONVEXITY,
    Assumption.MINIMISER_HETEROGENEITY,
    Assumption.BOUNDED_SUBGRADIENTS,
    Assumption.CONVEX_PART,
    Assumption.MONOTONE_OPERATOR,
    Assumption.COCOERCIVE_OPERATOR,
    Assumption.STRONGLY_MONOTONE_OPERATOR,
}
# Oracles that answer with an operator, which has no values.
OPERATORS = frozenset(
    {Assumption.MONOTONE_OPERATOR, Assumption.COCOERCIVE_OPERATOR, Assumption.STRONGLY_MONOTONE_OPERATOR}
)
NOISE = Assumption.NOISE.constants
# What an adversary respects: smoothness, strong convexity, the gap and the distance to a minimiser at the start,
# dissimilarity, the clients' gradients at the start and at the minimiser, and a bound on all of them.
RESPECTED = {"L", "F_0", "b", "B_0", "distance2_0", "strong_convexity", "minimiser_heterogeneity", "gradient_bound"}
# What is measured at one recorded point, and between it and the next one; the others are recorded by the method.
_AT_POINT = {"gap", "distance2"}
CHANGES = {"change:gap", "change:distance2", "descent", "inner_u", "du2"}
_COMPARED = (
    Over.MEAN_OF_ROUNDS, Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST, Over.LAST_ROUND, Over.AFTER_ROUNDS,
    Over.BEST_ROUND,
)  # fmt: skip
# Claims on all rounds together, whose right side is one number.
TOGETHER = {Over.MEAN_OF_ROUNDS: "a mean over the rounds", Over.BEST_ROUND: "the best round"}
# The oracle that answers with the minimiser of f_i + lambda/2 ||. - x||^2, and its parameter.
PROX = "prox"
WEIGHT = "lambda_"
# The symbols that say how long and how wide a run is.
_RUN = {"clients": "n", "participants": "m", "local_steps": "K", "rounds": "T"}


def oracles(algorithm: Algorithm) -> frozenset[str]:
    """The oracles of the clients of a method: "gradient", "prox"."""
    return frozenset({algorithm.oracle, algorithm.record_oracle})


def proximal(statement: Statement) -> bool:
    """Whether clients of its method take proximal steps."""
    return PROX in oracles(METHODS[statement.algorithm or ""].algorithm)


def assumed_smooth(statement: Statement) -> bool:
    """Whether its functions are L-smooth, or its operator is L-Lipschitz.

    Proximal steps do without that, and steps along bounded subgradients.
    """
    assumptions = {*statement.assumptions}
    smooth = {Assumption.SMOOTHNESS, Assumption.COCOERCIVE_OPERATOR}
    assumed = bool(smooth & assumptions) or "L" in statement.parameters
    bounded = Assumption.BOUNDED_SUBGRADIENTS in statement.assumptions
    return assumed or not (bounded or proximal(statement))


def recorded_variable(algorithm: Algorithm) -> str | None:
    """The shared variable at which quantities are recorded, the server's unless the method names a client's own."""
    return algorithm.point[U] if algorithm.point else next((k for k, b in algorithm.server.items() if b == U), None)


def check_kind(statement: Statement, source: Statement) -> None:
    """Raise `InputError` unless the statement bounds a mean over the rounds of a run that can be deterministic.

    ``source`` is the statement in the symbols in which it was written, which are those of the message.
    """
    if statement.order_only:
        raise InputError(f"{statement.key} is known only up to a constant, so there is nothing to compare with")
    for reason in foreign(source) or _unmodelled(statement):
        raise InputError(f"{statement.key} has no worst case here: {reason}")


def _unmodelled(statement: Statement) -> Iterator[str]:
    """What is not modelled, in words.

    What is: methods whose clients use gradients of smooth functions or take proximal steps, with shared variables,
    of which one is recorded; the symbols of the basic setting for clients, steps, rounds and constants; a first claim
    that bounds, in single rounds, the best of them or on average, what a run measures, linearly on both sides.
    """
    if statement.algorithm is None or statement.algorithm not in METHODS or not METHODS[statement.algorithm].shared:
        yield "it is about no method with a shared variable"
        return
    algorithm = METHODS[statement.algorithm].algorithm
    if proximal(statement) and WEIGHT not in METHODS[statement.algorithm].step_sizes:
        yield f"{statement.method} takes proximal steps without a parameter {WEIGHT}"
    if not algorithm.linear:
        yield f"{statement.method} is not linear"
    if algorithm.beyond:
        yield f"{statement.method} {algorithm.beyond}"
    if (
        algorithm.projects
        or U not in algorithm.blocks
        or not {recorded_variable(algorithm)} & {*algorithm.server, *algorithm.client}
    ):
        yield f"the run of {statement.method} is not modelled"
    if says_quadratic(statement.title):
        yield "its title says that it is about quadratics"
    known = _ASSUMED | ({Assumption.EXACT_INNER} if algorithm.oracle == PROX else set())
    if others := [a.value for a in statement.assumptions if a not in known]:
        yield f"it assumes {'; '.join(others)}"
    yield from _unbounded(statement)
    yield from _without_values(statement)
    yield from _in_two_parts(statement)
    yield from _other_sides(statement)
    yield from other_symbols(statement)


def _unbounded(statement: Statement) -> Iterator[str]:
    """What no function with bounded subgradients is, or is not known to be, in words."""
    if Assumption.BOUNDED_SUBGRADIENTS not in statement.assumptions:
        return
    if Assumption.STRONG_CONVEXITY in statement.assumptions:
        yield "no function is strongly convex and has bounded subgradients"
    if not assumes_convexity(statement):
        yield "bounded subgradients are followed of functions that are assumed to be convex"
    facts, names = statement.vocabulary.facts, names_of_sides(statement)
    if far := sorted(name for name in names if facts.get(name) in {"distance2", "change:distance2"}):
        yield f"a function with bounded subgradients may have many minimisers, and {', '.join(far)} is about one"


def _without_values(statement: Statement) -> Iterator[str]:
    """What an operator has not, or is not known to be, in words."""
    kinds = OPERATORS & {*statement.assumptions}
    if not kinds:
        return
    if len(kinds) > 1 or {Assumption.SMOOTHNESS, Assumption.CONVEXITY, Assumption.STRONG_CONVEXITY} & {
        *statement.assumptions
    }:
        yield "it is about an operator and assumes more of it, which is not modelled together"
    if Assumption.COCOERCIVE_OPERATOR not in kinds and not proximal(statement):
        yield "steps along an operator are followed where it is cocoercive; of others proximal steps"
    facts = facts_of_sides(statement)
    if facts & {"gap", "change:gap", "descent", "F_0", "f"}:
        yield "an operator has no values, of which it speaks"
    if facts & {"distance2", "change:distance2"} and Assumption.STRONGLY_MONOTONE_OPERATOR not in kinds:
        yield "an operator may have many zeros, and it speaks of the distance to one"


def _in_two_parts(statement: Statement) -> Iterator[str]:
    """What is not modelled of a method on two parts of f, or of a statement about such f, in words."""
    algorithm = METHODS[statement.algorithm or ""].algorithm
    composite = Assumption.CONVEX_PART in statement.assumptions
    if composite != (algorithm.second_oracle is not None):
        yield "a second, convex part of f goes with a method that takes proximal steps of it, and only with such a one"
    if not composite:
        return
    if Assumption.SMOOTHNESS not in statement.assumptions or Assumption.NOISE in statement.assumptions:
        yield "beside a convex part the other one is smooth, and its gradients are exact"
    if not assumes_convexity(statement):
        yield "beside a convex part the other one is convex"
    facts = facts_of_sides(statement)
    if facts & {*algorithm.recorded, "descent", "inner_u", "b", "B_0"}:
        yield "f has a second part, which need not be smooth, and it speaks of gradients"


def sides_of(statement: Statement) -> tuple[sp.Expr, sp.Expr]:
    """The left and the right side of the first claim, written out."""
    claim = statement.claims[0]
    return written_out(claim.metric.expr, statement.vocabulary), written_out(claim.bound, statement.vocabulary)


def names_of_sides(statement: Statement) -> set[str]:
    """The symbols in both sides of the first claim."""
    return {symbol.name for side in sides_of(statement) for symbol in side.free_symbols}


def facts_of_sides(statement: Statement) -> set[str]:
    """What the symbols in both sides of the first claim stand for."""
    facts = statement.vocabulary.facts
    return {facts[name] for name in names_of_sides(statement) if name in facts}


def _other_sides(statement: Statement) -> Iterator[str]:
    """What of the first claim is not modelled, in words."""
    vocabulary, claim = statement.vocabulary, statement.claims[0]
    algorithm = METHODS[statement.algorithm or ""].algorithm
    if claim.metric.over not in _COMPARED or claim.relation is not Relation.AT_MOST:
        yield "its first claim bounds neither single rounds nor a mean over them nor the best of them"
    sides = sides_of(statement)
    running = sorted(
        {symbol for side in sides for symbol in side.free_symbols if runs(symbol.name, vocabulary)}, key=str
    )
    # Where each client has a point of its own there is no gap and no distance.
    known = {*algorithm.recorded}
    if recorded_variable(algorithm) in algorithm.server:
        known |= {*_AT_POINT, *CHANGES}
    if unknown := [q.name for q in running if vocabulary.facts.get(q.name, "").removesuffix(PREVIOUS) not in known]:
        yield f"no run records {', '.join(unknown)}"
    if claim.metric.over is not Over.EVERY_ROUND_BUT_FIRST and any(q.name.endswith(PREVIOUS) for q in running):
        yield "it compares a round with the one before, in the first round, too"
    if claim.metric.over in TOGETHER and statement.counts_rounds:
        yield f"its bound on {TOGETHER[claim.metric.over]} depends on the number of the round"
    slopes = [sp.diff(side, symbol) for side in sides for symbol in running]
    if any(symbol in slope.free_symbols for slope in slopes for symbol in running):
        yield "a side is not linear in what is measured along the run"


def other_symbols(statement: Statement) -> list[str]:
    """What the vocabulary calls otherwise than the basic setting, in words."""
    vocabulary = statement.vocabulary
    found = [
        f"{role} are {vocabulary.run[role]} there, not {name}"
        for role, name in _RUN.items()
        if vocabulary.run.get(role, name) != name
    ]
    found += [f"it has no {name}" for name in ("n", "K", "T", "L") if name not in vocabulary]
    found += [
        f"{name} is another quantity there"
        for name in sorted({*RESPECTED, *NOISE})
        if name in vocabulary and vocabulary.facts.get(name) != name
    ]
    steps = METHODS[statement.algorithm or ""].step_sizes
    return found + [
        f"{name} is measured in other units there"
        for name in (*sorted(RESPECTED), *steps)
        if name in vocabulary and name in COMMON and degrees(vocabulary, name) != degrees(COMMON, name)
    ]


def runs(name: str, vocabulary: Vocabulary) -> bool:
    """Whether a symbol is measured along the run, and is not the number of the round."""
    return vocabulary[name].role is Role.MEASURED and vocabulary.facts.get(name) != ROUND


def degrees(vocabulary: Vocabulary, name: str) -> tuple[int, int]:
    """The powers of the units of f and of x in which a symbol is measured."""
    return vocabulary[name].f_degree, vocabulary[name].x_degree
