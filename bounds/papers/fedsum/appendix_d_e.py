"""Appendices D and E of the FedSUM paper: FedSUM and FedSUM-CR."""

from __future__ import annotations

import sympy as sp

from bounds.papers.fedsum.building import (
    AVERAGE,
    DELAYED,
    MEAN_GRADIENT,
    NO_ZERO,
    ONE,
    WITH_MAX,
    M,
    at_most,
    make_statement,
    movement,
    noise_inner,
    rate_terms,
    unified_rules,
    whole_run,
    windows,
)
from bounds.papers.fedsum.symbols import (
    F_0,
    Delta_f,
    K,
    L,
    N,
    T,
    eta,
    eta_l,
    local_aggregate_sum,
    local_aggregate_sum_T,
    local_delayed_window_sum,
    local_noise_inner_sum,
    local_stale_sum,
    local_window_sum,
    sigma,
    tau_max,
)
from bounds.statement import (
    Condition,
    Statement,
)


def _staleness(delay: sp.Expr, first: sp.Expr, noise: sp.Expr) -> dict[str, sp.Expr]:
    """Right side of Lemmas D.4 and E.4; ``first`` and ``noise`` multiply what the printed forms disagree about."""
    return {
        "first gradients": sp.expand(first * K**2 * N**2) * F_0,
        "delay noise": 8 * eta**2 * K**3 * N * delay * AVERAGE * T * sigma**2 * L**2,
        "drift noise": 150 * eta_l**2 * N * K**3 * noise * T * sigma**2 * L**2,
        "delay gradients": 10 * eta**2 * delay**2 * K**2 * L**2 * local_aggregate_sum,
        "drift gradients": 24 * eta_l**2 * K**2 * delay * L**2 * local_aggregate_sum,
    }


def _local_cap(delay: sp.Expr) -> Condition:
    return at_most("eta_l", eta_l, 1 / (10 * sp.sqrt(delay) * K * L))


def _caps(delay: sp.Expr) -> tuple[Condition, ...]:
    return (_local_cap(delay), at_most("eta", eta, 1 / (10 * delay * K * L)))


_LOST = (
    "The proof takes h_i = 0 of a client's first participation for a gradient at x^0 (eqs. (40) and (49) in Appendix "
    "D, (78) and (85) in E), which loses an F_0 term in eqs. (59) and (95), and takes tau_max for the at most "
    "tau_max + 1 rounds between two participations."
)
_FALSE_AT_0 = (
    "tau_max >= 1 is not printed. At tau_max = 0, N = 1, K = 2, T = 1, f = x^2/2, x^0 = 1, sigma = 0 the left side is "
    "eta_l^2 and the right side 0."
)
_ADDED = (
    "With max{1, tau_max} in place of tau_max except beside F_0, and K^2*F_0/5 added, which covers the F_0 term that "
    "eqs. (59) and (95) lose."
)
# F_0's factor over K^2*N^2, or over 1/T: what the printed lemmas have, and the term that their proofs lose.
FIRST, ADDED = 3 * tau_max, 1 / (5 * N**2)

LEMMA_D_1 = movement("Lemma D.1", "fedsum", local_aggregate_sum, "Appendix D")
LEMMA_D_2 = windows("Lemma D.2", "fedsum", local_window_sum, local_aggregate_sum, 1, (), "Appendix D")
COROLLARY_D_3 = windows(
    "Corollary D.3", "fedsum", local_delayed_window_sum, local_aggregate_sum, 2, ("lemma-d.2",), "Appendix D"
)

LEMMA_D_4 = make_statement(
    "Lemma D.4",
    "Staleness and drift of FedSUM",
    "Appendix D",
    whole_run(local_stale_sum),
    _staleness(tau_max, FIRST, ONE),
    algorithm="fedsum",
    conditions=(_local_cap(tau_max), DELAYED),
    follows_from=("lemma-b.1", "lemma-d.2", "corollary-d.3"),
    remark=f"{_LOST} {_FALSE_AT_0}",
)

