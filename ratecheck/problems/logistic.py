"""Logistic regression with a nonconvex regulariser: the experiment of the partial-personalisation paper.

Source: "Sharper Convergence Guarantees for Federated Learning with Partial Model Personalization", Section 5.
Every constant that the theorems of that paper need is certified for the data at hand, whatever the data are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ratecheck.algebra.one_dimensional import ternary_each
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import bounded, check_size, nonnegative, whole
from ratecheck.problems.constants import Certificate, Constant, Constants
from ratecheck.problems.datasets import DataTable, dealt, synthetic
from ratecheck.problems.problem import SingleLevel, WrittenProblem
from ratecheck.problems.two_level.inner import InnerProblem, curvature, smoothness

if TYPE_CHECKING:
    from ratecheck.kernels.oracle import Oracle

LARGEST = 1e60  # beyond it products of four inputs, which the constants contain, could leave the range of a float


class Logistic(SingleLevel):
    """Regularised logistic regression over ``n`` clients with shared variables ``u`` and personal variables ``v_i``.

    ``f_i(u, v_i) = (1/N) sum_l log(1 + exp(-c_l (a_l'u + b_l'v_i))) + rho * r(u, v_i)``, ``f = (1/n) sum_i f_i``,
    ``r(u, v_i) = |u|^2 / (1 + |u|^2) + |v_i|^2 / (1 + |v_i|^2)``.

    ``features`` has shape (n, N, d): the first ``shared`` = d_u columns are the ``a_l``, the other d_v the ``b_l``;
    d_u = 0 (fully personal) and d_v = 0 (fully shared) are both allowed. ``labels`` has shape (n, N), values -1 and +1.
    ``batch=None`` means full gradients; ``batch=B`` means that every local step draws B of the client's N samples
    uniformly with replacement.

    Attributes: ``n, N, d, d_u, d_v, rho, batch``; ``A`` (n, N, d), C-contiguous: the features times their label.

    Raises :class:`InputError` where a shape does not fit, a feature is not finite or larger than 1e60, a label is not
    -1 or +1, ``shared`` is outside 0..d, ``batch`` outside 1..N, or ``rho`` negative or not finite.
    Source: ``pfl``, Section 5 (there: MNIST over n = 10 clients; ``rho`` is not printed, 0.01 here).
    """

    kind: ClassVar[str] = "logistic"
    written: ClassVar[tuple[WrittenProblem, ...]] = (WrittenProblem("logistic", "synthetic"),)

    def __init__(
        self, features: ArrayLike, labels: ArrayLike, *, shared: int, rho: float = 0.01, batch: int | None = None
    ) -> None:
        rows = bounded("features", features, LARGEST)
        if rows.ndim != 3 or 0 in rows.shape:
            raise InputError(f"features: shape {rows.shape}; needed (n, N, d), each at least 1")
        self.n, self.N, self.d = rows.shape
        signs = bounded("labels", labels, LARGEST, (self.n, self.N))
        if (wrong := np.argwhere(np.abs(signs) != 1.0)).size:
            client, sample = wrong[0]
            raise InputError(f"labels[{client}, {sample}] is {signs[client, sample]:g}; needed -1 or +1")
        self.d_u = whole("shared", shared, 0, self.d, "there are that many features")
        self.d_v = self.d - self.d_u
        self.rho = nonnegative("rho", rho)
        if self.rho > LARGEST:
            raise InputError(f'rho={self.rho:g} breaks "rho <= {LARGEST:g}"; rescale the objective')
        self.batch = None if batch is None else whole("batch", batch, 1, self.N, "a client has that many samples")
        self.A: Array = np.ascontiguousarray(rows * signs[:, :, None])

    @property
    def least_curvature(self) -> float | None:
        """0 without the regulariser, which is not convex."""
        return None if self.rho else 0.0

    @classmethod
    def from_table(
        cls,
        table: DataTable,
        n: int = 10,
        *,
        shared: int | None = None,
        rho: float = 0.01,
        how: str = "label",
        seed: int = 0,
        batch: int | None = None,
        part: str = "all",
        alpha: float = 0.5,
        classes: int = 2,
    ) -> Logistic:
        """The problem on ``table`` dealt to ``n`` clients by :func:`ratecheck.problems.datasets.dealt`.

        ``shared`` is the number of leading features that are shared: half of them (rounded down) by default. ``part``
        is "all", "train" or "test": a fifth of a client's rows may be held out. ``alpha`` is the concentration of
        ``how="dirichlet"``, ``classes`` the number of shards of a client. Raises :class:`InputError` as the constructor
        and ``dealt`` do.
        """
        features, labels = dealt(table, n, how, seed, part, alpha, classes)
        d_u = table.features.shape[1] // 2 if shared is None else shared
        return cls(features, labels, shared=d_u, rho=rho, batch=batch)

    @classmethod
    def synthetic(
        cls,
        n: int = 10,
        N: int = 100,  # the paper's letter
        d: int = 20,
        *,
        shared: int | None = None,
        heterogeneity: float = 1.0,
        rho: float = 0.01,
        seed: int = 0,
        batch: int | None = None,
    ) -> Logistic:
        """``n`` clients with ``N`` samples each of :func:`ratecheck.problems.datasets.synthetic`, one task per client.

        ``heterogeneity=0``: all clients draw from one law. ``shared`` as in :meth:`from_table`.
        Raises :class:`InputError` as the constructor and ``synthetic`` do.
        """
        n, samples = whole("n", n, 1), whole("N", N, 1)
        check_size(float(n) * samples * whole("d", d, 1), n=n, N=samples, d=int(d))
        table = synthetic(n * samples, d, seed, groups=n, heterogeneity=heterogeneity)
        return cls.from_table(table, n, shared=shared, rho=rho, how="label", seed=seed, batch=batch)

    def __repr__(self) -> str:
        batch = "" if self.batch is None else f", batch={self.batch}"
        return f"Logistic(n={self.n}, N={self.N}, d_u={self.d_u}, d_v={self.d_v}, rho={self.rho:g}{batch})"

    def inner(self, lambda_: float) -> InnerProblem:
        """By Newton's method; see `SingleLevel.inner`."""
        return LogisticInner(self, lambda_)

    def oracle(self, name: str, noise: Array, lambda_: float) -> Oracle:
        from ratecheck.kernels.oracle import LOGISTIC, PROXIMAL, Oracle

        kind, lambda_ = (PROXIMAL, lambda_) if name == "prox" else (LOGISTIC, 0.0)
        none2, none3, batch = np.zeros((1, 1)), np.zeros((1, 1, 1)), int(self.batch or 0)
        return Oracle(kind, none3, none2, self.A, float(self.rho), self.d_u, batch, lambda_, noise)

    def value(self, u: ArrayLike, v: ArrayLike) -> float:
        """``f(u, v)`` with ``u`` of shape (d_u,) and ``v`` of shape (n, d_v).

        Raises :class:`InputError` where a shape does not fit. Source: ``pfl``, eq. (1.1) and Section 5.
        """
        u, v = self._checked_point(u, v)
        regulariser = _penalty(u[None, :])[0] + _penalty(v).mean()
        return float(np.logaddexp(0.0, -self._margins(u, v)).mean() + self.rho * regulariser)

    def gradients(self, u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Every ``grad_u f_i(u, v_i)``, shape (n, d_u), and every ``grad_v f_i(u, v_i)``, shape (n, d_v).

        The gradient of the loss is ``-(1/N) sum_l s_l c_l (a_l, b_l)`` with ``s_l = 1/(1 + exp(margin_l))``.
        Raises :class:`InputError` where a shape does not fit. Source: ``pfl``, Section 5.
        """
        u, v = self._checked_point(u, v)
        slopes = np.exp(-np.logaddexp(0.0, self._margins(u, v)))
        loss = -np.matmul(slopes[:, None, :], self.A)[:, 0, :] / self.N
        return (
            loss[:, : self.d_u] + self.rho * _penalty_gradient(u[None, :]),
            loss[:, self.d_u :] + self.rho * _penalty_gradient(v),
        )

    def constants(
        self, u0: ArrayLike | None = None, v0: ArrayLike | None = None, sigma_u: float = 0.0, sigma_v: float = 0.0
    ) -> Constants:
        """The constants of Assumptions 2.1 to 2.3 of ``pfl`` and those of Table 1 at the start ``(u0, v0)`` (zeros).

        - ``L_u, L_v, L_uv, L_vu``, ``L`` = their maximum: smoothness, the worst client's.
        - ``F_0 = f(u0, v0) - inf f``; ``B_0 = sum_i |grad_u f_i(u0, v0_i)|^2``.
        - ``b``: ``(1/n) sum_i |grad_u f_i|^2 <= b^2 + |grad_u f|^2`` at every point.
        - ``sigma_u, sigma_v``: square roots of the largest total variance ``E|grad F - grad f_i|^2`` of a client.
          The arguments of these names are those of additive Gaussian noise, independent of the draw of a mini-batch:
          the squares add up.

        Upper bounds hold for the exact real numbers that the data stand for, up to rounding of a few units in the last
        place. Constants of an absent block (d_u = 0 or d_v = 0) are 0.
        Raises :class:`InputError` where a start or a noise level does not fit or is not finite.
        """
        u = bounded("u0", np.zeros(self.d_u) if u0 is None else u0, LARGEST, (self.d_u,))
        v = bounded("v0", np.zeros((self.n, self.d_v)) if v0 is None else v0, LARGEST, (self.n, self.d_v))
        noise_u, noise_v = nonnegative("sigma_u", sigma_u), nonnegative("sigma_v", sigma_v)
        floor, why = self._infimum_floor
        gap = max(0.0, self.value(u, v) - floor)
        start = Constant.exact("B_0", float(np.square(self.gradients(u, v)[0]).sum()), "gradients at the start")
        return Constants(
            *self._smoothness(),
            Constant("F_0", gap, Certificate.UPPER_BOUND, f"f(x0) - lower bound: {why}"),
            start,
            self._dissimilarity(),
            self._noise("sigma_u", self.A[:, :, : self.d_u], noise_u),
            self._noise("sigma_v", self.A[:, :, self.d_u :], noise_v),
        )

    @cached_property
    def largest_gradients(self) -> dict[str, float]:
        """Bounds of ``G_u = |grad_u f|^2`` and ``G_v = (1/n) sum_i |grad_v f_i|^2`` at every point.

        The loss's gradient is ``-(1/N) sum_l s_l c_l (a_l, b_l)`` with slopes s_l in [0, 1], so that each coordinate
        lies between the mean of the negative and that of the positive parts, and the whole is no longer than the mean
        length of the rows. The regulariser's is at most ``rho * 3 sqrt(3)/8``, at the distance 1/sqrt(3).
        """
        shared, personal = self.A[:, :, : self.d_u], self.A[:, :, self.d_u :]
        push = self.rho * 3 * math.sqrt(3) / 8 * (1 + 1e-12)
        of_u = _steepest(shared.reshape(1, self.n * self.N, self.d_u))[0]
        return {
            "G_u": (float(of_u) + push) ** 2 if self.d_u else 0.0,
            "G_v": float(np.square(_steepest(personal) + push).mean()) if self.d_v else 0.0,
        }

    def of_gradients(self, name: str) -> Constant | None:
        """See `Problem.of_gradients`: slopes in [0, 1], and the regulariser's gradient on either block."""
        if name != "gradient_bound":
            return None
        push = self.rho * 3 * math.sqrt(3) / 8 * (1 + 1e-12) * math.sqrt((self.d_u > 0) + (self.d_v > 0))
        largest = float(_steepest(self.A).max()) + push
        return Constant(name, largest, Certificate.UPPER_BOUND, "slopes in [0, 1], and the regulariser's largest")

    def expected_smoothness(self, start: Mapping[str, Array]) -> tuple[float, float, float]:
        """See `Problem.expected_smoothness`: by the smoothness L_l of the samples, none of which is negative.

        E||g_i||^2 = (1 - 1/B) ||grad f_i||^2 + (1/B) mean_l ||grad f_il||^2 for batches of B, drawn with replacement,
        and ||grad f_il||^2 <= 2 L_l (f_il - inf f_il) <= 2 L_l f_il. So A = max L_l/B, and C is 2 A times a bound of
        inf f_i, for which f_i(start) will do.
        """
        if self.batch is None:
            return 0.0, 1.0, 0.0
        u, v = self._checked_point(*self.start(start))
        regulariser = _penalty(u[None, :])[0] + _penalty(v)
        values = np.logaddexp(0.0, -self._margins(u, v)).mean(axis=1) + self.rho * regulariser
        smooth = np.square(self.A).sum(axis=2).max(axis=1) / 4 + 2 * self.rho
        share = 1 / self.batch
        return float(smooth.max()) * share, 1 - share, float((2 * smooth * values).max()) * share

    def _margins(self, u: Array, v: Array) -> Array:
        """``c_l (a_l'u + b_l'v_i)``, shape (n, N)."""
        return np.asarray(self.A[:, :, : self.d_u] @ u + np.matmul(self.A[:, :, self.d_u :], v[:, :, None])[:, :, 0])

    def _smoothness(self) -> tuple[Constant, ...]:
        """``L_u, L_v, L_uv, L_vu, L``.

        The loss adds ``(1/N) sum_l w_l (a_l, b_l)(a_l, b_l)'`` with ``w_l`` in (0, 1/4], equal to 1/4 at the origin.
        With ``s = |x|^2`` the Hessian of ``s/(1+s)`` has the eigenvalues ``2/(1+s)^2`` and ``(2-6s)/(1+s)^3``, within
        [-1/2, 2] and equal to 2 at the origin. So the diagonal blocks are largest at the origin: L_u, L_v are exact.
        """
        scale = float(np.abs(self.A).max()) or 1.0  # squares of tiny features would underflow
        shared, personal = self.A[:, :, : self.d_u] / scale, self.A[:, :, self.d_u :] / scale
        unit = scale * scale / (4 * self.N)
        blocks = [
            Constant.exact(name, 0.0, "the block is absent")
            if rows.shape[2] == 0
            else Constant.exact(
                name, unit * float((_norms(rows) ** 2).max()) + 2 * self.rho, "largest Hessian: at the origin"
            )
            for name, rows in (("L_u", shared), ("L_v", personal))
        ]
        least, most = _coupling(shared, personal)
        attained = most <= least * (1 + 1e-12)
        kind = Certificate.EXACT if attained else Certificate.UPPER_BOUND
        why = "largest Hessian: at the origin" if attained else f"weights in [0, 1/4]; at the origin {unit * least:.6g}"
        why = "a block is absent" if 0 in (self.d_u, self.d_v) else why
        # The coupling is at most sqrt(L_u L_v), client by client, so that L is that of a diagonal block.
        overall = Constant.exact("L", max(c.value for c in blocks), "max(L_u, L_v), which bounds L_uv and L_vu")
        return *blocks, *(Constant(name, unit * most, kind, why) for name in ("L_uv", "L_vu")), overall

    def _dissimilarity(self) -> Constant:
        """``b``: the regulariser's gradient is common to the clients and cancels; that of the loss is left."""
        if self.d_u == 0 or self.n == 1:
            return Constant.exact("b", 0.0, "no shared variables" if self.d_u == 0 else "one client")
        scale = float(np.abs(self.A[:, :, : self.d_u]).max()) or 1.0
        rows = self.A[:, :, : self.d_u] / scale
        box, ball = _box_spread(rows), _ball_spread(rows)
        how = "coordinate by coordinate" if box <= ball else "centred at 1/2, Minkowski"
        return Constant("b", scale * min(box, ball), Certificate.UPPER_BOUND, f"slopes in [0, 1], {how}")

    def _noise(self, name: str, rows: Array, additive: float) -> Constant:
        if rows.shape[2] == 0:
            return Constant.exact(name, 0.0, "the block is absent")
        if self.batch is None:
            return Constant.exact(name, additive, "additive noise, full gradients")
        scale = float(np.abs(rows).max()) or 1.0
        sampling = scale * _sample_spread(rows / scale) / math.sqrt(self.batch)
        why = f"additive noise {additive:g} and batches of {self.batch}, any slopes in [0, 1]"
        return Constant(name, math.hypot(additive, sampling), Certificate.UPPER_BOUND, why)

    @cached_property
    def _infimum_floor(self) -> tuple[float, str]:
        """A certified lower bound of ``inf f``, and where it comes from."""
        together = _convex_floor(self.A, self.d_u)
        # Without personal variables all clients minimise over the same u: they are one client with n N samples.
        rows = self.A if self.d_v else self.A.reshape(1, -1, self.d)
        each = [_convex_floor(client[None], self.d_u) for client in rows] if self.rho and self.d_v else [together]
        floors = {
            0.0: "loss >= 0 and regulariser >= 0",
            _radius_floor(rows, self.rho, np.array(each)): "loss against regulariser at every distance",
            together: "infimum of the loss by its Newton decrement, regulariser >= 0",
        }
        best = max(floors)
        return best, floors[best]


_NEWTON_STEPS = 200  # far more than it takes; what it reached is checked


class LogisticInner(InnerProblem):
    """The minimisation over theta for logistic regression, by Newton's method."""

    rounding = 0.0

    def __init__(self, problem: Logistic, lambda_: float) -> None:
        self.problem, self.lambda_ = problem, lambda_
        # The least eigenvalue of a Hessian of |x|^2/(1 + |x|^2) is -1/2, where |x| = 1; the loss is convex.
        self.ell = problem.rho / 2
        label = np.ones((1, problem.N))  # the rows of A have theirs in them
        self.clients = [Logistic(rows[None], label, shared=problem.d, rho=problem.rho) for rows in problem.A]

    def prox(self, i: int, w: Array) -> Array:
        """Newton's method on the gradient, whose norm every step reduces.

        The Hessian is positive definite, so that the norm falls along the Newton direction wherever it is not 0.
        """
        theta, slope = w, self._slope(i, w, w)
        for _ in range(_NEWTON_STEPS):
            if (found := self._step(i, w, theta, slope)) is None:
                break
            theta, slope = found
        left, lengths = float(np.linalg.norm(slope)), np.linalg.norm(self.problem.A[i], axis=1)
        # Bounds of what grad f_i and the change of the whole gradient per length are made of.
        gradient = float(lengths.mean()) + self.problem.rho
        curvature = float(np.mean(lengths**2)) / 4 + 2 * self.problem.rho + self.lambda_
        if not left <= 1e-12 * (gradient + curvature * float(np.linalg.norm(theta) + np.linalg.norm(w))):
            raise InputError(f"the minimiser at this w is hidden by rounding: a gradient of {left:.3g} is left")
        return theta

    def value(self, i: int, theta: Array) -> float:
        return self.clients[i].value(theta, np.zeros((1, 0)))

    def floor(self) -> float:
        problem = self.problem
        alone = Logistic(problem.A, np.ones((problem.n, problem.N)), shared=0, rho=problem.rho)
        return alone.value(np.zeros(0), np.zeros((problem.n, problem.d))) - alone.constants()["F_0"].value

    def constants(self) -> tuple[Constant, ...]:
        L = self.problem.constants()["L_u"]
        convex, weak = (abs(float(curvature(np.array(h), self.lambda_))) for h in (L.value, -self.ell))
        # The largest Hessian of the f_i is the one at 0, which is the prox of some w.
        if convex >= weak:
            L_F = smoothness(convex, self.lambda_, L.certificate, "lambda L/(lambda + L), where the prox is 0")
        else:
            L_F = smoothness(weak, self.lambda_, Certificate.UPPER_BOUND, "lambda ell/(lambda - ell)")
        kind = Certificate.UPPER_BOUND if self.ell else Certificate.EXACT
        return L_F, Constant("L", L.value, L.certificate, L.reason), Constant("ell", self.ell, kind, "rho/2")

    def _step(self, i: int, w: Array, theta: Array, slope: Array) -> tuple[Array, Array] | None:
        """The next iterate and its gradient; None where no step makes the gradient shorter any more."""
        step = np.linalg.solve(self._hessian(i, theta), slope)
        size, length = float(np.linalg.norm(slope)), 1.0
        while length > 1e-10:
            trial = theta - length * step
            reduced = self._slope(i, trial, w)
            if np.linalg.norm(reduced) < (1 - length / 4) * size:
                return trial, reduced
            length /= 2
        return None

    def _slope(self, i: int, theta: Array, w: Array) -> Array:
        return np.asarray(self.clients[i].gradients(theta, np.zeros((1, 0)))[0][0] + self.lambda_ * (theta - w))

    def _hessian(self, i: int, theta: Array) -> Array:
        """With ``r = 1 + |theta|^2`` and s_l the slope of sample l: the Hessian in theta.

        ``(1/N) sum_l s_l (1 - s_l) row_l row_l' + rho (2 I/r^2 - 8 theta theta'/r^3) + lambda I``.
        """
        rows, eye = self.problem.A[i], np.eye(len(theta))
        margins = rows @ theta
        weights = np.exp(-np.logaddexp(0.0, margins) - np.logaddexp(0.0, -margins))
        root = math.sqrt(1.0 + float(theta @ theta))
        unit = theta / root
        regulariser = (2 * eye - 8 * np.outer(unit, unit)) / root**2 / root**2
        return np.asarray((rows.T * weights) @ rows / len(rows) + self.problem.rho * regulariser + self.lambda_ * eye)


def _penalty(x: Array) -> Array:
    """``|x|^2 / (1 + |x|^2)`` of every row; clipping changes no digit and keeps the square finite."""
    s = np.square(np.clip(x, -1e100, 1e100)).sum(axis=1)
    return np.asarray(s / (1.0 + s))


def _penalty_gradient(x: Array) -> Array:
    """``2x / (1 + |x|^2)^2`` of every row."""
    x = np.clip(x, -1e100, 1e100)
    inner = 1.0 + np.square(x).sum(axis=1, keepdims=True)
    return np.asarray(2.0 * (x / inner) / inner)


def _norms(matrices: Array) -> Array:
    """Spectral norm of each matrix of a stack, from the smaller Gram matrix; 0 where a side is empty."""
    if 0 in matrices.shape[1:]:
        return np.zeros(len(matrices))
    flipped = np.swapaxes(matrices, 1, 2)
    gram = flipped @ matrices if matrices.shape[2] <= matrices.shape[1] else matrices @ flipped
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[:, -1], 0.0)))


