"""What a run of a method costs: vectors sent and received, and calls of the oracle.

Read off the method itself: a client receives the server variables on which its own functions depend, and sends its
message. Of a method that is not linear these are found by trying other values of a variable. A vector is counted per
block of the problem's coordinates on which it lives, such as ``{"u": 2}``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.model.algorithm import Algorithm, LinearMaps, Variables
from ratecheck.algorithms.model.nonlinear import Functions
from ratecheck.aliases import Array


class _Generic(dict[str, float]):
    """A number for every parameter, such that no coefficient vanishes by chance."""

    def __missing__(self, name: str) -> float:
        self[name] = 0.5 + np.random.default_rng(list(name.encode())).random()
        return self[name]


@dataclass(frozen=True)
class Cost:
    """Vectors per block that a participant receives and sends in a round, and the calls of its oracle.

    On a graph these are received from every neighbour, and sent to each.

    ``compressed`` says that of what is sent every coordinate is so with the probability q only.
    ``oracle`` is "gradient" (one per local step), "gradients" (``per_step`` at several points, None where some are over
    all data), or "prox" (one inner problem solved exactly per round). ``at_start`` says that every client takes the K
    gradients of a round once before the first.
    """

    received: Mapping[str, int]
    sent: Mapping[str, int]
    oracle: str
    at_start: bool
    compressed: bool = False
    per_step: int | None = 1


def cost(name: str) -> Cost:
    """The cost of a round of the method of that name, blocks that it does not have left out."""
    method = METHODS[name]
    algorithm = method.algorithm
    received, at_start = _by_coefficients(algorithm) if algorithm.linear else _by_trial(algorithm)
    sent: Mapping[str, int] = Counter(algorithm.message.values())
    if algorithm.mixed:
        # On a graph there is no server, and neighbours exchange what is mixed.
        received = sent = Counter(algorithm.client[name] for name in algorithm.mixed)
    return Cost(
        received=_present(received, method),
        sent=_present(sent, method),
        oracle="gradients" if algorithm.also else algorithm.oracle,
        at_start=at_start,
        compressed=bool(algorithm.compressed),
        per_step=_per_step(algorithm),
    )


def _per_step(algorithm: Algorithm) -> int | None:
    """Stochastic gradients in a local step; None where there are full ones, whose cost is that of the data."""
    kinds = [answer.kind for answer in algorithm.also.values()]
    full = algorithm.full_start or any(not kind.sampled for kind in kinds)
    return None if full else 1 + sum(kind.is_gradient for kind in kinds)


def _by_coefficients(algorithm: Algorithm) -> tuple[Mapping[str, int], bool]:
    """How many vectors of the server a client uses, by block, and whether it takes gradients before round 0."""
    maps, parameters = LinearMaps(algorithm, beyond=True), _Generic()
    # Tables are (block, output, input), and the server's variables are the first inputs.
    slots = maps.server.slots
    tables = [maps.begin(parameters)[:, :, :slots], maps.finish(parameters)[:, :, :slots]]
    used = np.any(np.concatenate(tables, axis=1) != 0, axis=1)
    start = maps.start_client(parameters)
    by_block = {block: int(used[index].sum()) for index, block in enumerate(algorithm.blocks)}
    return by_block, bool(np.any(start[:, :, 1:] != 0))


def _by_trial(algorithm: Algorithm) -> tuple[Mapping[str, int], bool]:
    """Variables on which a nonlinear method depends: anything changes with them at points of some size."""
    functions, parameters = Functions(algorithm, dict.fromkeys(algorithm.blocks, 2)), _Generic()
    random = np.random.default_rng(0)
    sizes = 10.0 ** np.linspace(-4, 4, 17)[:, None]
    server, client, local, gradient, point = (
        {name: sizes * random.standard_normal((len(sizes), 2)) for name in group}
        for group in (algorithm.server, algorithm.client, algorithm.local, algorithm.blocks, algorithm.blocks)
    )

    def outputs(server: Variables) -> list[Array]:
        groups = (
            *functions("begin", (server, client), parameters, made_up=True),
            *functions("finish", (server, client, local), parameters, made_up=True),
        )
        return [array for group in groups for array in group.values()]

    def differ(ours: Iterable[Array], other: Iterable[Array]) -> bool:
        return any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(ours, other, strict=True))

    now = outputs(server)
    used = [name for name in server if differ(now, outputs({**server, name: -2 * server[name]}))]
    start, other = (
        functions("start_client", (point, {k: factor * v for k, v in gradient.items()}), parameters, made_up=True)
        for factor in (1.0, -2.0)
    )
    return Counter(algorithm.server[name] for name in used), differ(start[0].values(), other[0].values())


def _present(counts: Mapping[str, int], method: Method) -> dict[str, int]:
    absent = {block for block, there in (("u", method.shared), ("v", method.personal)) if not there}
    if method.algorithm.blocks != Algorithm.blocks:
        absent = set()
    return {block: count for block, count in counts.items() if count and block not in absent}
