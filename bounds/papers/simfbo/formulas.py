"""Formulas that recur in the SimFBO paper: constants of the analysis, as printed and as repaired."""

import sympy as sp

from bounds.papers.simfbo.symbols import (
    L_1,
    L_2,
    L_3,
    VOCABULARY,
    Delta_v,
    Delta_y,
    L_f,
    P,
    Phi_gap,
    Phi_w_change,
    alpha_max,
    alpha_min,
    beta_max,
    c_a,
    c_gamma_v,
    c_gamma_y,
    delta_t1,
    delta_t1_prime,
    drift_v,
    drift_v_sq,
    drift_x,
    drift_x_sq,
    drift_y,
    drift_y_sq,
    dv2,
    dx2,
    dy2,
    eta_v,
    eta_x,
    eta_y,
    gamma_v,
    gamma_x,
    gamma_y,
    mu_g,
    n,
    noise_weight,
    noise_weight_r,
    rho,
    sigma_f,
    sigma_g,
    sigma_gg,
    sigma_gh,
    tau_bar,
    v_change,
    y_change,
)

ONE = sp.Integer(1)
HALF = sp.Rational(1, 2)

R = L_f / mu_g
R_MAX = (1 + alpha_max / alpha_min) * R
L_R = sp.sqrt(2 * (L_2**2 * R_MAX**2 + L_1**2))
L_TILDE = L_1 + L_1**2 / mu_g + L_f * (L_2 / mu_g + L_1 * L_2 / mu_g**2)
L_PHI = L_TILDE + L_TILDE * L_1 / mu_g
L_Y = L_1 / mu_g
L_V = sp.sqrt(2 * L_1**2 / mu_g**2 + 2 * L_f**2 * L_2**2 / mu_g**4) * sp.sqrt(1 + L_Y**2)
L_YX = (L_2 + L_2 * L_Y) / mu_g + L_1 * (L_2 + L_2 * L_Y) / mu_g**2
L_VX = 2 / mu_g * sp.sqrt((L_2**2 + R**2 * L_3**2 + L_2**2 * L_V**2) * (1 + L_Y**2) + L_2**2 * L_V**2)
# From (14), G_yy v*' = F_yx + F_yy y*' - v*(G_yyx + G_yyy y*'): the change of each factor between two points.
L_VX_REPAIRED = (
    sp.sqrt(1 + L_Y**2) * ((L_2 + R * L_3) * (1 + L_Y) + L_2 * L_V) + L_2 * L_V * (1 + L_Y) + (L_1 + R * L_2) * L_YX
) / mu_g

# Squared bounds: half of what Lemma 5 allows for a surrogate gradient, and half its change per unit of y.
SIZE = L_f**2 + R_MAX**2 * L_1**2
SLOPE = L_1**2 + R**2 * L_2**2
VARIANCE = sigma_f**2 + R_MAX**2 * sigma_gg**2

# K_1 = K_1_NUMERATOR/c_gamma_y, K_2 = K_2_NUMERATOR/c_gamma_v.
K_1_NUMERATOR = 40 * SLOPE / mu_g + 384 * L_R**2 * L_1**2 / mu_g**3
K_2_NUMERATOR = 6 * L_1**2 / mu_g
K_1, K_2 = K_1_NUMERATOR / c_gamma_y, K_2_NUMERATOR / c_gamma_v

SIGMA_M1_2 = alpha_max**2 * VARIANCE + alpha_max * SIZE
SIGMA_M2_2 = alpha_max**2 * sigma_g**2 + SIGMA_M1_2 + 2 * c_a * alpha_max * sigma_gh**2
# |a_i|_1 <= PATH, which (20) loses: a sum of k vectors weighted by a is bounded by |a|_1 times the weighted squares.
PATH = c_a * tau_bar * alpha_max
SIGMA_M1_2_REPAIRED = 4 * c_a * alpha_max**2 * (VARIANCE + c_a * tau_bar * SIZE)
SIGMA_M2_2_REPAIRED = c_a * alpha_max**2 * (2 * sigma_g**2 + 4 * c_a * tau_bar * sigma_gh**2) + SIGMA_M1_2_REPAIRED

CURVATURE_Y, CURVATURE_V = L_Y**2 + L_YX / 2, L_V**2 + L_VX / 2
CURVATURE = K_1 * CURVATURE_Y + K_2 * CURVATURE_V
BRACKET = L_PHI**2 / 2 + CURVATURE + 2 * K_2 * c_gamma_v**2
CURVATURE_REPAIRED = K_1 * (2 * L_Y**2 + L_YX / 2) + K_2 * (2 * L_V**2 + L_VX_REPAIRED / 2)
BRACKET_REPAIRED = L_PHI / 2 + CURVATURE_REPAIRED + 3 * K_2 * c_gamma_v**2