def _coupling(a: Array, b: Array) -> tuple[float, float]:
    """Lower and upper bound of the largest ``|sum_l w_l a_l b_l'|`` over clients and weights ``w_l`` in [0, 1].

    Lower: all weights 1. Upper, each valid for any data, client by client: ``|a| |b|``; half the largest eigenvalue of
    the joint Gram matrix (off-diagonal block of a semidefinite matrix); the entrywise absolute values (tight where all
    features are nonnegative, as pixels are); and, with the weights centred at 1/2, half of the lower bound plus half of
    the best bound for weights of either sign.
    """
    all_ones = _cross_norms(a, b)
    either_sign = np.minimum(_norms(a) * _norms(b), _cross_norms(np.abs(a), np.abs(b)))
    joint = 0.5 * _norms(np.concatenate([a, b], axis=2)) ** 2
    most = np.minimum(np.minimum(either_sign, joint), 0.5 * (all_ones + either_sign))
    return float(all_ones.max()), float(most.max())


def _cross_norms(a: Array, b: Array) -> Array:
    """Spectral norm of ``a_i' b_i`` for every client."""
    if 0 in (a.shape[2], b.shape[2]):
        return np.zeros(len(a))
    a, b = (_narrowed(x) for x in (a, b))
    return _norms(np.swapaxes(a, 1, 2) @ b)


