"""Clients on a graph that mix in a round with the probability p_W, along all edges at once; lambda_W is that of W."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import KOLOSKOVA, PROXSKIP

# E||W_t (X - mean)||^2 <= this squared times ||X - mean||^2.
_RATE = "sqrt(1 - p_W*(1 - lambda_W**2))"

CLASSICS = (
    classic(
        "dsgd-random-consensus",
        "DSGD that mixes at random, distances of the clients from their mean",
        KOLOSKOVA("Lemma 9, with constants and random W_t"),
        left="consensus2",
        over="every_round",
        right={
            "heterogeneity": f"4*{_RATE}**2*gamma_u**2*b**2/(1 - {_RATE})**2",
            "noise": f"2*{_RATE}**2*gamma_u**2*sigma_u**2/(1 - {_RATE})",
        },
        algorithm="dsgd",
        assumptions=("smoothness", "noise", "dissimilarity", "random_mixing", "full_participation", "no_personal"),
        conditions=(f"gamma_u*2*L*{_RATE} <= 1 - {_RATE}", "lambda_W < 1"),
        settings={"K": 1, "m": "n"},
        at={"n": 2, "T": 2, "L": 1, "gamma_u": 0.1, "lambda_W": 0.5, "p_W": 0.5, "sigma_u": 0, "b": 1, "F_0": 1},
        remark="As for DSGD, ||W||^2 on what has mean zero being in expectation 1 - p (1 - lambda^2).",
    ),
    classic(
        "proxskip-distances",
        "ProxSkip, distances",
        PROXSKIP("the main theorem, for consensus on a graph"),
        left="dist2 + consensus2",
        over="every_round",
        right="max((1 - gamma_u*mu_c)**2, 1 - alpha*p_W**2*(1 - lambda_W))**t"
        "*(dist2_0 + gamma_u**2*b_star**2/(alpha*p_W**2*(1 - lambda_W)))",
        algorithm="proxskip",
        assumptions=(
            "smoothness",
            "clients_strong_convexity",
            "minimiser_heterogeneity",
            "random_mixing",
            "full_participation",
            "no_personal",
        ),
        conditions=("gamma_u <= 1/L", "alpha <= 2 - beta_W", "lambda_W < 1"),
        settings={"K": 1, "m": "n", "sigma_u": 0},
        at={
            "n": 2,
            "T": 2,
            "L": 1,
            "mu_c": 0.1,
            "gamma_u": 0.5,
            "alpha": 1,
            "lambda_W": 0,
            "beta_W": 1,
            "p_W": 0.5,
            "dist2_0": 1,
            "b_star": 1,
        },
        remark="On a complete graph alpha may be 1, which is the theorem. For a symmetric W it is derived here, with "
        "(gamma^2/(alpha p^2)) ||h - h*||^2 in the norm of the pseudoinverse of I - W: the mixed parts cancel up to "
        "p <e, ((I - W) - (2 - alpha) I) (I - W) e>. The left side is the part of it that is about the points.",
    ),
)
