"""Appendix C, Lemmas 4 to 6: the Lipschitz constants of y*, v* and Phi, and the sizes and changes of gradients."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, expect_square, plus, times
from bounds.ledger.draw import square as norm2
from bounds.ledger.families import squares, total
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives, reals, same
from bounds.ledger.step import StepKind, below, equal
from bounds.ledger.vectors import dot, square, vectors
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn, weighted
from bounds.papers.simfbo.proofs.rounds import V, X, Y, drawn_point, drawn_round, size

L_1, L_2, L_3, L_f, mu = s.L_1, s.L_2, s.L_3, s.L_f, s.mu_g
r, r_max, L_y, L_v = positives("r r_max L_y L_v")

# --- Lemma 4 ---

_four = Proof("simfbo/lemma-4")
_dx, _dy, _d, _dFx, _dGxy, _dGyy, _Gxy, _v_size, _dv, _jacobian, _inverse = nonnegative(
    "dx dy D dF_x dG_xy dG_yy G_xy v_size dv y_jacobian inverse"
)
_dx2, _dy2, _dv2, _v2, _dF2, _dG2, _dG3, _dJ2, _G2, _G3, _F2, _J2 = nonnegative(
    "dx2 dy2 dv2 v2 dF2 dG2 dG_yyx2 dJ2 G2 G_yyx2 F2 J2"
)
_p, _q1, _q2 = vectors("G1inv_F1 G1inv_F2 G2inv_F2")
_g1, _g2 = positives("G_1 G_2")
_V_FACTOR = 2 * L_1**2 / mu**2 + 2 * L_f**2 * L_2**2 / mu**4
_L_VX2 = 4 / mu**2 * ((L_2**2 + r**2 * L_3**2 + L_2**2 * L_v**2) * (1 + L_y**2) + L_2**2 * L_v**2)

# G = m(x)*d^2/2 + G_yyy*d^3/6 with d = y - slope*x and m(x) = m_0 + m_1*x, F = f_0*y + f_1*x*y + f_2*y^2/2, near d = 0:
# then y*(x) = slope*x, G_yy = m, G_yyx = m_1 - G_yyy*slope, F_yx = f_1, F_yy = f_2.
_x, _x_2, _slope, _third, _m1, _f0, _f1, _f2 = reals("x x_2 slope G_yyy m_1 f_0 f_1 f_2")
_m = positives("m_0") + _m1 * _x
_v_star = (_f0 + _f1 * _x + _f2 * _slope * _x) / _m
_v_prime = sp.diff(_v_star, _x)
_G_yyx = _m1 - _third * _slope
_TOTAL = _v_star * (_G_yyx + _third * _slope) + _m * _v_prime - _f1 - _f2 * _slope
_POLYNOMIALS = (
    "One dimension, G = m(x) d^2/2 + G_yyy d^3/6 with d = y - slope*x, m = m_0 + m_1*x, and F = f_0*y + f_1*x*y + "
    "f_2*y^2/2 near y*(x) = slope*x; they may be continued so that the assumptions hold. "
)
_PARTIAL = (
    "grad_x v*(x, y*(x)) is read as the partial derivative of v*(x, y) = [G_yy]^-1 F_y. The total derivative has "
    "F_yy y*' - v*^T G_yyy y*' on the right too, which (15) drops."
)
_dF, _v_change, _G3_change, _G_change = vectors("dF v_change G_yyx_change G_change")


def _between(expr: sp.Expr) -> sp.Expr:
    """The value at x less that at x_2."""
    return expr - expr.xreplace({_x: _x_2})


def _root(value: Fraction) -> Fraction:
    """The square root, rounded down to a millionth."""
    return Fraction(math.isqrt(math.floor(value * 10**12)), 10**6)


def _v_jacobian(draw: Draw, factor: int, *, repaired: bool) -> Pairs:
    # F = L_f*y and g = G(y) - a*x*y with G' = m*y + third*y^3/6: v* = L_f/G'' and the derivative of v* in x is
    # -L_f*G'''*a/G''^3, which is 0 at y = 0. The two points are those with y* = 0 and y* = y.
    m, a, third, slope = draw.positive(), draw.rational(1, 12), draw.positive(), draw.positive()
    y = draw.positive() / 100
    second = m + third * y**2 / 2
    change = slope * a * third * y / second**3
    distance = (m * y + third * y**3 / 6) / a
    largest, r, l_2 = a + second, slope / m, third * y
    l_y2 = (largest / m) ** 2
    l_v2 = 2 * (l_y2 + (r * l_2 / m) ** 2) * (1 + l_y2)
    if repaired:
        l_y, l_v, l_yx = largest / m, _root(l_v2), l_2 * (1 + largest / m) ** 2 / m
        explicit = _root(1 + l_y2) * ((l_2 + r * third) * (1 + l_y) + l_2 * l_v)
        constant = (factor * explicit + l_2 * l_v * (1 + l_y) + (largest + r * l_2) * l_yx) / m
        yield change**2, constant**2 * distance**2
    else:
        inner = (l_2**2 + (r * third) ** 2 + l_2**2 * l_v2) * (1 + l_y2) + l_2**2 * l_v2
        yield change**2, (factor / m) ** 2 * inner * distance**2


def _printed_v_jacobian(draw: Draw, factor: int) -> Pairs:
    yield from _v_jacobian(draw, factor, repaired=False)


def _repaired_v_jacobian(draw: Draw, factor: int) -> Pairs:
    yield from _v_jacobian(draw, factor, repaired=True)


def _quadratic(draw: Draw, exponent: int) -> Pairs:
    # F = (p*x^2 + 2*q*x*y + t*y^2)/2 and G = m*y^2/2 - a*x*y.
    p, q, t, a = draw.vector(4)
    m = draw.positive()
    largest = max(abs(a) + m, abs(p) + abs(q), abs(q) + abs(t))
    tilde = largest + largest**2 / m
    x, dy = draw.rational(), draw.rational()
    y = a / m * x

    def surrogate(at: Fraction) -> Fraction:
        return p * x + q * at + a / m * (q * x + t * at)

    yield (surrogate(y + dy) - surrogate(y)) ** 2, tilde**exponent * dy**2
    yield surrogate(y) ** 2, (tilde * (1 + largest / m)) ** exponent * x**2
    yield y**2, (largest / m) ** exponent * x**2


_LEMMA_4 = (
    _four(
        "Lemma 4, first claim (proof cited)",
        "||grad f(x,y) - grad Phi(x)|| <= L~ ||y - y*(x)||",
        at_most(
            _d,
            formulas.L_TILDE * _dy,
            below(_d, _dFx + _dGxy * _v_size + _Gxy * _dv),
            below(_dFx, L_1 * _dy),
            below(_dGxy, L_2 * _dy),
            below(_v_size, formulas.R),
            below(_Gxy, L_1),
            below(mu * _dv, L_1 * _dy + L_2 * _dy * formulas.R),
        ),
        remark="The derivation is not printed: F_x, G_xy and the v of each point by the triangle inequality.",
    ),
    _four(
        "Lemma 4, second claim (proof cited)",
        "||grad Phi(x_1) - grad Phi(x_2)|| <= L_Phi ||x_1 - x_2||",
        at_most(
            _d,
            formulas.L_PHI * _dx,
            below(_d, _dFx + _dGxy * _v_size + _Gxy * _dv),
            below(_dFx, L_1 * (_dx + _dy)),
            below(_dGxy, L_2 * (_dx + _dy)),
            below(_v_size, formulas.R),
            below(_Gxy, L_1),
            below(mu * _dv, L_1 * (_dx + _dy) + L_2 * (_dx + _dy) * formulas.R),
            below(mu * _dy, L_1 * _dx),
        ),
        remark="The derivation is not printed: as for the first claim, from (x_1, y*(x_1)) to (x_2, y*(x_2)).",
    ),
    _four(
        "Lemma 4, fourth claim (no proof)",
        "||grad y*(x_1) - grad y*(x_2)|| <= L_yx ||x_1 - x_2||",
        at_most(
            _d,
            formulas.L_YX * _dx,
            below(mu * _d, _dGxy + _dGyy * _jacobian),
            below(_dGxy, L_2 * (_dx + _dy)),
            below(_dGyy, L_2 * (_dx + _dy)),
            below(mu * _dy, L_1 * _dx),
            below(_jacobian, formulas.L_Y),
        ),
        remark="The derivation is not printed: G_yy y*' = -G_yx, the change of each factor.",
    ),
    _four(
        "Lemma 4, first three claims",
        "with L~, L_Phi and L_y, for quadratics",
        drawn(_quadratic, kind=StepKind.END_TO_END, exponent=2),
    ),
    _four(
        "Lemma 4, fifth claim, first inequality",
        "||G1^-1 F1 - G2^-1 F2||^2 <= 2||G1^-1 (F1 - F2)||^2 + 2||(G1^-1 - G2^-1) F2||^2",
        gram(square(_p - _q2), 2 * square(_p - _q1) + 2 * square(_q1 - _q2)),
    ),
    _four(
        "Lemma 4, fifth claim, second inequality, first term",
        "2||G1^-1 (F1 - F2)||^2 <= (2L_1^2/mu_g^2)(||x_1 - x_2||^2 + ||y*(x_1) - y*(x_2)||^2)",
        at_most(
            2 * _inverse**2 * _dF2,
            2 * L_1**2 / mu**2 * (_dx2 + _dy2),
            below(mu * _inverse, 1),
            below(_dF2, L_1**2 * (_dx2 + _dy2)),
        ),
    ),
    _four(
        "Lemma 4, fifth claim, second inequality, second term",
        "||G1^-1 - G2^-1||^2 = ||G1^-1 [G1 - G2] G2^-1||^2",
        forms.inverses(),
        remark="G1^-1 z - G2^-1 z = -G1^-1 [G1 - G2] G2^-1 z for any z, tested against any vector; norms have no sign.",
    ),
    _four(
        "Lemma 4, fifth claim, third inequality",
        "... <= (2L_1^2/mu_g^2 + 2L_f^2 L_2^2/mu_g^4)(||x_1 - x_2||^2 + ||y*(x_1) - y*(x_2)||^2)",
        at_most(
            2 * L_1**2 / mu**2 * (_dx2 + _dy2) + 2 * L_f**2 * _inverse**2 * _dG2 * _inverse**2,
            _V_FACTOR * (_dx2 + _dy2),
            below(mu * _inverse, 1),
            below(_dG2, L_2**2 * (_dx2 + _dy2)),
        ),
    ),
    _four(
        "Lemma 4, fifth claim, fourth inequality, and eq. (13)",
        "... <= (...)(1 + L_y^2) ||x_1 - x_2||^2 = L_v^2 ||x_1 - x_2||^2",
        at_most(_V_FACTOR * (_dx2 + _dy2), formulas.L_V**2 * _dx2, below(_dy2, formulas.L_Y**2 * _dx2)),
    ),
    _four(
        "Lemma 4, sixth claim, eq. (14)",
        "v*^T [G_yyx + G_yyy y*'] + G_yy v*' - F_yx - F_yy y*' = 0",
        forms.total_derivative(),
        remark="G_yy v* = F_y along y*(x), in any direction of x and tested against any vector.",
    ),
    _four(
        "Lemma 4, sixth claim, eq. (15)",
        "v*^T G_yyy(x, y*) - F_yy(x, y*) = 0",
        same(_v_star * _third - _f2, sp.Integer(0)),
        repaired=same(_TOTAL, sp.Integer(0)),
        repair="Only the total derivative (14) vanishes: y* and v* depend on x alone, and there is no equation in y.",
        remark=_POLYNOMIALS,
    ),
    _four(
        "Lemma 4, sixth claim, eq. (16)",
        "G_yy grad_x v*(x, y*(x)) = F_yx - v*^T G_yyx",
        forms.partial_derivative(),
        remark=_PARTIAL,
    ),
    _four(
        "Lemma 4, sixth claim, below (16), second equality",
        "G_yy(1) grad_x v*(1) - G_yy(2) grad_x v*(2) = [F_yx(1) - F_yx(2)] - (v*(1)^T G_yyx(1) - v*(2)^T G_yyx(2))",
        forms.partial_derivatives(),
        remark="grad_x v* is the partial derivative, as in the step before.",
    ),
    _four(
        "Lemma 4, sixth claim, eq. (17), first inequality",
        "||G2 (v*'(1) - v*'(2))||^2 <= 4||.||^2 + 4||.||^2 + 4||.||^2 + 4||.||^2",
        gram(
            square(_dF - _v_change - _G3_change - _G_change),
            4 * square(_dF) + 4 * square(_v_change) + 4 * square(_G3_change) + 4 * square(_G_change),
        ),
        remark="From the display before it: the changes of F_xy, of v*, of G_yyx and of G_yy.",
    ),
    _four(
        "Lemma 4, sixth claim, eq. (17), second inequality",
        "... <= 4(L_2^2 + r^2 L_3^2 + L_2^2 L_v^2)(||x_1 - x_2||^2 + ||y*(x_1) - y*(x_2)||^2) "
        "+ 4 L_2^2 L_v^2 ||x_1 - x_2||^2",
        at_most(
            4 * _dF2 + 4 * _dv2 * _G3 + 4 * _v2 * _dG3 + 4 * _dG2 * _J2,
            4 * (L_2**2 + r**2 * L_3**2 + L_2**2 * L_v**2) * (_dx2 + _dy2) + 4 * L_2**2 * L_v**2 * _dx2,
            below(_dF2, L_2**2 * (_dx2 + _dy2)),
            below(_dv2, L_v**2 * _dx2),
            below(_G3, L_2**2),
            below(_v2, r**2),
            below(_dG3, L_3**2 * (_dx2 + _dy2)),
            below(_dG2, L_2**2 * (_dx2 + _dy2)),
            below(_J2, L_v**2),
        ),
    ),
    _four(
        "Lemma 4, sixth claim, eq. (17), third inequality",
        "... <= 4((L_2^2 + r^2 L_3^2 + L_2^2 L_v^2)(1 + L_y^2) + L_2^2 L_v^2) ||x_1 - x_2||^2",
        at_most(
            4 * (L_2**2 + r**2 * L_3**2 + L_2**2 * L_v**2) * (_dx2 + _dy2) + 4 * L_2**2 * L_v**2 * _dx2,
            mu**2 * _L_VX2 * _dx2,
            below(_dy2, L_y**2 * _dx2),
        ),
    ),
    _four(
        "Lemma 4, sixth claim, from (17) to (18)",
        "mu_g^2 ||v*'(1) - v*'(2)||^2 <= ||G2 (v*'(1) - v*'(2))||^2 gives the factor L_vx^2",
        at_most(_dJ2, _L_VX2 * _dx2, below(mu**2 * _dJ2, _G2), below(_G2, mu**2 * _L_VX2 * _dx2)),
    ),
    _four(
        "Lemma 4, sixth claim, eq. (18) taken for it",
        "||v*'(x_1) - v*'(x_2)||^2 <= L_vx^2 ||x_1 - x_2||^2",
        drawn(_printed_v_jacobian, kind=StepKind.END_TO_END, factor=2),
        repaired=drawn(_repaired_v_jacobian, kind=StepKind.END_TO_END, factor=1),
        repair="L_vx with the terms through y* (simfbo/constants-repaired).",
        remark="v*' is the total derivative, as in (14) and Lemma 10; of the partial derivative in x (18) is true. One "
        "dimension, F = L_f*y, g = G(y) - a*x*y, G' a cubic between the two points; the roots in the repaired L_vx "
        "are rounded down.",
    ),
)

# --- Lemma 5 ---

_five = Proof("simfbo/lemma-5")
_Gv, _F, _distance = vectors("Gv F y_distance")
_slopes, _at_star = weighted("g g_star")
_STATIONARY = (
    equal(dot(total(_slopes), total(_at_star)), 0, "the mean of g_star is 0"),
    equal(square(total(_at_star)), 0, "the mean of g_star is 0"),
)
_sigma2 = s.sigma_gh**2


def _sizes(draw: Draw, exponent: int) -> Pairs:
    run, at = drawn_round(draw), drawn_point(draw)
    first = run.clients[0]
    run = replace(run, clients=tuple(replace(client, m=first.m, a=first.a) for client in run.clients))
    found = [client.directions(at) for client in run.clients]
    spread = sum(w * (client.b - run.average("b")) ** 2 for w, client in zip(run.w, run.clients, strict=True))
    lipschitz = max(size(client.f_x(at)) + size(client.f_y(at)) for client in run.clients)
    bound = 2 * (size(at[V]) ** 2 * run.L_1**exponent + lipschitz**exponent)
    squares = [
        sum(w * expect_square(directions[variable]) for w, directions in zip(run.w, found, strict=True))
        for variable in (X, Y, V)
    ]
    yield squares[Y], run.L_1**exponent * expect_square(at[Y] - run.y_star(at[X])) + spread
    yield squares[V], bound
    yield squares[X], bound


_LEMMA_5 = (
    _five(
        "Lemma 5, first display, first inequality",
        "sum_i w_i ||grad_y g_i(x,y)||^2 <= beta_gh^2 ||sum_i w_i [grad_y g_i(x,y) - grad_y g_i(x,y*)]||^2 "
        "+ sigma_gh^2",
        gram(
            squares(_slopes),
            s.beta_gh**2 * square(total(_slopes - _at_star)) + _sigma2,
            *_STATIONARY,
            below(squares(_slopes), s.beta_gh**2 * square(total(_slopes)) + _sigma2, "Assumption 4"),
        ),
        remark="Assumption 4, which the lemma does not name, and sum_i w_i grad_y g_i(x, y*) = 0.",
    ),
    _five(
        "Lemma 5, first display, second inequality",
        "... <= beta_gh^2 L_1^2 ||y - y*(x)||^2 + sigma_gh^2",
        gram(
            s.beta_gh**2 * square(total(_slopes)) + _sigma2,
            s.beta_gh**2 * L_1**2 * square(_distance) + _sigma2,
            below(squares(_slopes), L_1**2 * square(_distance), "grad_y g_i is smooth"),
        ),
        remark="g_i are the differences; sum_i w_i = 1.",
    ),
    _five(
        "Lemma 5, second and third display, first inequality",
        "||grad_v R_i||^2 <= 2||G_yy v||^2 + 2||F_y||^2, and with G_xy and F_x for the surrogate gradient",
        gram(square(_Gv - _F), 2 * square(_Gv) + 2 * square(_F)),
    ),
    _five(
        "Lemma 5, second and third display, second inequality",
        "2||G v||^2 + 2||F||^2 <= 2 r_max^2 L_1^2 + 2 L_f^2",
        at_most(
            2 * _G2 * _v2 + 2 * _F2,
            2 * r_max**2 * L_1**2 + 2 * L_f**2,
            below(_G2, L_1**2),
            below(_v2, r_max**2),
            below(_F2, L_f**2),
        ),
    ),
    _five(
        "Lemma 5",
        "the three bounds",
        drawn(_sizes, kind=StepKind.END_TO_END, exponent=2),
        remark="Quadratic f_i and g_i; g_i with equal quadratic parts, for which beta_gh = 1.",
    ),
)

# --- Lemma 6 ---

_six = Proof("simfbo/lemma-6")
_fa, _fb, _Gu, _Hu, _Hw = vectors("F1 F2 G1v1 G2v1 G2v2")


def _jensen(draw: Draw, factor: int) -> Pairs:
    parts = [draw.positive() for _ in range(draw.whole(1, 4))]
    shares, points = [part / sum(parts) for part in parts], [draw.vector(2) for _ in parts]
    average = plus(*(times(share, point) for share, point in zip(shares, points, strict=True)))
    yield norm2(average), factor * sum(share * norm2(point) for share, point in zip(shares, points, strict=True))


def _changes(draw: Draw, exponent: int) -> Pairs:
    run, one, other = drawn_round(draw), drawn_point(draw), drawn_point(draw)
    client = run.clients[0]
    moved = [expect_square(a - b) for a, b in zip(one, other, strict=True)]
    pairs = zip(client.directions(one), client.directions(other), strict=True)
    f, g, R = (expect_square(a - b) for a, b in pairs)
    yield f, 3 * run.L_1**exponent * sum(moved)
    yield g, run.L_1**exponent * (moved[X] + moved[Y])
    yield R, 3 * run.L_1**exponent * sum(moved)


_LEMMA_6 = (
    _six(
        "Lemma 6, second inequality",
        "||(F1 - F2) - (G1 v1 - G2 v2)||^2 <= 3||F1 - F2||^2 + 3||(G1 - G2) v1||^2 + 3||G2 (v1 - v2)||^2",
        gram(square((_fa - _fb) - (_Gu - _Hw)), 3 * square(_fa - _fb) + 3 * square(_Gu - _Hu) + 3 * square(_Hu - _Hw)),
        remark="The gradients of f_i and g_i are printed with an argument v that they do not have.",
    ),
    _six(
        "Lemma 6, (a)",
        "... <= 3(L_1^2 + r^2 L_2^2)[||x_i^k - x||^2 + ||y_i^k - y||^2] + 3 L_1^2 ||v_i^k - v||^2",
        at_most(
            3 * _dF2 + 3 * _dG2 * _v2 + 3 * _G2 * _dv2,
            3 * (L_1**2 + r**2 * L_2**2) * (_dx2 + _dy2) + 3 * L_1**2 * _dv2,
            below(_dF2, L_1**2 * (_dx2 + _dy2)),
            below(_dG2, L_2**2 * (_dx2 + _dy2)),
            below(_v2, r**2),
            below(_G2, L_1**2),
        ),
        remark="||v^(t)|| <= r by the projection, not by Lemma 1, which is about v*.",
    ),
    _six(
        "Jensen's inequality, as (19), (25) and (27) use it",
        "||sum_k (a_k/|a|_1) u_k||^2 <= sum_k (a_k/|a|_1) ||u_k||^2",
        drawn(_jensen, kind=StepKind.STANDARD, factor=1),
    ),
    _six(
        "Lemma 6",
        "the three bounds Delta_f, Delta_g and Delta_R",
        drawn(_changes, kind=StepKind.END_TO_END, exponent=2),
        remark="Quadratic f_i and g_i, for which L_2 = 0.",
    ),
)

STEPS = (*_LEMMA_4, *_LEMMA_5, *_LEMMA_6)