def _narrowed(rows: Array) -> Array:
    """Rows in another orthonormal basis of their own span, where there are fewer rows than columns."""
    if rows.shape[2] <= rows.shape[1]:
        return rows
    return np.asarray(np.swapaxes(np.linalg.qr(np.swapaxes(rows, 1, 2), mode="r"), 1, 2))


def _steepest(rows: Array) -> Array:
    """Bounds of ``|(1/N) sum_l s_l rows_il|`` for all slopes in [0, 1], (n,)."""
    scale = float(np.abs(rows).max(initial=0.0)) or 1.0
    rows = rows / scale
    low, high = np.minimum(rows, 0.0).mean(axis=1), np.maximum(rows, 0.0).mean(axis=1)
    box = np.sqrt(np.square(np.maximum(-low, high)).sum(axis=1))
    return np.asarray(scale * np.minimum(box, np.linalg.norm(rows, axis=2).mean(axis=1)) * (1 + 1e-12))


def _box_spread(rows: Array) -> float:
    """Bound of ``sqrt((1/n) sum_i |g_i - mean g|^2)`` for ``g_i = (1/N) sum_l s_il rows_il``, all ``s_il`` in [0, 1].

    Coordinate j of ``g_i`` lies between the mean of the negative and the mean of the positive parts; the spread about
    the mean is at most that about any centre m: ``sum_j min_m (1/n) sum_i max((low_ij - m)^2, (high_ij - m)^2)``.
    """
    low, high = np.minimum(rows, 0.0).mean(axis=1), np.maximum(rows, 0.0).mean(axis=1)

    def spread(m: Array) -> Array:
        return np.asarray(np.square(np.maximum(np.abs(low - m), np.abs(high - m))).mean(axis=0))

    # Any m is valid, so that stopping early costs tightness only.
    return float(np.sqrt(spread(ternary_each(spread, low.min(axis=0), high.max(axis=0), 60)).sum()))


