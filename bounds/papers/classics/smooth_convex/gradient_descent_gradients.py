"""Gradients of gradient descent, from the distance and from the gap at the start."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import NESTEROV, ROTARU, TAYLOR_SMOOTH

CLASSICS = (
    classic(
        "gradient-descent-gradients",
        "Gradient descent, gradients from the distance",
        TAYLOR_SMOOTH("Section 4.1"),
        left="G_u",
        over="every_round",
        right="L**2*dist2_0/(gamma_u*L*t + 1)**2",
        conditions=("gamma_u <= 1/L",),
        at={"n": 1, "T": 6, "L": 2, "gamma_u": 0.4, "dist2_0": 3},
        standing=Standing.NUMERICAL,
    ),
    classic(
        "gradient-descent-gradients-from-gap",
        "Gradient descent, gradients from the gap",
        ROTARU("convex functions"),
        left="G_u",
        over="every_round",
        right="2*L*F_0/(2*gamma_u*L*t + 1)",
        conditions=("gamma_u <= 1/L",),
        at={"n": 1, "T": 6, "L": 2, "gamma_u": 0.4, "F_0": 3},
        standing=Standing.TIGHT,
    ),
    classic(
        "gradient-descent-gradients-fall",
        "Gradient descent, gradients never grow",
        NESTEROV("Theorem 2.1.5"),
        left="G_u",
        over="every_round_but_first",
        right="G_u_prev",
        conditions=("gamma_u <= 2/L",),
        at={"n": 1, "T": 4, "L": 2, "gamma_u": 0.9, "dist2_0": 3},
        value="0",
        standing=Standing.TIGHT,
        remark="By cocoercivity, which is that theorem.",
    ),
)
