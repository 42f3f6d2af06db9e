"""One step with sampled clients that are each strongly convex."""

from __future__ import annotations

from bounds.papers.classics.building import classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import PESTO

CLASSICS = (
    classic(
        "sampled-step-shared-minimiser",
        "A sampled step where all clients share a minimiser",
        PESTO("code, stochastic gradients"),
        left="nearer",
        over="every_round",
        right="(max((1 - gamma_u*mu)**2, (1 - gamma_u*L)**2) - 1)*dist2",
        assumptions=(
            "smoothness",
            "convexity",
            "strong_convexity",
            "minimiser_heterogeneity",
            "uniform_sampling",
            "no_personal",
        ),
        conditions=("gamma_u <= 2/L",),
        settings={"K": 1, "eta_u": 1, "sigma_u": 0, "b_star": 0},
        at={"n": 3, "m": 1, "T": 1, "L": 1, "mu": 0.1, "gamma_u": 0.5, "dist2_0": 1},
        value="0",
        standing=Standing.NUMERICAL,
        remark="Each client has its curvature between mu and L. The known value is that of left minus right.",
    ),
)
