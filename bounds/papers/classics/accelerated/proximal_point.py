"""The accelerated proximal point method."""

from bounds.papers.classics.accelerated.sequences import theta
from bounds.papers.classics.building import NONSMOOTH, PROXIMAL, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import GULER_ACCELERATED

CLASSICS = (
    classic(
        "fast-proximal-point-values",
        "Accelerated proximal point, values",
        GULER_ACCELERATED("Theorem 2.3"),
        left="gap",
        over="every_round_but_first",
        right="2*lambda_*dist2_0/(t + 1)**2",
        algorithm="fast-proximal-point",
        assumptions=NONSMOOTH,
        settings=PROXIMAL,
        at={"T": 4, "lambda_": 0.5, "dist2_0": 3},
        value=f"lambda_*dist2_0/(2*{theta(2)}**2)",
        standing=Standing.UPPER,
        known_from="Beck, Teboulle (2009), Theorem 4.4 before its sequence is bounded, without a smooth part",
    ),
)
