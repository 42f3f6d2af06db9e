"""The proximal gradient method and its accelerated forms."""

from functools import partial

from bounds.papers.classics.building import COMPOSITE, PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BECK_TEBOULLE, TAYLOR_COMPOSITE, TAYLOR_PROXIMAL

_later = partial(classic, over="every_round_but_first", settings=PLAIN)

CLASSICS = (
    _later(
        "proximal-gradient-values",
        "Proximal gradient method, values",
        BECK_TEBOULLE("Theorem 3.1"),
        left="gap",
        right="L*dist2_0/(2*t)",
        algorithm="proximal-gradient",
        assumptions=COMPOSITE,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        value="L*dist2_0/(4*t)",
        standing=Standing.NUMERICAL,
        known_from="Taylor, Hendrickx, Glineur (2017), composite, Section 4.2",
    ),
    _later(
        "proximal-gradient-distances",
        "Proximal gradient method, distances contract",
        TAYLOR_PROXIMAL("Theorem 3.1"),
        left="dist2",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*dist2_0",
        algorithm="proximal-gradient",
        assumptions=(*COMPOSITE, "strong_convexity"),
        conditions=("gamma_u <= 2/L",),
        at={"n": 1, "T": 3, "L": 2, "mu": 0.2, "gamma_u": 0.5, "dist2_0": 3},
        standing=Standing.TIGHT,
    ),
    _later(
        "fast-proximal-gradient-values",
        "FISTA, values",
        BECK_TEBOULLE("Theorem 4.4"),
        left="gap",
        right="2*L*dist2_0/(t + 1)**2",
        algorithm="fast-proximal-gradient",
        assumptions=COMPOSITE,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        standing=Standing.UPPER,
    ),
    _later(
        "fast-proximal-gradient-simplified-values",
        "FISTA with the simplified sequence, values",
        TAYLOR_COMPOSITE("Table 1"),
        left="gap",
        right="2*L*dist2_0/(t**2 + 5*t + 2)",
        algorithm="fast-proximal-gradient-simplified",
        assumptions=COMPOSITE,
        step_rules={"gamma_u": "1/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        standing=Standing.NUMERICAL,
    ),
    _later(
        "proximal-gradient-values-contract",
        "Proximal gradient method, values contract",
        TAYLOR_PROXIMAL("Theorem 3.3"),
        left="gap",
        right="max((1 - gamma_u*L)**2, (1 - gamma_u*mu)**2)**t*F_0",
        algorithm="proximal-gradient",
        assumptions=(*COMPOSITE, "strong_convexity"),
        conditions=("gamma_u <= 2/L",),
        at={"n": 1, "T": 3, "L": 2, "mu": 0.2, "gamma_u": 0.5, "F_0": 3},
        standing=Standing.TIGHT,
    ),
)
