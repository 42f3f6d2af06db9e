"""Preserved combinations: a server's variable less a multiple of the sum over the clients of one of theirs.

FedSUM's server holds y, the clients h_i, and a message is h_i' - h_i: y - sum_i h_i stays what it is. Rounded, it would
drift, by a little in every round, and with it the point to which the run tends. It is read off the algorithm's
functions in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm, LinearMaps
from ratecheck.engines.setup import Setup


@dataclass(frozen=True)
class Preserved:
    """In a block, server variable ``server`` less ``factor`` times the sum of the clients' variables ``client``."""

    block: int
    server: int
    client: int
    factor: float


def preserved(setup: Setup, clients: Iterable[int], counts: Iterable[int]) -> list[Preserved]:
    """Preserved combinations, where ``clients`` stand for all clients and rounds have these numbers of participants.

    At most one for each of the server's variables; a factor that is no float is left out.
    """
    algorithm = setup.algorithm
    own = [setup.parameters(i) for i in clients]
    return of_numbers(algorithm, own, [setup.parameters(participants=c) for c in counts if c or not algorithm.averages])


def of_numbers(
    algorithm: Algorithm, clients: Iterable[Mapping[str, float]], rounds: Iterable[Mapping[str, float]]
) -> list[Preserved]:
    """The preserved combinations by the parameters of each client and of each round."""
    maps = LinearMaps(algorithm, exact=True)
    finishes = [maps.finish(p) for p in clients]
    aggregates = [maps.aggregate(p) for p in rounds]
    found = []
    servers, clients_, messages = maps.server, maps.client, maps.message
    for block in range(len(algorithm.blocks)):
        for slot in range(servers.by_block[block]):
            pairs = (
                (message, client)
                for message in range(messages.by_block[block])
                for client in range(clients_.by_block[block])
                if all(_is_change(table[block], maps, message, client) for table in finishes)
            )
            for message, client in pairs:
                factor = _adds([table[block][slot] for table in aggregates], slot, servers.slots + message)
                if factor is not None:
                    found.append(Preserved(block, slot, client, float(factor)))
                    break
    return found


def _is_change(table: Any, maps: LinearMaps, message: int, client: int) -> bool:
    """Whether a message is what a client's variable changes by."""
    change = table[client].copy()
    change[maps.server.slots + client] -= 1
    return bool(np.all(table[maps.client.slots + message] == change))


def _adds(rows: list[Any], own: int, message: int) -> Fraction | None:
    """The factor at which the sum of the messages is added to a variable in which nothing else changes."""
    factors = {row[message] for row in rows}
    if len(factors) != 1 or (factor := factors.pop()) == 0 or Fraction(float(factor)) != factor:
        return None
    for row in rows:
        rest = row.copy()
        rest[own], rest[message] = rest[own] - 1, Fraction(0)
        if any(rest):
            return None
    return Fraction(factor)
