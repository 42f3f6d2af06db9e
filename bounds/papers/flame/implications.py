"""Implications of "Personalized Federated Learning via ADMM with Moreau Envelope".

Every form of Theorem 2 telescopes a form of Lemma 1. The proof bounds the gradient by steps of all clients, which are
m/s times those of the selected ones under uniform selection, and at most m/(s*gamma_bar) times those with a skew.
Weights are equal in the printed forms: with others these proofs keep every client's own constants, which Lemma 1 as
stated, with the least favourable of each, no longer has.
"""

from __future__ import annotations

import sympy as sp

from bounds.ledger.implication import Fact, Implication, Use, numbered
from bounds.papers.flame import statements as flame
from bounds.papers.flame.statements import alpha_max, alpha_min, eps_max, gamma_bar, lambda_, m, rho, s

# (43) and (44) per squared step, of theta_i and of w_i alike.
_DUAL = 4 * lambda_**2 * alpha_max**2 * (1 + 1 / rho**2)
_ALL = Fact(
    location="eqs. (42)-(44), with (L + lambda)^2 in (42)",
    quantity=flame.grad_L2,
    bound=m / s * ((flame.THETA_GRADIENT + _DUAL) * flame.dtheta2 + (2 * rho**2 + 2 + _DUAL) * flame.dw2)
    + 2 * m * eps_max,
    steps=numbered("flame/theorem-2-unbiased", 1, 2, 7, 14, 16, 17, 22),
)
_THETA = Fact(
    location="eqs. (42) and (54), with (L + lambda)^2 in (42)",
    quantity=flame.grad_theta2,
    bound=m / (s * gamma_bar) * flame.THETA_GRADIENT * flame.dtheta2 + 2 * m * eps_max,
    steps=numbered("flame/theorem-2-biased", 3, 4, 5, 7, 8),
)

# The same with c_2, which covers what (42) has lost.
# What the conditions say at the least and the largest weight holds at every client's.
_OF_EACH = numbered("flame/lemma-1", 32, 35)
_ALL_REPAIRED = Fact(
    location="eqs. (45) and (47), with (L + lambda)^2 in (42)",
    quantity=flame.grad_L2,
    bound=m / s * flame.C2 * (flame.dtheta2 + flame.dw2) + 2 * m * eps_max,
    steps=(*_OF_EACH, *numbered("flame/theorem-2-unbiased", 1, 2, 7, 14, 22, 34, 35, 36, 41)),
    joined="flame/theorem-2-unbiased-36",
)
_THETA_REPAIRED = Fact(
    location="eqs. (52) and (54), with (L + lambda)^2 in (42)",
    quantity=flame.grad_theta2,
    bound=m / (s * gamma_bar) * flame.C2 * flame.dtheta2 + 2 * m * eps_max,
    # That gamma_bar > 0 is assumed.
    steps=(
        *_OF_EACH,
        *numbered("flame/theorem-2-unbiased", 34, 35),
        *numbered("flame/theorem-2-biased", 4, 5, 7, 8, 15),
    ),
    joined="flame/theorem-2-biased-15",
)
# For every large rho.
_THETA_WIDE = Fact(
    location="eqs. (52) and (54), with (L + lambda)^2 in (42)",
    quantity=flame.grad_theta2,
    bound=m / (s * gamma_bar) * flame.THETA_GRADIENT * flame.dtheta2 + 2 * m * eps_max,
    steps=numbered("flame/theorem-2-biased", 4, 5, 7, 8, 16),
    joined="flame/theorem-2-biased-16",
)
_pairing, _apart = sp.Symbol("pairing", real=True), sp.Symbol("apart", nonnegative=True)
_first = sp.Symbol("L^0", real=True)
_LEMMA_2 = Use(key="flame/lemma-2")
_GAP = Fact(location="the initial gap", quantity=_first, bound=flame.gap + flame.F_star, by_definition=True)
# What the steps of the selected clients gain in a round, with each client's own gains per squared step.
_gained = sp.Symbol("gained", nonnegative=True)


def _theorem(selection: str, suffix: str, remark: str = "") -> Implication:
    return Implication(
        conclusion=f"flame/theorem-2-{selection}{suffix}",
        start=Use(key=f"flame/lemma-1{suffix}"),
        left=(_ALL if selection == "unbiased" else _THETA,),
        telescoped=flame.gap,
        at={alpha_min: alpha_max},
        location="Appendix D, proof of Theorem 2",
        remark=remark,
    )


# What the constants of Lemma 1 are does not matter: c_1 > 0 by flame/lemma-1-35, and q > 0 is a
# condition; for every large rho the gains are positive by flame/lemma-1-40.
_C_1, _C_2, _C_0 = sp.symbols("c_1 c_2 c_0", positive=True)


