"""Participation in instances: traces, clients that come on their own, and graphs on which they mix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bounds.statement import Assumption, Statement
from ratecheck.families.coordinates import mixing_share, probability
from ratecheck.families.family import Coordinates, InstanceCube, InstanceShape
from ratecheck.participation import Graph, Participation, Trace
from ratecheck.participation.build import assumed
from ratecheck.settings.applicability import averages, method_of
from ratecheck.settings.setting import AVERAGING

# Participation as matrices: client 0 always and the others as named; never with nobody at all in round 0.
TRACES = ("cyclic", "once", "late", "alternating", "blocks", "rare", "leaving")
# Graphs of few clients on which these mix, and of more clients that are tried for graphs only; of many. Named by their
# edges: all that a few clients may have, but for the symmetric matrices whose edges have unequal weights.
_GRAPHS = {2: ("path",), 3: ("path", "complete"), 4: ("ring", "star"), 5: ("path",)}
_OF_MANY = "ring"


def trace_matrix(kind: str, n: int, size: int, T: int) -> NDArray[np.bool_]:
    """The participants of a trace of that name, (T, n)."""
    rounds = np.arange(T)[:, None]
    clients = np.arange(n)[None, :]
    return np.asarray(
        {
            "cyclic": (clients - rounds * size) % n < size,
            # All in round 0, then client 0 alone.
            "once": (rounds == 0) | (clients == 0),
            # Client 0 alone until the last round.
            "late": (rounds == T - 1) | (clients == 0),
            "alternating": ((clients + rounds) % 2 == 0) | (n == 1),
            # Client after client, each for a stretch of rounds.
            "blocks": clients == rounds * n // T,
            # All of them four times.
            "rare": np.broadcast_to(rounds % -(-T // 4) == 0, (T, n)),
            # All of them twice, and then nobody any more.
            "leaving": np.broadcast_to(rounds <= 1, (T, n)),
        }[kind]
    )


def mixes(statement: Statement) -> bool:
    """Whether the method mixes clients on a graph."""
    method = method_of(statement)
    return method is not None and bool(method.algorithm.mixed)


def on_graphs(statement: Statement, shape: InstanceShape) -> Iterator[InstanceShape]:
    """The shape on each graph of so many clients that the statement may be about."""
    if averages(statement):
        yield replace(shape, graph=AVERAGING if shape.n > 1 else "")
        return
    for name in _GRAPHS.get(shape.n, (_OF_MANY,) if shape.n > 1 else ("",)):
        yield replace(shape, graph=name)


def axes(cube: InstanceCube) -> Iterator[str]:
    """Names of the coordinates that `pattern` reads."""
    if Assumption.INDEPENDENT_PARTICIPATION in cube.statement.assumptions and not cube.family.quiet:
        yield "probability"
    if cube.shape.graph:
        if not averages(cube.statement):
            yield "edges"
        if _mixes_at_random(cube):
            yield "mixing"


def pattern(cube: InstanceCube, at: Coordinates, T: int) -> Participation | None:
    """A trace, a graph, or clients that are independent with some probability; None where the statement says who."""
    shape, quiet = cube.shape, cube.family.quiet
    if shape.trace:
        return Trace(trace_matrix(shape.trace, shape.n, shape.size, T))
    if shape.graph:
        graph = _named(shape.graph, shape.n)
        if not averages(cube.statement):
            graph = graph.moved(mixing_share(at["edges"], graph))
        mixes = probability(at["mixing"] if _mixes_at_random(cube) else 1.0)
        return graph if mixes == 1.0 else graph.mixing_with(mixes)
    if Assumption.INDEPENDENT_PARTICIPATION in cube.statement.assumptions:
        p = probability(1.0 if quiet else at["probability"])
        return assumed(Assumption.INDEPENDENT_PARTICIPATION, shape.n, shape.size, p)
    return None


@lru_cache(maxsize=64)
def _named(name: str, n: int) -> Graph:
    """The graph of that name, which mixes in every round: one for all instances."""
    return Graph.named(name, n)


def _mixes_at_random(cube: InstanceCube) -> bool:
    """Whether a round mixes clients on a graph with a probability of the instance's own."""
    return Assumption.RANDOM_MIXING in cube.statement.assumptions and not cube.family.quiet
