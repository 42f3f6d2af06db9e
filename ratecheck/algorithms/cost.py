"""What a run of a method costs: vectors sent and received, and calls of the oracle.

Read off the method itself: a client receives the server variables on which its own functions depend, and sends its
message. A vector is counted per block of the problem's coordinates on which it lives, such as ``{"u": 2}``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.algorithm import Algorithm, LinearMaps


class _Generic(dict[str, float]):
    """A number for every parameter, such that no coefficient vanishes by chance."""

    def __missing__(self, name: str) -> float:
        self[name] = 0.5 + np.random.default_rng(list(name.encode())).random()
        return self[name]


@dataclass(frozen=True)
class Cost:
    """Vectors per block that a participant receives and sends in a round, and what it asks the oracle for.

    On a graph these are received from every neighbour, and sent to each.

    ``oracle`` is "gradient" (one per local step), or "prox" (one inner problem solved exactly per round). ``at_start``
    says that every client takes the K gradients of a round once before the first.
    """

    received: Mapping[str, int]
    sent: Mapping[str, int]
    oracle: str
    at_start: bool


def cost(name: str) -> Cost:
    """The cost of a round of the method of that name, blocks that it does not have left out."""
    method = METHODS[name]
    algorithm = method.algorithm
    maps, parameters = LinearMaps(algorithm, beyond=True), _Generic()
    # Tables are (block, output, input), and the server's variables are the first inputs.
    slots = maps.server.slots
    tables = [maps.begin(parameters)[:, :, :slots], maps.finish(parameters)[:, :, :slots]]
    used = np.any(np.concatenate(tables, axis=1) != 0, axis=1)
    received: Mapping[str, int] = {block: int(used[index].sum()) for index, block in enumerate(algorithm.blocks)}
    sent: Mapping[str, int] = Counter(algorithm.message.values())
    if algorithm.mixed:
        # On a graph there is no server, and neighbours exchange what is mixed.
        received = sent = Counter(algorithm.client[name] for name in algorithm.mixed)
    start = maps.start_client(parameters)
    return Cost(
        received=_present(received, method),
        sent=_present(sent, method),
        oracle=algorithm.oracle,
        at_start=bool(np.any(start[:, :, 1:] != 0)),
    )


def _present(counts: Mapping[str, int], method: Method) -> dict[str, int]:
    absent = {block for block, there in (("u", method.shared), ("v", method.personal)) if not there}
    if method.algorithm.blocks != Algorithm.blocks:
        absent = set()
    return {block: count for block, count in counts.items() if count and block not in absent}
