"""Appendices F and G of the FedSUM paper: the delays of participation patterns, and the rates with them."""

from __future__ import annotations

import sympy as sp

from bounds.papers.fedsum.building import (
    ALL_THREE,
    AVERAGE,
    DELAYED,
    DRAWN,
    MEAN_GRADIENT,
    NO_ZERO,
    ONE,
    SOME_AWAY,
    WITH_MAX,
    M,
    at_most,
    make_statement,
    rate_terms,
    unified_rules,
    whole_run,
)
from bounds.papers.fedsum.symbols import F_0, Delta_f, E_tau_max, K, L, N, S, T, delta, sigma, tau_max
from bounds.statement import (
    Assumption,
    Condition,
    Metric,
    Statement,
)

# --- Appendix F: delays of the participation patterns ---

_CASES = {
    1: Assumption.UNIFORM_SUBSETS,
    2: Assumption.INDEPENDENT_PARTICIPATION,
    3: Assumption.RESHUFFLED_BLOCKS,
    4: Assumption.CYCLIC_BLOCKS,
}
_PROBABILITY = at_most("probability", delta, ONE)
_SWAPPED = (
    "Section 2.1 calls reshuffled participation Case 4 and deterministic participation Case 3; here it is the reverse."
)
_LATER = sp.Max(sp.log(N * T), sp.log(1 / delta))
_DELAY_2 = 4 / delta * _LATER


def _delay(
    case: int, title: str, bound: sp.Expr, remark: str, conditions: tuple[Condition, ...] = (), latex: str = ""
) -> Statement:
    metric = whole_run(E_tau_max)
    if latex:
        metric = Metric(latex=latex, weights=metric.weights, over=metric.over, trivial=None)
    return make_statement(
        f"Lemma F.{case}",
        title,
        "Appendix F",
        metric,
        {"delay": bound},
        algorithm=None,
        assumptions=(_CASES[case],),
        conditions=conditions,
        remark=remark,
    )


LEMMA_F_1 = _delay(
    1,
    "Maximum delay, uniform sampling",
    4 * N / S * sp.log(N * T),
    "The proof's union bound has T rounds; 0 ... T are T + 1.",
    (SOME_AWAY,),
)
LEMMA_F_2 = _delay(
    2,
    "Maximum delay, independent participation",
    _DELAY_2,
    "The lemma has probabilities fixed over time, Case 2 of Section 2.1 does not; the proof covers both. Its last "
    "step, 2 <= (2/delta)*max{...}, can fail for N*T <= 2, where the claim holds nevertheless.",
    (_PROBABILITY,),
)
LEMMA_F_3 = _delay(
    3,
    "Maximum delay, reshuffled cyclic participation",
    4 * N / S,
    f"{_SWAPPED} Holds in every run if an epoch lasts ceil(N/S) rounds; with the proof's floor(N/S) rounds a client "
    "may be left out of an epoch, and no such bound holds unless S divides N.",
)
LEMMA_F_4 = _delay(
    4,
    "Maximum delay, deterministic cyclic participation",
    2 * N / S,
    f"{_SWAPPED} Holds in every run, which is always the same one, so that E[tau_max] is tau_max. N/S would do.",
    latex=r"\tau_{\max}",
)

# --- Appendix G ---

THEOREM_G_1 = make_statement(
    "Theorem G.1",
    "FedSUM family, any participation, sharper",
    "Appendix G, eq. (113)",
    MEAN_GRADIENT,
    rate_terms(AVERAGE, tau_max),
    algorithm="fedsum",
    conditions=(DELAYED,),
    step_rules=unified_rules(tau_max),
    follows_from=("theorem-c.1", "theorem-d.1", "theorem-e.1"),
    remark=f"For every participation by itself. {ALL_THREE} {NO_ZERO}",
)

THEOREM_G_1_REPAIRED = make_statement(
    "Theorem G.1",
    "FedSUM family, any participation, sharper",
    "Appendix G, eq. (113)",
    MEAN_GRADIENT,
    rate_terms(AVERAGE, M),
    algorithm="fedsum",
    step_rules=unified_rules(M),
    follows_from=("theorem-c.1-repaired", "theorem-d.1-repaired", "theorem-e.1-repaired"),
    remark=f"For every participation by itself. {ALL_THREE} {WITH_MAX}",
    repaired=True,
)


