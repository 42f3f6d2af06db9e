"""Appendix D.5, eq. (37) to (45): the change of the Lyapunov function in one round.

(a) of (41) puts Lemmas 7 to 10 into (37) and uses the step sizes (39). Its right side is linear in quantities that are
free and not negative: the errors of y and v, the mean direction, the drifts, the noises and the heterogeneity. So it
holds exactly if the coefficient of each does; here is one step for each, first for the three that (41) drops.
"""

from fractions import Fraction

import sympy as sp

from bounds.ledger.proof import Proof, at_most, nonnegative, positives, reals, same
from bounds.ledger.step import StepKind, above, below, together
from bounds.ledger.written import sqrt
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s
from bounds.papers.simfbo.proofs import admissible
from bounds.papers.simfbo.proofs.form import drawn

_step = Proof("simfbo/lyapunov")
L_1, mu, n, P = s.L_1, s.mu_g, s.n, s.P
_s, _A, _L_Phi, _L_R, _L_v, _L_yx, _B, _K1, _K2 = positives("rho_gamma_x slope L_Phi L_R L_v L_yx size K_1 K_2")
_cy, _cv = s.c_gamma_y, s.c_gamma_v
_share, _sampled_share, _e, _curve_v, _curve, _delta_1, _delta_2 = nonnegative(
    "beta_over_P sampling_beta e curvature_v curvature delta_1 delta_2"
)
_of_Phi, _of_y, _of_v, _of_step, _ratio = nonnegative("of_Phi of_y of_v of_step ratio")
_change, _right = reals("psi_change right")
_k2 = 6 * L_1**2 / (mu * _cv)
_delta, _delta_v = _s * _cy * mu / 4, _s * _cv * mu / 4

_SMOOTH = (below(mu, L_1),)
_TERM_1 = below(12 * L_1**2 * _cv * _s, mu, "(39), first")
_TERM_2 = below(36 * L_1**2 * _cv * (2 * _share + 3) * _s, mu, "(39), second")
_TERM_3 = below(36 * L_1**2 * _share * _curve_v * _s, mu * _cv, "(39), third")
_TERM_5 = below(_L_Phi**2 * _s, 4, "(39), fifth")
_TERM_6 = below(_cy * _s, 4, "(39), sixth")
_TERM_7 = below(_cv * _s, 4, "(39), seventh")
_TERM_8 = below(
    12 * _cy * ((2 * _share + 3) * L_1**2 + 2 * _share * s.beta_gh**2 + 3 * L_1**2) * _s, mu, "(39), eighth"
)
_ETA_Y = below(24 * L_1**2 * _e, mu**2, "(39), eta_y")
_SHARES = below(_sampled_share, _share)

# The coefficient of the drift of v in Lemmas 7 and 9, and in the first line of (41).
_OF_V = L_1**2 * (
    sp.Rational(9, 2)
    + 3 * _share * (_s * _L_Phi**2 + 2 * _s * _curve)
    + 3 * _k2 * (1 + _delta_v) * _s * _cv**2 * (2 * _share + 3)
)
_FIRST_LINE = 3 * _A * (sp.Rational(3, 2) + 24 * _k2 * _cv + _share * (sp.Rational(17, 4) + 16 * _k2 * _cv))
_DRIFT_OF_V = (
    _TERM_1,
    _TERM_2,
    _TERM_5,
    _TERM_7,
    below(8 * _curve * _s, 1, "(39), twelfth"),
    below(mu, L_1),
    above(_A, L_1**2),
    above(_L_R**2, 2 * _A),
    above(_L_v**2 * mu**4, 2 * L_1**2 * (mu**2 + L_1**2), "(13), L_v"),
    above(_cv * mu, 256 * _k2 * _L_v, "(38), c_gamma_v"),
)

_SYMBOLS = "Divided by rho_gamma_x. slope = L_1^2 + r^2 L_2^2, e = 4 eta_y^2 tau_bar c_a alpha_max L_1^2. "
_step_sizes = Proof("simfbo/stepsizes")
_bound, _cap, _order = positives("bound C order")
_smaller = sp.Min(_order, _cap / s.rho)

