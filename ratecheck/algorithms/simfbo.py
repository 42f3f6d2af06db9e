"""SimFBO and ShroFBO: federated bilevel optimisation with one loop for all three variables.

Source: "SimFBO: Towards Simple, Flexible and Communication-efficient Federated Bilevel Learning", Algorithm 1 and
equations (3)-(8).

Upper variable x, lower variable y, and v, which solves the linear system of the hypergradient. The oracle returns the
hypergradient estimate, grad_y g_i and grad_v R_i at a client's (x, y, v).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import ClassVar

from ratecheck.algorithms.model.algorithm import (
    Algorithm,
    Finished,
    Group,
    Parameters,
    RecordTerms,
    Variables,
    by_work,
    square_of_mean,
)
from ratecheck.algorithms.model.registered import Method
from ratecheck.aliases import Array

_BLOCKS = ("x", "y", "v")


class SimFbo(Algorithm):
    """Algorithm 1 with the server update (5): a client with more local steps has more weight."""

    name: ClassVar[str] = "simfbo"
    title: ClassVar[str] = "SimFBO"
    step_sizes: ClassVar[tuple[str, ...]] = ("eta_x", "eta_y", "eta_v", "gamma_x", "gamma_y", "gamma_v", "r")
    optional: ClassVar[Mapping[str, Callable[[int], float]]] = {"r": lambda _: math.inf}
    default_problem: ClassVar[str] = "bilevel"
    bilevel: ClassVar[bool] = True
    blocks: ClassVar[tuple[str, ...]] = _BLOCKS
    weighs: ClassVar[bool] = True
    projects: ClassVar[str | None] = "v"
    server: ClassVar[Group] = {"x": "x", "y": "y", "v": "v"}
    client: ClassVar[Group] = {}
    local: ClassVar[Group] = {"x": "x", "y": "y", "v": "v", "q_x": "x", "q_y": "y", "q_v": "v"}
    message: ClassVar[Group] = {"q_x": "x", "q_y": "y", "q_v": "v"}
    recorded: ClassVar[tuple[str, ...]] = ("grad_Phi_w2", "grad_Phi2", "y_error_w2", "v_error_w2")

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """Line 1."""
        return dict(point)

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Line 4, with empty sums."""
        return {**server, **{f"q_{b}": 0 * server[b] for b in _BLOCKS}}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Equation (3), all three at once, and the sums of line 8."""
        moved = {b: local[b] - p["weight"] * p[f"eta_{b}"] * gradient[b] for b in _BLOCKS}
        return {**moved, **{f"q_{b}": local[f"q_{b}"] + p["weight"] * gradient[b] for b in _BLOCKS}}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Equation (4): the part n p_i of the effective weight n p_i / |C|."""
        return {}, {f"q_{b}": p["n"] * p["p"] * local[f"q_{b}"] for b in _BLOCKS}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Equation (5); the engines project v on the ball of radius r afterwards."""
        return {b: server[b] - p[f"gamma_{b}"] / p["m"] * total[f"q_{b}"] for b in _BLOCKS}

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """The averages that the local steps descend along; what belongs to the problem is recorded by its own rows."""
        return {f"step_{b}2": (square_of_mean(p["n"] * p["p"] * gradient[b]),) for b in _BLOCKS}

    def weights(self, shares: Array, work: Array) -> Array:
        """w_i of Section 3.1, in proportion to p_i |a_i|_1."""
        return by_work(shares, work)

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """||grad Phi||^2 of the w-weighted objective, the left side of Theorem 1."""
        return {"grad_Phi_w2": 1.0}


class ShroFbo(SimFbo):
    """Algorithm 1 with the server update (8): messages are normalised, so that the number of local steps is no bias."""

    name: ClassVar[str] = "shrofbo"
    title: ClassVar[str] = "ShroFBO"
    recorded: ClassVar[tuple[str, ...]] = ("grad_Phi2", "y_error2", "v_error2")

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Equations (6) and (7): q divided by the sum of the client's weights."""
        state, message = super().finish(server, client, local, p)
        return state, {name: q / p["norm"] for name, q in message.items()}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Equation (8), rho being the p-weighted average of the sums of weights (6)."""
        return super().aggregate(server, {name: p["mean_norm"] * h for name, h in total.items()}, p)

    def weights(self, shares: Array, work: Array) -> Array:
        """p_i, whatever the clients' work."""
        return shares

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """||grad Phi||^2, the left side of Theorem 2."""
        return {"grad_Phi2": 1.0}


METHODS = (Method("simfbo", "SimFBO", SimFbo()), Method("shrofbo", "ShroFBO", ShroFbo()))
