"""Appendix C of the FedSUM paper: FedSUM-B."""

from __future__ import annotations

from functools import partial

from bounds.papers.fedsum.building import (
    DELAYED,
    WITH_MAX,
    first_lemmas,
    mean_gradient,
    noise_inner,
    product_rule,
    rate,
    statement,
    whole_run,
)
from bounds.statement import Claim, Statement

_statement = partial(statement, algorithm="fedsum-b")


def _staleness(last: str) -> Claim:
    return whole_run(
        f"stale_sum{last}",
        {
            "noise": "4*eta**2*tau_max*tau_avg*N*K*T*L**2*sigma**2",
            "gradients": f"4*eta**2*tau_max**2*K**2*L**2*aggregate_sum{last}",
            "first gradients": "2*N**2*tau_max*F_0",
        },
    )


_RATE = mean_gradient(
    {"initial gap": "2*Delta_f/(eta*K*T)", "noise": "10*eta/N*AVERAGE*sigma**2*L", "first gradients": "2*tau_max*F_0/T"}
)
_MAGNIFIED = "The proof ends with 12 in place of 30 (eq. (38)) and with 2*tau_max*F_0/T in place of 20*tau_max*F_0/T."

STATEMENTS: tuple[Statement, ...] = (
    *first_lemmas("C", "fedsum-b", "", "K**2*"),
    _statement(
        "Lemma C.4",
        "Staleness of the server's direction",
        "Appendix C",
        _staleness("_T"),
        follows_from=("lemma-b.1", "lemma-c.2", "corollary-c.3"),
        remark="Both sums run to T, but tau_avg is a mean over t < T, so that the noise of round T is not paid for; "
        "eq. (23) has T - 1 on the left. False: N = K = T = 1, f = x^2/2, x^0 = 0, sigma > 0, S_0 = {1}, S_1 empty has "
        "eta^2*sigma^2 on the left and 0 on the right. The repaired form has T - 1 in both sums.",
    ),
    _statement(
        "Lemma C.4",
        "Staleness of the server's direction",
        "Appendix C, eq. (23)",
        _staleness(""),
        follows_from=("lemma-b.1", "lemma-c.2", "corollary-c.3"),
        remark="Both sums run to T - 1, which is what the proof gives and what Lemma C.6 needs.",
        repaired=True,
    ),
    *noise_inner("C", "fedsum-b", "", "K**2*", "Appendix C, eq. (27)"),
    _statement(
        "Lemma C.6",
        "FedSUM-B, any step size",
        "Appendix C",
        _RATE,
        conditions={"eta": "eta <= 1/(8*tau_max*K*L)", **DELAYED},
        follows_from=("lemma-c.1", "lemma-c.4-repaired", "lemma-c.5-repaired"),
        remark="tau_max >= 1 is not printed: at tau_max = 0 the cap eta <= 1/(8*tau_max*K*L) disappears, and no bound "
        "holds for eta > 2/(K*L) (N = 1, f = L*x^2/2).",
    ),
    _statement(
        "Lemma C.6",
        "FedSUM-B, any step size",
        "Appendix C",
        _RATE,
        conditions={"eta": "eta <= 1/(8*M*K*L)"},
        follows_from=("lemma-c.1", "lemma-c.4-repaired", "lemma-c.5-repaired"),
        remark="With max{1, tau_max} in the cap; the right side needs no change.",
        repaired=True,
    ),
    _statement(
        "Theorem C.1",
        "FedSUM-B, tuned",
        "Appendix C",
        rate("AVERAGE", "tau_max"),
        conditions=DELAYED,
        step_rules=product_rule("tau_max"),
        follows_from=("lemma-c.6",),
        remark=f"{_MAGNIFIED} tau_max >= 1 is not printed: at tau_max = 0 the step size divides by zero, and at sigma "
        "= 0 the right side is 0. The repaired form has max{1, tau_max}.",
    ),
    _statement(
        "Theorem C.1",
        "FedSUM-B, tuned",
        "Appendix C",
        rate("AVERAGE", "M"),
        step_rules=product_rule("M"),
        follows_from=("lemma-c.6-repaired",),
        remark=f"{WITH_MAX} {_MAGNIFIED}",
        repaired=True,
    ),
)
