"""The optimized gradient methods, whose worst cases are the least of all."""

from bounds.papers.classics.accelerated.sequences import last_theta, theta
from bounds.papers.classics.building import PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import KIM_FESSLER, KIM_FESSLER_GRADIENT

CLASSICS = (
    classic(
        "optimized-gradient-values",
        "Optimized gradient method, values",
        KIM_FESSLER("Theorem 2"),
        left="gap",
        over="last_round",
        right="L*dist2_0/(T*(T + sqrt(2)))",
        algorithm="optimized-gradient",
        settings=PLAIN,
        conditions=("T >= 2",),
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 3, "L": 2, "dist2_0": 3},
        value=f"L*dist2_0/(2*{last_theta(theta(1))}**2)",
        standing=Standing.TIGHT,
        known_from="Kim, Fessler (2016), Theorem 2; Drori (2017), Theorem 3, from below",
    ),
    classic(
        "optimized-for-gradient",
        "Optimized gradient method for the gradient",
        KIM_FESSLER_GRADIENT("Theorem 6.1"),
        left="G_u",
        over="last_round",
        right="4*L*F_0/(T*(T + sqrt(2)))",
        algorithm="optimized-for-gradient",
        settings=PLAIN,
        conditions=("T >= 2",),
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "F_0": 3},
        value=f"2*L*F_0/{last_theta(theta(2))}**2",
        standing=Standing.TIGHT,
    ),
)
