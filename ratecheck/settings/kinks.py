"""Which statements are asked of functions that are quadratic piece by piece."""

from __future__ import annotations

from bounds.statement import Assumption, Statement
from ratecheck.engines.rigorous.piecewise_runs import CHANGES
from ratecheck.settings.applicability import method_of
from ratecheck.settings.setting import wanted


def has_pieces(statement: Statement) -> bool:
    """Whether runs on functions that are quadratic piece by piece are followed exactly, for what it measures."""
    method = method_of(statement)
    return (
        method is not None
        and method.algorithm.asks_gradients
        and method.algorithm.projects is None
        and method.algorithm.linear
        and wanted(statement) <= {*method.algorithm.recorded, "gap", "distance2", *CHANGES}
        and not {Assumption.DRAWN_STEP_SIZES, Assumption.SKEWED_SELECTION} & {*statement.assumptions}
    )
