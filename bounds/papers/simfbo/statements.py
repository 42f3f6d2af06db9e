"""Statements of "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning".

Yang, Xiao and Ji; the algorithms SimFBO and ShroFBO. Problem (1): minimise Phi(x) = sum_i p_i f_i(x, y*(x)) over x,
where y*(x) minimises sum_i p_i g_i(x, y) over y; v*(x) solves the linear system of its hypergradient. Numbers are the
paper's. The values sigma_f, sigma_g, sigma_gg, sigma_gh, sigma_M1 and sigma_M2 are square roots of what it prints
squared; beta_gh is the constant whose square stands in Assumption 4.

Weights. ``w_i = p_i |a_i|_1 / sum_j p_j |a_j|_1`` for SimFBO and ``w_i = p_i`` for ShroFBO; the proofs need them to be
the same in every round. The suffix ``_w`` (in print: a tilde) says that p is replaced by w. The averages of the
appendix are over w_i and, for a client, over its local steps with the shares ``a_i^k / |a_i|_1``.

Scaling. Both levels are scaled together: (f, g) -> (a*f, a*g), and x and y are measured in the same other unit
(c*x, c*y). Then v has the degrees of x, a gradient of f_i or g_i has (1, -1), a step size of any of the three variables
(-1, 2), and L_1 serves both levels. Scaling f or g alone is no symmetry of the paper: L_1 and L_2 bound both.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

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

TITLE = "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning"

VOCABULARY = Vocabulary()
_define = VOCABULARY.define

_INTEGER, _POSITIVE, _NONNEGATIVE, _REAL = (
    Domain.POSITIVE_INTEGER,
    Domain.POSITIVE,
    Domain.NONNEGATIVE,
    Domain.REAL,
)
_SETTING, _CONSTANT, _STEP, _MEASURED = Role.SETTING, Role.CONSTANT, Role.STEP_SIZE, Role.MEASURED

# Settings of a run.
n = _define("n", "n", "clients", _INTEGER, _SETTING, 0, 0)
P = _define("P", "P", "clients sampled per round", _INTEGER, _SETTING, 0, 0)
T = _define("T", "T", "rounds", _INTEGER, _SETTING, 0, 0)
tau_bar = _define("tau_bar", r"\bar\tau", "local steps per round, averaged over the clients", _POSITIVE, _SETTING, 0, 0)
rho = _define("rho", r"\rho^{(t)}", "sum_i p_i |a_i|_1 in one round", _POSITIVE, _SETTING, 0, 0)
rho_bar = _define("rho_bar", r"\bar\rho", "sum_i p_i |a_i|_1, averaged over the rounds", _POSITIVE, _SETTING, 0, 0)
alpha_min = _define("alpha_min", r"\alpha_{\min}", "smallest coefficient a_i^k", _POSITIVE, _SETTING, 0, 0)
alpha_max = _define("alpha_max", r"\alpha_{\max}", "largest coefficient a_i^k", _POSITIVE, _SETTING, 0, 0)
beta_min = _define("beta_min", r"\beta_{\min}", "n times the smallest weight w_i", _POSITIVE, _SETTING, 0, 0)
beta_max = _define("beta_max", r"\beta_{\max}", "n times the largest weight w_i", _POSITIVE, _SETTING, 0, 0)
beta_max_prime = _define(
    "beta_max_prime", r"\beta_{\max}'", "n times the largest weight p_i", _POSITIVE, _SETTING, 0, 0
)
c_a = _define("c_a", "c_a", "constant with |a_i|_1 <= c_a*tau_bar*alpha_max", _POSITIVE, _SETTING, 0, 0)
c_a_prime = _define(
    "c_a_prime", "c_a'", "constant with |a_i|_1 >= c_a_prime*tau_bar*alpha_min", _POSITIVE, _SETTING, 0, 0
)
delta_t1 = _define(
    "delta_t1", r"\delta_{t,1}", "weight of Young's inequality in the step of y", _POSITIVE, _SETTING, 0, 0
)
delta_t1_prime = _define(
    "delta_t1_prime", r"\delta_{t,1}'", "weight of Young's inequality in the step of v", _POSITIVE, _SETTING, 0, 0
)

# Constants of a problem.
mu_g = _define("mu_g", r"\mu_g", "strong convexity of every g_i in y", _POSITIVE, _CONSTANT, 1, -2)
L_f = _define("L_f", "L_f", "Lipschitz constant of every f_i", _POSITIVE, _CONSTANT, 1, -1)
L_1 = _define("L_1", "L_1", "Lipschitz constant of the gradients of every f_i and g_i", _POSITIVE, _CONSTANT, 1, -2)
L_2 = _define(
    "L_2", "L_2", "Lipschitz constant of the second derivatives of every f_i and g_i", _NONNEGATIVE, _CONSTANT, 1, -3
)
L_3 = _define("L_3", "L_3", "Lipschitz constant of the third derivatives of every g_i", _NONNEGATIVE, _CONSTANT, 1, -4)
sigma_f = _define(
    "sigma_f",
    r"\sigma_f",
    "root of the bound on the noise variance of the f_i gradients",
    _NONNEGATIVE,
    _CONSTANT,
    1,
    -1,
)
sigma_g = _define(
    "sigma_g",
    r"\sigma_g",
    "root of the bound on the noise variance of the g_i gradients",
    _NONNEGATIVE,
    _CONSTANT,
    1,
    -1,
)
sigma_gg = _define(
    "sigma_gg",
    r"\sigma_{gg}",
    "root of the bound on the noise variance of the second derivatives of g_i",
    _NONNEGATIVE,
    _CONSTANT,
    1,
    -2,
)
beta_gh = _define("beta_gh", r"\beta_{gh}", "factor of the lower-level heterogeneity", _POSITIVE, _CONSTANT, 0, 0)
sigma_gh = _define(
    "sigma_gh",
    r"\sigma_{gh}",
    "root of the constant part of the lower-level heterogeneity",
    _NONNEGATIVE,
    _CONSTANT,
    1,
    -1,
)
psi_gap = _define(
    "psi_gap", r"\Psi^0-\inf\Psi", "initial gap of the Lyapunov function (37)", _POSITIVE, _CONSTANT, 1, 0
)
Phi_gap = _define(
    "Phi_gap", r"\widetilde\Phi(x^0)-\inf\widetilde\Phi", "initial gap of Phi_w", _NONNEGATIVE, _CONSTANT, 1, 0
)
Delta_y = _define("Delta_y", r"\|y^0-\widetilde y^*(x^0)\|^2", "||y^0 - y*_w(x^0)||^2", _NONNEGATIVE, _CONSTANT, 0, 2)
Delta_v = _define("Delta_v", r"\|v^0-\widetilde v^*(x^0)\|^2", "||v^0 - v*_w(x^0)||^2", _NONNEGATIVE, _CONSTANT, 0, 2)

# Step sizes.
gamma_x = _define("gamma_x", r"\gamma_x", "server step size of x", _POSITIVE, _STEP, -1, 2)
gamma_y = _define("gamma_y", r"\gamma_y", "server step size of y", _POSITIVE, _STEP, -1, 2)
gamma_v = _define("gamma_v", r"\gamma_v", "server step size of v", _POSITIVE, _STEP, -1, 2)
c_gamma_y = _define("c_gamma_y", r"c_{\gamma_y}", "ratio gamma_y/gamma_x", _POSITIVE, _STEP, 0, 0)
c_gamma_v = _define("c_gamma_v", r"c_{\gamma_v}", "ratio gamma_v/gamma_x", _POSITIVE, _STEP, 0, 0)
eta_x = _define("eta_x", r"\eta_x", "local step size of x", _POSITIVE, _STEP, -1, 2)
eta_y = _define("eta_y", r"\eta_y", "local step size of y", _POSITIVE, _STEP, -1, 2)
eta_v = _define("eta_v", r"\eta_v", "local step size of v", _POSITIVE, _STEP, -1, 2)


def _measured(
    name: str, latex: str, meaning: str, f_degree: int, x_degree: int, domain: Domain = Domain.NONNEGATIVE
) -> sp.Symbol:
    return _define(name, latex, meaning, domain, _MEASURED, f_degree, x_degree)


# What the paper defines from the above: the left sides of simfbo/constants.
_DEFINED = {
    name: _measured(name, latex, meaning, *degrees)
    for name, latex, meaning, degrees in (
        ("r", "r", "radius of the server's ball for v", (0, 1)),
        ("r_max", r"r_{\max}", "bound on the local v", (0, 1)),
        ("L_R", "L_R", "Lipschitz constant of grad_v R_i in (x, y)", (1, -2)),
        ("L_tilde", r"\widetilde L", "Lipschitz constant in y of the surrogate gradient with its own v", (1, -2)),
        ("L_Phi", r"L_\Phi", "smoothness of Phi", (1, -2)),
        ("L_y", "L_y", "Lipschitz constant of y*", (0, 0)),
        ("L_v", "L_v", "Lipschitz constant of v*", (0, 0)),
        ("L_yx", "L_{yx}", "Lipschitz constant of the Jacobian of y*", (0, -1)),
        ("L_vx", "L_{vx}", "Lipschitz constant of the Jacobian of v*", (0, -1)),
        ("K_1", "K_1", "factor of ||y - y*||^2 in the Lyapunov function", (1, -2)),
        ("K_2", "K_2", "factor of ||v - v*||^2 in the Lyapunov function", (1, -2)),
        ("delta", r"\delta_t", "Young parameter of the step of y", (0, 0)),
        ("delta_prime", r"\delta_t'", "Young parameter of the step of v", (0, 0)),
        ("M_1", "M_1", "factor of the error of partial participation", (3, -4)),
        ("M_2", "M_2", "factor of the error of full synchronisation", (3, -4)),
        ("M_3", "M_3", "factor of the error of the local steps", (2, -4)),
        ("sigma_M1", r"\sigma_{M1}", "root of the factor of the drifts of x and v", (1, -1)),
        ("sigma_M2", r"\sigma_{M2}", "root of the factor of the drift of y", (1, -1)),
    )
}

# Quantities of a run in round t.
grad_Phi_w2 = _measured(
    "grad_Phi_w2", r"\mathbb{E}\|\nabla\widetilde\Phi(x^t)\|^2", "E||grad Phi_w(x^t)||^2, weights w_i", 2, -2
)
grad_Phi2 = _measured("grad_Phi2", r"\mathbb{E}\|\nabla\Phi(x^t)\|^2", "E||grad Phi(x^t)||^2, weights p_i", 2, -2)
y_error_w2 = _measured("y_error_w2", r"\mathbb{E}\|y^t-\widetilde y^*(x^t)\|^2", "E||y^t - y*_w(x^t)||^2", 0, 2)
v_error_w2 = _measured("v_error_w2", r"\mathbb{E}\|v^t-\widetilde v^*(x^t)\|^2", "E||v^t - v*_w(x^t)||^2", 0, 2)
mean_x2 = _measured(
    "mean_x2",
    r"\mathbb{E}\|\sum_iw_i\widetilde h_{x,i}\|^2",
    "E||sum_i w_i h~_x,i||^2 with h~_x,i the average of the surrogate gradients at the client's local points",
    2,
    -2,
)
sampled_x2 = _measured(
    "sampled_x2",
    r"\mathbb{E}\|\sum_{i\in C}\widetilde w_ih_{x,i}\|^2",
    "E||(n/P) sum_{i in C} w_i h_x,i||^2 with h_x,i the average of the client's sampled surrogate gradients",
    2,
    -2,
)
sampled_y2 = _measured(
    "sampled_y2", r"\mathbb{E}\|\sum_{i\in C}\widetilde w_ih_{y,i}\|^2", "the same for the y gradients of g_i", 2, -2
)
sampled_v2 = _measured(
    "sampled_v2", r"\mathbb{E}\|\sum_{i\in C}\widetilde w_ih_{v,i}\|^2", "the same for the v gradients of R_i", 2, -2
)
_SHARES = r"\sum_iw_i\sum_k\frac{a_i^k}{\|a_i\|_1}"
drift_x = _measured(
    "drift_x", _SHARES + r"\mathbb{E}\|x_i^k-x^t\|^2", "drift: sum_ik w_i (a_i^k/|a_i|_1) E||x_i^k - x^t||^2", 0, 2
)
drift_y = _measured(
    "drift_y", _SHARES + r"\mathbb{E}\|y_i^k-y^t\|^2", "drift: sum_ik w_i (a_i^k/|a_i|_1) E||y_i^k - y^t||^2", 0, 2
)
drift_v = _measured(
    "drift_v", _SHARES + r"\mathbb{E}\|v_i^k-v^t\|^2", "drift: sum_ik w_i (a_i^k/|a_i|_1) E||v_i^k - v^t||^2", 0, 2
)
drift_f = _measured(
    "drift_f",
    _SHARES + r"\Delta_{f,i}^k",
    "sum_ik w_i (a_i^k/|a_i|_1) E Delta_f,i^k with the right side Delta_f of Lemma 6; Delta_R is the same",
    2,
    -2,
)
drift_g = _measured(
    "drift_g", _SHARES + r"\Delta_{g,i}^k", "sum_ik w_i (a_i^k/|a_i|_1) E Delta_g,i^k of Lemma 6", 2, -2
)
_SQUARED_SHARES = r"\sum_iw_i^2\sum_k\frac{a_i^k}{\|a_i\|_1}"
drift_x_sq, drift_y_sq, drift_v_sq = (
    _measured(
        f"drift_{block}_sq",
        _SQUARED_SHARES + rf"\mathbb{{E}}\|{block}_i^k-{block}^t\|^2",
        f"drift_{block} with w_i^2 for w_i",
        0,
        2,
    )
    for block in "xyv"
)
drift_f_sq = _measured("drift_f_sq", _SQUARED_SHARES + r"\Delta_{f,i}^k", "drift_f with w_i^2 for w_i", 2, -2)
drift_g_sq = _measured("drift_g_sq", _SQUARED_SHARES + r"\Delta_{g,i}^k", "drift_g with w_i^2 for w_i", 2, -2)
noise_weight = _measured("noise_weight", r"\sum_iw_i^2\|a_i\|_2^2/\|a_i\|_1^2", "sum_i w_i^2 |a_i|_2^2/|a_i|_1^2", 0, 0)
noise_weight_r = _measured(
    "noise_weight_r",
    r"\sum_iw_i^2r_i^2\|a_i\|_2^2/\|a_i\|_1^2",
    "sum_i w_i^2 r_i^2 |a_i|_2^2/|a_i|_1^2 with r_i the largest local ||v_i^k||",
    0,
    2,
)
Phi_w_change = _measured(
    "Phi_w_change",
    r"\mathbb{E}\widetilde\Phi(x^{t+1})-\mathbb{E}\widetilde\Phi(x^t)",
    "expected change of Phi_w in a round",
    1,
    0,
    _REAL,
)
y_change = _measured(
    "y_change",
    r"\mathbb{E}\|y^{t+1}-\widetilde y^*(x^{t+1})\|^2-\mathbb{E}\|y^t-\widetilde y^*(x^t)\|^2",
    "change of y_error_w2 in a round",
    0,
    2,
    _REAL,
)
v_change = _measured(
    "v_change",
    r"\mathbb{E}\|v^{t+1}-\widetilde v^*(x^{t+1})\|^2-\mathbb{E}\|v^t-\widetilde v^*(x^t)\|^2",
    "change of v_error_w2 in a round",
    0,
    2,
    _REAL,
)
psi_change = _measured(
    "psi_change",
    r"\Psi(x^{t+1})-\Psi(x^t)",
    "change of Psi = E Phi_w + K_1*y_error_w2 + K_2*v_error_w2, eq. (37), in a round",
    1,
    0,
    _REAL,
)
error_sync = _measured("error_sync", r"\epsilon_{sync}^t", "error of full synchronisation, eq. (42)", 1, 0)
error_part = _measured("error_part", r"\epsilon_{part}^t", "error of partial participation, eq. (43)", 1, 0)
error_cd = _measured("error_cd", r"\epsilon_{cd}^t", "error of the client drifts, eq. (44)", 1, 0)
local_v = _measured("local_v", r"\|v_i^k\|", "||v_i^k|| at any local step of any client", 0, 1)
v_star2 = _measured("v_star2", r"\|v^*(x)\|^2", "||v*(x)||^2 at any x", 0, 2)

# Two points (x, y, v), (x', y', v') and what changes between them.
dx2 = _measured("dx2", r"\|x-x'\|^2", "||x - x'||^2", 0, 2)
dy2 = _measured("dy2", r"\|y-y'\|^2", "||y - y'||^2", 0, 2)
dv2 = _measured("dv2", r"\|v-v'\|^2", "||v - v'||^2", 0, 2)
_CHANGES = {
    name: _measured(name, latex, meaning, *degrees)
    for name, latex, meaning, degrees in (
        (
            "R_change_xy2",
            r"\|\nabla_vR_i(x,y,v)-\nabla_vR_i(x',y',v)\|^2",
            "||grad_v R_i(x, y, v) - grad_v R_i(x', y', v)||^2 at a local v, one client",
            (2, -2),
        ),
        (
            "surrogate_error2",
            r"\|\nabla f(x,y)-\nabla\Phi(x)\|^2",
            "||grad_x F - G_xy G_yy^-1 grad_y F at (x, y), minus grad Phi(x)||^2",
            (2, -2),
        ),
        ("Phi_gradient_change2", r"\|\nabla\Phi(x)-\nabla\Phi(x')\|^2", "||grad Phi(x) - grad Phi(x')||^2", (2, -2)),
        ("y_star_change2", r"\|y^*(x)-y^*(x')\|^2", "||y*(x) - y*(x')||^2", (0, 2)),
        (
            "y_jacobian_change2",
            r"\|\nabla y^*(x)-\nabla y^*(x')\|^2",
            "squared operator norm of the change of y*'s Jacobian",
            (0, 0),
        ),
        ("v_star_change2", r"\|v^*(x)-v^*(x')\|^2", "||v*(x) - v*(x')||^2", (0, 2)),
        (
            "v_jacobian_change2",
            r"\|\nabla v^*(x)-\nabla v^*(x')\|^2",
            "squared operator norm of the change of v*'s Jacobian",
            (0, 0),
        ),
        ("g_gradients2", r"\sum_iw_i\|\nabla_yg_i(x,y)\|^2", "sum_i w_i ||grad_y g_i(x, y)||^2", (2, -2)),
        (
            "R_gradients2",
            r"\sum_iw_i\|\nabla_vR_i(x,y,v)\|^2",
            "sum_i w_i ||grad_v R_i(x, y, v)||^2 at ||v|| <= r_max",
            (2, -2),
        ),
        (
            "f_gradients2",
            r"\sum_iw_i\|\bar\nabla f_i(x,y,v)\|^2",
            "sum_i w_i ||surrogate gradient of f_i at (x, y, v)||^2 at ||v|| <= r_max",
            (2, -2),
        ),
        ("y_distance2", r"\|y-y^*(x)\|^2", "||y - y*(x)||^2", (0, 2)),
        (
            "f_change2",
            r"\|\bar\nabla f_i(x,y,v)-\bar\nabla f_i(x',y',v')\|^2",
            "squared change of a client's surrogate gradient, ||v|| <= r",
            (2, -2),
        ),
        (
            "g_change2",
            r"\|\nabla g_i(x,y)-\nabla g_i(x',y')\|^2",
            "squared change of a client's lower-level gradient",
            (2, -2),
        ),
        (
            "R_change2",
            r"\|\nabla_vR_i(x,y,v)-\nabla_vR_i(x',y',v')\|^2",
            "squared change of a client's grad_v R_i, ||v|| <= r",
            (2, -2),
        ),
    )
}

# What problems certify and runs measure under the same name.
_CERTIFIED = (mu_g, L_f, L_1, L_2, L_3, sigma_f, sigma_g, sigma_gg, beta_gh, sigma_gh, Phi_gap, Delta_y, Delta_v)
_RECORDED = (
    *(grad_Phi_w2, grad_Phi2, y_error_w2, v_error_w2, Phi_w_change, y_change, v_change),
    *(mean_x2, sampled_x2, sampled_y2, sampled_v2, noise_weight, noise_weight_r, local_v),
    *(drift_x, drift_y, drift_v, drift_x_sq, drift_y_sq, drift_v_sq),
)

# --- Formulas that recur ---

ONE = sp.Integer(1)
_half = sp.Rational(1, 2)

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

# --- Step sizes ---

PRODUCTS = (
    StepProduct(product=gamma_y, local=gamma_x, outer=c_gamma_y),
    StepProduct(product=gamma_v, local=gamma_x, outer=c_gamma_v),
)
# (38) asks c_gamma_y >= 256*K_1*L_y/mu_g, but K_1 has 1/c_gamma_y: together c_gamma_y^2 >= 256*K_1_NUMERATOR*L_y/mu_g.
RATIOS = (
    StepRule(symbol=c_gamma_y, value=16 * sp.sqrt(K_1_NUMERATOR * L_Y / mu_g), at_least=True),
    StepRule(symbol=c_gamma_v, value=16 * sp.sqrt(K_2_NUMERATOR * L_V / mu_g), at_least=True),
)
RATIOS_REPAIRED = (
    StepRule(symbol=c_gamma_y, value=8 * L_Y * sp.sqrt(K_1_NUMERATOR / mu_g), at_least=True),
    StepRule(symbol=c_gamma_v, value=8 * L_V * sp.sqrt(K_2_NUMERATOR / mu_g), at_least=True),
)

# Each term of the minimum as one over a number, which may be 0 (L_2 = L_3 = 0): then the term is no restriction.
_TERMS: dict[str, sp.Expr] = {
    "v": 12 * L_1**2 * c_gamma_v / mu_g,
    "v step": 36 * L_1**2 * c_gamma_v / mu_g * (2 * SHARE + 3),
    "v curvature": 36 * L_1**2 * SHARE / (mu_g * c_gamma_v) * CURVATURE_V,
    "Phi": 6 * L_PHI**2 * SHARE,
    "Phi curvature": L_PHI**2 / 4,
    "y ratio": c_gamma_y / 4,
    "v ratio": c_gamma_v / 4,
    "y step": 12 * c_gamma_y / mu_g * ((2 * SHARE + 3) * L_1**2 + 2 * SHARE * beta_gh**2 + 3 * L_1**2),
    "y curvature": 36 * SHARE * SLOPE / (c_gamma_y * mu_g) * (L_V**2 + L_YX / 2),
    "y remainder": 4 * L_YX * SIZE / (c_gamma_y * mu_g),
    "v remainder": 4 * L_VX * SIZE / (c_gamma_v * mu_g),
    "curvature": 8 * CURVATURE,
}
_TERMS_REPAIRED: dict[str, sp.Expr] = {
    "v": 18 * L_1**2 * c_gamma_v / mu_g * (1 + SHARE),
    "Phi": 4 * L_PHI * sp.Max(1, SHARE),
    "y ratio": c_gamma_y * mu_g / 4,
    "v ratio": c_gamma_v * mu_g / 4,
    "y step": 12 * c_gamma_y / mu_g * ((3 * SHARE + 3) * L_1**2 / 24 + 2 * SHARE * beta_gh**2 * L_1**2 + 3 * L_1**2),
    "y remainder": 8 * L_YX * beta_max**2 * SIZE / (c_gamma_y * mu_g),
    "v remainder": 8 * L_VX_REPAIRED * beta_max**2 * SIZE / (c_gamma_v * mu_g),
    "curvature": 8 * CURVATURE_REPAIRED * sp.Max(1, SHARE),
}


def _largest(terms: Mapping[str, sp.Expr]) -> sp.Expr:
    """The minimum of one over each of the terms."""
    # SymPy would compare the terms pairwise, for seconds.
    return 1 / sp.Max(*terms.values(), evaluate=False)


def _smaller(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    return sp.Min(one, other, evaluate=False)


ETA_X_2 = 1 / (2 * c_a * alpha_max * L_1**2) / tau_bar
ETA_Y_2 = _smaller(1 / (4 * c_a * alpha_max * L_1**2), mu_g**2 / (96 * c_a * alpha_max * L_1**4)) / tau_bar
ETA_X_REPAIRED = 1 / (2 * PATH * L_1)
ETA_Y_REPAIRED = mu_g / (sp.sqrt(192) * PATH * beta_gh * L_1**2)
ETA_V_REPAIRED = 1 / (alpha_max * L_1)


def _caps(terms: Mapping[str, sp.Expr]) -> tuple[Condition, ...]:
    """(39) for every round: rho^(t) is at most 3*rho_bar/2."""
    return tuple(_at_most(name, gamma_x, 2 / (3 * rho_bar) / term) for name, term in terms.items())


def _at_most(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=name, left=left, operator="<=", right=right)


def _at_least(name: str, left: sp.Expr, right: sp.Expr) -> Condition:
    return Condition(name=name, left=left, operator=">=", right=right)


VOCABULARY.alias(
    "tau", "local steps tau_i: one number, or one per client", many=True, tau_bar=lambda tau: sum(tau) / len(tau)
)
VOCABULARY.alias(
    "a", "coefficients a_i^k of the clients: one number, or one per client", many=True, alpha_min=min, alpha_max=max
)
VOCABULARY.run = {"clients": "n", "participants": "P", "local_steps": "tau_bar", "coefficients": "a", "rounds": "T"}
VOCABULARY.order_pair("P", "n")
VOCABULARY.order_pair("alpha_min", "alpha_max")
VOCABULARY.facts = {symbol.name: symbol.name for symbol in (*_CERTIFIED, *_RECORDED)} | {
    "alpha_min": "least_coefficient",
    "alpha_max": "largest_coefficient",
    "beta_min": "least_weight",
    "beta_max": "largest_weight",
    "beta_max_prime": "largest_share",
    "c_a": "most_work",
    "c_a_prime": "least_work",
    "rho": "mean_work",
    "rho_bar": "mean_work",
    "dx2": "change_x2",
    "dy2": "change_y2",
    "dv2": "change_v2",
    "v_star2": "v_star2",
    **{name: name for name in _CHANGES},
}
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

TWO_CLIENTS = _at_least("clients", n, sp.Integer(2))
HETEROGENEITY = _at_least("heterogeneity", beta_gh, ONE)
LOCAL_CAPS = (
    _at_most("eta_x", eta_x, sp.sqrt(ETA_X_2)),
    _at_most("eta_y", eta_y, sp.sqrt(ETA_Y_2)),
)
LOCAL_CAPS_REPAIRED = (
    _at_most("eta_x", eta_x, ETA_X_REPAIRED),
    _at_most("eta_y", eta_y, ETA_Y_REPAIRED),
    _at_most("eta_v", eta_v, ETA_V_REPAIRED),
)

# (38) gives gamma_x and the eta as orders; taken here: the constant 1, and less where a condition asks for less.
_ORDER_GAMMA, _ORDER_ETA = sp.sqrt(P / (tau_bar * T)), 1 / (tau_bar * sp.sqrt(T))


def _free(symbol: sp.Symbol, value: sp.Expr) -> StepRule:
    return StepRule(symbol=symbol, value=value, at_least=False, free=True)


DEFAULTS = (
    _free(gamma_x, _smaller(_ORDER_GAMMA, 2 / (3 * rho_bar) * _largest(_TERMS))),
    _free(eta_x, _smaller(_ORDER_ETA, sp.sqrt(ETA_X_2))),
    _free(eta_y, _smaller(_ORDER_ETA, sp.sqrt(ETA_Y_2))),
    _free(eta_v, _ORDER_ETA),
)
DEFAULTS_REPAIRED = (
    _free(gamma_x, _smaller(_ORDER_GAMMA, 2 / (3 * rho_bar) * _largest(_TERMS_REPAIRED))),
    _free(eta_x, _smaller(_ORDER_ETA, ETA_X_REPAIRED)),
    _free(eta_y, _smaller(_ORDER_ETA, ETA_Y_REPAIRED)),
    _free(eta_v, _smaller(_ORDER_ETA, ETA_V_REPAIRED)),
)

REGULAR = (Assumption.LOWER_LEVEL, Assumption.BILEVEL_LIPSCHITZ)
NOISY = (*REGULAR, Assumption.BILEVEL_NOISE)
BOUNDED_V = (*NOISY, Assumption.BALL, Assumption.EVERY_SAMPLE)
ROUND = (
    *BOUNDED_V,
    Assumption.LOWER_HETEROGENEITY,
    Assumption.UNIFORM_SAMPLING,
    Assumption.LOCAL_WEIGHTS,
)
WHOLE_RUN = (*ROUND, Assumption.BOUNDED_BELOW)


def _claim(
    name: str,
    measured: sp.Symbol,
    terms: Mapping[str, sp.Expr],
    *,
    over: Over = Over.EVERY_ROUND,
    relation: Relation = Relation.AT_MOST,
) -> Claim:
    """A claim about a single quantity, printed as in the vocabulary."""
    quantity = VOCABULARY[measured.name]
    metric = Metric(latex=quantity.latex, weights={measured: ONE}, over=over, trivial=None)
    return Claim(name=name, metric=metric, relation=relation, terms=terms)


def _algebra(name: str, measured: sp.Symbol, terms: Mapping[str, sp.Expr]) -> Claim:
    return _claim(name, measured, terms, over=Over.NO_RUN)


def _definition(name: str, value: sp.Expr) -> Claim:
    return _claim(name, _DEFINED[name], {"formula": value}, over=Over.NO_RUN, relation=Relation.EQUAL)


def _statement(
    key: str,
    title: str,
    number: str,
    location: str,
    claims: tuple[Claim, ...],
    *,
    algorithm: str | None,
    assumptions: tuple[Assumption, ...],
    conditions: tuple[Condition, ...] = (),
    step_rules: tuple[StepRule, ...] = (),
    step_products: tuple[StepProduct, ...] = (),
    follows_from: tuple[str, ...] = (),
    remark: str = "",
    repairs: str = "",
) -> Statement:
    return Statement(
        key=f"simfbo/{key}",
        title=title,
        vocabulary=VOCABULARY,
        source=Source(paper=TITLE, number=number, location=location),
        algorithm=algorithm,
        assumptions=assumptions,
        claims=claims,
        conditions=conditions,
        step_rules=step_rules,
        step_products=step_products,
        settings={},
        follows_from=tuple(f"simfbo/{name}" for name in follows_from),
        remark=remark,
        repairs=repairs and f"simfbo/{repairs}",
    )


# --- Constants and step sizes ---

_DELTA, _DELTA_PRIME = rho * c_gamma_y * gamma_x * mu_g / 4, rho * c_gamma_v * gamma_x * mu_g / 4

CONSTANTS = _statement(
    "constants",
    "Constants of the analysis",
    "eq. (13), (37), (40)",
    "Appendices C and D.5",
    (
        _definition("L_Phi", L_PHI),
        _definition("L_tilde", L_TILDE),
        _definition("L_y", L_Y),
        _definition("L_v", L_V),
        _definition("L_yx", L_YX),
        _definition("L_vx", L_VX),
        _definition("r", R),
        _definition("r_max", R_MAX),
        _definition("L_R", L_R),
        _definition("K_1", K_1),
        _definition("K_2", K_2),
        _definition("M_1", M_1),
        _definition("M_2", M_2),
        _definition("M_3", M_3),
        _definition("sigma_M1", sp.sqrt(SIGMA_M1_2)),
        _definition("sigma_M2", sp.sqrt(SIGMA_M2_2)),
    ),
    algorithm=None,
    assumptions=(),
    step_rules=RATIOS,
    remark=(
        "L_vx lacks the terms through y*: (15) sets the partial derivative in y to 0, but only the total derivative "
        "(14) vanishes. For f = L_f*y and g = G(y) - a*x*y, G'' = mu_g + eps*(1 - cos(y*sqrt(L_3/eps))), eps -> 0, the "
        "true constant is r*L_3*(L_y^2 - L_y)/mu_g, above the printed 2*r*L_3*sqrt(1 + L_y^2)/mu_g once L_y > 3.2. "
        "M_1, M_2 and M_3 are not homogeneous: they inherit L_Phi^2 for L_Phi (Lemma 7) and a Young weight 1 where a "
        "length belongs (the terms with L_yx/2 and L_vx/2), and M_3 has c_gamma_v where Lemma 10 gives c_gamma_y and "
        "L_1^2 where (39) gives mu_g. M_2 stands again below (49), with an undefined F under L_vx. Lower bounds of "
        "the c_gamma contain K_1 and K_2 and hence the c_gamma themselves; solved, c_gamma_y >= 16*sqrt(A*L_y/mu_g), "
        "A = c_gamma_y*K_1. The Young parameters delta_t are simfbo/young-parameters; repaired: "
        "simfbo/constants-repaired."
    ),
)

CONSTANTS_REPAIRED = _statement(
    "constants-repaired",
    "Constants of the analysis, repaired",
    "eq. (13), (37), (40)",
    "Appendices C and D.5",
    (
        _definition("L_vx", L_VX_REPAIRED),
        _definition("r_max", R),
        _definition("M_1", M_1_REPAIRED),
        _definition("M_2", M_2_REPAIRED),
        _definition("M_3", M_3_REPAIRED),
        _definition("sigma_M1", sp.sqrt(SIGMA_M1_2_REPAIRED)),
        _definition("sigma_M2", sp.sqrt(SIGMA_M2_2_REPAIRED)),
    ),
    algorithm=None,
    assumptions=(),
    step_rules=RATIOS_REPAIRED,
    follows_from=("lemma-4-repaired", "lemma-7-repaired", "lemma-8-repaired", "lemma-9-repaired", "lemma-10-repaired"),
    remark=(
        "What differs from simfbo/constants; the others are right. r_max = r is simfbo/lemma-2-repaired; the M and "
        "sigma keep the printed r_max, which is larger and right too. M_3 no longer depends on the c_gamma. The Young "
        "weight 1 of the terms with L_yx/2 and L_vx/2 stays: any length is as right."
    ),
    repairs="constants",
)

YOUNG = _statement(
    "young-parameters",
    "Young parameters of the steps of y and v",
    "below eq. (37)",
    "Appendix D.5",
    (_definition("delta", _DELTA), _definition("delta_prime", _DELTA_PRIME)),
    algorithm=None,
    assumptions=(),
    step_rules=RATIOS,
    step_products=PRODUCTS,
    remark=(
        "delta_t = rho^(t)*gamma_y*mu_g/4, the whole of it: the part delta_t1 of Lemma 10 is what the remainder term "
        "leaves, at least delta_t/2 under (39)."
    ),
)

_STEP_CLAIMS = (
    Metric(latex=r"\rho^{(t)}\gamma_x", weights={gamma_x: rho}, over=Over.NO_RUN, trivial=None),
    Metric(latex=r"\eta_x", weights={eta_x: ONE}, over=Over.NO_RUN, trivial=None),
    Metric(latex=r"\eta_y", weights={eta_y: ONE}, over=Over.NO_RUN, trivial=None),
    Metric(latex=r"\eta_v", weights={eta_v: ONE}, over=Over.NO_RUN, trivial=None),
)


def _limits(**values: sp.Expr) -> tuple[Claim, ...]:
    return tuple(
        Claim(name=name, metric=metric, relation=Relation.AT_MOST, terms={"largest": value})
        for metric, (name, value) in zip(_STEP_CLAIMS, values.items(), strict=False)
    )


STEPSIZES = _statement(
    "stepsizes",
    "Admissible step sizes",
    "eq. (38), (39)",
    "Appendix D.5",
    _limits(rho_gamma_x=_largest(_TERMS), eta_x=sp.sqrt(ETA_X_2), eta_y=sp.sqrt(ETA_Y_2)),
    algorithm="simfbo",
    assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
    conditions=(HETEROGENEITY, *_caps(_TERMS), *LOCAL_CAPS),
    step_rules=(*RATIOS, *DEFAULTS),
    step_products=PRODUCTS,
    remark=(
        "The first claim is (39), a bound on rho^(t)*gamma_x in every round; the conditions are its terms with "
        "rho^(t) <= 3*rho_bar/2. c_gamma_y >= 256*K_1*L_y/mu_g contains 1/c_gamma_y in K_1 and becomes "
        "c_gamma_y >= 16*sqrt(A*L_y/mu_g), A = c_gamma_y*K_1; likewise c_gamma_v. Not homogeneous: L_Phi^2 where a "
        "descent step has L_Phi (terms Phi, Phi curvature; the latter is printed 4/L_Phi^2 where the proof, once with "
        "L_Phi, needs 1/(4*L_Phi)); 4/c_gamma without mu_g; beta_gh^2 without L_1^2; the Young weight 1 of the terms "
        "with L_yx/2 and L_vx/2. The term y curvature has L_v where L_y is meant. eta_v has no bound at all, though "
        "Lemma 2 needs eta_v*alpha_max*L_1 <= 1; eta_x and eta_y lack a factor tau_bar (Lemma 8). Homogeneous and "
        "sufficient: simfbo/stepsizes-repaired. The orders of (38) are taken with the constant 1, and less where (39) "
        "asks for less."
    ),
)

STEPSIZES_REPAIRED = _statement(
    "stepsizes-repaired",
    "Admissible step sizes, repaired",
    "eq. (38), (39)",
    "Appendix D.5",
    _limits(rho_gamma_x=_largest(_TERMS_REPAIRED), eta_x=ETA_X_REPAIRED, eta_y=ETA_Y_REPAIRED, eta_v=ETA_V_REPAIRED),
    algorithm="simfbo",
    assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
    conditions=(HETEROGENEITY, *_caps(_TERMS_REPAIRED), *LOCAL_CAPS_REPAIRED),
    step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
    step_products=PRODUCTS,
    remark=(
        "Under these the repaired Lemmas 7 to 10 give the repaired (45): no coefficient of an error of y, of an error "
        "of v or of the mean direction is positive. Of a minimum of eight terms instead of twelve. The terms with "
        "L_yx and L_vx keep the Young weight 1, which has the unit of a length: the only part that is not homogeneous."
    ),
    repairs="stepsizes",
)

# --- Theorems ---

_DRIFT = (eta_x**2 + eta_v**2) * tau_bar * SIGMA_M1_2 + 2 * eta_y**2 * tau_bar * SIGMA_M2_2
_DRIFT_REPAIRED = (eta_x**2 + eta_v**2) * tau_bar * SIGMA_M1_2_REPAIRED + 2 * eta_y**2 * tau_bar * SIGMA_M2_2_REPAIRED
_SYNC = alpha_max * beta_max / (c_a_prime * alpha_min) * rho_bar / (P * tau_bar) * gamma_x


def _rate_terms(m_1: sp.Expr, m_2: sp.Expr, m_3: sp.Expr, drift: sp.Expr) -> dict[str, sp.Expr]:
    """Twice the sum of (53), (48), (50) and (52), as (46) has it."""
    return {
        "initial gap": 4 * psi_gap / (T * rho_bar * gamma_x),
        "partial participation": 12 * m_1 * SAMPLING * rho_bar * gamma_x,
        "full synchronisation": 6 * _SYNC * m_2,
        "local updates": 6 * drift * m_3,
    }


_PRINTED_RATE = _rate_terms(M_1, M_2, M_3, _DRIFT)
_REPAIRED_RATE = _rate_terms(M_1_REPAIRED, M_2_REPAIRED, M_3_REPAIRED, _DRIFT_REPAIRED)

# At the start smoothness alone gives ||grad Phi||^2 <= 2*L_Phi*(Phi - inf Phi), and Psi is Phi plus squares. Everywhere
# grad Phi = F_x - G_xy v* with ||v*|| <= L_f/mu_g and ||G_xy|| <= L_1.
TRIVIAL = _smaller(2 * L_PHI * psi_gap, (L_f * (1 + L_1 / mu_g)) ** 2)


def _mean(measured: sp.Symbol, terms: Mapping[str, sp.Expr], relation: Relation = Relation.AT_MOST) -> tuple[Claim]:
    metric = Metric(
        latex=rf"\frac1T\sum_{{t=0}}^{{T-1}}{VOCABULARY[measured.name].latex}",
        weights={measured: ONE},
        over=Over.MEAN_OF_ROUNDS,
        trivial=TRIVIAL,
    )
    return (Claim(name="main", metric=metric, relation=relation, terms=terms),)


_THEOREM_CONDITIONS = (TWO_CLIENTS, HETEROGENEITY, *_caps(_TERMS), *LOCAL_CAPS)
_THEOREM_CONDITIONS_REPAIRED = (TWO_CLIENTS, HETEROGENEITY, *_caps(_TERMS_REPAIRED), *LOCAL_CAPS_REPAIRED)
_ORDER_TERMS = {
    "partial participation": M_1 * (n - P) / n * sp.sqrt(tau_bar / (P * T)),
    "full synchronisation": M_2 / sp.sqrt(P * tau_bar * T),
    "local updates": M_3 / (tau_bar * T),
}
_UNNAMED = (
    "Names Assumptions 1 to 3 but uses Assumption 4 (beta_gh, sigma_gh), weights w_i that do not change from round to "
    "round, and Phi_w bounded below. "
)

THEOREM_1 = _statement(
    "theorem-1",
    "SimFBO, with every constant of the proof",
    "Theorem 1, eq. (46)-(53)",
    "Appendix D.6",
    _mean(grad_Phi_w2, _PRINTED_RATE),
    algorithm="simfbo",
    assumptions=WHOLE_RUN,
    conditions=_THEOREM_CONDITIONS,
    step_rules=(*RATIOS, *DEFAULTS),
    step_products=PRODUCTS,
    follows_from=("lyapunov", "stepsizes", "constants"),
    remark=(
        "The theorem prints orders (simfbo/theorem-1-order); this is what its proof gives, (46) with (48), (50), (52) "
        "and the initial gap put in. Printed for the smallest round; the proof bounds the mean over rounds. The "
        "weights are w_i: with unequal local work Phi_w is not the given objective. " + _UNNAMED + "n >= 2 is not "
        "printed; the factor 1/(n - 1) needs it. Not homogeneous, as M_1, M_2, M_3 are not; the drift lacks a factor "
        "tau_bar (Lemma 8). Repaired: simfbo/theorem-1-repaired."
    ),
)

THEOREM_1_REPAIRED = _statement(
    "theorem-1-repaired",
    "SimFBO, with every constant, repaired",
    "Theorem 1, eq. (46)-(53)",
    "Appendix D.6",
    _mean(grad_Phi_w2, _REPAIRED_RATE),
    algorithm="simfbo",
    assumptions=WHOLE_RUN,
    conditions=_THEOREM_CONDITIONS_REPAIRED,
    step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
    step_products=PRODUCTS,
    follows_from=("lyapunov-repaired", "stepsizes-repaired", "constants-repaired"),
    remark=(
        "The shape of simfbo/theorem-1 with the constants of simfbo/constants-repaired and the step sizes of "
        "simfbo/stepsizes-repaired; Assumption 4 is named. Lemma 2 and the remainder terms of Lemma 10 need the "
        "bounds of Assumptions 1 and 2 for every sample."
    ),
    repairs="theorem-1",
)

THEOREM_1_ORDER = _statement(
    "theorem-1-order",
    "SimFBO, the order that is printed",
    "Theorem 1, eq. (9), (54)",
    "Section 3.2",
    _mean(grad_Phi_w2, _ORDER_TERMS, Relation.ORDER),
    algorithm="simfbo",
    assumptions=WHOLE_RUN,
    conditions=(HETEROGENEITY,),
    step_rules=RATIOS,
    follows_from=("theorem-1",),
    remark=(
        "Has n where (48) has n - 1, hides the initial gap in M_2, which vanishes without noise, and takes sigma_M1, "
        "sigma_M2 and c_a for constants; with the tau_bar that Lemma 8 lost the last term is M_3/T."
    ),
)

THEOREM_1_ORDER_FULL = _statement(
    "theorem-1-order-full",
    "SimFBO, the order for nearly full participation",
    "eq. (55)",
    "Appendix D.6",
    _mean(
        grad_Phi_w2,
        {"full synchronisation": M_2 / sp.sqrt(n * tau_bar * T), "local updates": M_3 / (tau_bar * T)},
        Relation.ORDER,
    ),
    algorithm="simfbo",
    assumptions=WHOLE_RUN,
    conditions=(HETEROGENEITY,),
    step_rules=RATIOS,
    follows_from=("theorem-1-order",),
    remark="Eq. (54) with (n - P)/(n - 1) near 0; the paper takes tau_bar = O(T/n) in it for T = O(1/eps) rounds.",
)

THEOREM_1_ORDER_PARTIAL = _statement(
    "theorem-1-order-partial",
    "SimFBO, the order for partial participation at the best number of local steps",
    "eq. (57)",
    "Appendix D.6",
    _mean(
        grad_Phi_w2,
        {"participation": (M_1 + M_2) * sp.sqrt((n - P) / (n * P * T)), "local updates": M_3 / T},
        Relation.ORDER,
    ),
    algorithm="simfbo",
    assumptions=WHOLE_RUN,
    conditions=(HETEROGENEITY,),
    step_rules=RATIOS,
    follows_from=("theorem-1-order",),
    remark="Eq. (56) at tau_bar = O(n/(n - P)), which needs P < n; its last term is then smaller by (n - P)/n.",
)

THEOREM_2 = _statement(
    "theorem-2",
    "ShroFBO, with every constant of the proof",
    "Theorem 2",
    "Section 3.2",
    _mean(grad_Phi2, _PRINTED_RATE),
    algorithm="shrofbo",
    assumptions=WHOLE_RUN,
    conditions=_THEOREM_CONDITIONS,
    step_rules=(*RATIOS, *DEFAULTS),
    step_products=PRODUCTS,
    follows_from=("theorem-1",),
    remark=(
        "The theorem prints the orders, step sizes and constants of Theorem 1 for Phi itself "
        "(simfbo/theorem-2-order). ShroFBO is the iteration of Appendix B at w_i = p_i, so Phi_w = Phi and simfbo/"
        "theorem-1 is the bound with its constants, beta_max being that of the p_i. The detour of Appendix E, which "
        "costs a factor, is simfbo/theorem-2-appendix; repaired: simfbo/theorem-2-repaired."
    ),
)

THEOREM_2_APPENDIX = _statement(
    "theorem-2-appendix",
    "ShroFBO, as Appendix E derives it",
    "Theorem 2, eq. (60) and the display after it",
    "Appendix E",
    _mean(
        grad_Phi2,
        {
            name: 2 * (1 + 2 * ((beta_max_prime - beta_min) / beta_min) ** 2) * term
            for name, term in _PRINTED_RATE.items()
        },
    ),
    algorithm="shrofbo",
    assumptions=WHOLE_RUN,
    conditions=(*_THEOREM_CONDITIONS, _at_most("weights", beta_min, beta_max_prime)),
    step_rules=(*RATIOS, *DEFAULTS),
    step_products=PRODUCTS,
    follows_from=("theorem-1",),
    remark=(
        "Step (b) of (59) draws the unequal factors (p_i - w_i)/w_i out of the norm of a sum, which is wrong; at "
        "w_i = p_i, where it is used, they are 0 and the factor 2*(1 + 2*(...)^2) is not needed (simfbo/theorem-2). "
        "The last display has an undefined M_4 for M_3 and n - 1 for n."
    ),
)

THEOREM_2_REPAIRED = _statement(
    "theorem-2-repaired",
    "ShroFBO, with every constant, repaired",
    "Theorem 2",
    "Section 3.2",
    _mean(grad_Phi2, _REPAIRED_RATE),
    algorithm="shrofbo",
    assumptions=WHOLE_RUN,
    conditions=_THEOREM_CONDITIONS_REPAIRED,
    step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
    step_products=PRODUCTS,
    follows_from=("theorem-1-repaired",),
    remark="simfbo/theorem-1-repaired at w_i = p_i.",
    repairs="theorem-2",
)

THEOREM_2_ORDER = _statement(
    "theorem-2-order",
    "ShroFBO, the order that is printed",
    "Theorem 2, eq. (10)",
    "Section 3.2",
    _mean(grad_Phi2, _ORDER_TERMS, Relation.ORDER),
    algorithm="shrofbo",
    assumptions=WHOLE_RUN,
    conditions=(HETEROGENEITY,),
    step_rules=RATIOS,
    follows_from=("theorem-2",),
    remark="The order of simfbo/theorem-1-order for Phi; Appendix E has n - 1 for n and an undefined M_4 for M_3.",
)

# --- Propositions and lemmas ---

_S = rho * gamma_x
_STEP_Y, _STEP_V = rho * gamma_y, rho * gamma_v
_DRIFTS = drift_x + drift_y + drift_v


def _progress(
    error: sp.Symbol,
    sampled: sp.Symbol,
    step: sp.Expr,
    delta: sp.Expr,
    young: sp.Symbol,
    cross: Mapping[str, sp.Expr],
    *,
    sampled_factor: sp.Expr,
    direction: sp.Expr,
    mean: sp.Expr,
) -> dict[str, sp.Expr]:
    """Right side of Lemma 10 or Proposition 2: ``delta`` is delta_t, ``young`` delta_t1, ``mean`` is over ``young``."""
    return {
        "contraction": (delta - step * mu_g - delta * step * mu_g) * error,
        "direction": sampled_factor * step**2 * sampled,
        **{name: (1 + delta) * step * term for name, term in cross.items()},
        "direction of x": _S**2 * direction * sampled_x2,
        "mean direction of x": _S**2 * mean / young * mean_x2,
    }


_D_Y = delta_t1 + L_YX * SIZE * _S**2 / 2
_D_V = delta_t1_prime + L_VX * SIZE * _S**2 / 2
# What the remainder of y* or v* costs where the change of x is bounded surely, beta_max times one client's gradient.
_D_Y_REPAIRED = delta_t1 + L_YX * beta_max**2 * SIZE * _S**2
_D_V_REPAIRED = delta_t1_prime + L_VX_REPAIRED * beta_max**2 * SIZE * _S**2
_CROSS_Y = {"drift": 2 * L_1**2 / mu_g * (drift_x + drift_y)}
_CROSS_V = {"drift": 4 * L_R**2 / mu_g * _DRIFTS, "error of y": 4 * L_R**2 / mu_g * y_error_w2}

_LEMMA_10_Y = _progress(
    y_error_w2, sampled_y2, _STEP_Y, _D_Y, delta_t1, _CROSS_Y,
    sampled_factor=1 + _D_Y, direction=L_Y**2 + L_YX / 2, mean=4 * L_Y,
)  # fmt: skip
_LEMMA_10_V = _progress(
    v_error_w2, sampled_v2, _STEP_V, _D_V, delta_t1_prime, _CROSS_V,
    sampled_factor=1 + _D_V, direction=L_V**2 + L_VX / 2, mean=4 * L_V,
)  # fmt: skip
_PROPOSITION_2 = _progress(
    v_error_w2, sampled_v2, _STEP_V, _D_V, delta_t1_prime, _CROSS_V,
    sampled_factor=1 + _D_V, direction=L_V**2 + L_VX / 4, mean=2 * L_V,
)  # fmt: skip
_LEMMA_10_Y_REPAIRED = _progress(
    y_error_w2, sampled_y2, _STEP_Y, _D_Y_REPAIRED, delta_t1, _CROSS_Y,
    sampled_factor=2 + _D_Y_REPAIRED, direction=2 * L_Y**2 + L_YX / 2, mean=L_Y**2,
)  # fmt: skip
_LEMMA_10_V_REPAIRED = _progress(
    v_error_w2, sampled_v2, _STEP_V, _D_V_REPAIRED, delta_t1_prime, _CROSS_V,
    sampled_factor=2 + _D_V_REPAIRED, direction=2 * L_V**2 + L_VX_REPAIRED / 2, mean=L_V**2,
)  # fmt: skip

_LOCAL_V_REMARK = (
    "Eq. (12) bounds the sampled gradient and Hessian, so Assumptions 1 and 2 are needed for every sample, not for the "
    "means; it also needs eta_v*alpha_max*L_1 <= 1, which is nowhere asked for (without it ||I - eta*a*G_yy|| may "
    "exceed 1 and the local v grows), and a start in the ball. Under these even r bounds the local v: simfbo/{}."
)
_LOCAL_V_REPAIRED_REMARK = (
    "With the condition on eta_v, and r for (1 + alpha_max/alpha_min)*r: in (12) both terms have the same a_i^k, so a "
    "v in the ball of radius r stays there. The proof puts alpha_min for one of them and alpha_max for the other."
)


def _bounded_v(key: str, number: str, location: str) -> tuple[Statement, Statement]:
    """Proposition 1 and Lemma 2 are the same statement."""
    printed = _statement(
        key,
        "Boundedness of the local v",
        number,
        location,
        (_claim("main", local_v, {"bound": R_MAX}),),
        algorithm="simfbo",
        assumptions=(*REGULAR, Assumption.BALL, Assumption.EVERY_SAMPLE),
        remark=_LOCAL_V_REMARK.format(f"{key}-repaired"),
    )
    repaired = _statement(
        f"{key}-repaired",
        "Boundedness of the local v, repaired",
        number,
        location,
        (_claim("main", local_v, {"bound": R}),),
        algorithm="simfbo",
        assumptions=(*REGULAR, Assumption.BALL, Assumption.EVERY_SAMPLE),
        conditions=(_at_most("eta_v", eta_v, ETA_V_REPAIRED),),
        remark=_LOCAL_V_REPAIRED_REMARK,
        repairs=key,
    )
    return printed, repaired


_PROPOSITION_1, _PROPOSITION_1_REPAIRED = _bounded_v("proposition-1", "Proposition 1", "Section 3.2")
_LEMMA_2, _LEMMA_2_REPAIRED = _bounded_v("lemma-2", "Lemma 2", "Appendix C, eq. (12)")

_PROPOSITION_2_STATEMENT = _statement(
    "proposition-2",
    "Progress of v in one round",
    "Proposition 2",
    "Section 3.2",
    (_claim("main", v_change, _PROPOSITION_2),),
    algorithm="simfbo",
    assumptions=ROUND,
    step_products=PRODUCTS,
    remark=(
        "Differs from the second part of Lemma 10, whose proof is its only one: L_vx/4 for L_vx/2 and 2*L_v for 4*L_v. "
        "The derivation gives L_vx/2. delta_t' and delta_t1' are defined in the appendix only. Further: what "
        "simfbo/lemma-10 says. Repaired: simfbo/proposition-2-repaired."
    ),
)
_PROPOSITION_2_REPAIRED = _statement(
    "proposition-2-repaired",
    "Progress of v in one round, repaired",
    "Proposition 2",
    "Section 3.2",
    (_claim("main", v_change, _LEMMA_10_V_REPAIRED),),
    algorithm="simfbo",
    assumptions=ROUND,
    step_products=PRODUCTS,
    follows_from=("lemma-10-repaired",),
    remark="The second claim of simfbo/lemma-10-repaired.",
    repairs="proposition-2",
)


def _drift_claim(name: str, measured: sp.Symbol, eta: sp.Symbol, sigma_2: sp.Expr) -> Claim:
    return _claim(name, measured, {"drift": eta**2 * tau_bar * sigma_2})


_LEMMA_8_REMARK = (
    "Step (a) of (20) bounds ||sum_j a_j u_j||^2 by sum_j a_j ||u_j||^2 and loses the factor ||a_i||_1 <= "
    "c_a*tau_bar*alpha_max; step (b) has tau_bar*alpha_max^2 for ||a_i||_2^2 <= c_a*tau_bar*alpha_max^2; the "
    "noise and the later gradients are not orthogonal (a factor 2), nor are the two noises of one sample (another "
    "2 on the noise). The right side is not even invariant under a_i -> b*a_i, eta -> eta/b. False without noise: "
    "f_i linear in x with slope L_f, no xy part in g_i, mu_g = L_1, a = 1, 20 local steps: 123.5*eta_x^2*L_f^2 "
    "against 100*eta_x^2*L_f^2. "
)

_PROPOSITION_3 = _statement(
    "proposition-3",
    "Drift of the local v",
    "Proposition 3",
    "Section 3.2",
    (_drift_claim("main", drift_v, eta_v, SIGMA_M1_2),),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOCAL_WEIGHTS),
    follows_from=("lemma-8",),
    remark=_LEMMA_8_REMARK + "Names Assumptions 1 and 2, uses 3. Repaired: simfbo/proposition-3-repaired.",
)
_PROPOSITION_3_REPAIRED = _statement(
    "proposition-3-repaired",
    "Drift of the local v, repaired",
    "Proposition 3",
    "Section 3.2",
    (_drift_claim("main", drift_v, eta_v, SIGMA_M1_2_REPAIRED),),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOCAL_WEIGHTS),
    conditions=(_at_most("eta_v", eta_v, ETA_V_REPAIRED),),
    follows_from=("lemma-8-repaired",),
    remark="The second claim of simfbo/lemma-8-repaired.",
    repairs="proposition-3",
)

_LEMMA_1 = _statement(
    "lemma-1",
    "Boundedness of v*",
    "Lemma 1",
    "Appendix C",
    (_algebra("main", v_star2, {"bound": R**2}),),
    algorithm=None,
    assumptions=REGULAR,
)
_LEMMA_3 = _statement(
    "lemma-3",
    "Smoothness of the linear system",
    "Lemma 3",
    "Appendix C",
    (_algebra("main", _CHANGES["R_change_xy2"], {"points": L_R**2 * (dx2 + dy2)}),),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "At ||v|| <= r_max. L_R is the Lipschitz constant in (x, y) at a fixed v. Its other half, that R_i is mu_g-"
        "strongly convex in v, has no right side."
    ),
)
_LEMMA_4_CLAIMS = (
    _algebra("surrogate", _CHANGES["surrogate_error2"], {"error of y": L_TILDE**2 * _CHANGES["y_distance2"]}),
    _algebra("Phi", _CHANGES["Phi_gradient_change2"], {"points": L_PHI**2 * dx2}),
    _algebra("y", _CHANGES["y_star_change2"], {"points": L_Y**2 * dx2}),
    _algebra("y jacobian", _CHANGES["y_jacobian_change2"], {"points": L_YX**2 * dx2}),
    _algebra("v", _CHANGES["v_star_change2"], {"points": L_V**2 * dx2}),
)
_LEMMA_4 = _statement(
    "lemma-4",
    "Lipschitz constants of Phi, y* and v*",
    "Lemma 4",
    "Appendix C, eq. (13)",
    (*_LEMMA_4_CLAIMS, _algebra("v jacobian", _CHANGES["v_jacobian_change2"], {"points": L_VX**2 * dx2})),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "The last claim is wrong, since L_vx is (simfbo/constants has the counterexample); the other five are right. "
        "In the first, the left gradient is F_x - G_xy G_yy^-1 F_y at (x, y), with its own v. Assumption 3 is named, "
        "none of it is used."
    ),
)
_LEMMA_4_REPAIRED = _statement(
    "lemma-4-repaired",
    "Lipschitz constants of Phi, y* and v*, repaired",
    "Lemma 4",
    "Appendix C, eq. (13)",
    (*_LEMMA_4_CLAIMS, _algebra("v jacobian", _CHANGES["v_jacobian_change2"], {"points": L_VX_REPAIRED**2 * dx2})),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "With the terms of (14) that (15) and (16) drop: G_yy v*' = F_yx + F_yy y*' - v*(G_yyx + G_yyy y*'), each "
        "factor's change by the triangle inequality."
    ),
    repairs="lemma-4",
)
_LEMMA_5 = _statement(
    "lemma-5",
    "Sizes of the clients' gradients",
    "Lemma 5",
    "Appendix C",
    (
        _algebra(
            "g",
            _CHANGES["g_gradients2"],
            {"error of y": beta_gh**2 * L_1**2 * _CHANGES["y_distance2"], "heterogeneity": sigma_gh**2},
        ),
        _algebra("R", _CHANGES["R_gradients2"], {"bound": 2 * R_MAX**2 * L_1**2 + 2 * L_f**2}),
        _algebra("f", _CHANGES["f_gradients2"], {"bound": 2 * R_MAX**2 * L_1**2 + 2 * L_f**2}),
    ),
    algorithm=None,
    assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY),
    conditions=(HETEROGENEITY,),
    remark="For weights w_i, y* that of the same weights. Names Assumption 2 alone; the first claim is Assumption 4.",
)
_POINTS = 3 * SLOPE * (dx2 + dy2) + 3 * L_1**2 * dv2
_LEMMA_6 = _statement(
    "lemma-6",
    "Change of the gradients along the local steps",
    "Lemma 6",
    "Appendix C",
    (
        _algebra("f", _CHANGES["f_change2"], {"points": _POINTS}),
        _algebra("g", _CHANGES["g_change2"], {"points": L_1**2 * (dx2 + dy2)}),
        _algebra("R", _CHANGES["R_change2"], {"points": _POINTS}),
    ),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "At ||v|| <= r, v the server's: it holds by the projection, not by Lemma 1, which the proof cites. The right "
        "sides are Delta_f = Delta_R and Delta_g of the later lemmas."
    ),
)


def _lemma_7(curvature: sp.Expr) -> Claim:
    return _claim(
        "main",
        Phi_w_change,
        {
            "gradient": -_S / 2 * grad_Phi_w2,
            "mean direction": -_S / 2 * mean_x2,
            "error of y": _S / 2 * 6 * SLOPE * y_error_w2,
            "error of v": _S / 2 * 3 * L_1**2 * v_error_w2,
            "drift": 3 * _S / 2 * drift_f,
            "direction": curvature * _S**2 / 2 * sampled_x2,
        },
    )


_LEMMA_7 = _statement(
    "lemma-7",
    "Change of Phi_w in one round",
    "Lemma 7",
    "Appendix D.1",
    (_lemma_7(L_PHI**2),),
    algorithm="simfbo",
    assumptions=ROUND,
    follows_from=("lemma-4", "lemma-6"),
    remark=(
        "L_Phi^2/2 stands where the descent lemma of an L_Phi-smooth function has L_Phi/2; the two sides scale "
        "differently. False where f_i = L_1*||x||^2/2, g_i without xy part, mu_g = L_1 < 1/16, L_2 = 0: Phi has "
        "curvature L_1, and L_Phi^2 = 16*L_1^2 < L_1. Names Assumption 1 alone. Repaired: simfbo/lemma-7-repaired."
    ),
)
_LEMMA_7_REPAIRED = _statement(
    "lemma-7-repaired",
    "Change of Phi_w in one round, repaired",
    "Lemma 7",
    "Appendix D.1",
    (_lemma_7(L_PHI),),
    algorithm="simfbo",
    assumptions=ROUND,
    follows_from=("lemma-4", "lemma-6"),
    remark="simfbo/lemma-7 with L_Phi/2 for L_Phi^2/2.",
    repairs="lemma-7",
)

_YOUNG_ROOM = 2 * eta_y**2 * PATH * L_1**2
_LEMMA_8 = _statement(
    "lemma-8",
    "Drifts of the local steps",
    "Lemma 8",
    "Appendix D.2",
    (
        _drift_claim("x", drift_x, eta_x, SIGMA_M1_2),
        _drift_claim("v", drift_v, eta_v, SIGMA_M1_2),
        _claim(
            "y",
            drift_y,
            {
                name: eta_y**2 * tau_bar / (1 - _YOUNG_ROOM) * term
                for name, term in {
                    "noise": alpha_max**2 * sigma_g**2,
                    "drift of x": 2 * c_a * alpha_max * L_1**2 * eta_x**2 * tau_bar * SIGMA_M1_2,
                    "error of y": 2 * c_a * alpha_max * L_1**2 * y_error_w2,
                    "heterogeneity": 2 * c_a * alpha_max * sigma_gh**2,
                }.items()
            },
        ),
    ),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
    conditions=(Condition(name="room", left=_YOUNG_ROOM, operator="<", right=ONE),),
    follows_from=("lemma-2", "lemma-5"),
    remark=(
        _LEMMA_8_REMARK + "In the claim on y, beta_gh^2 is missing too: Assumption 4 at equal gradients gives "
        "beta_gh^2*L_1^2. The denominator's sign is not asked for. Repaired: simfbo/lemma-8-repaired."
    ),
)
_LEMMA_8_SIMPLIFIED = _statement(
    "lemma-8-simplified",
    "Drifts of the local steps, simplified",
    "eq. (21), (22)",
    "Appendix D.2",
    (
        _claim(
            "y",
            drift_y,
            {
                "constant": 2 * eta_y**2 * tau_bar * SIGMA_M2_2,
                "error of y": 4 * eta_y**2 * PATH * L_1**2 * y_error_w2,
            },
        ),
        _claim(
            "f",
            drift_f,
            {
                "drift of x": 3 * eta_x**2 * tau_bar * SLOPE * SIGMA_M1_2,
                "drift of v": 3 * eta_v**2 * tau_bar * L_1**2 * SIGMA_M1_2,
                "drift of y": 6 * eta_y**2 * tau_bar * SLOPE * SIGMA_M2_2,
                "error of y": 12 * eta_y**2 * SLOPE * PATH * L_1**2 * y_error_w2,
            },
        ),
        _claim(
            "g",
            drift_g,
            {
                "drift of x": eta_x**2 * tau_bar * L_1**2 * SIGMA_M1_2,
                "drift of y": 2 * eta_y**2 * tau_bar * L_1**2 * SIGMA_M2_2,
                "error of y": 4 * eta_y**2 * PATH * L_1**4 * y_error_w2,
            },
        ),
    ),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
    conditions=(
        _at_most("eta_x", 2 * eta_x**2 * PATH * L_1**2, ONE),
        _at_most("eta_y", 4 * eta_y**2 * PATH * L_1**2, ONE),
    ),
    follows_from=("lemma-6", "lemma-8"),
    remark="Simplified forms of Lemma 8, with its defects. Delta_R of Lemma 6 is Delta_f.",
)
_LEMMA_8_REPAIRED = _statement(
    "lemma-8-repaired",
    "Drifts of the local steps, repaired",
    "Lemma 8, eq. (21)",
    "Appendix D.2",
    (
        _drift_claim("x", drift_x, eta_x, SIGMA_M1_2_REPAIRED),
        _drift_claim("v", drift_v, eta_v, SIGMA_M1_2_REPAIRED),
        _claim(
            "y",
            drift_y,
            {
                "constant": 2 * eta_y**2 * tau_bar * SIGMA_M2_2_REPAIRED,
                "error of y": 8 * eta_y**2 * PATH**2 * beta_gh**2 * L_1**2 * y_error_w2,
            },
        ),
    ),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
    conditions=(
        HETEROGENEITY,
        _at_most("eta_x", 4 * eta_x**2 * PATH**2 * L_1**2, ONE),
        _at_most("eta_y", 8 * eta_y**2 * PATH**2 * L_1**2, ONE),
        _at_most("eta_v", eta_v * alpha_max * L_1, ONE),
    ),
    follows_from=("lemma-2-repaired", "lemma-5"),
    remark=(
        "The shapes of the printed claims on x and v and of (21), with sigma_M1 and sigma_M2 of "
        "simfbo/constants-repaired, which grow with tau_bar, and beta_gh^2 in the claim on y."
    ),
    repairs="lemma-8",
)

_NOISE = 2 * n / P * (noise_weight * sigma_f**2 + noise_weight_r * sigma_gg**2)
_SAMPLED = 4 * SAMPLING * beta_max * (R_MAX**2 * L_1**2 + L_f**2)
_LEMMA_9 = _statement(
    "lemma-9",
    "Second moments of the sampled directions",
    "Lemma 9",
    "Appendix D.3",
    (
        _claim(
            "x",
            sampled_x2,
            {
                "noise": _NOISE,
                "mean direction": n * (P - 1) / (P * (n - 1)) * mean_x2,
                "drift": 2 * n * SAMPLING * drift_f_sq,
                "sampling": _SAMPLED,
            },
        ),
        _claim(
            "y",
            sampled_y2,
            {
                "noise": n / P * noise_weight * sigma_g**2,
                "sampling": 2 * SAMPLING * beta_max * sigma_gh**2,
                "drift": 2 * n * SAMPLING * drift_g_sq + 3 * drift_g,
                "error of y": (2 * SAMPLING * beta_max * beta_gh**2 + 3 * L_1**2) * y_error_w2,
            },
        ),
        _claim(
            "v",
            sampled_v2,
            {
                "noise": _NOISE,
                "sampling": _SAMPLED,
                "drift": 2 * n * SAMPLING * drift_f_sq + 3 * drift_f,
                "error of v": 3 * L_1**2 * v_error_w2,
            },
        ),
    ),
    algorithm="simfbo",
    assumptions=ROUND,
    conditions=(TWO_CLIENTS, HETEROGENEITY),
    follows_from=("lemma-5", "lemma-6"),
    remark=(
        "Claim y: beta_gh^2 lacks L_1^2 (Lemma 5 has it; the two sides scale differently). Claim v: the error of y is "
        "missing, though grad_v R_i depends on y. All: (23) takes the noise of a client and its mean direction as "
        "orthogonal, but the direction follows the noisy path. Names Assumptions 1 to 3, uses 4. n >= 2 is not "
        "printed; n - 1 needs it. Repaired: simfbo/lemma-9-repaired."
    ),
)
_LEMMA_9_REPAIRED = _statement(
    "lemma-9-repaired",
    "Second moments of the sampled directions, repaired",
    "Lemma 9",
    "Appendix D.3",
    (
        _claim(
            "x",
            sampled_x2,
            {
                "noise": 2 * _NOISE,
                "mean direction": n * (P - 1) / (P * (n - 1)) * mean_x2,
                "drift": (2 * n * SAMPLING + n / P) * drift_f_sq,
                "sampling": _SAMPLED,
            },
        ),
        _claim(
            "y",
            sampled_y2,
            {
                "noise": 2 * n / P * noise_weight * sigma_g**2,
                "sampling": 2 * SAMPLING * beta_max * sigma_gh**2,
                "drift": (2 * n * SAMPLING + n / P) * drift_g_sq + 3 * drift_g,
                "error of y": (2 * SAMPLING * beta_max * beta_gh**2 * L_1**2 + 3 * L_1**2) * y_error_w2,
            },
        ),
        _claim(
            "v",
            sampled_v2,
            {
                "noise": 2 * _NOISE,
                "sampling": _SAMPLED,
                "drift": (2 * n * SAMPLING + n / P) * drift_f_sq + 3 * drift_f,
                "error of v": 3 * L_1**2 * v_error_w2,
                "error of y": 3 * L_R**2 * y_error_w2,
            },
        ),
    ),
    algorithm="simfbo",
    assumptions=ROUND,
    conditions=(TWO_CLIENTS, HETEROGENEITY),
    follows_from=("lemma-3", "lemma-5", "lemma-6"),
    remark=(
        "With beta_gh^2*L_1^2, the error of y in claim v, and the cross term of (23): for one client at most the "
        "noise once more plus the average of Delta, since the gradient at the server's point is independent of it."
    ),
    repairs="lemma-9",
)

_LEMMA_10 = _statement(
    "lemma-10",
    "Progress of y and v in one round",
    "Lemma 10",
    "Appendix D.4",
    (_claim("y", y_change, _LEMMA_10_Y), _claim("v", v_change, _LEMMA_10_V)),
    algorithm="simfbo",
    assumptions=ROUND,
    step_products=PRODUCTS,
    follows_from=("lemma-3", "lemma-4"),
    remark=(
        "4*L_y/delta_t1 and 4*L_v/delta_t1' have L_y and L_v where the Jacobian's norm enters squared; false for a "
        "nearly linear y* with L_y about 40. (30) replaces the sampled direction of x by its mean inside a product "
        "with y^(t+1), which depends on the same sample: false for n = 2, P = 1, y^t = y*, no noise, no drift and "
        "opposite client gradients. The remainder needs a sure bound of the sampled direction and is half of what (30) "
        "gives. With a Young weight 1, the terms with L_yx and L_vx have another unit. Main text: "
        "simfbo/proposition-2. Repaired: simfbo/lemma-10-repaired."
    ),
)
_LEMMA_10_REPAIRED = _statement(
    "lemma-10-repaired",
    "Progress of y and v in one round, repaired",
    "Lemma 10",
    "Appendix D.4",
    (_claim("y", y_change, _LEMMA_10_Y_REPAIRED), _claim("v", v_change, _LEMMA_10_V_REPAIRED)),
    algorithm="simfbo",
    assumptions=ROUND,
    step_products=PRODUCTS,
    follows_from=("lemma-3", "lemma-4-repaired"),
    remark=(
        "The product with the direction of x is the product of the conditional means, which costs L_y^2/delta_t1, and "
        "a covariance, which costs one more squared step of y and L_y^2 once more; ||x^(t+1) - x^t|| is bounded by "
        "beta_max times one client's sampled gradient. The same for v, the projection being non-expansive; "
        "L_vx is that of simfbo/lemma-4-repaired. The Young weight 1 of the terms with L_yx and L_vx has the "
        "unit of a length: not homogeneous, but right for any length."
    ),
    repairs="lemma-10",
)

# --- The Lyapunov function ---

_ERROR_SYNC = {
    "upper level": _S**2 * BRACKET * _NOISE,
    "lower level": _S**2 * K_1 * c_gamma_y**2 * n / P * noise_weight * sigma_g**2,
}
_ERROR_PART = {
    "upper level": _S**2 * BRACKET * 4 * SAMPLING * beta_max * SIZE,
    "lower level": _S**2 * K_1 * c_gamma_y**2 * 2 * SAMPLING * beta_max * sigma_gh**2,
}
_DRIFT_XY = eta_x**2 * tau_bar * SIGMA_M1_2 + 2 * eta_y**2 * tau_bar * SIGMA_M2_2
_ERROR_CD = {
    "slopes": 3
    * _S
    * (sp.Rational(3, 2) + 24 * K_2 * c_gamma_v + SHARE * (sp.Rational(17, 4) + 16 * K_2 * c_gamma_v))
    * SLOPE
    * _DRIFT,
    "step of y": _S * K_1 * (4 * c_gamma_y * L_1**2 / mu_g + 8 * c_gamma_v * (2 * SHARE + 3) * L_1**2) * _DRIFT_XY,
    "step of v": _S * K_2 * c_gamma_v * 4 * L_R**2 / mu_g * _DRIFT,
}
LYAPUNOV = _statement(
    "lyapunov",
    "Change of the Lyapunov function in one round",
    "eq. (41)-(45)",
    "Appendix D.5",
    (
        _claim(
            "descent",
            psi_change,
            {
                "gradient": -_S / 2 * grad_Phi_w2,
                "partial participation": sp.Add(*_ERROR_PART.values()),
                "full synchronisation": sp.Add(*_ERROR_SYNC.values()),
                "client drifts": sp.Add(*_ERROR_CD.values()),
            },
        ),
        _claim("sync", error_sync, _ERROR_SYNC, relation=Relation.EQUAL),
        _claim("part", error_part, _ERROR_PART, relation=Relation.EQUAL),
        _claim("drift", error_cd, _ERROR_CD, relation=Relation.EQUAL),
    ),
    algorithm="simfbo",
    assumptions=ROUND,
    conditions=_THEOREM_CONDITIONS,
    step_rules=(*RATIOS, *DEFAULTS),
    step_products=PRODUCTS,
    follows_from=("lemma-7", "lemma-8-simplified", "lemma-9", "lemma-10", "stepsizes"),
    remark=(
        'Step (a) of (41) prints "=" for "<=". Even from the printed lemmas it does not follow: the mean direction may '
        "keep a positive coefficient (for large L_1 and P > 6*beta_max), since term Phi curvature of (39) is 4/L_Phi^2 "
        "where 1/(4*L_Phi^2) is needed, and the parts with sigma_g and sigma_gh lose the factor 1 + delta_t, up to "
        "1 + 1/288. Repaired: simfbo/lyapunov-repaired."
    ),
)
LYAPUNOV_REPAIRED = _statement(
    "lyapunov-repaired",
    "Change of the Lyapunov function in one round, repaired",
    "eq. (41)-(45)",
    "Appendix D.5",
    (
        _claim(
            "descent",
            psi_change,
            {
                "gradient": -_S / 2 * grad_Phi_w2,
                "partial participation": 2 * _S**2 * SAMPLING * M_1_REPAIRED,
                "full synchronisation": _S**2 * n / P * noise_weight * M_2_REPAIRED,
                "client drifts": _S * _DRIFT_REPAIRED * M_3_REPAIRED,
            },
        ),
    ),
    algorithm="simfbo",
    assumptions=ROUND,
    conditions=_THEOREM_CONDITIONS_REPAIRED,
    step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
    step_products=PRODUCTS,
    follows_from=(
        "lemma-7-repaired",
        "lemma-8-repaired",
        "lemma-9-repaired",
        "lemma-10-repaired",
        "stepsizes-repaired",
    ),
    remark="Eq. (45) from the repaired lemmas at the repaired step sizes; the local ||v_i^k|| are replaced by r_max.",
    repairs="lyapunov",
)

STATEMENTS: tuple[Statement, ...] = (
    _PROPOSITION_1,
    _PROPOSITION_1_REPAIRED,
    _PROPOSITION_2_STATEMENT,
    _PROPOSITION_2_REPAIRED,
    _PROPOSITION_3,
    _PROPOSITION_3_REPAIRED,
    THEOREM_1,
    THEOREM_1_REPAIRED,
    THEOREM_1_ORDER,
    THEOREM_1_ORDER_FULL,
    THEOREM_1_ORDER_PARTIAL,
    THEOREM_2,
    THEOREM_2_APPENDIX,
    THEOREM_2_REPAIRED,
    THEOREM_2_ORDER,
    _LEMMA_1,
    _LEMMA_2,
    _LEMMA_2_REPAIRED,
    _LEMMA_3,
    CONSTANTS,
    CONSTANTS_REPAIRED,
    _LEMMA_4,
    _LEMMA_4_REPAIRED,
    _LEMMA_5,
    _LEMMA_6,
    _LEMMA_7,
    _LEMMA_7_REPAIRED,
    _LEMMA_8,
    _LEMMA_8_SIMPLIFIED,
    _LEMMA_8_REPAIRED,
    _LEMMA_9,
    _LEMMA_9_REPAIRED,
    _LEMMA_10,
    _LEMMA_10_REPAIRED,
    YOUNG,
    STEPSIZES,
    STEPSIZES_REPAIRED,
    LYAPUNOV,
    LYAPUNOV_REPAIRED,
)

LEFT_OUT: tuple[tuple[str, str], ...] = (
    ("Definitions 1 and 2", "Definitions of Lipschitz continuity and of an accurate point, no claims."),
    ("Lemma 3, first half", "R_i is mu_g-strongly convex in v: no right side; it is the assumption on G_yy."),
    ("Theorems 1 and 2, complexities", "Orders in eps that are solved from (55) and (57); `rounds` solves the bound."),
    ("eq. (14)-(19), (23)-(36)", "Steps inside proofs, for the proof ledger."),
    ("eq. (24)", "An identity about sampling in a proof, for the proof ledger."),
    (
        "eq. (58), (59)",
        "The distance of grad Phi from grad Phi_w: 0 at w = p, where it is used, and wrong at step (b) else.",
    ),
)
