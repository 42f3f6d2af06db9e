"""One round of SimFBO: Lemmas 7 to 10 and the change of the Lyapunov function."""

from __future__ import annotations

from functools import partial

from bounds.papers.simfbo.building import DRIFTING, PAPER, ROUND, claim, drift_claim
from bounds.papers.simfbo.lemmas import LEMMA_8_REMARK, PROGRESS_V_REPAIRED, PROGRESS_Y_REPAIRED, progress
from bounds.papers.simfbo.step_sizes import (
    DEFAULTS,
    DEFAULTS_REPAIRED,
    ETA_V_CAP,
    HETEROGENEITY,
    PRODUCTS,
    RATIOS,
    RATIOS_REPAIRED,
    THEOREM_CONDITIONS,
    THEOREM_CONDITIONS_REPAIRED,
    TWO_CLIENTS,
)
from bounds.statement import Claim, Relation, Statement


def _lemma_7(curvature: str) -> Claim:
    return claim(
        "Phi_w_change",
        {
            "gradient": "-SERVER_STEP/2*grad_Phi_w2",
            "mean direction": "-SERVER_STEP/2*mean_x2",
            "error of y": "SERVER_STEP/2*6*SLOPE*y_error_w2",
            "error of v": "SERVER_STEP/2*3*L_1**2*v_error_w2",
            "drift": "3*SERVER_STEP/2*drift_f",
            "direction": f"{curvature}*SERVER_STEP**2/2*sampled_x2",
        },
    )


_of_round = partial(PAPER.statement, algorithm="simfbo", assumptions=ROUND)
_of_drift = partial(PAPER.statement, algorithm="simfbo", assumptions=DRIFTING)