STEPS = (
    _step_sizes(
        "below eq. (38), c_gamma_y and K_1",
        "c_gamma_y = 256 K_1 L_y/mu_g can be met, K_1 being A/c_gamma_y: c_gamma_y = 16 sqrt(A L_y/mu_g)",
        same(
            256 * (_bound / (16 * sqrt(_bound * formulas.L_Y / mu))) * formulas.L_Y / mu,
            16 * sqrt(_bound * formulas.L_Y / mu),
        ),
        remark="bound is A = c_gamma_y K_1; the same for v.",
    ),
    _step_sizes(
        "eq. (38) and (39)",
        "gamma_x = O(sqrt(P/(tau_bar T))) and also rho^(t) gamma_x <= C: both hold at the smaller of the two",
        together(at_most(_smaller, _order), at_most(s.rho * _smaller, _cap)),
        remark="C is the minimum of (39), which the paper sets on top of (38), order = sqrt(P/(tau_bar T)). The "
        "smaller one is of that very order, as (53) takes it, from T >= P*(rho^(t))^2/(tau_bar*C^2) rounds on: an O "
        "for T to infinity has this in it.",
    ),
    _step(
        "below eq. (37), delta_t of Lemma 10 and of (37)",
        "delta_t = rho gamma_y mu_g/4 leaves delta_t1 = delta_t - L_yx (r_max^2 L_1^2 + L_f^2)(rho gamma_x)^2/2 "
        ">= delta_t/2",
        at_most(
            _delta - _L_yx * _B * _s**2 / 2,
            _delta / 2,
            below(4 * _L_yx * _B * _s, _cy * mu, "(39), tenth"),
            operator=">=",
        ),
        remark="size = r_max^2 L_1^2 + L_f^2. Without the 1/2, which Lemma 10 loses, the tenth term needs 8 for 4.",
    ),
    _step(
        "below eq. (38), c_gamma_y",
        "K_1 (rho gamma_x)^2 4 L_y/delta_t1 <= rho gamma_x/8 by c_gamma_y >= 256 K_1 L_y/mu_g",
        at_most(
            _K1 * _s**2 * 4 * formulas.L_Y,
            _s / 8 * _delta_1,
            above(_delta_1, _s * _cy * mu / 8),
            above(_cy * mu, 256 * _K1 * formulas.L_Y),
        ),
        remark="delta_1 is delta_t1; the same for v. With L_y^2 for 4*L_y it is 64*K_1*L_y^2.",
    ),
    _step(
        "eq. (41), (a), the mean direction of x",
        "n(P-1)/(P(n-1)) (rho gamma_x)^2 [L_Phi^2/2 + K_1(...) + K_2(...)] + (rho gamma_x)^2 [4 K_1 L_y/delta_t1 "
        "+ 4 K_2 L_v/delta_t1'] <= rho gamma_x/2",
        drawn(admissible.mean_direction, kind=StepKind.SCALAR, half=Fraction(1, 2)),
        repaired=at_most(
            n * (P - 1) / (P * (n - 1)) * _s**2 * (_L_Phi**2 / 2 + _curve) + _s / 4,
            _s / 2,
            below(4 * _L_Phi**2 * _s, 1, "(39), fifth, inverted"),
            below(8 * _curve * _s, 1, "(39), twelfth"),
            below(P, n),
            above(n, sp.Integer(2)),
        ),
        repair="1/(4*L_Phi^2) for 4/L_Phi^2, and with the L_Phi of a descent lemma 1/(4*L_Phi).",
        remark="(...) = L_y^2 + L_yx/2 and L_v^2 + L_vx/2, curvature the sum of both with K_1 and K_2. All constants "
        "and step sizes are admissible, with every term of (39). For f and g multiplied by a large number the fourth "
        "and the fifth term of (39) are the least, and for P = n > 6*beta_max the first part alone is too large. "
        "In the repaired form the other two parts are an eighth each, by the step before for y and v.",
    ),
    _step(
        "eq. (41), (a), the error of v",
        "(rho gamma_x/2) 3 L_1^2 + K_2 [delta_t' - rho gamma_v mu_g - delta_t' rho gamma_v mu_g + (1 + delta_t') "
        "(rho gamma_v)^2 3 L_1^2] <= 0",
        at_most(
            sp.Rational(3, 2) * L_1**2
            + _k2 * _cv * (mu / 4 - mu - _delta_v * mu + (1 + _delta_v) * _s * _cv * 3 * L_1**2),
            sp.Integer(0),
            _TERM_1,
            *_SMOOTH,
        ),
        remark=_SYMBOLS,
    ),
    _step(
        "eq. (41), (a), the error of y, its factor in Lemmas 9 and 10",
        "delta_t - rho gamma_y mu_g - delta_t rho gamma_y mu_g + (1 + delta_t)(rho gamma_y)^2 (2 beta_max beta_gh^2 "
        "(n-P)/(P(n-1)) + 3 L_1^2 + (...) e L_1^2) + (1 + delta_t) rho gamma_y (2 L_1^2/mu_g) e "
        "<= -(7/12) rho gamma_y mu_g",
        at_most(
            mu / 4
            - mu
            - _delta * mu
            + (1 + _delta)
            * _s
            * _cy
            * (2 * _sampled_share * s.beta_gh**2 + 3 * L_1**2 + (2 * _sampled_share + 3) * _e * L_1**2)
            + (1 + _delta) * 2 * L_1**2 / mu * _e,
            -sp.Rational(7, 12) * mu,
            _TERM_8,
            _ETA_Y,
            _SHARES,
            _SMOOTH[0],
        ),
        remark="Over rho_gamma_y. e = 4 eta_y^2 tau_bar c_a alpha_max L_1^2, by which (21) and (22) put the error of y "
        "into the drifts; sampling_beta = beta_max (n-P)/(P(n-1)) <= beta_max/P. beta_gh^2 as in Lemma 9.",
    ),
    _step(
        "eq. (41), (a), the error of y, second and third term of (39)",
        "K_2 c_gamma_v rho gamma_v (2 beta_max/P + 3) <= 1/6 and (beta_max/P) rho gamma_x K_2 (L_v^2 + L_vx/2) <= 1/6",
        at_most(
            sp.Max(_k2 * _cv * _s * _cv * (2 * _share + 3), _share * _s * _k2 * _curve_v),
            sp.Rational(1, 6),
            _TERM_2,
            _TERM_3,
        ),
        remark="K_2 = 6 L_1^2/(mu_g c_gamma_v).",
    ),
    _step(
        "eq. (41), (a), the error of y, all of it",
        "the sum of its coefficients in Lemmas 7 to 10 is at most 0",
        at_most(
            _A * (3 + sp.Rational(9, 2) * _e + 3 * _e * _of_Phi + 6 * _e * _of_v + 3 * (1 + _delta_2) * _e * _of_step)
            + 6 * _e * _of_y
            + 24 * (1 + _delta_2) * (1 + _e) * _ratio,
            sp.Rational(7, 12) * (40 * _A + 384 * _ratio),
            below(_of_Phi, sp.Rational(1, 6), "(39), fourth"),
            below(_of_v, sp.Rational(1, 6), "(39), third"),
            below(_of_step, sp.Rational(1, 6), "(39), second"),
            below(36 * _of_y, 40 * _A + 384 * _ratio, "(39), ninth, with L_y"),
            below(24 * _e, 1, "(39), eta_y"),
            below(48 * _delta_2, 1, "(39), first"),
        ),
        remark=(
            _SYMBOLS
            + "ratio = L_R^2 L_1^2/mu_g^2, so that K_1 c_gamma_y mu_g = 40 slope + 384 ratio; delta_2 is delta_t'. "
            "of_Phi = rho_gamma_x (beta_max/P) L_Phi^2, of_v and of_step are those of the step before, of_y = "
            "rho_gamma_x (beta_max/P) slope K_1 (L_y^2 + L_yx/2). The ninth term of (39) is printed with L_v for L_y, "
            "which is no less."
        ),
    ),
    _step(
        "eq. (41), (a), the drifts, first line",
        "3/2 + (beta_max/P)[rho gamma_x L_Phi^2 + 2 rho gamma_x (K_1(...) + K_2(...))] + K_2 c_gamma_v rho gamma_v "
        "(1 + delta_t')(2 beta_max/P + 3) <= 3/2 + 24 K_2 c_gamma_v + (beta_max/P)(17/4 + 16 K_2 c_gamma_v)",
        at_most(
            sp.Rational(3, 2)
            + _share * (_s * _L_Phi**2 + 2 * _s * _curve)
            + _K2 * _cv * _s * _cv * (1 + _delta_v) * (2 * _share + 3),
            sp.Rational(3, 2) + 24 * _K2 * _cv + _share * (sp.Rational(17, 4) + 16 * _K2 * _cv),
            _TERM_1,
            _TERM_5,
            _TERM_7,
            below(8 * _curve * _s, 1, "(39), twelfth"),
            _SMOOTH[0],
        ),
        remark="Over 3 rho_gamma_x (L_1^2 + r^2 L_2^2); 17/4 is 4 + 1/4, so that the fifth term is meant as printed. "
        "The seventh gives delta_t' <= mu_g, not delta_t' <= 1, which the first gives.",
    ),
    _step(
        "eq. (41), (a), the drifts, second line",
        "(1 + delta_t)(rho gamma_y 2 L_1^2/mu_g + (rho gamma_y)^2 (2 beta_max/P + 3) L_1^2) <= rho gamma_x "
        "[4 c_gamma_y L_1^2/mu_g + 8 c_gamma_v (2 beta_max/P + 3) L_1^2]",
        at_most(
            (1 + _delta) * (_cy * 2 * L_1**2 / mu + _s * _cy**2 * (2 * _share + 3) * L_1**2),
            4 * _cy * L_1**2 / mu + 8 * _cv * (2 * _share + 3) * L_1**2,
            _TERM_6,
            _TERM_8,
            _SMOOTH[0],
        ),
        remark="Over K_1 rho_gamma_x. The sixth term gives 8 c_gamma_y, which must be meant by the 8 c_gamma_v here, "
        "in (40), (44) and below (51); by the eighth the first summand alone is enough.",
    ),
    _step(
        "eq. (41), (a), the drifts, second line, product of y",
        "(1 + delta_t) rho gamma_y 2 L_1^2/mu_g <= rho gamma_x 4 c_gamma_y L_1^2/mu_g",
        at_most((1 + _delta) * _cy * 2 * L_1**2 / mu, 4 * _cy * L_1**2 / mu, _TERM_6, _TERM_8, _SMOOTH[0]),
        remark="Over K_1 rho_gamma_x.",
    ),
    _step(
        "eq. (41), (a), the drift of v, first and third line",
        "its coefficients in Lemmas 7, 9 and 10 <= those of the first and the third line, with K_2 c_gamma_v 4 "
        "L_R^2/mu_g",
        drawn(admissible.drift_of_v, kind=StepKind.SCALAR, count=200, factor=4),
        repaired=at_most(
            _OF_V + _k2 * (1 + _delta_v) * _cv * 4 * _L_R**2 / mu,
            _FIRST_LINE + _k2 * _cv * 8 * _L_R**2 / mu,
            *_DRIFT_OF_V,
        ),
        repair="8 L_R^2 for 4 L_R^2 in the third line: the factor 1 + delta_t' of Lemma 10 is lost.",
        remark="Over rho_gamma_x, at admissible constants and step sizes, with every term of (39). The third line "
        "alone is short by 1 + delta_t'; the first has slack for it unless L_R^2 = 2(L_2^2 r_max^2 + L_1^2) is large "
        "against L_1^2 + r^2 L_2^2, with alpha_max/alpha_min of some hundreds. In the repaired form slope = "
        "L_1^2 + r^2 L_2^2.",
    ),
    _step(
        "eq. (41), (a), the noise and the sampling error of x and v",
        "K_2 (1 + delta_t')(rho gamma_v)^2 <= (rho gamma_x)^2 2 K_2 c_gamma_v^2",
        at_most((1 + _delta_v) * _cv**2 * _K2, 2 * _K2 * _cv**2, _TERM_1, _TERM_7, _SMOOTH[0]),
        remark="The coefficient of [...] in the fifth and the seventh line; those of x, y* and v* are equal.",
    ),
    _step(
        "eq. (41), (a), sixth line, the noise of y",
        "K_1 (1 + delta_t)(rho gamma_y)^2 sigma_g^2 <= (rho gamma_x)^2 K_1 c_gamma_y^2 sigma_g^2",
        drawn(admissible.noise_of_y, kind=StepKind.SCALAR, count=20, factor=1),
        repaired=at_most((1 + _delta) * _cy**2 * s.sigma_g**2, 2 * _cy**2 * s.sigma_g**2, _TERM_6, _TERM_8, _SMOOTH[0]),
        repair="With a factor 2 for the 1 + delta_t of Lemma 10, here and in (42), M_2.",
        remark="Over K_1 (rho_gamma_x)^2 and the factor of the noise, at admissible constants and step sizes. False "
        "for every delta_t > 0; sigma_M2 in the drifts has sigma_g too, but times eta_y^2, which may be as small as "
        "one likes.",
    ),
    _step(
        "eq. (41), (a), eighth line, the heterogeneity of y",
        "K_1 (1 + delta_t)(rho gamma_y)^2 sigma_gh^2 <= (rho gamma_x)^2 K_1 c_gamma_y^2 sigma_gh^2",
        drawn(admissible.heterogeneity_of_y, kind=StepKind.SCALAR, count=20, factor=1),
        repaired=at_most(
            (1 + _delta) * _cy**2 * s.sigma_gh**2, 2 * _cy**2 * s.sigma_gh**2, _TERM_6, _TERM_8, _SMOOTH[0]
        ),
        repair="With a factor 2 for the 1 + delta_t of Lemma 10, here and in (43), M_1.",
        remark="Over K_1 (rho_gamma_x)^2 and 2(n-P) beta_max/(P(n-1)). As the step before.",
    ),
    _step(
        "eq. (41), (a)",
        "Psi(x^(t+1)) - Psi(x^t) = the right side of (41)",
        at_most(_change, _right, below(_change, _right), operator="=="),
        repaired=at_most(_change, _right, below(_change, _right)),
        repair='"<=", as in (45): Lemmas 7 to 10 are inequalities.',
    ),
)
