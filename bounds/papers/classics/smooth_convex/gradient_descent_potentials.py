"""Potentials that gradient descent does not increase."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BANSAL_GUPTA, TAYLOR_BACH

CLASSICS = (
    classic(
        "gradient-descent-potential-values",
        "Gradient descent, the potential t (f - f*) + L/2 ||x - x*||^2",
        BANSAL_GUPTA("Theorem 3.3"),
        left="dist2",
        over="every_round_but_first",
        right="dist2_prev + 2*(t - 1)/L*gap_prev - 2*t/L*gap",
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value="0",
        standing=Standing.TIGHT,
        remark="The potential before and after a round. The known value is that of left minus right.",
    ),
    classic(
        "gradient-descent-potential-gradients",
        "Gradient descent, the potential with gradients",
        TAYLOR_BACH("Theorem 3"),
        left="dist2",
        over="every_round_but_first",
        right=(
            "dist2_prev + (2*t - 1)/L*gap_prev + (t - 1)*(t + 1)/L**2*G_u_prev - (2*t + 1)/L*gap - t*(t + 2)/L**2*G_u"
        ),
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value="0",
        standing=Standing.TIGHT,
        remark="(2t + 1) L (f - f*) + t (t + 2) ||grad f||^2 + L^2 ||x - x*||^2, divided by L^2.",
    ),
)