LEMMA_D_4_REPAIRED = make_statement(
    "Lemma D.4",
    "Staleness and drift of FedSUM",
    "Appendix D",
    whole_run(local_stale_sum),
    _staleness(M, FIRST + ADDED, ONE),
    algorithm="fedsum",
    conditions=(_local_cap(M),),
    follows_from=("lemma-b.1", "lemma-d.2", "corollary-d.3"),
    remark=_ADDED,
    repaired=True,
)

LEMMA_D_5 = noise_inner(
    "Lemma D.5",
    "fedsum",
    local_noise_inner_sum,
    local_aggregate_sum_T,
    ("lemma-b.1", "lemma-d.2"),
    "Appendix D",
)
LEMMA_D_5_REPAIRED = noise_inner(
    "Lemma D.5",
    "fedsum",
    local_noise_inner_sum,
    local_aggregate_sum,
    ("lemma-b.1", "lemma-d.2"),
    "Appendix D, eq. (66)",
    repaired=True,
)


def _local_rate(first: sp.Expr) -> dict[str, sp.Expr]:
    return {
        "initial gap": 2 * Delta_f / (eta * K * T),
        "noise": 9 * eta * AVERAGE * sigma**2 * L / N,
        "first gradients": first * F_0 / T,
        "drift noise": 150 * eta_l**2 * K * sigma**2 * L**2 / N,
    }


def _last_lemma(number: str, title: str, location: str, algorithm: str, letter: str, more: str) -> Statement:
    return make_statement(
        number,
        title,
        location,
        MEAN_GRADIENT,
        _local_rate(FIRST),
        algorithm=algorithm,
        conditions=(*_caps(tau_max), DELAYED),
        follows_from=(f"lemma-{letter}.1", f"lemma-{letter}.4", f"lemma-{letter}.5-repaired"),
        remark=(
            f"{more} tau_max >= 1 is not printed: at tau_max = 0 both caps disappear, and with caps at 1/(10*K*L) the "
            "F_0 term is missed: N = K = T = 2, f_1 = x + x^2/2, f_2 = -x, x^0 = 0, sigma = 0 has a positive left side "
            "and, as Delta_f -> 0, nothing on the right."
        ),
    )


def _last_lemma_repaired(number: str, title: str, location: str, algorithm: str, letter: str, more: str) -> Statement:
    return make_statement(
        number,
        title,
        location,
        MEAN_GRADIENT,
        _local_rate(FIRST + ADDED),
        algorithm=algorithm,
        conditions=_caps(M),
        follows_from=(f"lemma-{letter}.1", f"lemma-{letter}.4-repaired", f"lemma-{letter}.5-repaired"),
        remark=(
            "With max{1, tau_max} in the caps, and F_0/(5*N^2*T) added for the F_0 term that the proof loses." + more
        ),
        repaired=True,
    )


def _theorem(number: str, title: str, location: str, algorithm: str, letter: str) -> tuple[Statement, Statement]:
    """Theorems D.1 and E.1 and their repaired forms."""
    magnified = "The proof ends with 26 in place of 30; 24 follows from the same lemma."
    return (
        make_statement(
            number,
            title,
            location,
            MEAN_GRADIENT,
            rate_terms(AVERAGE, tau_max),
            algorithm=algorithm,
            conditions=(DELAYED,),
            step_rules=unified_rules(tau_max),
            follows_from=(f"lemma-{letter}.6",),
            remark=f"{magnified} {NO_ZERO}",
        ),
        make_statement(
            number,
            title,
            location,
            MEAN_GRADIENT,
            rate_terms(AVERAGE, M),
            algorithm=algorithm,
            step_rules=unified_rules(M),
            follows_from=(f"lemma-{letter}.6-repaired",),
            remark=f"{WITH_MAX} {magnified}",
            repaired=True,
        ),
    )


