"""Statements of the SimFBO paper: the constants of the analysis and the admissible step sizes."""

from __future__ import annotations

import sympy as sp

from bounds.papers.simfbo.building import PAPER, REGULAR, definition
from bounds.papers.simfbo.formulas import ONE
from bounds.papers.simfbo.step_sizes import (
    DEFAULTS,
    DEFAULTS_REPAIRED,
    ETA_V_REPAIRED,
    ETA_X_2,
    ETA_X_REPAIRED,
    ETA_Y_2,
    ETA_Y_REPAIRED,
    HETEROGENEITY,
    LARGEST,
    LARGEST_REPAIRED,
    LOCAL_CAPS,
    LOCAL_CAPS_REPAIRED,
    PRODUCTS,
    RATIOS,
    RATIOS_REPAIRED,
    TERMS,
    TERMS_REPAIRED,
    caps,
)
from bounds.papers.simfbo.symbols import VOCABULARY, gamma_x, rho
from bounds.statement import Assumption, Claim, Metric, Over, Relation, Statement

CONSTANTS: tuple[Statement, ...] = (
    PAPER.statement(
        "constants",
        "Constants of the analysis",
        "eq. (13), (37), (40)",
        "Appendices C and D.5",
        definition("L_Phi", "L_PHI"),
        definition("L_tilde", "L_TILDE"),
        definition("L_y", "L_Y"),
        definition("L_v", "L_V"),
        definition("L_yx", "L_YX"),
        definition("L_vx", "L_VX"),
        definition("r", "R"),
        definition("r_max", "R_MAX"),
        definition("L_R", "L_R"),
        definition("K_1", "K_1"),
        definition("K_2", "K_2"),
        definition("M_1", "M_1"),
        definition("M_2", "M_2"),
        definition("M_3", "M_3"),
        definition("sigma_M1", "sqrt(SIGMA_M1_2)"),
        definition("sigma_M2", "sqrt(SIGMA_M2_2)"),
        algorithm=None,
        assumptions=(),
        step_rules=RATIOS,
        remark="L_vx lacks the terms through y*: (15) sets the partial derivative in y to 0, but only the total "
        "derivative (14) vanishes. For f = L_f*y and g = G(y) - a*x*y, G'' = mu_g + eps*(1 - cos(y*sqrt(L_3/eps))), "
        "eps -> 0, the true constant is r*L_3*(L_y^2 - L_y)/mu_g, above the printed 2*r*L_3*sqrt(1 + L_y^2)/mu_g once "
        "L_y > 3.2. M_1, M_2 and M_3 are not homogeneous: they inherit L_Phi^2 for L_Phi (Lemma 7) and a Young weight "
        "1 where a length belongs (the terms with L_yx/2 and L_vx/2), and M_3 has c_gamma_v where Lemma 10 gives "
        "c_gamma_y and L_1^2 where (39) gives mu_g. M_2 stands again below (49), with an undefined F under L_vx. Lower "
        "bounds of the c_gamma contain K_1 and K_2 and hence the c_gamma themselves; solved, c_gamma_y >= "
        "16*sqrt(A*L_y/mu_g), A = c_gamma_y*K_1. The Young parameters delta_t are simfbo/young-parameters; repaired: "
        "simfbo/constants-repaired.",
    ),
    PAPER.statement(
        "constants-repaired",
        "Constants of the analysis, repaired",
        "eq. (13), (37), (40)",
        "Appendices C and D.5",
        definition("L_vx", "L_VX_REPAIRED"),
        definition("r_max", "R"),
        definition("M_1", "M_1_REPAIRED"),
        definition("M_2", "M_2_REPAIRED"),
        definition("M_3", "M_3_REPAIRED"),
        definition("sigma_M1", "sqrt(SIGMA_M1_2_REPAIRED)"),
        definition("sigma_M2", "sqrt(SIGMA_M2_2_REPAIRED)"),
        algorithm=None,
        assumptions=(),
        step_rules=RATIOS_REPAIRED,
        remark="What differs from simfbo/constants; the others are right. r_max = r is simfbo/lemma-2-repaired; the M "
        "and sigma keep the printed r_max, which is larger and right too. M_3 no longer depends on the c_gamma. The "
        "Young weight 1 of the terms with L_yx/2 and L_vx/2 stays: any length is as right.",
        repairs="constants",
    ),
)


