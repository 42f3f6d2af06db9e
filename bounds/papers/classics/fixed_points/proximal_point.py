"""The proximal point method on a maximal monotone operator."""

from bounds.papers.classics.building import MONOTONE, PROXIMAL, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import GU_YANG, KIM_PROXIMAL, ROCKAFELLAR

CLASSICS = (
    classic(
        "monotone-proximal-point-steps",
        "Proximal point on a monotone operator, the length of a step",
        GU_YANG("Theorem 3.1"),
        left="du2",
        over="every_round_but_first",
        right="(t/(t + 1))**t/(t + 1)*dist2_0",
        algorithm="proximal-point",
        assumptions=MONOTONE,
        settings=PROXIMAL,
        at={"T": 4, "lambda_": 0.5, "dist2_0": 3},
        standing=Standing.TIGHT,
    ),
    classic(
        "monotone-proximal-point-accelerated",
        "Accelerated proximal point on a monotone operator",
        KIM_PROXIMAL("Theorem 4.1"),
        left="grad_F2",
        over="every_round",
        right="lambda_**2*dist2_0/(t + 1)**2",
        algorithm="halpern-proximal",
        assumptions=MONOTONE,
        settings=PROXIMAL,
        at={"T": 4, "lambda_": 0.5, "dist2_0": 3},
        standing=Standing.TIGHT,
        remark="Its points are those of Halpern's iteration; grad_F2 is lambda^2 ||x - J x||^2 with the resolvent J.",
    ),
    classic(
        "strongly-monotone-proximal-point",
        "Proximal point on a strongly monotone operator, distances",
        ROCKAFELLAR("Theorem 2"),
        left="dist2",
        over="every_round_but_first",
        right="(lambda_/(lambda_ + mu))**(2*t)*dist2_0",
        algorithm="proximal-point",
        assumptions=("strongly_monotone_operator", "full_participation", "no_personal"),
        settings=PROXIMAL,
        at={"T": 4, "lambda_": 0.5, "mu": 0.2, "dist2_0": 3},
        standing=Standing.TIGHT,
        known_from="the operator mu I",
    ),
)
