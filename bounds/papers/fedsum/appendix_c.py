"""Appendix C of the FedSUM paper: FedSUM-B."""

from __future__ import annotations

import sympy as sp

from bounds.papers.fedsum.building import (
    AVERAGE,
    DELAYED,
    MEAN_GRADIENT,
    WITH_MAX,
    M,
    at_most,
    make_statement,
    movement,
    noise_inner,
    product_rule,
    rate_terms,
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
    aggregate_sum,
    aggregate_sum_T,
    delayed_window_sum,
    eta,
    noise_inner_sum,
    sigma,
    stale_sum,
    stale_sum_T,
    tau_avg,
    tau_max,
    window_sum,
)

LEMMA_C_1 = movement("Lemma C.1", "fedsum-b", K**2 * aggregate_sum, "Appendix C")
LEMMA_C_2 = windows("Lemma C.2", "fedsum-b", window_sum, aggregate_sum, 1, (), "Appendix C")
COROLLARY_C_3 = windows("Corollary C.3", "fedsum-b", delayed_window_sum, aggregate_sum, 2, ("lemma-c.2",), "Appendix C")


def _staleness_c(gradients: sp.Expr) -> dict[str, sp.Expr]:
    return {
        "noise": 4 * eta**2 * tau_max * tau_avg * N * K * T * L**2 * sigma**2,
        "gradients": 4 * eta**2 * tau_max**2 * K**2 * L**2 * gradients,
        "first gradients": 2 * N**2 * tau_max * F_0,
    }


LEMMA_C_4 = make_statement(
    "Lemma C.4",
    "Staleness of the server's direction",
    "Appendix C",
    whole_run(stale_sum_T),
    _staleness_c(aggregate_sum_T),
    algorithm="fedsum-b",
    follows_from=("lemma-b.1", "lemma-c.2", "corollary-c.3"),
    remark=(
        "Both sums run to T, but tau_avg is a mean over t < T, so that the noise of round T is not paid for; eq. (23) "
        "has T - 1 on the left. False: N = K = T = 1, f = x^2/2, x^0 = 0, sigma > 0, S_0 = {1}, S_1 empty has "
        "eta^2*sigma^2 on the left and 0 on the right. The repaired form has T - 1 in both sums."
    ),
)

LEMMA_C_4_REPAIRED = make_statement(
    "Lemma C.4",
    "Staleness of the server's direction",
    "Appendix C, eq. (23)",
    whole_run(stale_sum),
    _staleness_c(aggregate_sum),
    algorithm="fedsum-b",
    follows_from=("lemma-b.1", "lemma-c.2", "corollary-c.3"),
    remark="Both sums run to T - 1, which is what the proof gives and what Lemma C.6 needs.",
    repaired=True,
)

LEMMA_C_5 = noise_inner(
    "Lemma C.5", "fedsum-b", noise_inner_sum, K**2 * aggregate_sum_T, ("lemma-b.1", "lemma-c.2"), "Appendix C"
)
LEMMA_C_5_REPAIRED = noise_inner(
    "Lemma C.5",
    "fedsum-b",
    noise_inner_sum,
    K**2 * aggregate_sum,
    ("lemma-b.1", "lemma-c.2"),
    "Appendix C, eq. (27)",
    repaired=True,
)

_RATE_C = {
    "initial gap": 2 * Delta_f / (eta * K * T),
    "noise": 10 * eta / N * AVERAGE * sigma**2 * L,
    "first gradients": 2 * tau_max * F_0 / T,
}

LEMMA_C_6 = make_statement(
    "Lemma C.6",
    "FedSUM-B, any step size",
    "Appendix C",
    MEAN_GRADIENT,
    _RATE_C,
    algorithm="fedsum-b",
    conditions=(at_most("eta", eta, 1 / (8 * tau_max * K * L)), DELAYED),
    follows_from=("lemma-c.1", "lemma-c.4-repaired", "lemma-c.5-repaired"),
    remark=(
        "tau_max >= 1 is not printed: at tau_max = 0 the cap eta <= 1/(8*tau_max*K*L) disappears, and no bound holds "
        "for eta > 2/(K*L) (N = 1, f = L*x^2/2)."
    ),
)

LEMMA_C_6_REPAIRED = make_statement(
    "Lemma C.6",
    "FedSUM-B, any step size",
    "Appendix C",
    MEAN_GRADIENT,
    _RATE_C,
    algorithm="fedsum-b",
    conditions=(at_most("eta", eta, 1 / (8 * M * K * L)),),
    follows_from=("lemma-c.1", "lemma-c.4-repaired", "lemma-c.5-repaired"),
    remark="With max{1, tau_max} in the cap; the right side needs no change.",
    repaired=True,
)

_MAGNIFIED_C = "The proof ends with 12 in place of 30 (eq. (38)) and with 2*tau_max*F_0/T in place of 20*tau_max*F_0/T."

THEOREM_C_1 = make_statement(
    "Theorem C.1",
    "FedSUM-B, tuned",
    "Appendix C",
    MEAN_GRADIENT,
    rate_terms(AVERAGE, tau_max),
    algorithm="fedsum-b",
    conditions=(DELAYED,),
    step_rules=product_rule(tau_max),
    follows_from=("lemma-c.6",),
    remark=(
        f"{_MAGNIFIED_C} tau_max >= 1 is not printed: at tau_max = 0 the step size divides by zero, and at sigma = 0 "
        "the right side is 0. The repaired form has max{1, tau_max}."
    ),
)

THEOREM_C_1_REPAIRED = make_statement(
    "Theorem C.1",
    "FedSUM-B, tuned",
    "Appendix C",
    MEAN_GRADIENT,
    rate_terms(AVERAGE, M),
    algorithm="fedsum-b",
    step_rules=product_rule(M),
    follows_from=("lemma-c.6-repaired",),
    remark=f"{WITH_MAX} {_MAGNIFIED_C}",
    repaired=True,
)
