"""Losses of linear models as functions of the outputs z (rows, outputs) and the targets (rows,)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ratecheck.aliases import Array
from ratecheck.kernels.constants import HUBER_LOSS, LOGISTIC_LOSS, SOFTMAX_LOSS, SQUARED_LOSS


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss phi(z, y), nowhere negative; what bounds of the constants use of it."""

    name: ClassVar[str]
    # By which the kernels know it.
    code: ClassVar[int]
    # The largest eigenvalue of the Hessian in z.
    curvature: ClassVar[float]

    @abstractmethod
    def values(self, z: Array, y: Array) -> Array:
        """phi(z_l, y_l), (rows,)."""

    @abstractmethod
    def slopes(self, z: Array, y: Array) -> Array:
        """Gradients of the loss in z, (rows, outputs)."""

    @abstractmethod
    def curved(self, z: Array, y: Array, t: Array) -> Array:
        """Hessians of the loss in z times t, (rows, outputs)."""

    @abstractmethod
    def dual(self, s: Array, y: Array) -> Array:
        """-phi*(s_l, y_l), (rows,), with the conjugate in z: phi(z) >= s z - phi*(s); -inf where s is no slope."""

    @abstractmethod
    def slope_range(self, y: Array, outputs: int) -> tuple[Array, Array] | None:
        """Bounds (rows, outputs) between which every slope is for all z; None where they are unbounded."""

    @property
    def longest(self) -> float:
        """The largest norm of a gradient in z."""
        return 1.0


class LogisticLoss(Loss):
    """log(1 + exp(-y z)) with targets -1 and 1."""

    name, code, curvature = "logistic", LOGISTIC_LOSS, 0.25

    def values(self, z: Array, y: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * z[:, 0]))

    def slopes(self, z: Array, y: Array) -> Array:
        return np.asarray(-y * np.exp(-np.logaddexp(0.0, y * z[:, 0])))[:, None]

    def curved(self, z: Array, y: Array, t: Array) -> Array:
        slope = np.exp(-np.logaddexp(0.0, z))
        return np.asarray(slope * (1.0 - slope) * t)

    def dual(self, s: Array, y: Array) -> Array:
        share = -y * s[:, 0]
        return np.where((share >= 0) & (share <= 1), _entropy(share) + _entropy(1 - share), -np.inf)

    def slope_range(self, y: Array, outputs: int) -> tuple[Array, Array]:
        """Between 0 and -y."""
        return np.minimum(-y, 0.0)[:, None], np.maximum(-y, 0.0)[:, None]


class SquaredLoss(Loss):
    """(z - y)^2/2."""

    name, code, curvature = "squares", SQUARED_LOSS, 1.0

    def values(self, z: Array, y: Array) -> Array:
        return np.asarray(0.5 * np.square(z[:, 0] - y))

    def slopes(self, z: Array, y: Array) -> Array:
        return np.asarray(z[:, 0] - y)[:, None]

    def curved(self, z: Array, y: Array, t: Array) -> Array:
        return t

    def dual(self, s: Array, y: Array) -> Array:
        return np.asarray(-0.5 * np.square(s[:, 0]) - s[:, 0] * y)

    def slope_range(self, y: Array, outputs: int) -> None:
        """None: slopes of squares are unbounded."""


@dataclass(frozen=True)
class HuberLoss(Loss):
    """(z - y)^2/2 up to a distance delta, and delta (|z - y| - delta/2) beyond."""

    delta: float
    name, code, curvature = "huber", HUBER_LOSS, 1.0

    def values(self, z: Array, y: Array) -> Array:
        away = np.abs(z[:, 0] - y)
        return np.where(away <= self.delta, 0.5 * np.square(away), self.delta * (away - 0.5 * self.delta))

    def slopes(self, z: Array, y: Array) -> Array:
        return np.clip(z[:, 0] - y, -self.delta, self.delta)[:, None]

    def curved(self, z: Array, y: Array, t: Array) -> Array:
        return np.where(np.abs(z - y[:, None]) <= self.delta, t, 0.0)

    def dual(self, s: Array, y: Array) -> Array:
        found = -0.5 * np.square(s[:, 0]) - s[:, 0] * y
        return np.where(np.abs(s[:, 0]) <= self.delta, found, -np.inf)

    def slope_range(self, y: Array, outputs: int) -> tuple[Array, Array]:
        """Between -delta and delta."""
        return np.full((len(y), 1), -self.delta), np.full((len(y), 1), self.delta)

    @property
    def longest(self) -> float:
        """The largest slope, delta."""
        return self.delta


class SoftmaxLoss(Loss):
    """log(sum_o exp(z_o)) - z_y with the number y of a class; its Hessian diag(p) - p p' has norm at most 1/2."""

    name, code, curvature = "softmax", SOFTMAX_LOSS, 0.5

    def values(self, z: Array, y: Array) -> Array:
        return np.asarray(np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y.astype(np.int64)])

    def slopes(self, z: Array, y: Array) -> Array:
        found = np.exp(z - np.logaddexp.reduce(z, axis=1)[:, None])
        found[np.arange(len(y)), y.astype(np.int64)] -= 1.0
        return np.asarray(found)

    def curved(self, z: Array, y: Array, t: Array) -> Array:
        p = np.exp(z - np.logaddexp.reduce(z, axis=1)[:, None])
        return np.asarray(p * (t - (p * t).sum(axis=1, keepdims=True)))

    def dual(self, s: Array, y: Array) -> Array:
        p = s.copy()
        p[np.arange(len(y)), y.astype(np.int64)] += 1.0
        inside = (p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) <= 1e-13 * s.shape[1])
        return np.where(inside, _entropy(p).sum(axis=1), -np.inf)

    def slope_range(self, y: Array, outputs: int) -> tuple[Array, Array]:
        """Between -1 and 0 for the class of the row, between 0 and 1 for the others."""
        mine = np.zeros((len(y), outputs))
        mine[np.arange(len(y)), y.astype(np.int64)] = 1.0
        return -mine, 1.0 - mine

    @property
    def longest(self) -> float:
        """The distance of two corners of the simplex."""
        return float(np.sqrt(2.0))


def _entropy(p: Array) -> Array:
    """-p log(p), 0 at 0 and below."""
    return np.asarray(-p * np.log(np.where(p > 0, p, 1.0)))
