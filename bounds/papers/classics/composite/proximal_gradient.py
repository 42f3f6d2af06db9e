"""The proximal gradient method and its accelerated forms."""

from __future__ import annotations

from bounds.papers.classics.building import COMPOSITE, PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BECK_TEBOULLE, TAYLOR_COMPOSITE, TAYLOR_PROXIMAL

CLASSICS = (
    classic(
        "proximal-gradient-values",
        "Proximal gradient method, values",
        BECK_TEBOULLE("Theorem 3.1"),
        left="gap",
        over="every_round_but_first",
        right="L*dist2_0/(2*t)",
        algorithm="proximal-gradient",
        assumptions=COMPOSITE,
        settings=PLAIN,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value="L*dist2_0/(4*t)",
        standing=Standing.NUMERICAL,
        known_from="Taylor, Hendrickx, Glineur (2017), composite, Section 4.2",
    ),
    classic(
        "proximal-gradient-distances",
        "Proximal gradient method, distances contract",
        TAYLOR_PROXIMAL("Theorem 3.1"),
        left="dist2",
        over="every_round_but_first",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*dist2_0",
        algorithm="proximal-gradient",
        assumptions=(*COMPOSITE, "strong_convexity"),
        conditions=("gamma_u <= 2/L",),
        settings=PLAIN,
        at={"n": 1, "T": 3, "L": 2, "mu": 0.2, "gamma_u": 0.5, "dist2_0": 3},
        value="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*dist2_0",
        standing=Standing.TIGHT,
    ),
    classic(
        "fast-proximal-gradient-values",
        "FISTA, values",
        BECK_TEBOULLE("Theorem 4.4"),
        left="gap",
        over="every_round_but_first",
        right="2*L*dist2_0/(t + 1)**2",
        algorithm="fast-proximal-gradient",
        assumptions=COMPOSITE,
        settings=PLAIN,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value="2*L*dist2_0/(t + 1)**2",
        standing=Standing.UPPER,
    ),
    classic(
        "fast-proximal-gradient-simplified-values",
        "FISTA with the simplified sequence, values",
        TAYLOR_COMPOSITE("Table 1"),
        left="gap",
        over="every_round_but_first",
        right="2*L*dist2_0/(t**2 + 5*t + 2)",
        algorithm="fast-proximal-gradient-simplified",
        assumptions=COMPOSITE,
        settings=PLAIN,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value="2*L*dist2_0/(t**2 + 5*t + 2)",
        standing=Standing.NUMERICAL,
    ),
)
