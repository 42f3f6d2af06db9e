"""Appendix C: Lemma 1, eqs. (34)-(39)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import sympy as sp

from bounds.ledger.draw import Draw
from bounds.ledger.proof import Proof, at_most, gram, same
from bounds.ledger.step import Enumerated, Step, StepKind, above, below, equal, positive
from bounds.ledger.vectors import dot, square, vectors
from bounds.ledger.written import written
from bounds.papers.flame.proofs import forms, runs
from bounds.papers.flame.proofs.common import (
    X,
    alpha,
    descends,
    drawn,
    dtheta,
    dw_i,
    eps,
    g_next,
    gain,
    pair_terms,
    pi,
    pi_next,
    theta,
    theta_next,
    w,
    w_i,
    w_i_next,
    w_next,
    young,
)
from bounds.papers.flame.statements import L, alpha_min, lambda_, m, rho

_step = Proof("flame/lemma-1", "Appendix C", first=6)

q = young(alpha)
_DESCENDS = descends(alpha)
_YOUNG = positive(q, "Young parameter")

# --- e_1 to e_4 for one client, without f_i ---

_E1 = written(pair_terms(theta_next, w_i_next, pi_next, w_next)) - pair_terms(theta_next, w_i_next, pi_next, w)
_E2 = pair_terms(theta_next, w_i_next, pi_next, w) - pair_terms(theta_next, w_i_next, pi, w)
_E3 = written(pair_terms(theta_next, w_i_next, pi, w)) - pair_terms(theta_next, w_i, pi, w)
_E4 = pair_terms(theta_next, w_i, pi, w) - pair_terms(theta, w_i, pi, w)
_E1_TERMS = (
    dot(pi_next, w_i_next - w_next)
    - dot(pi_next, w_i_next - w)
    + rho / 2 * square(w_i_next - w_next)
    - rho / 2 * square(w_i_next - w)
)
_E3_TERMS = (
    X / 2 * square(theta_next - w_i_next)
    - X / 2 * square(theta_next - w_i)
    + dot(pi, w_i_next - w)
    - dot(pi, w_i - w)
    + rho / 2 * square(w_i_next - w)
    - rho / 2 * square(w_i - w)
)
_E3_PRODUCTS = (
    X / 2 * dot(2 * theta_next - w_i - w_i_next, w_i - w_i_next)
    + dot(pi, w_i_next - w_i)
    + rho / 2 * dot(w_i_next + w_i - 2 * w, w_i_next - w_i)
)
_E3_ONE_PRODUCT = dot((X + rho) / 2 * (w_i_next + w_i) - X * theta_next + pi - rho * w, w_i_next - w_i)
_E3_BY_10 = dot((X + rho) / 2 * (w_i_next + w_i) - (X + rho) * w_i_next, w_i_next - w_i)
# (10) solved for pi, (11) for w, and Lemma 2.
_PI_BY_10 = X * theta_next + rho * w - (X + rho) * w_i_next
_W_BY_11 = w_i_next - (pi_next - pi) / rho
(_total,) = vectors("total")
w_i_other, pi_other = vectors("w_i_other pi_other")

_values = sp.symbols("L_0 L_1 L_2 L_3 L_4", real=True)
_f, _f_next, _rise, _slope, _pull = sp.symbols("f f_next rise slope pull", real=True)
_e1, _e2, _e3, _e4, _drop = sp.symbols("e_1 e_2 e_3 e_4 drop", real=True)
_theta2, _w_i2, _w2 = sp.symbols("dtheta2 dw_i2 dw2", nonnegative=True)
_G = vectors("G")[0]

# --- Right sides ---

_E2_BOUND = X**2 * (1 + rho) / rho * (_theta2 + _w_i2 / rho)
_E3_VALUE = -(X + rho) / 2 * _w_i2
_LONG = (1 - rho**2) / rho**2 * X**2
_E4_BOUND = (_LONG - (X + rho) / 2) * _theta2 + alpha**2 / q * eps
_SERVER = -rho * m / 2 * _w2
_FALL = -gain(alpha) * (_w_i2 + _theta2)


_Instance = tuple[runs.ProximalClients, runs.ClientVariables, runs.Numbers, range]


def _instance(draw: Draw) -> _Instance:
    """Near the equality of the repaired (16), in the sliver where q > 0, or with a large rho."""
    if draw.index % 3 == 0:
        return (*runs.tight(draw), range(2))
    problem, state = runs.anywhere(draw, draw.whole(1, 3))
    return problem, state, draw.vector(problem.m), range(draw.whole(1, problem.m))


def _sides(instance: _Instance, cost: Fraction, power: int) -> tuple[Fraction, Fraction]:
    """Both sides of (16)."""
    problem, state, targets, selected = instance
    new = runs.after(problem, state, targets, selected)
    right = sum(
        (
            problem.inner_cost(i, cost, power) * runs.slope(problem, state, i, targets[i]) ** 2
            - problem.gain(i) * sum(runs.steps2(state, new, i))
            for i in selected
        ),
        Fraction(0),
    )
    return runs.lagrangian(problem, new) - runs.lagrangian(problem, state), right


def _change(draw: Draw, *, with_young: bool, cost: Fraction, power: int) -> tuple[Fraction, Fraction] | None:
    instance = _instance(draw)
    return _sides(instance, cost, power) if instance[0].applies(with_young=with_young) else None


def _solved(draw: Draw, *, with_young: bool) -> tuple[Fraction, Fraction] | None:
    """(16) with exact inner solutions, so that no eps_i enters."""
    problem, state = runs.anywhere(draw, draw.whole(1, 3))
    selected = range(draw.whole(1, problem.m))
    if draw.index == 0:
        (problem, state), selected = runs.simplest(draw, 3, 4, Fraction(1, 2)), range(1)
    else:
        runs.show(draw, problem, state)
    if any(h + problem.lambda_ == 0 for h in problem.h) or not problem.applies(with_young=with_young):
        return None
    targets = runs.stationary(problem, state, (Fraction(0),) * problem.m)
    return _sides((problem, state, targets, selected), Fraction(1), 2)


def _solved_check(*, with_young: bool) -> Enumerated:
    return drawn(partial(_solved, with_young=with_young), kind=StepKind.END_TO_END)


STEPS: tuple[Step, ...] = (
    _step(
        "eq. (34)",
        "L^{t+1} - L^t = e_1^t + e_2^t + e_3^t + e_4^t",
        same(
            _values[4] - _values[0],
            sum((written(_values[j + 1] - _values[j]) for j in reversed(range(4))), sp.Integer(0)),
        ),
        remark="L_0 ... L_4 are the five values of the Lagrangian, from (Theta^t, W^t, Pi^t, w^t) on.",
    ),
    _step(
        "eq. (35), first equality",
        "e_1 = sum_i <pi_i^{t+1}, w_i^{t+1} - w^{t+1}> - <pi_i^{t+1}, w_i^{t+1} - w^t> + the same with rho/2 ||.||^2",
        same(_E1, _E1_TERMS),
        remark="Client by client.",
    ),
    _step(
        "eq. (35), second equality",
        "e_1 = sum_i <pi_i^{t+1} + rho*w_i^{t+1} - rho/2 (w^t + w^{t+1}), w^t - w^{t+1}>",
        same(_E1_TERMS, dot(pi_next + rho * w_i_next - rho / 2 * (w + w_next), w - w_next)),
        remark="Client by client.",
    ),
    _step(
        "eq. (35), third equality",
        "e_1 = -rho*m/2 ||w^{t+1} - w^t||^2",
        same(
            dot(_total - m * rho / 2 * (w + _total / (m * rho)), w - _total / (m * rho)),
            -rho * m / 2 * square(_total / (m * rho) - w),
        ),
        remark="total = sum_i (pi_i^{t+1} + rho*w_i^{t+1}), which is m*rho*w^{t+1} by (12).",
    ),
    _step(
        "eq. (36), first equality",
        "e_2 = sum_i <pi_i^{t+1} - pi_i^t, w_i^{t+1} - w^t>",
        same(_E2, dot(pi_next - pi, w_i_next - w)),
        remark="Client by client.",
    ),
    _step(
        "eq. (36), second equality",
        "the clients that are not selected contribute 0",
        same(
            dot(pi_next - pi, w_i_next - w) + dot(pi_other - pi_other, w_i_other - w), dot(pi_next - pi, w_i_next - w)
        ),
        remark="One client of each kind.",
    ),
    _step(
        "eq. (36), third equality",
        "<pi_i^{t+1} - pi_i^t, w_i^{t+1} - w^t> = ||pi_i^{t+1} - pi_i^t||^2/rho",
        same(dot(pi_next - pi, w_i_next - _W_BY_11), square(pi_next - pi) / rho),
    ),
    _step(
        "eq. (36), fourth equality",
        "||pi_i^{t+1} - pi_i^t||^2/rho = lambda^2*alpha_i^2/rho ||theta_i^{t+1} - theta_i^t - w_i^{t+1} + w_i^t||^2",
        same(
            square(X * (theta_next - w_i_next) - X * (theta - w_i)) / rho,
            lambda_**2 * alpha**2 / rho * square(theta_next - theta - w_i_next + w_i),
        ),
    ),
    _step(
        "eq. (36), inequality",
        "lambda^2*alpha_i^2/rho ||dtheta - dw_i||^2 "
        "<= lambda^2*alpha_i^2*(1 + rho)/rho (||dtheta||^2 + ||dw_i||^2/rho)",
        gram(X**2 / rho * square(dtheta - dw_i), X**2 * (1 + rho) / rho * (square(dtheta) + square(dw_i) / rho)),
        remark="(23) with k = rho, a number without a unit for a penalty with one.",
    ),
    _step(
        "eq. (37), first equality",
        "e_3 = sum_i of the change of lambda*alpha_i/2 ||theta_i^{t+1} - w_i||^2 + <pi_i, w_i - w> "
        "+ rho/2 ||w_i - w||^2",
        same(_E3, _E3_TERMS),
        remark="Client by client.",
    ),
    _step(
        "eq. (37), second equality",
        "e_3 = sum_i lambda*alpha_i/2 <2*theta_i^{t+1} - w_i^t - w_i^{t+1}, w_i^t - w_i^{t+1}> "
        "+ <pi_i, w_i^{t+1} - w_i^t> + rho/2 <w_i^{t+1} + w_i^t - 2*w, w_i^{t+1} - w_i^t>",
        same(_E3_TERMS, _E3_PRODUCTS),
    ),
    _step(
        "eq. (37), third equality",
        "e_3 = sum_S <(lambda*alpha_i + rho)/2 (w_i^{t+1} + w_i^t) "
        "- lambda*alpha_i*theta_i^{t+1} + pi_i - rho*w, dw_i>",
        same(_E3_PRODUCTS, _E3_ONE_PRODUCT),
        remark="The clients that are not selected have dw_i = 0.",
    ),
    _step(
        "eq. (37), fourth equality",
        "e_3 = sum_S <(lambda*alpha_i + rho)/2 (w_i^{t+1} + w_i^t) - (lambda*alpha_i + rho)*w_i^{t+1}, dw_i>",
        same(dot((X + rho) / 2 * (w_i_next + w_i) - X * theta_next + _PI_BY_10 - rho * w, w_i_next - w_i), _E3_BY_10),
    ),
    _step(
        "eq. (37), fifth equality",
        "e_3 = -sum_S (lambda*alpha_i + rho)/2 ||w_i^{t+1} - w_i^t||^2",
        same(_E3_BY_10, -(X + rho) / 2 * square(w_i_next - w_i)),
    ),
    _step(
        "eq. (38), first equality",
        "e_4 = sum_i alpha_i (f_i(theta^{t+1}) + lambda/2 ||theta^{t+1} - w_i||^2 - f_i(theta^t) "
        "- lambda/2 ||theta^t - w_i||^2)",
        same(
            _E4 + alpha * (_f_next - _f),
            alpha * (_f_next + lambda_ / 2 * square(theta_next - w_i) - _f - lambda_ / 2 * square(theta - w_i)),
        ),
    ),
    _step(
        "eq. (38), first inequality, the squares",
        "lambda*alpha_i/2 (||theta^{t+1} - w_i||^2 - ||theta^t - w_i||^2) "
        "= lambda*alpha_i/2 <theta^{t+1} + theta^t - 2*w_i, theta^{t+1} - theta^t>",
        same(
            X / 2 * (square(theta_next - w_i) - square(theta - w_i)),
            X / 2 * dot(theta_next + theta - 2 * w_i, theta_next - theta),
        ),
    ),
    _step(
        "eq. (38), first inequality",
        "e_4 <= sum_i alpha_i <grad f_i(theta^{t+1}), dtheta> + L*alpha_i/2 ||dtheta||^2 + the squares",
        at_most(
            alpha * _rise + X / 2 * _pull,
            alpha * _slope + L * alpha / 2 * _theta2 + X / 2 * _pull,
            below(_rise, _slope + L / 2 * _theta2, "(21)"),
        ),
        remark="rise = f_i(theta^{t+1}) - f_i(theta^t), slope = <grad f_i(theta^{t+1}), dtheta>.",
    ),
    _step(
        "eq. (38), second equality",
        "e_4 <= sum_S alpha_i <grad f_i(theta^{t+1}) + lambda (theta^{t+1} - w_i), dtheta> "
        "+ alpha_i*(L - lambda)/2 ||dtheta||^2",
        same(
            alpha * dot(g_next, theta_next - theta)
            + L * alpha / 2 * square(theta_next - theta)
            + X / 2 * dot(theta_next + theta - 2 * w_i, theta_next - theta),
            alpha * dot(g_next + lambda_ * (theta_next - w_i), theta_next - theta)
            + alpha * (L - lambda_) / 2 * square(theta_next - theta),
        ),
    ),
    _step(
        "eq. (38), second inequality: the Young parameter",
        "q = (1/rho^2 - 1)*lambda^2*alpha_i^2 - (L*alpha_i + rho)/2 is positive, as Proposition 3 asks",
        at_most(q, sp.Integer(0), _DESCENDS, operator=">"),
        repaired=at_most(
            q,
            sp.Integer(0),
            _DESCENDS,
            below(alpha_min, alpha),
            positive(young(alpha_min), "Young parameter"),
            operator=">",
        ),
        repair="assumed for the smallest weight, from which it follows for all",
        remark="(38) refers to Proposition 3, where k > 0, and its k is a multiple of q. q > 0 is not assumed "
        "anywhere.",
    ),
    _step(
        "eq. (38), second inequality",
        "<G, dtheta> <= q ||dtheta||^2 + alpha_i^2*eps_i/q",
        gram(dot(_G, dtheta), q * square(dtheta) + alpha**2 / q * square(_G), where=(_DESCENDS,)),
        repaired=gram(dot(_G, dtheta), q * square(dtheta) + square(_G) / (4 * q), where=(_DESCENDS, _YOUNG)),
        repair="q > 0, and 1/(4*q) for alpha_i^2/q",
        remark="G = alpha_i (grad f_i(theta^{t+1}) + lambda (theta^{t+1} - w_i)), with eps_i = ||G||^2, the least that "
        "(13) allows: eps_i contains alpha_i^2 already.",
    ),
    _step(
        "eq. (38), second inequality, given q > 0",
        "<G, dtheta> <= q ||dtheta||^2 + alpha_i^2*eps_i/q",
        gram(dot(_G, dtheta), q * square(dtheta) + alpha**2 / q * square(_G), where=(_DESCENDS, _YOUNG)),
        repaired=gram(
            dot(_G, dtheta),
            q * square(dtheta) + alpha**2 / q * square(_G),
            where=(_DESCENDS, _YOUNG, above(alpha, sp.Rational(1, 2))),
        ),
        repair="alpha_i >= 1/2; below it 1/(4*q) in place of alpha_i^2/q, with which lemma-1-31 is repaired",
        remark="The printed constant alone: Proposition 3 gives 1/(4*q), and 1/m < 1/2 from m = 3 on.",
    ),
    _step(
        "eq. (38), third equality",
        "(1 - rho^2)/rho^2*lambda^2*alpha_i^2 - (L*alpha_i + rho)/2 + alpha_i*(L - lambda)/2 "
        "= (1 - rho^2)/rho^2*lambda^2*alpha_i^2 - (lambda*alpha_i + rho)/2",
        same(_LONG - (L * alpha + rho) / 2 + alpha * (L - lambda_) / 2, _LONG - (X + rho) / 2),
    ),
    _step(
        "eq. (39), first inequality",
        "(35)-(38) put into (34)",
        at_most(
            _e1 + _e2 + _e3 + _e4,
            _SERVER + _E2_BOUND + _E3_VALUE + _E4_BOUND,
            equal(_e1, _SERVER, "(35)"),
            below(_e2, _E2_BOUND, "(36)"),
            equal(_e3, _E3_VALUE, "(37)"),
            below(_e4, _E4_BOUND, "(38)"),
        ),
        remark="One selected client.",
    ),
    _step(
        "eq. (39), equality",
        "the terms by ||dtheta||^2 and ||dw_i||^2 collected, with alpha_i*eps_i/q",
        same(_SERVER + _E2_BOUND + _E3_VALUE + _E4_BOUND, _SERVER + _FALL + alpha / q * eps),
        repaired=same(_SERVER + _E2_BOUND + _E3_VALUE + _E4_BOUND, _SERVER + _FALL + alpha**2 / q * eps),
        repair="alpha_i^2, as in the lines before and after",
    ),
    _step(
        "eq. (39), last inequality",
        "-rho*m/2 ||w^{t+1} - w^t||^2 + ... + alpha_i*eps_i/q <= ... + alpha_i^2*eps_i/q",
        at_most(_SERVER + _FALL + alpha / q * eps, _FALL + alpha**2 / q * eps, _DESCENDS, _YOUNG),
        repaired=at_most(_SERVER + _FALL + alpha**2 / q * eps, _FALL + alpha**2 / q * eps, _DESCENDS, _YOUNG),
        repair="alpha_i^2 on the left, as in the line before it",
    ),
    _step(
        "Section 4.4, Lemma 1, eq. (16), with exact inner solutions",
        "L^{t+1} - L^t <= sum_S -(..)*(||dw_i||^2 + ||dtheta_i||^2)",
        _solved_check(with_young=False),
        repaired=_solved_check(with_young=True),
        repair="q > 0",
        remark="eps_i = 0; one client of weight 1, for which the Lagrangian grows.",
        number=41,
    ),
    _step(
        "Section 4.4, Lemma 1, eq. (16)",
        "L^{t+1} - L^t <= sum_S -(..)*(||dw_i||^2 + ||dtheta_i||^2) + alpha_i^2*eps_i/q",
        drawn(partial(_change, with_young=False), kind=StepKind.END_TO_END, cost=Fraction(1), power=2),
        repaired=drawn(
            partial(_change, with_young=True),
            kind=StepKind.END_TO_END,
            form=forms.descent,
            cost=Fraction(1, 4),
            power=0,
        ),
        repair="q > 0, and 1/(4*q) for alpha_i^2/q",
        remark="Quadratic f_i with any inner solutions, eps_i the squared residual. A third of the instances lie where "
        "the repaired form holds with equality.",
        number=31,
    ),
    _step(
        "not printed: the Young parameter of the smallest weight",
        "q(alpha_min) <= q(alpha_i) where q(alpha_min) > 0",
        forms.least_young(),
        remark="So 1/(4*q) is largest at alpha_min.",
    ),
    _step(
        "not printed: the least gain",
        "c_1 = min{gain(alpha_min), gain(alpha_max)} <= gain(alpha_i)",
        forms.least_gain(),
        remark="alpha_i = part*alpha_max + (1 - part)*alpha_min; the gain is concave in alpha_i.",
    ),
    _step(
        "not printed: eqs. (35) to (38), repaired, put into eq. (34)",
        "L^{t+1} - L^t <= sum_S -c_1*(||dw_i||^2 + ||dtheta_i||^2) + eps_max/(4*q(alpha_min))",
        forms.change(sp.Integer(1)),
        remark="Client by client, with the constants of the statement. pull = <G, dtheta>, and e_1 is its share.",
    ),
    _step(
        "not printed: c_1 is positive",
        "gain(alpha_i)/alpha_i >= gain(alpha_max)/alpha_max, which is positive by the condition",
        forms.positive_gain(),
    ),
    _step(
        "not printed: eq. (36), inequality, with any Young parameter",
        "lambda^2*alpha_i^2/rho ||dtheta - dw_i||^2 "
        "<= lambda^2*alpha_i^2/rho ((1 + k) ||dtheta||^2 + (1 + 1/k) ||dw_i||^2)",
        forms.dual_change(),
    ),
    _step(
        "not printed: eq. (38), second inequality, with a share of the convexity",
        "<G, dtheta> <= share*alpha_i*(lambda - L)/2 ||dtheta||^2 + eps_i/(2*share*alpha_i*(lambda - L))",
        forms.convex_share(sp.Rational(1, 4)),
    ),
    _step(
        "not printed: the least gains with k and the share",
        "what is concave in alpha_i is least at alpha_min or at alpha_max",
        forms.concave(),
        remark="alpha_i = part*alpha_max + (1 - part)*alpha_min. Of the gains of theta_i and of w_i.",
    ),
    _step(
        "not printed: eqs. (35) to (38), with k and the share, put into eq. (34)",
        "L^{t+1} - L^t <= sum_S -(gain of theta_i)*||dtheta_i||^2 - (gain of w_i)*||dw_i||^2 + c_0*eps_max",
        forms.wide_change(),
        remark="Client by client, as for the repaired form. c_0 = 1/(2*share*alpha_min*(lambda - L)).",
    ),
    _step(
        "not printed: the gains with k and the share are positive",
        "per weight they are no smaller than at alpha_max, where the conditions make them positive",
        forms.positive_concave(),
        remark="rest is rho/2 for w_i, and 0 for theta_i.",
    ),
)
