"""Gradient descent on quadratics."""

from bounds.papers.classics.building import STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BOUSSELMI

_WORST = "max(mu/L, min(1, 1/(gamma_u*L*(2*t + 1))))"
_VALUE = f"L*dist2_0/2*max({_WORST}*(1 - {_WORST}*gamma_u*L)**(2*t), (1 - gamma_u*L)**(2*t))"

CLASSICS = (
    classic(
        "quadratic-values",
        "Gradient descent on quadratics, values",
        BOUSSELMI("Equation (4.17)"),
        left="gap",
        over="every_round",
        right=_VALUE,
        assumptions=STRONGLY_CONVEX,
        conditions=("gamma_u <= 2/L",),
        at={"n": 1, "T": 4, "L": 2, "mu": 0.2, "gamma_u": 0.4, "dist2_0": 3},
        value=_VALUE,
        standing=Standing.NUMERICAL,
        remark="A conjecture there; the worst curvature is the share of L in the formula.",
    ),
)
