"""Runs on piecewise quadratics, coordinate by coordinate, and their constants in floats.

Nothing is random, and all clients take part; see `ratecheck.problems.Piecewise` for what is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.kernels import scouting as kernels
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.facts import ProblemBatch, positive
from ratecheck.scouting.runs import Batch, BatchRun, Quantities, known

# Rounds that are followed, and what of a number is rounding.
LONGEST, _SMALL = 512, 1e-12


@dataclass(frozen=True)
class BentBatch(ProblemBatch):
    """Piecewise quadratics: ``kinks`` (N, n, d, J), ``curvatures`` (N, n, d, J + 1), ``slopes`` (N, n, d).

    They start at 0. Constants are those of the sums over the coordinates.
    """

    affine: ClassVar[bool] = False
    kinks: Array
    curvatures: Array
    slopes: Array
    noise: Mapping[str, Array] = field(default_factory=dict)
    parameters: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        problems: Sequence[Any],
        starts: Sequence[Mapping[str, Any]],
        noise: Mapping[str, Array],
        parameters: Mapping[str, Array],
    ) -> BentBatch:
        if any(starts) or any(level.any() for level in noise.values()):
            raise Unscouted("a start or noise on piecewise quadratics")
        kinks, curvatures, slopes = (
            np.array([getattr(each, name) for each in problems]) for name in ("kinks", "curvatures", "slopes")
        )
        return cls(kinks, curvatures, slopes, noise, parameters)

    @cached_property
    def H(self) -> Array:  # type: ignore[override]  # none
        """Zeros."""
        return np.zeros((*self.slopes.shape, self.slopes.shape[2]))

    @cached_property
    def g(self) -> Array:  # type: ignore[override]  # none
        """Zeros."""
        return np.zeros_like(self.slopes)

    @cached_property
    def start(self) -> Array:  # type: ignore[override]  # always the same
        """Zeros."""
        return np.zeros_like(self.slopes)

    @property
    def d_u(self) -> int:  # type: ignore[override]  # all of them
        """Variables, all of them shared."""
        return int(self.slopes.shape[2])

    def followed(self, batch: Batch, rows: NDArray[np.int64], read: Callable[[BatchRun], Array]) -> Array:
        """See `ProblemBatch.followed`: coordinates are runs of their own, whose quantities add up."""
        total: Any = 0.0
        for c in range(self.d_u):
            here = slice(c, c + 1)
            own = (self.kinks, self.curvatures, self.slopes)
            kinks, curvatures, slopes = (each[rows][:, :, here] for each in own)
            one = BentBatch(kinks, curvatures, slopes)
            part = replace(
                batch, M=batch.M[:, :, here, here], c=batch.c[:, :, here], record_M=batch.M[:, :, here, here],
                record_c=batch.c[:, :, here], H=batch.H[:, :, here, here], g=batch.g[:, :, here], forms=False,
                centre=one.centre, lowest=one.lowest, noise=batch.noise[:, here], start=batch.start[:, :, here],
                sizes=tuple(min(size, 1) for size in batch.sizes),
            )  # fmt: skip
            total = total + read(BentRun(part, one))
        return np.asarray(total)

    def at(self, x: Array) -> tuple[Array, Array]:
        """Derivatives and values of the clients' functions at points (N, d, P): two arrays (N, n, d, P)."""
        x = x[:, None]
        gradient = np.broadcast_to(self.slopes[..., None], (*self.slopes.shape, x.shape[-1])).copy()
        value = self.slopes[..., None] * x
        J = self.kinks.shape[-1]
        for j in range(J + 1):
            low = self.kinks[..., j - 1, None] if j else -np.inf
            high = self.kinks[..., j, None] if j < J else np.inf
            there, origin = np.clip(x, low, high), np.clip(0.0, low, high)
            bent = self.curvatures[..., j, None]
            gradient += bent * (there - origin)
            value = value + bent * (there * x - there**2 / 2 + origin**2 / 2 - x * origin)
        return gradient, value

    @cached_property
    def _places(self) -> Array:
        """All breakpoints of a coordinate in order, (N, d, n J)."""
        moved = np.swapaxes(self.kinks, 1, 2)
        return np.sort(moved.reshape(*moved.shape[:2], -1), axis=2)

    @cached_property
    def _curvature(self) -> Array:
        """The curvatures of f on every piece between these, (N, d, n J + 1)."""
        places = self._places
        inner = (places[..., 1:] + places[..., :-1]) / 2
        middle = np.concatenate([places[..., :1] - 1, inner, places[..., -1:] + 1], axis=2)
        count = (self.kinks[..., None, :] < middle[:, None, ..., None]).sum(axis=-1)
        return np.take_along_axis(self.curvatures, count, axis=3).mean(axis=1)

    @cached_property
    def _minimum(self) -> tuple[Array, Array, Array]:
        """Minimisers and infima by coordinate, (N, d), and whether there is a minimiser, and only one, (2, N, d)."""
        places, bent = self._places, self._curvature
        slope = self.at(places)[0].mean(axis=1)
        ends = np.concatenate([places[..., :1], places], axis=2), np.concatenate([slope[..., :1], slope], axis=2)
        with np.errstate(all="ignore"):
            zero = ends[0] - ends[1] / bent
        low = np.concatenate([np.full_like(places[..., :1], -np.inf), places], axis=2)
        high = np.concatenate([places, np.full_like(places[..., :1], np.inf)], axis=2)
        inside = np.isfinite(zero) & (zero >= low) & (zero <= high)
        points = np.concatenate([places, np.where(inside, zero, places[..., :1])], axis=2)
        values = self.at(points)[1].mean(axis=1)
        best = values.argmin(axis=2)[..., None]
        point, least = (np.take_along_axis(each, best, axis=2)[..., 0] for each in (points, values))
        below = (bent[..., 0] < 0) | (bent[..., -1] < 0)
        below |= (bent[..., 0] == 0) & (slope[..., 0] > _SMALL) | (bent[..., -1] == 0) & (slope[..., -1] < -_SMALL)
        alike = values <= least[..., None] + _SMALL * np.maximum(np.abs(values).max(axis=2, keepdims=True), 1e-300)
        apart = np.where(alike, np.abs(points - point[..., None]), 0.0).max(axis=2)
        several = apart > 1e-9 * np.maximum(np.abs(point), 1.0)
        return point, least, np.stack([~below, ~below & ~several])

    @cached_property
    def centre(self) -> Array:  # type: ignore[override]  # computed when needed
        """The minimiser, (N, n, d) for every client; NaN where there is none."""
        point, _, (exists, _) = self._minimum
        return np.repeat(np.where(exists, point, np.nan)[:, None], self.n, axis=1)

    @cached_property
    def lowest(self) -> Array:  # type: ignore[override]  # computed when needed
        """Inf f, (N,); minus infinity where f is unbounded below."""
        _, least, (exists, _) = self._minimum
        return np.where(exists.all(axis=1), least.sum(axis=1), -np.inf)

    @cached_property
    def _at_start(self) -> tuple[Array, Array]:
        """Derivatives and values at the start, (N, n, d) each."""
        gradient, value = self.at(self.start[:, 0, :, None])
        return gradient[..., 0], value[..., 0]

    def _smoothness(self) -> Array:
        """L, the largest absolute curvature."""
        return np.asarray(np.abs(self.curvatures).max(axis=(1, 2, 3)))

    def _gap(self) -> Array:
        """f(0) - inf f."""
        return np.where(self._at_rest, 0.0, self._at_start[1].mean(axis=1).sum(axis=1) - self.lowest)

    @cached_property
    def _at_rest(self) -> NDArray[np.bool_]:
        """Whether f'(0) is 0 but for rounding, (N,)."""
        gradient = self._at_start[0]
        return np.asarray((np.abs(gradient.mean(axis=1)) <= _SMALL * np.abs(gradient).mean(axis=1)).all(axis=1))

    def _dissimilarity(self) -> Array:
        """The b with b^2 = sum over coordinates of sup mean_i (f_i' - f')^2, which is at a breakpoint or infinite."""
        gradient = self.at(self._places)[0]
        apart = ((gradient - gradient.mean(axis=1, keepdims=True)) ** 2).mean(axis=1).max(axis=2).sum(axis=1)
        outer = self.curvatures[..., [0, -1]]
        return np.where((outer == outer[:, :1]).all(axis=(1, 2, 3)), np.sqrt(apart), np.inf)

    def _distance(self) -> Array:
        """|x^0 - x*|^2, where there is one minimiser."""
        point, _, (_, one) = self._minimum
        return np.where(one.all(axis=1), np.where(self._at_rest, 0.0, np.sum(point**2, axis=1)), np.inf)

    def _least(self) -> Array:
        """The least curvature of f, where it is positive."""
        return positive(self._curvature.min(axis=(1, 2)))

    def _least_of_clients(self) -> Array:
        """The least curvature of a client, where it is positive."""
        return positive(self.curvatures.min(axis=(1, 2, 3)))

    def _squares(self) -> Array:
        """sum_i |grad f_i(x^0)|^2."""
        return np.asarray(np.sum(self._at_start[0] ** 2, axis=(1, 2)))

    def _mean_square(self) -> Array:
        """The mean of |grad f_i(x^0)|^2 over the clients."""
        return self._squares() / self.n

    _FACTS: ClassVar[Mapping[str, Callable[[Any], Array]]] = {
        "L": _smoothness,
        "F_0": _gap,
        "b": _dissimilarity,
        "B_0": _squares,
        "mean_B_0": _mean_square,
        "distance2_0": _distance,
        "strong_convexity": _least,
        "clients_strong_convexity": _least_of_clients,
        "dimension": ProblemBatch.dimension,
    }

    def fact(self, name: str) -> Array | None:
        if name in ("sigma", "sigma_u", "sigma_v"):
            return np.zeros(len(self.slopes))
        return super().fact(name)