LEMMAS: tuple[Statement, ...] = (
    _of_round(
        "lemma-7",
        "Change of Phi_w in one round",
        "Lemma 7",
        "Appendix D.1",
        _lemma_7("L_PHI**2"),
        follows_from=("lemma-4", "lemma-6"),
        remark="L_Phi^2/2 stands where the descent lemma of an L_Phi-smooth function has L_Phi/2; the two sides scale "
        "differently. False where f_i = L_1*||x||^2/2, g_i without xy part, mu_g = L_1 < 1/16, L_2 = 0: Phi has "
        "curvature L_1, and L_Phi^2 = 16*L_1^2 < L_1. Names Assumption 1 alone. Repaired: simfbo/lemma-7-repaired.",
    ),
    _of_round(
        "lemma-7-repaired",
        "Change of Phi_w in one round, repaired",
        "Lemma 7",
        "Appendix D.1",
        _lemma_7("L_PHI"),
        follows_from=("lemma-1", "lemma-4-repaired", "lemma-6"),
        remark="simfbo/lemma-7 with L_Phi/2 for L_Phi^2/2.",
        repairs="lemma-7",
    ),
    _of_drift(
        "lemma-8",
        "Drifts of the local steps",
        "Lemma 8",
        "Appendix D.2",
        drift_claim("x", "drift_x", "eta_x", "SIGMA_M1_2"),
        drift_claim("v", "drift_v", "eta_v", "SIGMA_M1_2"),
        claim(
            "drift_y",
            {
                name: f"eta_y**2*tau_bar/(1 - YOUNG_SLACK)*({term})"
                for name, term in {
                    "noise": "alpha_max**2*sigma_g**2",
                    "drift of x": "2*c_a*alpha_max*L_1**2*eta_x**2*tau_bar*SIGMA_M1_2",
                    "error of y": "2*c_a*alpha_max*L_1**2*y_error_w2",
                    "heterogeneity": "2*c_a*alpha_max*sigma_gh**2",
                }.items()
            },
            name="y",
        ),
        conditions={"slack": "YOUNG_SLACK < 1"},
        follows_from=("lemma-2", "lemma-5"),
        remark=LEMMA_8_REMARK + "In the claim on y, beta_gh^2 is missing too: Assumption 4 at equal gradients gives "
        "beta_gh^2*L_1^2. The denominator's sign is not asked for. Repaired: simfbo/lemma-8-repaired.",
    ),
    _of_drift(
        "lemma-8-simplified",
        "Drifts of the local steps, simplified",
        "eq. (21), (22)",
        "Appendix D.2",
        claim(
            "drift_y",
            {"constant": "2*eta_y**2*tau_bar*SIGMA_M2_2", "error of y": "4*eta_y**2*PATH*L_1**2*y_error_w2"},
            name="y",
        ),
        claim(
            "drift_f",
            {
                "drift of x": "3*eta_x**2*tau_bar*SLOPE*SIGMA_M1_2",
                "drift of v": "3*eta_v**2*tau_bar*L_1**2*SIGMA_M1_2",
                "drift of y": "6*eta_y**2*tau_bar*SLOPE*SIGMA_M2_2",
                "error of y": "12*eta_y**2*SLOPE*PATH*L_1**2*y_error_w2",
            },
            name="f",
        ),
        claim(
            "drift_g",
            {
                "drift of x": "eta_x**2*tau_bar*L_1**2*SIGMA_M1_2",
                "drift of y": "2*eta_y**2*tau_bar*L_1**2*SIGMA_M2_2",
                "error of y": "4*eta_y**2*PATH*L_1**4*y_error_w2",
            },
            name="g",
        ),
        conditions={"eta_x": "2*eta_x**2*PATH*L_1**2 <= 1", "eta_y": "4*eta_y**2*PATH*L_1**2 <= 1"},
        follows_from=("lemma-6", "lemma-8"),
        remark="Simplified forms of Lemma 8, with its defects. Delta_R of Lemma 6 is Delta_f.",
    ),
    _of_drift(
        "lemma-8-repaired",
        "Drifts of the local steps, repaired",
        "Lemma 8, eq. (21)",
        "Appendix D.2",
        drift_claim("x", "drift_x", "eta_x", "SIGMA_M1_2_REPAIRED"),
        drift_claim("v", "drift_v", "eta_v", "SIGMA_M1_2_REPAIRED"),
        claim(
            "drift_y",
            {
                "constant": "2*eta_y**2*tau_bar*SIGMA_M2_2_REPAIRED",
                "error of y": "8*eta_y**2*PATH**2*beta_gh**2*L_1**2*y_error_w2",
            },
            name="y",
        ),
        conditions={
            **HETEROGENEITY,
            "eta_x": "4*eta_x**2*PATH**2*L_1**2 <= 1",
            "eta_y": "8*eta_y**2*PATH**2*L_1**2 <= 1",
            "eta_v": "eta_v*alpha_max*L_1 <= 1",
        },
        follows_from=("lemma-2-repaired", "lemma-5"),
        remark="The shapes of the printed claims on x and v and of (21), with sigma_M1 and sigma_M2 of "
        "simfbo/constants-repaired, which grow with tau_bar, and beta_gh^2 in the claim on y.",
        repairs="lemma-8",
    ),
    _of_round(
        "lemma-9",
        "Second moments of the sampled directions",
        "Lemma 9",
        "Appendix D.3",
        claim(
            "sampled_x2",
            {
                "noise": "SAMPLED_NOISE",
                "mean direction": "n*(P - 1)/(P*(n - 1))*mean_x2",
                "drift": "2*n*SAMPLING*drift_f_sq",
                "sampling": "SAMPLED",
            },
            name="x",
        ),
        claim(
            "sampled_y2",
            {
                "noise": "n/P*noise_weight*sigma_g**2",
                "sampling": "2*SAMPLING*beta_max*sigma_gh**2",
                "drift": "2*n*SAMPLING*drift_g_sq + 3*drift_g",
                "error of y": "(2*SAMPLING*beta_max*beta_gh**2 + 3*L_1**2)*y_error_w2",
            },
            name="y",
        ),
        claim(
            "sampled_v2",
            {
                "noise": "SAMPLED_NOISE",
                "sampling": "SAMPLED",
                "drift": "2*n*SAMPLING*drift_f_sq + 3*drift_f",
                "error of v": "3*L_1**2*v_error_w2",
            },
            name="v",
        ),
        conditions={**TWO_CLIENTS, **HETEROGENEITY},
        follows_from=("lemma-5", "lemma-6"),
        remark="Claim y: beta_gh^2 lacks L_1^2 (Lemma 5 has it; the two sides scale differently). Claim v: the error "
        "of y is missing, though grad_v R_i depends on y. All: (23) takes the noise of a client and its mean direction "
        "as orthogonal, but the direction follows the noisy path. Names Assumptions 1 to 3, uses 4. n >= 2 is not "
        "printed; n - 1 needs it. Repaired: simfbo/lemma-9-repaired.",
    ),
    _of_round(
        "lemma-9-repaired",
        "Second moments of the sampled directions, repaired",
        "Lemma 9",
        "Appendix D.3",
        claim(
            "sampled_x2",
            {
                "noise": "2*SAMPLED_NOISE",
                "mean direction": "n*(P - 1)/(P*(n - 1))*mean_x2",
                "drift": "(2*n*SAMPLING + n/P)*drift_f_sq",
                "sampling": "SAMPLED",
            },
            name="x",
        ),
        claim(
            "sampled_y2",
            {
                "noise": "2*n/P*noise_weight*sigma_g**2",
                "sampling": "2*SAMPLING*beta_max*sigma_gh**2",
                "drift": "(2*n*SAMPLING + n/P)*drift_g_sq + 3*drift_g",
                "error of y": "(2*SAMPLING*beta_max*beta_gh**2*L_1**2 + 3*L_1**2)*y_error_w2",
            },
            name="y",
        ),
        claim(
            "sampled_v2",
            {
                "noise": "2*SAMPLED_NOISE",
                "sampling": "SAMPLED",
                "drift": "(2*n*SAMPLING + n/P)*drift_f_sq + 3*drift_f",
                "error of v": "3*L_1**2*v_error_w2",
                "error of y": "3*L_R**2*y_error_w2",
            },
            name="v",
        ),
        conditions={**TWO_CLIENTS, **HETEROGENEITY},
        follows_from=("lemma-1", "lemma-3", "lemma-5", "lemma-6"),
        remark="With beta_gh^2*L_1^2, the error of y in claim v, and the cross term of (23): for one client at most "
        "the noise once more plus the average of Delta, since the gradient at the server's point is independent of it.",
        repairs="lemma-9",
    ),
    _of_round(
        "lemma-10",
        "Progress of y and v in one round",
        "Lemma 10",
        "Appendix D.4",
        progress("y", "", direction="L_Y**2 + L_YX/2", mean="4*L_Y", name="y"),
        progress("v", "", direction="L_V**2 + L_VX/2", mean="4*L_V", name="v"),
        step_products=PRODUCTS,
        follows_from=("lemma-3", "lemma-4"),
        remark="4*L_y/delta_t1 and 4*L_v/delta_t1' have L_y and L_v where the Jacobian's norm enters squared; false "
        "for a nearly linear y* with L_y about 40. (30) replaces the sampled direction of x by its mean inside a "
        "product with y^(t+1), which depends on the same sample: false for n = 2, P = 1, y^t = y*, no noise, no drift "
        "and opposite client gradients. The remainder needs a sure bound of the sampled direction and is half of what "
        "(30) gives. With a Young weight 1, the terms with L_yx and L_vx have another unit. Main text: "
        "simfbo/proposition-2. Repaired: simfbo/lemma-10-repaired.",
    ),
    _of_round(
        "lemma-10-repaired",
        "Progress of y and v in one round, repaired",
        "Lemma 10",
        "Appendix D.4",
        PROGRESS_Y_REPAIRED(name="y"),
        PROGRESS_V_REPAIRED(name="v"),
        conditions=ETA_V_CAP,
        step_products=PRODUCTS,
        follows_from=("lemma-1", "lemma-2-repaired", "lemma-3", "lemma-4-repaired"),
        remark="With Lemma 2's limit on eta_v: without it the local v are not bounded, nor is one client's sampled "
        "gradient. The product with the direction of x is the product of the conditional means, which costs "
        "L_y^2/delta_t1, and a covariance, which costs one more squared step of y and L_y^2 once more; ||x^(t+1) - "
        "x^t|| is bounded by beta_max times one client's sampled gradient. The same for v, the projection being "
        "non-expansive; L_vx is that of simfbo/lemma-4-repaired. The Young weight 1 of the terms with L_yx and L_vx "
        "has the unit of a length: not homogeneous, but right for any length.",
        repairs="lemma-10",
    ),
)

