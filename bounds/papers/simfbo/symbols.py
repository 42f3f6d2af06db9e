"""The symbols of the SimFBO paper: settings, constants, step sizes and measured quantities.

Scaling. Both levels are scaled together: (f, g) -> (a*f, a*g), and x and y are measured in the same other unit
(c*x, c*y). Then v has the degrees of x, a gradient of f_i or g_i has (1, -1), a step size of any of the three variables
(-1, 2), and L_1 serves both levels. Scaling f or g alone is no symmetry of the paper: L_1 and L_2 bound both.
"""

from __future__ import annotations

import sympy as sp

from bounds.symbols import Domain, Role, Vocabulary

TITLE = "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning"

VOCABULARY = Vocabulary()
_define = VOCABULARY.define

_INTEGER, _POSITIVE, _NONNEGATIVE, _REAL = Domain.POSITIVE_INTEGER, Domain.POSITIVE, Domain.NONNEGATIVE, Domain.REAL
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
    "sigma_f", r"\sigma_f", "root of the bound on the noise variance of the f_i gradients", _NONNEGATIVE, _CONSTANT,
    1, -1,
)  # fmt: skip
sigma_g = _define(
    "sigma_g", r"\sigma_g", "root of the bound on the noise variance of the g_i gradients", _NONNEGATIVE, _CONSTANT,
    1, -1,
)  # fmt: skip
sigma_gg = _define(
    "sigma_gg", r"\sigma_{gg}", "root of the bound on the noise variance of the second derivatives of g_i",
    _NONNEGATIVE, _CONSTANT, 1, -2,
)  # fmt: skip
beta_gh = _define("beta_gh", r"\beta_{gh}", "factor of the lower-level heterogeneity", _POSITIVE, _CONSTANT, 0, 0)
sigma_gh = _define(
    "sigma_gh", r"\sigma_{gh}", "root of the constant part of the lower-level heterogeneity", _NONNEGATIVE, _CONSTANT,
    1, -1,
)  # fmt: skip
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
for _name, _latex, _meaning, _degrees in (
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
):
    _measured(_name, _latex, _meaning, *_degrees)

# Quantities of a run in round t.
grad_Phi_w2 = _measured(
    "grad_Phi_w2", r"\mathbb{E}\|\nabla\widetilde\Phi(x^t)\|^2", "E||grad Phi_w(x^t)||^2, weights w_i", 2, -2
)
grad_Phi2 = _measured("grad_Phi2", r"\mathbb{E}\|\nabla\Phi(x^t)\|^2", "E||grad Phi(x^t)||^2, weights p_i", 2, -2)
y_error_w2 = _measured("y_error_w2", r"\mathbb{E}\|y^t-\widetilde y^*(x^t)\|^2", "E||y^t - y*_w(x^t)||^2", 0, 2)
v_error_w2 = _measured("v_error_w2", r"\mathbb{E}\|v^t-\widetilde v^*(x^t)\|^2", "E||v^t - v*_w(x^t)||^2", 0, 2)
mean_x2 = _measured(
    "mean_x2", r"\mathbb{E}\|\sum_iw_i\widetilde h_{x,i}\|^2",
    "E||sum_i w_i h~_x,i||^2 with h~_x,i the average of the surrogate gradients at the client's local points", 2, -2,
)  # fmt: skip
sampled_x2 = _measured(
    "sampled_x2", r"\mathbb{E}\|\sum_{i\in C}\widetilde w_ih_{x,i}\|^2",
    "E||(n/P) sum_{i in C} w_i h_x,i||^2 with h_x,i the average of the client's sampled surrogate gradients", 2, -2,
)  # fmt: skip
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
    "drift_f", _SHARES + r"\Delta_{f,i}^k",
    "sum_ik w_i (a_i^k/|a_i|_1) E Delta_f,i^k with the right side Delta_f of Lemma 6; Delta_R is the same", 2, -2,
)  # fmt: skip
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
    "noise_weight_r", r"\sum_iw_i^2r_i^2\|a_i\|_2^2/\|a_i\|_1^2",
    "sum_i w_i^2 r_i^2 |a_i|_2^2/|a_i|_1^2 with r_i the largest local ||v_i^k||", 0, 2,
)  # fmt: skip
Phi_w_change = _measured(
    "Phi_w_change", r"\mathbb{E}\widetilde\Phi(x^{t+1})-\mathbb{E}\widetilde\Phi(x^t)",
    "expected change of Phi_w in a round", 1, 0, _REAL,
)  # fmt: skip
y_change = _measured(
    "y_change", r"\mathbb{E}\|y^{t+1}-\widetilde y^*(x^{t+1})\|^2-\mathbb{E}\|y^t-\widetilde y^*(x^t)\|^2",
    "change of y_error_w2 in a round", 0, 2, _REAL,
)  # fmt: skip
v_change = _measured(
    "v_change", r"\mathbb{E}\|v^{t+1}-\widetilde v^*(x^{t+1})\|^2-\mathbb{E}\|v^t-\widetilde v^*(x^t)\|^2",
    "change of v_error_w2 in a round", 0, 2, _REAL,
)  # fmt: skip
psi_change = _measured(
    "psi_change", r"\Psi(x^{t+1})-\Psi(x^t)",
    "change of Psi = E Phi_w + K_1*y_error_w2 + K_2*v_error_w2, eq. (37), in a round", 1, 0, _REAL,
)  # fmt: skip
error_sync = _measured("error_sync", r"\epsilon_{sync}^t", "error of full synchronisation, eq. (42)", 1, 0)
error_part = _measured("error_part", r"\epsilon_{part}^t", "error of partial participation, eq. (43)", 1, 0)
error_cd = _measured("error_cd", r"\epsilon_{cd}^t", "error of the client drifts, eq. (44)", 1, 0)
local_v = _measured("local_v", r"\|v_i^k\|", "||v_i^k|| at any local step of any client", 0, 1)
v_star2 = _measured("v_star2", r"\|v^*(x)\|^2", "||v*(x)||^2 at any x", 0, 2)

# Two points (x, y, v), (x', y', v') and what changes between them.
dx2 = _measured("dx2", r"\|x-x'\|^2", "||x - x'||^2", 0, 2)
dy2 = _measured("dy2", r"\|y-y'\|^2", "||y - y'||^2", 0, 2)
dv2 = _measured("dv2", r"\|v-v'\|^2", "||v - v'||^2", 0, 2)
CHANGES = {
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
    **{name: name for name in CHANGES},
}
