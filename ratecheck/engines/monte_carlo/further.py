"""What a local step evaluates beside the gradient at its point: other points, full gradients, values of functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from ratecheck.algorithms.model.answers import Evaluated, Kind
from ratecheck.aliases import Array
from ratecheck.engines.monte_carlo.rows import ClientRows
from ratecheck.engines.monte_carlo.sources import AnswerSource
from ratecheck.engines.setup import Setup
from ratecheck.errors import InputError
from ratecheck.problems.quadratic_functions import QuadraticObjective


class Nudge(Protocol):
    """Moves points by about rounding, where the effect of rounding is measured."""

    def moved(self, x: Array, rows: ClientRows) -> tuple[Array, Callable[[Array], Array]]:
        """Points moved, and what moves the gradients there."""


class Further:
    """The answers that ``also`` of a run's method names; ``source`` has those with samples.

    A draw is a function of stream, client, round and step alone, so that two points evaluated in one step have one
    sample. Raises `InputError` where a method uses an infimum that is not known.
    """

    def __init__(self, setup: Setup, source: AnswerSource, places: dict[str, tuple[int, int]]) -> None:
        self._setup, self._source, self._exact, self._places = setup, source, source.exact(), places
        kinds = {answer.kind for answer in setup.algorithm.also.values()}
        # What is not known is refused before the run starts.
        if Kind.EXCESS in kinds:
            self._alone  # noqa: B018
        if Kind.GAP in kinds:
            self._lowest  # noqa: B018

    def answers(
        self, rows: ClientRows, t: int, k: int, x: Array, local: dict[str, Array], nudge: Nudge | None = None
    ) -> dict[str, Array]:
        """The answers by name, x (rows, d) being the point of the step and k the number of its sample."""
        also = self._setup.algorithm.also
        return {name: self._answer(each, rows, t, k, x, local, nudge) for name, each in also.items()}

    def _answer(
        self,
        answer: Evaluated,
        rows: ClientRows,
        t: int,
        k: int,
        x: Array,
        local: dict[str, Array],
        nudge: Nudge | None,
    ) -> Array:
        first, last = self._places[self._setup.algorithm.local[answer.at]]
        if (last - first) < x.shape[1]:
            x = x.copy()
            x[:, first:last] = local[answer.at]
        else:
            x = np.ascontiguousarray(local[answer.at])
        source = self._source if answer.kind.sampled else self._exact
        move: Callable[[Array], Array] | None = None
        if nudge is not None:
            x, move = nudge.moved(x, rows)
        if answer.kind.is_gradient:
            found = source.answers(rows, t, k, x)
            return np.ascontiguousarray((found if move is None else move(found))[:, first:last])
        if answer.kind.above and self._setup.problem.quadratic is not None:
            return self._excess(rows, t, k, x) + (self._below[rows.by_row, None] if answer.kind is Kind.GAP else 0.0)
        found = source.values(rows, t, k, x)[:, None]
        return found - self._lowest if answer.kind is Kind.GAP else found

    def _excess(self, rows: ClientRows, t: int, k: int, x: Array) -> Array:
        """f_i(x) - inf f_i = <x - x_i, grad f_i(x)>/2 for a minimiser x_i of f_i: nothing cancels near it."""
        away = x - self._lowest_points[rows.by_row]
        return np.maximum((away * self._exact.answers(rows, t, k, x)).sum(axis=1, keepdims=True) / 2, 0.0)

    @cached_property
    def _alone(self) -> list[QuadraticObjective]:
        """Each client's function as a problem of its own, which has a minimum."""
        problem, method = self._setup.problem, self._setup.method.name
        if problem.quadratic is None:
            raise InputError(
                f"{method} uses inf f_i, which is known of quadratic problems and not of a {problem.kind} one"
            )
        clients = (problem.scaled(np.array([i]), 1.0, 1.0) for i in range(problem.n))
        found = [each.objective for each in clients if each.objective is not None]
        for i, each in enumerate(found):
            if each.minimizer() is None:
                raise InputError(f"{method} uses inf f_i, and f_{i} has none: {each.no_minimum}")
        return found

    @cached_property
    def _lowest_points(self) -> Array:
        """A minimiser of every client (n, d)."""
        points = [each.minimizer() for each in self._alone]
        return np.stack([np.concatenate([point[0], point[1][0]]) for point in points if point is not None])

    @cached_property
    def _lowest(self) -> float:
        """Inf f."""
        problem = self._setup.problem
        found = problem.objective.infimum() if problem.objective is not None else problem.lowest
        if found is None or not math.isfinite(float(found)):
            raise InputError(f"{self._setup.method.name} uses inf f, which is not known of this {problem.kind} problem")
        return float(found)

    @cached_property
    def _below(self) -> Array:
        """Inf f_i - inf f of every client of quadratics (n,)."""
        return np.array([each.infimum() for each in self._alone]) - self._lowest
