"""Halpern's iteration: every step is drawn back to the start."""

from bounds.papers.classics.building import NONSMOOTH, PLAIN, PROXIMAL, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import LIEDER

CLASSICS = (
    classic(
        "halpern-gradients",
        "Halpern's iteration of gradient steps of 2/L",
        LIEDER("Theorem 2.1"),
        left="G_u",
        over="every_round",
        right="L**2*dist2_0/(t + 1)**2",
        algorithm="halpern",
        settings=PLAIN,
        step_rules={"gamma_u": "2/L"},
        at={"n": 1, "T": 4, "L": 2, "dist2_0": 3},
        standing=Standing.TIGHT,
        remark="A gradient step of 2/L is nonexpansive.",
    ),
    classic(
        "halpern-proximal",
        "Halpern's iteration of reflected proximal steps",
        LIEDER("Theorem 2.1"),
        left="grad_F2",
        over="every_round",
        right="lambda_**2*dist2_0/(t + 1)**2",
        algorithm="halpern-proximal",
        assumptions=NONSMOOTH,
        settings=PROXIMAL,
        at={"T": 4, "lambda_": 0.5, "dist2_0": 3},
        standing=Standing.TIGHT,
        remark="A reflected proximal step is nonexpansive; the envelope's gradient is lambda (x - prox(x)).",
    ),
)
