"""Appendix E, eq. (58) to (60): Theorem 2 by way of Theorem 1."""

import sympy as sp

from bounds.ledger.families import squares, total
from bounds.ledger.proof import Proof, at_most, gram, nonnegative, positives, reals, same
from bounds.ledger.step import above, below, equal
from bounds.ledger.vectors import square, vectors
from bounds.ledger.written import written
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs.form import weighted

_step = Proof("simfbo/theorem-2-appendix")
_p1, _p2, _w1, _w2, _p, _w, _slope = positives("p_1 p_2 w_1 w_2 p w slope")
_high, _low, _p_low, _w_high = positives("beta_max_prime beta_min beta_min_prime beta_max")
_a, _b = reals("a_i b_i")
_own, _scaled = weighted("b F")
_f1, _f2, _D, _S, _A, _B = vectors("f1 f2 dF S phi phi_w")
_dx2, _dy2, _dv2, _G, _X, _c = nonnegative("dx2 dy2 dv2 G distance2 c")
_RANGE = (
    below(_low, 2 * _w1),
    below(_low, 2 * _w2),
    below(2 * _p1, _high),
    below(2 * _p2, _high),
    equal(_p1 + _p2, sp.Integer(1)),
    equal(_w1 + _w2, sp.Integer(1)),
)
# One of n = 3 clients; the other two have equal weights, n*w_i = 3*(1 - w)/2.
_n_w, _n_p = (3 * _w, 3 * (1 - _w) / 2), (3 * _p, 3 * (1 - _p) / 2)
_ONE_OF_THREE = (
    *(below(_low, at) for at in _n_w),
    *(below(at, _w_high) for at in _n_w),
    *(below(_p_low, at) for at in _n_p),
    *(below(at, _high) for at in _n_p),
)
_factor = (_high - _low) / _low
_UNEQUAL = (_p1 - _w1) * _f1 + (_p2 - _w2) * _f2

STEPS = (
    _step(
        "eq. (58), second equality",
        "sum_i [p_i a_i - w_i b_i] = sum_i p_i [a_i - b_i] + sum_i (p_i - w_i) b_i",
        same(_p * _a - _w * _b, _p * (_a - _b) + (_p - _w) * _b),
        remark="Client by client; a_i at (y*, v*), b_i at (y~*, v~*).",
    ),
    _step(
        "eq. (58), third equality",
        "sum_i (p_i - w_i) b_i = sum_i ((p_i - w_i)/w_i) w_i b_i",
        same((_p - _w) * _b, written((_p - _w) / _w) * (_w * _b)),
        remark="Client by client.",
    ),
    _step(
        "eq. (59), (a), the split",
        "||change of F + sum_i ((p_i - w_i)/w_i) w_i b_i||^2 <= 2||change of F||^2 + 2||sum||^2",
        gram(square(_D + _S), 2 * square(_D) + 2 * square(_S)),
    ),
    _step(
        "eq. (59), (a), the change of F",
        "2||change of F||^2 <= 6(L_1^2 + r^2 L_2^2)||y* - y~*||^2 + 6 L_1^2 ||v* - v~*||^2",
        at_most(
            2 * _X,
            6 * _slope * _dy2 + 6 * s.L_1**2 * _dv2,
            below(_X, 3 * _slope * (_dx2 + _dy2) + 3 * s.L_1**2 * _dv2, "Lemma 6"),
            equal(_dx2, 0, "at one x"),
        ),
        remark="slope = L_1^2 + r^2 L_2^2.",
    ),
    _step(
        "eq. (59), (b), the factors",
        "|p_i - w_i|/w_i <= (beta_max' - beta_min)/beta_min",
        at_most((_w - _p) / _w, _factor, *_ONE_OF_THREE),
        repaired=at_most(
            (_w - _p) / _w,
            (_w_high - _p_low) / _low,
            below(_low, s.n * _w),
            below(s.n * _w, _w_high),
            below(_p_low, s.n * _p),
            below(_p_low, 1, "the mean of all n*p_i is 1"),
            above(_w_high, 1, "the mean of all n*w_i is 1"),
        ),
        repair="The larger of (beta_max' - beta_min)/beta_min and (beta_max - beta_min')/beta_min.",
        remark="The side w_i > p_i. Refuted with n = 3, two clients having equal weights; repaired for every n.",
    ),
    _step(
        "eq. (59), (b)",
        "2||sum_i ((p_i - w_i)/w_i) w_i b_i||^2 <= 2||((beta_max' - beta_min)/beta_min) sum_i w_i b_i||^2",
        gram(2 * square(_UNEQUAL), 2 * _factor**2 * square(_w1 * _f1 + _w2 * _f2), where=_RANGE),
        repaired=gram(
            2 * square(total(_scaled)),
            2 * _c**2 * squares(_own),
            below(squares(_scaled), _c**2 * squares(_own), "each factor is at most c"),
        ),
        repair="With sum_i w_i ||b_i||^2: unequal factors cannot be drawn out of the norm of a sum. At w_i = p_i, "
        "where the line is used, the left side is 0.",
        remark="Printed for n = 2, where the factors of the step before are right; repaired for every n, with c their"
        " bound.",
    ),
    _step(
        "eq. (60), second inequality",
        "||grad Phi||^2 <= 2||grad Phi - grad Phi_w||^2 + 2||grad Phi_w||^2",
        gram(square(_A), 2 * square(_A - _B) + 2 * square(_B)),
    ),
    _step(
        "eq. (60), third inequality",
        "... <= 2[1 + 2((beta_max' - beta_min)/beta_min)^2] ||grad Phi_w||^2 + 12(L_1^2 + r^2 L_2^2)||y* - y~*||^2 "
        "+ 12 L_1^2 ||v* - v~*||^2",
        at_most(
            2 * (_X + _G),
            2 * (1 + 2 * _c**2) * _G + 12 * _slope * _dy2 + 12 * s.L_1**2 * _dv2,
            below(_X, 6 * _slope * _dy2 + 6 * s.L_1**2 * _dv2 + 2 * _c**2 * _G, "(59)"),
        ),
        remark="c is the factor (beta_max' - beta_min)/beta_min.",
    ),
    _step(
        "below eq. (60)",
        "at w_i = p_i: ||grad Phi||^2 <= 2[1 + 2((beta_max' - beta_min)/beta_min)^2] ||grad Phi_w||^2",
        at_most(_G, 2 * (1 + 2 * _c**2) * _G),
        remark="Phi = Phi_w there, and the factor is not needed. The order below has n - 1 for the n of Theorem 2 and "
        "an undefined M_4 for M_3.",
    ),
)
