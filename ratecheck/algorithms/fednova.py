"""FedNova: what clients send is divided by how many local steps they took.

Source: Wang, Liu, Liang, Joshi, Poor, "Tackling the Objective Inconsistency Problem in Heterogeneous Federated
Optimization" (2020), for plain local gradient steps.
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method


class FedNova(Algorithm):
    """x <- x - eta_u gamma_u (tau/m) sum_{i in S} d_i, d_i the mean of client i's K_i local gradients.

    tau is the mean of the K_i over all clients. With equal K_i that is FedAvg.
    """

    name: ClassVar[str] = "fednova"
    title: ClassVar[str] = "FedNova"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "eta_u")
    server: ClassVar[Group] = {"x": U}
    client: ClassVar[Group] = {}
    local: ClassVar[Group] = {"x": U}
    message: ClassVar[Group] = {"direction": U}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The server's point."""
        return {"x": server["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Local gradient step."""
        return {"x": local["x"] - p["gamma_u"] * gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """How far the client went in a step, on average."""
        return {}, {"direction": (server["x"] - local["x"]) / p["K"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """As far as tau steps along the mean of these."""
        return {"x": server["x"] - p["eta_u"] * p["mean_norm"] / p["m"] * total["direction"]}


METHODS = (Method("fednova", "FedNova", FedNova(), personal=False),)
