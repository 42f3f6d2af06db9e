"""Theorems of the SimFBO paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bounds.papers.simfbo.building import PAPER, WHOLE_RUN, claim
from bounds.papers.simfbo.step_sizes import (
    DEFAULTS,
    DEFAULTS_REPAIRED,
    HETEROGENEITY,
    PRODUCTS,
    RATIOS,
    RATIOS_REPAIRED,
    THEOREM_CONDITIONS,
    THEOREM_CONDITIONS_REPAIRED,
)
from bounds.statement import Claim, Over, Relation, Statement


def _rate(suffix: str) -> dict[str, str]:
    """Twice the sum of (53), (48), (50) and (52), as (46) has it."""
    sync = "alpha_max*beta_max/(c_a_prime*alpha_min)*rho_bar/(P*tau_bar)*gamma_x"
    return {
        "initial gap": "4*psi_gap/(T*rho_bar*gamma_x)",
        "partial participation": f"12*M_1{suffix}*SAMPLING*rho_bar*gamma_x",
        "full synchronisation": f"6*({sync})*M_2{suffix}",
        "local updates": f"6*DRIFT{suffix}*M_3{suffix}",
    }


_PRINTED_RATE, _REPAIRED_RATE = _rate(""), _rate("_REPAIRED")


def _mean(measured: str, terms: Mapping[str, str], relation: Relation = Relation.AT_MOST) -> Claim:
    """A claim about the mean over the rounds.

    At the start smoothness alone gives ||grad Phi||^2 <= 2*L_Phi*(Phi - inf Phi), and Psi is Phi plus squares.
    Everywhere grad Phi = F_x - G_xy v* with ||v*|| <= L_f/mu_g and ||G_xy|| <= L_1.
    """
    return claim(measured, terms, over=Over.MEAN_OF_ROUNDS, relation=relation, trivial="TRIVIAL")


_ORDER_TERMS = {
    "partial participation": "M_1*(n - P)/n*sqrt(tau_bar/(P*T))",
    "full synchronisation": "M_2/sqrt(P*tau_bar*T)",
    "local updates": "M_3/(tau_bar*T)",
}
_UNNAMED = (
    "Names Assumptions 1 to 3 but uses Assumption 4 (beta_gh, sigma_gh), weights w_i that do not change from round to "
    "round, and Phi_w bounded below. "
)

_simfbo = partial(PAPER.statement, algorithm="simfbo", assumptions=WHOLE_RUN, step_products=PRODUCTS)
_shrofbo = partial(PAPER.statement, algorithm="shrofbo", assumptions=WHOLE_RUN)

STATEMENTS: tuple[Statement, ...] = (
    _simfbo(
        "theorem-1",
        "SimFBO, with every constant of the proof",
        "Theorem 1, eq. (46)-(53)",
        "Appendix D.6",
        _mean("grad_Phi_w2", _PRINTED_RATE),
        conditions=THEOREM_CONDITIONS,
        step_rules=(*RATIOS, *DEFAULTS),
        follows_from=("lyapunov", "stepsizes", "constants"),
        remark="The theorem prints orders (simfbo/theorem-1-order); this is what its proof gives, (46) with (48), "
        "(50), (52) and the initial gap put in. Printed for the smallest round; the proof bounds the mean over rounds. "
        "The weights are w_i: with unequal local work Phi_w is not the given objective. " + _UNNAMED + "n >= 2 is not "
        "printed; the factor 1/(n - 1) needs it. Not homogeneous, as M_1, M_2, M_3 are not; the drift lacks a factor "
        "tau_bar (Lemma 8). Repaired: simfbo/theorem-1-repaired.",
    ),
    _simfbo(
        "theorem-1-repaired",
        "SimFBO, with every constant, repaired",
        "Theorem 1, eq. (46)-(53)",
        "Appendix D.6",
        _mean("grad_Phi_w2", _REPAIRED_RATE),
        conditions=THEOREM_CONDITIONS_REPAIRED,
        step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
        follows_from=("lyapunov-repaired",),
        remark="The shape of simfbo/theorem-1 with the constants of simfbo/constants-repaired and the step sizes of "
        "simfbo/stepsizes-repaired; Assumption 4 is named. Lemma 2 and the remainder terms of Lemma 10 need the "
        "bounds of Assumptions 1 and 2 for every sample.",
        repairs="theorem-1",
    ),
    PAPER.statement(
        "theorem-1-order",
        "SimFBO, the order that is printed",
        "Theorem 1, eq. (9), (54)",
        "Section 3.2",
        _mean("grad_Phi_w2", _ORDER_TERMS, relation=Relation.ORDER),
        algorithm="simfbo",
        assumptions=WHOLE_RUN,
        conditions=HETEROGENEITY,
        step_rules=RATIOS,
        follows_from=("theorem-1",),
        remark="Has n where (48) has n - 1, hides the initial gap in M_2, which vanishes without noise, and takes "
        "sigma_M1, sigma_M2 and c_a for constants; with the tau_bar that Lemma 8 lost the last term is M_3/T.",
    ),
    PAPER.statement(
        "theorem-1-order-full",
        "SimFBO, the order for nearly full participation",
        "eq. (55)",
        "Appendix D.6",
        _mean(
            "grad_Phi_w2",
            {"full synchronisation": "M_2/sqrt(n*tau_bar*T)", "local updates": "M_3/(tau_bar*T)"},
            relation=Relation.ORDER,
        ),
        algorithm="simfbo",
        assumptions=WHOLE_RUN,
        conditions=HETEROGENEITY,
        step_rules=RATIOS,
        follows_from=("theorem-1-order",),
        remark="Eq. (54) with (n - P)/(n - 1) near 0; the paper takes tau_bar = O(T/n) in it for T = O(1/eps) rounds.",
    ),
    PAPER.statement(
        "theorem-1-order-partial",
        "SimFBO, the order for partial participation at the best number of local steps",
        "eq. (57)",
        "Appendix D.6",
        _mean(
            "grad_Phi_w2",
            {"participation": "(M_1 + M_2)*sqrt((n - P)/(n*P*T))", "local updates": "M_3/T"},
            relation=Relation.ORDER,
        ),
        algorithm="simfbo",
        assumptions=WHOLE_RUN,
        conditions=HETEROGENEITY,
        step_rules=RATIOS,
        follows_from=("theorem-1-order",),
        remark="Eq. (56) at tau_bar = O(n/(n - P)), which needs P < n; its last term is then smaller by (n - P)/n.",
    ),
    _shrofbo(
        "theorem-2",
        "ShroFBO, with every constant of the proof",
        "Theorem 2",
        "Section 3.2",
        _mean("grad_Phi2", _PRINTED_RATE),
        conditions=THEOREM_CONDITIONS,
        step_rules=(*RATIOS, *DEFAULTS),
        step_products=PRODUCTS,
        follows_from=("theorem-1",),
        remark="The theorem prints the orders, step sizes and constants of Theorem 1 for Phi itself "
        "(simfbo/theorem-2-order). ShroFBO is the iteration of Appendix B at w_i = p_i, so Phi_w = Phi and simfbo/"
        "theorem-1 is the bound with its constants, beta_max being that of the p_i. The detour of Appendix E, which "
        "costs a factor, is simfbo/theorem-2-appendix; repaired: simfbo/theorem-2-repaired.",
    ),
    _shrofbo(
        "theorem-2-appendix",
        "ShroFBO, as Appendix E derives it",
        "Theorem 2, eq. (60) and the display after it",
        "Appendix E",
        _mean(
            "grad_Phi2",
            {
                name: f"2*(1 + 2*((beta_max_prime - beta_min)/beta_min)**2)*({term})"
                for name, term in _PRINTED_RATE.items()
            },
        ),
        conditions={**THEOREM_CONDITIONS, "weights": "beta_min <= beta_max_prime"},
        step_rules=(*RATIOS, *DEFAULTS),
        step_products=PRODUCTS,
        follows_from=("theorem-1",),
        remark="Step (b) of (59) draws the unequal factors (p_i - w_i)/w_i out of the norm of a sum, which is wrong; "
        "at w_i = p_i, where it is used, they are 0 and the factor 2*(1 + 2*(...)^2) is not needed (simfbo/theorem-2). "
        "The last display has an undefined M_4 for M_3 and n - 1 for n.",
    ),
    _shrofbo(
        "theorem-2-repaired",
        "ShroFBO, with every constant, repaired",
        "Theorem 2",
        "Section 3.2",
        _mean("grad_Phi2", _REPAIRED_RATE),
        conditions=THEOREM_CONDITIONS_REPAIRED,
        step_rules=(*RATIOS_REPAIRED, *DEFAULTS_REPAIRED),
        step_products=PRODUCTS,
        follows_from=("theorem-1-repaired",),
        remark="simfbo/theorem-1-repaired at w_i = p_i.",
        repairs="theorem-2",
    ),
    _shrofbo(
        "theorem-2-order",
        "ShroFBO, the order that is printed",
        "Theorem 2, eq. (10)",
        "Section 3.2",
        _mean("grad_Phi2", _ORDER_TERMS, relation=Relation.ORDER),
        conditions=HETEROGENEITY,
        step_rules=RATIOS,
        follows_from=("theorem-2",),
        remark="The order of simfbo/theorem-1-order for Phi; Appendix E has n - 1 for n and an undefined M_4 for M_3.",
    ),
)
