"""Ledgers: every inequality of every proof of the papers, step by step in printed order.

`steps` returns the ledger of a paper; one module, or one package with a module per appendix, holds each. Nothing here
says whether a step is true: ``ratecheck audit`` finds out.
"""

from __future__ import annotations

import importlib

import bounds
from bounds.proofs.step import Step


def steps(paper: str) -> tuple[Step, ...]:
    """The steps of a paper's proofs in printed order; raises `InputError` for an unknown paper."""
    bounds.statements(paper)
    found: tuple[Step, ...] = importlib.import_module(f"bounds.proofs.{paper}").STEPS
    return found


__all__ = ["Step", "steps"]
