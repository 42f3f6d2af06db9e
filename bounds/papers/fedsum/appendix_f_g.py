"""Appendices F and G of the FedSUM paper: the delays of participation patterns, and the rates with them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bounds.papers.fedsum.building import (
    ALL_THREE,
    DELAYED,
    DRAWN,
    NO_ZERO,
    SOME_AWAY,
    WITH_MAX,
    mean_gradient,
    rate,
    statement,
    unified_rules,
    whole_run,
)
from bounds.statement import Assumption, Statement

# --- Appendix F: delays of the participation patterns ---

_CASES = {
    1: Assumption.UNIFORM_SUBSETS,
    2: Assumption.INDEPENDENT_PARTICIPATION,
    3: Assumption.RESHUFFLED_BLOCKS,
    4: Assumption.CYCLIC_BLOCKS,
}
_PROBABILITY = {"probability": "delta <= 1"}
_SWAPPED = (
    "Section 2.1 calls reshuffled participation Case 4 and deterministic participation Case 3; here it is the reverse."
)
_LATER = "max(log(N*T), log(1/delta))"


def _delay(
    case: int, title: str, bound: str, remark: str, conditions: Mapping[str, str] | None = None, latex: str = ""
) -> Statement:
    return statement(
        f"Lemma F.{case}",
        f"Maximum delay, {title}",
        "Appendix F",
        whole_run("E_tau_max", {"delay": bound}, latex=latex),
        algorithm=None,
        assumptions=(_CASES[case],),
        conditions=conditions or {},
        remark=remark,
    )


_DELAYS = (
    _delay(
        1, "uniform sampling", "4*N/S*log(N*T)", "The proof's union bound has T rounds; 0 ... T are T + 1.", SOME_AWAY
    ),
    _delay(
        2,
        "independent participation",
        f"4/delta*{_LATER}",
        "The lemma has probabilities fixed over time, Case 2 of Section 2.1 does not; the proof covers both. Its last "
        "step, 2 <= (2/delta)*max{...}, can fail for N*T <= 2, where the claim holds nevertheless.",
        _PROBABILITY,
    ),
    _delay(
        3,
        "reshuffled cyclic participation",
        "4*N/S",
        f"{_SWAPPED} Holds in every run if an epoch lasts ceil(N/S) rounds; with the proof's floor(N/S) rounds a "
        "client may be left out of an epoch, and no such bound holds unless S divides N.",
    ),
    _delay(
        4,
        "deterministic cyclic participation",
        "2*N/S",
        f"{_SWAPPED} Holds in every run, which is always the same one, so that E[tau_max] is tau_max. N/S would do.",
        latex=r"\tau_{\max}",
    ),
)

# --- Appendix G ---

_theorem = partial(
    statement, "Theorem G.1", "FedSUM family, any participation, sharper", "Appendix G, eq. (113)", algorithm="fedsum"
)
_corollary = partial(statement, "Corollary G.1", algorithm="fedsum")
_TUNED = (
    "The step sizes, which the corollary calls appropriate, are those of the repaired Theorem G.1 for the "
    "participation that is drawn."
)
_NOT_FROM_4_1 = (
    "Said to follow from Corollary 4.1, whose 1 + E[tau_avg] gives more than 60; it follows from Theorem G.1, as "
    "max{1, tau_avg} <= max{1, tau_max}."
)


def _case(case: int, title: str, noise: str, delay: str, remark: str, **fields: Any) -> Statement:
    """``noise`` multiplies 60*sqrt(L*Delta_f)*sigma/sqrt(K*T), ``delay`` multiplies 80*(L*Delta_f + F_0)/T."""
    return _corollary(
        f"FedSUM family, {title}",
        "Appendix G",
        mean_gradient(
            {
                "noise": f"60*sqrt(L*sigma**2*Delta_f/(K*T))*({noise})",
                "initial gap": f"80*L*Delta_f*({delay})/T",
                "first gradients": f"80*F_0*({delay})/T",
            }
        ),
        assumptions=(*DRAWN, _CASES[case]),
        follows_from=("theorem-g.1-repaired", f"lemma-f.{case}"),
        remark=f"In expectation over the participation. {_TUNED} {ALL_THREE} {remark}",
        part=f"Case {case}",
        **fields,
    )


STATEMENTS: tuple[Statement, ...] = (
    *_DELAYS,
    _theorem(
        rate("AVERAGE", "tau_max"),
        conditions=DELAYED,
        step_rules=unified_rules("tau_max"),
        follows_from=("theorem-c.1", "theorem-d.1", "theorem-e.1"),
        remark=f"For every participation by itself. {ALL_THREE} {NO_ZERO}",
    ),
    _theorem(
        rate("AVERAGE", "M"),
        step_rules=unified_rules("M"),
        follows_from=("theorem-c.1-repaired", "theorem-d.1-repaired", "theorem-e.1-repaired"),
        remark=f"For every participation by itself. {ALL_THREE} {WITH_MAX}",
        repaired=True,
    ),
    _case(
        1,
        "uniform sampling",
        "sqrt(log(N*T)/S)",
        "N*log(N*T)/S",
        f"{_NOT_FROM_4_1} S < N, of Lemma F.1, is not repeated in the corollary; at S = N = T = 1 the right side is 0.",
        conditions=SOME_AWAY,
    ),
    _case(
        2,
        "independent participation",
        f"{_LATER}/sqrt(delta*N)",
        f"{_LATER}/delta",
        "The maximum stands outside the root of the noise term; Lemma F.2 puts it inside. False for N = T = 1 and "
        "delta near 1, as the maximum of the logarithms is then near 0: at delta = 1 the right side is 0.",
        conditions=_PROBABILITY,
    ),
    _corollary(
        "FedSUM family, independent participation",
        "Appendix G",
        rate(f"1 + 4/delta*{_LATER}", f"1 + 4/delta*{_LATER}"),
        assumptions=(*DRAWN, _CASES[2]),
        conditions=_PROBABILITY,
        follows_from=("corollary-4.1-repaired", "lemma-f.2"),
        remark="In expectation over the participation; step sizes as in the repaired Theorem 4.1 for the participation "
        f"that is drawn. {ALL_THREE} The bound of Lemma F.2 put into the repaired Corollary 4.1: the maximum stands "
        "under the root, and 1 + E[tau_max] covers runs with tau_max = 0.",
        part="Case 2",
        repaired=True,
    ),
    _case(3, "reshuffled cyclic participation", "1/sqrt(S)", "N/S", f"{_NOT_FROM_4_1} {_SWAPPED}"),
    _case(
        4,
        "deterministic cyclic participation",
        "1/sqrt(S)",
        "N/S",
        f"{_SWAPPED} Lemma F.4 would give 42.5 and 40 in place of 60 and 80.",
    ),
)
