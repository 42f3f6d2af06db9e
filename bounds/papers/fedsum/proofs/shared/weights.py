"""Lemmas D.4 and E.4 where tau_max >= 1: other weights in eqs. (44) and (80) leave the printed constants as they are.

What the repaired proof adds, an F_0 term in the drift, then fits into the printed one.
"""

from __future__ import annotations

from bounds.ledger.proof import Proof, at_most, gram
from bounds.ledger.step import Step, below, equal
from bounds.ledger.vectors import square
from bounds.papers.fedsum.proofs.shared.drift import DRIFT_CAP, MENDED_DRIFT, m
from bounds.papers.fedsum.proofs.shared.local import F, LocalVariant, P, Q, Z, far, unseen
from bounds.papers.fedsum.proofs.shared.terms import SOMEBODY_AWAY, D, Gamma, X, tau
from bounds.papers.fedsum.symbols import AVERAGE, F_0, K, L, N, T, eta, eta_l, sigma, tau_avg


def as_printed(part: Proof, case: LocalVariant) -> tuple[Step, ...]:
    """Lemma D.4 as printed, where tau_max >= 1, by other weights in eq. (44); Lemma E.4 without one tau_max."""
    begin, rearranged = case.eq(0), "eq. (96)" if case.letter == "e" else "eq. (60)"
    far_terms = 6 * eta**2 * K**3 * N * tau * tau_avg * T * sigma**2 * L**2 + 6 * eta**2 * K**2 * tau**2 * L**2 * Gamma
    right = 3 * K**2 * N**2 * tau * F_0 + 8 * eta**2 * K**3 * N * tau * AVERAGE * T * sigma**2 * L**2
    right += 150 * eta_l**2 * N * K**3 * T * sigma**2 * L**2
    right += (10 * eta**2 * tau**2 + 24 * eta_l**2 * tau) * K**2 * L**2 * Gamma
    return (
        part(
            f"not printed: {begin} with other weights",
            "||K sum_i grad f_i(x^t) - sum_{i in A_t} sum_k grad f_i(x_i^{a,k})||^2"
            " <= 3 K^2 ||sum_i [grad f_i(x^t) - grad f_i(x^a)]||^2"
            " + 6 ||sum_{i in A_t} [K grad f_i(x^a) - sum_k grad f_i(x_i^{a,k})]||^2 + 2 K^2 ||sum_{i not in A_t}"
            " grad f_i(x^0)||^2",
            gram(square(K * F - Q), 3 * K**2 * square(F - P - Z) + 6 * square(K * P - Q) + 2 * K**2 * square(Z)),
            remark=f"As in {begin}; 1/3 + 1/6 + 1/2 = 1.",
        ),
        part(
            "not printed: the lemma with the printed constants, tau_max >= 1",
            "D <= 3 K^2 N^2 tau_max F_0 + 8 (eta_g eta_l)^2 K^3 N tau_max max{1, tau_avg} T sigma^2 L^2"
            " + 150 eta_l^2 N K^3 T sigma^2 L^2 + (10 (eta_g eta_l tau_max K L)^2 + 24 eta_l^2 K^2 tau_max L^2) Gamma"
            " for eta_l <= 1/(10 sqrt(tau_max) K L)",
            at_most(
                D,
                right,
                equal(D, far + 6 * N * K * L**2 * X + unseen),
                below(far, far_terms),
                below(unseen, 2 * K**2 * N**2 * tau * F_0),
                below(X, MENDED_DRIFT.subs(m, tau), f"the repaired {rearranged}"),
                DRIFT_CAP,
                SOMEBODY_AWAY,
            ),
            remark=f"From the repaired {rearranged} with the weights before: the F_0 term that the proof loses fits"
            " into 3 K^2 N^2 tau_max F_0."
            + (" The lemma prints one tau_max more, with the noise of the drift." if case.letter == "e" else ""),
        ),
    )