_SLIP_71 = "Eq. (71) has 1 - eta*K*L where Lemma D.1 gives 1 - 2*eta*K*L; eq. (74) has room for that. Uses Lemma D.4."
LEMMA_D_6 = _last_lemma("Lemma D.6", "FedSUM, any step size", "Appendix D", "fedsum", "d", _SLIP_71)
LEMMA_D_6_REPAIRED = _last_lemma_repaired("Lemma D.6", "FedSUM, any step size", "Appendix D", "fedsum", "d", "")
THEOREM_D_1, THEOREM_D_1_REPAIRED = _theorem("Theorem D.1", "FedSUM, tuned", "Appendix D", "fedsum", "d")

LEMMA_E_1 = movement("Lemma E.1", "fedsum-cr", local_aggregate_sum, "Appendix E")
LEMMA_E_2 = windows("Lemma E.2", "fedsum-cr", local_window_sum, local_aggregate_sum, 1, (), "Appendix E")
COROLLARY_E_3 = windows(
    "Corollary E.3", "fedsum-cr", local_delayed_window_sum, local_aggregate_sum, 2, ("lemma-e.2",), "Appendix E"
)

LEMMA_E_4 = make_statement(
    "Lemma E.4",
    "Staleness and drift of FedSUM-CR",
    "Appendix E",
    whole_run(local_stale_sum),
    _staleness(tau_max, FIRST, tau_max),
    algorithm="fedsum-cr",
    conditions=(_local_cap(tau_max), DELAYED),
    follows_from=("lemma-b.1", "lemma-e.2", "corollary-e.3"),
    remark=(
        "tau_max stands in the drift's noise, where Lemma D.4 has none and none is needed: eq. (95) has none, eq. (96) "
        "has it. In the drift's gradients, eqs. (95) to (98) have tau_max^2 where the lemma and eq. (94) have tau_max. "
        f"{_LOST} {_FALSE_AT_0}"
    ),
)

LEMMA_E_4_REPAIRED = make_statement(
    "Lemma E.4",
    "Staleness and drift of FedSUM-CR",
    "Appendix E",
    whole_run(local_stale_sum),
    _staleness(M, FIRST + ADDED, ONE),
    algorithm="fedsum-cr",
    conditions=(_local_cap(M),),
    follows_from=("lemma-b.1", "lemma-e.2", "corollary-e.3"),
    remark=f"The same bound as the repaired Lemma D.4: no tau_max in the drift's noise. {_ADDED}",
    repaired=True,
)

LEMMA_E_5 = noise_inner(
    "Lemma E.5",
    "fedsum-cr",
    local_noise_inner_sum,
    local_aggregate_sum_T,
    ("lemma-b.1", "lemma-e.2"),
    "Appendix E",
)
LEMMA_E_5_REPAIRED = noise_inner(
    "Lemma E.5",
    "fedsum-cr",
    local_noise_inner_sum,
    local_aggregate_sum,
    ("lemma-b.1", "lemma-e.2"),
    "Appendix E",
    repaired=True,
)

LEMMA_E_6 = _last_lemma(
    "Lemma E.6",
    "FedSUM-CR, any step size",
    "Appendix E",
    "fedsum-cr",
    "e",
    "Does not follow from Lemma E.4 as printed, which would give 150*eta_l^2*K*tau_max*sigma^2*L^2/N; the tau_max is "
    "lost between eqs. (105) and (107). Eq. (106) has tau_max^2, which eta_l <= 1/(10*sqrt(tau_max)*K*L) does not "
    "control.",
)
LEMMA_E_6_REPAIRED = _last_lemma_repaired(
    "Lemma E.6",
    "FedSUM-CR, any step size",
    "Appendix E",
    "fedsum-cr",
    "e",
    " Follows from the repaired Lemma E.4, whose drift noise has no tau_max.",
)
THEOREM_E_1, THEOREM_E_1_REPAIRED = _theorem("Theorem E.1", "FedSUM-CR, tuned", "Appendix E", "fedsum-cr", "e")
