"""Propositions 1 to 3 and Lemmas 1 to 6 of the SimFBO paper."""

from __future__ import annotations

from functools import partial

from bounds.papers.simfbo.building import BOUNDED_V, PAPER, REGULAR, ROUND, algebra, claim, drift_claim
from bounds.papers.simfbo.step_sizes import ETA_V_CAP, HETEROGENEITY, PRODUCTS
from bounds.statement import Assumption, Claim, Statement


def progress(variable: str, suffix: str, *, direction: str, mean: str, name: str = "main") -> Claim:
    """The claim of Lemma 10 or Proposition 2 on y or v; ``suffix`` is that of delta_t, ``mean`` is over delta_t1."""
    delta, step = f"D_{variable.upper()}{suffix}", f"rho*gamma_{variable}"
    young = "delta_t1" if variable == "y" else "delta_t1_prime"
    cross = {
        "y": {"drift": "2*L_1**2/mu_g*(drift_x + drift_y)"},
        "v": {"drift": "4*L_R**2/mu_g*(drift_x + drift_y + drift_v)", "error of y": "4*L_R**2/mu_g*y_error_w2"},
    }
    return claim(
        f"{variable}_change",
        {
            "contraction": f"({delta} - {step}*mu_g - {delta}*{step}*mu_g)*{variable}_error_w2",
            "direction": f"({2 if suffix else 1} + {delta})*({step})**2*sampled_{variable}2",
            **{term: f"(1 + {delta})*{step}*({factor})" for term, factor in cross[variable].items()},
            "direction of x": f"SERVER_STEP**2*({direction})*sampled_x2",
            "mean direction of x": f"SERVER_STEP**2*{mean}/{young}*mean_x2",
        },
        name=name,
    )


PROGRESS_Y_REPAIRED = partial(progress, "y", "_REPAIRED", direction="2*L_Y**2 + L_YX/2", mean="L_Y**2")
PROGRESS_V_REPAIRED = partial(progress, "v", "_REPAIRED", direction="2*L_V**2 + L_VX_REPAIRED/2", mean="L_V**2")

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
    """Proposition 1 and Lemma 2, which are the same statement, as printed and repaired."""
    lemma = partial(
        PAPER.statement, algorithm="simfbo", assumptions=(*REGULAR, Assumption.BALL, Assumption.EVERY_SAMPLE)
    )
    return (
        lemma(
            key,
            "Boundedness of the local v",
            number,
            location,
            claim("local_v", {"bound": "R_MAX"}),
            remark=_LOCAL_V_REMARK.format(f"{key}-repaired"),
        ),
        lemma(
            f"{key}-repaired",
            "Boundedness of the local v, repaired",
            number,
            location,
            claim("local_v", {"bound": "R"}),
            conditions=ETA_V_CAP,
            remark=_LOCAL_V_REPAIRED_REMARK,
            repairs=key,
        ),
    )


LEMMA_8_REMARK = (
    "Step (a) of (20) bounds ||sum_j a_j u_j||^2 by sum_j a_j ||u_j||^2 and loses the factor ||a_i||_1 <= "
    "c_a*tau_bar*alpha_max; step (b) has tau_bar*alpha_max^2 for ||a_i||_2^2 <= c_a*tau_bar*alpha_max^2; the "
    "noise and the later gradients are not orthogonal (a factor 2), nor are the two noises of one sample (another "
    "2 on the noise). The right side is not even invariant under a_i -> b*a_i, eta -> eta/b. False without noise: "
    "f_i linear in x with slope L_f, no xy part in g_i, mu_g = L_1, a = 1, 20 local steps: 123.5*eta_x^2*L_f^2 "
    "against 100*eta_x^2*L_f^2. "
)

_regular = partial(PAPER.statement, algorithm=None, assumptions=REGULAR)

PROPOSITIONS: tuple[Statement, ...] = (
    *_bounded_v("proposition-1", "Proposition 1", "Section 3.2"),
    PAPER.statement(
        "proposition-2",
        "Progress of v in one round",
        "Proposition 2",
        "Section 3.2",
        progress("v", "", direction="L_V**2 + L_VX/4", mean="2*L_V"),
        algorithm="simfbo",
        assumptions=ROUND,
        step_products=PRODUCTS,
        remark="Differs from the second part of Lemma 10, whose proof is its only one: L_vx/4 for L_vx/2 and 2*L_v for "
        "4*L_v. The derivation gives L_vx/2. delta_t' and delta_t1' are defined in the appendix only. Further: what "
        "simfbo/lemma-10 says. Repaired: simfbo/proposition-2-repaired.",
    ),
    PAPER.statement(
        "proposition-2-repaired",
        "Progress of v in one round, repaired",
        "Proposition 2",
        "Section 3.2",
        PROGRESS_V_REPAIRED(),
        algorithm="simfbo",
        assumptions=ROUND,
        conditions=ETA_V_CAP,
        step_products=PRODUCTS,
        follows_from=("lemma-10-repaired",),
        remark="The second claim of simfbo/lemma-10-repaired.",
        repairs="proposition-2",
    ),
    PAPER.statement(
        "proposition-3",
        "Drift of the local v",
        "Proposition 3",
        "Section 3.2",
        drift_claim("main", "drift_v", "eta_v", "SIGMA_M1_2"),
        algorithm="simfbo",
        assumptions=(*BOUNDED_V, Assumption.LOCAL_WEIGHTS),
        follows_from=("lemma-8",),
        remark=LEMMA_8_REMARK + "This example is about x, in Lemma 8; simfbo/proposition-3-1 has one about v. Names "
        "Assumptions 1 and 2, uses 3. Repaired: simfbo/proposition-3-repaired.",
    ),
    PAPER.statement(
        "proposition-3-repaired",
        "Drift of the local v, repaired",
        "Proposition 3",
        "Section 3.2",
        drift_claim("main", "drift_v", "eta_v", "SIGMA_M1_2_REPAIRED"),
        algorithm="simfbo",
        assumptions=(*BOUNDED_V, Assumption.LOCAL_WEIGHTS),
        conditions=ETA_V_CAP,
        follows_from=("lemma-8-repaired",),
        remark="The second claim of simfbo/lemma-8-repaired.",
        repairs="proposition-3",
    ),
)

