"""FedAvg with K local steps, also called local SGD; gamma_u eta_u K is the step of a round."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import KARIMIREDDY, KHALED

_NONCONVEX = ("smoothness", "noise", "dissimilarity")
_CONVEX = ("smoothness", "convexity", "noise", "minimiser_heterogeneity")
_EVERYBODY = ("full_participation", "no_personal")
_SAMPLED = ("uniform_sampling", "no_personal")
# What E||mean of m samples||^2 has of the variance of n values.
_SHARE = "(n - m)/(m*max(1, n - 1))"
# Local steps stay near the server: gamma_u K L is small.
_NEAR = "4*gamma_u*K*L <= 1"
_DRIFT = "gamma_u**2*(K - 1)*(2*K - 1)"
_WALK = "gamma_u**2*(K - 1)*sigma_u**2"

_NONCONVEX_AT = {"n": 2, "K": 2, "T": 2, "L": 1, "F_0": 1, "gamma_u": 0.1, "eta_u": 1, "sigma_u": 0, "b": 1}
_CONVEX_AT = {"n": 2, "K": 2, "T": 2, "L": 1, "gamma_u": 0.05, "eta_u": 1, "sigma_u": 0, "b_star": 1, "dist2_0": 1}

CLASSICS = (
    classic(
        "local-sgd-gradients",
        "Local SGD, squared gradients",
        KARIMIREDDY("Theorem I, functions that are not convex, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "12*F_0/(5*gamma_u*eta_u*K*T)",
            "noise": "12*L*gamma_u*eta_u*sigma_u**2/(5*n)",
            "drift": f"8*L**2*{_DRIFT}*b**2/5",
            "walk": f"12*L**2*{_WALK}/5",
        },
        assumptions=(*_NONCONVEX, *_EVERYBODY),
        conditions=(_NEAR, "2*gamma_u*eta_u*K*L <= 1"),
        settings={"m": "n"},
        trivial="2*L*F_0",
        at=_NONCONVEX_AT,
        remark="The paper prints O(...). Constants are those of the descent lemma at the server, with "
        "E||y_ik - x||^2 <= (4/3) gamma_u^2 (K-1)(2K-1) (||grad f||^2 + b^2) + 2 gamma_u^2 (K-1) sigma_u^2 in the mean "
        "over i and k, and E||sum of values and noise||^2 <= 2 E||values||^2 + 2 E||noise||^2.",
    ),
    classic(
        "fedavg-sampled-gradients",
        "FedAvg with sampled clients, squared gradients",
        KARIMIREDDY("Theorem I, functions that are not convex, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "3*F_0/(gamma_u*eta_u*K*T)",
            "noise": "3*L*gamma_u*eta_u*sigma_u**2/m",
            "sampling": f"6*L*gamma_u*eta_u*K*b**2*{_SHARE}",
            "drift": f"4*L**2*{_DRIFT}*b**2",
            "walk": f"6*L**2*{_WALK}",
        },
        assumptions=(*_NONCONVEX, *_SAMPLED),
        conditions=(_NEAR, "4*gamma_u*eta_u*K*L <= 1"),
        settings={},
        trivial="2*L*F_0",
        at={**_NONCONVEX_AT, "n": 3, "m": 2},
        remark="The paper prints O(...). Constants are those of local-sgd-gradients, and of the variance of a sample "
        "without replacement, (1/n) sum_i ||a_i - mean||^2 <= 2 K^2 b^2 + 2 K L^2 (1/n) sum_ik ||y_ik - x||^2 for the "
        "sums a_i of the K gradients.",
    ),
    classic(
        "local-sgd-averaged-values",
        "Local SGD, values of the averaged iterate",
        KHALED("heterogeneous data, convex functions, with constants"),
        left="gap",
        over="averaged_iterate",
        right={
            "start": "dist2_0/(gamma_u*eta_u*K*T)",
            "noise": "2*gamma_u*eta_u*sigma_u**2/n",
            "drift": f"L*{_DRIFT}*b_star**2",
            "walk": f"3*L*{_WALK}/2",
        },
        assumptions=(*_CONVEX, *_EVERYBODY),
        conditions=(_NEAR, "6*gamma_u*eta_u*K*L <= 1"),
        settings={"m": "n"},
        at=_CONVEX_AT,
        remark="The mean is over the server's iterates, and over all local ones in the paper. Constants are those of "
        "||y_ik - x|| <= k gamma_u ||grad f_i(x)|| without noise, as gradient steps on convex functions are "
        "nonexpansive, and (1/n) sum_i ||grad f_i(x)||^2 <= 4 L gap + 2 b_*^2.",
    ),
    classic(
        "fedavg-sampled-values",
        "FedAvg with sampled clients, the mean value",
        KARIMIREDDY("Theorem I, convex functions, with constants"),
        left="gap",
        over="mean_of_rounds",
        right={
            "start": "dist2_0/(gamma_u*eta_u*K*T)",
            "noise": "2*gamma_u*eta_u*sigma_u**2/m",
            "sampling": f"4*gamma_u*eta_u*K*b_star**2*{_SHARE}",
            "drift": f"L*{_DRIFT}*b_star**2",
            "walk": f"3*L*{_WALK}/2",
        },
        assumptions=(*_CONVEX, *_SAMPLED),
        conditions=(_NEAR, f"6*gamma_u*eta_u*K*L*(1 + {_SHARE}) <= 1"),
        settings={},
        at={**_CONVEX_AT, "n": 3, "m": 2},
        remark="Constants are those of local-sgd-averaged-values, and of the variance of a sample without replacement "
        "at the server's point.",
    ),
    classic(
        "fedavg-sampled-distances",
        "FedAvg with sampled clients, distances",
        KARIMIREDDY("Theorem I, strongly convex functions, with constants"),
        left="dist2",
        over="every_round_but_first",
        right={
            "start": "(1 - gamma_u*eta_u*K*mu/2)**t*dist2_0",
            "noise": "4*gamma_u*eta_u*sigma_u**2/(mu*m)",
            "sampling": f"8*gamma_u*eta_u*K*b_star**2*{_SHARE}/mu",
            "drift": f"2*L*{_DRIFT}*b_star**2/mu",
            "walk": f"3*L*{_WALK}/mu",
        },
        assumptions=(*_CONVEX, "strong_convexity", *_SAMPLED),
        conditions=(_NEAR, f"6*gamma_u*eta_u*K*L*(1 + {_SHARE}) <= 1"),
        settings={},
        at={**_CONVEX_AT, "n": 3, "m": 2, "mu": 0.1},
        remark="A round of fedavg-sampled-values with f - f^* >= (mu/2) ||x - x^*||^2. Strong convexity is that of the "
        "mean; each client's function is convex.",
    ),
)
