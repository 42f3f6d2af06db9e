"""Exact moments of clients with one Hessian on a graph: independent modes, at a cost that grows with n, not its cube.

With W = 11'/n + sum_k lambda_k v_k v_k' and one Hessian H = sum_j h_j u_j u_j', a round maps x_kj = sum_i v_ki u_j'c_i,
c_i being the state of client i with the constant of its oracle (`Sloped`), by a small matrix of its own,

    x_kj' = Q_k (F_j x_kj + noise),    Q_k = lambda_k on mixed variables and 1 on others,

and the mean of the states as that of a single client. No two modes have anything to do with one another, but for
rounding: W and H are not exactly what their eigenvectors say. By how much is measured, and enters every mode as a share
of all of them.

A round that mixes with probability s only has E Q_k in place of Q_k, and (Q_k - 1) sqrt(s (1 - s)) as a fluctuation.
The coin is common to all modes, whose covariance is then not 0, and in no quantity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ratecheck.algorithms.model.algorithm import TermOver
from ratecheck.aliases import Array
from ratecheck.engines.moments.expectation import Recorder
from ratecheck.engines.moments.moment import EPS, Moment, majorant, product_error
from ratecheck.engines.moments.roundmap import Noise, RoundMap
from ratecheck.engines.moments.terms import Sides
from ratecheck.engines.setup import Setup
from ratecheck.engines.types.alike import SlopedMoments, by_types, groups, mean_state, of_slopes

# Rows of W may miss the sum 1 by that: the matrix that is meant has rows of 1.
_SUMS = 1e-13
# Rows that are added up at once where the rounding of a sum matters.
_CHUNK = 32


def applies(setup: Setup) -> bool:
    """Whether modes are independent: a symmetric graph, and clients that differ in slopes and starts alone."""
    W, sizes = setup.mixing, [size for size in setup.sizes.values() if size]
    if W is None or len(sizes) != 1 or setup.algorithm.varying or setup.compression or setup.problem.n < 3:
        return False
    if setup.algorithm.oracle != setup.algorithm.record_oracle:
        return False
    if (W != W.T).any() or (np.abs(W.sum(axis=1) - 1) > _SUMS).any() or not of_slopes(setup):
        return False
    return len(groups(setup, setup.trace.fixed(setup.T))) == 1


@dataclass(frozen=True)
class Eigenbasis:
    """Columns that are orthonormal up to ``apart``, in which a symmetric matrix is diagonal up to ``off``, in norm."""

    vectors: Array
    values: Array
    apart: float
    off: float

    @staticmethod
    def of(matrix: Array, within: Array) -> Eigenbasis:
        """The eigenvectors of a matrix in the span of orthonormal columns, which it maps into itself."""
        values, vectors = np.linalg.eigh(within.T @ matrix @ within)
        vectors = within @ vectors
        n = len(vectors)
        gram = np.zeros((vectors.shape[1],) * 2)
        for first in range(0, n, _CHUNK):
            part = vectors[first : first + _CHUNK]
            gram += part.T @ part
        gram[np.diag_indices_from(gram)] -= 1.0
        norm, roundings = float(np.abs(matrix).sum(axis=1).max(initial=0.0)), _CHUNK + n / _CHUNK + 4
        apart = float(np.linalg.norm(gram)) + roundings * EPS * n
        rest = float(np.linalg.norm(matrix @ vectors - vectors * values))
        # Of a product, entries are rounded once for each that is not 0.
        terms = int(np.count_nonzero(matrix, axis=1).max(initial=0)) + 4
        return Eigenbasis(vectors, values, apart, rest + norm * (4 * apart + terms * EPS * np.sqrt(n)))


@dataclass(frozen=True)
class ModeMoments:
    """Moments of the modes: means (b + 1, K, d), slopes being last and fixed, and second moments (b, b, K, d).

    ``second`` are covariance, ``off`` and ``rounding`` of a `Moment`, one after the other.
    """

    mean: Array
    second: Array

    @cached_property
    def spreads(self) -> Array:
        """See `Moment.spreads`, with none of slopes."""
        diagonal = np.einsum("xppkj->xpkj", self.second)
        return np.sqrt(np.abs(diagonal[0]) + EPS * np.maximum(diagonal[2], 0.0))

    @cached_property
    def roots(self) -> Array:
        """See `Moment.roots`, (b + 1, K, d)."""
        found = np.abs(self.mean)
        off = np.einsum("ppkj->pkj", self.second[1])
        found[:-1] = np.sqrt(found[:-1] ** 2 + self.spreads**2) + EPS * np.sqrt(np.maximum(off, 0.0))
        return found


@dataclass(frozen=True)
class ModeMap:
    """A local round of all modes: F (b, b + 1, d), in units of rounding its error by the own mode and by all of them.

    ``error`` (b, b + 1, d) is that of the entries, ``across`` (b, b + 1) of those that should be 0 in other coordinates
    of H. The noise has the covariance (b, b, d), and is off by ``noise_off`` and ``noise_rough`` (b,).
    """

    F: Array
    error: Array
    across: Array
    noise: Array
    noise_off: Array
    noise_rough: Array


def _sandwich(A: Array, X: Array, B: Array) -> Array:
    """A X B' for A, B (b, b, ...) and a stack X (stack, b, b, ...), sums over the small axes alone."""
    b = len(A)
    half = [[sum(A[p, q] * X[:, q, r] for q in range(b)) for r in range(b)] for p in range(b)]
    result = np.empty_like(X)
    for p in range(b):
        for s in range(p, b):
            entry: Any = sum(half[p][r] * B[s, r] for r in range(b))
            result[:, p, s] = entry
            result[:, s, p] = entry
    return result