def _limits(**largest: sp.Expr) -> tuple[Claim, ...]:
    """The largest step sizes; that of x at the server has its factor rho."""
    lefts = {
        name: Metric(
            latex=VOCABULARY[name].latex, weights={VOCABULARY[name].symbol: ONE}, over=Over.NO_RUN, trivial=None
        )
        for name in ("eta_x", "eta_y", "eta_v")
    }
    lefts["rho_gamma_x"] = Metric(latex=r"\rho^{(t)}\gamma_x", weights={gamma_x: rho}, over=Over.NO_RUN, trivial=None)
    return tuple(
        Claim(name=name, metric=lefts[name], relation=Relation.AT_MOST, terms={"largest": value})
        for name, value in largest.items()
    )


STEPSIZES: tuple[Statement, ...] = (
    PAPER.statement(
        "young-parameters",
        "Young parameters of the steps of y and v",
        "below eq. (37)",
        "Appendix D.5",
        definition("delta", "DELTA"),
        definition("delta_prime", "DELTA_PRIME"),
        algorithm=None,
        assumptions=(),
        step_rules=RATIOS,
        step_products=PRODUCTS,
        remark="delta_t = rho^(t)*gamma_y*mu_g/4, the whole of it: the part delta_t1 of Lemma 10 is what the remainder "
        "term leaves, at least delta_t/2 under (39).",
    ),
    PAPER.statement(
        "stepsizes",
        "Admissible step sizes",
        "eq. (38), (39)",
        "Appendix D.5",
        *_limits(rho_gamma_x=LARGEST, eta_x=sp.sqrt(ETA_X_2), eta_y=sp.sqrt(ETA_Y_2)),
        algorithm="simfbo",
        assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
        conditions={**HETEROGENEITY, **caps(TERMS), **LOCAL_CAPS},
        step_rules=(*RATIOS, *DEFAULTS),
        step_products=PRODUCTS,
        remark="The first claim is (39), a bound on rho^(t)*gamma_x in every round; the conditions are its terms with "
        "rho^(t) <= 3*rho_bar/2. c_gamma_y >= 256*K_1*L_y/mu_g contains 1/c_gamma_y in K_1 and becomes "
        "c_gamma_y >= 16*sqrt(A*L_y/mu_g), A = c_gamma_y*K_1; likewise c_gamma_v. Not homogeneous: L_Phi^2 where a "
        "descent step has L_Phi (terms Phi, Phi curvature; the latter is printed 4/L_Phi^2 where the proof, once with "
        "L_Phi, needs 1/(4*L_Phi)); 4/c_gamma without mu_g; beta_gh^2 without L_1^2; the Young weight 1 of the terms "
        "with L_yx/2 and L_vx/2. The term y curvature has L_v where L_y is meant. eta_v has no bound at all, though "
        "Lemma 2 needs eta_v*alpha_max*L_1 <= 1; eta_x and eta_y lack a factor tau_bar (Lemma 8). Homogeneous and "
        "sufficient: simfbo/stepsizes-repaired. The orders of (38) are taken with the constant 1, and less where (39) "
        "asks for less.",
    ),
    PAPER.statement(
        "stepsizes-repaired",
        "Admissible step sizes, repaired",
        "eq. (38), (39)",
        "Appendix D.5",
        *_limits(rho_gamma_x=LARGEST_REPAIRED, eta_x=ETA_X_REPAIRED, eta_y=ETA_Y_REPAIRED, eta_v=ETA_V_REPAIRED),
        algorithm="simfbo",
        assumptions=(*REGULAR, Assumption.LOWER_HETEROGENEITY, Assumption.LOCAL_WEIGHTS),
        conditions={**HETEROGENEITY, **caps(TERMS_REPAIRED), **LOCAL_CAPS_REPAIRED},
        step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
        step_products=PRODUCTS,
        remark="Under these the repaired Lemmas 7 to 10 give the repaired (45): no coefficient of an error of y, of an "
        "error of v or of the mean direction is positive. Of a minimum of eight terms instead of twelve. The terms "
        "with L_yx and L_vx keep the Young weight 1, which has the unit of a length: the only part that is not "
        "homogeneous.",
        repairs="stepsizes",
    ),
)