def _case(
    case: int,
    title: str,
    noise: sp.Expr,
    delay: sp.Expr,
    remark: str,
    conditions: tuple[Condition, ...] = (),
) -> Statement:
    """``noise`` multiplies 60*sqrt(L*Delta_f)*sigma/sqrt(K*T), ``delay`` multiplies 80*(L*Delta_f + F_0)/T."""
    return make_statement(
        "Corollary G.1",
        title,
        "Appendix G",
        MEAN_GRADIENT,
        {
            "noise": 60 * sp.sqrt(L * sigma**2 * Delta_f / (K * T)) * noise,
            "initial gap": 80 * L * Delta_f * delay / T,
            "first gradients": 80 * F_0 * delay / T,
        },
        algorithm="fedsum",
        assumptions=(*DRAWN, _CASES[case]),
        conditions=conditions,
        follows_from=("theorem-g.1-repaired", f"lemma-f.{case}"),
        remark=f"In expectation over the participation. {_TUNED} {ALL_THREE} {remark}",
        part=f"Case {case}",
    )


_TUNED = (
    "The step sizes, which the corollary calls appropriate, are those of the repaired Theorem G.1 for the "
    "participation that is drawn."
)
_NOT_FROM_4_1 = (
    "Said to follow from Corollary 4.1, whose 1 + E[tau_avg] gives more than 60; it follows from Theorem G.1, as "
    "max{1, tau_avg} <= max{1, tau_max}."
)

_CASE_2_REPAIRED = make_statement(
    "Corollary G.1",
    "FedSUM family, independent participation",
    "Appendix G",
    MEAN_GRADIENT,
    {
        "noise": 30 * sp.sqrt((1 + _DELAY_2) * L * sigma**2 * Delta_f / (N * K * T)),
        "initial gap": 20 * (1 + _DELAY_2) * L * Delta_f / T,
        "first gradients": 20 * (1 + _DELAY_2) * F_0 / T,
    },
    algorithm="fedsum",
    assumptions=(*DRAWN, _CASES[2]),
    conditions=(_PROBABILITY,),
    follows_from=("corollary-4.1-repaired", "lemma-f.2"),
    remark=(
        "In expectation over the participation; step sizes as in the repaired Theorem 4.1 for the participation that "
        f"is drawn. {ALL_THREE} The bound of Lemma F.2 put into the repaired Corollary 4.1: the maximum stands under "
        "the root, and 1 + E[tau_max] covers runs with tau_max = 0."
    ),
    part="Case 2",
    repaired=True,
)

CASES = (
    _case(
        1,
        "FedSUM family, uniform sampling",
        sp.sqrt(sp.log(N * T) / S),
        N * sp.log(N * T) / S,
        f"{_NOT_FROM_4_1} S < N, of Lemma F.1, is not repeated in the corollary; at S = N = T = 1 the right side is 0.",
        (SOME_AWAY,),
    ),
    _case(
        2,
        "FedSUM family, independent participation",
        _LATER / sp.sqrt(delta * N),
        _LATER / delta,
        "The maximum stands outside the root of the noise term; Lemma F.2 puts it inside. False for N = T = 1 and "
        "delta near 1, as the maximum of the logarithms is then near 0: at delta = 1 the right side is 0.",
        (_PROBABILITY,),
    ),
    _CASE_2_REPAIRED,
    _case(
        3,
        "FedSUM family, reshuffled cyclic participation",
        1 / sp.sqrt(S),
        N / S,
        f"{_NOT_FROM_4_1} {_SWAPPED}",
    ),
    _case(
        4,
        "FedSUM family, deterministic cyclic participation",
        1 / sp.sqrt(S),
        N / S,
        f"{_SWAPPED} Lemma F.4 would give 42.5 and 40 in place of 60 and 80.",
    ),
)
