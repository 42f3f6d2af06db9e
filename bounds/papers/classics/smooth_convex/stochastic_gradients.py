"""Stochastic gradients of bounded variance on smooth convex functions."""

from bounds.papers.classics.building import NOISY, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import NEMIROVSKI

CLASSICS = (
    classic(
        "sgd-nearer",
        "SGD, how much nearer a step comes",
        NEMIROVSKI("Section 2.1"),
        left="nearer",
        over="every_round",
        right={"gap": "-2*gamma_u*(1 - gamma_u*L)*gap", "noise": "gamma_u**2*sigma_u**2/n"},
        assumptions=("smoothness", "convexity", "noise", "full_participation", "no_personal"),
        conditions=("gamma_u <= 1/L",),
        settings=NOISY,
        at={"n": 1, "T": 2, "L": 1, "gamma_u": 0.5, "sigma_u": 1, "dist2_0": 1},
        value="gamma_u**2*sigma_u**2/n",
        standing=Standing.TIGHT,
        known_from="a constant function, where the left side is the noise alone",
        remark="One line: ||grad f||^2 <= 2 L (f - f*). The known value is that of left plus the gap's term.",
    ),
    classic(
        "sgd-averaged-values",
        "SGD, values of the averaged iterate",
        NEMIROVSKI("Section 2.1"),
        left="gap",
        over="averaged_iterate",
        right={"start": "dist2_0/(2*gamma_u*(1 - gamma_u*L)*T)", "noise": "gamma_u*sigma_u**2/(2*(1 - gamma_u*L)*n)"},
        assumptions=("smoothness", "convexity", "noise", "full_participation", "no_personal"),
        conditions=("gamma_u < 1/L",),
        settings=NOISY,
        at={"n": 1, "T": 3, "L": 1, "gamma_u": 0.25, "sigma_u": 1, "dist2_0": 1},
        remark="The sum of the step's inequality over the rounds, and convexity.",
    ),
)
