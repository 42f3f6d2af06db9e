"""The FedSUM family: FedSUM-B, FedSUM and FedSUM-CR.

Source: "FedSUM Family: Efficient Federated Learning Methods under Arbitrary Client Participation", Algorithms 1-3.

All three keep per client the mean h_i of the K gradients of its last round, and on the server their sum y. A message is
the change of h_i, so that the server needs nothing from clients that are away.
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method


class FedSumB(Algorithm):
    """Algorithm 1: K mini-batch gradients at the global model, no local updates."""

    name: ClassVar[str] = "fedsum-b"
    title: ClassVar[str] = "FedSUM-B"
    step_sizes: ClassVar[tuple[str, ...]] = ("eta_g", "eta_l")
    averages: ClassVar[bool] = False
    server: ClassVar[Group] = {"x": U, "y": U}
    client: ClassVar[Group] = {"h": U}
    local: ClassVar[Group] = {"x": U, "total": U}
    message: ClassVar[Group] = {"delta": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Line 1: h_i^0 = 0."""
        return {"h": 0 * point["u"]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Line 1: x^0 is given, y^-1 = 0."""
        return {"x": point["u"], "y": 0 * point["u"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Line 5."""
        return {"x": server["x"], "total": 0 * server["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Line 7: every gradient is taken at the received model."""
        return {"x": local["x"], "total": local["total"] + gradient["u"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Lines 9-11; (x - x_i)/(eta_l K) is the mean gradient."""
        h = local["total"] / p["K"]
        return {"h": h}, {"delta": h - client["h"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Line 13; without participants the sum is empty and the server still steps along y.

        K is the mean of the clients' numbers of local steps where these differ, of which the paper does not speak.
        """
        y = server["y"] + total["delta"]
        return {"x": server["x"] - p["eta_g"] * p["eta_l"] * p["mean_norm"] / p["n"] * y, "y": y}


class FedSum(FedSumB):
    """Algorithm 2: K local updates, corrected by the other clients' last gradients, -h_i + y."""

    name: ClassVar[str] = "fedsum"
    title: ClassVar[str] = "FedSUM"
    local: ClassVar[Group] = {"x": U, "correction": U}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Lines 5 and 6."""
        return {"x": server["x"], "correction": server["y"] - client["h"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Lines 8 and 9."""
        x = local["x"] - p["eta_l"] / p["n"] * (gradient["u"] + local["correction"])
        return {"x": x, "correction": local["correction"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Lines 11 and 12."""
        h = p["n"] * (server["x"] - local["x"]) / (p["eta_l"] * p["K"]) - local["correction"]
        return {"h": h}, {"delta": h - client["h"]}


class FedSumCr(FedSum):
    """Algorithm 3: FedSUM whose correction is recovered from the last model received, so that y need not be sent."""

    name: ClassVar[str] = "fedsum-cr"
    title: ClassVar[str] = "FedSUM-CR"
    uses_delay: ClassVar[bool] = True
    client: ClassVar[Group] = {"h": U, "z": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Line 1: z_i^0 = x^0; a_i^0 = -1 makes the first delay t + 1."""
        return {"h": 0 * point["u"], "z": point["u"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Lines 5 and 6: the mean of y over the rounds since the last one, from how far x has moved (eq. (11))."""
        moved = (client["z"] - server["x"]) / p["delay"]
        y = p["n"] / (p["eta_g"] * p["eta_l"] * p["mean_norm"]) * moved
        return {"x": server["x"], "correction": y - client["h"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        state, message = super().finish(server, client, local, p)
        return {**state, "z": server["x"]}, message


METHODS = (
    Method("fedsum-b", "FedSUM-B", FedSumB(), personal=False),
    Method("fedsum", "FedSUM", FedSum(), personal=False),
    Method("fedsum-cr", "FedSUM-CR", FedSumCr(), personal=False),
)
