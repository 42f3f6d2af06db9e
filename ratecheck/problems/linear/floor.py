"""A lower bound of inf f of linear models, by convexity alone, and the minimiser where f is strongly convex.

With the mean loss ``l``, convex and nowhere negative, every point x gives ``l(y) >= l(x) + <w, y - x>`` with
``w = grad l(x)``, hence ``l(y) >= c - |w| R`` for all ``|y| = R`` with ``c = l(x) - <w, x>``. So

    f(y) >= max(0, max_k (c_k - |w_k| R)) + l2 R^2/2 + rho R^2/(1 + kappa R^2)

whose minimum over R is the bound. It is sharp in R = |x| where x minimises the loss in its ball, that is
``l + lambda |x|^2/2`` for some lambda; the next lambda is that of the R at which the bound so far is least. Points may
be found however they are. Without rho ``c - |w|^2/(2 l2)`` is the dual bound, which is sharp. ``kappa`` is 1, and n for
the joint variable ``(u, v_1/sqrt(n), ...)`` of clients with personal variables, as
``sum_i s_i/(1 + s_i) >= n S/(1 + n S)`` for ``S = sum_i s_i/n``. There the bound with a u for every client is tried.

At every distance the loss is at least its own infimum, of which slopes s_l with ``sum_l q_l s_l a_l = 0`` give the
lower bound ``-sum_l q_l phi*(s_l)``. They are those of a point, moved along the curvatures by Newton's step, which is
found where variables are few. The sum is not 0 but r, by rounding; the step that would remove r is bounded by ``|r|``
over the least eigenvalue of the Hessian that counts, and what it costs is taken off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.problems.datasets import Indices
from ratecheck.problems.linear.losses import Loss

_EPS = float(np.finfo(float).eps)
# Points at most, and by what share of the bound the last one has to raise it.
_POINTS = 8
_RISE = 2e-3
_RADII = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 8000)])
_ITERATIONS = 40
_NEWTON = 12
# The share of the loss at 0 from which on an infimum is bounded.
_WORTH = 0.02
# Variables of a function up to which its own infimum is bounded, and eigenvalues that count as 0 beside the largest.
_FEW = 500
_FLAT = 1e-11
# How far the outputs may be moved at most to remove what rounding left.
_MOVED = 1e-6


class WeightedRows:
    """Rows of n clients with features (rows, features), the first ``shared`` of them for u, targets and a loss.

    f_i is the mean of the losses of the rows of client i by their weights, ``factors`` (rows,) times p_i, and
    l2 |x|^2/2 + rho |x|^2/(1 + |x|^2); a loss has ``outputs``, d_v variables of a client are its own.
    """

    n: int
    d_v: int
    features: Any
    targets: Array
    factors: Array
    loss: Loss
    outputs: int
    shared: int
    l2: float
    rho: float
    # The number of rows of each client (n,), and where they begin among those of all, (n + 1,).
    counts: NDArray[np.int64]
    first: NDArray[np.int64]

    def rows_of(self, i: int) -> slice:
        """The rows of client i among those of all."""
        return slice(int(self.first[i]), int(self.first[i + 1]))


@dataclass(frozen=True, eq=False)
class Point:
    """A point x (d,), f there from above, and a bound of the distance to the minimiser."""

    x: Array
    value: float
    away: float


class _Loss:
    """The mean loss over rows B (M, columns); ``of_columns`` are the clients of columns, each of which is of one."""

    def __init__(self, model: WeightedRows, B: Any, of_columns: Indices | None) -> None:
        self.model, self.B, self.of_columns = model, B, of_columns
        self.outputs, self.n = model.outputs, model.n
        self.weights = model.factors / model.n
        self.terms = int(np.bincount(B.indices, minlength=1).max(initial=1)) + int(np.diff(B.indptr).max(initial=1)) + 8

    @cached_property
    def columns(self) -> Indices:
        """The clients of the coordinates, where these are each a client's own."""
        assert self.of_columns is not None
        return np.repeat(self.of_columns, self.outputs)

    def at(self, x: Array) -> tuple[float, Array]:
        """The value and the gradient at x (columns * outputs,)."""
        z, y = self.B @ x.reshape(-1, self.outputs), self.model.targets
        slopes = self.weights[:, None] * self.model.loss.slopes(z, y)
        return float(self.weights @ self.model.loss.values(z, y)), np.asarray(self.B.T @ slopes).ravel()

    def curved(self, x: Array, t: Array) -> Array:
        """The Hessian of the loss at x (d,) times t (d,)."""
        z, along = self.B @ x.reshape(-1, self.outputs), self.B @ t.reshape(-1, self.outputs)
        return np.asarray(
            self.B.T @ (self.weights[:, None] * self.model.loss.curved(z, self.model.targets, along))
        ).ravel()

    def rounding(self, x: Array) -> float:
        """What the gradient at x may be off by its sums, in norm."""
        z = self.B @ x.reshape(-1, self.outputs)
        slopes = np.abs(self.weights[:, None] * self.model.loss.slopes(z, self.model.targets))
        spread = self.weights[:, None] * (abs(self.B) @ np.abs(x.reshape(-1, self.outputs)))
        return self.terms * _EPS * float(np.linalg.norm(abs(self.B).T @ (slopes + spread)))

    def lines(self, x: Array) -> tuple[Array, Array]:
        """Offsets and slopes of the lines of x, for every function."""
        z, y = self.B @ x.reshape(-1, self.outputs), self.model.targets
        values = self.weights * self.model.loss.values(z, y)
        w = np.asarray(self.B.T @ (self.weights[:, None] * self.model.loss.slopes(z, y))).ravel()
        off = self.rounding(x)
        if self.of_columns is None:
            lost = self.terms * _EPS * (float(values.sum()) + float(np.abs(w) @ np.abs(x)))
            lost += off * float(np.linalg.norm(x))
            return np.array([math.fsum(values) - float(w @ x) - lost]), np.array([float(np.linalg.norm(w)) + off])
        columns = self.columns
        rows = np.repeat(np.arange(self.n), self.model.counts)
        loss = np.bincount(rows, values, self.n)
        inner, sizes = np.bincount(columns, w * x, self.n), np.bincount(columns, np.abs(w * x), self.n)
        length: Array = np.sqrt(np.bincount(columns, w * w, self.n)) + off
        far: Array = np.sqrt(np.bincount(columns, x * x, self.n))
        near = self.terms * _EPS * (loss + sizes) + off * far
        return self.n * (loss - inner - near), self.n * length