def _ball_spread(rows: Array) -> float:
    """The bound of :func:`_box_spread` with slopes ``1/2 + t/2``, ``t`` in [-1, 1], and Minkowski's inequality.

    The constant part contributes half the spread of the mean rows; the rest at most half of
    ``sqrt((1/n) sum_i sup_t |(1/N) sum_l t_l rows_il|^2)``, where the supremum is at most ``|rows_i| / sqrt(N)``.
    """
    centres = rows.mean(axis=1)
    fixed = np.square(centres - centres.mean(axis=0)).sum(axis=1).mean()
    free = (_norms(rows) ** 2).mean() / rows.shape[1]
    return 0.5 * float(np.sqrt(fixed) + np.sqrt(free))


def _sample_spread(rows: Array) -> float:
    """Bound of ``sqrt(max_i Var_l(s_l rows_il))``, ``l`` uniform over the samples, any slopes ``s_l`` in [0, 1].

    The variance is at most the mean square distance from any centre m, and a square is largest at an end of [0, 1]:
    ``Var <= (1/N) sum_l max(|m|^2, |rows_l - m|^2)``. Its minimum over m is a dual bound that is attained, but for
    fractional slopes, when the slopes are free.
    """
    if rows.shape[1] == 1:
        return 0.0
    squares = np.square(rows).sum(axis=2)
    m = 0.5 * rows.mean(axis=1)
    best = np.full(len(rows), np.inf)
    for step in range(40):  # subgradient steps of a strongly convex function; the best centre met is what counts
        excess = squares - 2.0 * np.matmul(rows, m[:, :, None])[:, :, 0]
        best = np.minimum(best, np.square(m).sum(axis=1) + np.maximum(excess, 0.0).mean(axis=1))
        target = np.matmul((excess > 0.0).astype(np.float64)[:, None, :], rows)[:, 0, :] / rows.shape[1]
        m = m + (target - m) / (step + 2)
    return float(np.sqrt(best.max()))


