"""Distances of gradient descent to the minimiser, which never grow."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import NESTEROV

CLASSICS = (
    classic(
        "gradient-descent-distances",
        "Gradient descent, distances",
        NESTEROV("Theorem 2.1.14, proof"),
        left="dist2",
        over="every_round_but_first",
        right="dist2_0",
        conditions=("gamma_u <= 2/L",),
        at={"n": 1, "T": 2, "L": 2, "gamma_u": 0.4, "dist2_0": 3},
        standing=Standing.TIGHT,
    ),
    classic(
        "gradient-descent-nearer",
        "Gradient descent, how much nearer a step comes",
        NESTEROV("Theorem 2.1.14, proof"),
        left="nearer",
        over="every_round",
        right="-gamma_u*(2/L - gamma_u)*G_u",
        at={"n": 1, "T": 3, "L": 2, "gamma_u": 0.4, "dist2_0": 3},
        value="0",
        standing=Standing.TIGHT,
        remark="The known value is that of left minus right.",
    ),
)
