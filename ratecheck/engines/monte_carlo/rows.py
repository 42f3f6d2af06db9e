"""Rows of arrays on which a method's functions are called: pairs of a client and a replicate, client by client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class ClientRows:
    """Rows firsts[c] ... firsts[c+1]-1 are client clients[c], in the replicates in which it takes part.

    ``lanes`` (rows,) are the replicates and ``keys`` (2, rows) name their random streams. Clients without a row are
    left out. ``whole``: every replicate of these clients, which follow one another.
    """

    clients: Integers
    firsts: Integers
    lanes: Integers
    keys: Keys
    whole: bool = False

    @cached_property
    def counts(self) -> Integers:
        """The number of rows of each client."""
        return np.diff(self.firsts)

    @cached_property
    def by_row(self) -> Integers:
        """The client of each row."""
        return np.repeat(self.clients, self.counts)

    def only(self, kept: NDArray[np.bool_]) -> tuple[ClientRows, NDArray[np.bool_]]:
        """The rows of some of the clients, and which of these rows they are."""
        rows = np.repeat(kept, self.counts)
        firsts = np.concatenate([[0], np.cumsum(self.counts[kept])])
        return ClientRows(self.clients[kept], firsts, self.lanes[rows], np.ascontiguousarray(self.keys[:, rows])), rows


def everybody(n: int, keys: Keys) -> ClientRows:
    """Every client in every replicate."""
    return next(split(np.ones((n, keys.shape[1]), dtype=bool), keys, n * keys.shape[1]))


def split(mask: NDArray[np.bool_], keys: Keys, most: int) -> Iterator[ClientRows]:
    """The rows where mask (n, replicates) is true, in parts of whole clients with at most so many rows, or one client.

    Parts are what keeps the arrays of many clients small.
    """
    replicates, counts = mask.shape[1], mask.sum(axis=1)
    clients = np.flatnonzero(counts)
    places = np.flatnonzero(mask)
    ends = np.concatenate([[0], np.cumsum(counts[clients])])
    first = 0
    while first < len(clients):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + most, side="right")) - 1)
        lanes = places[ends[first] : ends[last]] % replicates
        here = clients[first:last]
        whole = len(lanes) == len(here) * replicates and here[-1] - here[0] == len(here) - 1
        yield ClientRows(here, ends[first : last + 1] - ends[first], lanes, np.take(keys, lanes, axis=1), bool(whole))
        first = last
