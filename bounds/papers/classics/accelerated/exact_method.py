"""The method with the least worst case on strongly convex functions."""

from bounds.papers.classics.accelerated.sequences import exact_sequence
from bounds.papers.classics.building import PLAIN, STRONGLY_CONVEX, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import TAYLOR_DRORI

CLASSICS = (
    classic(
        "item-distances",
        "Information-theoretic exact method, distances",
        TAYLOR_DRORI("Theorem 3"),
        left="dist2",
        over="every_round_but_first",
        right="(1 - sqrt(mu/L))**(2*t)/((1 - sqrt(mu/L))**(2*t) + mu/L)*dist2_0",
        algorithm="item",
        assumptions=STRONGLY_CONVEX,
        conditions=("mu < L",),
        settings=PLAIN,
        step_rules={"gamma_u": "1/L", "conditioning": "mu/L"},
        at={"n": 1, "T": 4, "L": 1, "mu": 0.1, "dist2_0": 1},
        value=f"dist2_0/(1 + mu/L*{exact_sequence(3)})",
        standing=Standing.TIGHT,
    ),
)
