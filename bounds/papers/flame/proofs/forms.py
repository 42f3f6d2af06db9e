"""Claims of this ledger for every m, for any vectors and all smooth f_i; instances of the same claims are in `runs`.

Clients have weights of their own, so that what is summed over them is claimed of each. A client that is not selected
has the steps that it would make if it were.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from bounds.ledger.proof import at_most, gram
from bounds.ledger.step import Gram, Scalar, above, below, equal, positive
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.flame import statements as flame
from bounds.papers.flame.proofs.common import (
    X,
    alpha,
    descends,
    dtheta,
    dw_i,
    eps,
    g,
    g_next,
    gain,
    pair_terms,
    pi,
    theta,
    theta_next,
    w,
    w_i,
    w_i_next,
    young,
)
from bounds.papers.flame.statements import (
    F_star,
    L,
    alpha_max,
    alpha_min,
    eps_max,
    gamma_bar,
    k,
    lambda_,
    m,
    rho,
    s,
    share,
)
from bounds.statement import Condition

ZERO = sp.Integer(0)
_f, _f_next, _joint, _value, _pairing = sp.symbols("f f_next joint value pairing", real=True)
_theta2, _w_i2 = sp.symbols("dtheta2 dw_i2", nonnegative=True)
c_1 = sp.Symbol("c_1", positive=True)


# --- Lemma 2 ---


def dual_equation() -> Gram:
    """Eq. (25) after a round, of a client that is selected (``there`` is 1) or not (0), from the same before it."""
    there = sp.Symbol("there", nonnegative=True)
    dual = X * theta_next + rho * w - (X + rho) * w_i_next  # (10), solved for pi
    new_theta, new_w_i = theta + there * (theta_next - theta), w_i + there * (w_i_next - w_i)
    new_dual = dual + there * rho * (w_i_next - w)
    return gram(
        square(new_dual - X * (new_theta - new_w_i)),
        ZERO,
        equal(square(dual - X * (theta - w_i)), ZERO, "before the round, at first by (28)"),
        operator="==",
    )


# --- Lemma 3: one client after the other, the last of them with the minimum (6) ---

_MINIMUM = below(F_star, _joint + alpha * (_f + lambda_ / 2 * square(theta - w)), "minimum")


def above_minimum(penalty: sp.Expr) -> Gram:
    """L >= F^* where rho >= penalty*lambda*alpha_i, by Lemma 2."""
    return gram(
        _value + alpha * _f + pair_terms(theta, w_i, X * (theta - w_i), w),
        F_star,
        below(_joint, _value, "the clients before it"),
        _MINIMUM,
        operator=">=",
        where=(above(rho, penalty * X, "penalty"),),
    )


def any_dual() -> Gram:
    """L >= F^* - sum_i <lambda*alpha_i*(theta_i - w_i) - pi_i, w_i - w> for any dual variables."""
    return gram(
        _value + alpha * _f + pair_terms(theta, w_i, pi, w),
        F_star - _pairing - dot(X * (theta - w_i) - pi, w_i - w),
        below(_joint, _value + _pairing, "the clients before it"),
        _MINIMUM,
        operator=">=",
        where=(above(rho, X, "penalty"),),
    )


def paired() -> Gram:
    """<r, d> <= R*A for |r| <= R and |d| = A, in vectors of length 1 at most."""
    R, A = sp.symbols("R A", positive=True)
    one, other = vectors("r/R d/A")
    return gram(R * A * dot(one, other), R * A, below(R * A * square(one), R * A), below(R * A * square(other), R * A))


# --- Lemma 1 ---

_TANGENT = below(
    _f_next - _f, dot(g_next, theta_next - theta) + L / 2 * square(theta_next - theta), "Proposition 2, eq. (21)"
)


def descent(cost: sp.Expr, power: sp.Expr) -> Gram:
    """(16) of a selected client: e_2 + e_3 + e_4, with Lemma 2 for its dual variables and (11) for w."""
    dual, dual_next = X * (theta - w_i), X * (theta_next - w_i_next)
    server = w_i_next - (dual_next - dual) / rho
    q = young(alpha)
    before, after = pair_terms(theta, w_i, dual, server), pair_terms(theta_next, w_i_next, dual_next, server)
    residual = alpha * (g_next + lambda_ * (theta_next - w_i))
    return gram(
        alpha * (_f_next - _f) + after - before,
        -gain(alpha) * (square(theta_next - theta) + square(w_i_next - w_i))
        + cost * alpha**power / q * square(residual),
        _TANGENT,
        where=(descends(alpha), positive(q, "Young parameter")),
    )


def least_young() -> Scalar:
    """The Young parameter of a client is at least that of the smallest weight."""
    smallest = positive(young(alpha_min), "Young parameter")
    return at_most(young(alpha_min), young(alpha), below(alpha_min, alpha), smallest)


def least_gain() -> Scalar:
    """The gain of a client is at least that of the smallest or of the largest weight."""
    part = sp.Symbol("part", nonnegative=True)
    between = part * alpha_max + (1 - part) * alpha_min
    return at_most(
        c_1,
        gain(between),
        below(part, 1),
        below(alpha_min, alpha_max),
        below(c_1, gain(alpha_min)),
        below(c_1, gain(alpha_max)),
    )


def positive_gain() -> Scalar:
    """The gain of a client is positive where that of the largest weight is: per weight it is no smaller."""
    left, right = alpha * gain(alpha_max), alpha_max * gain(alpha)
    return at_most(left, right, below(alpha, alpha_max))


def change(cost: sp.Expr) -> Scalar:
    """(16) of a selected client from (35) to (38), with constants that serve all of them: c_0 is at least 1/(4*q)."""
    e_1, e_2, e_3, e_4, pull = sp.symbols("e_1 e_2 e_3 e_4 pull", real=True)
    own, c_0, ratio = sp.symbols("own c_0 lambda*alpha/rho", positive=True)

    def scaled(expr: sp.Expr) -> sp.Expr:
        return sp.expand(expr.xreplace({lambda_: ratio * rho / alpha}))

    return at_most(
        e_1 + e_2 + e_3 + e_4,
        -c_1 * (_theta2 + _w_i2) + cost * c_0 * eps_max,
        below(e_1, ZERO, "(35)"),
        below(e_2, scaled(X**2 * (1 + rho) / rho * (_theta2 + _w_i2 / rho)), "(36)"),
        below(e_3, scaled(-(X + rho) / 2 * _w_i2), "(37)"),
        below(e_4, scaled(pull + alpha * (L - lambda_) / 2 * _theta2), "(38), second equality"),
        below(pull, scaled(young(alpha) * _theta2) + own * eps, "(38), second inequality, repaired"),
        below(own, c_0, "1/(4*q), at the smallest weight"),
        below(c_1, scaled(gain(alpha)), "at the smallest or largest weight"),
        below(eps, eps_max),
    )


# --- Lemma 1 for every large rho: k for rho in (36), share*alpha*(lambda - L)/2 for q in (38) ---


def dual_change() -> Gram:
    """(36), inequality, with k."""
    right = X**2 / rho * ((1 + k) * square(dtheta) + (1 + 1 / k) * square(dw_i))
    return gram(X**2 / rho * square(dtheta - dw_i), right)


# lambda - L, and lambda^2*alpha_i^2/rho.
_excess, _pull = sp.symbols("lambda-L lambda^2*alpha_i^2/rho", positive=True)


def convex_share(cost: sp.Expr) -> Gram:
    """(38), second inequality, with the share."""
    (residual,) = vectors("G")
    q = share * alpha * _excess / 2
    right = q * square(dtheta) + cost / q * square(residual)
    return gram(dot(residual, dtheta), right)


def concave() -> Scalar:
    """A function concave in the weight, as the gains of theta_i and of w_i are, is least at an end."""
    part, bend = sp.symbols("part bend", nonnegative=True)
    rise, rest = sp.symbols("rise rest", real=True)
    least = sp.Symbol("least", positive=True)

    def own(weight: sp.Expr) -> sp.Expr:
        return rest + rise * weight - bend * weight**2

    return at_most(
        least,
        own(part * alpha_max + (1 - part) * alpha_min),
        below(part, 1),
        below(alpha_min, alpha_max),
        below(least, own(alpha_min)),
        below(least, own(alpha_max)),
    )


def positive_concave() -> Scalar:
    """A function concave in the weight and at least 0 at 0 is positive where it is so at the largest weight."""
    rest, bend = sp.symbols("rest bend", nonnegative=True)
    rise = sp.Symbol("rise", real=True)

    def own(weight: sp.Expr) -> sp.Expr:
        return rest + rise * weight - bend * weight**2

    left, right = alpha * own(alpha_max), alpha_max * own(alpha)
    return at_most(left, right, below(alpha, alpha_max))


def wide_change() -> Scalar:
    """Remainder of (34) after (35) to (38) for a selected client."""
    e_1, e_2, e_3, e_4, pull = sp.symbols("e_1 e_2 e_3 e_4 pull", real=True)
    theta_gain, w_gain, own, c_0, inverse = sp.symbols("theta_gain w_gain own c_0 1/k", positive=True)
    return at_most(
        e_1 + e_2 + e_3 + e_4,
        -theta_gain * _theta2 - w_gain * _w_i2 + c_0 * eps_max,
        below(e_1, ZERO, "(35)"),
        below(e_2, _pull * ((1 + k) * _theta2 + (1 + inverse) * _w_i2), "(36), with k"),
        below(e_3, -(X + rho) / 2 * _w_i2, "(37)"),
        below(e_4, pull - alpha * _excess / 2 * _theta2, "(38), second equality"),
        below(pull, share * alpha * _excess / 2 * _theta2 + own * eps, "(38), with the share"),
        below(own, c_0, "1/(2*share*alpha*(lambda - L)), at the smallest weight"),
        below(theta_gain, (1 - share) * _excess * alpha / 2 - _pull * (1 + k), "at an end"),
        below(w_gain, (X + rho) / 2 - _pull * (1 + inverse), "at an end"),
        below(eps, eps_max),
    )


# --- Theorem 2 ---

CONVEX = (below(L, lambda_, "convex inner problems"), above(rho, lambda_ * alpha_max, "penalty"))

# What a selected client's steps are in the mean: E[1_i v_i].
_SELECTED = "(47)"
_chosen_theta, _chosen_w = sp.symbols("chosen_theta chosen_w", nonnegative=True)
_by_w, _by_theta, _by_w_i, _by_pi = sp.symbols("grad_w2 grad_theta2 grad_w_i2 grad_pi2", nonnegative=True)
_APART = X / rho * (dtheta - dw_i) - dw_i
_GRADIENT_42 = 2 * alpha**2 * (L + lambda_) ** 2 * _theta2 + 2 * eps
_GRADIENT_43 = (2 * rho**2 + 4 * X**2) * _w_i2 + 4 * X**2 * _theta2


def by_theta(inner: sp.Expr) -> Gram:
    """(42) with (L + lambda)^2."""
    residual = alpha * (g_next + lambda_ * (theta_next - w_i))
    return gram(
        square(alpha * (g + lambda_ * (theta - w_i))),
        2 * alpha**2 * (L + lambda_) ** 2 * square(theta_next - theta) + inner * square(residual),
        below(square(g - g_next), L**2 * square(theta - theta_next), "smoothness"),
    )


def by_w_i(factor: sp.Expr) -> Gram:
    """(43): w_i - w by (11), and Lemma 2."""
    right = (2 * rho**2 + factor * X**2) * square(dw_i) + factor * X**2 * square(dtheta)
    return gram(rho**2 * square(_APART), right)


def chance(power: sp.Expr) -> Scalar:
    """E[1_i v_i] = s/m v_i under uniform selection: all clients are selected with the same probability."""
    likely = sp.Symbol("P(i in S)", nonnegative=True)
    value = sp.Symbol("v", real=True)
    alike = equal(m * likely, s, "the sum over the clients is E|S| = s")
    return at_most(likely * value, (s / m) ** power * value, alike, operator="==")


def inner_errors(factor: sp.Expr) -> Scalar:
    """(47), the inner errors of a client that is selected with probability s/m."""
    own, c_0 = sp.symbols("cost c_0", positive=True)
    return at_most(
        s / m * own * eps, factor * s / m * c_0 * eps_max, below(own, c_0, "the largest"), below(eps, eps_max)
    )


def small_penalty() -> Scalar:
    """Where q > 0 rho is at most 1."""
    parameter = positive(young(alpha), "Young parameter")
    return at_most(X**2 * rho**2, X**2, parameter)


def convex_inner() -> Scalar:
    """c_1 > 0 and q > 0 make lambda at least L."""
    return at_most(
        (1 + rho) * alpha * L,
        (1 + rho) * alpha * lambda_,
        descends(alpha),
        positive(young(alpha), "Young parameter"),
        below(rho**2, 1),
    )


def all_gradients(c_2: sp.Expr) -> Scalar:
    """(40) from (41) to (44) and (47), of one client, in the forms that hold; (41) is about all of them."""
    return at_most(
        _by_w + _by_theta + _by_w_i + _by_pi,
        m / s * c_2 * (_chosen_theta + _chosen_w) + 2 * eps_max,
        equal(_by_w, ZERO, "(41)"),
        below(_by_theta, _GRADIENT_42, "(42), repaired"),
        below(_by_w_i, _GRADIENT_43, "(43)"),
        below(_by_pi, _GRADIENT_43 / rho**2, "(44)"),
        equal(_chosen_theta, s / m * _theta2, _SELECTED),
        equal(_chosen_w, s / m * _w_i2, _SELECTED),
        below(alpha, alpha_max),
        below(eps, eps_max),
        *CONVEX,
    )


def of_all(inner: sp.Expr) -> Scalar:
    """(45), of one client, whether it is selected or not."""
    claim = all_gradients(flame.C2)
    known = tuple(each for each in claim.hypotheses if each.name != _SELECTED)
    return replace(claim, right=flame.C2 * (_theta2 + _w_i2) + inner * eps_max, hypotheses=known)


# What a client gains per squared step of theta_i and of w_i, for every large rho, and what its steps gain in the mean.
_theta_gain, _w_gain, _ratio = sp.symbols("theta_gain w_gain ratio", positive=True)


def gradients_by_gains(inner: sp.Expr) -> Scalar:
    """(40) from (41) to (44) and (47), of one client, by what its steps gain; costs are factors in (42)-(44)."""
    cost_42, theta_43, w_43, theta_44, w_44 = sp.symbols("cost_42 theta_43 w_43 theta_44 w_44", nonnegative=True)
    return at_most(
        _by_w + _by_theta + _by_w_i + _by_pi,
        m / s * _ratio * (_theta_gain * _chosen_theta + _w_gain * _chosen_w) + inner * eps_max,
        equal(_by_w, ZERO, "(41)"),
        below(_by_theta, cost_42 * _theta2 + 2 * eps, "(42), repaired"),
        below(_by_w_i, theta_43 * _theta2 + w_43 * _w_i2, "(43)"),
        below(_by_pi, theta_44 * _theta2 + w_44 * _w_i2, "(44)"),
        equal(_chosen_theta, s / m * _theta2, _SELECTED),
        equal(_chosen_w, s / m * _w_i2, _SELECTED),
        below(eps, eps_max),
        below(cost_42 + theta_43 + theta_44, _ratio * _theta_gain, "the ratio, of theta_i"),
        below(w_43 + w_44, _ratio * _w_gain, "the ratio, of w_i"),
    )


def largest_ratio() -> Scalar:
    """The ratio of theta_i is largest for the largest weight: both sides over the weight; cost is that of (42)-(44)."""
    cost, rise, bend = sp.symbols("cost rise bend", positive=True)
    return at_most(
        alpha * cost,
        _ratio * (rise - bend * alpha),
        below(alpha, alpha_max),
        below(alpha_max * cost, _ratio * (rise - bend * alpha_max), "at the largest weight"),
    )


def ratio_of_w() -> Scalar:
    """The ratio of w_i: the least gain, and the largest weight in what (43) and (44) cost."""
    least = sp.Symbol("least", positive=True)
    dual = 4 * lambda_**2 * (1 + 1 / rho**2)
    return at_most(
        2 * rho**2 + 2 + dual * alpha**2,
        _ratio * _w_gain,
        below(alpha, alpha_max),
        below(least, _w_gain, "the least gain"),
        below(2 * rho**2 + 2 + dual * alpha_max**2, _ratio * least, "the ratio"),
    )


def own_gains() -> Scalar:
    """(54), first inequality, with the least coefficient."""
    moved, chosen, of_gains, skew = sp.symbols("moved chosen gains skew", nonnegative=True)
    return at_most(
        -of_gains,
        -s * skew / m * c_1 * moved,
        above(of_gains, c_1 * chosen, "client by client"),
        equal(chosen / s, skew * moved / m, "(17)"),
    )


def theta_gradients(constant: sp.Expr, *known: Condition) -> Scalar:
    """(52) and (54), in the forms that hold: the steps of all clients by those of the selected ones."""
    moved, chosen, skew, gradient = sp.symbols("moved chosen skew gradient", nonnegative=True)
    return at_most(
        gradient,
        m / (s * gamma_bar) * constant * chosen + 2 * m * eps_max,
        below(gradient, flame.THETA_GRADIENT * moved + 2 * m * eps_max, "(52), repaired, with the largest weight"),
        equal(chosen / s, skew * moved / m, "(17)"),
        above(skew, gamma_bar, "(18)"),
        *known,
    )
