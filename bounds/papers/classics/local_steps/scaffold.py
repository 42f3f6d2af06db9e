"""SCAFFOLD with K local steps: no term of what clients have different in common is left."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import KARIMIREDDY

_CONVEX = ("smoothness", "convexity")
_EVERYBODY = ("full_participation", "no_personal")
_STEPS = ("4*gamma_u*K*L <= 1", "6*gamma_u*eta_u*K*L <= 1")
_NOISE = "25*gamma_u*eta_u*sigma_u**2/(12*n)"
_WALK = "6*L*gamma_u**2*(K - 1)*sigma_u**2"
_AT = {"n": 2, "K": 2, "T": 2, "L": 1, "gamma_u": 0.05, "eta_u": 1, "sigma_u": 0, "dist2_0": 1}
_PROOF = (
    "Constants are those of a round with the potential ||x - x^*||^2 + (2/3) gamma_u^3 eta_u K L (K-1)(2K-1) C, "
    "C = (1/n) sum_i ||grad f_i(x) - c_i||^2, where local steps move by at most "
    "k gamma_u ||grad f_i(x) - c_i + c|| without noise."
)

CLASSICS = (
    classic(
        "scaffold-values",
        "SCAFFOLD with local steps, the mean value",
        KARIMIREDDY("Theorem III, convex functions, with constants"),
        left="gap",
        over="mean_of_rounds",
        right={"start": "dist2_0/(gamma_u*eta_u*K*T)", "noise": _NOISE, "walk": f"{_WALK}*(1 + 2/(9*T))"},
        algorithm="scaffold",
        assumptions=(*_CONVEX, "noise", *_EVERYBODY),
        conditions=_STEPS,
        settings={"m": "n"},
        at=_AT,
        remark=f"{_PROOF} The value at the mean of the iterates is at most the mean value.",
    ),
    classic(
        "scaffold-distances",
        "SCAFFOLD with local steps, distances",
        KARIMIREDDY("Theorem III, strongly convex functions, with constants"),
        left="dist2",
        over="every_round_but_first",
        right={"start": "(1 - gamma_u*eta_u*K*mu/2)**t*dist2_0", "noise": f"2*{_NOISE}/mu", "walk": f"2*{_WALK}/mu"},
        algorithm="scaffold",
        assumptions=(*_CONVEX, "strong_convexity", "noise", *_EVERYBODY),
        conditions=_STEPS,
        settings={"m": "n"},
        at={**_AT, "mu": 0.1},
        remark=f"{_PROOF} Strong convexity is that of the mean; each client's function is convex.",
    ),
    classic(
        "scaffold-sampled-distances",
        "SCAFFOLD with local steps and sampled clients, distances",
        KARIMIREDDY("Theorem III, strongly convex functions, with constants"),
        left="dist2",
        over="every_round",
        right="max(1 - gamma_u*eta_u*K*mu/2, 1 - m/(3*n))**t*(dist2_0 + n*gamma_u*eta_u*K*F_0/(3*m))",
        algorithm="scaffold",
        assumptions=(*_CONVEX, "strong_convexity", "uniform_sampling", "no_personal"),
        conditions=("10*gamma_u*K*L <= 1", "40*gamma_u*eta_u*K*L <= 1"),
        settings={"sigma_u": 0},
        at={"n": 3, "m": 1, "K": 2, "T": 2, "L": 1, "mu": 0.1, "gamma_u": 0.01, "eta_u": 1, "dist2_0": 1, "F_0": 0.5},
        remark="Constants are those of a round with the potential ||x - x^*||^2 + gamma_u eta_u K n/(6 m L) H, "
        "H = (1/n) sum_i ||c_i - grad f_i(x^*)||^2, which is at most 2 L F_0 at the start.",
    ),
)
