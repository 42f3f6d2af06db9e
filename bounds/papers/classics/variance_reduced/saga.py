"""SAGA, with one sampled client in every round."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import GORBUNOV

CLASSICS = (
    classic(
        "saga-distances",
        "SAGA, distances",
        GORBUNOV("Theorem 4.1, for SAGA"),
        left="dist2",
        over="every_round",
        right="max(1 - gamma_u*mu, 1 - 1/(2*n))**t*(dist2_0 + 8*n*L*gamma_u**2*F_0)",
        algorithm="saga",
        assumptions=("smoothness", "convexity", "strong_convexity", "uniform_sampling", "no_personal"),
        conditions=("gamma_u <= 1/(6*L)",),
        settings={"K": 1, "m": 1, "sigma_u": 0},
        at={"n": 2, "T": 2, "L": 1, "mu": 0.1, "gamma_u": 0.1, "dist2_0": 1, "F_0": 0.5},
        remark="The memory holds the gradients at the start, (1/n) sum_i ||grad f_i(x^0) - grad f_i(x^*)||^2 <= "
        "2 L F_0. A = 2 L, B = 2, rho = 1/n, C = L/n and M = 4 n in that theorem.",
    ),
)
