"""Appendices D and E of the FedSUM paper: FedSUM and FedSUM-CR."""

from __future__ import annotations

from functools import partial

from bounds.papers.fedsum.building import (
    DELAYED,
    NO_ZERO,
    WITH_MAX,
    first_lemmas,
    mean_gradient,
    noise_inner,
    rate,
    statement,
    unified_rules,
    whole_run,
)
from bounds.statement import Claim, Statement


def _staleness(delay: str, first: str, noise: str) -> Claim:
    """Lemmas D.4 and E.4; ``first`` and ``noise`` multiply what the printed forms disagree about."""
    return whole_run(
        "local_stale_sum",
        {
            "first gradients": f"({first})*F_0",
            "delay noise": f"8*eta**2*K**3*N*{delay}*AVERAGE*T*sigma**2*L**2",
            "drift noise": f"150*eta_l**2*N*K**3*{noise}*T*sigma**2*L**2",
            "delay gradients": f"10*eta**2*{delay}**2*K**2*L**2*local_aggregate_sum",
            "drift gradients": f"24*eta_l**2*K**2*{delay}*L**2*local_aggregate_sum",
        },
    )


def _rate(first: str) -> Claim:
    return mean_gradient(
        {
            "initial gap": "2*Delta_f/(eta*K*T)",
            "noise": "9*eta*AVERAGE*sigma**2*L/N",
            "first gradients": f"({first})*F_0/T",
            "drift noise": "150*eta_l**2*K*sigma**2*L**2/N",
        }
    )


def _local_cap(delay: str) -> dict[str, str]:
    return {"eta_l": f"eta_l <= 1/(10*sqrt({delay})*K*L)"}


def _caps(delay: str) -> dict[str, str]:
    return {**_local_cap(delay), "eta": f"eta <= 1/(10*{delay}*K*L)"}


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
_MISSED = (
    "tau_max >= 1 is not printed: at tau_max = 0 both caps disappear, and with caps at 1/(10*K*L) the F_0 term is "
    "missed: N = K = T = 2, f_1 = x + x^2/2, f_2 = -x, x^0 = 0, sigma = 0 has a positive left side and, as Delta_f -> "
    "0, nothing on the right."
)
_MENDED = "With max{1, tau_max} in the caps, and F_0/(5*N^2*T) added for the F_0 term that the proof loses."
_MAGNIFIED = "The proof ends with 26 in place of 30; 24 follows from the same lemma."


def _appendix(
    letter: str, name: str, *, noise: str, location_5: str, remarks_4: tuple[str, str], remarks_6: tuple[str, str]
) -> tuple[Statement, ...]:
    """The statements of an appendix; remarks are on the printed and the repaired form of Lemmas 4 and 6."""
    low, location, algorithm = letter.lower(), f"Appendix {letter}", name.lower()
    own = partial(statement, algorithm=algorithm)
    lemma_4 = partial(
        own,
        f"Lemma {letter}.4",
        f"Staleness and drift of {name}",
        location,
        follows_from=("lemma-b.1", f"lemma-{low}.2", f"corollary-{low}.3"),
    )
    lemma_6 = partial(own, f"Lemma {letter}.6", f"{name}, any step size", location)
    theorem = partial(own, f"Theorem {letter}.1", f"{name}, tuned", location)
    return (
        *first_lemmas(letter, algorithm, "local_", ""),
        lemma_4(
            _staleness("tau_max", "3*K**2*N**2*tau_max", noise),
            conditions={**_local_cap("tau_max"), **DELAYED},
            remark=remarks_4[0],
        ),
        lemma_4(
            _staleness("M", "3*K**2*N**2*tau_max + K**2/5", "1"),
            conditions=_local_cap("M"),
            remark=remarks_4[1],
            repaired=True,
        ),
        *noise_inner(letter, algorithm, "local_", "", location_5),
        lemma_6(
            _rate("3*tau_max"),
            conditions={**_caps("tau_max"), **DELAYED},
            follows_from=(f"lemma-{low}.1", f"lemma-{low}.4", f"lemma-{low}.5-repaired"),
            remark=remarks_6[0],
        ),
        lemma_6(
            _rate("3*tau_max + 1/(5*N**2)"),
            conditions=_caps("M"),
            follows_from=(f"lemma-{low}.1", f"lemma-{low}.4-repaired", f"lemma-{low}.5-repaired"),
            remark=remarks_6[1],
            repaired=True,
        ),
        theorem(
            rate("AVERAGE", "tau_max"),
            conditions=DELAYED,
            step_rules=unified_rules("tau_max"),
            follows_from=(f"lemma-{low}.6",),
            remark=f"{_MAGNIFIED} {NO_ZERO}",
        ),
        theorem(
            rate("AVERAGE", "M"),
            step_rules=unified_rules("M"),
            follows_from=(f"lemma-{low}.6-repaired",),
            remark=f"{WITH_MAX} {_MAGNIFIED}",
            repaired=True,
        ),
    )


STATEMENTS: tuple[Statement, ...] = (
    *_appendix(
        "D",
        "FedSUM",
        noise="1",
        location_5="Appendix D, eq. (66)",
        remarks_4=(f"{_LOST} {_FALSE_AT_0}", _ADDED),
        remarks_6=(
            (
                "Eq. (71) has 1 - eta*K*L where Lemma D.1 gives 1 - 2*eta*K*L; eq. (74) has slack for that. Uses Lemma "
                f"D.4. {_MISSED}"
            ),
            _MENDED,
        ),
    ),
    *_appendix(
        "E",
        "FedSUM-CR",
        noise="tau_max",
        location_5="Appendix E",
        remarks_4=(
            (
                "tau_max stands in the drift's noise, where Lemma D.4 has none and none is needed: eq. (95) has none, "
                "eq. (96) has it. In the drift's gradients, eqs. (95) to (98) have tau_max^2 where the lemma and eq. "
                f"(94) have tau_max. {_LOST} {_FALSE_AT_0}"
            ),
            f"The same bound as the repaired Lemma D.4: no tau_max in the drift's noise. {_ADDED}",
        ),
        remarks_6=(
            (
                "Does not follow from Lemma E.4 as printed, which would give 150*eta_l^2*K*tau_max*sigma^2*L^2/N; the "
                "tau_max is lost between eqs. (105) and (107). Eq. (106) has tau_max^2, which eta_l <= "
                f"1/(10*sqrt(tau_max)*K*L) does not control. {_MISSED}"
            ),
            f"{_MENDED} Follows from the repaired Lemma E.4, whose drift noise has no tau_max.",
        ),
    ),
)
