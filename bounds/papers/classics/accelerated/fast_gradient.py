"""Nesterov's fast gradient method."""

from bounds.papers.classics.accelerated.sequences import theta
from bounds.papers.classics.building import PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BECK_TEBOULLE, TAYLOR_COMPOSITE

CLASSICS = (
    classic(
        "fast-gradient-values",
        "Fast gradient method, values",
        BECK_TEBOULLE("Theorem 4.4"),
        left="gap",
        over="every_round",
        right="2*L*dist2_0/(t + 1)**2",
        algorithm="fast-gradient",
        settings=PLAIN,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value=f"L*dist2_0/(2*{theta(2)}**2)",
        standing=Standing.UPPER,
        known_from="Beck, Teboulle (2009), Theorem 4.4 before its sequence is bounded",
    ),
    classic(
        "fast-gradient-simplified-values",
        "Fast gradient method, simplified, values",
        TAYLOR_COMPOSITE("Table 1"),
        left="gap",
        over="every_round_but_first",
        right="2*L*dist2_0/(t**2 + 5*t + 6)",
        algorithm="fast-gradient-simplified",
        settings=PLAIN,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        standing=Standing.NUMERICAL,
    ),
)
