"""The piecewise quadratic functions of methods that coefficients do not say, followed step by step."""

from __future__ import annotations

from dataclasses import dataclass

from bounds.statement import Statement
from ratecheck.families.piecewise import PiecewiseQuadratics
from ratecheck.settings.piecewise import has_quiet_steps


@dataclass(frozen=True)
class PiecewiseStepByStep(PiecewiseQuadratics):
    """Functions on which the step engine follows runs whose rounds differ, mix clients or are not linear."""

    def follows(self, statement: Statement) -> bool:
        return has_quiet_steps(statement)


STEP_BY_STEP = PiecewiseStepByStep(
    "piecewise quadratic functions, without noise, step by step",
    "methods whose rounds differ, mix clients on a graph or are not linear, where gradients are bounded or do not grow",
    55, label="2 breakpoints, step by step", quiet=True, noise=False, quadratic=False, linear_far_away=True,
    simulated=False, later=True,
)  # fmt: skip
FAMILIES = (STEP_BY_STEP,)