LEMMAS_1_TO_3: tuple[Statement, ...] = (
    _regular(
        "lemma-1",
        "Boundedness of v*",
        "Lemma 1",
        "Appendix C",
        algebra("v_star2", {"bound": "R**2"}),
    ),
    *_bounded_v("lemma-2", "Lemma 2", "Appendix C, eq. (12)"),
    _regular(
        "lemma-3",
        "Smoothness of the linear system",
        "Lemma 3",
        "Appendix C",
        algebra("R_change_xy2", {"points": "L_R**2*(dx2 + dy2)"}),
        remark="At ||v|| <= r_max. L_R is the Lipschitz constant in (x, y) at a fixed v. Its other half, that R_i is "
        "mu_g-strongly convex in v, has no right side.",
    ),
)

_LEMMA_4_CLAIMS = (
    algebra("surrogate_error2", {"error of y": "L_TILDE**2*y_distance2"}, name="surrogate"),
    algebra("Phi_gradient_change2", {"points": "L_PHI**2*dx2"}, name="Phi"),
    algebra("y_star_change2", {"points": "L_Y**2*dx2"}, name="y"),
    algebra("y_jacobian_change2", {"points": "L_YX**2*dx2"}, name="y jacobian"),
    algebra("v_star_change2", {"points": "L_V**2*dx2"}, name="v"),
)

LEMMAS_4_TO_6: tuple[Statement, ...] = (
    _regular(
        "lemma-4",
        "Lipschitz constants of Phi, y* and v*",
        "Lemma 4",
        "Appendix C, eq. (13)",
        *_LEMMA_4_CLAIMS,
        algebra("v_jacobian_change2", {"points": "L_VX**2*dx2"}, name="v jacobian"),
        remark="The last claim is wrong, since L_vx is (simfbo/constants has the counterexample); the other five are "
        "right. In the first, the left gradient is F_x - G_xy G_yy^-1 F_y at (x, y), with its own v. Assumption 3 is "
        "named, none of it is used.",
    ),
    _regular(
        "lemma-4-repaired",
        "Lipschitz constants of Phi, y* and v*, repaired",
        "Lemma 4",
        "Appendix C, eq. (13)",
        *_LEMMA_4_CLAIMS,
        algebra("v_jacobian_change2", {"points": "L_VX_REPAIRED**2*dx2"}, name="v jacobian"),
        follows_from=("lemma-1",),
        remark="With the terms of (14) that (15) and (16) drop: G_yy v*' = F_yx + F_yy y*' - v*(G_yyx + G_yyy y*'), "
        "each factor's change by the triangle inequality.",
        repairs="lemma-4",
    ),
    PAPER.statement(
        "lemma-5",
        "Sizes of the clients' gradients",
        "Lemma 5",
        "Appendix C",
        algebra(
            "g_gradients2", {"error of y": "beta_gh**2*L_1**2*y_distance2", "heterogeneity": "sigma_gh**2"}, name="g"
        ),
        algebra("R_gradients2", {"bound": "2*R_MAX**2*L_1**2 + 2*L_f**2"}, name="R"),
        algebra("f_gradients2", {"bound": "2*R_MAX**2*L_1**2 + 2*L_f**2"}, name="f"),
        algorithm=None,
        assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY),
        conditions=HETEROGENEITY,
        remark="For weights w_i, y* that of the same weights. Names Assumption 2 alone; the first claim is Assumption "
        "4.",
    ),
    _regular(
        "lemma-6",
        "Change of the gradients along the local steps",
        "Lemma 6",
        "Appendix C",
        algebra("f_change2", {"points": "POINTS"}, name="f"),
        algebra("g_change2", {"points": "L_1**2*(dx2 + dy2)"}, name="g"),
        algebra("R_change2", {"points": "POINTS"}, name="R"),
        remark="At ||v|| <= r, v the server's: it holds by the projection, not by Lemma 1, which the proof cites. The "
        "right sides are Delta_f = Delta_R and Delta_g of the later lemmas.",
    ),
)