class GraphMoments(SlopedMoments):
    """The mean of the clients' states as the state of a base `Moments`, and the modes."""

    def __init__(self, setup: Setup) -> None:
        self.original, self.members = setup, [np.arange(setup.problem.n)]
        super().__init__(by_types(setup, self.members))
        (self.block,) = (k for k, size in enumerate(setup.sizes.values()) if size)
        self.d, self.slots = setup.problem.d, self.rounds_of.client.counts.by_block[self.block]
        assert setup.mixing is not None
        W, n = setup.mixing, self.n
        # Columns orthogonal to 1: those of a reflection that takes it to the first coordinate.
        mirror = np.full(n, 1 / np.sqrt(n))
        mirror[0] += 1.0
        across = np.eye(n)[:, 1:] - np.outer(mirror, mirror[1:]) * (2 / (mirror @ mirror))
        self.graph = Eigenbasis.of(W, across)
        quadratic = setup.problem.quadratic
        assert quadratic is not None
        self.hessian = Eigenbasis.of(quadratic.H[0], np.eye(self.d))
        rows = float(np.abs(W.sum(axis=1) - 1).max())
        self.wrong = (self.graph.off + rows) / EPS
        algorithm = setup.algorithm
        block = algorithm.blocks[self.block]
        names = [name for name, where in algorithm.client.items() if where == block]
        self.mixed = np.array([name in algorithm.mixed for name in names])

    def recorder(self) -> Recorder:
        return ModeRecorder(self)

    def over_clients(self, i: int, left: Sides, right: Sides) -> list[tuple[float, Sides, Sides]]:
        """The part of the mean state; those of the modes are added by `ModeRecorder`."""
        return [(1.0, left, right)]

    def check_projection(self, moment: Any, t: int) -> None:
        """Methods on graphs do not project."""

    # --- The mean ---

    def start(self) -> Moment:
        """See `Moments.start`, of the server and the mean."""
        start, states, sizes = self.states()
        mean, large = mean_state(states, sizes)
        loading = np.vstack([np.sqrt(self.n) * (start.from_clients @ start.roots[0]), start.roots[0] / np.sqrt(self.n)])
        covariance = np.zeros((self.size, self.size))
        covariance[:-1, :-1] = loading @ loading.T
        mean, size = (
            np.concatenate([*parts]) for parts in ((start.server, mean, [1.0]), (start.server_size, large, [0.0]))
        )
        roots, unit, zeros = np.sqrt(np.diagonal(covariance)), self.d + self.n + 16, np.zeros(self.size)
        off, rounding = majorant(unit * (size + roots)), majorant(np.sqrt(2 * unit) * roots)
        return Moment(mean, covariance, np.diag(off), np.diag(rounding), zeros, zeros)

    def round_map(self, t: int) -> RoundMap:
        """The map of the mean, which mixing leaves as it is."""
        return self._kept(b"", self._mean_round)

    def _mean_round(self) -> RoundMap:
        keep, to_server = self.rounds_of.aggregate(self.n)
        A_0 = self._base(keep)
        part, error, noise = self.increment(0, 1.0, self.n * to_server)
        B, wrong = np.zeros_like(A_0), np.zeros_like(A_0)
        here = np.ix_(self.outputs(0), self.inputs(0))
        B[here], wrong[here] = part, error + np.abs(part)
        whole = noise.scaled(1 / self.n)
        return RoundMap(A_0 + B, self._added(A_0, wrong, B), np.abs(A_0) + np.abs(B), _widened(whole, self.size))

    # --- The modes ---

    def _rotated(self, matrix: Array, slots: int) -> tuple[Array, Array]:
        """Blocks (slots, slots', d) on the diagonal in the basis of H, and (slots, slots') norms of what is beside."""
        U, d = self.hessian.vectors, self.d
        blocks = matrix.reshape(len(matrix) // d, d, slots, d).transpose(0, 2, 1, 3)
        turned = U.T @ blocks @ U
        diagonal = np.einsum("pqjj->pqj", turned).copy()
        turned[:, :, np.arange(d), np.arange(d)] = 0.0
        rest = np.sqrt((turned**2).sum(axis=(2, 3)))
        norms = np.sqrt((blocks**2).sum(axis=(2, 3)))
        # What the products round, and that the basis is not quite orthonormal.
        return diagonal, rest + norms * (4 * d * np.sqrt(d) * EPS + 2 * self.hessian.apart)

    @cached_property
    def local(self) -> ModeMap:
        """The local steps of a client."""
        part, b, d = self.rounds_of.client_round(0, 1.0), self.slots - 1, self.d
        own = slice(self.server, self.server + self.client)
        F, beside = self._rotated(part.client_rows[: b * d, own], self.slots)
        noise, rest = self._rotated(part.noise[: b * d, : b * d], b)
        error = part.client_error[: b * d, own].reshape(b, d, self.slots, d)
        # An error entry by entry is one in norm, of any coordinate by any.
        across = beside / EPS + np.sqrt((error**2).sum(axis=(1, 3)))
        slack = np.full(b, np.sqrt(2 * float(rest.max(initial=0.0)) / EPS))
        off, rough = (np.sqrt((each[: b * d].reshape(b, d) ** 2).sum(axis=1)) for each in (part.off, part.rough))
        return ModeMap(F, 4 * np.abs(F), across, noise, off, np.hypot(rough, slack))

    @cached_property
    def scales(self) -> tuple[Array, Array]:
        """E Q_k, and the coin's (Q_k - 1) sqrt(s (1 - s)), (b, K, 1)."""
        s, lam = self.original.mixes, self.graph.values[None, :, None]
        mixed = self.mixed[:, None, None]
        usual = np.where(mixed, s * lam + (1 - s), 1.0)
        return usual, np.where(mixed, np.sqrt(s * (1 - s)) * (lam - 1), 0.0)

    def first_modes(self) -> ModeMoments:
        """The moments of the modes at the start."""
        start, states, sizes = self.states()
        V, U, n, d, b = self.graph.vectors, self.hessian.vectors, self.n, self.d, self.slots - 1
        X, large = (each.reshape(n, self.slots, d) for each in (states, sizes))
        even = (X[0] == X).all(axis=0)
        # What is the same everywhere is in no mode; a mean is taken out, which is not there in exact numbers.
        X = np.where(even, 0.0, X - X.mean(axis=0))
        mean = np.einsum("ik,ipa,aj->pkj", V, X, U, optimize=True)
        moved = np.einsum("ik,ipa,aj->pkj", np.abs(V), np.abs(X) + large, np.abs(U), optimize=True)
        length = np.sqrt((X**2).sum(axis=(0, 2)))[:, None, None]
        wrong = (n + d + 16) * moved + (2 * (self.graph.apart + self.hessian.apart) / EPS) * length
        root = start.roots[0].reshape(self.slots, d, -1)[:b]
        noise = np.einsum("pax,qbx,aj,bj->pqj", root, root, U, U, optimize=True)
        second = np.zeros((3, b, b, V.shape[1], d))
        second[0] = noise[:, :, None]
        spread = np.sqrt(np.einsum("ppj->pj", noise))[:, None]
        at = np.arange(b)
        unit = 4 * d + 16
        second[1, at, at] = b * (wrong[:b] + unit * spread) ** 2
        second[2, at, at] = b * 2 * unit * spread**2
        self.slope_off = wrong[b]
        return ModeMoments(mean, second)

    def advance(self, modes: ModeMoments) -> ModeMoments:
        """The modes after a round: as `RoundMap.advance` does, mode by mode."""
        local, (usual, coin), b = self.local, self.scales, self.slots - 1
        x, roots = modes.mean, modes.roots
        F = local.F[:, :, None]
        stepped = sum((F[:, q] * x[q] for q in range(b + 1)), np.zeros(()))
        mean = np.concatenate([usual * stepped, x[b:]])
        # The map A of the state, and how large it is with the coin's.
        A = usual[:, None] * F[:, :b]
        D = coin[:, None] * F[:, :b]
        large = np.abs(usual)[:, None] + np.abs(coin)[:, None]
        random = bool(coin.any())
        unit = b + 8
        # Errors of the map, by the own coordinate, by all coordinates of H and by all modes.
        size = np.abs(F) * roots
        fresh = np.sum(local.error[:, :, None] * roots + unit * size, axis=1)
        fresh = fresh + np.einsum("pq,qk->pk", local.across, np.sqrt((roots**2).sum(axis=2)))[:, :, None]
        fresh[..., :] += np.abs(local.F[:, b, None]) * self.slope_off
        fresh = large[:, 0] * fresh
        loud = np.einsum("ppj->pj", local.noise)[:, None]
        whole = np.sqrt((size.sum(axis=1) ** 2 + loud).sum(axis=1, keepdims=True))
        fresh = fresh + np.where(self.mixed[:, None, None], self.wrong, 0.0) * whole
        new = _sandwich(A, modes.second, A)
        if random:
            new += _sandwich(D, modes.second, D)
        scale = usual[:, None] * usual[None] + coin[:, None] * coin[None]
        noise = scale * local.noise[:, :, None]
        new[0] += noise
        pushed = (coin * stepped) ** 2
        if random:
            push = coin * stepped
            new[0] += push[:, None] * push[None]
        at = np.arange(b)
        old = new[1, at, at]
        square = b * (fresh**2 + (large[:, 0] * local.noise_off[:, None, None]) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where((square > 0) & (old > 0), old / square, 0.0).max(axis=0)
        a = np.maximum(np.sqrt(ratio), 1.0)
        a = np.where(np.isfinite(a), a, 1.0)
        guard = 8 * b * unit * EPS
        moved = np.sum(
            large * np.abs(F[:, :b]) * np.sqrt(np.maximum(np.einsum("ppkj->pkj", modes.second[1]), 0.0)), axis=1
        )
        new[1] *= 1 + 1 / a
        new[1, at, at] += (1 + a) * square + guard * (np.maximum(old, 0.0) + moved**2)
        spread = np.sum(large * np.abs(F[:, :b]) * modes.spreads, axis=1)
        own = np.einsum("ppkj->pkj", noise)
        rough = 2 * unit * (spread**2 + pushed + own) + (large[:, 0] * local.noise_rough[:, None, None]) ** 2
        new[2, at, at] += b * rough + guard * np.maximum(new[2, at, at], 0.0)
        return ModeMoments(mean, new)

    def before_rounds(self) -> Iterator[Any]:
        """The moment of the mean before each round, and the modes."""
        modes = self.first_modes()
        for t, (moment, _) in enumerate(self.rounds()):
            yield moment, modes
            if t + 1 < self.setup.T:
                modes = self.advance(modes)


def _widened(noise: Noise, size: int) -> Noise:
    """A noise of all entries but the constant as one of the whole state."""
    covariance = np.zeros((size, size))
    covariance[:-1, :-1] = noise.covariance
    return Noise(covariance, np.append(noise.off, 0.0), np.append(noise.rough, 0.0))


class ModeRecorder(Recorder):
    """Quantities of the mean and of the modes."""

    def __init__(self, moments: GraphMoments) -> None:
        super().__init__(moments)
        self._moments = moments
        self._of_modes: list[tuple[int, float, Array, Array]] = []
        b, d = moments.slots - 1, moments.d
        at = moments.original.maps
        group, slot = at.point()[moments.block]
        servers = at.server.slots
        h = moments.hessian.values
        point = np.zeros((b + 1, d))
        if group == "client":
            point[slot] = 1.0
        gradient = h * point
        gradient[b] -= 1.0
        for q, record in enumerate(moments.plan.records):
            for (term,) in record.terms:
                if term.over is TermOver.MEANS:
                    continue
                if term.over is TermOver.VALUES:
                    slope = np.zeros((b + 1, d))
                    slope[b] = 1.0
                    self._of_modes.append((q, term.factor / 2, point, gradient - slope))
                    continue
                if term.block != moments.block:
                    continue
                sides = []
                for side in (term.left, term.right):
                    rows = np.zeros((b + 1, d))
                    rows[:] = side[servers : servers + b + 1, None]
                    sides.append(rows + side[-2] * gradient + side[-1] * point)
                self._of_modes.append((q, term.factor, *sides))
        self._of_modes = [each for each in self._of_modes if each[2].any() and each[3].any()]

    def record(self, moment: Any) -> tuple[Array, Array]:
        mean, modes = moment
        values, errors = super().record(mean)
        n = self._moments.n
        for q, factor, left, right in self._of_modes:
            one = self._lengths(modes, left)
            other = one if np.array_equal(left, right) else self._lengths(modes, right)
            found = float(
                (one[0] * other[0]).sum() + (self._covariance(modes.second[0], left) * right[:-1, None]).sum()
            )
            error = product_error(one[1], other[1])
            values[q] += factor / n * found
            errors[q] += abs(factor) / n * (error + 8 * EPS * abs(found))
        return values, np.where(np.isnan(errors) & np.isfinite(values), np.inf, errors)

    @staticmethod
    def _covariance(second: Array, row: Array) -> Array:
        """Row times second moment, (b, K, d)."""
        b = len(second)
        return np.stack([sum((row[p][None] * second[p, q] for p in range(b)), np.zeros(())) for q in range(b)])

    def _lengths(self, modes: ModeMoments, row: Array) -> tuple[Array, tuple[float, float, float]]:
        """The row's means, and the `Moment.lengths` of it."""
        b, unit, eigen = len(row) - 1, len(row) + 16, self._moments.hessian
        mean = np.einsum("pj,pkj->kj", row, modes.mean)
        square, off, rounding = (float((self._covariance(part, row) * row[:-1, None]).sum()) for part in modes.second)
        own = unit * np.einsum("pj,pkj->kj", np.abs(row), modes.roots) + np.abs(row[b]) * self._moments.slope_off
        # Rows of gradients are those of H in its own coordinates, up to what that is off.
        wide = (eigen.off + 4 * eigen.apart * float(np.abs(eigen.values).max(initial=0.0))) / EPS
        beside = wide * float(np.sqrt((modes.roots**2).sum()))
        spread = np.einsum("pj,pkj->kj", np.abs(row[:-1]), modes.spreads)
        error = EPS * (np.sqrt(max(off, 0.0)) + float(np.sqrt((own**2).sum())) + beside)
        fresh = 2 * unit * float((spread**2).sum())
        length = float(np.sqrt((mean**2).sum() + abs(square)))
        return mean, (length, error, EPS * (max(rounding, 0.0) + fresh))


__all__ = ["GraphMoments", "applies"]