def _repaired_theorem(selection: str, fact: Fact, form: str, constants: dict[sp.Expr, sp.Expr]) -> Implication:
    return Implication(
        conclusion=f"flame/theorem-2-{selection}{form}-repaired",
        start=Use(key=f"flame/lemma-1{form}-repaired"),
        left=(fact,),
        telescoped=_first - flame.lagrangian,
        ends=(Use(key="flame/lemma-3"), _GAP),
        known=(_LEMMA_2,),
        at=constants,
        location="Appendix D, proof of Theorem 2",
    )


def _lemma_1(form: str, bound: sp.Expr, steps: tuple[str, ...], joined: str) -> Implication:
    return Implication(
        conclusion=f"flame/lemma-1{form}-repaired",
        start=Fact(
            location="eqs. (34) to (39), repaired", quantity=flame.descent, bound=bound, steps=steps, joined=joined
        ),
        known=(_LEMMA_2, Use(key="flame/proposition-2"), Use(key="flame/proposition-3")),
        location="Appendix C, proof of Lemma 1",
    )


_LOST = (
    "Does not follow: where q < 0, c0 is negative, and by the printed Lemma 1 the Lagrangian falls without a step. "
    "Besides, (42) has lost a factor, which c2 does not cover for large L."
)

IMPLICATIONS: tuple[Implication, ...] = (
    Implication(
        conclusion="flame/lemma-3",
        start=Fact(
            location="eq. (30), for any dual variables",
            quantity=-flame.lagrangian,
            bound=-flame.F_star + _pairing,
            steps=numbered("flame/lemma-3", 9),
        ),
        steps=(
            Fact(
                location="eq. (30), by Cauchy and Schwarz",
                quantity=_pairing,
                bound=_apart * flame.dual_residual,
                steps=numbered("flame/lemma-3", 10),
            ),
            _LEMMA_2,
        ),
        location="Appendix A, proof of Lemma 3",
    ),
    _lemma_1(
        "",
        -flame.C1 * (flame.dtheta2 + flame.dw2) + s * flame.C0 * eps_max,
        numbered("flame/lemma-1", *range(6, 26), 27, 32, 33, 34, 35),
        "flame/lemma-1-34",
    ),
    _lemma_1(
        "-wide",
        -flame.THETA_DESCENT * flame.dtheta2 - flame.W_DESCENT * flame.dw2 + s * flame.INNER_COST * eps_max,
        numbered("flame/lemma-1", *range(6, 14), *range(15, 24), *range(36, 41)),
        "flame/lemma-1-39",
    ),
    _theorem("unbiased", "", _LOST),
    _repaired_theorem("unbiased", _ALL_REPAIRED, "", {flame.C1: _C_1, flame.C0: _C_0}),
    Implication(
        conclusion="flame/theorem-2-unbiased-wide-repaired",
        start=Fact(
            location="eqs. (34) to (39), with each client's own gains",
            quantity=flame.descent,
            bound=-_gained + s * flame.INNER_COST * eps_max,
            steps=numbered("flame/lemma-1", *range(6, 14), *range(15, 24), *range(36, 41)),
            joined="flame/lemma-1-39",
        ),
        left=(
            Fact(
                location="eqs. (42) to (44) and (47), by what steps gain",
                quantity=flame.grad_L2,
                bound=m / s * flame.WIDE_RATIO * _gained + 2 * m * eps_max,
                steps=(
                    *numbered("flame/theorem-2-unbiased", 1, 2, 7, 14, 22, 37, 38, 39, 41),
                    *numbered("flame/lemma-1", 38),
                ),
                joined="flame/theorem-2-unbiased-37",
            ),
        ),
        telescoped=_first - flame.lagrangian,
        ends=(Use(key="flame/lemma-3"), _GAP),
        quantities=(_gained,),
        known=(_LEMMA_2, Use(key="flame/proposition-2"), Use(key="flame/proposition-3")),
        at={flame.WIDE_RATIO: _C_1, flame.INNER_COST: _C_0},
        location="Appendix D, proof of Theorem 2",
        remark="From the proof of Lemma 1, since the lemma as stated has the least gain of all clients.",
    ),
    _theorem("biased", "", _LOST),
    _repaired_theorem("biased", _THETA_REPAIRED, "", {flame.C1: _C_1, flame.C0: _C_0}),
    _repaired_theorem(
        "biased", _THETA_WIDE, "-wide", {flame.THETA_DESCENT: _C_1, flame.W_DESCENT: _C_2, flame.INNER_COST: _C_0}
    ),
)

_BY_VECTORS = "compares inner products and norms of vectors, not numbers: eqs. (35)-(39)"
_BEHIND = "enters through eqs. (42)-(44) and through gap >= E[L^0 - L^T], which the argument takes for granted"

AUDITED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("flame/lemma-1", ("flame/lemma-2", "flame/proposition-2", "flame/proposition-3"), _BY_VECTORS),
    *((f"flame/theorem-2-{form}", ("flame/lemma-2", "flame/lemma-3"), _BEHIND) for form in ("unbiased", "biased")),
)
