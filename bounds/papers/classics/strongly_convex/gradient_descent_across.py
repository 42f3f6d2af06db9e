"""Gradient descent, one quantity at the end from another at the start."""

from functools import partial

from bounds.papers.classics.building import STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import TAYLOR_SMOOTH

_conjecture = partial(
    classic,
    over="every_round",
    assumptions=STRONGLY_CONVEX,
    conditions=("gamma_u < 2/L",),
    standing=Standing.NUMERICAL,
    remark="A conjecture there.",
)

CLASSICS = (
    _conjecture(
        "strongly-convex-values-from-distance",
        "Gradient descent, values from the distance",
        TAYLOR_SMOOTH("Section 4.1"),
        left="gap",
        right="L*dist2_0/2*max(mu/(mu - L + L*(1 - gamma_u*mu)**(-2*t)), (1 - gamma_u*L)**(2*t))",
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "dist2_0": 3},
    ),
    _conjecture(
        "strongly-convex-gradients-from-distance",
        "Gradient descent, gradients from the distance",
        TAYLOR_SMOOTH("Section 4.1"),
        left="G_u",
        right="L**2*dist2_0*max((mu/(mu - L + L*(1 - gamma_u*mu)**(-t)))**2, (1 - gamma_u*L)**(2*t))",
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "dist2_0": 3},
        value="L**2*dist2_0*(mu/(mu - L + L*(1 - gamma_u*mu)**(-t)))**2",
    ),
    _conjecture(
        "strongly-convex-gradients-from-gap",
        "Gradient descent, gradients from the gap",
        TAYLOR_SMOOTH("Section 4.1"),
        left="G_u",
        right="2*L*F_0*max(mu/(mu - L + L*(1 - gamma_u*mu)**(-2*t)), (1 - gamma_u*L)**(2*t))",
        at={"n": 1, "T": 4, "L": 2, "mu": 0.4, "gamma_u": 0.4, "F_0": 3},
    ),
)
