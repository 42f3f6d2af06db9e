"""Decentralised methods, whose clients average with their neighbours: DSGD, gradient tracking and ProxSkip.

The server's variable is the mean over the clients, which nobody has to know; quantities are recorded there, and
``consensus2`` is how far the clients are from it.

Sources: Lian, Zhang, Zhang, Hsieh, Zhang, Liu, "Can Decentralized Algorithms Outperform Centralized Algorithms? A Case
Study for Decentralized Parallel Stochastic Gradient Descent" (2017); Nedic, Olshevsky, Shi, "Achieving Geometric
Convergence for Distributed Optimization over Time-Varying Graphs" (2017); Mishchenko, Malinovsky, Stich, Richtarik,
"ProxSkip: Yes! Local Gradient Steps Provably Lead to Communication Acceleration! Finally!" (2022).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from ratecheck.algorithms.model.algorithm import (
    POINTS,
    RECORDS,
    Algorithm,
    Finished,
    Group,
    Parameters,
    RecordTerms,
    U,
    Variables,
    square,
)
from ratecheck.algorithms.model.registered import Method


class Dsgd(Algorithm):
    """Decentralised SGD: K local gradient steps, then x_i <- sum_j W_ij x_j.

    With K = 1 that is x_i^{t+1} = sum_j W_ij (x_j^t - gamma_u g_j(x_j^t)).
    """

    name: ClassVar[str] = "dsgd"
    title: ClassVar[str] = "DSGD"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    server: ClassVar[Group] = {"mean": U}
    client: ClassVar[Group] = {"x": U}
    local: ClassVar[Group] = {"x": U}
    message: ClassVar[Group] = {"x": U}
    mixed: ClassVar[tuple[str, ...]] = ("x",)
    recorded: ClassVar[tuple[str, ...]] = (*RECORDS, "consensus2", POINTS)

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The starting point."""
        return {"x": point[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The mean over the clients."""
        return {"mean": clients["x"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The client's own point."""
        return {"x": client["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Gradient step."""
        return {"x": local["x"] - p["gamma_u"] * gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The point before it is mixed, kept and sent."""
        return {"x": local["x"]}, {"x": local["x"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean, which mixing does not change."""
        return {"mean": total["x"] / p["n"]}

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """Quantities at the mean of the clients' points, and consensus2 = (1/n) sum_i ||x_i - mean||^2.

        Beside it ``points2`` = (1/n) sum_i ||x_i||^2, to which the rounding of that difference is relative.
        """
        found = super().records(server, client, gradient, p)
        return {**found, "consensus2": (square(client["x"] - server["mean"]),), POINTS: (square(client["x"]),)}


class GradientTracking(Dsgd):
    """Every client follows the mean of all gradients: y_i is mixed as x_i is, and corrected by how g_i has changed.

    y_i^t = sum_j W_ij y_j^{t-1} + g_i(x_i^t) - g_i(x_i^{t-1}), x_i^{t+1} = sum_j W_ij (x_j^t - gamma_u y_j^t), where
    y_i^0 = g_i(x_i^0).
    """

    name: ClassVar[str] = "gradient-tracking"
    title: ClassVar[str] = "Gradient tracking"
    client: ClassVar[Group] = {"x": U, "tracked": U, "last": U}
    local: ClassVar[Group] = {"x": U, "tracked": U, "last": U}
    mixed: ClassVar[tuple[str, ...]] = ("x", "tracked")

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Nothing is tracked yet."""
        return {"x": point[U], "tracked": 0 * point[U], "last": 0 * point[U]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The client's own variables."""
        return {"x": client["x"], "tracked": client["tracked"], "last": client["last"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The tracked mean is brought up to date, then the step."""
        tracked = local["tracked"] + gradient[U] - local["last"]
        return {"x": local["x"] - p["gamma_u"] * tracked, "tracked": tracked, "last": gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The client's variables before they are mixed; the point is sent."""
        return {name: local[name] for name in self.client}, {"x": local["x"]}


class ProxSkip(Dsgd):
    """ProxSkip: local gradient steps with control variates h_i, which change in the rounds that mix alone.

    y_i = x_i - gamma_u (grad f_i(x_i) - h_i), x_i <- sum_j W_ij y_j if the round mixes and y_i if not, and
    h_i <- h_i + alpha (p/gamma_u)(x_i - y_i) with p the probability that a round mixes; h_i = 0 at the start.
    """

    # Of h_i is kept h_i - alpha (p/gamma_u) y_i: with the mixed point that is the new h_i, and without it the old one.

    name: ClassVar[str] = "proxskip"
    title: ClassVar[str] = "ProxSkip"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "alpha")
    optional: ClassVar[Mapping[str, Callable[[int], float]]] = {"alpha": lambda _: 1.0}
    client: ClassVar[Group] = {"x": U, "kept": U}
    local: ClassVar[Group] = {"x": U, "h": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The starting point, and no control variate."""
        return {"x": point[U], "kept": -p["alpha"] * p["mixes"] / p["gamma_u"] * point[U]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The client's own point, and its control variate."""
        return {"x": client["x"], "h": client["kept"] + p["alpha"] * p["mixes"] / p["gamma_u"] * client["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Corrected gradient step."""
        return {"x": local["x"] - p["gamma_u"] * (gradient[U] - local["h"]), "h": local["h"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        kept = local["h"] - p["alpha"] * p["mixes"] / p["gamma_u"] * local["x"]
        return {"x": local["x"], "kept": kept}, {"x": local["x"]}


METHODS = (
    Method("dsgd", "DSGD", Dsgd(), personal=False, full=True),
    Method("gradient-tracking", "Gradient tracking", GradientTracking(), {"K": 1}, personal=False, full=True),
    Method("proxskip", "ProxSkip", ProxSkip(), {"K": 1}, personal=False, full=True),
)
