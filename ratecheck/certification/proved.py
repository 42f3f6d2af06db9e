"""Constants in exact numbers of a problem in whichever form it has."""

from __future__ import annotations

from typing import Any

from ratecheck.certification.exact_constants import Proved
from ratecheck.certification.exact_operators import ProvedOperator
from ratecheck.certification.exact_piecewise import ProvedPiecewise
from ratecheck.problems import Problem


def proved(problem: Problem, *, cocoercive: bool, **case: Any) -> Proved:
    """The proved constants of a problem in a ``case``, the other fields of `Proved`.

    ``cocoercive``: L of an operator that is no gradient is the constant of cocoercivity.
    """
    if (saddle := problem.saddle) is not None:
        return ProvedOperator(problem=saddle, cocoercive=cocoercive, **case)
    if (piecewise := problem.equal_clients or problem.pieces) is not None:
        return ProvedPiecewise(problem=piecewise, **case)
    quadratic = problem.quadratic
    assert quadratic is not None
    return Proved(problem=quadratic, **case)
