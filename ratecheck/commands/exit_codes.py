"""Exit codes of the command line: what each number means, and which verdict ends with which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratecheck.outcome import Outcome

if TYPE_CHECKING:
    from ratecheck.exponents.card import Card
    from ratecheck.studies.claims import Findings

# 0 holds or done; 1 violated, or another finding; 2 usage or input; 3 inconclusive or not applicable; 4 a mistake of
# this program; 130 and 143 as shells count what SIGINT and SIGTERM end.
DONE, FINDING, UNUSABLE, OPEN, INTERNAL, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 130, 143

OF_VERDICT = {
    Outcome.HOLDS: DONE,
    Outcome.VIOLATED: FINDING,
    Outcome.NOT_APPLICABLE: OPEN,
    Outcome.INCONCLUSIVE: OPEN,
    Outcome.DIVERGED: OPEN,
}
# A search that finds nothing is done; one that leaves open what it found is not.
OF_SEARCH = {Outcome.VIOLATED: FINDING, Outcome.INCONCLUSIVE: DONE, Outcome.NOT_APPLICABLE: OPEN}


def of_card(card: Card) -> int:
    """The exit code of a rate card: a finding where `verify` confirms it, open where nothing does."""
    return FINDING if card.exceeded else OPEN if card.open else DONE


def of_claims(findings: Findings) -> int:
    """The exit code of a study: a finding where a claim is contradicted, open where one is not resolved."""
    return FINDING if findings.contradicted else DONE if findings.all_confirmed else OPEN


def of_search(outcome: Outcome, *, unconfirmed: bool) -> int:
    """The exit code of one search."""
    return OPEN if unconfirmed else OF_SEARCH[outcome]
