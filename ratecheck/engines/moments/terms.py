"""Terms of what a run records, given client by client, as products of maps of the state z."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ratecheck.algorithms.model.algorithm import TermMap, TermOver
from ratecheck.aliases import Array
from ratecheck.engines.records import RecordPlan
from ratecheck.engines.setup import Setup

# Rows on z, and the size of the terms that were added up to them.
Sides = tuple[Array, Array]


class StateMaps(Protocol):
    """What is said of a state by maps of it, client by client: see `Moments`."""

    setup: Setup
    size: int

    def slot_rows(self, i: int, block: int, slot: int) -> Array:
        """See `Moments.slot_rows`."""

    def mean(self, parts: Sequence[Array] | Array) -> Array:
        """See `Moments.mean`."""

    def over_clients(self, i: int, left: Sides, right: Sides) -> list[tuple[float, Sides, Sides]]:
        """See `Moments.over_clients`."""


def together(sides: Sequence[Sides]) -> Sides:
    """Rows of parts, and their sizes, as stacks."""
    rows, sizes = (np.stack(each) for each in zip(*sides, strict=True))
    return rows, sizes


def summands(
    moments: StateMaps, column: Sequence[TermMap], sides: tuple[Sides, Sides]
) -> Iterator[tuple[float, Sides, Sides]]:
    """A term, whose ``sides`` are given client by client, as products of maps of z and what each is multiplied by."""
    if column[0].over is TermOver.MEANS:
        left, right = ((moments.mean(rows), moments.mean(sizes)) for rows, sizes in sides)
        yield column[0].factor, left, right
        return
    for i, term in enumerate(column):
        for share, left, right in moments.over_clients(i, *((rows[i], sizes[i]) for rows, sizes in sides)):
            yield term.factor / share, left, right


class RecordedTerms:
    """Terms of what a run records as maps of z, with the slots of which they are made."""

    def __init__(self, moments: StateMaps, recorded: RecordPlan) -> None:
        self._moments, self._recorded = moments, recorded
        self._slots: dict[tuple[int, int], Array] = {}

    def _of_slot(self, block: int, slot: int, clients: int) -> Array:
        """`Moments.slot_rows` of all clients."""
        if (block, slot) not in self._slots:
            rows = [self._moments.slot_rows(i, block, slot) for i in range(clients)]
            self._slots[block, slot] = np.stack(rows)
        return self._slots[block, slot]

    def sides(self, column: Sequence[TermMap]) -> tuple[Sides, Sides]:
        """Both factors of a term, given client by client, as maps (clients, entries, size) of z."""
        block, starts = column[0].block, self._moments.setup.starts
        here = slice(starts[block], starts[block + 1])
        coefficients = np.array([[term.left, term.right] for term in column])
        used = np.flatnonzero(coefficients.any(axis=(0, 1))).tolist()
        slots = {k: self._of_slot(block, k, len(column)) for k in used}
        sizes = {k: np.abs(rows) for k, rows in slots.items()}
        if (last := coefficients.shape[-1] - 1) in slots:
            # The last slot is the displacement of the point from its anchor.
            anchor, error = self._recorded.anchor[: len(column), here], self._recorded.anchor_error[: len(column), here]
            slots[last] = slots[last].copy()
            slots[last][..., -1] -= anchor
            sizes[last][..., -1] += np.abs(anchor) + error
        nothing = np.zeros((len(column), here.stop - here.start, self._moments.size))

        def side(factors: Array) -> Sides:
            own = [k for k in used if factors[:, k].any()]
            rows = sum((factors[:, k, None, None] * slots[k] for k in own), nothing)
            return rows, sum((np.abs(factors[:, k, None, None]) * sizes[k] for k in own), nothing)

        return side(coefficients[:, 0]), side(coefficients[:, 1])
