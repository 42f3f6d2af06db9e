"""Short forms for the steps of this ledger."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

import sympy as sp

from bounds.ledger import proof
from bounds.ledger.families import PerClient, per_client
from bounds.ledger.step import Number

# What a function of an instance yields: both sides of the claim.
Pairs: TypeAlias = Iterator[tuple[Number, Number]]

drawn = partial(proof.drawn, count=60)


def weighted(names: str, weight: sp.Expr = sp.S.One) -> tuple[PerClient, ...]:
    """Named vectors of every client, for sums with weights w_i > 0 that add up to ``weight``, as sum_i w_i X_i."""
    return per_client(names, weight)
