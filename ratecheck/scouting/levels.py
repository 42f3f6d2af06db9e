"""Runs on quadratics of two levels and their constants in floats, where clients weigh and work alike.

Signs of samples and sets of clients are followed in all their outcomes; see `ratecheck.engines.outcomes` for what is
exact. The steepest slope that a run visits is recorded with the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ratecheck.aliases import Array
from ratecheck.kernels import scouting as kernels
from ratecheck.problems.two_level.bilevel import lower_hessians
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.facts import ProblemBatch, infimum, positive
from ratecheck.scouting.runs import Batch, BatchRun

# Outcomes and rounds that are followed, and what of a number is rounding.
_OUTCOMES, _LONGEST, _ZERO = 2**12, 64, 1e-12
# What runs record beside the records of a method: the steepest slope of the f_i, and of their samples.
_STEEPEST, _OF_SAMPLES = "L_f", "L_f_samples"


@dataclass(frozen=True)
class TwoLevelBatch(ProblemBatch):
    """Bilevel quadratics: A (N, n, d_y, d_y), B (N, n, d_y, d_x), b (N, n, d_y), Q (N, n, d, d), q (N, n, d).

    The noise of their samples is ``noise_f`` (N, n, d), ``noise_g`` (N, n, d_y), ``noise_A`` and ``noise_B``, zeros
    without samples. ``H`` and ``g`` are those of the directions of x, y and v.
    """

    visited: ClassVar[frozenset[str]] = frozenset({_STEEPEST})
    d_u: ClassVar[int] = 0  # type: ignore[misc]  # of every batch: levels are no shared and personal variables

    parts: Mapping[str, Array]
    start: Array
    # Whether runs are followed in all outcomes, and not by maps, which a projection is none of.
    outcomes: bool
    noise: Mapping[str, Array] = field(default_factory=dict)
    parameters: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def of(
        cls, problems: Sequence[Any], starts: Sequence[Mapping[str, Any]], noise: Mapping[str, Array],
        parameters: Mapping[str, Array],
    ) -> TwoLevelBatch:  # fmt: skip
        if any(level.any() for level in noise.values()):
            raise Unscouted("Gaussian noise on two levels")
        first = problems[0]
        if any(np.ptp(each.p) > 0 for each in problems):
            raise Unscouted("weights of clients on two levels")
        parts = {name: np.array([getattr(each, name) for each in problems]) for name in ("A", "B", "b", "Q", "q")}
        shapes = {"noise_f": parts["q"], "noise_g": parts["b"], "noise_A": parts["A"], "noise_B": parts["B"]}
        for name, alike in shapes.items():
            none = np.zeros(alike.shape[1:])
            parts[name] = np.array([getattr(each, name, none) for each in problems])
        start = np.zeros((len(problems), first.n, first.d))
        ends = np.cumsum([0, *first.layout.values()])
        here = {f"{block}0": slice(ends[k], ends[k + 1]) for k, block in enumerate(first.layout)}
        for k, own in enumerate(starts):
            for name, value in own.items():
                start[k, :, here[name]] = np.asarray(value, dtype=float)
        return cls(parts, start, bool(first.law.outcomes), {}, parameters)

    def followed(self, batch: Batch, rows: NDArray[np.int64], read: Callable[[BatchRun], Array]) -> Array:
        return read(TwoLevelRun(batch, self, rows))

    # --- Sizes ---

    @property
    def d_x(self) -> int:
        """Variables of the upper level."""
        return int(self.parts["B"].shape[3])

    @property
    def d_y(self) -> int:
        """Variables of the lower level."""
        return int(self.parts["B"].shape[2])

    def width(self, block: str) -> int:
        return self.d_x if block == "x" else self.d_y

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """(d,): whether a row of the directions is that of x, y or v, which draw signs of their own."""
        return np.repeat(np.arange(3), [self.d_x, self.d_y, self.d_y])

    # --- Directions ---

    def _directions(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """(M, c) of the directions of x, y and v made of these A, B, b, Q and q."""
        A, B, b, Q, q = (self.parts[name] for name in names)
        N, n = self.start.shape[:2]
        x, y, v = np.split(np.arange(self.start.shape[2]), [self.d_x, self.d_x + self.d_y])
        M, c = np.zeros((N, n, len(self.kinds), len(self.kinds))), np.zeros((N, n, len(self.kinds)))
        xy = np.concatenate([x, y])
        M[:, :, x[:, None], xy], M[:, :, x[:, None], v] = Q[:, :, x], np.swapaxes(B, 2, 3)
        M[:, :, y[:, None], x], M[:, :, y[:, None], y] = -B, A
        M[:, :, v[:, None], xy], M[:, :, v[:, None], v] = -Q[:, :, y], A
        c[:, :, x], c[:, :, y], c[:, :, v] = q[:, :, x], b, -q[:, :, y]
        return M, c

    @cached_property
    def _operator(self) -> tuple[Array, Array]:
        return self._directions(("A", "B", "b", "Q", "q"))

    @property
    def H(self) -> Array:  # type: ignore[override]  # computed when needed
        """Matrices of the directions, (N, n, d, d)."""
        return self._operator[0]

    @property
    def g(self) -> Array:  # type: ignore[override]  # computed when needed
        """Constant parts of the gradients, (N, n, d)."""
        return self._operator[1]

    @cached_property
    def rough(self) -> tuple[Array, Array]:
        """(bend, shift): what samples add to the directions at z is s (bend z + shift), with a sign s by row."""
        d_x, d_y, parts = self.d_x, self.d_y, self.parts
        M, c = np.zeros_like(self.H), np.zeros_like(self.g)
        M[:, :, :d_x, d_x + d_y :], M[:, :, d_x + d_y :, d_x + d_y :] = (
            np.swapaxes(parts["noise_B"], 2, 3),
            parts["noise_A"],
        )
        c[:, :, :d_x], c[:, :, d_x : d_x + d_y] = parts["noise_f"][:, :, :d_x], parts["noise_g"]
        c[:, :, d_x + d_y :] = -parts["noise_f"][:, :, d_x:]
        return M, c

    @cached_property
    def drawn(self) -> NDArray[np.bool_]:
        """(N, 3): whether the directions of x, of y and of v are random at all."""
        moves = (np.abs(self.rough[0]).sum(axis=3) + np.abs(self.rough[1])).max(axis=1) > 0
        return np.stack([moves[:, self.kinds == kind].any(axis=1) for kind in range(3)], axis=1)

    # --- Solutions ---

    @cached_property
    def _mean(self) -> Mapping[str, Array]:
        """Means over the clients."""
        return {name: self.parts[name].mean(axis=1) for name in ("A", "B", "b", "Q", "q")}

    @cached_property
    def lower(self) -> tuple[Array, Array]:
        """(Y, y0) with y*(x) = Y x + y0."""
        mean = self._mean
        return self._solved(mean["B"], mean["b"])

    def _solved(self, slope: Array, offset: Array) -> tuple[Array, Array]:
        solution = np.linalg.solve(self._mean["A"], np.concatenate([slope, offset[..., None]], axis=2))
        return np.asarray(solution[..., :-1]), np.asarray(solution[..., -1])

    @cached_property
    def _curve(self) -> tuple[Array, Array]:
        """J and s with (x, y*(x)) = J x + s."""
        (Y, y0), N = self.lower, len(self.start)
        J = np.concatenate([np.broadcast_to(np.eye(self.d_x), (N, self.d_x, self.d_x)), Y], axis=1)
        return J, np.concatenate([np.zeros((N, self.d_x)), y0], axis=1)

    @cached_property
    def system(self) -> tuple[Array, Array]:
        """(V, v0) with v*(x) = V x + v0."""
        (J, shift), Q, q = self._curve, self._mean["Q"][:, self.d_x :], self._mean["q"][:, self.d_x :]
        return self._solved(Q @ J, np.einsum("bij,bj->bi", Q, shift) - q)

    @cached_property
    def upper(self) -> tuple[Array, Array]:
        """(P, r) with grad Phi(x) = P x - r."""
        (J, shift), Q, q = self._curve, self._mean["Q"], self._mean["q"]
        P = np.swapaxes(J, 1, 2) @ Q @ J
        rest = q - np.einsum("bij,bj->bi", Q, shift)
        return np.asarray((P + np.swapaxes(P, 1, 2)) / 2), np.einsum("bji,bj->bi", J, rest)

    # --- Constants ---

    @cached_property
    def _spectra(self) -> Array:
        return np.asarray(np.linalg.eigvalsh(self.parts["A"]), dtype=np.float64)

    @property
    def _rounding(self) -> Array:
        """Relative error of what is solved for with a mean of the A_i, (N,)."""
        low, high = self._spectra.min(axis=(1, 2)), self._spectra.max(axis=(1, 2))
        return _ZERO + 16 * self.d_y * np.finfo(float).eps * high / low

    def _gap(self) -> Array:
        """Phi(x^0) - inf Phi."""
        (P, r), (J, _), x = self.upper, self._curve, self.start[:, 0, : self.d_x]
        values, vectors = np.linalg.eigh(P)
        length, size = _norm(J), _norm(self._mean["Q"])
        flat = (self._rounding * size * length**2)[:, None]
        slope = length * (np.linalg.norm(self._mean["q"], axis=1) + size * np.linalg.norm(self._curve[1], axis=1))
        least = infimum(values, vectors, r, flat, (self._rounding * slope)[:, None])
        value = np.einsum("bi,bij,bj->b", x, P, x) / 2 - np.einsum("bi,bi->b", r, x)
        return np.maximum(value - least, 0.0)

    def _lower_distance(self) -> Array:
        """|y^0 - y*(x^0)|^2."""
        return self._away(self.lower, self.d_x)

    def _system_distance(self) -> Array:
        """|v^0 - v*(x^0)|^2."""
        return self._away(self.system, self.d_x + self.d_y)

    def _away(self, solution: tuple[Array, Array], begin: int) -> Array:
        x, own = self.start[:, 0, : self.d_x], self.start[:, 0, begin : begin + self.d_y]
        return np.asarray(np.sum((own - np.einsum("bij,bj->bi", solution[0], x) - solution[1]) ** 2, axis=1))

    @cached_property
    def _hessian_noise(self) -> Array:
        """Noise of the lower level's Hessians, (N, n, d, d)."""
        return _lower(self.parts["noise_A"], self.parts["noise_B"])

    def _convexity(self) -> Array:
        """The least eigenvalue of the A_i."""
        return np.asarray(self._spectra.min(axis=(1, 2)))

    def _sampled_convexity(self) -> Array:
        """The least eigenvalue of A_i over all samples, where it is positive."""
        off = np.linalg.norm(self._hessian_noise, 2, axis=(2, 3))
        return positive((self._spectra.min(axis=2) - off).min(axis=1))

    @cached_property
    def _norms(self) -> tuple[Array, Array]:
        """Norms of the Hessians of f_i and g_i, (N, n) each."""
        lower = _lower(self.parts["A"], self.parts["B"])
        upper, under = (np.abs(np.linalg.eigvalsh(each)).max(axis=2) for each in (self.parts["Q"], lower))
        return upper, under

    def _smoothness(self) -> Array:
        """L_1, the largest norm of a Hessian."""
        return np.asarray(np.maximum(*self._norms).max(axis=1))

    def _sampled_smoothness(self) -> Array:
        """L_1 over all samples, the largest norm of a sampled Hessian."""
        off = np.linalg.norm(self._hessian_noise, 2, axis=(2, 3))
        return np.asarray(np.maximum(self._norms[0], self._norms[1] + off).max(axis=1))

    @cached_property
    def _heterogeneity(self) -> tuple[Array, Array]:
        """(beta_gh, sigma_gh); see `Bilevel.constants`."""
        A, B, b, mean = self.parts["A"], self.parts["B"], self.parts["b"], self._mean
        common = np.ones(len(A), dtype=bool)
        for each, middle in ((A, mean["A"]), (B, mean["B"])):
            common &= _norm(each - middle[:, None]).max(axis=1) <= _ZERO * _norm(each).max(axis=1)
        spread = np.sqrt(np.sum((b - mean["b"][:, None]) ** 2, axis=2).mean(axis=1))
        Y, y0 = self.lower
        off = _norm(B - A @ Y[:, None]).max(axis=1)
        proportional = off <= self._rounding * self._spectra.max(axis=(1, 2)) * _norm(Y)
        D = np.swapaxes(np.linalg.solve(mean["A"][:, None], A - mean["A"][:, None]), 2, 3)
        e = np.einsum("bnij,bj->bni", A, y0) - b
        n = A.shape[1]
        N, s = np.einsum("bnij,bnik->bjk", D, D) / n, np.einsum("bnij,bni->bj", D, e) / n
        norm, k = _norm(N), np.sum(e**2, axis=2).mean(axis=1)
        tight = np.linalg.norm(s, axis=1) <= _ZERO * np.sqrt(norm * k)
        shifted = 2 * norm[:, None, None] * np.eye(self.d_y) - N
        shifted[tight | common] = np.eye(self.d_y)
        excess = k + np.einsum("bi,bi->b", s, np.linalg.solve(shifted, s[..., None])[..., 0])
        beta = np.where(tight, np.sqrt(1 + norm), np.sqrt(1 + 2 * norm))
        sigma = np.sqrt(np.where(tight, k, excess))
        beta, sigma = (np.where(proportional, each, np.inf) for each in (beta, sigma))
        return np.where(common, 1.0, beta), np.where(common, spread, sigma)

    def _zero(self) -> Array:
        """Zeros."""
        return np.zeros(len(self.start))

    def _steepest(self) -> Array:
        """From where on L_f is tried: the steepest f_i at the start, else at the lower level's solution there.

        NaN where every f_i is linear, and L_f needs no run.
        """
        Q, q, x = self.parts["Q"], self.parts["q"], self.start[:, 0, : self.d_x]
        Y, y0 = self.lower
        there = np.einsum("bij,bj->bi", Y, x) + y0
        found = np.zeros(len(Q))
        for y in (self.start[:, 0, self.d_x : self.d_x + self.d_y], there):
            slope = np.einsum("bnij,bj->bni", Q, np.concatenate([x, y], axis=1)) - q
            found = np.where(found > 0, found, np.linalg.norm(slope, axis=2).max(axis=1))
        return np.where((found > 0) & Q.any(axis=(1, 2, 3)), found, np.nan)

    _FACTS: ClassVar[Mapping[str, Callable[[Any], Array]]] = {
        "mu_g": _convexity,
        "mu_g_samples": _sampled_convexity,
        "L_1": _smoothness,
        "L_1_samples": _sampled_smoothness,
        "L_2": _zero,
        "L_3": _zero,
        "L_f": _steepest,
        "sigma_f": lambda self: np.linalg.norm(self.parts["noise_f"], axis=2).max(axis=1),
        "sigma_g": lambda self: np.linalg.norm(self.parts["noise_g"], axis=2).max(axis=1),
        "sigma_gg": lambda self: np.linalg.norm(self._hessian_noise, axis=(2, 3)).max(axis=1),
        "beta_gh": lambda self: self._heterogeneity[0],
        "sigma_gh": lambda self: self._heterogeneity[1],
        "Phi_gap": _gap,
        "Delta_y": _lower_distance,
        "Delta_v": _system_distance,
    }

    @cached_property
    def centre(self) -> Array:  # type: ignore[override]  # nothing needs it
        """NaN: nothing is recorded of a minimiser."""
        return np.full_like(self.start, np.nan)

    @cached_property
    def lowest(self) -> Array:  # type: ignore[override]  # nothing needs it
        """NaN: nothing is recorded of an infimum."""
        return np.full(len(self.start), np.nan)


