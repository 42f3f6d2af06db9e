"""Methods whose server projects on a convex set, as linear ones: nearest points are variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Parameters, U, Variables
from ratecheck.algorithms.model.asking import MethodError, named
from ratecheck.algorithms.model.sets import ConvexSet, answering
from ratecheck.algorithms.model.wrapping import Wrapping
from ratecheck.aliases import Array
from ratecheck.errors import InputError

# What functions may read beside step sizes.
_NUMBERS = ("n", "m", "K", "weight", "norm", "mean_norm", "p", "delay", "mixes", "coin")
# Points at which sets are compared: sizes of their rows, and dimensions of which the first ones with points are taken.
_SIZES, _DIMENSIONS, _TRIED = np.logspace(-6, 12, 37), range(1, 257), 3
# How far from a projection what is taken for one may be, in shares of the products' sizes: projections round.
_NEAR = 1e-9


class Unfolded(Wrapping):
    """The method ``inner`` with the points that it projects in `aggregate`, and the nearest ones, as variables.

    ``asked`` are further variables of the server: the points that were projected last, the start before the first
    round. ``nearest`` are further messages, whose sums are the points of the set that are nearest to them. What is left
    is linear where the method does nothing else that is not. All projections are on one set.
    """

    def __init__(self, inner: Algorithm, count: int) -> None:
        super().__init__(inner)
        self.linear = True  # type: ignore[misc]  # of this object
        self.asked = tuple(f"asked_{k}" for k in range(count))
        self.nearest = tuple(f"nearest_{k}" for k in range(count))
        self.server = {**inner.server, **dict.fromkeys(self.asked, U)}  # type: ignore[misc]
        self.message = {**inner.message, **dict.fromkeys(self.nearest, U)}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        with answering(self._refused):
            return super().start_client(point, gradient, p)

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """As ``inner``, and the start, which is in the set."""
        with answering(self._refused):
            return {**super().start_server(point, clients, p), **dict.fromkeys(self.asked, point[U])}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        with answering(self._refused):
            return super().begin(server, client, p)

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        with answering(self._refused):
            return super().step(local, gradient, p)

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """As ``inner``; clients know of no nearest point."""
        with answering(self._refused):
            kept, message = super().finish(server, client, local, p)
        return kept, {**message, **dict.fromkeys(self.nearest, 0 * next(iter(message.values())))}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """As ``inner``, which is told the nearest points, and what they are nearest to."""
        asked: list[Any] = []
        sets: set[str] = set()

        def told(members: ConvexSet, what: str, point: Any) -> Any:
            sets.add(repr(members))
            if what != "project" or len(sets) > 1 or len(asked) == len(self.nearest):
                raise MethodError(f"{named(self.inner)}: aggregate uses more than projections on one set")
            asked.append(point)
            return total[self.nearest[len(asked) - 1]]

        with answering(told):
            found = super().aggregate(server, total, p)
        return {**found, **dict(zip(self.asked, asked, strict=True))}

    def doubtful(self, rounds: Sequence[Parameters]) -> str:
        """Why what it projects on need not be one convex set in rounds with these parameters; empty where it is.

        Sets are known by their nearest points of made-up ones, in a few dimensions: x = P(y) is one of a convex set
        where <y - x, z - x> <= 0 for all other nearest points z, and the set is the same where all of them are. The
        start of runs, 0, has to be in it.
        """
        inside, reason = 0, "what its set projects is not known"
        for d in _DIMENSIONS:
            rng = np.random.default_rng(d)
            probes = np.vstack([np.zeros((1, d)), rng.normal(size=(len(_SIZES), d)) * _SIZES[:, None]])
            # Of two states each: a set may move with the state.
            found = [_projected(each, probes) for p in rounds for _ in range(2) for each in self._sets(p, d, rng)]
            known = [each for each in found if each is not None]
            if len(known) < len(found):
                continue
            if not all(_nearest(probes, each) for each in known):
                return "its set is no convex one: what it projects to are not the nearest points"
            if not all(np.array_equal(each, known[0]) for each in known):
                return "the set on which it projects is not the same in all rounds"
            reason = "the start of runs, 0, is not in its set"
            inside += bool((np.abs(known[0][0]) <= _NEAR).all())
            if inside == _TRIED:
                break
        return "" if inside else reason

    def _sets(self, p: Parameters, d: int, rng: np.random.Generator) -> Iterator[ConvexSet]:
        """The sets of a round with these parameters and a made-up state."""
        found: list[ConvexSet] = []

        def listed(members: ConvexSet, _: str, point: Any) -> Any:
            found.append(members)
            return point

        inner = self.inner
        server, total = ({name: rng.normal(size=(1, d)) for name in group} for group in (inner.server, inner.message))
        with answering(listed):
            inner.aggregate(server, total, self.inside(p))
        yield from found

    def _refused(self, members: ConvexSet, what: str, point: Any) -> Any:
        raise MethodError(f"{named(self.inner)} projects elsewhere than in aggregate")


def _projected(members: ConvexSet, points: Array) -> Array | None:
    """The nearest points of a set, None where it has none of this dimension."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(members.project(points.copy()), dtype=float)
    except (InputError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return found if found.shape == points.shape else None


def _nearest(points: Array, found: Array) -> bool:
    """Whether the rows ``found`` may be those of a convex set that are nearest to these points."""
    away = points - found
    products = away @ found.T - np.sum(away * found, axis=-1, keepdims=True)
    sizes = np.linalg.norm(points, axis=-1) + np.linalg.norm(found, axis=-1)
    return bool((products <= _NEAR * sizes[:, None] * np.add.outer(sizes, sizes)).all())


def unfolded(algorithm: Algorithm) -> Unfolded | None:
    """A method that is not linear with its projections as variables; None where its `aggregate` has none."""
    count = [0]

    def counted(_: ConvexSet, what: str, point: Any) -> Any:
        count[0] += what == "project"
        return point

    p = dict.fromkeys((*algorithm.step_sizes, *_NUMBERS), 1.0)
    server, total = ({name: np.ones((1, 1)) for name in group} for group in (algorithm.server, algorithm.message))
    try:
        with answering(counted):
            algorithm.aggregate(server, total, p)
    except (InputError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return Unfolded(algorithm, count[0]) if count[0] else None
