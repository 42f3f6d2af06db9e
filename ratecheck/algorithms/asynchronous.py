"""Asynchronous SGD: what arrives is the gradient at the model that a client was sent when it last reported.

Sources: Mishchenko, Bach, Even, Woodworth, "Asynchronous SGD Beats Minibatch SGD Under Arbitrary Delays" (2022);
Koloskova, Stich, Jaggi, "Sharper Convergence Guarantees for Asynchronous SGD for Distributed and Federated Learning"
(2022).
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method


class AsyncSgd(Algorithm):
    """x <- x - gamma_u (1/m) sum_{i in S} g_i(z_i), then z_i is the x before that round for i in S; z_i = x^0 at first.

    A round is an arrival: the m clients in S, usually one, report at once, and go on with the model that the server
    had. A gradient is one round later than its client has been away: 1 where everybody takes part.
    """

    name: ClassVar[str] = "async-sgd"
    title: ClassVar[str] = "Asynchronous SGD"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    server: ClassVar[Group] = {"x": U}
    client: ClassVar[Group] = {"model": U}
    local: ClassVar[Group] = {"model": U, "gradient": U}
    message: ClassVar[Group] = {"gradient": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The starting point."""
        return {"model": point[U]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The model that the client has."""
        return {"model": client["model"], "gradient": 0 * client["model"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The gradient g = grad f_i(model)."""
        return {"model": local["model"], "gradient": gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The server's model is received, the gradient is sent."""
        return {"model": server["x"]}, {"gradient": local["gradient"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """A step along what arrives."""
        return {"x": server["x"] - p["gamma_u"] / p["m"] * total["gradient"]}


METHODS = (Method("async-sgd", "Asynchronous SGD", AsyncSgd(), {"K": 1}, personal=False),)