# --- The Lyapunov function ---

_ERROR_SYNC = {
    "upper level": "SERVER_STEP**2*BRACKET*SAMPLED_NOISE",
    "lower level": "SERVER_STEP**2*K_1*c_gamma_y**2*n/P*noise_weight*sigma_g**2",
}
_ERROR_PART = {
    "upper level": "SERVER_STEP**2*BRACKET*4*SAMPLING*beta_max*SIZE",
    "lower level": "SERVER_STEP**2*K_1*c_gamma_y**2*2*SAMPLING*beta_max*sigma_gh**2",
}
_ERROR_CD = {
    "slopes": "3*SERVER_STEP*(3/2 + 24*K_2*c_gamma_v + SHARE*(17/4 + 16*K_2*c_gamma_v))*SLOPE*DRIFT",
    "step of y": "SERVER_STEP*K_1*(4*c_gamma_y*L_1**2/mu_g + 8*c_gamma_v*(2*SHARE + 3)*L_1**2)*DRIFT_XY",
    "step of v": "SERVER_STEP*K_2*c_gamma_v*4*L_R**2/mu_g*DRIFT",
}

LYAPUNOV: tuple[Statement, ...] = (
    _of_round(
        "lyapunov",
        "Change of the Lyapunov function in one round",
        "eq. (41)-(45)",
        "Appendix D.5",
        claim(
            "psi_change",
            {
                "gradient": "-SERVER_STEP/2*grad_Phi_w2",
                "partial participation": " + ".join(_ERROR_PART.values()),
                "full synchronisation": " + ".join(_ERROR_SYNC.values()),
                "client drifts": " + ".join(_ERROR_CD.values()),
            },
            name="descent",
        ),
        claim("error_sync", _ERROR_SYNC, name="sync", relation=Relation.EQUAL),
        claim("error_part", _ERROR_PART, name="part", relation=Relation.EQUAL),
        claim("error_cd", _ERROR_CD, name="drift", relation=Relation.EQUAL),
        conditions=THEOREM_CONDITIONS,
        step_rules=(*RATIOS, *DEFAULTS),
        step_products=PRODUCTS,
        follows_from=("lemma-7", "lemma-8-simplified", "lemma-9", "lemma-10", "stepsizes"),
        remark='Step (a) of (41) prints "=" for "<=". Even from the printed lemmas it does not follow: the mean '
        "direction may keep a positive coefficient (for large L_1 and P > 6*beta_max), since term Phi curvature of "
        "(39) is 4/L_Phi^2 where 1/(4*L_Phi^2) is needed, and the parts with sigma_g and sigma_gh lose the factor 1 + "
        "delta_t, up to 1 + 1/288. Repaired: simfbo/lyapunov-repaired.",
    ),
    _of_round(
        "lyapunov-repaired",
        "Change of the Lyapunov function in one round, repaired",
        "eq. (41)-(45)",
        "Appendix D.5",
        claim(
            "psi_change",
            {
                "gradient": "-SERVER_STEP/2*grad_Phi_w2",
                "partial participation": "2*SERVER_STEP**2*SAMPLING*M_1_REPAIRED",
                "full synchronisation": "SERVER_STEP**2*n/P*noise_weight*M_2_REPAIRED",
                "client drifts": "SERVER_STEP*DRIFT_REPAIRED*M_3_REPAIRED",
            },
            name="descent",
        ),
        conditions=THEOREM_CONDITIONS_REPAIRED,
        step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
        step_products=PRODUCTS,
        follows_from=(
            "lemma-2-repaired",
            "lemma-7-repaired",
            "lemma-8-repaired",
            "lemma-9-repaired",
            "lemma-10-repaired",
            "stepsizes-repaired",
        ),
        remark="Eq. (45) from the repaired lemmas at the repaired step sizes; the local ||v_i^k|| are replaced by "
        "r_max.",
        repairs="lyapunov",
    ),
)
