"""Proved bounds of functions given as formulas: of curvature, the infimum, the minimiser, gradients apart.

Everything is interval arithmetic on the whole space, or exact. Where it ends without a bound nothing is said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy as sp

from ratecheck.algebra.boxes import Boxes, on_boxes
from ratecheck.algebra.decay import decayed
from ratecheck.algebra.linear_algebra import minimum, semidefinite
from ratecheck.algebra.whole_line import NUMERIC, X, by_each, mean_square, on_interval, on_line
from ratecheck.aliases import Array
from ratecheck.problems.functions.ridges import Radial, Ridges, as_fractions, mean, radials

_EPS = float(np.finfo(float).eps)
# Variables up to which a Hessian is decided in rationals, and up to which a rest is bounded on boxes.
_RATIONAL, _BOXED = 24, 3
# Boxes of a rest: where those that are finite end, how many along an axis at first, and how many at most.
_REACH, _AXIS, _MOST = 8.0, 8, 20_000
# A bound that is near enough to what is reached, and points beyond which nothing is halved.
_ENOUGH, _FAR = 1e-3, 1e6
# Radii of balls in which f may be shown to be strongly convex, and Newton steps.
_RADII, _NEWTON = (1.0, 0.1, 1e-2, 1e-3, 1e-4), 50


@dataclass(frozen=True)
class Minimum:
    """Inf f lies between ``low`` and ``high``; the minimiser is at most ``away`` from ``point``, None where unknown."""

    low: float
    high: float
    point: Array | None = None
    away: float = math.inf


class Bounds:
    """Bounds of the clients' functions in ``parts`` and of their mean; ``variables`` are those of the rests."""

    def __init__(self, parts: Sequence[Ridges], variables: Sequence[sp.Symbol]) -> None:
        self.parts, self.variables = tuple(parts), tuple(variables)
        self.n, self.d = len(parts), len(variables)
        self._radials: dict[sp.Expr, tuple[tuple[Radial, ...], sp.Expr]] = {}
        self.mean = parts[0] if len({*parts_key(parts)}) == 1 else mean(parts, [sp.Rational(1, self.n)] * self.n)

    @cached_property
    def of_clients(self) -> list[tuple[float, float]]:
        """Bounds of the eigenvalues of every client's Hessian at every point."""
        seen: dict[str, tuple[float, float]] = {}
        keys = parts_key(self.parts)
        for key, part in zip(keys, self.parts, strict=True):
            if key not in seen:
                seen[key] = self.curvature(part)
        return [seen[key] for key in keys]

    @cached_property
    def of_mean(self) -> tuple[float, float]:
        """Bounds of the eigenvalues of the Hessian of f at every point."""
        low, high = self.curvature(self.mean)
        # What bounds every client bounds their mean.
        return max(low, min(each[0] for each in self.of_clients)), min(high, max(each[1] for each in self.of_clients))

    # --- Curvature ---

    def curvature(self, part: Ridges, centre: Array | None = None, radius: float = math.inf) -> tuple[float, float]:
        """Bounds of the eigenvalues of the Hessian everywhere, or in a ball; infinite where there are none."""
        if part.apart:
            found = [
                _second(curve, 0.0 if centre is None else float(centre[c]), radius)
                for c, curve in enumerate(part.curves)
            ]
            return min(low for low, _ in found), max(high for _, high in found)
        Q = np.array(part.Q.tolist(), dtype=float)
        ends: list[tuple[sp.Matrix, float, float]] = []
        for a, phi in part.phi.items():
            entries = np.array([float(entry) for entry in a])
            t = 0.0 if centre is None else float(entries @ centre)
            reach = float(np.linalg.norm(entries)) * radius * (1 + 8 * _EPS)
            # What the product may be off.
            reach += 0.0 if centre is None else 8 * self.d * _EPS * float(np.abs(entries) @ np.abs(centre))
            ends.append((sp.Matrix(a) * sp.Matrix(a).T, *_second(phi, t, reach)))
        round_ones, left = self.radials(part.rest) if centre is None else ((), part.rest)
        ends += [(each.A, *_second_of_radial(each)) for each in round_ones]
        rest = self._rest(left, centre, radius)
        return (
            self._least(part, Q, [(matrix, low) for matrix, low, _ in ends]) + rest[0],
            -self._least(part, -Q, [(matrix, -high) for matrix, _, high in ends], sign=-1) + rest[1],
        )

    def radials(self, rest: sp.Expr) -> tuple[tuple[Radial, ...], sp.Expr]:
        """The functions of one quadratic each that a rest has, and what else it has."""
        if rest not in self._radials:
            self._radials[rest] = radials(rest, self.variables) if self.d <= _RATIONAL else ((), rest)
        return self._radials[rest]

    def _least(self, part: Ridges, Q: Array, factors: Sequence[tuple[sp.Matrix, float]], sign: int = 1) -> float:
        """A lower bound of the least eigenvalue of sign*Q + sum_k factor_k A_k, for semidefinite A_k."""
        if not all(math.isfinite(factor) for _, factor in factors):
            return -math.inf
        matrix, size = Q.copy(), float(np.abs(Q).sum())
        for A, factor in factors:
            here = factor * np.array(A.tolist(), dtype=float)
            matrix, size = matrix + here, size + float(np.abs(here).sum())
        least = float(np.linalg.eigvalsh(matrix)[0]) - 16 * self.d * (1 + len(factors)) * _EPS * size
        if least >= 0 or self.d > _RATIONAL:
            return least
        exact = sign * as_fractions(part.Q)
        for A, factor in factors:
            exact = exact + Fraction(factor) * as_fractions(A)
        return 0.0 if semidefinite(exact) else least

    def _rest(self, rest: sp.Expr, centre: Array | None, radius: float) -> tuple[float, float]:
        """Bounds of the eigenvalues of the Hessian of a rest."""
        if rest == 0:
            return 0.0, 0.0
        if self.d > _BOXED:
            return -math.inf, math.inf
        entries = {
            (j, k): self._forms(sp.diff(rest, self.variables[j], self.variables[k]), whole=centre is None)
            for j in range(self.d)
            for k in range(j, self.d)
        }
        if centre is not None:
            low, high = self._spectra(entries, (centre - radius)[None], (centre + radius)[None])
            return float(low[0]), float(high[0])
        ends = np.concatenate([[-np.inf], np.linspace(-_REACH, _REACH, _AXIS + 1), [np.inf]])
        cells = list(itertools.product(range(len(ends) - 1), repeat=self.d))
        low_at, high_at = (np.array([[ends[k + side] for k in cell] for cell in cells]) for side in (0, 1))
        kept = [math.inf, -math.inf]
        while True:
            low, high = self._spectra(entries, low_at, high_at)
            middles = np.where(np.isfinite(low_at + high_at), (low_at + high_at) / 2, np.clip(0.0, low_at, high_at))
            seen = self._spectra(entries, middles, middles)
            least, most = float(seen[0].min()), float(seen[1].max())
            margin = _ENOUGH * (abs(least) + abs(most))
            undone = (low < least - margin) | (high > most + margin)
            last = not undone.any() or 2 * undone.sum() > _MOST or np.abs(low_at[np.isfinite(low_at)]).max() > _FAR
            here = np.ones_like(undone) if last else ~undone
            kept = [
                min(kept[0], float(low[here].min(initial=math.inf))),
                max(kept[1], float(high[here].max(initial=-math.inf))),
            ]
            if last:
                return kept[0], kept[1]
            low_at, high_at = _halved(low_at[undone], high_at[undone])

    def _forms(self, expr: sp.Expr, *, whole: bool) -> tuple[sp.Expr, ...]:
        """The expression, and one that equals it and is finite far away, if that is requested and there is one."""
        far = dict.fromkeys(self.variables, ((-math.inf, -_REACH), (_REACH, math.inf)))
        falling = decayed(expr, far) if whole else None
        return (expr,) if falling is None else (expr, falling)

    def _spectra(
        self, entries: Mapping[tuple[int, int], Sequence[sp.Expr]], low: Array, high: Array
    ) -> tuple[Array, Array]:
        """Bounds of the eigenvalues on boxes (k, d); of every entry of the Hessian there are equal forms."""
        values = {v.name: Boxes(low[:, c], high[:, c]) for c, v in enumerate(self.variables)}
        middle, radius = np.zeros((2, len(low), self.d, self.d))
        for (j, k), entry in entries.items():
            found = by_each(entry, values)
            with np.errstate(all="ignore"):
                at = np.where(found.known, (found.low + found.high) / 2, 0.0)
                off = np.where(found.known, np.maximum(found.high - at, at - found.low) * (1 + 4 * _EPS), np.inf)
            middle[:, j, k] = middle[:, k, j] = at
            radius[:, j, k] = radius[:, k, j] = off
        spectrum = np.linalg.eigvalsh(middle)
        away = radius.sum(axis=2).max(axis=1) + 16 * self.d * _EPS * np.abs(middle).sum(axis=(1, 2))
        return spectrum[:, 0] - away, spectrum[:, -1] + away

    # --- The minimum ---

    @cached_property
    def minimum(self) -> Minimum:
        """The least value of f: of a convex one by the gradient at a nearly stationary point, else by its parts."""
        point = self._nearly_stationary()
        values = self.value(self.whole, point)
        low = self.below_of_parts()
        mu = self.of_mean[0]
        slope = self.slope(point)
        if mu > 0:
            return Minimum(max(low, values[0] - _above(slope**2 / (2 * mu))), values[1], point, _above(slope / mu))
        if mu == 0:
            for radius in _RADII:
                local = self.curvature(self.mean, point, radius)[0]
                # On the sphere f is larger than at the point, so that the minimiser is inside.
                if local > 0 and slope < local * radius / 4:
                    least = values[0] - _above(slope**2 / (2 * local))
                    return Minimum(max(low, least), values[1], point, _above(slope / local))
        return Minimum(low, values[1])

    @cached_property
    def whole(self) -> sp.Expr:
        """F as an expression in the variables."""
        return self.expression(self.mean)

    def expression(self, part: Ridges) -> sp.Expr:
        """A function as an expression in the variables."""
        x = sp.Matrix(self.variables)
        quadratic = sp.expand((x.T * part.Q * x)[0, 0] / 2 + (part.linear.T * x)[0, 0])
        ridges = [
            phi.subs(X, sum(e * v for e, v in zip(a, self.variables, strict=True))) for a, phi in part.phi.items()
        ]
        return sp.Add(quadratic, part.constant, part.rest, *ridges)

    def value(self, expr: sp.Expr, point: Array) -> tuple[float, float]:
        """Bounds of an expression at a point."""
        found = on_boxes(expr, {v.name: Boxes.of(float(point[c])) for c, v in enumerate(self.variables)})
        return float(found.low), float(found.high)

    def slope(self, point: Array) -> float:
        """An upper bound of the norm of the gradient of f at a point."""
        return self.length(self.mean, point)

    def length(self, part: Ridges, point: Array) -> float:
        """An upper bound of the norm of the gradient of one function at a point."""
        whole = self.expression(part)
        ends = [self.value(sp.diff(whole, v), point) for v in self.variables]
        return _above(math.hypot(*(max(abs(low), abs(high)) for low, high in ends)))

    def _nearly_stationary(self) -> Array:
        """A point with a small gradient and value, by descent from several starts and Newton's method."""
        # A third of a second that only problems of formulas need.
        from scipy.optimize import minimize

        f, gradient = (sp.lambdify([self.variables], each, NUMERIC, cse=True) for each in (
            self.whole, [sp.diff(self.whole, v) for v in self.variables]))  # fmt: skip
        hessian = sp.lambdify([self.variables], sp.hessian(self.whole, self.variables), NUMERIC, cse=True)
        rng = np.random.default_rng(0)
        starts = [np.zeros(self.d), *(scale * rng.standard_normal(self.d) for scale in (0.5, 2.0, 8.0))]
        found: list[tuple[float, Array]] = []
        with np.errstate(all="ignore"):
            for start in starts:
                result = minimize(
                    lambda x: float(f(x)), start, method="BFGS", jac=lambda x: np.array(gradient(x), dtype=float)
                )
                if np.isfinite(result.x).all() and math.isfinite(float(result.fun)):
                    found.append((float(result.fun), result.x))
            point = min(found, key=lambda each: each[0])[1] if found else starts[0]
            for _ in range(_NEWTON):
                g = np.array(gradient(point), dtype=float)
                H = np.array(hessian(point), dtype=float)
                if not (np.isfinite(g).all() and np.isfinite(H).all()):
                    break
                moved = point - np.linalg.lstsq(H, g, rcond=None)[0]
                if not np.linalg.norm(np.array(gradient(moved), dtype=float)) < np.linalg.norm(g):
                    break
                point = moved
        return np.asarray(point, dtype=float)

    def below_of_parts(self) -> float:
        """The sum of the infima of the parts, which no value of f is below; -inf where one has none."""
        part = self.mean
        found = [float(Boxes.around(part.constant).low)]
        if part.apart:
            found += [on_line(curve).low for curve in part.curves]
        else:
            round_ones, left = self.radials(part.rest)
            found += [on_line(each.psi).low for each in round_ones]
            if left != 0:
                found.append(float(by_each(self._forms(left, whole=True), self._everywhere).low))
            found += [on_line(phi).low for phi in part.phi.values()]
            least = minimum(as_fractions(part.Q), -as_fractions(part.linear)[:, 0]) if self.d <= _RATIONAL else None
            if least is None:
                return -math.inf
            found.append(float(least))
        if not all(map(math.isfinite, found)):
            return -math.inf
        return math.fsum(found) - 4 * len(found) * _EPS * sum(map(abs, found))

    @property
    def _everywhere(self) -> dict[str, Boxes]:
        return {v.name: Boxes(np.array(-np.inf), np.array(np.inf)) for v in self.variables}

    # --- Gradients ---

    @cached_property
    def spread2(self) -> tuple[float, str]:
        """The largest (1/n) sum_i ||grad f_i - grad f||^2, infinite with the reason why it is not bounded or known."""
        away = [mean([part, self.mean], [sp.Integer(1), sp.Integer(-1)]) for part in self.parts]
        away = [_without_zeros(each) for each in away]
        if all(not any(each.Q) and not each.phi and each.rest == 0 for each in away):
            exact = sum((entry**2 for each in away for entry in each.linear), sp.Integer(0)) / self.n
            return float(Boxes.around(exact).high), ""
        if all(not each.phi and each.rest == 0 for each in away):
            return math.inf, "different Hessians make the dissimilarity unbounded"
        if all(each.apart for each in away):
            total = 0.0
            for c in range(self.d):
                total += mean_square([sp.diff(each.curves[c], X) for each in away]).high
            return _above(total), ""
        lengths = [self._largest_length(each) for each in away]
        return _above(sum(length**2 for length in lengths) / self.n), ""

    def _largest_length(self, part: Ridges) -> float:
        """A bound of ||grad|| at every point."""
        if any(part.Q):
            return math.inf
        total = _above(math.sqrt(sum(float(entry) ** 2 for entry in part.linear)))
        for a, phi in part.phi.items():
            found = on_line(sp.diff(phi, X))
            total += max(abs(found.low), abs(found.high)) * math.sqrt(sum(float(e) ** 2 for e in a)) * (1 + 8 * _EPS)
        round_ones, left = self.radials(part.rest)
        for each in round_ones:
            found = on_line(sp.diff(each.psi, X))
            largest = np.linalg.norm(np.array(each.A.tolist(), dtype=float), 2) * (1 + 8 * self.d * _EPS)
            total += max(abs(found.low), abs(found.high)) * math.sqrt(largest) * (1 + 8 * _EPS)
        if left != 0:
            ends = [by_each(self._forms(sp.diff(left, v), whole=True), self._everywhere) for v in self.variables]
            total += math.sqrt(sum(max(abs(float(e.low)), abs(float(e.high))) ** 2 for e in ends)) * (1 + 8 * _EPS)
        return _above(total)

    @cached_property
    def steepest(self) -> float:
        """A bound of ||grad f_i|| at every point, for every client; infinite where none was found."""
        return max(self._largest_length(part) for part in self.parts)


