"""Pairs of a true statement and a wrong one that differs in one thing, on which the search for instances is measured.

They are facts of first-order and federated optimisation outside the catalogue's papers, true for all smooth functions
that are bounded below. `benchmarks/caught.py` says how many wrong ones the search catches, and whether it accuses a
true one. Several pairs may share their true statement.
"""

from __future__ import annotations

from bounds.papers.textbook.delay_pairs import DELAY_PAIRS
from bounds.papers.textbook.federated_pairs import FEDERATED_PAIRS
from bounds.papers.textbook.gradient_pairs import GRADIENT_PAIRS
from bounds.papers.textbook.pairing import PairKind, StatementPair

PAIRS: tuple[StatementPair, ...] = (*GRADIENT_PAIRS, *FEDERATED_PAIRS, *DELAY_PAIRS)

__all__ = ["PAIRS", "PairKind", "StatementPair"]
