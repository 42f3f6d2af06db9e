"""Statements that are evaluated on piecewise quadratic functions."""

from __future__ import annotations

from bounds.statement import Assumption, Statement
from ratecheck.engines.rigorous.mean_field_runs import without_memory
from ratecheck.problems.piecewise_quadratic.piecewise import CHANGES
from ratecheck.problems.piecewise_quadratic.piecewise_samples import RECORDED
from ratecheck.settings.applicability import LAWS, method_of

_OTHER_RUNS = frozenset({Assumption.DRAWN_STEP_SIZES, Assumption.SKEWED_SELECTION})


def has_pieces(statement: Statement) -> bool:
    """Whether runs on piecewise quadratic functions are followed exactly for what the statement measures."""
    method = method_of(statement)
    return method is not None and method.algorithm.tabled and has_runs(statement)


def has_quiet_steps(statement: Statement) -> bool:
    """Whether such runs are followed by the step engine alone, and nothing in them is random without noise.

    The method has rounds of different kinds, mixes clients on a graph, evaluates several gradients, or is not linear.
    """
    method = method_of(statement)
    return (
        method is not None
        and not (method.algorithm.tabled or method.algorithm.compressed or method.algorithm.coin)
        and not method.algorithm.second_oracle
        and Assumption.RESHUFFLED_BLOCKS not in statement.assumptions
        and has_runs(statement)
    )


def has_runs(statement: Statement) -> bool:
    """Whether runs use gradients alone, and record what the statement measures."""
    method = method_of(statement)
    return (
        method is not None
        and method.algorithm.asks_gradients
        and method.algorithm.projects is None
        and statement.recorded <= {*method.algorithm.recorded, *method.algorithm.measures, "gap", "distance2", *CHANGES}
        and not _OTHER_RUNS & {*statement.assumptions}
    )


def has_noisy_pieces(statement: Statement) -> bool:
    """Whether the statement bounds noise, and runs of equal clients with noise on piecewise quadratics are enclosed.

    All clients participate in such runs; the statement may have a law of the number of participants.
    """
    method, assumed = method_of(statement), {*statement.assumptions}
    levels = {name for name, fact in statement.vocabulary.facts.items() if fact in ("sigma_u", "sigma")}
    return (
        method is not None
        and method.shared
        and without_memory(method.algorithm)
        and bool(levels - statement.settings.keys())
        and statement.recorded <= RECORDED
        and bool(assumed & {Assumption.FULL_PARTICIPATION, *LAWS})
        and not _OTHER_RUNS & assumed
        and Assumption.INDEPENDENT_PARTICIPATION not in assumed
    )
