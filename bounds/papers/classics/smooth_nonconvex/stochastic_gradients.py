"""Stochastic gradients of bounded variance on smooth functions."""

from bounds.papers.classics.building import NOISY, classic
from bounds.papers.classics.sources import GHADIMI_LAN

CLASSICS = (
    classic(
        "nonconvex-sgd",
        "SGD, the mean gradient",
        GHADIMI_LAN("Theorem 2.1"),
        left="G_u",
        over="mean_of_rounds",
        right={"start": "2*F_0/(gamma_u*(2 - gamma_u*L)*T)", "noise": "gamma_u*L*sigma_u**2/((2 - gamma_u*L)*n)"},
        assumptions=("smoothness", "noise", "full_participation", "no_personal"),
        conditions=("gamma_u < 2/L",),
        settings=NOISY,
        trivial="2*L*F_0",
        at={"n": 1, "T": 2, "L": 1, "gamma_u": 0.5, "sigma_u": 0.5, "F_0": 1},
    ),
)
