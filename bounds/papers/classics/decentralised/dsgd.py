"""DSGD; lambda_W = ||W - 11'/n||_2 is how fast the graph mixes."""

from bounds.papers.classics.building import classic
from bounds.papers.classics.sources import KOLOSKOVA

_ASSUMED = ("smoothness", "noise", "dissimilarity", "full_participation", "no_personal")
_STEPS = ("gamma_u <= 1/L", "gamma_u*2*L*lambda_W <= 1 - lambda_W", "lambda_W < 1")
_DRIFT = "4*lambda_W**2*gamma_u**2*b**2/(1 - lambda_W)**2"
_WALK = "2*lambda_W**2*gamma_u**2*sigma_u**2/(1 - lambda_W)"
_AT = {"n": 2, "T": 2, "L": 1, "gamma_u": 0.25, "lambda_W": 0.5, "sigma_u": 0, "b": 1, "F_0": 1}

CLASSICS = (
    classic(
        "dsgd-consensus",
        "DSGD, distances of the clients from their mean",
        KOLOSKOVA("Lemma 9, with constants"),
        left="consensus2",
        over="every_round",
        right={"heterogeneity": _DRIFT, "noise": _WALK},
        algorithm="dsgd",
        assumptions=_ASSUMED,
        conditions=_STEPS[1:],
        settings={"K": 1, "m": "n"},
        at=_AT,
        remark="All clients start at one point. From (1 + a)(1 + 1/a) with 1 + a = 1/lambda, and "
        "(1/n) sum_i ||g_i - mean||^2 <= 2 b^2 + 2 L^2 consensus2.",
    ),
    classic(
        "dsgd-gradients",
        "DSGD, squared gradients at the mean",
        KOLOSKOVA("Theorem 2, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right={
            "gap": "2*F_0/(gamma_u*T)",
            "noise": "L*gamma_u*sigma_u**2/n",
            "heterogeneity": f"L**2*{_DRIFT}",
            "disagreement": f"L**2*{_WALK}",
        },
        algorithm="dsgd",
        assumptions=_ASSUMED,
        conditions=_STEPS,
        settings={"K": 1, "m": "n"},
        trivial="2*L*F_0",
        at=_AT,
        remark="The descent lemma at the mean, whose gradients are off by at most L^2 consensus2.",
    ),
)
