"""Methods whose server projects on a convex set, as linear ones: nearest points are variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm, Parameters, U, Variables
from ratecheck.algorithms.model.asking import MethodError, named
from ratecheck.algorithms.model.sets import ConvexSet, answering
from ratecheck.algorithms.model.wrapping import Wrapping
from ratecheck.errors import InputError

# What functions may read beside step sizes.
_NUMBERS = ("n", "m", "K", "weight", "norm", "mean_norm", "p", "delay", "mixes", "coin")


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

    def finish(
        self, server: Variables, client: Variables, local: Variables, p: Parameters
    ) -> tuple[Variables, Variables]:
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
                raise MethodError(f"{named(self.inner)}: aggregate asks for more than projections on one set")
            asked.append(point)
            return total[self.nearest[len(asked) - 1]]

        with answering(told):
            found = super().aggregate(server, total, p)
        return {**found, **dict(zip(self.asked, asked, strict=True))}

    def _refused(self, members: ConvexSet, what: str, point: Any) -> Any:
        raise MethodError(f"{named(self.inner)} projects elsewhere than in aggregate")


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
