"""What follows from what in "Personalized Federated Learning via ADMM with Moreau Envelope".

Every form of Theorem 2 telescopes a form of Lemma 1. The proof bounds the gradient by steps of all clients, which are
m/s times those of the selected ones under uniform selection, and at most m/(s*gamma_bar) times those with a skew.
The weights are equal here: with others the proof keeps every client's own constants, which Lemma 1 as stated, with the
least favourable of each, no longer has.
"""

from __future__ import annotations

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


_LOST = (
    "Does not follow: where q < 0, c0 is negative, and by the printed Lemma 1 the Lagrangian falls without a step. "
    "Besides, (42) has lost a factor, which c2 does not cover for large L."
)

IMPLICATIONS: tuple[Implication, ...] = (
    _theorem("unbiased", "", _LOST),
    _theorem("unbiased", "-repaired"),
    _theorem("unbiased", "-wide-repaired"),
    _theorem("biased", "", _LOST),
    _theorem("biased", "-repaired"),
    _theorem("biased", "-wide-repaired"),
)

_BY_VECTORS = "compares inner products and norms of vectors, not numbers: eqs. (35)-(39)"
_BEHIND = "enters through eqs. (42)-(44) and through gap >= E[L^0 - L^T], which the argument takes for granted"

AUDITED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    *(
        (f"flame/lemma-1{suffix}", ("flame/lemma-2", "flame/proposition-2", "flame/proposition-3"), _BY_VECTORS)
        for suffix in ("", "-repaired", "-wide-repaired")
    ),
    *(
        (f"flame/theorem-2-{selection}{suffix}", ("flame/lemma-2", "flame/lemma-3"), _BEHIND)
        for selection in ("unbiased", "biased")
        for suffix in ("", "-repaired", "-wide-repaired")
    ),
    ("flame/lemma-3", ("flame/lemma-2",), "completes a square of vectors"),
)
