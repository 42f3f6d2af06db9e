"""SGD over clients: one gradient step a round, of sampled clients without replacement."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import GHADIMI_LAN, GOWER, NEEDELL

_STEP = {"K": 1, "eta_u": 1}
_SAMPLED = ("uniform_sampling", "no_personal")
# What E||mean of m samples||^2 has of the variance of n values.
_SHARE = "(n - m)/(m*max(1, n - 1))"

CLASSICS = (
    classic(
        "sampled-gradients",
        "Minibatch SGD over clients, squared gradients",
        GHADIMI_LAN("Theorem 2.1"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "start": "2*F_0/(gamma_u*(2 - gamma_u*L)*T)",
            "noise": "gamma_u*L*sigma_u**2/((2 - gamma_u*L)*m)",
            "sampling": f"gamma_u*L*b**2*{_SHARE}/(2 - gamma_u*L)",
        },
        assumptions=("smoothness", "noise", "dissimilarity", *_SAMPLED),
        conditions=("gamma_u <= 1/L",),
        settings=_STEP,
        trivial="2*L*F_0",
        at={"n": 3, "m": 1, "T": 2, "L": 1, "gamma_u": 0.5, "sigma_u": 0, "b": 1, "F_0": 1},
        remark="That theorem with the variance of a sample without replacement, (n-m)/(m(n-1)) b^2 + sigma_u^2/m.",
    ),
    classic(
        "sampled-values",
        "Minibatch SGD over clients, the mean value",
        GOWER("convex functions, with constants"),
        left="gap",
        over="mean_of_rounds",
        right={
            "start": f"dist2_0/(2*gamma_u*(1 - gamma_u*L*(1 + {_SHARE}))*T)",
            "noise": f"gamma_u*sigma_u**2/(2*m*(1 - gamma_u*L*(1 + {_SHARE})))",
            "sampling": f"gamma_u*b_star**2*{_SHARE}/(1 - gamma_u*L*(1 + {_SHARE}))",
        },
        assumptions=("smoothness", "convexity", "noise", "minimiser_heterogeneity", *_SAMPLED),
        conditions=(f"2*gamma_u*L*(1 + {_SHARE}) <= 1",),
        settings=_STEP,
        at={"n": 3, "m": 1, "T": 2, "L": 1, "gamma_u": 0.25, "sigma_u": 0, "b_star": 1, "dist2_0": 1},
        remark="The value at the mean of the iterates is at most the mean value. Constants are those of a step, with "
        "s = (n-m)/(m(n-1)) and E||g||^2 <= 2 (1 + s) L gap + 2 s b_*^2 + sigma_u^2/m.",
    ),
    classic(
        "sampled-distances",
        "SGD with one sampled client, distances",
        NEEDELL("Theorem 2.1"),
        left="dist2",
        over="every_round_but_first",
        right={
            "start": "(1 - 2*gamma_u*mu*(1 - gamma_u*L))**t*dist2_0",
            "minimiser": "gamma_u*b_star**2/(mu*(1 - gamma_u*L))",
        },
        assumptions=("smoothness", "convexity", "strong_convexity", "minimiser_heterogeneity", *_SAMPLED),
        conditions=("gamma_u < 1/L",),
        settings={**_STEP, "m": 1, "sigma_u": 0},
        at={"n": 3, "m": 1, "T": 2, "L": 1, "mu": 0.1, "gamma_u": 0.5, "b_star": 1, "dist2_0": 1},
        remark="Strong convexity is that of the mean; each client's function is convex.",
    ),
)
