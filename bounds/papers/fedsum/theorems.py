"""Section 4 and Appendix B of the FedSUM paper: Theorem 4.1, Corollary 4.1 and Lemma B.1."""

from __future__ import annotations

from functools import partial

from bounds.papers.fedsum.building import (
    ALL_THREE,
    DELAYED,
    DRAWN,
    NO_ZERO,
    PAPER,
    WITH_MAX,
    rate,
    statement,
    unified_rules,
)
from bounds.statement import Assumption, Statement

_theorem = partial(
    statement, "Theorem 4.1", "FedSUM family, any participation", "Section 4, eq. (12)", algorithm="fedsum"
)
_corollary = partial(
    statement,
    "Corollary 4.1",
    "FedSUM family, random participation",
    "Section 4, eq. (13)",
    algorithm="fedsum",
    assumptions=DRAWN,
)
_EXPECTED = (
    "tau_max and tau_avg stand for their expectations over the participation. The step sizes are those of Theorem 4.1 "
    "for the participation that is drawn: they are random and known only when the run is over. Step sizes made of the "
    "expectations are not covered, as 1/(10*E[tau_max]*K*L) may break the cap of the participation drawn."
)

STATEMENTS: tuple[Statement, ...] = (
    _theorem(
        rate("1 + tau_avg", "tau_max"),
        conditions=DELAYED,
        step_rules=unified_rules("tau_max"),
        follows_from=("theorem-g.1",),
        remark=f"For every participation by itself. {ALL_THREE} {NO_ZERO}",
    ),
    _theorem(
        rate("1 + tau_avg", "M"),
        step_rules=unified_rules("M"),
        follows_from=("theorem-g.1-repaired",),
        remark=f"For every participation by itself. {ALL_THREE} {WITH_MAX}",
        repaired=True,
    ),
    _corollary(
        rate("1 + tau_avg", "tau_max"),
        conditions=DELAYED,
        follows_from=("theorem-4.1",),
        remark=f"{_EXPECTED} {ALL_THREE} tau_max >= 1 is not printed; it is needed with probability one, not only in "
        "the mean.",
    ),
    _corollary(
        rate("1 + tau_avg", "1 + tau_max"),
        follows_from=("theorem-4.1-repaired",),
        remark=f"{_EXPECTED} {ALL_THREE} With 1 + E[tau_max] in place of E[tau_max], as E[max{{1, tau_max}}] is at "
        "most that; it can exceed max{1, E[tau_max]}: tau_max = 0 or 2 with probability 1/2 each gives 1.5.",
        repaired=True,
    ),
    statement(
        "Lemma B.1",
        "Noise of the aggregated gradients",
        "Appendix B",
        PAPER.claim("noise_square", {"noise": "N*K*sigma**2"}),
        algorithm="fedsum",
        assumptions=(Assumption.TOTAL_NOISE, Assumption.OBLIVIOUS_PARTICIPATION),
        remark=ALL_THREE,
    ),
)