SHARE = beta_max / P
M_1 = 2 * BRACKET * beta_max * SIZE + K_1 * c_gamma_y**2 * beta_max * sigma_gh**2
M_2 = 2 * BRACKET * VARIANCE + K_1 * c_gamma_y**2 * sigma_g**2
M_3 = (
    3 * (sp.Rational(3, 2) + 24 * K_2 * c_gamma_v + SHARE * (sp.Rational(17, 4) + 16 * K_2 * c_gamma_v)) * SLOPE
    + K_1 * (4 * c_gamma_y * L_1**2 / mu_g + 8 * c_gamma_v * (2 * SHARE + 3) * L_1**2)
    + K_2 * c_gamma_v * 4 * L_R**2 / mu_g
)
M_1_REPAIRED = 2 * BRACKET_REPAIRED * beta_max * SIZE + 3 * K_1 * c_gamma_y**2 * beta_max * sigma_gh**2
M_2_REPAIRED = 4 * BRACKET_REPAIRED * VARIANCE + 6 * K_1 * c_gamma_y**2 * sigma_g**2
# 63/4 = 3*(3/2 + 3/8 + 3/8 + 3): Lemma 7, the curvature of Phi_w, that of y* and v*, and the step of v.
M_3_REPAIRED = (
    sp.Rational(63, 4) * SLOPE + K_1_NUMERATOR * (4 * L_1**2 / mu_g + 6 * mu_g) + K_2_NUMERATOR * 8 * L_R**2 / mu_g
)

SAMPLING = (n - P) / (P * (n - 1))

# One round: the server's step, what drifts, and the noise and the sampling of its direction.
SERVER_STEP = rho * gamma_x
POINTS = 3 * SLOPE * (dx2 + dy2) + 3 * L_1**2 * dv2
YOUNG_SLACK = 2 * eta_y**2 * PATH * L_1**2
SAMPLED_NOISE = 2 * n / P * (noise_weight * sigma_f**2 + noise_weight_r * sigma_gg**2)
SAMPLED = 4 * SAMPLING * beta_max * (R_MAX**2 * L_1**2 + L_f**2)
DRIFT_XY = eta_x**2 * tau_bar * SIGMA_M1_2 + 2 * eta_y**2 * tau_bar * SIGMA_M2_2
DRIFT = (eta_x**2 + eta_v**2) * tau_bar * SIGMA_M1_2 + 2 * eta_y**2 * tau_bar * SIGMA_M2_2
DRIFT_REPAIRED = (eta_x**2 + eta_v**2) * tau_bar * SIGMA_M1_2_REPAIRED + 2 * eta_y**2 * tau_bar * SIGMA_M2_2_REPAIRED
# delta_t and delta_t' of Lemma 10; repaired, what the remainder of y* or v* costs where the change of x is bounded
# surely, beta_max times one client's gradient.
D_Y = delta_t1 + L_YX * SIZE * SERVER_STEP**2 / 2
D_V = delta_t1_prime + L_VX * SIZE * SERVER_STEP**2 / 2
D_Y_REPAIRED = delta_t1 + L_YX * beta_max**2 * SIZE * SERVER_STEP**2
D_V_REPAIRED = delta_t1_prime + L_VX_REPAIRED * beta_max**2 * SIZE * SERVER_STEP**2
# The whole of them, below (37).
DELTA, DELTA_PRIME = rho * c_gamma_y * gamma_x * mu_g / 4, rho * c_gamma_v * gamma_x * mu_g / 4

# The infimum of (37) is that of Phi_w, at y = y* and v = v*. Lemma 10 leaves the Young weights open.
VOCABULARY.derived = {
    "psi_gap": Phi_gap + K_1 * Delta_y + K_2 * Delta_v,
    "psi_change": Phi_w_change + K_1 * y_change + K_2 * v_change,
    "r": R,
    "r_max": R_MAX,
    "drift_f": 3 * SLOPE * (drift_x + drift_y) + 3 * L_1**2 * drift_v,
    "drift_g": L_1**2 * (drift_x + drift_y),
    "drift_f_sq": 3 * SLOPE * (drift_x_sq + drift_y_sq) + 3 * L_1**2 * drift_v_sq,
    "drift_g_sq": L_1**2 * (drift_x_sq + drift_y_sq),
    "delta_t1": rho * gamma_y * mu_g / 8,
    "delta_t1_prime": rho * gamma_v * mu_g / 8,
}
