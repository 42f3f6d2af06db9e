"""Methods that the catalogue's papers compare with: MIFA, FedVARP, FedADMM and pFedMe.

Sources: Gu, Huang, Zhang, Huang, "Fast Federated Learning in the Presence of Arbitrary Device Unavailability" (2021);
Jhunjhunwala, Sharma, Nagarkatti, Joshi, "FedVARP: Tackling the Variance Due to Partial Client Participation in
Federated Learning" (2022); Gong, Li, Freris, "FedADMM: A Robust Federated Deep Learning Framework with Adaptivity to
System Heterogeneity" (2022); T. Dinh, Tran, Nguyen, "Personalized Federated Learning with Moreau Envelopes" (2020).
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import (
    Algorithm,
    Finished,
    Group,
    Parameters,
    RecordTerms,
    U,
    Variables,
    of_envelopes,
)
from ratecheck.algorithms.model.registered import Method


class Mifa(Algorithm):
    """The server steps along the average of every client's latest update, however old.

    An update is the sum of the K gradients of a round. A client that has not played yet counts with a zero update;
    the original waits for all clients first.
    """

    name: ClassVar[str] = "mifa"
    title: ClassVar[str] = "MIFA"
    step_sizes: ClassVar[tuple[str, ...]] = ("eta_g", "eta_l")
    averages: ClassVar[bool] = False
    server: ClassVar[Group] = {"x": U, "mean": U}
    client: ClassVar[Group] = {"last": U}
    local: ClassVar[Group] = {"x": U, "total": U}
    message: ClassVar[Group] = {"change": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """No update yet."""
        return {"last": 0 * point[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point and the average of no updates."""
        return {"x": point[U], "mean": 0 * point[U]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Clients start at the server's model."""
        return {"x": server["x"], "total": 0 * server["x"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Local gradient step."""
        return {"x": local["x"] - p["eta_l"] * gradient[U], "total": local["total"] + gradient[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The new update replaces the old one."""
        return {"last": local["total"]}, {"change": local["total"] - client["last"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """X moves along the average of all clients' latest updates."""
        mean = server["mean"] + total["change"] / p["n"]
        return {"x": server["x"] - p["eta_g"] * p["eta_l"] * mean, "mean": mean}


class FedVarp(Mifa):
    """The server corrects the participants' average by what it remembers of all clients, as SAGA does."""

    name: ClassVar[str] = "fedvarp"
    title: ClassVar[str] = "FedVARP"
    averages: ClassVar[bool] = True

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """V = (average of the remembered) + (1/|S|) sum_{i in S} (new_i - remembered_i)."""
        direction = server["mean"] + total["change"] / p["m"]
        return {
            "x": server["x"] - p["eta_g"] * p["eta_l"] * direction,
            "mean": server["mean"] + total["change"] / p["n"],
        }


class FedAdmm(Algorithm):
    """Clients take K gradient steps on their augmented Lagrangian, from their own last model."""

    name: ClassVar[str] = "fedadmm"
    title: ClassVar[str] = "FedADMM"
    step_sizes: ClassVar[tuple[str, ...]] = ("eta_g", "eta_l", "rho")
    server: ClassVar[Group] = {"x": U}
    client: ClassVar[Group] = {"w": U, "dual": U}
    local: ClassVar[Group] = {"w": U, "x": U, "dual": U}
    message: ClassVar[Group] = {"change": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Models start together, with zero duals."""
        return {"w": point[U], "dual": 0 * point[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point, which is also the average of the clients' w_i + dual_i/rho."""
        return {"x": point[U]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The client's own model, the server's as the proximal centre."""
        return {"w": client["w"], "x": server["x"], "dual": client["dual"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Gradient step on f_i(w) + <dual, w - x> + rho/2 ||w - x||^2."""
        slope = gradient[U] + local["dual"] + p["rho"] * (local["w"] - local["x"])
        return {**local, "w": local["w"] - p["eta_l"] * slope}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Dual step, and the change of w_i + dual_i/rho as the message."""
        dual = client["dual"] + p["rho"] * (local["w"] - server["x"])
        # The change of dual_i/rho is w_i - x.
        change = local["w"] - client["w"] + (local["w"] - server["x"])
        return {"w": local["w"], "dual": dual}, {"change": change}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step along the participants' average change."""
        return {"x": server["x"] + p["eta_g"] / p["m"] * total["change"]}


class PFedMe(Algorithm):
    """FedAvg on the Moreau envelopes F_i(w) = min_theta f_i(theta) + (lambda/2) ||theta - w||^2, with exact minimisers.

    K local rounds of w_i <- w_i - eta lambda (w_i - prox_i(w_i)), then w <- (1 - beta) w + beta (average of the w_i).
    """

    name: ClassVar[str] = "pfedme"
    title: ClassVar[str] = "pFedMe"
    step_sizes: ClassVar[tuple[str, ...]] = ("eta", "beta", "lambda_")
    blocks: ClassVar[tuple[str, ...]] = (U,)
    oracle: ClassVar[str] = "prox"
    record_oracle: ClassVar[str] = "prox"
    server: ClassVar[Group] = {"w": U}
    client: ClassVar[Group] = {}
    local: ClassVar[Group] = {"w": U}
    message: ClassVar[Group] = {"w": U}
    recorded: ClassVar[tuple[str, ...]] = ("grad_F2", "spread_F2")

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Clients keep nothing: their personal model is a function of w_i."""
        return {}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point."""
        return {"w": point[U]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Clients start at the server's model."""
        return {"w": server["w"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """A gradient step on the envelope, whose gradient is lambda (w - prox(w))."""
        return {"w": local["w"] - p["eta"] * p["lambda_"] * (local["w"] - gradient[U])}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The local model is sent."""
        return {}, {"w": local["w"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Average of the participants, damped by beta."""
        return {"w": (1 - p["beta"]) * server["w"] + p["beta"] / p["m"] * total["w"]}

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """||grad F||^2 for the average F of the envelopes, and the mean of ||grad F_i||^2."""
        return of_envelopes(p["lambda_"] * (server["w"] - gradient[U]))

    def score(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The envelope's gradient at the server's model."""
        return {U: p["lambda_"] * (server["w"] - gradient[U])}

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """||grad F||^2."""
        return {"grad_F2": 1.0}


METHODS = (
    Method("mifa", "MIFA", Mifa(), personal=False),
    Method("fedvarp", "FedVARP", FedVarp(), personal=False),
    Method("fedadmm", "FedADMM", FedAdmm(), personal=False),
    Method("pfedme", "pFedMe", PFedMe(), personal=False),
)
