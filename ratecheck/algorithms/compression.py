"""Methods whose clients send a random part of what they have to say: compressed SGD, DIANA and error feedback.

Every coordinate of a message is sent with probability q, divided by q: an unbiased compression C with the variance
omega ||v||^2, omega = 1/q - 1, as Rand-k has with k = q d coordinates. Error feedback takes what is sent as it is, q C:
a contractive compression, E||q C(v) - v||^2 = (1 - q) ||v||^2.

Sources: Khirirat, Feyzmahdavian, Johansson, "Distributed learning with compressed gradients" (2018); Mishchenko,
Gorbunov, Takac, Richtarik, "Distributed Learning with Compressed Gradient Differences" (2019); Stich, Karimireddy, "The
Error-Feedback Framework" (2020); Richtarik, Sokolov, Fatkhullin, "EF21" (2021).
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method


class CompressedSgd(Algorithm):
    """Compressed SGD: x <- x - gamma_u (1/m) sum_i C(Delta_i), Delta_i being the sum of K local gradients.

    Local steps are taken with gamma_u as well; with K = 1 that is x - gamma_u (1/m) sum_i C(g_i(x)).
    """

    name: ClassVar[str] = "compressed-sgd"
    title: ClassVar[str] = "Compressed SGD"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "q")
    server: ClassVar[Group] = {"x": U}
    client: ClassVar[Group] = {}
    local: ClassVar[Group] = {"x": U, "total": U}
    message: ClassVar[Group] = {"total": U}
    compressed: ClassVar[tuple[str, ...]] = ("total",)

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The server's point, no gradients yet."""
        return {"x": server["x"], "total": 0 * server["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Local gradient step."""
        return {"x": local["x"] - p["gamma_u"] * gradient[U], "total": local["total"] + gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The sum of the gradients, to be compressed."""
        return {}, {"total": local["total"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step along the mean of what is sent."""
        return {"x": server["x"] - p["gamma_u"] / p["m"] * total["total"]}


class Diana(CompressedSgd):
    """DIANA: clients compress the difference to what they sent before, h_i <- h_i + alpha C(g_i - h_i).

    x <- x - gamma_u (h + (1/n) sum_i C(g_i - h_i)) and h <- h + alpha (1/n) sum_i C(g_i - h_i), with h_i = h = 0 at the
    start. Every client takes part.
    """

    name: ClassVar[str] = "diana"
    title: ClassVar[str] = "DIANA"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "q", "alpha")
    server: ClassVar[Group] = {"x": U, "h": U}
    client: ClassVar[Group] = {"h": U}
    message: ClassVar[Group] = {"difference": U}
    compressed: ClassVar[tuple[str, ...]] = ("difference",)

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Nothing was sent yet."""
        return {"h": 0 * point[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point, and the mean of nothing."""
        return {"x": point[U], "h": 0 * point[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The difference between the gradients and what the client's h says of them, to be compressed."""
        return {"h": client["h"]}, {"difference": local["total"] - client["h"]}

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """H moves along what was sent."""
        return {"h": client["h"] + p["alpha"] * message["difference"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step along h and the mean of what is sent; h as the mean of the clients' h."""
        mean = total["difference"] / p["n"]
        return {"x": server["x"] - p["gamma_u"] * (server["h"] + mean), "h": server["h"] + p["alpha"] * mean}


class EfSgd(CompressedSgd):
    """SGD with error feedback: what is not sent is remembered and added to the next message.

    x <- x - (1/m) sum_i q C(v_i) and e_i <- v_i - q C(v_i) with v_i = gamma_u Delta_i + e_i, Delta_i being the sum of K
    local gradients and e_i = 0 at the start.
    """

    name: ClassVar[str] = "ef-sgd"
    title: ClassVar[str] = "SGD with error feedback"
    client: ClassVar[Group] = {"e": U}
    message: ClassVar[Group] = {"v": U}
    compressed: ClassVar[tuple[str, ...]] = ("v",)

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Nothing was left out yet."""
        return {"e": 0 * point[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The step and what was left out before, to be compressed; all of it is left out until it is sent."""
        v = p["gamma_u"] * local["total"] + client["e"]
        return {"e": v}, {"v": v}

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """The client's remainder, without what is sent now."""
        return {"e": client["e"] - p["q"] * message["v"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step by the mean of what is sent."""
        return {"x": server["x"] - p["q"] / p["m"] * total["v"]}


class Ef21(Diana):
    """EF21: g_i <- g_i + q C(Delta_i - g_i), then x <- x - gamma_u (1/n) sum_i g_i; g_i is the gradient at the start.

    Delta_i is the sum of K local gradients at the server's point before that step: EF21 with its two lines in the other
    order, whose points are the same, as the first difference is 0. Every client takes part.
    """

    name: ClassVar[str] = "ef21"
    title: ClassVar[str] = "EF21"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "q")
    server: ClassVar[Group] = {"x": U, "g": U}
    client: ClassVar[Group] = {"g": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """K times the mean of K gradients at the start."""
        return {"g": p["K"] * gradient[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point, and the mean of the clients' g."""
        return {"x": point[U], "g": clients["g"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The difference between the gradients and the client's g, to be compressed."""
        return {"g": client["g"]}, {"difference": local["total"] - client["g"]}

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """G moves by what was sent."""
        return {"g": client["g"] + p["q"] * message["difference"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step along the new mean of the clients' g."""
        g = server["g"] + p["q"] / p["n"] * total["difference"]
        return {"x": server["x"] - p["gamma_u"] * g, "g": g}


METHODS = (
    Method("compressed-sgd", "Compressed SGD", CompressedSgd(), personal=False),
    Method("diana", "DIANA", Diana(), personal=False, full=True),
    Method("ef-sgd", "SGD with error feedback", EfSgd(), personal=False),
    Method("ef21", "EF21", Ef21(), personal=False, full=True),
)
