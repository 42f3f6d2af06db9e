"""Gradients of gradient descent on smooth functions."""

from functools import partial

from bounds.papers.classics.building import SMOOTH, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import ABBASZADEHPEIVASTI, NESTEROV

_nonconvex = partial(classic, left="G_u", assumptions=SMOOTH, trivial="2*L*F_0")

CLASSICS = (
    _nonconvex(
        "nonconvex-best-gradient",
        "Gradient descent, the smallest gradient",
        ABBASZADEHPEIVASTI("Theorem 2"),
        over="best_round",
        right="4*F_0/((T - 1)*gamma_u*(4 - gamma_u*L) + 2/L)",
        conditions=("gamma_u <= 1/L",),
        at={"n": 1, "T": 5, "L": 2, "gamma_u": 0.4, "F_0": 3},
        standing=Standing.TIGHT,
    ),
    _nonconvex(
        "nonconvex-best-gradient-long",
        "Gradient descent, the smallest gradient, steps beyond 1/L",
        ABBASZADEHPEIVASTI("Theorem 2"),
        over="best_round",
        right="4*F_0/((T - 1)*gamma_u*(4 - gamma_u**2*L**2) + 2/L)",
        conditions=("gamma_u >= 1/L", "gamma_u <= sqrt(3)/L"),
        at={"n": 1, "T": 5, "L": 1, "gamma_u": 1.5, "F_0": 1},
        standing=Standing.TIGHT,
    ),
    _nonconvex(
        "nonconvex-mean-gradient",
        "Gradient descent, the mean gradient",
        NESTEROV("Section 1.2.3"),
        over="mean_of_rounds",
        right="2*F_0/(gamma_u*T)",
        conditions=("gamma_u <= 1/L",),
        at={"n": 1, "T": 5, "L": 2, "gamma_u": 0.4, "F_0": 3},
    ),
    classic(
        "nonconvex-step",
        "Gradient descent, how far a step descends",
        NESTEROV("Section 1.2.3"),
        left="fall",
        over="every_round",
        right="-gamma_u*(1 - gamma_u*L/2)*G_u",
        assumptions=SMOOTH,
        at={"n": 1, "T": 2, "L": 2, "gamma_u": 0.4, "F_0": 3},
        value="0",
        standing=Standing.TIGHT,
        known_from="the quadratic of curvature L",
        remark="The known value is that of left minus right.",
    ),
)
