"""Gradient descent ascent, simultaneous and alternating: steps along a strongly monotone or a cocoercive operator."""

from functools import partial

from bounds.papers.classics.building import COCOERCIVE, EXACT, NOISY, classic
from bounds.papers.classics.known import Standing
from bounds.papers.classics.sources import FACCHINEI_PANG, ZHANG_ALTERNATING

_STRONG = ("lipschitz_operator", "strongly_monotone_operator", "full_participation", "no_personal")
# What a step multiplies the squared distance by, at most.
_FACTOR = "(1 - 2*gamma_u*mu + gamma_u**2*L**2)"
_AT = {"n": 1, "T": 4, "L": 1, "mu": 0.2, "gamma_u": 0.1, "dist2_0": 3}
_REACHED = "the operator mu I + sqrt(L^2 - mu^2) J, where J turns by a right angle"

_descent_ascent = partial(classic, left="dist2", over="every_round_but_first", algorithm="gda")

CLASSICS = (
    _descent_ascent(
        "gda-strongly-monotone-distances",
        "Gradient descent ascent on a strongly monotone operator, distances",
        FACCHINEI_PANG("Section 12.1, the contraction of a step"),
        right=f"{_FACTOR}**t*dist2_0",
        assumptions=_STRONG,
        settings=EXACT,
        at=_AT,
        value=f"{_FACTOR}**t*dist2_0",
        standing=Standing.TIGHT,
        known_from=_REACHED,
    ),
    _descent_ascent(
        "gda-strongly-monotone-noise",
        "Stochastic gradient descent ascent on a strongly monotone operator, distances",
        FACCHINEI_PANG("Section 12.1, the contraction of a step, with noise"),
        right={
            "start": f"{_FACTOR}**t*dist2_0",
            "noise": f"gamma_u*sigma_u**2/(n*(2*mu - gamma_u*L**2))*(1 - {_FACTOR}**t)",
        },
        assumptions=(*_STRONG, "noise"),
        conditions=("gamma_u <= mu/L**2",),
        settings=NOISY,
        at={**_AT, "sigma_u": 1},
        value=f"{_FACTOR}**t*dist2_0 + gamma_u*sigma_u**2/(n*(2*mu - gamma_u*L**2))*(1 - {_FACTOR}**t)",
        standing=Standing.TIGHT,
        known_from=_REACHED,
        remark="Noise of mean zero adds gamma^2 sigma^2/n in every round, and a geometric sum of that is left.",
    ),
    _descent_ascent(
        "gda-cocoercive-distances",
        "Gradient descent ascent on a cocoercive operator, distances",
        FACCHINEI_PANG("Section 12.1, cocoercive maps"),
        right="dist2_0",
        assumptions=COCOERCIVE,
        conditions=("gamma_u <= 2/L",),
        settings=EXACT,
        at={"n": 1, "T": 4, "L": 1, "gamma_u": 2, "dist2_0": 3},
        standing=Standing.TIGHT,
        known_from="the operator L I, whose steps of 2/L change sides",
    ),
    classic(
        "gda-cocoercive-gradients",
        "Gradient descent ascent on a cocoercive operator, its squared norm",
        FACCHINEI_PANG("Section 12.1, cocoercive maps, with constants"),
        left="G_u",
        over="mean_of_rounds",
        right="L*dist2_0/(gamma_u*(2 - gamma_u*L)*T)",
        algorithm="gda",
        assumptions=COCOERCIVE,
        conditions=("gamma_u <= 1/L",),
        settings=EXACT,
        at={"n": 1, "T": 4, "L": 1, "gamma_u": 1, "dist2_0": 3},
        standing=Standing.UPPER,
        remark="A step lowers dist2 by gamma (2/L - gamma) ||F||^2 at least, and all of them by dist2_0 at most.",
    ),
    classic(
        "alternating-gda-strongly-monotone-distances",
        "Alternating gradient descent ascent on a strongly monotone operator, distances",
        ZHANG_ALTERNATING("the method; the constant is derived here"),
        left="dist2",
        over="every_round_but_first",
        right="(sqrt(1 - 2*gamma_u*mu + gamma_u**2*L**2) + gamma_u**2*L**2)**(2*t)*dist2_0",
        algorithm="alternating-gda",
        assumptions=_STRONG,
        conditions=("gamma_u*L**2 <= mu/2",),
        settings={"n": 1, "m": 1, "K": 2, "sigma_u": 0},
        at={"T": 4, "L": 1, "mu": 0.2, "gamma_u": 0.1, "dist2_0": 3},
        remark="A round is a simultaneous step but for gamma (F_y(x, y) - F_y(x+, y)), whose norm is at most "
        "gamma L ||x+ - x|| <= gamma^2 L^2 ||z - z*||. The paper's rates are sharper.",
    ),
)
