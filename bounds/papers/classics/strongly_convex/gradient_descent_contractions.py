"""Gradient descent contracts distances, values and gradients."""

from functools import partial

from bounds.papers.classics.building import STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import TAYLOR_PROXIMAL

_contraction = partial(
    classic,
    over="every_round_but_first",
    assumptions=STRONGLY_CONVEX,
    conditions=("gamma_u <= 2/L",),
    standing=Standing.TIGHT,
)

CLASSICS = (
    _contraction(
        "strongly-convex-distances",
        "Gradient descent, distances contract",
        TAYLOR_PROXIMAL("Theorem 3.1"),
        left="dist2",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*dist2_0",
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "dist2_0": 3},
    ),
    _contraction(
        "strongly-convex-values",
        "Gradient descent, values contract",
        TAYLOR_PROXIMAL("Theorem 3.3"),
        left="gap",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*F_0",
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "F_0": 3},
    ),
    _contraction(
        "strongly-convex-gradients",
        "Gradient descent, gradients contract",
        TAYLOR_PROXIMAL("Theorem 3.2"),
        left="G_u",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)*G_u_prev",
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "dist2_0": 3},
        value="0",
        remark="The known value is that of left minus right.",
    ),
)
