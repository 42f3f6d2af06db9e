"""Ledgers: every inequality of every proof of the papers, step by step in printed order.

A step, what it is drawn from and what follows from what are defined here; the ledgers themselves are the ``proofs`` of
the papers. `steps` returns the ledger of a paper. Nothing here says whether a step is true: ``ratecheck audit`` finds
out.
"""

from __future__ import annotations

from bounds import papers
from bounds.ledger.step import Step


def steps(paper: str) -> tuple[Step, ...]:
    """The steps of a paper's proofs in printed order; raises `InputError` for an unknown paper."""
    found: tuple[Step, ...] = papers.part(paper, "proofs").STEPS
    return found


__all__ = ["Step", "steps"]
