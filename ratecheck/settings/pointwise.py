"""SimFBO's lemmas about points of a bilevel problem, evaluated at random pairs of them: the worst pair is reported.

A pair is (x, y, v) and (x', y', v'). What a claim says about "one client" is taken over all of them.
Source of the quantities: ``simfbo`` ("SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel
Learning"), Lemmas 1 and 3 to 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ratecheck.aliases import Array
from ratecheck.engines.expected_records import Expectation
from ratecheck.problems import Bilevel, Problem

# Pairs, the sizes of their steps.
_PAIRS, _SIZES = 400, (-3.0, 1.0)
# The share of a value that rounding may have in it, times the condition of the lower level; of squares of a difference.
_ROUNDING, _DIFFERENCE = 2e-14, 1e-10
_DIFFERENCES = ("y_distance2", "surrogate_error2")


@dataclass(frozen=True)
class Points:
    """Seeded random pairs of a problem; ``weights`` (n,) are those of the clients.

    x and x' are normal around 0, y and y' around the lower level's solutions; the steps between them may be small.
    Directions of v are drawn here, their lengths are up to what a claim allows.
    """

    problem: Bilevel
    weights: Array
    seed: int = 0

    @classmethod
    def of(cls, problem: Problem, weights: Array, seed: int) -> Points:
        """The points of a problem with a lower level."""
        two = problem.seen_as(Bilevel)
        assert two is not None
        return cls(two, weights, seed)

    @cached_property
    def pairs(self) -> tuple[Array, ...]:
        """The points x, y, v and the steps to x', y', v', each (pairs, coordinates); v within the unit ball."""
        problem, rng = self.problem, np.random.default_rng([self.seed, _PAIRS])
        shapes = ((_PAIRS, d) for d in (problem.d_x, problem.d_y, problem.d_y) * 2)
        x, y, v, dx, dy, dv = (rng.standard_normal(shape) for shape in shapes)
        spread, sizes = 10 ** rng.uniform(*_SIZES, (3, _PAIRS, 1)), 10 ** rng.uniform(*_SIZES, (3, _PAIRS, 1))
        Y, y_0 = problem.y_map(self.weights)
        x = spread[0] * x
        v = v / np.linalg.norm(v, axis=1, keepdims=True) * rng.uniform(0, 1, (_PAIRS, 1))
        return x, x @ Y.T + y_0 + spread[1] * y, v, sizes[0] * dx, sizes[1] * dy, sizes[2] * dv

    @cached_property
    def steepest(self) -> float:
        """The largest ||grad f_i|| at the points (x, y), (x', y') and at (x, y*(x)), (x', y*(x'))."""
        x, y, _, dx, dy, _ = self.pairs
        Y, y_0 = self.problem.y_map(self.weights)
        largest = 0.0
        for here, there in ((x, y), (x + dx, y + dy), (x, x @ Y.T + y_0), (x + dx, (x + dx) @ Y.T + y_0)):
            gradients = self._of_clients(self.problem.Q, np.hstack([here, there])) - self.problem.q[:, None]
            largest = max(largest, float(np.linalg.norm(gradients, axis=2).max()))
        return largest

    def records(self, radius: float) -> Expectation:
        """All quantities per pair, arrays (pairs,), for v in the ball of ``radius``."""
        problem, w = self.problem, self.weights
        x, y, unit, dx, dy, dv = self.pairs
        M, c = problem.operator()
        xy, to_v = problem.d_x + problem.d_y, slice(problem.d_x + problem.d_y, None)
        to_x, to_y = slice(0, problem.d_x), slice(problem.d_x, xy)
        local = self._of_clients(M, np.hstack([x, y, radius * unit])) - c[:, None]
        # A change of (x, y) at a fixed v, and one of all three.
        change = self._of_clients(M, np.hstack([dx, dy, dv]))
        fixed = self._of_clients(M, np.hstack([dx, dy, 0 * dv]))
        Y, y_0 = problem.y_map(w)
        V, v_0 = problem.v_map(w)
        P, _ = problem.hypergradient_map(w)
        J = np.vstack([np.eye(problem.d_x), Y])
        gap = y - x @ Y.T - y_0
        lower = np.hstack([np.zeros_like(x), gap])
        zero = np.zeros(len(x))
        found = {
            "change_x2": _squares(dx),
            "change_y2": _squares(dy),
            "change_v2": _squares(dv),
            "y_distance2": _squares(gap),
            "v_star2": _squares(x @ V.T + v_0),
            "surrogate_error2": _squares(lower @ np.tensordot(w, problem.Q, axes=1) @ J),
            "Phi_gradient_change2": _squares(dx @ P),
            "y_star_change2": _squares(dx @ Y.T),
            "v_star_change2": _squares(dx @ V.T),
            # y* and v* are affine.
            "y_jacobian_change2": zero,
            "v_jacobian_change2": zero,
            "g_gradients2": w @ _squares(local[..., to_y]),
            "R_gradients2": w @ _squares(local[..., to_v]),
            "f_gradients2": w @ _squares(local[..., to_x]),
            "R_change_xy2": _squares(fixed[..., to_v]).max(axis=0),
            "f_change2": _squares(change[..., to_x]).max(axis=0),
            "R_change2": _squares(change[..., to_v]).max(axis=0),
            "g_change2": _squares(np.concatenate([fixed[..., to_y], -dy @ problem.B], axis=2)).max(axis=0),
        }
        condition = float(np.linalg.cond(problem.A).max())
        share = {name: _DIFFERENCE if name in _DIFFERENCES else _ROUNDING for name in found}
        return Expectation(found, {k: share[k] * condition * value for k, value in found.items()}, {}, 1.0)

    @staticmethod
    def _of_clients(matrices: Array, rows: Array) -> Array:
        """(n, pairs, ...): every client's matrix at every row."""
        return np.asarray(np.einsum("iab,pb->ipa", matrices, rows))


_OF_PAIRS = ("change_x2", "change_y2", "change_v2", "y_distance2", "v_star2", "surrogate_error2")
_OF_SOLUTIONS = ("Phi_gradient_change2", "y_star_change2", "v_star_change2", "y_jacobian_change2", "v_jacobian_change2")
_OF_CLIENTS = ("g_gradients2", "R_gradients2", "f_gradients2", "R_change_xy2", "f_change2", "R_change2", "g_change2")
NAMES = frozenset((*_OF_PAIRS, *_OF_SOLUTIONS, *_OF_CLIENTS))


def _squares(vectors: Array) -> Array:
    return np.asarray(np.sum(vectors**2, axis=-1))
