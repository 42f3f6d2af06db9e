"""Eq. (45) from the repaired Lemmas 7 to 10 at the repaired step sizes: every coefficient, and all of them together.

All is divided by s = rho^(t) gamma_x. u = s c_gamma_y and w = s c_gamma_v; delta = u*d and delta' = w*d' are the Young
weights of Lemma 10; slope = L_1^2 + r^2 L_2^2, share = beta_max/P, A = c_gamma_y K_1, K_2 = 6 L_1^2/(mu_g c_gamma_v),
X = L_Phi/2 + K_1(2 L_y^2 + L_yx/2) + K_2(2 L_v^2 + L_vx/2), and e = 8 eta_y^2 (c_a tau_bar alpha_max beta_gh L_1)^2.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import Proof, at_most, nonnegative, positives, reals
from bounds.ledger.step import Scalar, above, below
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s

L_1, mu, n, P, beta = s.L_1, s.mu_g, s.n, s.P, s.beta_max
_step, _u, _w, _A, _slope, _L_Phi, _L_R2, _c = positives("rho_gamma_x u w A slope L_Phi L_R2 c_gamma")
_d, _d_v, _delta, _e, _share, _curve, _X, _rest, _of_y, _of_drift = nonnegative(
    "d d' delta e beta_over_P curvature X remainder of_y of_drift"
)
_SMALL = below(mu, L_1)
_V_STEP = below(18 * L_1**2 * _w * (1 + _share), mu, "v")
_Y_STEP = below(12 * _u * (_of_drift / 24 + _of_y), mu, "y step")
_ETA_Y = below(24 * L_1**2 * _e, mu**2, "eta_y")
_WEIGHT_V = below(_w * _d_v, 1, "delta' <= 1")
_WEIGHT_Y = below(_u * _d, sp.Rational(1, 144), "delta <= 1/144")
_K_2 = 6 * L_1**2 / mu  # times c_gamma_v
_M_3 = sp.Rational(63, 4) * _slope + _A * (4 * L_1**2 / mu + 6 * mu) + 48 * L_1**2 * _L_R2 / mu**2


def young_weight(part: sp.Expr) -> Scalar:
    """The Young weight of Lemma 10 with delta_1 = rho gamma_y mu_g/8; remainder is L_yx beta_max^2 size."""
    whole = _step * _c * mu / 8 + _rest * _step**2
    return at_most(whole, part * _step * _c * mu, below(8 * _rest * _step, _c * mu, "remainder"))


def small_weight(bound: sp.Expr, factor: int) -> Scalar:
    """The Young weight is small, by the step of y or of v."""
    caps = (below(_delta, _u * mu / 4), below(factor * _u * L_1**2, mu, "step"))
    return at_most(_delta, bound, *caps, _SMALL)


def of_mean_direction(half: sp.Expr) -> Scalar:
    """The coefficient of the mean direction, with ``of_lemma_10`` for 8 K L^2/(c_gamma mu_g) of y and v."""
    coefficient, by_y, by_v = nonnegative("coefficient by_y by_v")
    return at_most(
        coefficient * _step * _X + by_y + by_v,
        half,
        below(coefficient, 1, "n(P-1)/(P(n-1))"),
        below(_X, _L_Phi / 2 + _curve),
        below(4 * _L_Phi * _step, 1, "Phi"),
        below(8 * _curve * _step, 1, "curvature"),
        below(by_y, sp.Rational(1, 8), "c_gamma_y"),
        below(by_v, sp.Rational(1, 8), "c_gamma_v"),
    )


def by_ratio(part: sp.Expr) -> Scalar:
    """Of s K_1 L_y^2/delta_1 with K_1 = A/c_gamma_y and delta_1 = s c_gamma_y mu_g/8; for v alike. L2 is L_y^2."""
    L2 = positives("L2")
    ratio = _step * (_A / _c) * L2 / (_step * _c * mu / 8)
    return at_most(ratio, part, above(_c**2 * mu, 64 * _A * L2, "c_gamma"))


def slack(share: sp.Expr) -> Scalar:
    """How much of the error of y Lemma 8 puts into the drifts: e by the bound on eta_y."""
    eta, path = positives("eta_y path")
    return at_most(
        24 * L_1**2 * 8 * eta**2 * (path * s.beta_gh * L_1) ** 2,
        share * mu**2,
        below(sp.sqrt(192) * eta * path * s.beta_gh * L_1**2, mu, "eta_y"),
    )


def of_error_v(three: sp.Expr) -> Scalar:
    """The coefficient of the error of v."""
    own = _d_v - mu - _w * _d_v * mu + (2 + _w * _d_v) * _w * 3 * L_1**2
    return at_most(
        three / 2 * L_1**2 + _K_2 * own,
        sp.Integer(0),
        below(4 * _d_v, mu, "delta' <= w mu_g/4"),
        _WEIGHT_V,
        below(18 * L_1**2 * _w, mu, "v"),
    )


def of_error_y_own(left_over: sp.Expr) -> Scalar:
    """The coefficient of the error of y in Lemmas 9 and 10 for y, over A."""
    return at_most(
        _d - mu - _u * _d * mu + (2 + _u * _d) * _u * (_of_y + _e * _of_drift) + (1 + _u * _d) * _e * 2 * L_1**2 / mu,
        -left_over * mu,
        below(4 * _d, mu, "delta <= u mu_g/4"),
        _WEIGHT_Y,
        _Y_STEP,
        below(24 * _e, 1, "eta_y"),
        _ETA_Y,
    )


def of_error_y(left_over: sp.Expr) -> Scalar:
    """All of the coefficient of the error of y; by_Phi = share s X."""
    by_Phi = nonnegative("share_s_X")
    ratio = L_1**2 * _L_R2 / mu**2
    drifts = sp.Rational(9, 2) * _slope + 9 * by_Phi * _slope
    steps = _K_2 * (2 + _w * _d_v) * _w
    return at_most(
        3 * _slope
        + steps * 3 * _L_R2
        + (1 + _w * _d_v) * 24 * ratio
        + _e * (drifts + steps * 9 * (1 + _share) * _slope + (1 + _w * _d_v) * 24 * ratio),
        left_over * (40 * _slope + 384 * ratio),
        below(by_Phi, sp.Rational(1, 4), "Phi and curvature"),
        below(24 * _e, 1, "eta_y"),
        _V_STEP,
        _WEIGHT_V,
        _SMALL,
    )


def of_drifts(quarter: sp.Expr) -> Scalar:
    """The coefficient of the drift of x and of y, against M_3."""
    by_Phi = nonnegative("share_s_X")
    of_v = _K_2 * ((2 + _w * _d_v) * _w * 9 * (1 + _share) * _slope + (1 + _w * _d_v) * 4 * _L_R2 / mu)
    return at_most(
        sp.Rational(9, 2) * _slope
        + 9 * by_Phi * _slope
        + _A * ((2 + _u * _d) * _u * _of_drift + (1 + _u * _d) * 2 * L_1**2 / mu)
        + of_v,
        _M_3,
        below(by_Phi, quarter, "Phi and curvature"),
        _Y_STEP,
        _WEIGHT_Y,
        _V_STEP,
        _WEIGHT_V,
    )


def of_drift_v(quarter: sp.Expr) -> Scalar:
    """The factor of the drift of v, which has L_1^2 for the slope and no part by y."""
    by_Phi = nonnegative("share_s_X")
    of_v = _K_2 * ((2 + _w * _d_v) * _w * 9 * (1 + _share) * L_1**2 + (1 + _w * _d_v) * 4 * _L_R2 / mu)
    return at_most(
        sp.Rational(9, 2) * L_1**2 + 9 * by_Phi * L_1**2 + of_v,
        _M_3,
        below(by_Phi, quarter, "Phi and curvature"),
        below(L_1**2, _slope),
        _V_STEP,
        _WEIGHT_V,
    )


def noises(two: sp.Expr) -> Scalar:
    """Terms of Lemma 9 beside the errors and drifts, against M_1 and M_2; away is (n-P)/(P(n-1))."""
    away, noise_weight, by_v, delta, delta_v = nonnegative("away noise_weight noise_weight_r delta delta'")
    r_max, size = positives("r_max size")
    of_y, of_v = nonnegative("K_1*c_gamma_y^2 K_2*c_gamma_v^2")  # K_1 and K_2 as in M_1 and M_2
    bracket = _X + 3 * of_v
    x = 4 * n / P * (noise_weight * s.sigma_f**2 + by_v * s.sigma_gg**2) + 4 * away * beta * size
    y = 2 * n / P * noise_weight * s.sigma_g**2 + 2 * away * beta * s.sigma_gh**2
    M_1 = 2 * bracket * beta * size + 3 * of_y * beta * s.sigma_gh**2
    M_2 = 4 * bracket * (s.sigma_f**2 + r_max**2 * s.sigma_gg**2) + 6 * of_y * s.sigma_g**2
    return at_most(
        (_X + (2 + delta_v) * of_v) * x + (2 + delta) * of_y * y,
        two * away * M_1 + n / P * noise_weight * M_2,
        below(by_v, r_max**2 * noise_weight, "Lemma 2"),
        below(delta, 1),
        below(delta_v, 1),
    )


def every_round(one: sp.Expr) -> Scalar:
    """(39) in every round, of each of its terms: rho^(t) is at most 3*rho_bar/2."""
    term, gamma_x = nonnegative("term gamma_x")
    mean = positives("rho_bar")
    return at_most(
        s.rho * gamma_x * term,
        one,
        below(3 * mean * gamma_x * term, 2, "the condition of that term"),
        below(s.rho, sp.Rational(3, 2) * mean, "rho^(t)"),
    )


def by_Phi(quarter: sp.Expr) -> Scalar:
    """(beta_max/P) s X."""
    return at_most(
        _share * _step * _X,
        quarter,
        below(_X, _L_Phi / 2 + _curve),
        below(4 * _L_Phi * _share * _step, 1, "Phi"),
        below(8 * _curve * _share * _step, 1, "curvature"),
    )


def squared_weights(three: sp.Expr) -> Scalar:
    """The drifts with squared weights: w_i <= beta_max/n."""
    return at_most(
        (2 * n * formulas.SAMPLING + n / P) * beta / n, three * beta / P, below(P, n), above(n, sp.Integer(2))
    )


def together() -> Scalar:
    """(45): Lemmas 7 and 10 in (37), then Lemma 9, then Lemma 8, with the coefficients of the steps before."""
    change = reals("psi_change")
    grad2, mean, gap_y, gap_v, moved_x, moved_y, moved_v = nonnegative("grad2 mean gap_y gap_v drift_x drift_y drift_v")
    sampled_x, sampled_y, sampled_v = nonnegative("sampled_x2 sampled_y2 sampled_v2")
    of_mean, of_gap_y, of_gap_v = nonnegative("of_mean of_gap_y of_gap_v")
    of_xy, of_v, of_x2, of_y2, of_v2 = nonnegative("of_xy of_v of_sampled_x of_sampled_y of_sampled_v")
    still_x, still_y, still_v, mean_share = nonnegative("rest_x rest_y rest_v mean_share")
    x_xy, x_v, y_xy, y_y, v_xy, v_v, v_y, v_gap = nonnegative("x_xy x_v y_xy y_y v_xy v_v v_y v_gap")
    drift_x, drift_y, drift_v, M_3 = nonnegative("D_x D_y D_v M_3")
    all_xy = of_xy + of_x2 * x_xy + of_y2 * y_xy + of_v2 * v_xy
    all_v = of_v + of_x2 * x_v + of_v2 * v_v
    return at_most(
        change,
        -_step / 2 * grad2
        + of_x2 * still_x
        + of_y2 * still_y
        + of_v2 * still_v
        + _step * M_3 * (drift_x + drift_y + drift_v),
        below(
            change,
            -_step / 2 * grad2
            - of_mean * mean
            - of_gap_y * gap_y
            - of_gap_v * gap_v
            + of_xy * (moved_x + moved_y)
            + of_v * moved_v
            + of_x2 * sampled_x
            + of_y2 * sampled_y
            + of_v2 * sampled_v,
            "Lemmas 7 and 10 in (37)",
        ),
        below(sampled_x, still_x + mean_share * mean + x_xy * (moved_x + moved_y) + x_v * moved_v, "Lemma 9, x"),
        below(sampled_y, still_y + y_xy * (moved_x + moved_y) + y_y * gap_y, "Lemma 9, y"),
        below(
            sampled_v, still_v + v_xy * (moved_x + moved_y) + v_v * moved_v + v_gap * gap_v + v_y * gap_y, "Lemma 9, v"
        ),
        below(moved_x, drift_x, "Lemma 8, x"),
        below(moved_v, drift_v, "Lemma 8, v"),
        below(moved_y, drift_y + _e * gap_y, "Lemma 8, y"),
        below(of_x2 * mean_share, of_mean, "the mean direction"),
        below(of_v2 * v_gap, of_gap_v, "the error of v"),
        below(of_y2 * y_y + of_v2 * v_y + _e * all_xy, of_gap_y, "the error of y"),
        below(all_xy, _step * M_3, "the drifts of x and y"),
        below(all_v, _step * M_3, "the drift of v"),
    )


_stepsizes, _lyapunov = Proof("simfbo/stepsizes", first=3), Proof("simfbo/lyapunov", first=16)
_HALF, _QUARTER, _EIGHTH, _TWO_FIFTHS = sp.Rational(1, 2), sp.Rational(1, 4), sp.Rational(1, 8), sp.Rational(2, 5)
_AS_ABOVE = "All is divided by s = rho^(t) gamma_x; u = s c_gamma_y, w = s c_gamma_v. "

STEPS = (
    _stepsizes(
        "statement, not printed: (39) in every round",
        "rho^(t) gamma_x <= 1/term for each term of the minimum, by (3/2) rho_bar gamma_x <= 1/term",
        every_round(sp.Integer(1)),
        remark="rho^(t) is from rho_bar/2 to 3*rho_bar/2. The bounds on eta_x, eta_y and eta_v are conditions.",
    ),
    _lyapunov(
        "not printed: the Young weights of the repaired Lemma 10",
        "delta_1 + L_yx beta_max^2 size s^2 <= s c_gamma_y mu_g/4 with delta_1 = s c_gamma_y mu_g/8"
        ", with the repaired step sizes",
        young_weight(_QUARTER),
        remark="The same for v.",
    ),
    _lyapunov("not printed: the Young weight of y is small", "delta <= 1/144", small_weight(sp.Rational(1, 144), 36)),
    _lyapunov("not printed: the Young weight of v is small", "delta' <= 1/72", small_weight(sp.Rational(1, 72), 18)),
    _lyapunov(
        "not printed: the mean direction in Lemma 10",
        "s K_1 L_y^2/delta_1 <= 1/8 with the repaired c_gamma_y",
        by_ratio(_EIGHTH),
        remark="L2 is L_y^2; the same for v.",
    ),
    _lyapunov(
        "not printed: the coefficient of the mean direction",
        "n(P-1)/(P(n-1)) s X + 1/8 + 1/8 <= 1/2, with the repaired step sizes",
        of_mean_direction(_HALF),
        remark=_AS_ABOVE + "X = L_Phi/2 + K_1(2 L_y^2 + L_yx/2) + K_2(2 L_v^2 + L_vx/2).",
    ),
    _lyapunov(
        "not printed: the coefficient of the error of v",
        "(3/2) L_1^2 + K_2 [...] <= 0",
        of_error_v(sp.Integer(3)),
        remark=_AS_ABOVE + "delta' = w d'.",
    ),
    _lyapunov(
        "not printed: the coefficient of the error of y in Lemmas 9 and 10 for y",
        "it is at most -(2/5) A mu_g, with e times that of the drifts, for the repaired step sizes",
        of_error_y_own(_TWO_FIFTHS),
        remark=_AS_ABOVE
        + "Over A. delta = u d, of_y = 2 beta_max/P beta_gh^2 L_1^2 + 3 L_1^2, of_drift = 3 (beta_max/P + 1) L_1^2, "
        "e = 8 eta_y^2 (c_a tau_bar alpha_max beta_gh L_1)^2.",
    ),
    _lyapunov(
        "not printed: the coefficient of the error of y, all of it",
        "what Lemma 7, and Lemmas 9 and 10 for v, add is at most (2/5) A mu_g, with the repaired step sizes",
        of_error_y(_TWO_FIFTHS),
        remark=_AS_ABOVE + "A mu_g = 40 slope + 384 L_R^2 L_1^2/mu_g^2, by the definition of K_1.",
    ),
    _lyapunov(
        "not printed: (beta_max/P) s X", "(beta_max/P) s X <= 1/4, with the repaired step sizes", by_Phi(_QUARTER)
    ),
    _lyapunov(
        "not printed: the drifts with squared weights",
        "(2n(n-P)/(P(n-1)) + n/P) w_i^2 <= 3 (beta_max/P) w_i",
        squared_weights(sp.Integer(3)),
        remark="Over w_i <= beta_max/n.",
    ),
    _lyapunov(
        "not printed: the coefficient of the drifts of x and y",
        "it is at most the repaired M_3, with the repaired step sizes",
        of_drifts(_QUARTER),
        remark=_AS_ABOVE + "63/4 = 9/2 + 9/4 + 9.",
    ),
    _lyapunov(
        "not printed: the coefficient of the drift of v",
        "it is at most the repaired M_3, with the repaired step sizes",
        of_drift_v(_QUARTER),
    ),
    _lyapunov(
        "not printed: the noises and the sampling error",
        "what is left of Lemma 9 is at most 2(n-P)/(P(n-1)) M_1 + (n/P) noise M_2, M_1 and M_2 repaired",
        noises(sp.Integer(2)),
        remark="Over s^2.",
    ),
    _lyapunov(
        "statement, not printed: (45) from the repaired lemmas",
        "Psi(x^(t+1)) - Psi(x^t) <= -(s/2) ||grad Phi_w||^2 + ... + s M_3 (D_x + D_y + D_v)",
        together(),
        remark="Lemmas 7 and 10 in (37), then Lemma 9, then Lemma 8; every coefficient is that of a step before. "
        "rest_x, rest_y and rest_v are the noise and the sampling error, D the parts of the drifts without an error.",
    ),
    _lyapunov(
        "not printed: the error of y in its own drift",
        "24 L_1^2 e <= mu_g^2 with the repaired eta_y",
        slack(sp.Integer(1)),
        remark="e = 8 eta_y^2 (path beta_gh L_1)^2, path = c_a tau_bar alpha_max, as Lemma 8 has it.",
    ),
)