def _radius_floor(rows: Array, rho: float, loss_floors: Array) -> float:
    """Lower bound of ``inf f``: what the loss gains by going far out, the regulariser takes.

    With ``R = |(u, v_i)|``: loss_i is at least ``log(1 + exp(-|mean row_i| R))`` by Jensen and at least its own floor;
    the regulariser is at least ``R^2/(1+R^2)`` because ``s/(1+s)`` is subadditive. The first falls in R, the second
    grows: on each cell of a grid of radii the loss at its right end plus the regulariser at its left end is a lower
    bound. The last cell is unbounded.
    """
    radii = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 2000)])
    slopes = np.sqrt(np.square(rows.mean(axis=1)).sum(axis=1))
    regulariser = rho * radii**2 / (1.0 + radii**2)
    loss = np.maximum(np.logaddexp(0.0, -slopes[:, None] * radii[1:]), loss_floors[:, None])
    beyond = regulariser[-1] + loss_floors
    return float(np.minimum((loss + regulariser[:-1]).min(axis=1), beyond).mean())


def _convex_floor(rows: Array, d_u: int) -> float:
    """Lower bound of the infimum of the convex part ``mean log(1 + exp(-margin))``; 0 where none is certified.

    Where the data are separable in part, some margins run off to infinity and the infimum is not attained. Such samples
    are left out, which is valid (a loss is >= 0) and costs little (theirs tends to 0), and the rest is tried again.
    """
    dropped = np.zeros(rows.shape[:2], dtype=bool)
    for _ in range(10):
        kept = np.where(dropped[:, :, None], 0.0, rows)
        shared = _basis(kept[:, :, :d_u].reshape(dropped.size, d_u)).reshape(*dropped.shape, d_u)
        personal = np.stack([_basis(client) for client in kept[:, :, d_u:]])
        floor, margins = _newton_floor(shared, personal)
        if floor is not None:  # a dropped sample, now a row of zeros, counted with log 2
            return max(0.0, floor - math.log(2.0) * float(dropped.mean()))
        escaping = ~dropped & (margins > 10.0)
        if margins[~dropped].min() > 0.0 or not escaping.any():
            return 0.0
        dropped |= escaping
    return 0.0


