"""Methods that find their step sizes by a second gradient: exact line search and conjugate gradients.

On quadratics the gradients at x and at x + d differ by H d, which is all that both need. Gradients are evaluated at x
and, in the second local step, at x + s d with s = ||g^0||/||d||, since near the minimiser d is so short that the
difference would be rounding. Every client takes part in every round. On other functions the same steps are
taken, which are no line search there.

Sources: Cauchy (1847); Hestenes, Stiefel, "Methods of conjugate gradients for solving linear systems" (1952).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, V, Variables
from ratecheck.algorithms.model.registered import Method
from ratecheck.aliases import Array


class ExactLineSearch(Algorithm):
    """x <- x + alpha d with alpha = -g'd/d'Hd, the minimiser along d; g is the mean of the clients' gradients at x.

    The gradient at the new point is g + alpha H d, and the next d is minus that. Where g is 0, or f does not bend up
    along d, x stays.
    """

    name: ClassVar[str] = "line-search"
    title: ClassVar[str] = "Exact line search"
    linear: ClassVar[bool] = False
    step_sizes: ClassVar[tuple[str, ...]] = ()
    server: ClassVar[Group] = {"x": U, "d": U, "first": U}
    client: ClassVar[Group] = {"g": U, "v": V}
    local: ClassVar[Group] = {"x": U, "way": U, "asked": U, "g": U, "other": U, "v": V}
    message: ClassVar[Group] = {"g": U, "other": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The gradient at the start."""
        return {"g": gradient[U], "v": point[V]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The start, and the direction against the mean gradient there."""
        return {"x": point[U], "d": -clients["g"], "first": clients["g"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The server's point x, and s d, the way to the next point."""
        nothing = np.zeros_like(server["x"])
        way = _stretch(server) * server["d"]
        return {"x": server["x"], "way": way, "asked": nothing, "g": nothing, "other": nothing, "v": client["v"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The gradient at x, and then that at x + s d."""
        first = local["asked"] == 0
        return {
            **local,
            "x": np.where(first, local["x"] + local["way"], local["x"]),
            "asked": np.ones_like(local["asked"]),
            "g": np.where(first, gradient[U], local["g"]),
            "other": gradient[U],
        }

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The client as it was, and the gradients at x and at x + s d as the message."""
        return {"g": client["g"], "v": local["v"]}, {"g": local["g"], "other": local["other"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The step to where f is least along d, and the next direction."""
        g, d = total["g"] / p["m"], server["d"]
        bent = _quotient(total["other"] / p["m"] - g, _stretch(server))
        alpha = _quotient(-_product(g, d), _product(d, bent))
        return {**server, "x": server["x"] + alpha * d, "d": self.direction(g, g + alpha * bent, d)}

    def direction(self, before: Array, gradient: Array, d: Array) -> Array:
        """The direction after d, from the gradients before and after its step."""
        return -gradient


class ConjugateGradients(ExactLineSearch):
    """Exact line search along d <- -g + beta d, beta = g'g of the new over the old gradient (Fletcher, Reeves)."""

    name: ClassVar[str] = "conjugate-gradients"
    title: ClassVar[str] = "Conjugate gradients"

    def direction(self, before: Array, gradient: Array, d: Array) -> Array:
        return -gradient + _quotient(_product(gradient, gradient), _product(before, before)) * d


def _product(a: Array, b: Array) -> Array:
    """Inner products of rows, (replicates, 1)."""
    return np.sum(a * b, axis=-1, keepdims=True)


def _quotient(above: Array, below: Array) -> Array:
    """A quotient by what is positive, 0 otherwise."""
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), 0.0)


def _stretch(server: Variables) -> Array:
    """The factor s = ||g^0||/||d||, which makes s d as long as the first gradient."""
    return _quotient(np.sqrt(_product(server["first"], server["first"])), np.sqrt(_product(server["d"], server["d"])))


_FIXED = {"K": 2.0}
METHODS = (
    Method("line-search", "exact line search, for quadratics", ExactLineSearch(), _FIXED, personal=False, full=True),
    Method(
        "conjugate-gradients", "conjugate gradients, for quadratics", ConjugateGradients(), _FIXED, personal=False,
        full=True,
    ),
)  # fmt: skip
