"""FLAME: ADMM on the Moreau-envelope formulation of personalised federated learning.

Source: "Personalized Federated Learning via ADMM with Moreau Envelope", Algorithm 1 and equations (8)-(13).

A client keeps its personal model theta_i, its local model w_i and the dual variable pi_i; z_i = w_i + pi_i/rho follows.
The server's w is the average of all z_i, whether their clients are selected or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ratecheck.algorithms.model.algorithm import (
    Algorithm,
    Finished,
    Group,
    Parameters,
    RecordTerms,
    U,
    Variables,
    inner,
    square,
    square_of_mean,
)
from ratecheck.algorithms.model.algorithm import value as f_value
from ratecheck.algorithms.model.registered import Method


class Flame(Algorithm):
    """Algorithm 1 with H = K gradient steps on the inner problem (9), started at the client's last theta_i."""

    name: ClassVar[str] = "flame"
    title: ClassVar[str] = "FLAME"
    step_sizes: ClassVar[tuple[str, ...]] = ("eta", "rho", "lambda_", "alpha")
    per_client: ClassVar[tuple[str, ...]] = ("alpha",)
    optional: ClassVar[Mapping[str, Callable[[int], float]]] = {"alpha": lambda n: 1 / n}
    blocks: ClassVar[tuple[str, ...]] = (U,)
    averages: ClassVar[bool] = False
    server: ClassVar[Group] = {"w": U}
    client: ClassVar[Group] = {"theta": U, "w_i": U, "pi": U}
    local: ClassVar[Group] = {"theta": U, "anchor": U}
    message: ClassVar[Group] = {"z_change": U}
    point: ClassVar[Group | None] = {U: "theta"}
    recorded: ClassVar[tuple[str, ...]] = ("grad_L2", "grad_theta2")

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Line 1 with theta_i^0 = w_i^0 and pi_i^0 = 0, so that z_i^0 = w_i^0."""
        return {"theta": point[U], "w_i": point[U], "pi": 0 * point[U]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Line 5 of round 0."""
        return {"w": clients["w_i"] + clients["pi"] / p["rho"]}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The inner problem holds w_i^t fixed."""
        return {"theta": client["theta"], "anchor": client["w_i"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Line 14."""
        slope = gradient[U] + p["lambda_"] * (local["theta"] - local["anchor"])
        return {"theta": local["theta"] - p["eta"] * slope, "anchor": local["anchor"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Lines 16-19. Line 15 prints theta^{t,H-1}; the last inner iterate is theta^{t,H}."""
        return self._update(server, client, local["theta"], p)

    def _update(self, server: Variables, client: Variables, theta: Any, p: Parameters) -> Finished:
        weight, rho = p["lambda_"] * p["alpha"], p["rho"]
        w_i = (weight * theta + rho * server["w"] - client["pi"]) / (weight + rho)
        # (11), pi + rho (w_i - w), with w_i from (10) put in: the same without a difference of large numbers, whether
        # the weight or rho is the larger one.
        pi = weight / (weight + rho) * (rho * (theta - server["w"]) + client["pi"])
        change = w_i - client["w_i"] + (pi - client["pi"]) / rho
        return {"theta": theta, "w_i": w_i, "pi": pi}, {"z_change": change}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Equation (12): the average of all z_i, of which those that changed were sent."""
        return {"w": server["w"] + total["z_change"] / p["n"]}

    def score(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Line 31 at (theta_i^t, w_i^t); its theta^{t,h} belongs to the inner loop, which has not begun."""
        return {U: gradient[U] + p["lambda_"] * (client["theta"] - client["w_i"])}

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """The squared gradient of the Lagrangian (8), its part by theta, and the Lagrangian.

        ``grad_L2`` = ||grad_w L||^2 + sum_i (||grad_theta_i L||^2 + ||grad_w_i L||^2 + ||grad_pi_i L||^2), as defined
        with Theorem 2, ``grad_theta2`` = sum_i ||grad_theta_i L||^2, ``lagrangian`` = L, and ``dual_residual2`` =
        sum_i ||pi_i - lambda alpha_i (theta_i - w_i)||^2, which Lemma 2 is about.
        """
        n, alpha, weight, rho = p["n"], p["alpha"], p["lambda_"] * p["alpha"], p["rho"]
        apart, split = client["w_i"] - server["w"], client["theta"] - client["w_i"]
        pull = client["pi"] + rho * apart
        by_theta = square(alpha * gradient[U] + weight * split, n)
        return {
            "grad_L2": (square_of_mean(pull, n * n), by_theta, square(pull - weight * split, n), square(apart, n)),
            "grad_theta2": (by_theta,),
            "dual_residual2": (square(client["pi"] - weight * split, n),),
            "lagrangian": (
                f_value(n * alpha),
                square(split, n * weight / 2),
                inner(client["pi"], apart, n),
                square(apart, n * rho / 2),
            ),
        }

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """||grad L||^2 / m, the left side of (19)."""
        return {"grad_L2": 1.0 / n}


class FlameExact(Flame):
    """Algorithm 1 with the inner problem (9) solved exactly: theta_i = argmin f_i + lambda/2 ||. - w_i||^2."""

    name: ClassVar[str] = "flame-exact"
    title: ClassVar[str] = "FLAME, exact inner solution"
    step_sizes: ClassVar[tuple[str, ...]] = ("rho", "lambda_", "alpha")
    oracle: ClassVar[str] = "prox"
    local: ClassVar[Group] = {"anchor": U, "theta": U}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The proximal map is evaluated at w_i^t."""
        return {"anchor": client["w_i"], "theta": client["theta"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Equation (9)."""
        return {"anchor": local["anchor"], "theta": gradient[U]}


class FlamePublished(Flame):
    """FLAME as the authors' published code has it: line 14 with the server's w^t in place of the client's w_i^t.

    Its inner problem is min f_i(theta) + lambda/2 ||theta - w^t||^2; all other lines are Algorithm 1's.
    """

    name: ClassVar[str] = "flame-published"
    title: ClassVar[str] = "FLAME, as published in code"

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The inner problem holds w^t fixed."""
        return {"theta": client["theta"], "anchor": server["w"]}


METHODS = (
    Method("flame", "FLAME", Flame(), personal=False, exact="flame-exact"),
    Method("flame-published", "FLAME, as published in code", FlamePublished(), personal=False),
    Method("flame-exact", "FLAME, exact inner solution", FlameExact(), fixed={"K": 1.0}, personal=False),
)
