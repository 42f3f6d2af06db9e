"""Gradient steps of one client after the other, at the ends of epochs; an epoch is n rounds."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import MISHCHENKO

_CONVEX = ("smoothness", "convexity", "strong_convexity", "minimiser_heterogeneity", "no_personal")
# The last of T rounds begins where the epochs end.
_EPOCHS = {"K": 1, "m": 1, "eta_u": 1, "sigma_u": 0, "T": "n*epochs + 1"}
_AT = {"n": 2, "epochs": 1, "L": 1, "mu": 0.1, "gamma_u": 0.2, "b_star": 1, "dist2_0": 1}
_PROOF = (
    "Strong convexity is that of the mean; each client's function is convex. Constants are those of an epoch with "
    "<grad f_i(y), x - x^*> = f_i(x) - f_i(x^*) + D_i(x^*, y) - D_i(x, y) in Bregman distances and "
)

CLASSICS = (
    classic(
        "random-reshuffling-distances",
        "Random reshuffling, distances at the ends of epochs",
        MISHCHENKO("Theorem 2, with constants"),
        left="dist2",
        over="last_round",
        right={"start": "(1 - gamma_u*n*mu)**epochs*dist2_0", "order": "gamma_u**2*L*(n + 1)*b_star**2/(3*mu)"},
        assumptions=("reshuffled_blocks", *_CONVEX),
        conditions=("2*gamma_u*n*L <= 1",),
        settings=_EPOCHS,
        at=_AT,
        remark=_PROOF + "E||sum of i of the n gradients at x^*||^2 = i (n-i)/(n-1) b_*^2.",
    ),
    classic(
        "incremental-gradient-distances",
        "The incremental gradient method, distances at the ends of epochs",
        MISHCHENKO("incremental gradient, with constants"),
        left="dist2",
        over="last_round",
        right={"start": "(1 - gamma_u*n*mu)**epochs*dist2_0", "order": "gamma_u**2*L*(n**2 - 1)*b_star**2/(3*mu)"},
        assumptions=("cyclic_blocks", *_CONVEX),
        conditions=("2*gamma_u*n*L <= 1",),
        settings=_EPOCHS,
        at=_AT,
        remark=_PROOF + "||sum of i of the n gradients at x^*||^2 <= i (n-i) b_*^2.",
    ),
)
