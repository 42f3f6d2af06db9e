"""FedAvg-P: Algorithm 3.1 of the partial-personalisation paper (`bounds.papers.pfl.statements`)."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, V, Variables
from ratecheck.algorithms.model.registered import NO_PERSONAL, NO_SHARED, Method


class FedAvgP(Algorithm):
    """K stochastic gradient steps on (u, v_i) at every sampled client, then averages of u with outer step sizes."""

    name: ClassVar[str] = "fedavg-p"
    title: ClassVar[str] = "FedAvg-P"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "gamma_v", "eta_u", "eta_v")
    server: ClassVar[Group] = {"u": U}
    client: ClassVar[Group] = {"v": V}
    local: ClassVar[Group] = {"u": U, "v": V}
    message: ClassVar[Group] = {"u": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Input of the algorithm: v_i^0."""
        return {"v": point["v"]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Input of the algorithm: u^0."""
        return {"u": point["u"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Line 4."""
        return {"u": server["u"], "v": client["v"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Lines 6 and 7."""
        return {
            "u": local["u"] - p["gamma_u"] * gradient["u"],
            "v": local["v"] - p["gamma_v"] * gradient["v"],
        }

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Line 9."""
        v = (1 - p["eta_v"]) * client["v"] + p["eta_v"] * local["v"]
        return {"v": v}, {"u": local["u"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Line 11."""
        return {"u": (1 - p["eta_u"]) * server["u"] + p["eta_u"] / p["m"] * total["u"]}


METHODS = (
    Method("fedavg-p", "FedAvg-P", FedAvgP()),
    Method("fedavg", "FedAvg", FedAvgP(), fixed=NO_PERSONAL, personal=False),
    Method("fedsim", "FedSim", FedAvgP(), fixed={"eta_u": 1.0, "eta_v": 1.0}),
    Method("parallel-sgd", "parallel SGD", FedAvgP(), fixed={**NO_SHARED, "K": 1.0}, shared=False, full=True),
)
