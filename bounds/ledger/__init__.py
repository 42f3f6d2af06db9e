"""Ledgers: every inequality of every proof of the papers, step by step in printed order.

A step, what it is drawn from and what follows from what are defined here; the ledgers themselves are the ``proofs`` of
the papers. `steps` returns the ledger of a paper. Nothing here says whether a step is true: ``ratecheck audit`` finds
out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bounds import papers

if TYPE_CHECKING:
    from bounds.ledger.step import Step


def steps(paper: str) -> tuple[Step, ...]:
    """The steps of a paper's proofs in printed order; raises `InputError` for an unknown paper."""
    found: tuple[Step, ...] = papers.part(paper, "proofs").STEPS
    return found


def __getattr__(name: str) -> Any:
    """`Step` when it is asked for: who asks which statements are refuted needs none."""
    if name != "Step":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from bounds.ledger.step import Step

    return Step


__all__ = ["Step", "steps"]
