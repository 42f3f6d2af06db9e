"""Convex sets of points for methods that stay inside: projections, and minimisers of linear functions.

Points are rows, arrays (rows, d), and every row is treated on its own, as the functions of a method have to.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.aliases import Array

# Those that were asked for a point, where somebody wants to know.
_ASKED: ContextVar[list[ConvexSet] | None] = ContextVar("asked", default=None)
# Who answers in their place: from the set, what it is asked for, and the points.
Answering = Callable[[Any, str, Any], Any]
_ANSWERING: ContextVar[Answering | None] = ContextVar("answering", default=None)


class ConvexSet(ABC):
    """A closed convex set X of R^d."""

    def __init_subclass__(cls) -> None:
        """What `asked` listens to: calls of `project` and `least`."""
        super().__init_subclass__()
        for name in {"project", "least"} & vars(cls).keys():
            setattr(cls, name, _noticed(vars(cls)[name]))

    @abstractmethod
    def project(self, x: Array) -> Array:
        """The points of X that are nearest to the rows of x."""

    @abstractmethod
    def least(self, g: Array) -> Array:
        """Points v of X with the least <g, v>, row by row: the linear minimisation oracle."""

    def gap(self, x: Array, g: Array) -> Array:
        """The Frank-Wolfe gap max over v in X of <g, x - v>, (rows, 1)."""
        found: Array = np.sum(g * (x - self.least(g)), axis=-1, keepdims=True)
        return found

    def mapping(self, x: Array, g: Array, gamma: float) -> Array:
        """The gradient mapping (x - P(x - gamma g))/gamma, which is g where the step stays inside."""
        return (x - self.project(x - gamma * g)) / gamma


def _noticed(function: Callable[[Any, Array], Array]) -> Callable[[Any, Array], Any]:
    @functools.wraps(function)
    def called(members: ConvexSet, points: Array) -> Any:
        if (listening := _ASKED.get()) is not None:
            listening.append(members)
        if (other := _ANSWERING.get()) is not None:
            return other(members, function.__name__, points)
        return function(members, points)

    return called


@contextmanager
def asked() -> Iterator[list[ConvexSet]]:
    """The sets whose `project` or `least` is called inside the block, in a list that grows."""
    found: list[ConvexSet] = []
    token = _ASKED.set(found)
    try:
        yield found
    finally:
        _ASKED.reset(token)


@dataclass(frozen=True)
class EuclideanBall(ConvexSet):
    """The points at most ``radius`` > 0 away from ``centre``, a point or one number for all coordinates."""

    radius: float
    centre: ArrayLike = 0.0

    def project(self, x: Array) -> Array:
        away = x - np.asarray(self.centre)
        length = np.linalg.norm(away, axis=-1, keepdims=True)
        return x - away * np.maximum(0.0, 1.0 - self.radius / np.maximum(length, self.radius))

    def least(self, g: Array) -> Array:
        length = np.linalg.norm(g, axis=-1, keepdims=True)
        found: Array = np.asarray(self.centre) - self.radius * g / np.where(length > 0, length, 1.0)
        return found


@dataclass(frozen=True)
class IntervalBox(ConvexSet):
    """The points between ``low`` and ``high`` in every coordinate; each a point, or one number for all."""

    low: ArrayLike
    high: ArrayLike

    def project(self, x: Array) -> Array:
        return np.clip(x, self.low, self.high)

    def least(self, g: Array) -> Array:
        return np.where(g > 0, self.low, self.high) + 0.0 * g


@dataclass(frozen=True)
class Simplex(ConvexSet):
    """The points without negative coordinates whose sum is ``total`` > 0, moved by ``shift``.

    With shift = -total/d the start 0 of a run is its centre.
    """

    total: float = 1.0
    shift: float = 0.0

    def project(self, x: Array) -> Array:
        """See `ConvexSet.project`: (x - s)_+ with the s that gives the sum (Held, Wolfe, Crowder, 1974)."""
        inside = x - self.shift
        falling = -np.sort(-inside, axis=-1)
        shifts = (np.cumsum(falling, axis=-1) - self.total) / np.arange(1, x.shape[-1] + 1)
        places = np.sum(falling > shifts, axis=-1, keepdims=True) - 1
        return np.maximum(inside - np.take_along_axis(shifts, places, axis=-1), 0.0) + self.shift

    def least(self, g: Array) -> Array:
        """See `ConvexSet.least`: a corner."""
        corners = np.zeros_like(g)
        np.put_along_axis(corners, np.argmin(g, axis=-1, keepdims=True), self.total, axis=-1)
        return corners + self.shift


@contextmanager
def answering(other: Answering) -> Iterator[None]:
    """Let ``other`` evaluate the calls of sets inside the block: "project" or "least", of some points."""
    token = _ANSWERING.set(other)
    try:
        yield
    finally:
        _ANSWERING.reset(token)