@dataclass(frozen=True, eq=False)
class _OneLoss:
    """Rows B (N, columns) of one function, with their weights and targets (N,)."""

    B: Any
    weights: Array
    targets: Array

    def infimum(self, loss: Loss, x: Array) -> float:
        """A lower bound of the loss alone, from the slopes at points to which Newton's method leads from x; or 0."""
        best, y, q = 0.0, self.targets, self.weights[:, None]
        longest = math.sqrt(float(self.B.multiply(self.B).sum(axis=1).max()))
        worth = _WORTH * float(self.weights @ loss.values(np.zeros((len(y), len(x) // self.B.shape[1])), y))
        for _ in range(_NEWTON):
            z = self.B @ x.reshape(self.B.shape[1], -1)
            # What is separable has the infimum 0, and one that is near 0 is not worth the work.
            if float(self.weights @ loss.values(z, y)) <= worth:
                break
            slopes = loss.slopes(z, y)
            steep = np.asarray(self.B.T @ (q * slopes)).ravel()
            solved, least = self._solved(loss, z, steep)
            along = self.B @ solved.reshape(self.B.shape[1], -1)
            moved = slopes - loss.curved(z, y, along)
            left = float(np.linalg.norm(self.B.T @ (q * moved)))
            left += (len(y) + 8) * _EPS * float(np.linalg.norm(abs(self.B).T @ np.abs(q * moved)))
            # What would remove the rest moves the outputs by so much, and slopes by that times their curvatures.
            more = longest * left / least if least > 0 else math.inf
            before = best
            if more <= _MOVED:
                cost = more * loss.curvature * float(self.weights @ (np.abs(z - along).sum(axis=1) + more))
                best = max(best, float(self.weights @ loss.dual(moved, y)) - 2 * cost)
            if best > 0 and best <= before * (1 + _RISE):
                break
            x = x - solved
        return best * (1 - (len(y) + 8) * _EPS)

    def _solved(self, loss: Loss, z: Array, right: Array) -> tuple[Array, float]:
        """The least solution of the Newton system, and the least eigenvalue that counts."""
        outputs, columns = z.shape[1], self.B.shape[1]
        H = np.empty((columns, outputs, columns, outputs))
        # Entry (a, o), (b, p) is the sum of q_l B_la B_lb times the second derivative in the outputs o and p.
        for p, unit in enumerate(np.eye(outputs)):
            curved = self.weights[:, None] * loss.curved(z, self.targets, np.broadcast_to(unit, z.shape))
            for o in range(outputs):
                H[:, o, :, p] = (self.B.T @ self.B.multiply(curved[:, o, None]).tocsr()).toarray()
        values, vectors = np.linalg.eigh(H.reshape(len(right), len(right)))
        kept = values > _FLAT * values[-1]
        found = vectors[:, kept] @ ((vectors[:, kept].T @ right) / values[kept])
        return np.asarray(found), 0.5 * float(values[kept].min(initial=values[-1]))


class Floor:
    """The lower bound of inf f of a linear model, in `value`, and its `minimiser`."""

    def __init__(self, model: WeightedRows) -> None:
        self.model = model

    @cached_property
    def value(self) -> tuple[float, str]:
        """The bound, and where it comes from."""
        model = self.model
        found = [(0.0, "no loss is below 0")]
        if not model.rho and not model.l2:
            found.append(
                (float(self._flat(self._joint).mean()), "duality, with the slopes of a point near the minimum")
            )
        elif not model.rho:
            offset, slope = self._joint.lines(self._solution)
            dual = float(offset[0] - slope[0] ** 2 / (2 * model.l2))
            found.append((dual - 8 * _EPS * abs(dual), "duality"))
        elif model.rho:
            found.append((self._far(self._joint, model.n if model.d_v else 1), "loss at every distance"))
            if model.d_v:
                found.append((self._far(self._apart, 1), "loss of every client at every distance"))
        return max(found, key=lambda each: each[0])

    @cached_property
    def minimiser(self) -> Point | None:
        """A point near the minimiser, of f with l2 > 0, without rho and personal variables."""
        x = self._solution
        loss, gradient = self._joint.at(x)
        l2 = self.model.l2
        steep = (
            float(np.linalg.norm(gradient + l2 * x))
            + self._joint.rounding(x)
            + 4 * _EPS * l2 * float(np.linalg.norm(x))
        )
        square = 0.5 * l2 * float(x @ x)
        return Point(x, (loss + square) * (1 + self._joint.terms * _EPS), steep / l2 * (1 + 8 * _EPS))

    @cached_property
    def _joint(self) -> _Loss:
        """The loss in (u, v_1/sqrt(n), ..., v_n/sqrt(n))."""
        import scipy.sparse

        model = self.model
        if not model.d_v:
            return _Loss(model, model.features, None)
        shared = model.features[:, : model.shared]
        own = model.features[:, model.shared :] * math.sqrt(model.n)
        apart = scipy.sparse.block_diag([own[model.rows_of(i)] for i in range(model.n)], format="csr")
        return _Loss(model, scipy.sparse.hstack([shared, apart], format="csr"), None)

    @cached_property
    def _apart(self) -> _Loss:
        """The losses of the clients, with all variables their own."""
        import scipy.sparse

        model = self.model
        blocks = [model.features[model.rows_of(i)] for i in range(model.n)]
        of_columns = np.repeat(np.arange(model.n), model.features.shape[1])
        return _Loss(model, scipy.sparse.block_diag(blocks, format="csr"), of_columns)

    @cached_property
    def _solution(self) -> Array:
        """The minimiser of the loss and the l2 term, by L-BFGS and then Newton's method with conjugate gradients."""
        import scipy.sparse.linalg

        loss, l2 = self._joint, self.model.l2
        x = _minimised(loss, l2, np.zeros(loss.B.shape[1] * loss.outputs), 10 * _ITERATIONS)
        steep = loss.at(x)[1] + l2 * x
        for _ in range(_NEWTON):
            hessian = scipy.sparse.linalg.LinearOperator(
                (len(x), len(x)), matvec=lambda t, at=x: loss.curved(at, t) + l2 * t, dtype=float
            )
            step, _ = scipy.sparse.linalg.cg(hessian, -steep, rtol=1e-4, maxiter=500)
            after = loss.at(x + step)[1] + l2 * (x + step)
            if not np.linalg.norm(after) < 0.5 * np.linalg.norm(steep):
                break
            x, steep = x + step, after
        return x

    def _flat(self, loss: _Loss) -> Array:
        """Lower bounds of the losses alone, at least 0, of the functions; 0 where these have many variables."""
        model = self.model
        whole = loss.of_columns is None
        pieces = [(slice(0, len(model.targets)), slice(0, loss.B.shape[1]))]
        if not whole:
            width = model.features.shape[1]
            pieces = [(model.rows_of(i), slice(i * width, (i + 1) * width)) for i in range(model.n)]
        found = np.zeros(len(pieces))
        if (pieces[0][1].stop - pieces[0][1].start) * loss.outputs > _FEW:
            return found
        x = _minimised(loss, 0.0, np.zeros(loss.B.shape[1] * loss.outputs), 3 * _ITERATIONS)
        for i, (rows, columns) in enumerate(pieces):
            at = x[columns.start * loss.outputs : columns.stop * loss.outputs]
            part = _OneLoss(
                loss.B[rows][:, columns], model.factors[rows] / (model.n if whole else 1), model.targets[rows]
            )
            found[i] = part.infimum(model.loss, at)
        return found

    def _far(self, loss: _Loss, kappa: float) -> float:
        """The bound with rho: the least value over all distances, the mean over the functions."""
        l2, rho = self.model.l2, self.model.rho
        count = 1 if loss.of_columns is None else self.model.n
        square = np.square(_RADII)
        push = 0.5 * l2 * square + rho * square / (1 + kappa * square)
        x, least = np.zeros(loss.B.shape[1] * loss.outputs), self._flat(loss)
        below = np.broadcast_to(least[:, None], (count, len(_RADII) - 1))
        best, radii = -math.inf, np.ones(count)
        for _ in range(_POINTS):
            weights = (l2 + 2 * rho / np.square(1 + kappa * np.square(radii))) / count
            x = _minimised(loss, weights[0] if loss.of_columns is None else weights[loss.columns], x, _ITERATIONS)
            # In a cell the loss is least at its far end, the regularisers at the near one; the last cell has no end.
            offsets, slopes = loss.lines(x)
            below = np.maximum(below, offsets[:, None] - slopes[:, None] * _RADII[1:])
            total = below + push[:-1]
            radii = _RADII[total.argmin(axis=1)]
            found = float(np.minimum(total.min(axis=1), least + push[-1]).mean()) * (1 - 8 * _EPS)
            if found <= best * (1 + _RISE):
                return max(best, found)
            best = found
        return best


def _minimised(loss: _Loss, weight: Array | float, x: Array, iterations: int) -> Array:
    """A point near the minimiser of ``loss + sum_c weight_c x_c^2/2``; any point would do."""
    import scipy.optimize

    def value(at: Array) -> tuple[float, Array]:
        height, slope = loss.at(at)
        return height + 0.5 * float((weight * at) @ at), slope + weight * at

    options = {"maxiter": iterations, "gtol": 1e-9, "ftol": 1e-15, "maxcor": 8}
    found = scipy.optimize.minimize(value, x, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x)