class BentRun(BatchRun):
    """The quantities of a batch on piecewise quadratics of one variable each.

    The state has entries for the clients' gradients and values at the recorded points, before the last one, which is 1.
    """

    def __init__(self, batch: Batch, bent: BentBatch) -> None:
        super().__init__(batch)
        self.bent, self.size = bent, self.size + 2 * batch.n
        if batch.law.matrices is not None or batch.law.mixing is not None or not batch.law.everybody(batch.n):
            raise Unscouted("clients that stay away from piecewise quadratics")
        if batch.algorithm.compressed:
            raise Unscouted("compressed messages on piecewise quadratics")

    def _gradients(self, points: list[Array]) -> list[Array]:
        return [self._unit(i) for i in range(self.batch.n)]

    def _values(self, i: int, points: list[Array], gradients: list[Array]) -> tuple[Array, Array, float]:
        return self._unit(self.batch.n + i), self._unit(2 * self.batch.n), 1.0

    def _unit(self, k: int) -> Array:
        """The row of the k-th of what is added to the state: gradients, values, and 1."""
        row = np.zeros((self.batch.count, 1, self.size))
        row[:, 0, self.size - 1 - 2 * self.batch.n + k] = 1.0
        return row

    def _series(self, found: Quantities) -> Array:
        batch, T = self.batch, self.followed_rounds
        run, which = self.single_rounds
        base, send = run._base(batch.n)  # noqa: SLF001  # its own kind
        keep = base[:, : self.server.size, : self.server.size]
        begin, own, pull, still, load = run._stacked  # noqa: SLF001
        points, _ = self._points()
        place = np.array([int(each[0, 0].argmax()) for each in points], dtype=np.int64)
        # The oracle's answer at the start is that of the pieces.
        gradient = self.bent.at(self.bent.start[:, 0, :, None])[0][:, :, 0, 0]
        flat = replace(batch, M=np.zeros_like(batch.M), c=-gradient[:, :, None])
        start = np.zeros((batch.count, self.size))
        start[:, : self.size - 1 - 2 * batch.n] = BatchRun(flat).beginning[0][:, :-1]
        start[:, -1] = 1.0
        kinks, curvatures, slopes = (
            np.ascontiguousarray(each[:, :, 0]) for each in (self.bent.kinks, self.bent.curvatures, self.bent.slopes)
        )

        def followed(pull: Array, load: Array, left: Array, right: Array) -> Array:
            out = np.full((*found.constant.shape, int(max(T.max(initial=1), 1))), np.nan)
            kernels.bent_rounds(
                begin, own, pull, still, load, np.ascontiguousarray(keep), np.ascontiguousarray(send),
                self.local.first[0], which, place, kinks, curvatures, slopes, batch.steps, start, left, right,
                found.factor, found.owner, found.constant, T.astype(np.int64), out,
            )  # fmt: skip
            return out

        return known(followed, pull[..., 0], load, found.left, found.right)

    def mean(self, names: Sequence[str]) -> Array:
        return self._mean_of(self._series(self.quantities(names)), LONGEST)