def _newton_floor(shared: Array, personal: Array) -> tuple[float | None, Array]:
    """Lower bound of the infimum of ``c = mean log(1 + exp(-margin))``, or ``None``, and the margins where it ended.

    Newton's method leads to a point x with Hessian H and decrement ``e^2 = grad' H^-1 grad``. Along h the weight
    ``w(z) = 1/(2 + 2 cosh z)`` of a sample satisfies ``w(z + t) >= w(z) exp(-|t|)``, and
    ``|row'h|^2 <= |h|_H^2 nN / w_l`` because ``H >= w_l row row' / (nN)``. So with ``r^2 = min w / (nN)``, for
    ``|h|_H <= r``: ``c(x + h) >= c(x) - e |h|_H + |h|_H^2 / (2 exp(1))``. If ``e < r / (2 exp(1))`` the right side
    exceeds c(x) on the boundary; c is convex, so its infimum lies inside and is at least ``c(x) - exp(1) e^2 / 2``.
    """
    x = _Iterate(np.zeros(shared.shape[2]), np.zeros((len(personal), personal.shape[2])), shared, personal)
    for _ in range(60):
        if x.margins.min() > 0.0 or (step := x.newton_step()) is None:  # separable, or an infimum that is not attained
            break
        direction_u, direction_v, decrement = step
        if decrement * 4.0 * math.e**2 < 1e-6 * x.weights.min() / x.weights.size:
            return x.loss - 0.5 * math.e * decrement, x.margins
        length = 1.0
        while length > 1e-6:
            trial = _Iterate(x.u + length * direction_u, x.v + length * direction_v, shared, personal)
            if trial.loss <= x.loss - 0.25 * length * decrement:
                break
            length *= 0.5
        x = trial
    return None, x.margins


