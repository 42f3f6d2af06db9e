"""Textbook facts on first-order methods, in the forms in which users write statements of their own.

They are no catalogue: `ratecheck selftest` evaluates them. `STATEMENTS` are true, many of them with equality on
quadratics, and nothing may accuse them; `TWINS` have one number wrong, and each has to be caught. What a field can hold
is used on purpose: differences on the right side, roots, no step rule or cap at all, open and widened caps, every
round, the round before, symbols of one's own.

Statements that hold for convex functions only assume that. Statements on the minimiser of a quadratic are about convex
ones, which have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import sympy as sp

from bounds.analysis import ANALYSIS
from bounds.statement import (
    Assumption,
    Claim,
    Condition,
    Metric,
    Over,
    Relation,
    Source,
    Statement,
    StepProduct,
    StepRule,
)
from bounds.symbols import Domain, Role, Vocabulary

TITLE = "Textbook facts, for the self-test"
LEFT_OUT: tuple[tuple[str, str], ...] = ()
VOCABULARY = Vocabulary(ANALYSIS)
theta = VOCABULARY.define("theta", r"\theta", "any positive number", Domain.POSITIVE, Role.SETTING, 0, 0, default=0.5)

gap, gap_prev, dist2, dist2_prev, t = (
    VOCABULARY[name].symbol for name in ("gap", "gap_prev", "dist2", "dist2_prev", "t")
)
fall, nearer, consensus2 = (VOCABULARY[name].symbol for name in ("fall", "nearer", "consensus2"))
grad_F2, spread_F2 = (VOCABULARY[name].symbol for name in ("grad_F2", "spread_F2"))
dist2_0, mu, mu_PL, b_star, lambda_W = (
    VOCABULARY[name].symbol for name in ("dist2_0", "mu", "mu_PL", "b_star", "lambda_W")
)
q, alpha, lambda_, eta, beta = (VOCABULARY[name].symbol for name in ("q", "alpha", "lambda_", "eta", "beta"))
n, m, K, T, L, F_0, b = (VOCABULARY[name].symbol for name in ("n", "m", "K", "T", "L", "F_0", "b"))
sigma_u, sigma_v = (VOCABULARY[name].symbol for name in ("sigma_u", "sigma_v"))
g, g_v, gamma, eta_u, eta_v = (VOCABULARY[name].symbol for name in ("gamma_u", "gamma_v", "gamma", "eta_u", "eta_v"))
G, G_v, G_prev, B = (VOCABULARY[name].symbol for name in ("G_u", "G_v", "G_u_prev", "B"))
descent, inner, du2 = (VOCABULARY[name].symbol for name in ("descent", "inner_u", "du2"))
sum2, squares = (VOCABULARY[name].symbol for name in ("sum2", "squares"))
sampled2, xbar2, spread = (VOCABULARY[name].symbol for name in ("sampled2", "xbar2", "spread"))

ZERO, ONE = sp.Integer(0), sp.Integer(1)
MEAN, EACH, LATER, NO_RUN = Over.MEAN_OF_ROUNDS, Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST, Over.NO_RUN
_SMOOTH, _NOISE, _FULL = Assumption.SMOOTHNESS, Assumption.NOISE, Assumption.FULL_PARTICIPATION
_SHARED = Assumption.NO_PERSONAL
# Every client takes one step on the whole of f in every round: gradient descent, with and without noise.
EXACT = {"K": ONE, "m": n, "eta_u": ONE, "sigma_u": ZERO}
NOISY = {"K": ONE, "m": n, "eta_u": ONE}
ALONE = {"n": ONE, "m": ONE, "eta_u": ONE, "sigma_u": ZERO}
# An average over a sample, one step each.
SAMPLED = {"K": ONE, "eta_u": ONE}
_GRADIENT = (_SMOOTH, _FULL, _SHARED)
_STOCHASTIC = (_SMOOTH, _NOISE, _FULL, _SHARED)
_OF_SAMPLES = (_SMOOTH, _NOISE, Assumption.UNIFORM_SAMPLING, _SHARED)
_DISSIMILAR = (*_OF_SAMPLES, Assumption.DISSIMILARITY)


def statement(
    name: str,
    title: str,
    left: Mapping[sp.Symbol, sp.Expr] | sp.Symbol,
    right: Mapping[str, sp.Expr] | sp.Expr,
    *conditions: tuple[sp.Expr, str, sp.Expr],
    over: Over = MEAN,
    settings: Mapping[str, sp.Expr] = EXACT,
    assumptions: tuple[Assumption, ...] = _GRADIENT,
    algorithm: str | None = "fedavg",
    rules: tuple[StepRule, ...] = (),
    products: tuple[StepProduct, ...] = (),
    relation: Relation = Relation.AT_MOST,
    location: str = "Self-test",
    vocabulary: Vocabulary = VOCABULARY,
) -> Statement:
    """The statement that ``left`` is at most ``right``, a sum of named terms, under the ``conditions``."""
    weights = left if isinstance(left, Mapping) else {left: ONE}
    terms = right if isinstance(right, Mapping) else {"bound": right}
    return Statement(
        key=f"textbook/{name}",
        title=title,
        source=Source(paper="Textbook", number=name, location=location),
        vocabulary=vocabulary,
        algorithm=algorithm,
        assumptions=assumptions,
        claims=(
            Claim(
                name="main",
                metric=Metric(latex=name, weights=weights, over=over, trivial=None),
                relation=relation,
                terms={label: sp.sympify(term) for label, term in terms.items()},
            ),
        ),
        conditions=tuple(
            Condition(name=f"cap {place}", left=lhs, operator=operator, right=sp.sympify(rhs))
            for place, (lhs, operator, rhs) in enumerate(conditions)
        ),
        step_rules=rules,
        step_products=products,
        settings=settings,
        follows_from=(),
        remark="",
    )


CAP = (g, "<=", 1 / L)
TWICE = (g, "<=", 2 / L)
_STEP = StepProduct(product=gamma, local=g, outer=eta_u)
_TUNED = 1 / (L + sigma_u * sp.sqrt(L * T / (2 * F_0 * n)))
_PROX = {"n": ONE, "m": ONE, "K": ONE, "beta": ONE}
_PROX_RULE = (StepRule(symbol=eta, value=1 / lambda_, at_least=False),)
_ENVELOPES = (_FULL, _SHARED)


def _gap(factor: sp.Expr = ONE) -> dict[str, sp.Expr]:
    """A multiple of 2 F_0/(g T)."""
    return {"gap": factor * 2 * F_0 / (g * T)}


_noisy_round = partial(statement, over=EACH, settings=NOISY, assumptions=_STOCHASTIC)
_noisy_later = partial(statement, over=LATER, settings=NOISY, assumptions=_STOCHASTIC)
_noisy = partial(statement, settings=NOISY, assumptions=_STOCHASTIC)
_convex_round = partial(statement, over=EACH, assumptions=(*_GRADIENT, Assumption.CONVEXITY))
_any_run = partial(statement, over=EACH, settings={}, assumptions=_OF_SAMPLES)
_sampled = partial(statement, settings=SAMPLED, assumptions=_DISSIMILAR)
_no_run = partial(statement, over=NO_RUN, settings={}, algorithm=None)
_round = partial(statement, over=EACH)

STATEMENTS: tuple[Statement, ...] = (
    # Descent.
    _any_run("descent-lemma", "Descent lemma, any run", descent, inner + L / 2 * du2),
    _noisy_round(
        "descent-lemma-difference", "Descent lemma, as a difference", {descent: ONE, inner: -ONE}, L * du2 / 2
    ),
    _any_run("descent-lemma-below", "Descent lemma, from below", {descent: -ONE, inner: ONE}, L / 2 * du2),
    _round("gradient-step", "A gradient step of any size", fall, -g * (1 - L * g / 2) * G),
    _round("gradient-step-half", "A step of at most 1/L", fall, -g * G / 2, (L * g, "<=", ONE)),
    _noisy_round(
        "stochastic-step",
        "A stochastic step",
        fall,
        {"descent": -g * (1 - L * g / 2) * G, "noise": L * g**2 * sigma_u**2 / (2 * n)},
    ),
    _noisy_round(
        "stochastic-step-half",
        "A stochastic step of at most 1/L",
        descent,
        L * (g * sigma_u) ** 2 / (2 * n) - g * G / 2,
        CAP,
    ),
    _round("values-fall", "Values fall up to 2/L", fall, ZERO, TWICE),
    statement("total-descent", "What all rounds descend", {fall: -ONE}, F_0 / T),
    _noisy("total-descent-noise", "What all rounds descend, any run", {descent: -ONE}, F_0 / T),
    # Distances to the minimiser.
    _convex_round("distance-step", "A gradient step, convex", nearer, g**2 * G - 2 * g * gap),
    _round(
        "distance-step-noise",
        "A stochastic step, convex",
        nearer,
        {"gap": -2 * g * gap, "gradient": g**2 * G, "noise": g**2 * sigma_u**2 / n},
        settings=NOISY,
        assumptions=(*_STOCHASTIC, Assumption.CONVEXITY),
    ),
    _round(
        "distance-step-smooth",
        "A stochastic step of at most 1/L, convex",
        nearer,
        g**2 * sigma_u**2 / n - 2 * g * (1 - L * g) * gap,
        (g, "<", 1 / L),
        settings=NOISY,
        assumptions=(*_STOCHASTIC, Assumption.CONVEXITY),
    ),
    statement(
        "distance-recursion",
        "Distances from one round to the next, convex",
        dist2,
        dist2_prev - 2 * g * gap_prev + g**2 * (G_prev + sigma_u**2 / n),
        over=LATER,
        settings=NOISY,
        assumptions=(*_STOCHASTIC, Assumption.CONVEXITY),
    ),
    _noisy_later(
        "distance-recursion-short",
        "Distances from one round to the next, small steps",
        dist2,
        dist2_prev - g * gap_prev + g**2 * sigma_u**2 / n,
        (g, "<=", 1 / (2 * L)),
    ),
    _noisy_later(
        "distance-recursion-quadratic",
        "The recursion of quadratics, an equality",
        dist2,
        dist2_prev - 4 * g * gap_prev + g**2 * G_prev + g**2 * sigma_u**2 / n,
        relation=Relation.EQUAL,
    ),
    _noisy_round(
        "distance-step-quadratic",
        "A step on quadratics, with equality",
        {nearer: ONE, gap: 4 * g},
        g**2 * (G + sigma_u**2 / n),
    ),
    _round("never-farther", "Never farther from the minimiser, open cap", nearer, ZERO, (g, "<", 2 / L)),
    # Gradients, values and distances.
    _noisy_round("self-bounding", "||grad f||^2 <= 2 L (f - f*)", G, 2 * L * gap),
    _round("self-bounding-root", "The same under a root", G, sp.sqrt(2 * L * gap * G)),
    _noisy_round("quadratic-growth", "f - f* <= L/2 ||x - x*||^2", gap, L * dist2 / 2, CAP),
    _convex_round("convex-gap", "f - f* <= ||grad f|| ||x - x*||, convex", gap, sp.sqrt(G * dist2), TWICE),
    _round(
        "quadratic-gap",
        "2 (f - f*) <= ||grad f|| ||x - x*||, quadratics",
        {gap: sp.Integer(2)},
        sp.sqrt(G) * sp.sqrt(dist2),
    ),
    _round("lipschitz-gradient", "||grad f|| <= L ||x - x*||", G, L**2 * dist2),
    statement(
        "gradients-fall",
        "Gradients fall up to 2/L, convex",
        G,
        G_prev,
        (L * g, "<=", 2),
        over=LATER,
        assumptions=(*_GRADIENT, Assumption.CONVEXITY),
    ),
    _round("gradients-bounded", "Gradients never exceed smoothness", G, 2 * L * F_0, (g, "<", 2 / L)),
    # Gradient descent and SGD.
    statement("gradient-descent", "Gradient descent", G, _gap(), CAP),
    statement("gradient-descent-open", "Gradient descent, open cap", G, _gap(), (g, "<", 1 / L)),
    statement(
        "gradient-descent-wide", "Gradient descent up to 2/L", G, F_0 / (g * (1 - L * g / 2) * T), (g, "<", 2 / L)
    ),
    statement("gradient-descent-any", "Gradient descent without a cap", {G: 1 - L * g / 2}, F_0 / (g * T)),
    statement(
        "gradient-descent-rule",
        "Gradient descent at 1/L",
        G,
        2 * L * F_0 / T,
        rules=(StepRule(symbol=g, value=1 / L, at_least=False),),
    ),
    statement(
        "gradient-descent-own",
        "Gradient descent, with any share more",
        G,
        (1 + theta) * 2 * F_0 / (g * T),
        (g * L, "<=", ONE),
    ),
    statement(
        "gradient-descent-moved",
        "Gradient descent, less what it moved",
        G,
        2 * F_0 / (g * T) - (1 - L * g) * du2 / g**2,
        CAP,
    ),
    statement(
        "gradient-descent-outer",
        "Gradient descent with an outer step",
        G,
        2 * F_0 / (gamma * T),
        (gamma, "<=", 1 / L),
        settings={"K": ONE, "m": n, "sigma_u": ZERO},
        products=(_STEP,),
    ),
    statement("local-steps-alone", "One client, K steps a round", G, _gap(), CAP, settings=ALONE),
    statement("scaffold-step", "SCAFFOLD with one step and every client", G, _gap(), CAP, algorithm="scaffold"),
    _noisy("sgd", "SGD", G, {**_gap(), "noise": L * g * sigma_u**2 / n}, CAP),
    _noisy("sgd-wide", "SGD up to 2/L", {G: 2 - L * g}, {**_gap(), "noise": L * g * sigma_u**2 / n}, TWICE),
    _noisy(
        "sgd-tuned",
        "SGD, tuned",
        G,
        2 * L * F_0 / T + sp.sqrt(8 * L * F_0 * sigma_u**2 / (n * T)),
        rules=(StepRule(symbol=g, value=_TUNED, at_least=False),),
    ),
    _sampled("sgd-sampled", "Sampled clients", G, {**_gap(), "noise": L * g * (sigma_u**2 + b**2) / m}, CAP),
    _sampled(
        "sgd-sampled-exactly",
        "Sampled clients without replacement",
        G,
        _gap() | {"noise": L * g * sigma_u**2 / m, "sampling": L * g * b**2 * (n - m) / (m * sp.Max(1, n - 1))},
        CAP,
    ),
    statement(
        "personal-sgd",
        "Every client on its own",
        G_v,
        2 * F_0 / (g_v * T) + L * g_v * sigma_v**2,
        (g_v, "<=", 1 / L),
        settings={"K": ONE, "m": n, "eta_v": ONE},
        assumptions=(_SMOOTH, _NOISE, _FULL, Assumption.NO_SHARED),
        algorithm="parallel-sgd",
    ),
    _noisy_round("step-length", "How far a step goes", du2, g**2 * G + g**2 * sigma_u**2 / n, relation=Relation.EQUAL),
    _noisy_round("step-direction", "Where a step goes", inner, -g * G, relation=Relation.EQUAL),
    # Averages.
    _any_run("jensen", "n ||mean||^2 <= sum", {G: n}, B),
    _sampled("dissimilarity", "The sum is at most n ||mean||^2 + n b^2", B, n * (G + b**2), over=EACH),
    _no_run("sum-of-vectors", "||sum||^2 <= n sum ||.||^2", sum2, n * squares, assumptions=()),
    _no_run(
        "sample-mean",
        "The mean of a sample without replacement",
        sampled2,
        xbar2 + spread * (n - m) / (n * m * sp.Max(1, n - 1)),
        assumptions=(Assumption.INDEPENDENT_SAMPLING,),
        relation=Relation.EQUAL,
    ),
    # Proximal point.
    statement(
        "proximal-point",
        "Proximal point",
        grad_F2,
        2 * lambda_ * F_0 / T,
        settings=_PROX,
        rules=_PROX_RULE,
        assumptions=_ENVELOPES,
        algorithm="pfedme",
    ),
    _round(
        "envelopes",
        "||grad F||^2 <= mean of ||grad F_i||^2",
        grad_F2,
        spread_F2,
        settings={"K": ONE, "m": n, "beta": ONE},
        rules=_PROX_RULE,
        assumptions=_ENVELOPES,
        algorithm="pfedme",
    ),
)

TWINS: tuple[Statement, ...] = (
    _round("descent-lemma-false", "A quarter of L", {descent: ONE, inner: -ONE}, L * du2 / 4 ),
    _round("gradient-step-false", "Without the second order", fall, -g * G, CAP ),
    _noisy_round(
        "distance-step-false", "Without the gradient's square", nearer, g**2 * sigma_u**2 / n - 4 * g * gap
        ),
    _round("never-farther-false", "A cap of 3/L", nearer, ZERO, (g, "<", 3 / L) ),
    _round("self-bounding-false", "Half of it", G, L * gap ),
    _round("quadratic-growth-false", "Half of it", gap, L * dist2 / 4 ),
    _round("gradients-bounded-false", "Half of it", G, L * F_0, (g, "<", 2 / L) ),
    statement("gradient-descent-false", "A tenth less", G, _gap(sp.Rational(9, 10)), CAP),
    statement("gradient-descent-capless", "Without the cap", G, _gap()),
    _noisy(
        "sgd-false", "Half of the noise", G, {**_gap(), "noise": L * g * sigma_u**2 / (2 * n)}, CAP
        ),
    statement(
        "sgd-sampled-false", "Without the sampling", G, {**_gap(), "noise": L * g * sigma_u**2 / m}, CAP,
        settings=SAMPLED, assumptions=_OF_SAMPLES,
    ),
    _round("dissimilarity-false", "Without b", B, n * G, settings=SAMPLED, assumptions=_OF_SAMPLES),
    statement(
        "proximal-point-false", "A quarter of it", grad_F2, lambda_ * F_0 / (2 * T), settings=_PROX, rules=_PROX_RULE,
        assumptions=_ENVELOPES,
        algorithm="pfedme",
    ),
)  # fmt: skip
