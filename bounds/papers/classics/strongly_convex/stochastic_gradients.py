"""Stochastic gradients of bounded variance on strongly convex functions."""

from bounds.papers.classics.building import NOISY, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import POLYAK_BOOK

CLASSICS = (
    classic(
        "sgd-distances",
        "SGD, distances",
        POLYAK_BOOK("Section 2.2"),
        left="dist2",
        over="every_round_but_first",
        right={
            "start": "(1 - gamma_u*mu)**(2*t)*dist2_0",
            "noise": "gamma_u**2*sigma_u**2/n*(1 - (1 - gamma_u*mu)**(2*t))/(1 - (1 - gamma_u*mu)**2)",
        },
        assumptions=("smoothness", "strong_convexity", "noise", "full_participation", "no_personal"),
        conditions=("gamma_u <= 2/(mu + L)",),
        settings=NOISY,
        at={"n": 1, "T": 3, "L": 1, "mu": 0.1, "gamma_u": 0.5, "sigma_u": 1, "dist2_0": 1},
        value=(
            "(1 - gamma_u*mu)**(2*t)*dist2_0"
            " + gamma_u**2*sigma_u**2*(1 - (1 - gamma_u*mu)**(2*t))/(1 - (1 - gamma_u*mu)**2)"
        ),
        standing=Standing.TIGHT,
        known_from="the quadratic of curvature mu, where every step is an equality",
    ),
)