class TwoLevelRun(BatchRun):
    """The quantities of a batch on two levels, NaN for runs that start outside the ball of what is projected.

    L_f, or L_f_samples, is the steepest slope at local steps of the whole run.
    """

    def __init__(self, batch: Batch, levels: TwoLevelBatch, rows: NDArray[np.int64]) -> None:
        super().__init__(batch)
        self.levels, self.rows = levels, rows
        if batch.law.matrices is not None or batch.law.mixing is not None or batch.law.share is not None:
            raise Unscouted("clients of two levels that are not drawn uniformly")
        if self.client.size or not self._alike:
            raise Unscouted("clients of two levels that keep something, or do not work alike")

    def by_round(self, names: Sequence[str]) -> Array:
        kept = [name for name in names if name not in (_STEEPEST, _OF_SAMPLES)]
        series, steepest = self._followed(kept, samples=_OF_SAMPLES in names)
        slopes = np.broadcast_to(steepest[:, None], (len(steepest), series.shape[2]))
        places = {name: k for k, name in enumerate(kept)}
        return np.stack([series[:, places[name]] if name in places else slopes for name in names], axis=1)

    def _rows_of(self, name: str) -> tuple[Array, Array]:
        """(rows, offset) with which a quantity is |rows (x, y, v) - offset|^2."""
        levels, eye = self.levels, np.eye(len(self.levels.kinds))
        x, y, v = (eye[levels.kinds == kind] for kind in range(3))
        # With clients that weigh and work alike the objective that a method descends is the problem's.
        match name.replace("_w2", "2"):
            case "grad_Phi2":
                rows, offset = levels.upper[0] @ x, levels.upper[1]
            case "y_error2":
                rows, offset = y - levels.lower[0] @ x, levels.lower[1]
            case "v_error2":
                rows, offset = v - levels.system[0] @ x, levels.system[1]
            case _:
                raise Unscouted(f"{name} on two levels")
        return rows[self.rows], offset[self.rows]

    def _followed(self, names: Sequence[str], *, samples: bool) -> tuple[Array, Array]:
        """Quantities (N, names, rounds), and the steepest slope of each run, or of its samples."""
        batch, levels, N, S = self.batch, self.levels, self.batch.count, self.server.size
        points, _ = self._points()
        sides, owner = [], list[int]()
        for k, name in enumerate(names):
            rows, offset = self._rows_of(name)
            own = rows @ points[0]
            own[..., -1] -= offset
            sides.append(own)
            owner += [k] * own.shape[1]
        left = np.ascontiguousarray(np.concatenate(sides, axis=1))
        keep, send = self._base(batch.law.m)
        begin, own, pull, still, load = self._stacked
        sets = np.zeros((0, batch.n), dtype=bool)
        for members in itertools.combinations(range(batch.n), batch.law.m):
            sets = np.concatenate([sets, np.isin(np.arange(batch.n), members)[None]])
        drawn, steps = levels.drawn[self.rows], batch.steps[:, 0].astype(np.int64)
        bits = batch.T * (batch.n * steps * drawn.sum(axis=1) + np.log2(len(sets)))
        start = np.ascontiguousarray(self.beginning[0][:, :S])
        ball, radius = np.zeros(2, dtype=np.int64), np.full(N, np.inf)
        if batch.algorithm.projects is not None:
            here = self.server.entries[batch.algorithm.projects]
            ball, radius = np.array([here.start, here.stop]), np.asarray(batch.parameters["r"], dtype=float)
        known = (batch.T <= _LONGEST) & (bits <= np.log2(_OUTCOMES))
        known &= np.linalg.norm(start[:, ball[0] : ball[1]], axis=1) <= radius
        T = np.where(known, batch.T, 0).astype(np.int64)
        parts = {name: np.ascontiguousarray(levels.parts[name][self.rows]) for name in ("Q", "q", "noise_f")}
        noise = parts["noise_f"] if samples else np.zeros_like(parts["q"])
        bend, shift = (np.ascontiguousarray(each[self.rows]) for each in levels.rough)
        out, steepest = np.full((N, len(names), int(max(T.max(initial=1), 1))), np.nan), np.full(N, np.nan)
        kernels.level_rounds(
            begin, own, pull, still, load, np.ascontiguousarray(keep[:, :S, :S]), np.ascontiguousarray(send),
            np.array(self.local.first, dtype=np.int64), batch.M, batch.c, bend, shift, levels.kinds, drawn, sets, ball,
            radius, parts["Q"], parts["q"], noise, steps, start, left, left, np.array(owner, dtype=np.int64), T,
            levels.outcomes, out, steepest,
        )  # fmt: skip
        return out, np.sqrt(np.where(T > 0, steepest, np.nan))


def _lower(A: Array, B: Array) -> Array:
    """The Hessians of the lower levels in (x, y), (N, n, d, d)."""
    N, n = A.shape[:2]
    found = lower_hessians(A.reshape(N * n, *A.shape[2:]), B.reshape(N * n, *B.shape[2:]))
    return found.reshape(N, n, *found.shape[1:])


def _norm(matrices: Array) -> Array:
    """Spectral norms."""
    return np.asarray(np.linalg.norm(matrices, 2, axis=(-2, -1)))
