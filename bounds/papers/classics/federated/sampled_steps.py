"""One step along the mean gradient of sampled clients."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import NEEDELL

CLASSICS = (
    classic(
        "sampled-step",
        "A step along the gradients of sampled clients, distances",
        NEEDELL("Theorem 2.1, proof"),
        left="nearer",
        over="every_round",
        right={"start": "-2*gamma_u*mu*(1 - gamma_u*L)*dist2", "minimiser": "2*gamma_u**2*b_star**2"},
        assumptions=(
            "smoothness",
            "convexity",
            "strong_convexity",
            "minimiser_heterogeneity",
            "uniform_sampling",
            "no_personal",
        ),
        conditions=("gamma_u < 1/L",),
        settings={"K": 1, "eta_u": 1, "sigma_u": 0},
        at={"n": 3, "m": 1, "T": 1, "L": 1, "mu": 0.1, "gamma_u": 0.5, "b_star": 1, "dist2_0": 4},
        value="2*gamma_u**2*b_star**2",
        standing=Standing.UPPER,
        remark="Strong convexity is that of the mean; each client's function is convex.",
    ),
)
