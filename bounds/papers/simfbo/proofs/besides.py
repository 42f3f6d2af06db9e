"""Lines that the proofs of Appendices C and D need besides the printed ones, in the forms that hold."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.ledger.draw import Draw, plus
from bounds.ledger.draw import dot as dot_of
from bounds.ledger.draw import square as square_of
from bounds.ledger.proof import Proof, gram, nonnegative
from bounds.ledger.step import Number, StepKind, below, equal
from bounds.ledger.vectors import square, vectors
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import forms
from bounds.papers.simfbo.proofs.form import Pairs, drawn

_two, _four, _five, _six, _seven, _eight, _nine, _ten = (
    Proof(f"simfbo/lemma-{number}", first=first)
    for number, first in {2: 8, 4: 19, 5: 6, 6: 5, 7: 8, 8: 20, 9: 23, 10: 26}.items()
)
_ONE, _TWO, _THREE, _FOUR = (sp.Integer(number) for number in range(1, 5))
_dg, _dx, _dy = vectors("dg dx dy")
_moved2 = nonnegative("distance2")
_r = s.L_f / s.mu_g


def _descent_lemma(draw: Draw, half: Number) -> Pairs:
    """A function of two variables whose second derivative by the first is another one where that is negative."""
    L_Phi = draw.positive()
    left, right, other = (draw.rational(-L_Phi, L_Phi) for _ in range(3))
    slope, x, d = draw.vector(2), draw.vector(2), draw.vector(2)

    def curvature(u: Fraction) -> Fraction:
        return left if u < 0 else right

    def value(u: Fraction, v: Fraction) -> Fraction:
        return curvature(u) / 2 * u**2 + other / 2 * v**2 + slope[0] * u + slope[1] * v

    gradient = (curvature(x[0]) * x[0] + slope[0], other * x[1] + slope[1])
    yield value(*plus(x, d)), value(*x) + dot_of(gradient, d) + half * L_Phi * square_of(d)


STEPS = (
    _two(
        "Lemma 2, not printed: a local step contracts",
        "||v - eta_v a G_yy v|| <= (1 - eta_v a mu_g) ||v|| for eta_v*alpha_max*L_1 <= 1 and mu_g <= G_yy <= L_1 for "
        "every sample",
        forms.contracts(),
        remark="G_yy of the sample is symmetric with eigenvalues from mu_g to L_1; Assumptions 1 and 2 are of means.",
    ),
    _two(
        "Lemma 2, not printed: a local step stays in the ball",
        "||v - eta_v a (G_yy v - F_y)|| <= r where ||v|| <= r, under the same conditions and ||F_y|| <= L_f for every "
        "sample",
        forms.stays_in_ball(_ONE),
        remark="For every k, from v^(t) on. The two bounds are at most r^2, and so is what lies between them.",
    ),
    _four(
        "Lemma 4, third claim (no proof)",
        "||y*(x_1) - y*(x_2)|| <= L_y ||x_1 - x_2||",
        forms.optimum_moves(),
        remark="The derivation is not printed.",
    ),
    _four(
        "Lemma 4, sixth claim, not printed: all terms of (14)",
        "||v*'(x_1) - v*'(x_2)|| <= L_vx ||x_1 - x_2||, with the terms through y*",
        forms.v_jacobian(),
        remark="L_vx is that of simfbo/constants-repaired, root is sqrt(1 + L_y^2).",
    ),
    _four(
        "Lemma 4, fifth claim, not printed: in one piece",
        "mu_g^2 ||v*(x_1) - v*(x_2)||^2 <= 2 (L_1^2 + r^2 L_2^2)(||x_1 - x_2||^2 + ||y*(x_1) - y*(x_2)||^2)",
        forms.solution_moves(),
        remark="From the equations for v*, without inverses.",
    ),
    _five(
        "Lemma 5, not printed: first display, put together",
        "sum_i w_i ||grad_y g_i(x,y)||^2 <= beta_gh^2 L_1^2 ||y - y*(x)||^2 + sigma_gh^2",
        forms.size_of_g(_TWO),
    ),
    _five(
        "Lemma 5, not printed: second and third display, put together",
        "sum_i w_i ||grad_v R_i||^2 <= 2 r_max^2 L_1^2 + 2 L_f^2, and the same for the surrogate gradients",
        forms.size_of_R(_TWO),
    ),
    _six(
        "Lemma 6, not printed: put together",
        "the bounds Delta_f and Delta_R",
        forms.change_of_f(_TWO),
        remark="For R_i with G_yy and F_y in place of G_xy and F_x.",
    ),
    _six(
        "Lemma 6, the bound on g_i",
        "||grad_y g_i(x_i^k, y_i^k) - grad_y g_i(x, y)||^2 <= L_1^2 (||x_i^k - x||^2 + ||y_i^k - y||^2)",
        gram(
            square(_dg),
            s.L_1**2 * (square(_dx) + square(_dy)),
            below(square(_dg), s.L_1**2 * _moved2, "Assumption 2, of (x, y)"),
            equal(_moved2, square(_dx) + square(_dy), "the distance of (x, y)"),
        ),
        remark="It is Assumption 2.",
    ),
    _seven(
        "Lemma 7, not printed: below (19), (a), third term",
        "3||sum_i w_i sum_k (a_k/|a|_1) (changes along the local steps)||^2 <= 3 drift_f",
        forms.averaged_drift(),
        remark="Jensen's inequality over clients and local steps, with weights that add up to 1, and Lemma 6.",
    ),
    _seven(
        "Lemma 7, not printed: put together, with L_Phi/2",
        "E Phi(x+) - E Phi(x) <= ...",
        forms.descent(_ONE),
        remark="slope = L_1^2 + r^2 L_2^2.",
    ),
    _seven(
        "Lemma 7, not printed: the descent lemma",
        "Phi(x+) <= Phi(x) + <grad Phi(x), x+ - x> + L_Phi/2 ||x+ - x||^2 where grad Phi is L_Phi-Lipschitz",
        drawn(_descent_lemma, kind=StepKind.STANDARD, half=Fraction(1, 2)),
        remark="Two dimensions, with gradients that are linear on either side of a line.",
    ),
    _eight(
        'Lemma 8, not printed: "an easier case", at a local step',
        "eta^2 E||sum_{j<k} a_j (noise_j + grad_j)||^2 <= 4 eta^2 (alpha_max A variance + A^2 size)",
        forms.bounded_drift(_FOUR),
        remark="A is the sum of the a_j with j < k, at most |a_i|_1; 2*size bounds the squared gradients, and "
        "2*variance the noises.",
    ),
    _eight(
        "Lemma 8, first and second claim, not printed: put together",
        "drift <= 4 eta^2 tau_bar c_a alpha_max^2 (variance + c_a tau_bar size)",
        forms.drift_of_x(_FOUR),
        remark="Averages over the local steps and the clients, with weights that add up to 1.",
    ),
    _eight(
        "Lemma 8, not printed: the drift of y at a local step",
        "eta_y^2 E||sum_{j<k} a_j (noise_j + grad_j)||^2 <= 2 eta_y^2 A alpha_max sigma_g^2 "
        "+ 4 eta_y^2 A (|a_i|_1 L_1^2 (drift_x + drift_y) + A ||grad_y g_i(x, y)||^2)",
        forms.own_drift(),
        remark="drift_x and drift_y are those of the client; A is the sum of the a_j with j < k.",
    ),
    _eight(
        "Lemma 8, third claim, not printed: put together",
        "drift_y <= 2 eta_y^2 tau_bar sigma_M2^2 + 8 eta_y^2 path^2 beta_gh^2 L_1^2 gap_y, with repaired step sizes "
        "and sigma_M2",
        forms.drift_of_y(sp.Integer(8)),
        remark="With the drift of y brought to the left.",
    ),
    _eight(
        "Lemma 8, not printed: the noises of the local steps",
        "sum_{j<k} a_j^2 E||noise_j||^2 <= alpha_max A (2 variance)",
        forms.noise_of_steps(),
        remark="Of one j. For y with sigma_g^2 in place of 2*variance.",
    ),
    _eight(
        "Lemma 8, not printed: the drift of y, with path = c_a tau_bar alpha_max",
        "... <= 2 eta_y^2 path alpha_max sigma_g^2 + 4 eta_y^2 path^2 (L_1^2 (drift_x + drift_y) + ||grad_y g_i||^2)",
        forms.own_drift_by_path(_FOUR),
        remark="start2 is the squared gradient.",
    ),
    _nine(
        "Lemma 9, not printed: eq. (25), (a), of all clients",
        "sum_i w_i^2 ||h~_i||^2 <= 2 sum_i w_i^2 ||h~_i - grad_i||^2 + 2 (beta_max/n) sum_i w_i ||grad_i||^2",
        forms.of_clients(_TWO),
    ),
    _nine(
        "Lemma 9, not printed: eq. (25), (b), first part",
        "w_i^2 ||h~_i - grad_i||^2 <= w_i^2 sum_k (a_k/|a|_1) Delta_f",
        forms.own_change(),
        remark="Of one client, with weights over its local steps that add up to 1. For y with Delta_g.",
    ),
    _nine(
        "Lemma 9, not printed: eqs. (23), (24) and (25), repaired, put together",
        "E||sum_C w~ h||^2 <= (2n/P) noise + n(P-1)/(P(n-1)) ||sum w h~||^2 + (2n(n-P)/(P(n-1)) + n/P) drift_sq "
        "+ 2(n-P) beta_max/(P(n-1)) sum_i w_i ||grad_i||^2",
        forms.second_moment(_TWO),
    ),
    _nine(
        "Lemma 9, not printed: eq. (23), (c), with the bounds on one noise",
        "w_i^2 (a_k/|a|_1)^2 E||noise_k||^2 <= 2 w_i^2 (a_k/|a|_1)^2 (sigma_f^2 + ||v_i^k||^2 sigma_gg^2)",
        forms.noise_of_gradient(),
        remark="Of one local step of one client; simfbo/lemma-9-5 bounds the noise.",
    ),
    _nine(
        "Lemma 9, first and third claim, not printed: put together",
        "E||sum_C w~ h_x||^2 <= ..., E||sum_C w~ h_v||^2 <= ..., with the noise twice",
        forms.of_x_or_v(_FOUR),
    ),
    _nine(
        "Lemma 9, second claim, not printed: put together",
        "E||sum_C w~ h_y||^2 <= ..., with the noise twice",
        forms.of_y(_TWO),
    ),
    _ten(
        "Lemma 10, not printed: a bound on the sampled direction of every sample",
        "||sum_{i in C} w~_i h_i||^2 <= 2 beta_max^2 (r_max^2 L_1^2 + L_f^2), Assumption 2 being of every sample",
        forms.sampled_surely(),
    ),
    _ten(
        "Lemma 10, not printed: eq. (30), the remainder",
        "-2<e, remainder> <= (L_yx/2)(bound ||e||^2 + ||x+ - x||^2)",
        forms.remainder(sp.Rational(1, 2)),
        remark="Of every outcome. bound is that of the step before times (rho gamma_x)^2.",
    ),
    _ten(
        "Lemma 10, not printed: eq. (30), the product of means and the covariance",
        "-2E<e, y*'(x+ - x)> <= delta_1 E||e||^2 + E||y*' mean_d||^2/delta_1 + E||e'||^2 + E||y*' d'||^2",
        forms.product(_ONE),
        remark="e = mean_e + e' and x+ - x = mean_d + d', with the means given the past; the same for v.",
    ),
    _ten(
        "Lemma 10, not printed: eqs. (29) and (30), repaired",
        "E||y+ - y*(x+)||^2 <= (1 + delta) E||y+ - y*(x)||^2 + ...",
        forms.moved_optimum(_ONE),
    ),
    _ten(
        "Lemma 10, not printed: both claims, put together",
        "the repaired claims on y and v",
        forms.progress(_TWO),
        remark="delta = delta_1 + L_yx bound/2; sampled_y2 is E||y+ - y||^2 before the projection, sampled_x2 and "
        "mean_x2 have the factor (rho gamma_x)^2. error is 2 rho gamma_y L_1^2/mu_g (drift_x + drift_y) for y.",
    ),
    _ten(
        "Lemma 10, not printed: the display for v, (a), with 1/mu_g",
        "-<e, u> - <e, z> - <e, q> <= (1/mu_g) ||u||^2 + (1/mu_g) ||z||^2 - (mu_g/2) ||e||^2",
        forms.descent_of_v(),
    ),
    _ten(
        "Lemma 10, not printed: eq. (35) for v",
        "E||v+ - v*(x)||^2 <= (1 - rho gamma_v mu_g) gap_v + (rho gamma_v)^2 E||H||^2 "
        "+ 4 rho gamma_v L_R^2/mu_g (drifts + gap_y)",
        forms.step_of_v(_FOUR),
    ),
)
