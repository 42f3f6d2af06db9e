"""Appendix D.6, eq. (46) to (57), the complexities of Theorem 1 and Table 1."""

from __future__ import annotations

import sympy as sp

from bounds.ledger.proof import Proof, at_most, nonnegative, positives, reals, same
from bounds.ledger.step import Step, above, below, equal, positive
from bounds.ledger.written import sqrt, written
from bounds.papers.simfbo import formulas
from bounds.papers.simfbo import symbols as s

_step = Proof("simfbo/theorem-1", first=9)
n, P, T, tau = s.n, s.P, s.T, s.tau_bar
_G0, _G2, _E0, _E1, _drift, _x_part, _y_part, _v_part, _M1, _M2, _M3, _spread = nonnegative(
    "G_0 G_2 error_0 error_1 drift drift_x drift_y drift_v M_1 M_2 M_3 spread"
)
_rho0, _gamma, _eps, _C, _c, _w, _norm, _alpha_min, _alpha_max, _F, _N, _L_vx = positives(
    "rho_0 gamma_x eps C c w norm alpha_min alpha_max F samples L_vx"
)
_A10, _A20, _A11, _A21, _p1, _p2 = positives("norm_10 norm_20 norm_11 norm_21 p_1 p_2")
_psi0, _psi_T, _psi_inf, _f1, _f2 = reals("Psi_0 Psi_T inf_Psi f_1 f_2")
_most = positives("bound")
_norm2, _weight, _sigma_f2, _r2, _r_max2, _BR, _Ky, _Z = nonnegative(
    "norm2 weight sigma_f2 r_i2 r_max2 bracket K_1_cy2 factor"
)
# rho_bar, the mean over T rounds of rho^(t), each of which is within half of it.
_mean = positives("rho_bar")
_least, _sum_G, _sum_rho, _sum_rho2, _sum_rho_G, _sum_E = nonnegative(
    "G_min sum_G sum_rho sum_rho2 sum_rho_G sum_error"
)
_sum_before, _rho_G_before, _E_before = nonnegative("G_before rho_G_before error_before")
_psi_now = reals("Psi_t")
_MEAN = equal(_sum_rho, T * _mean, "rho_bar is the mean")
_SHARE = formulas.SAMPLING
_GAMMA_X = sqrt(P / (tau * T))


