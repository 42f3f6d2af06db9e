"""The proximal point method: values, steps and distances."""

from functools import partial

from bounds.papers.classics.building import NONSMOOTH, PROXIMAL, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import GULER, NESTEROV, ROCKAFELLAR, TAYLOR_COMPOSITE

_proximal_point = partial(classic, algorithm="proximal-point", assumptions=NONSMOOTH, settings=PROXIMAL)

CLASSICS = (
    _proximal_point(
        "proximal-point-values",
        "Proximal point, values",
        TAYLOR_COMPOSITE("Theorem 4.1"),
        left="gap",
        over="every_round_but_first",
        right="lambda_*dist2_0/(4*t)",
        at={"T": 5, "lambda_": 0.5, "dist2_0": 3},
        standing=Standing.TIGHT,
    ),
    _proximal_point(
        "proximal-point-values-guler",
        "Proximal point, values, as first printed",
        GULER("Theorem 2.1"),
        left="gap",
        over="every_round_but_first",
        right="lambda_*dist2_0/(2*t)",
        at={"T": 5, "lambda_": 0.5, "dist2_0": 3},
        value="lambda_*dist2_0/(4*t)",
        standing=Standing.TIGHT,
        known_from="Taylor, Hendrickx, Glineur (2017), composite, Theorem 4.1",
    ),
    _proximal_point(
        "proximal-point-steps",
        "Proximal point, the length of a step",
        TAYLOR_COMPOSITE("Section 4.1"),
        left="du2",
        over="every_round",
        right="dist2_0/(t + 1)**2",
        at={"T": 4, "lambda_": 0.5, "dist2_0": 3},
        standing=Standing.NUMERICAL,
    ),
    _proximal_point(
        "proximal-point-nearer",
        "Proximal point, how much nearer a step comes",
        ROCKAFELLAR("Proposition 1"),
        left="nearer",
        over="every_round",
        right="-du2",
        at={"T": 3, "lambda_": 0.5, "dist2_0": 3},
        value="0",
        standing=Standing.TIGHT,
        remark="The known value is that of left minus right.",
    ),
    classic(
        "proximal-point-strongly-convex",
        "Proximal point, distances contract",
        ROCKAFELLAR("Theorem 2"),
        left="dist2",
        over="every_round_but_first",
        right="(lambda_/(lambda_ + mu))**(2*t)*dist2_0",
        algorithm="proximal-point",
        assumptions=("strong_convexity", "full_participation", "no_personal"),
        settings=PROXIMAL,
        at={"T": 4, "lambda_": 0.5, "mu": 0.2, "dist2_0": 3},
        standing=Standing.TIGHT,
        known_from="the quadratic of curvature mu",
    ),
    classic(
        "proximal-point-mean-gradient",
        "Proximal point, gradients of the Moreau envelope",
        NESTEROV("Section 1.2.3"),
        left="grad_F2",
        over="mean_of_rounds",
        right="2*lambda_*F_0/T",
        algorithm="pfedme",
        assumptions=NONSMOOTH,
        settings={**PROXIMAL, "beta": 1},
        step_rules={"eta": "1/lambda_"},
        at={"T": 3, "lambda_": 0.5, "F_0": 3},
        remark="Gradient descent at 1/L on the envelope, which is lambda-smooth, at most f, and has the infimum of f.",
    ),
)
