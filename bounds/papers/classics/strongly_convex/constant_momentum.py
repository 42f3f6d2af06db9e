"""Momentum that is the same in every round."""

from functools import partial

from bounds.papers.classics.building import PLAIN, STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import ASPREMONT, GHADIMI_HEAVY_BALL, VAN_SCOY

_momentum = partial(classic, left="gap", assumptions=STRONGLY_CONVEX, settings=PLAIN)

CLASSICS = (
    _momentum(
        "heavy-ball-values",
        "Heavy ball, values",
        GHADIMI_HEAVY_BALL("Theorem 4"),
        over="every_round_but_first",
        right="(1 - gamma_u*mu)**t*F_0",
        algorithm="polyak-momentum",
        conditions=("gamma_u < 1/L",),
        step_rules={"momentum": "sqrt((1 - gamma_u*mu)*(1 - gamma_u*L))"},
        at={"n": 1, "T": 4, "L": 1, "mu": 0.1, "gamma_u": 0.5, "F_0": 1},
        standing=Standing.UPPER,
    ),
    _momentum(
        "constant-momentum-values",
        "Nesterov's method with constant momentum, values",
        ASPREMONT("Corollary 4.15"),
        over="every_round",
        right="(1 - sqrt(mu/L))**t*(F_0 + mu/2*dist2_0)",
        algorithm="nesterov-momentum",
        step_rules={"gamma_u": "1/L", "momentum": "(sqrt(L) - sqrt(mu))/(sqrt(L) + sqrt(mu))"},
        at={"n": 1, "T": 4, "L": 1, "mu": 0.1, "F_0": 0.5, "dist2_0": 10},
        standing=Standing.UPPER,
    ),
    _momentum(
        "triple-momentum-values",
        "Triple momentum, values",
        VAN_SCOY("Theorem 1"),
        over="every_round",
        right="L/mu*L*dist2_0/2*(1 - sqrt(mu/L))**(2*t)",
        algorithm="triple-momentum",
        step_rules={
            "gamma_u": "(2 - sqrt(mu/L))/L",
            "momentum": "(1 - sqrt(mu/L))**2/(1 + sqrt(mu/L))",
            "lookahead": "(1 - sqrt(mu/L))**2/((2 - sqrt(mu/L))*(1 + sqrt(mu/L)))",
            "extrapolation": "(1 - sqrt(mu/L))**2/(1 - (1 - sqrt(mu/L))**2)",
        },
        at={"n": 1, "T": 3, "L": 1, "mu": 0.1, "dist2_0": 1},
        standing=Standing.NUMERICAL,
    ),
)
