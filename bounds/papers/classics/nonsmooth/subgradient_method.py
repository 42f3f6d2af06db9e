"""The subgradient method: the best, the averaged and the last value."""

from functools import partial

from bounds.papers.classics.building import LIPSCHITZ, PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import BUBECK, NESTEROV, ZAMANI_GLINEUR

_tuned = partial(
    classic,
    left="gap",
    right="M*sqrt(dist2_0)/sqrt(T)",
    assumptions=LIPSCHITZ,
    step_rules={"gamma_u": "sqrt(dist2_0)/(M*sqrt(T))"},
)

CLASSICS = (
    _tuned(
        "subgradient-best-value",
        "Subgradient method, the best value",
        NESTEROV("Section 3.2.3"),
        over="best_round",
        at={"n": 1, "T": 5, "M": 2, "dist2_0": 3},
        standing=Standing.TIGHT,
        known_from="Drori, Teboulle (2016), An optimal variant of Kelley's cutting-plane method, from below",
    ),
    classic(
        "subgradient-best-value-any-step",
        "Subgradient method, the best value, any step size",
        NESTEROV("Section 3.2.3"),
        left="gap",
        over="best_round",
        right="dist2_0/(2*gamma_u*T) + gamma_u*M**2/2",
        assumptions=LIPSCHITZ,
        at={"n": 1, "T": 4, "M": 2, "gamma_u": 0.25, "dist2_0": 3},
    ),
    _tuned(
        "subgradient-averaged-value",
        "Subgradient method, the value of the averaged iterate",
        BUBECK("Theorem 3.2"),
        over="averaged_iterate",
        at={"n": 1, "T": 4, "M": 2, "dist2_0": 3},
        standing=Standing.UPPER,
    ),
    _tuned(
        "subgradient-last-value",
        "Subgradient method with linearly decreasing steps, the last value",
        ZAMANI_GLINEUR("Section 4"),
        over="last_round",
        algorithm="linearly-decreasing-steps",
        settings=PLAIN,
        at={"n": 1, "T": 4, "M": 2, "dist2_0": 3},
        standing=Standing.TIGHT,
    ),
)