def _shares(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """sum_i w_i f_i with w_i = p_i |a_i|_1/sum_j p_j |a_j|_1."""
    return (_p1 * first * _f1 + _p2 * second * _f2) / (_p1 * first + _p2 * second)


_BOUND_M1 = 2 * _BR * s.beta_max * _Z + _Ky * s.beta_max * s.sigma_gh**2
_DRIFT = (_x_part + _v_part) + _y_part
_SLOPES, _OF_Y, _OF_V = nonnegative("slopes of_y of_v")

STEPS: tuple[Step, ...] = (
    _step(
        "eq. (46), first inequality",
        "min_t G_t <= (1/T) sum_t G_t, G_t = E||grad Phi_w(x^t)||^2",
        at_most(
            _least,
            _sum_G / T,
            equal(_sum_G, _sum_before + _G0, "the sum"),
            above(_sum_before, (T - 1) * _least, "the rounds before"),
            above(_G0, _least, "no G_t is below the least"),
        ),
        remark="With one round, of G_0, after the others.",
    ),
    _step(
        "eq. (46), (a)",
        "(1/T) sum_t G_t <= 2 (1/T) sum_t (rho^(t)/rho_bar) G_t",
        at_most(
            _sum_G / T,
            2 / T * _sum_rho_G / _mean,
            equal(_sum_G, _sum_before + _G0, "the sum of G_t"),
            equal(_sum_rho_G, _rho_G_before + _rho0 * _G0, "the sum of rho^(t) G_t"),
            below(_mean / 2 * _sum_before, _rho_G_before, "the rounds before"),
            above(_rho0, _mean / 2, "rho^(t) is at least half of the mean"),
        ),
        remark="With one round, of rho_0 and G_0, after the others.",
    ),
    _step(
        "eq. (46), the sum of (45)",
        "(1/T) sum_t (rho^(t)/rho_bar) G_t <= (2/T)(Psi(x^0) - Psi(x^T))/(rho_bar gamma_x) + (1/T) sum_t 2/(rho_bar "
        "gamma_x) (errors)",
        at_most(
            _sum_rho_G / (T * _mean),
            2 / T * (_psi0 - _psi_T) / (_mean * _gamma) + 2 / T * _sum_E / (_mean * _gamma),
            equal(_sum_rho_G, _rho_G_before + _rho0 * _G0, "the sum of rho^(t) G_t"),
            equal(_sum_E, _E_before + _E0, "the sum of the errors"),
            below(_psi_now - _psi0, -_gamma / 2 * _rho_G_before + _E_before, "the rounds before, added up"),
            below(_psi_T - _psi_now, -_gamma / 2 * _rho0 * _G0 + _E0, "(45)"),
        ),
        remark="With one round, of rho_0 and G_0, after the others; Psi_t is Psi before it.",
    ),
    _step(
        "eq. (46), the sum of (45), the weights",
        "Phi_w of round t is Phi_w of round t + 1",
        same(_shares(_A10, _A20), _shares(_A11, _A21)),
        repaired=same(_p1 * _A10 / _rho0, _p1 * (_c * _A10) / (_c * _rho0)),
        repair="Shares |a_i|_1/sum_j |a_j|_1 the same in every round, nowhere assumed; ShroFBO has w_i = p_i.",
        remark="n = 2, one point, f_i(x, y) = f_i. w_i^(t) = p_i |a_i^(t)|_1/rho^(t) changes with the local work, and "
        "Psi with it: then the sum of (45) does not telescope. Repaired for the share of one of any number of clients.",
    ),
    _step(
        "eq. (47), (a), and (43)",
        "(2/(rho_bar gamma_x)) eps_part <= (4/(rho_bar gamma_x))(rho^(t) gamma_x)^2 (n-P)/(P(n-1)) M_1",
        same(
            2
            / (_mean * _gamma)
            * (_rho0 * _gamma) ** 2
            * _SHARE
            * (4 * _BR * s.beta_max * _Z + 2 * _Ky * s.beta_max * s.sigma_gh**2),
            4 / (_mean * _gamma) * (_rho0 * _gamma) ** 2 * _SHARE * _BOUND_M1,
        ),
        remark="Equal by the definition of M_1. bracket = [...] of (43), factor = L_f^2 + r_max^2 L_1^2, K_1_cy2 = K_1 "
        "c_gamma_y^2.",
    ),
    _step(
        "eq. (47), (b)",
        "(1/T) sum_t (4/(rho_bar gamma_x))(rho^(t) gamma_x)^2 <= 6 rho_bar gamma_x",
        at_most(
            4 / (T * _mean * _gamma) * _sum_rho2 * _gamma**2,
            6 * _mean * _gamma,
            below(_sum_rho2, 3 * _mean / 2 * _sum_rho, "rho^(t) <= 3 rho_bar/2, times rho^(t) and added up"),
            _MEAN,
        ),
        remark="With the sums of all rho^(t) and of their squares.",
    ),
    _step(
        "below eq. (47)",
        "rho_bar = O(tau_bar): rho^(t) = sum_i p_i |a_i|_1 <= c_a alpha_max tau_bar",
        at_most(_p1 * _A10, _p1 * (s.c_a * _alpha_max * tau), below(_A10, s.c_a * tau * _alpha_max)),
        remark="Client by client, and sum_i p_i = 1.",
    ),
    _step(
        "eq. (48), the equality",
        "6 M_1 (n-P)/(P(n-1)) rho_bar gamma_x = O(M_1 (n-P)/n sqrt(tau_bar/(P T))): (n-P)/(n-1) <= 2 (n-P)/n",
        at_most((n - P) * n, 2 * (n - P) * (n - 1), below(P, n), above(n, sp.Integer(2))),
        remark="n - 1 has become n, which is right up to a factor 2. n = 1 divides by 0.",
    ),
    _step(
        "eq. (48), gamma_x",
        "(1/P) tau_bar gamma_x = sqrt(tau_bar/(P T)) at gamma_x = sqrt(P/(tau_bar T))",
        same(1 / P * tau * _GAMMA_X, sqrt(tau / (P * T))),
    ),
    _step(
        "eq. (49), (a), and (42)",
        "(2/(rho_bar gamma_x)) eps_sync <= (2/(rho_bar gamma_x))(rho^(t) gamma_x)^2 (n/P) sum_i w_i^2 |a_i|_2^2"
        "/|a_i|_1^2 M_2",
        at_most(
            n / P * _weight * (2 * _BR * (_sigma_f2 + _r2 * s.sigma_gg**2) + _Ky * s.sigma_g**2),
            n / P * _weight * (2 * _BR * (_sigma_f2 + _r_max2 * s.sigma_gg**2) + _Ky * s.sigma_g**2),
            below(_r2, _r_max2),
        ),
        remark="One client; weight = w_i^2 |a_i|_2^2/|a_i|_1^2.",
    ),
    _step(
        "eq. (49), (b)",
        "(2/(rho_bar gamma_x))(rho^(t) gamma_x)^2 (n/P) w_i^2 |a_i|_2^2/|a_i|_1^2 <= 3 rho^(t) gamma_x (beta_max/P) "
        "w_i alpha_max/(c_a' tau_bar alpha_min)",
        at_most(
            2 / (_mean * _gamma) * (_rho0 * _gamma) ** 2 * n / P * _w**2 * _norm2 / _norm**2,
            3 * _rho0 * _gamma * s.beta_max / P * _w * _alpha_max / (s.c_a_prime * tau * _alpha_min),
            below(_rho0, 3 * _mean / 2),
            below(n * _w, s.beta_max),
            below(_norm2, _alpha_max * _norm),
            above(_norm, s.c_a_prime * tau * _alpha_min),
        ),
        remark="One round and client; norm = |a_i|_1, norm2 = |a_i|_2^2.",
    ),
    _step(
        "below eq. (49), M_2",
        "M_2 has L_v^2 + L_vx/(2F) in its bracket, as (40) has L_v^2 + L_vx/2",
        same(_L_vx / (2 * _F), _L_vx / 2),
        repaired=same(_L_vx / 2, _L_vx / 2),
        repair="L_vx/2; F is nowhere defined.",
    ),
    _step(
        "eq. (49), last inequality",
        "(3/T) sum_t rho^(t) gamma_x (beta_max/P) sum_i w_i (...) <= 3 (...) rho_bar gamma_x beta_max/P",
        at_most(
            3 / T * _sum_rho * _gamma * s.beta_max / P * _spread, 3 * _mean * _gamma * s.beta_max / P * _spread, _MEAN
        ),
        remark="With the sum of all rho^(t); sum_i w_i = 1; spread = alpha_max/(c_a' tau_bar alpha_min).",
    ),
    _step(
        "eq. (50), the equality",
        "(rho_bar/(P tau_bar)) gamma_x = 1/sqrt(P tau_bar T) at rho_bar = tau_bar, gamma_x = sqrt(P/(tau_bar T))",
        same(written(tau) / (P * tau) * _GAMMA_X, 1 / sqrt(P * tau * T)),
    ),
    _step(
        "eq. (51), first inequality, and (44)",
        "eps_cd <= rho^(t) gamma_x ((eta_x^2 + eta_v^2) tau_bar sigma_M1^2 + 2 eta_y^2 tau_bar sigma_M2^2) M_3",
        at_most(_SLOPES * _DRIFT + _OF_Y * (_x_part + _y_part) + _OF_V * _DRIFT, (_SLOPES + _OF_Y + _OF_V) * _DRIFT),
        remark="slopes, of_y and of_v are the three parts of M_3; drift_y = 2 eta_y^2 tau_bar sigma_M2^2.",
    ),
    _step(
        "eq. (51), second inequality",
        "(1/T) sum_t (2/(rho_bar gamma_x)) rho^(t) gamma_x drift M_3 <= 3 drift M_3",
        at_most(2 / (T * _mean) * _sum_rho * _drift, 3 * _drift, _MEAN),
        remark="With the sum of all rho^(t); drift stands for drift*M_3.",
    ),
    _step(
        "eq. (52), the equality",
        "(eta_x^2 + eta_v^2) tau_bar sigma_M1^2 + 2 eta_y^2 tau_bar sigma_M2^2 = O(1/(tau_bar T)) at eta = "
        "1/(tau_bar sqrt(T))",
        same(
            (2 * formulas.SIGMA_M1_2 + 2 * formulas.SIGMA_M2_2) * written(1 / (tau * sp.sqrt(T))) ** 2 * tau,
            (2 * formulas.SIGMA_M1_2 + 2 * formulas.SIGMA_M2_2) / (tau * T),
        ),
        remark="Right for the printed sigma_M1 and sigma_M2; with the tau_bar that Lemma 8 loses it is O(1/T).",
    ),
    _step(
        "eq. (53), the gap",
        "Psi(x^0) - Psi(x^T) is bounded",
        at_most(
            _psi0 - _psi_T,
            _most,
            equal(_psi_T, _psi0 - _gamma * T, "f_i(x, y) = x and g_i = y^2/2: it falls by the same in every round"),
        ),
        repaired=at_most(
            _psi0 - _psi_T,
            _most,
            equal(_most, _psi0 - _psi_inf, "the bound is the gap to the infimum"),
            above(_psi_T, _psi_inf),
        ),
        repair="Phi_w bounded below, which no assumption says (L_f-Lipschitz f_i may be linear).",
        remark="bound is the constant of the O, the same for every T; Psi_T stands for Psi(x^T). In the example the "
        "gradient has norm 1 in every round, and (54) is false.",
        number=27,
    ),
    _step(
        "eq. (53), the order",
        "(1/T) 1/(rho_bar gamma_x) = 1/sqrt(P tau_bar T) at rho_bar = tau_bar, gamma_x = sqrt(P/(tau_bar T))",
        same(1 / T * (1 / (tau * _GAMMA_X)), 1 / sqrt(P * tau * T)),
    ),
    _step(
        "eq. (54), (50) and (53) together",
        "O(M_2 sqrt(1/(P tau_bar T))) + O(sqrt(1/(P tau_bar T))) = O(M_2 sqrt(1/(P tau_bar T)))",
        at_most(_M2 + _G0, _C * _M2),
        repaired=at_most(_M2 + _G0, _C * (_M2 + _G0), above(_C, sp.Integer(1))),
        repair="M_2 + Psi(x^0) - inf Psi.",
        remark="G_0 is the gap, C the constant of the O. Without noise M_2 is 0, the gap is not.",
    ),
    _step(
        "eq. (55), nearly full participation",
        "(n-P)/(n-1) about 0: M_1 (n-P)/n sqrt(tau_bar/(P T)) <= eps at tau_bar = T/n",
        at_most((_M1 * (n - P)) ** 2, _eps**2 * n**3 * P, equal(P, n)),
        remark="Squared, with tau_bar/T = 1/n. Nearly full is read as P = n, for which Theorem 1 makes its claim; at P "
        "= n - 1 the term is M_1/(n sqrt(n P)) in place of 0, however large T is.",
    ),
    _step(
        "below eq. (55), samples",
        "tau_bar T = O(1/(n eps^2)) samples: M_3/(tau_bar T) <= eps/2 at tau_bar T = 4 M_2^2/(n eps^2)",
        at_most(_M3, _eps / 2 * _N, equal(_N * n * _eps**2, 4 * _M2**2), below(n * _M3 * _eps, 2 * _M2**2)),
        remark="samples = tau_bar*T. The O is read as one for eps to 0, here up to 2*M_2^2/(n*M_3); above it takes "
        "O(1/eps) samples, with no speedup in n.",
    ),
    _step(
        "below eq. (55), rounds",
        "tau_bar = T/n and tau_bar T = 4 M_2^2/(n eps^2) give T = 2 M_2/eps rounds",
        same(n * written(4 * _M2**2 / (n * _eps**2)), written(2 * _M2 / _eps) ** 2),
        remark="Squared.",
    ),
    _step(
        "eq. (57), first and second term",
        "(n-P)/n sqrt(tau_bar/(P T)) = sqrt((n-P)/(n P T)) = sqrt(1/(P tau_bar T)) at tau_bar = n/(n-P)",
        same(written(((n - P) / n) ** 2) * (n / (n - P)) / (P * T), 1 / (written(P * T) * (n / (n - P)))),
        remark="Squared. tau_bar = n/(n-P) needs P < n.",
    ),
    _step(
        "eq. (57), third term",
        "M_3/(tau_bar T) <= M_3/T at tau_bar = n/(n-P)",
        at_most(_M3 * (n - P) / (n * T), _M3 / T, below(P, n)),
    ),
    _step(
        "below eq. (57), T >> P",
        "the last term is no larger than the first: 1/T <= sqrt((n-P)/(n P T)) for T >= 3 P",
        at_most(n * P, (n - P) * T, above(T, 3 * P), below(2 * P, n)),
        remark="Squared, times n*P*T^2; 3 P stands for T >> P, and P <= n/2 for a P not close to n, of which (57) "
        "speaks. For P = n - 1 it takes T >> n^2, which Theorem 1 does not say.",
    ),
    _step(
        "Theorem 1, rounds at partial participation",
        "(M_1 + M_2) sqrt((n-P)/(n P T)) <= eps after T = (M_1 + M_2)^2/(P eps^2) rounds",
        at_most((_M1 + _M2) ** 2 * (n - P), _eps**2 * n * P * T, above(T * P * _eps**2, (_M1 + _M2) ** 2), below(P, n)),
        remark="Squared.",
    ),
    _step(
        "below eq. (57), samples",
        "tau_bar T = O(1/(P eps^2)): (n/(n-P)) (M_1 + M_2)^2 (n-P)/(n P eps^2) = (M_1 + M_2)^2/(P eps^2)",
        same(written(n / (n - P)) * ((_M1 + _M2) ** 2 * (n - P) / (n * P * _eps**2)), (_M1 + _M2) ** 2 / (P * _eps**2)),
        remark="tau_bar = n/(n-P) times the rounds after which the first term of (57) is eps.",
    ),
    _step(
        "Table 1 and Section 1.1, communication rounds",
        "(M_1 + M_2) sqrt((n-P)/(n P T)) <= eps after T = C/eps rounds",
        at_most(
            (_M1 + _M2) ** 2 * (n - P),
            _eps**2 * n * P * T,
            equal(T * _eps, _C),
            below(P, n),
            above(_C, 100 * (_M1 + _M2) ** 2),
            positive(_M1),
        ),
        repaired=at_most((_M1 + _M2) ** 2 * (n - P), _eps**2 * n * P * T, equal(T * _eps, _C), equal(P, n)),
        repair="For P = n only; Theorem 1 itself says O(1/(P eps^2)) rounds for P < n.",
        remark="Squared. C is the constant of the O, here at least 100 (M_1 + M_2)^2; no constant is enough as eps "
        "falls.",
    ),
)
