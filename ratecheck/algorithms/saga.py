"""SAGA over clients: the server steps along a sampled gradient, corrected by what it remembers of all clients.

Source: Defazio, Bach, Lacoste-Julien, "SAGA: A Fast Incremental Gradient Method With Support for Non-Strongly Convex
Composite Objectives" (2014), with m sampled clients in the place of one.
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method


class Saga(Algorithm):
    """x <- x - gamma_u ((1/m) sum_{i in S} (grad f_i(x) - y_i) + (1/n) sum_i y_i), then y_i <- grad f_i(x) for i in S.

    The y_i are the clients' gradients at the start, at first.
    """

    name: ClassVar[str] = "saga"
    title: ClassVar[str] = "SAGA"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    server: ClassVar[Group] = {"x": U, "mean": U}
    client: ClassVar[Group] = {"last": U}
    local: ClassVar[Group] = {"x": U, "new": U}
    message: ClassVar[Group] = {"change": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The gradient at the start."""
        return {"last": gradient[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point and the mean of the gradients there."""
        return {"x": point[U], "mean": clients["last"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The server's point."""
        return {"x": server["x"], "new": 0 * server["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The gradient there."""
        return {"x": local["x"], "new": gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The new gradient is remembered, and by how much it differs is sent."""
        return {"last": local["new"]}, {"change": local["new"] - client["last"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step along the corrected gradient; the mean of what is remembered."""
        direction = server["mean"] + total["change"] / p["m"]
        return {"x": server["x"] - p["gamma_u"] * direction, "mean": server["mean"] + total["change"] / p["n"]}


METHODS = (Method("saga", "SAGA", Saga(), {"K": 1}, personal=False),)
