"""Step sizes that hedge: long ones among short ones."""

from bounds.papers.classics.building import PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import ALTSCHULER_PARRILO

CLASSICS = (
    classic(
        "silver-values",
        "Gradient descent with three silver step sizes, values",
        ALTSCHULER_PARRILO("Theorem 1.1"),
        left="gap",
        over="last_round",
        right="L*dist2_0/(1 + sqrt(4*(1 + sqrt(2))**4 - 3))",
        algorithm="silver",
        settings={**PLAIN, "T": 4},
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "L": 2, "dist2_0": 3},
        standing=Standing.UPPER,
    ),
)