def _basis(columns: Array) -> Array:
    """Columns of root mean square 1, with those that are 0 or depend on earlier ones replaced by 0: the same span.

    The infimum of the convex part depends on the span alone. Dependent means: within 1e-13, the data's rounding.
    """
    kept, orthonormal = np.zeros_like(columns), np.zeros((len(columns), 0))
    for j in range(columns.shape[1]):
        if (largest := np.abs(columns[:, j]).max()) == 0.0:
            continue
        unit = columns[:, j] / largest
        unit = unit / np.sqrt(np.square(unit).sum())
        rest = unit - orthonormal @ (orthonormal.T @ unit)
        rest = rest - orthonormal @ (orthonormal.T @ rest)  # twice is enough for orthogonality to rounding
        size = math.sqrt(float(np.square(rest).sum()))
        if size > 1e-13:
            kept[:, j] = unit * math.sqrt(len(columns))
            orthonormal = np.column_stack([orthonormal, rest / size])
    return kept


class _Iterate:
    """The convex part at one point of Newton's method: value; margins, slopes and weights of the samples."""

    def __init__(self, u: Array, v: Array, shared: Array, personal: Array) -> None:
        self.u, self.v, self.shared, self.personal = u, v, shared, personal
        self.margins = shared @ u + np.matmul(personal, v[:, :, None])[:, :, 0]
        self.loss = float(np.logaddexp(0.0, -self.margins).mean())
        self.slopes = np.exp(-np.logaddexp(0.0, self.margins))
        self.weights = self.slopes * np.exp(-np.logaddexp(0.0, -self.margins))

    def newton_step(self) -> tuple[Array, Array, float] | None:
        """Direction in u and v, and the squared decrement; ``None`` where the Hessian is singular up to rounding.

        The Hessian has the blocks of an arrow: the personal variables are eliminated client by client.
        """
        a, b, count = self.shared, self.personal, self.weights.size
        weighted = np.swapaxes(b * self.weights[:, :, None], 1, 2) / count
        gradient_u = -np.einsum("il,ilp->p", self.slopes, a) / count
        gradient_v = -np.matmul(self.slopes[:, None, :], b)[:, 0, :] / count
        h_vv, h_vu = weighted @ b + _missing(b, (1,)), weighted @ a
        if not _well_conditioned(h_vv):
            return None
        solved = np.linalg.solve(h_vv, np.concatenate([h_vu, gradient_v[:, :, None]], axis=2))
        to_u, to_g = solved[:, :, :-1], solved[:, :, -1]
        flat = (a * self.weights[:, :, None]).reshape(count, -1)
        h_uu = flat.T @ a.reshape(count, -1) / count - np.einsum("ipk,ipj->kj", h_vu, to_u) + _missing(a, (0, 1))
        if not _well_conditioned(h_uu):
            return None
        u = -np.linalg.solve(h_uu, gradient_u - np.einsum("ipk,ip->k", h_vu, to_g))
        v = -to_g - to_u @ u
        return u, v, -float(gradient_u @ u + (gradient_v * v).sum())


def _missing(rows: Array, axes: tuple[int, ...]) -> Array:
    """Diagonal matrices with a 1 for every column that is 0 throughout: its variable has no effect and stays."""
    absent = (np.square(rows).sum(axis=axes) == 0.0).astype(np.float64)
    return np.asarray(absent[..., None] * np.eye(rows.shape[2]))


def _well_conditioned(matrices: Array) -> bool:
    if matrices.shape[-1] == 0:
        return True
    eigenvalues = np.linalg.eigvalsh(matrices)
    return bool((eigenvalues[..., 0] > 1e-9 * eigenvalues[..., -1]).all())
