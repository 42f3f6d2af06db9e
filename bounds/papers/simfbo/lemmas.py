"""Propositions 1 to 3 and Lemmas 1 to 6 of the SimFBO paper."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.papers.simfbo.building import BOUNDED_V, REGULAR, ROUND, make_algebra_claim, make_claim, make_statement
from bounds.papers.simfbo.formulas import (
    L_PHI,
    L_R,
    L_TILDE,
    L_V,
    L_VX,
    L_VX_REPAIRED,
    L_Y,
    L_YX,
    R_MAX,
    SIGMA_M1_2,
    SIGMA_M1_2_REPAIRED,
    SIZE,
    SLOPE,
    R,
)
from bounds.papers.simfbo.step_sizes import ETA_V_REPAIRED, HETEROGENEITY, PRODUCTS, at_most
from bounds.papers.simfbo.symbols import (
    CHANGES,
    L_1,
    L_f,
    beta_gh,
    beta_max,
    delta_t1,
    delta_t1_prime,
    drift_v,
    drift_x,
    drift_y,
    dv2,
    dx2,
    dy2,
    eta_v,
    gamma_v,
    gamma_x,
    gamma_y,
    local_v,
    mean_x2,
    mu_g,
    rho,
    sampled_v2,
    sampled_x2,
    sampled_y2,
    sigma_gh,
    tau_bar,
    v_change,
    v_error_w2,
    v_star2,
    y_error_w2,
)
from bounds.statement import (
    Assumption,
    Claim,
    Statement,
)

SERVER_STEP = rho * gamma_x
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
        "direction of x": SERVER_STEP**2 * direction * sampled_x2,
        "mean direction of x": SERVER_STEP**2 * mean / young * mean_x2,
    }


_D_Y = delta_t1 + L_YX * SIZE * SERVER_STEP**2 / 2
_D_V = delta_t1_prime + L_VX * SIZE * SERVER_STEP**2 / 2
# What the remainder of y* or v* costs where the change of x is bounded surely, beta_max times one client's gradient.
_D_Y_REPAIRED = delta_t1 + L_YX * beta_max**2 * SIZE * SERVER_STEP**2
_D_V_REPAIRED = delta_t1_prime + L_VX_REPAIRED * beta_max**2 * SIZE * SERVER_STEP**2
_CROSS_Y = {"drift": 2 * L_1**2 / mu_g * (drift_x + drift_y)}
_CROSS_V = {"drift": 4 * L_R**2 / mu_g * _DRIFTS, "error of y": 4 * L_R**2 / mu_g * y_error_w2}

LEMMA_10_Y = _progress(
    y_error_w2, sampled_y2, _STEP_Y, _D_Y, delta_t1, _CROSS_Y,
    sampled_factor=1 + _D_Y, direction=L_Y**2 + L_YX / 2, mean=4 * L_Y,
)  # fmt: skip
LEMMA_10_V = _progress(
    v_error_w2, sampled_v2, _STEP_V, _D_V, delta_t1_prime, _CROSS_V,
    sampled_factor=1 + _D_V, direction=L_V**2 + L_VX / 2, mean=4 * L_V,
)  # fmt: skip
_PROPOSITION_2 = _progress(
    v_error_w2, sampled_v2, _STEP_V, _D_V, delta_t1_prime, _CROSS_V,
    sampled_factor=1 + _D_V, direction=L_V**2 + L_VX / 4, mean=2 * L_V,
)  # fmt: skip
LEMMA_10_Y_REPAIRED = _progress(
    y_error_w2, sampled_y2, _STEP_Y, _D_Y_REPAIRED, delta_t1, _CROSS_Y,
    sampled_factor=2 + _D_Y_REPAIRED, direction=2 * L_Y**2 + L_YX / 2, mean=L_Y**2,
)  # fmt: skip
LEMMA_10_V_REPAIRED = _progress(
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
    printed = make_statement(
        key,
        "Boundedness of the local v",
        number,
        location,
        (make_claim("main", local_v, {"bound": R_MAX}),),
        algorithm="simfbo",
        assumptions=(*REGULAR, Assumption.BALL, Assumption.EVERY_SAMPLE),
        remark=_LOCAL_V_REMARK.format(f"{key}-repaired"),
    )
    repaired = make_statement(
        f"{key}-repaired",
        "Boundedness of the local v, repaired",
        number,
        location,
        (make_claim("main", local_v, {"bound": R}),),
        algorithm="simfbo",
        assumptions=(*REGULAR, Assumption.BALL, Assumption.EVERY_SAMPLE),
        conditions=(at_most("eta_v", eta_v, ETA_V_REPAIRED),),
        remark=_LOCAL_V_REPAIRED_REMARK,
        repairs=key,
    )
    return printed, repaired


PROPOSITION_1, PROPOSITION_1_REPAIRED = _bounded_v("proposition-1", "Proposition 1", "Section 3.2")
LEMMA_2, LEMMA_2_REPAIRED = _bounded_v("lemma-2", "Lemma 2", "Appendix C, eq. (12)")

PROPOSITION_2_STATEMENT = make_statement(
    "proposition-2",
    "Progress of v in one round",
    "Proposition 2",
    "Section 3.2",
    (make_claim("main", v_change, _PROPOSITION_2),),
    algorithm="simfbo",
    assumptions=ROUND,
    step_products=PRODUCTS,
    remark=(
        "Differs from the second part of Lemma 10, whose proof is its only one: L_vx/4 for L_vx/2 and 2*L_v for 4*L_v. "
        "The derivation gives L_vx/2. delta_t' and delta_t1' are defined in the appendix only. Further: what "
        "simfbo/lemma-10 says. Repaired: simfbo/proposition-2-repaired."
    ),
)
PROPOSITION_2_REPAIRED = make_statement(
    "proposition-2-repaired",
    "Progress of v in one round, repaired",
    "Proposition 2",
    "Section 3.2",
    (make_claim("main", v_change, LEMMA_10_V_REPAIRED),),
    algorithm="simfbo",
    assumptions=ROUND,
    conditions=(at_most("eta_v", eta_v, ETA_V_REPAIRED),),
    step_products=PRODUCTS,
    follows_from=("lemma-10-repaired",),
    remark="The second claim of simfbo/lemma-10-repaired.",
    repairs="proposition-2",
)


def drift_claim(name: str, measured: sp.Symbol, eta: sp.Symbol, sigma_2: sp.Expr) -> Claim:
    """A claim about the drift of one variable: ``eta**2 * tau_bar * sigma_2``."""
    return make_claim(name, measured, {"drift": eta**2 * tau_bar * sigma_2})


LEMMA_8_REMARK = (
    "Step (a) of (20) bounds ||sum_j a_j u_j||^2 by sum_j a_j ||u_j||^2 and loses the factor ||a_i||_1 <= "
    "c_a*tau_bar*alpha_max; step (b) has tau_bar*alpha_max^2 for ||a_i||_2^2 <= c_a*tau_bar*alpha_max^2; the "
    "noise and the later gradients are not orthogonal (a factor 2), nor are the two noises of one sample (another "
    "2 on the noise). The right side is not even invariant under a_i -> b*a_i, eta -> eta/b. False without noise: "
    "f_i linear in x with slope L_f, no xy part in g_i, mu_g = L_1, a = 1, 20 local steps: 123.5*eta_x^2*L_f^2 "
    "against 100*eta_x^2*L_f^2. "
)

PROPOSITION_3 = make_statement(
    "proposition-3",
    "Drift of the local v",
    "Proposition 3",
    "Section 3.2",
    (drift_claim("main", drift_v, eta_v, SIGMA_M1_2),),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOCAL_WEIGHTS),
    follows_from=("lemma-8",),
    remark=LEMMA_8_REMARK + "This example is about x, in Lemma 8; simfbo/proposition-3-1 has one about v. Names "
    "Assumptions 1 and 2, uses 3. Repaired: simfbo/proposition-3-repaired.",
)
PROPOSITION_3_REPAIRED = make_statement(
    "proposition-3-repaired",
    "Drift of the local v, repaired",
    "Proposition 3",
    "Section 3.2",
    (drift_claim("main", drift_v, eta_v, SIGMA_M1_2_REPAIRED),),
    algorithm="simfbo",
    assumptions=(*BOUNDED_V, Assumption.LOCAL_WEIGHTS),
    conditions=(at_most("eta_v", eta_v, ETA_V_REPAIRED),),
    follows_from=("lemma-8-repaired",),
    remark="The second claim of simfbo/lemma-8-repaired.",
    repairs="proposition-3",
)

LEMMA_1 = make_statement(
    "lemma-1",
    "Boundedness of v*",
    "Lemma 1",
    "Appendix C",
    (make_algebra_claim("main", v_star2, {"bound": R**2}),),
    algorithm=None,
    assumptions=REGULAR,
)
LEMMA_3 = make_statement(
    "lemma-3",
    "Smoothness of the linear system",
    "Lemma 3",
    "Appendix C",
    (make_algebra_claim("main", CHANGES["R_change_xy2"], {"points": L_R**2 * (dx2 + dy2)}),),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "At ||v|| <= r_max. L_R is the Lipschitz constant in (x, y) at a fixed v. Its other half, that R_i is mu_g-"
        "strongly convex in v, has no right side."
    ),
)
_LEMMA_4_CLAIMS = (
    make_algebra_claim("surrogate", CHANGES["surrogate_error2"], {"error of y": L_TILDE**2 * CHANGES["y_distance2"]}),
    make_algebra_claim("Phi", CHANGES["Phi_gradient_change2"], {"points": L_PHI**2 * dx2}),
    make_algebra_claim("y", CHANGES["y_star_change2"], {"points": L_Y**2 * dx2}),
    make_algebra_claim("y jacobian", CHANGES["y_jacobian_change2"], {"points": L_YX**2 * dx2}),
    make_algebra_claim("v", CHANGES["v_star_change2"], {"points": L_V**2 * dx2}),
)
LEMMA_4 = make_statement(
    "lemma-4",
    "Lipschitz constants of Phi, y* and v*",
    "Lemma 4",
    "Appendix C, eq. (13)",
    (*_LEMMA_4_CLAIMS, make_algebra_claim("v jacobian", CHANGES["v_jacobian_change2"], {"points": L_VX**2 * dx2})),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "The last claim is wrong, since L_vx is (simfbo/constants has the counterexample); the other five are right. "
        "In the first, the left gradient is F_x - G_xy G_yy^-1 F_y at (x, y), with its own v. Assumption 3 is named, "
        "none of it is used."
    ),
)
LEMMA_4_REPAIRED = make_statement(
    "lemma-4-repaired",
    "Lipschitz constants of Phi, y* and v*, repaired",
    "Lemma 4",
    "Appendix C, eq. (13)",
    (
        *_LEMMA_4_CLAIMS,
        make_algebra_claim("v jacobian", CHANGES["v_jacobian_change2"], {"points": L_VX_REPAIRED**2 * dx2}),
    ),
    algorithm=None,
    assumptions=REGULAR,
    follows_from=("lemma-1",),
    remark=(
        "With the terms of (14) that (15) and (16) drop: G_yy v*' = F_yx + F_yy y*' - v*(G_yyx + G_yyy y*'), each "
        "factor's change by the triangle inequality."
    ),
    repairs="lemma-4",
)
LEMMA_5 = make_statement(
    "lemma-5",
    "Sizes of the clients' gradients",
    "Lemma 5",
    "Appendix C",
    (
        make_algebra_claim(
            "g",
            CHANGES["g_gradients2"],
            {"error of y": beta_gh**2 * L_1**2 * CHANGES["y_distance2"], "heterogeneity": sigma_gh**2},
        ),
        make_algebra_claim("R", CHANGES["R_gradients2"], {"bound": 2 * R_MAX**2 * L_1**2 + 2 * L_f**2}),
        make_algebra_claim("f", CHANGES["f_gradients2"], {"bound": 2 * R_MAX**2 * L_1**2 + 2 * L_f**2}),
    ),
    algorithm=None,
    assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY),
    conditions=(HETEROGENEITY,),
    remark="For weights w_i, y* that of the same weights. Names Assumption 2 alone; the first claim is Assumption 4.",
)
_POINTS = 3 * SLOPE * (dx2 + dy2) + 3 * L_1**2 * dv2
LEMMA_6 = make_statement(
    "lemma-6",
    "Change of the gradients along the local steps",
    "Lemma 6",
    "Appendix C",
    (
        make_algebra_claim("f", CHANGES["f_change2"], {"points": _POINTS}),
        make_algebra_claim("g", CHANGES["g_change2"], {"points": L_1**2 * (dx2 + dy2)}),
        make_algebra_claim("R", CHANGES["R_change2"], {"points": _POINTS}),
    ),
    algorithm=None,
    assumptions=REGULAR,
    remark=(
        "At ||v|| <= r, v the server's: it holds by the projection, not by Lemma 1, which the proof cites. The right "
        "sides are Delta_f = Delta_R and Delta_g of the later lemmas."
    ),
)
