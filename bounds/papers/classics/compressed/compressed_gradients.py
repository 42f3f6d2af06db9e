"""Compressed SGD and DIANA; omega = 1/q - 1 is the variance of the compression."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import GORBUNOV, KHIRIRAT

CLASSICS = (
    classic(
        "compressed-sgd-gradients",
        "Compressed SGD, squared gradients",
        KHIRIRAT("Section 3"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "2*F_0/(gamma_u*T)",
            "noise": "L*gamma_u*sigma_u**2/(q*n)",
            "compression": "L*gamma_u*(1/q - 1)*b**2/n",
        },
        algorithm="compressed-sgd",
        assumptions=("smoothness", "noise", "dissimilarity", "full_participation", "no_personal"),
        conditions=("gamma_u <= 1/(L*(1 + (1/q - 1)/n))", "q <= 1"),
        settings={"K": 1, "m": "n"},
        trivial="2*L*F_0",
        at={"n": 2, "T": 2, "L": 1, "F_0": 1, "gamma_u": 0.5, "q": 0.5, "sigma_u": 0, "b": 1},
        remark="Constants are those of the descent lemma with E||(1/n) sum_i C(g_i)||^2 <= (1 + omega/n) ||grad f||^2 "
        "+ omega b^2/n + (1 + omega) sigma_u^2/n.",
    ),
    classic(
        "diana-distances",
        "DIANA, distances",
        GORBUNOV("Theorem 4.1, for DIANA"),
        left="dist2",
        over="every_round",
        right="max(1 - gamma_u*mu, 1 - alpha/2)**t*(dist2_0 + 4*(1/q - 1)/(n*alpha)*gamma_u**2*b_star**2)",
        algorithm="diana",
        assumptions=(
            "smoothness",
            "convexity",
            "strong_convexity",
            "minimiser_heterogeneity",
            "full_participation",
            "no_personal",
        ),
        conditions=("gamma_u <= 1/(L*(1 + 6*(1/q - 1)/n))", "alpha <= q", "q <= 1"),
        settings={"K": 1, "m": "n", "sigma_u": 0},
        at={
            "n": 2, "T": 2, "L": 1, "mu": 0.1, "gamma_u": 0.25, "alpha": 0.5, "q": 0.5, "dist2_0": 1, "b_star": 1,
        },
        remark="The h_i are 0 at the start. A = (1 + 2 omega/n) L, B = 2 omega/n, rho = alpha, C = alpha L and "
        "M = 4 omega/(n alpha) in that theorem.",
    ),
)  # fmt: skip
