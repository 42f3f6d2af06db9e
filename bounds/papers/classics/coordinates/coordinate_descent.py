"""Coordinates that are drawn, and the one whose derivative is largest; ``dim`` is the number of variables."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import NESTEROV_COORDINATES, NUTINI

_ASSUMED = ("smoothness", "full_participation", "no_personal")
_DOMINATED = ("polyak_lojasiewicz", *_ASSUMED)
_ONE = {"n": 1, "m": 1, "K": 1, "sigma_u": 0}
_GREEDY = {"m": "n", "K": 1, "sigma_u": 0}

CLASSICS = (
    classic(
        "coordinate-descent-gradients",
        "Coordinate descent, drawn coordinates, squared gradients",
        NESTEROV_COORDINATES("functions that need not be convex"),
        left="G_u",
        over="mean_of_rounds",
        right="2*F_0/(gamma_u*q*(2 - gamma_u*L)*T)",
        algorithm="coordinate-descent",
        assumptions=_ASSUMED,
        conditions=("gamma_u <= 1/L", "q <= 1"),
        settings=_ONE,
        trivial="2*L*F_0",
        at={"n": 1, "T": 2, "L": 1, "F_0": 1, "gamma_u": 1, "q": 0.5},
        remark="Here each coordinate is drawn on its own with probability q. The constant is that of the descent lemma "
        "with E||q C(g)||^2 = q ||g||^2: f falls by gamma_u q (1 - gamma_u L/2) ||g||^2 in expectation.",
    ),
    classic(
        "coordinate-descent-values",
        "Coordinate descent, drawn coordinates, values",
        NESTEROV_COORDINATES("strongly convex functions"),
        left="gap",
        over="every_round_but_first",
        right="(1 - gamma_u*q*mu_PL*(2 - gamma_u*L))**t*F_0",
        algorithm="coordinate-descent",
        assumptions=_DOMINATED,
        conditions=("gamma_u <= 1/L", "q <= 1"),
        settings=_ONE,
        at={"n": 1, "T": 2, "L": 1, "mu_PL": 0.1, "F_0": 1, "gamma_u": 1, "q": 0.5},
        remark="As in coordinate-descent-gradients, with ||grad f||^2 >= 2 mu_PL (f - inf f).",
    ),
    classic(
        "greedy-coordinate-descent-values",
        "Coordinate descent, the Gauss-Southwell rule, values",
        NUTINI("the rate in the Euclidean norm"),
        left="gap",
        over="every_round_but_first",
        right="(1 - gamma_u*mu_PL*(2 - gamma_u*L)/dim)**t*F_0",
        algorithm="greedy-coordinate-descent",
        assumptions=_DOMINATED,
        conditions=("gamma_u <= 1/L",),
        settings=_GREEDY,
        at={"n": 1, "T": 2, "L": 1, "mu_PL": 0.1, "F_0": 1, "gamma_u": 1, "dim": 2},
        remark="With gamma_u = 1/L the factor is 1 - mu_PL/(L dim), which is printed for strongly convex functions. "
        "The largest squared derivative is at least ||grad f||^2/dim; f falls by gamma_u (1 - gamma_u L/2) times it.",
    ),
    classic(
        "greedy-coordinate-descent-gradients",
        "Coordinate descent, the Gauss-Southwell rule, squared gradients",
        NUTINI("the decrease in a round"),
        left="G_u",
        over="mean_of_rounds",
        right="2*dim*F_0/(gamma_u*(2 - gamma_u*L)*T)",
        algorithm="greedy-coordinate-descent",
        assumptions=_ASSUMED,
        conditions=("gamma_u <= 1/L",),
        settings=_GREEDY,
        trivial="2*L*F_0",
        at={"n": 1, "T": 2, "L": 1, "F_0": 1, "gamma_u": 1, "dim": 2},
        remark="As in greedy-coordinate-descent-values, summed over the rounds.",
    ),
)
