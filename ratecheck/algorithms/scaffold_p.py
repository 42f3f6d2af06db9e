"""Scaffold-P: Algorithm 4.1 of the partial-personalisation paper (`bounds.papers.pfl.statements`)."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, V, Variables
from ratecheck.algorithms.model.registered import NO_PERSONAL, Method


class ScaffoldP(Algorithm):
    """FedAvg-P whose steps on u are corrected by control variates c_i (per client) and c (their average)."""

    name: ClassVar[str] = "scaffold-p"
    title: ClassVar[str] = "Scaffold-P"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "gamma_v", "eta_u", "eta_v")
    server: ClassVar[Group] = {"u": U, "c": U}
    client: ClassVar[Group] = {"c_i": U, "v": V}
    local: ClassVar[Group] = {"u": U, "correction": U, "v": V}
    message: ClassVar[Group] = {"u": U, "c_change": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Input of the algorithm: c_i^0 is the mean of K stochastic gradients at the start."""
        return {"c_i": gradient["u"], "v": point["v"]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Input of the algorithm: c^0 is the average of the c_i^0."""
        return {"u": point["u"], "c": clients["c_i"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Line 4; the correction c - c_i does not change within a round."""
        return {"u": server["u"], "correction": server["c"] - client["c_i"], "v": client["v"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Lines 6 and 7."""
        return {
            "u": local["u"] - p["gamma_u"] * (gradient["u"] + local["correction"]),
            "correction": local["correction"],
            "v": local["v"] - p["gamma_v"] * gradient["v"],
        }

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Lines 9 and 10."""
        v = (1 - p["eta_v"]) * client["v"] + p["eta_v"] * local["v"]
        c_i = client["c_i"] - server["c"] + (server["u"] - local["u"]) / (p["K"] * p["gamma_u"])
        return {"c_i": c_i, "v": v}, {"u": local["u"], "c_change": c_i - client["c_i"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Lines 12 and 13."""
        return {
            "u": (1 - p["eta_u"]) * server["u"] + p["eta_u"] / p["m"] * total["u"],
            "c": server["c"] + total["c_change"] / p["n"],
        }


METHODS = (
    Method("scaffold-p", "Scaffold-P", ScaffoldP()),
    Method("scaffold", "SCAFFOLD", ScaffoldP(), fixed=NO_PERSONAL, personal=False),
)
