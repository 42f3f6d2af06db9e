"""Error feedback; 1 - q is the share of a message's square that the compression leaves out in expectation."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import RICHTARIK_EF21, STICH_KARIMIREDDY

_ASSUMED = ("smoothness", "full_participation", "no_personal")
_EXACT = {"K": 1, "m": "n", "sigma_u": 0}
_LEFT = "sqrt(1 - q)"
_AT = {"n": 2, "T": 2, "L": 1, "F_0": 1, "gamma_u": 0.2, "q": 0.5}

CLASSICS = (
    classic(
        "ef-sgd-gradients",
        "SGD with error feedback, squared gradients",
        STICH_KARIMIREDDY("functions that are not convex, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "4*F_0/(gamma_u*T)",
            "noise": "2*L*gamma_u*sigma_u**2/n",
            "heterogeneity": f"2*L**2*gamma_u**2*(1 - q)*b**2/(1 - {_LEFT})**2",
            "left out": f"2*L**2*gamma_u**2*(1 - q)*sigma_u**2/(1 - {_LEFT})",
        },
        algorithm="ef-sgd",
        assumptions=("noise", "dissimilarity", *_ASSUMED),
        conditions=("4*gamma_u*L <= 1", f"2*gamma_u*L*{_LEFT} <= 1 - {_LEFT}", "q <= 1"),
        settings={"K": 1, "m": "n"},
        trivial="2*L*F_0",
        at={**_AT, "sigma_u": 0, "b": 1},
        remark="Constants are those of the descent lemma at x minus the mean of the e_i, and of "
        "E||e_i^+||^2 <= s E||e_i||^2 + gamma_u^2 (s^2 ||grad f_i||^2/(1 - s) + s^2 sigma_u^2) with s = sqrt(1 - q).",
    ),
    classic(
        "ef21-gradients",
        "EF21, squared gradients",
        RICHTARIK_EF21("Theorem 1"),
        left="G_u",
        over="mean_of_rounds",
        right="2*F_0/(gamma_u*T)",
        algorithm="ef21",
        assumptions=_ASSUMED,
        conditions=(f"gamma_u <= (1 - {_LEFT})/L", "q <= 1"),
        settings=_EXACT,
        trivial="2*L*F_0",
        at=_AT,
        remark="theta = 1 - s, beta = s^2/(1 - s) with s = sqrt(1 - q), and no L_i is above L, so that the largest "
        "step is (1 - s)/L there. The g_i are the gradients at the start.",
    ),
    classic(
        "ef21-gradient-dominated",
        "EF21, gradient-dominated functions",
        RICHTARIK_EF21("Theorem 2"),
        left="gap",
        over="every_round_but_first",
        right="(1 - gamma_u*mu_PL)**t*F_0",
        algorithm="ef21",
        assumptions=("polyak_lojasiewicz", *_ASSUMED),
        conditions=(f"gamma_u*L*(1 + sqrt(2)*{_LEFT}/(1 - {_LEFT})) <= 1", f"2*gamma_u*mu_PL <= 1 - {_LEFT}", "q < 1"),
        settings=_EXACT,
        at={**_AT, "mu_PL": 0.1},
        remark="As in ef21-gradients. With q = 1 the second condition is not needed.",
    ),
)