def parts_key(parts: Sequence[Ridges]) -> list[str]:
    """Parts that are the same function have the same key."""
    return [sp.srepr((p.Q, p.linear, p.constant, tuple(sorted(p.phi.items(), key=str)), p.rest)) for p in parts]


def _without_zeros(part: Ridges) -> Ridges:
    """The parts that are not 0 once they are expanded."""
    phi = {a: each for a, each in part.phi.items() if sp.expand(each) != 0}
    return Ridges(part.Q, part.linear, part.constant, phi, part.rest if sp.expand(part.rest) != 0 else sp.Integer(0))


def _second(curve: sp.Expr, centre: float, radius: float) -> tuple[float, float]:
    """Bounds of the second derivative, on the whole line or in an interval."""
    bent = sp.diff(curve, X, 2)
    if math.isinf(radius):
        found = on_line(bent)
        return found.low, found.high
    box = on_interval(bent, centre - radius, centre + radius)
    return float(box.low), float(box.high)


def _second_of_radial(radial: Radial) -> tuple[float, float]:
    """Bounds of the eigenvalues between the roots of A."""
    found = [on_line(radial.slope), on_line(sp.diff(radial.psi, X, 2))]
    return min(each.low for each in found), max(each.high for each in found)


def _halved(low: Array, high: Array) -> tuple[Array, Array]:
    """Boxes (k, d) halved along their longest axis; one without an end is cut at twice the other."""
    with np.errstate(all="ignore"):
        axis = np.argmax(high - low, axis=1)
    rows = np.arange(len(low))
    ends = low[rows, axis], high[rows, axis]
    with np.errstate(all="ignore"):
        middle = np.where(
            np.isinf(ends[1]), 2 * np.abs(ends[0]), np.where(np.isinf(ends[0]), -2 * np.abs(ends[1]), sum(ends) / 2)
        )
    first, second = high.copy(), low.copy()
    first[rows, axis], second[rows, axis] = middle, middle
    return np.concatenate([low, second]), np.concatenate([first, high])


def _above(value: float) -> float:
    """A number with a margin for the rounding of a short formula."""
    return value * (1 + 64 * _EPS)
