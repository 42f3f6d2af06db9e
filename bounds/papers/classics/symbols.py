"""The symbols of the classics: those of the basic setting, and what is said of values, distances and momentum."""

from __future__ import annotations

import sympy as sp

from bounds.symbols import COMMON, ROUND, Domain, Role, Vocabulary

VOCABULARY = Vocabulary(COMMON)


def _measured(name: str, latex: str, meaning: str, degrees: tuple[int, int], fact: str, domain: Domain) -> sp.Symbol:
    symbol = VOCABULARY.define(name, latex, meaning, domain, Role.MEASURED, *degrees)
    VOCABULARY.facts[name] = fact
    return symbol


def _constant(name: str, latex: str, meaning: str, degrees: tuple[int, int], fact: str, domain: Domain) -> None:
    VOCABULARY.define(name, latex, meaning, domain, Role.CONSTANT, *degrees)
    VOCABULARY.facts[name] = fact


_SIZE, _CHANGE, _POSITIVE = Domain.NONNEGATIVE, Domain.REAL, Domain.POSITIVE

_measured("gap", r"f(x^t)-f^*", "E f(x^t) - inf f", (1, 0), "gap", _SIZE)
_measured("gap_prev", r"f(x^{t-1})-f^*", "gap one round earlier", (1, 0), "gap", _SIZE)
_measured("dist2", r"\|x^t-x^*\|^2", "E||x^t - x*||^2", (0, 2), "distance2", _SIZE)
_measured("dist2_prev", r"\|x^{t-1}-x^*\|^2", "dist2 one round earlier", (0, 2), "distance2", _SIZE)
_measured("fall", r"f(x^{t+1})-f(x^t)", "what a round adds to E f", (1, 0), "change:gap", _CHANGE)
_measured(
    "nearer", r"\|x^{t+1}-x^*\|^2-\|x^t-x^*\|^2", "what a round adds to dist2", (0, 2), "change:distance2", _CHANGE
)
_measured("grad_F2", r"\|\nabla F(x^t)\|^2", "||grad F||^2 of the mean envelope", (2, -2), "grad_F2", _SIZE)
_measured("t", "t", "number of the round, from 0", (0, 0), ROUND, _SIZE)
_constant("dist2_0", r"\|x^0-x^*\|^2", "dist2 at the start", (0, 2), "distance2_0", _POSITIVE)
_constant("mu", r"\mu", "strong convexity of f", (1, -2), "strong_convexity", _POSITIVE)
_constant(
    "mu_PL",
    r"\mu_{\mathrm{PL}}",
    "constant of ||grad f||^2 >= 2 mu_PL (f - inf f)",
    (1, -2),
    "polyak_lojasiewicz",
    _POSITIVE,
)
_constant("b_star", "b_*", "root of the mean of ||grad f_i(x^*)||^2", (1, -1), "minimiser_heterogeneity", _SIZE)
_constant(
    "M", "M", "bound on the norms of subgradients: the Lipschitz constant of the f_i", (1, -1), "lipschitz", _POSITIVE
)
_constant("lambda_W", r"\lambda", "||W - 11'/n||_2 of the mixing matrix W of a graph", (0, 0), "mixing_rate", _SIZE)
_constant("beta_W", r"\beta", "||I - W||_2 of a symmetric mixing matrix W of a graph", (0, 0), "mixing_change", _SIZE)
VOCABULARY.define("p_W", "p", "probability with which a round mixes clients on a graph", _POSITIVE, Role.SETTING, 0, 0)
VOCABULARY.facts["p_W"] = "mixing_share"
_constant(
    "mu_c", r"\mu_c", "strong convexity of every client's function", (1, -2), "clients_strong_convexity", _POSITIVE
)
_measured(
    "consensus2",
    r"\frac1n\sum_i\|x_i^t-\bar x^t\|^2",
    "how far clients on a graph are from their mean",
    (0, 2),
    "consensus2",
    _SIZE,
)
VOCABULARY.define(
    "q", "q", "probability with which a coordinate of a message is sent", _POSITIVE, Role.SETTING, 0, 0, default=0.5
)
VOCABULARY.define("epochs", "E", "epochs of n rounds", Domain.POSITIVE_INTEGER, Role.FREE, 0, 0, default=3.0)
VOCABULARY.define(
    "alpha", r"\alpha", "step size of what clients remember of their messages", _POSITIVE, Role.STEP_SIZE, 0, 0
)
VOCABULARY.order_pair("mu", "L")
VOCABULARY.order_pair("mu_PL", "L")
VOCABULARY.order_pair("mu_c", "L")

for _name, _latex, _meaning, _degrees in (
    ("eta", r"\eta", "step size on the envelopes", (-1, 2)),
    ("beta", r"\beta", "damping of the server", (0, 0)),
):
    VOCABULARY.define(_name, _latex, _meaning, _POSITIVE, Role.STEP_SIZE, *_degrees)
VOCABULARY.define("lambda_", r"\lambda", "weight of the proximal term", _POSITIVE, Role.STEP_SIZE, 1, -2)
for _name, _latex, _meaning in (
    ("momentum", r"\beta", "share of the last move that is made once more"),
    ("lookahead", r"\gamma_y", "share of the last move by which the gradient's point is ahead"),
    ("extrapolation", r"\delta", "share of the last move by which the answer is ahead"),
    ("conditioning", "q", "the inverse condition number mu/L as the method takes it"),
):
    VOCABULARY.define(_name, _latex, _meaning, _POSITIVE, Role.STEP_SIZE, 0, 0)
