"""Step sizes of the SimFBO paper: ratios, caps, local step sizes and what is taken by default."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.papers.simfbo.formulas import (
    CURVATURE,
    CURVATURE_REPAIRED,
    CURVATURE_V,
    K_1_NUMERATOR,
    K_2_NUMERATOR,
    L_PHI,
    L_V,
    L_VX,
    L_VX_REPAIRED,
    L_Y,
    L_YX,
    PATH,
    SHARE,
    SIZE,
    SLOPE,
)
from bounds.papers.simfbo.symbols import (
    L_1,
    L_f,
    P,
    T,
    alpha_max,
    beta_gh,
    beta_max,
    c_a,
    c_gamma_v,
    c_gamma_y,
    eta_v,
    eta_x,
    eta_y,
    gamma_v,
    gamma_x,
    gamma_y,
    mu_g,
    psi_gap,
    rho_bar,
    tau_bar,
)
from bounds.statement import Condition, StepProduct, StepRule

PRODUCTS = (
    StepProduct(product=gamma_y, local=gamma_x, outer=c_gamma_y),
    StepProduct(product=gamma_v, local=gamma_x, outer=c_gamma_v),
)
# (38) needs c_gamma_y >= 256*K_1*L_y/mu_g, but K_1 has 1/c_gamma_y: together c_gamma_y^2 >= 256*K_1_NUMERATOR*L_y/mu_g.
RATIOS = (
    StepRule(symbol=c_gamma_y, value=16 * sp.sqrt(K_1_NUMERATOR * L_Y / mu_g), at_least=True),
    StepRule(symbol=c_gamma_v, value=16 * sp.sqrt(K_2_NUMERATOR * L_V / mu_g), at_least=True),
)
RATIOS_REPAIRED = (
    StepRule(symbol=c_gamma_y, value=8 * L_Y * sp.sqrt(K_1_NUMERATOR / mu_g), at_least=True),
    StepRule(symbol=c_gamma_v, value=8 * L_V * sp.sqrt(K_2_NUMERATOR / mu_g), at_least=True),
)

# Each term of the minimum as one over a number, which may be 0 (L_2 = L_3 = 0): then the term is no restriction.
TERMS: dict[str, sp.Expr] = {
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
TERMS_REPAIRED: dict[str, sp.Expr] = {
    "v": 18 * L_1**2 * c_gamma_v / mu_g * (1 + SHARE),
    "Phi": 4 * L_PHI * sp.Max(1, SHARE),
    "y ratio": c_gamma_y * mu_g / 4,
    "v ratio": c_gamma_v * mu_g / 4,
    "y step": 12 * c_gamma_y / mu_g * ((3 * SHARE + 3) * L_1**2 / 24 + 2 * SHARE * beta_gh**2 * L_1**2 + 3 * L_1**2),
    "y remainder": 8 * L_YX * beta_max**2 * SIZE / (c_gamma_y * mu_g),
    "v remainder": 8 * L_VX_REPAIRED * beta_max**2 * SIZE / (c_gamma_v * mu_g),
    "curvature": 8 * CURVATURE_REPAIRED * sp.Max(1, SHARE),
}


def largest(terms: Mapping[str, sp.Expr]) -> sp.Expr:
    """The minimum of one over each of the terms."""
    # SymPy would compare the terms pairwise, for seconds.
    return 1 / sp.Max(*terms.values(), evaluate=False)


def smaller(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    """The minimum of two expressions, left as it is."""
    return sp.Min(one, other, evaluate=False)


ETA_X_2 = 1 / (2 * c_a * alpha_max * L_1**2) / tau_bar
ETA_Y_2 = smaller(1 / (4 * c_a * alpha_max * L_1**2), mu_g**2 / (96 * c_a * alpha_max * L_1**4)) / tau_bar
ETA_X_REPAIRED = 1 / (2 * PATH * L_1)
ETA_Y_REPAIRED = mu_g / (sp.sqrt(192) * PATH * beta_gh * L_1**2)
ETA_V_REPAIRED = 1 / (alpha_max * L_1)


def caps(terms: Mapping[str, sp.Expr]) -> dict[str, Condition]:
    """(39) for every round: rho^(t) is at most 3*rho_bar/2."""
    limit = 2 / (3 * rho_bar)
    return {name: Condition(name=name, left=gamma_x, operator="<=", right=limit / term) for name, term in terms.items()}


TWO_CLIENTS, HETEROGENEITY = {"clients": "n >= 2"}, {"heterogeneity": "beta_gh >= 1"}
ETA_V_CAP = {"eta_v": "eta_v <= ETA_V_REPAIRED"}
LOCAL_CAPS = {"eta_x": "eta_x <= sqrt(ETA_X_2)", "eta_y": "eta_y <= sqrt(ETA_Y_2)"}
LOCAL_CAPS_REPAIRED = {"eta_x": "eta_x <= ETA_X_REPAIRED", "eta_y": "eta_y <= ETA_Y_REPAIRED", **ETA_V_CAP}
THEOREM_CONDITIONS = {**TWO_CLIENTS, **HETEROGENEITY, **caps(TERMS), **LOCAL_CAPS}
THEOREM_CONDITIONS_REPAIRED = {**TWO_CLIENTS, **HETEROGENEITY, **caps(TERMS_REPAIRED), **LOCAL_CAPS_REPAIRED}
LARGEST, LARGEST_REPAIRED = largest(TERMS), largest(TERMS_REPAIRED)
TRIVIAL = smaller(2 * L_PHI * psi_gap, (L_f * (1 + L_1 / mu_g)) ** 2)

# (38) gives gamma_x and the eta as orders; taken here: the constant 1, and less where a condition needs less.
_ORDER_GAMMA, _ORDER_ETA = sp.sqrt(P / (tau_bar * T)), 1 / (tau_bar * sp.sqrt(T))


def _free(symbol: sp.Symbol, value: sp.Expr) -> StepRule:
    return StepRule(symbol=symbol, value=value, at_least=False, free=True)


DEFAULTS = (
    _free(gamma_x, smaller(_ORDER_GAMMA, 2 / (3 * rho_bar) * LARGEST)),
    _free(eta_x, smaller(_ORDER_ETA, sp.sqrt(ETA_X_2))),
    _free(eta_y, smaller(_ORDER_ETA, sp.sqrt(ETA_Y_2))),
    _free(eta_v, _ORDER_ETA),
)
DEFAULTS_REPAIRED = (
    _free(gamma_x, smaller(_ORDER_GAMMA, 2 / (3 * rho_bar) * LARGEST_REPAIRED)),
    _free(eta_x, smaller(_ORDER_ETA, ETA_X_REPAIRED)),
    _free(eta_y, smaller(_ORDER_ETA, ETA_Y_REPAIRED)),
    _free(eta_v, smaller(_ORDER_ETA, ETA_V_REPAIRED)),
)
