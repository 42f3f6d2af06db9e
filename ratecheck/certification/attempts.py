"""Attempts to break constants of a function whose values and gradients alone are known.

Points at all distances from the start are tried, and the best of them are moved by local optimisation: what a constant
bounds may be largest far from where a run begins. What is found is a fact of some points, up to rounding; what is not
found is no proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np

from ratecheck.aliases import Array
from ratecheck.problems.problem import SingleLevel

# Points at each distance from the start, of which the best are moved, by so many evaluations.
_POINTS, _SCALES, _BEST, _MOVES = 24, (0.1, 1.0, 10.0, 100.0), 3, 160
# Steps of gradient descent from the start, and of a power iteration at a point.
_STEPS, _POWERS = 50, 6
# Clients whose Hessians are looked at by themselves.
_LEADING = 2
# How far apart two points are whose gradients are compared, relative to the first; what rounding adds to a gradient.
_APART, _EPS = 1e-4, 1e-15
_SHARE = 1e-6

Points = Array


class Attempts:
    """``start`` is the joint variable (d_u + n d_v,); points are of that form."""

    def __init__(self, problem: SingleLevel, start: Mapping[str, Array]) -> None:
        self._problem = problem
        self.start = np.concatenate([part.ravel() for part in problem.start(start)])
        self.first = self.value(self.start)

    def value(self, point: Array) -> float:
        """F at a point."""
        with np.errstate(all="ignore"):
            return float(self._problem.value(*self._split(point)))

    def gradients(self, point: Array) -> tuple[Array, Array]:
        """The clients' partial gradients."""
        with np.errstate(all="ignore"):
            on_u, on_v = self._problem.gradients(*self._split(point))
        return np.asarray(on_u, dtype=float), np.asarray(on_v, dtype=float)

    def _split(self, point: Array) -> tuple[Array, Array]:
        d_u = self._problem.d_u
        return point[:d_u], point[d_u:].reshape(self._problem.n, self._problem.d_v)

    def _slope(self, point: Array) -> Array:
        """The gradient of f."""
        on_u, on_v = self.gradients(point)
        return np.concatenate([on_u.mean(axis=0), on_v.ravel() / self._problem.n])

    @cached_property
    def _points(self) -> Array:
        """Points at all distances: the start, along the axes, at random."""
        rng, size = np.random.default_rng(0), len(self.start)
        axes = [k * unit for unit in np.eye(size)[:8] for k in (-30.0, -10.0, -3.0, -1.0, 1.0, 3.0, 10.0, 30.0)]
        drawn = [scale * rng.standard_normal(size) for scale in _SCALES for _ in range(_POINTS)]
        return np.array([self.start, *(self.start + way for way in (*axes, *drawn))])

    def _largest(self, size: Callable[[Array], float]) -> Iterator[float]:
        """Values of a function at all points and, from the best of them on, at better ones."""
        from scipy.optimize import minimize

        def known(point: Array) -> float:
            found = size(point)
            return found if math.isfinite(found) else -math.inf

        values = [known(point) for point in self._points]
        yield from values
        for k in np.argsort(values)[::-1][:_BEST]:
            if not math.isfinite(values[k]):
                continue
            point = self._points[k]
            # As far as between neighbouring points.
            reach = 0.3 * (1.0 + float(np.abs(point - self.start).max()))
            simplex = np.concatenate([[point], point + reach * np.eye(len(point))])
            found = minimize(
                lambda x: -max(known(x), -1e300), point, method="Nelder-Mead",
                options={
                    "maxfev": _MOVES * min(len(point), 4), "initial_simplex": simplex, "xatol": 1e-6, "fatol": 1e-9,
                },
            )  # fmt: skip
            yield known(found.x)

    def lowest(self, smooth: float) -> float:
        """The least value that descent and the points find."""
        from scipy.optimize import minimize

        point = self.start
        for _ in range(_STEPS if 0 < smooth < math.inf else 0):
            on_u, on_v = self.gradients(point)
            point = point - np.concatenate([on_u.mean(axis=0), on_v.ravel()]) / (2 * smooth)
        found = [self.value(point), *map(self.value, self._points)]
        starts = [self.start, self._points[int(np.nanargmin([math.inf, *found[2:]]))]]
        for start in starts:
            moved = minimize(self.value, start, jac=self._slope, method="L-BFGS-B", options={"maxiter": 100})
            found.append(self.value(moved.x))
        return min(value for value in found if not math.isnan(value))

    def apart(self) -> Iterator[float]:
        """Roots of (1/n) sum_i ||grad_u f_i - grad_u f||^2, less what rounding may add."""

        def size(point: Array) -> float:
            on_u, _ = self.gradients(point)
            spread = float(np.mean(np.sum((on_u - on_u.mean(axis=0)) ** 2, axis=1)))
            return math.sqrt(max(spread - _SHARE * float(np.mean(np.sum(on_u**2, axis=1))), 0.0))

        yield from self._largest(size)

    def bent(self, block: int) -> Iterator[float]:
        """The change of a client's gradient over the distance of two points, in the block of u (0) or of v (1)."""
        if self._problem.layout["uv"[block]]:
            yield from self._largest(lambda point: self._steepest_change(point, block))

    def _steepest_change(self, point: Array, block: int) -> float:
        """The largest quotient along ways that a power iteration makes longer.

        Of the shared variables all clients take the same way, which is then that of those whose gradients change most.
        """
        before = self.gradients(point)[block]
        step = _APART * (1.0 + float(np.abs(point).max(initial=0.0)))
        rounding = 4 * _EPS * float(np.abs(before).max(initial=0.0)) / step
        ways = np.random.default_rng(0).standard_normal(before.shape)
        largest, change = 0.0, self._change(point, before, ways[0] if block == 0 else ways, step, block)
        leading = np.argsort(np.linalg.norm(change, axis=1))[::-1][:_LEADING] if block == 0 else [None]
        for client in leading:
            way = ways if client is None else change[client]
            for _ in range(_POWERS):
                if not np.isfinite(way).all():
                    break
                here = self._change(point, before, way, step, block)
                largest = max(largest, float(np.linalg.norm(here, axis=1).max()) * (1 - _SHARE) - rounding)
                way = here if client is None else here[client]
        return largest

    def _change(self, point: Array, before: Array, way: Array, step: float, block: int) -> Array:
        """The change (n, size) of the clients' gradients along ways, over the distance between the points."""
        lengths = np.linalg.norm(way, axis=-1, keepdims=True)
        moved = point.copy()
        here = slice(None, self._problem.d_u) if block == 0 else slice(self._problem.d_u, None)
        moved[here] += (step * way / np.where(lengths == 0, 1.0, lengths)).ravel()
        # As far as floats say that they are.
        gone = np.linalg.norm((moved - point)[here].reshape(way.shape), axis=-1, keepdims=True)
        change = self.gradients(moved)[block] - before
        return np.asarray(change / np.where(gone == 0, np.inf, gone))

    def least_bent(self) -> float:
        """The least <grad f(x) - grad f(y), x - y>/||x - y||^2 that is found, f being a function of u alone."""

        def size(point: Array) -> float:
            slope = self._slope(point)
            step = _APART * (1.0 + float(np.abs(point).max(initial=0.0)))
            changes = np.array([(self._slope(point + step * unit) - slope) / step for unit in np.eye(len(point))])
            if not np.isfinite(changes).all():
                return -math.inf
            way = np.linalg.eigh((changes + changes.T) / 2)[1][:, 0]
            moved = point + step * way
            change = moved - point
            found = float(change @ (self._slope(moved) - slope) / (change @ change))
            return -found - 4 * _EPS * float(np.abs(slope).max()) / step

        return -max(self._largest(size))

    def least_dominance(self) -> float:
        """The least ||grad f||^2/(2 (f - f_low)) that is found, f_low being the least value that is."""
        low = self.lowest(0.0)

        def size(point: Array) -> float:
            fallen = self.value(point) - low
            if fallen <= _SHARE * (1.0 + abs(low)):
                return -math.inf
            return -float(self._slope(point) @ self._slope(point)) / (2 * fallen)

        return -max(self._largest(size))
