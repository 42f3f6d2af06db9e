"""The extragradient method of one client, and the optimistic gradient method, on Lipschitz monotone operators."""

from functools import partial

from bounds.papers.classics.building import PLAIN, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import GIDEL, GORBUNOV_EXTRAGRADIENT, KORPELEVICH, POPOV

_EVERYBODY = ("full_participation", "no_personal")
_MONOTONE = ("lipschitz_operator", "monotone_operator", *_EVERYBODY)
_STRONG = ("lipschitz_operator", "strongly_monotone_operator", *_EVERYBODY)
# Two answers of one client in a round.
_TWO = {"n": 1, "m": 1, "K": 2, "sigma_u": 0}
_AT = {"T": 4, "L": 1, "gamma_u": 0.5, "dist2_0": 3}
_STEP = (
    "With h = z - gamma F(z), ||z+ - z*||^2 <= ||z - z*||^2 - (1 - gamma^2 L^2) gamma^2 ||F(z)||^2 - 2 gamma "
    "<F(h), h - z*>"
)
_DERIVED = (
    "Derived here: with r = ||h - h_before||^2, dist2+ + gamma^2 L^2 r <= (1 - gamma mu) (dist2 + gamma^2 L^2 "
    "r_before) where 2 gamma^2 L^2 + gamma mu <= 1/2; the first step has no r before it, which costs the factor "
    "1 + 2 gamma^2 L^2."
)

_extragradient = partial(classic, algorithm="extragradient", assumptions=_MONOTONE, settings=_TWO)

CLASSICS = (
    _extragradient(
        "extragradient-distances",
        "Extragradient method on a monotone operator, distances",
        KORPELEVICH("the decrease of distances"),
        left="dist2",
        over="every_round_but_first",
        right="dist2_0",
        conditions=("gamma_u <= 1/L",),
        at={**_AT, "gamma_u": 1},
        standing=Standing.TIGHT,
        known_from="steps of 1/L on the operator L I, which stay where they are",
        remark=f"{_STEP}, where the last product is nonnegative.",
    ),
    _extragradient(
        "extragradient-mean-gradient",
        "Extragradient method on a monotone operator, mean of its squared norms",
        KORPELEVICH("the decrease of distances, added up"),
        left="G_u",
        over="mean_of_rounds",
        right="dist2_0/(gamma_u**2*(1 - gamma_u**2*L**2)*T)",
        conditions=("gamma_u**2*L**2 <= 1/2",),
        at=_AT,
        standing=Standing.UPPER,
        remark=f"{_STEP}, added up over the rounds. On a rotation the sum reaches it as T grows.",
    ),
    _extragradient(
        "extragradient-last-gradient",
        "Extragradient method on a monotone operator, squared norm in every round",
        GORBUNOV_EXTRAGRADIENT("Theorem 3.3"),
        left="G_u",
        over="every_round",
        right="dist2_0/(gamma_u**2*(1 - gamma_u**2*L**2)*(t + 1))",
        conditions=("gamma_u**2*L**2 <= 1/2",),
        at=_AT,
        standing=Standing.UPPER,
    ),
    _extragradient(
        "extragradient-strongly-monotone-distances",
        "Extragradient method on a strongly monotone operator, distances",
        GIDEL("the setting of Section 3; the constant is derived here"),
        left="dist2",
        over="every_round_but_first",
        right="(1 - gamma_u*mu)**t*dist2_0",
        assumptions=_STRONG,
        conditions=("gamma_u**2*L**2 + 2*gamma_u*mu <= 1",),
        settings=_TWO,
        at={**_AT, "mu": 0.2, "gamma_u": 0.25},
        standing=Standing.UPPER,
        remark=f"{_STEP}, and 2 <F(h), h - z*> >= 2 mu ||h - z*||^2 >= mu ||z - z*||^2 - 2 mu ||h - z||^2.",
    ),
    classic(
        "optimistic-gradient-distances",
        "Optimistic gradient method on a monotone operator, distances",
        POPOV("the boundedness of the points; the constant is derived here"),
        left="dist2",
        over="every_round",
        right="(1 + 2*gamma_u**2*L**2)*dist2_0",
        algorithm="optimistic-gradient",
        assumptions=_MONOTONE,
        conditions=("gamma_u <= 1/(4*L)",),
        settings=PLAIN,
        at={**_AT, "n": 1, "gamma_u": 0.25},
        standing=Standing.UPPER,
        remark=_DERIVED,
    ),
    classic(
        "optimistic-gradient-strongly-monotone-distances",
        "Optimistic gradient method on a strongly monotone operator, distances",
        GIDEL("Theorem 1, with other constants"),
        left="dist2",
        over="every_round",
        right="(1 + 2*gamma_u**2*L**2)*(1 - gamma_u*mu)**t*dist2_0",
        algorithm="optimistic-gradient",
        assumptions=_STRONG,
        conditions=("gamma_u <= 1/(4*L)",),
        settings=PLAIN,
        at={**_AT, "n": 1, "mu": 0.2, "gamma_u": 0.25},
        standing=Standing.UPPER,
        remark=_DERIVED,
    ),
)
