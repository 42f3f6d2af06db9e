"""Proximal point and constant momentum: classical methods whose coefficients are the same in every round.

Every client of the round takes one step and the server averages, so that one client is the textbook's method, and
several are the method on the mean of their functions where steps are gradients.

Sources: Martinet (1970), Rockafellar, "Monotone operators and the proximal point algorithm" (1976); Polyak, "Some
methods of speeding up the convergence of iteration methods" (1964); Nesterov, "Introductory Lectures on Convex
Optimization" (2004), scheme (2.2.11); Van Scoy, Freeman, Lynch, "The fastest known globally convergent first-order
method for minimizing strongly convex functions" (2018).
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Group, Parameters, U, V, Variables
from ratecheck.algorithms.model.registered import Method


class OneStep(Algorithm):
    """The common part of the methods: clients take one step from the server's point and send where it ends.

    Personal variables, which no problem of theirs has, would stay as they are.
    """

    client: ClassVar[Group] = {"v": V}
    local: ClassVar[Group] = {"x": U, "v": V}
    message: ClassVar[Group] = {"x": U}

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The starting point."""
        return {"v": point[V]}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point in every variable."""
        return dict.fromkeys(self.server, point[U])

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Clients start at the server's point."""
        return {"x": server["x"], "v": client["v"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """A gradient step."""
        return {**local, "x": local["x"] - p["gamma_u"] * gradient[U]}

    def after(self, local: Variables, nearest: Variables, p: Parameters) -> Variables:
        """Where the proximal step of a second part leads."""
        return {**local, "x": nearest[U]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The local point is sent."""
        return {"v": local["v"]}, {"x": local["x"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean of where the participants ended."""
        return {"x": total["x"] / p["m"]}


class ProximalPoint(OneStep):
    """x^{t+1} = (1/m) sum_i argmin_y f_i(y) + lambda/2 ||y - x^t||^2, recorded at x^t with gradients there."""

    name: ClassVar[str] = "proximal-point"
    title: ClassVar[str] = "proximal point"
    step_sizes: ClassVar[tuple[str, ...]] = ("lambda_",)
    oracle: ClassVar[str] = "prox"
    server: ClassVar[Group] = {"x": U}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The minimiser itself, which is what the oracle answers."""
        return {**local, "x": gradient[U]}


class ProximalGradient(OneStep):
    """x^{t+1} = argmin_y h(y) + ||y - (x^t - gamma grad g(x^t))||^2/(2 gamma) for f = g + h."""

    name: ClassVar[str] = "proximal-gradient"
    title: ClassVar[str] = "proximal gradient method"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    second_oracle: ClassVar[str | None] = "prox"
    server: ClassVar[Group] = {"x": U}


class HeavyBall(OneStep):
    """x^{t+1} = x^t - gamma grad f(x^t) + beta (x^t - x^{t-1}) with x^{-1} = x^0."""

    name: ClassVar[str] = "polyak-momentum"
    title: ClassVar[str] = "heavy ball"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "momentum")
    server: ClassVar[Group] = {"x": U, "before": U}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean gradient step, and the last move once more."""
        x = total["x"] / p["m"] + p["momentum"] * (server["x"] - server["before"])
        return {"x": x, "before": server["x"]}


class ConstantMomentum(HeavyBall):
    """y^t = x^t + beta (x^t - x^{t-1}), x^{t+1} = y^t - gamma grad f(y^t) with x^{-1} = x^0, recorded at x^t."""

    name: ClassVar[str] = "nesterov-momentum"
    title: ClassVar[str] = "Nesterov's method with constant momentum"

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The extrapolated point, at which the gradient is taken."""
        return {**client, "x": server["x"] + p["momentum"] * (server["x"] - server["before"])}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean gradient step."""
        return {"x": total["x"] / p["m"], "before": server["x"]}


class TripleMomentum(OneStep):
    """xi^{t+1} = (1 + beta) xi^t - beta xi^{t-1} - gamma grad f(y^t), y^t = (1 + c) xi^t - c xi^{t-1}.

    Recorded at x^t = (1 + d) xi^t - d xi^{t-1}; beta is ``momentum``, c ``lookahead`` and d ``extrapolation``, and
    xi^{-1} = xi^0 = x^0.
    """

    name: ClassVar[str] = "triple-momentum"
    title: ClassVar[str] = "triple momentum"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "momentum", "lookahead", "extrapolation")
    server: ClassVar[Group] = {"x": U, "xi": U, "before": U}
    local: ClassVar[Group] = {"x": U, "start": U, "v": V}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """Y, at which the gradient is taken."""
        y = server["xi"] + p["lookahead"] * (server["xi"] - server["before"])
        return {"x": y, "start": y, "v": client["v"]}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """The step is sent."""
        return {"v": local["v"]}, {"x": local["x"] - local["start"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Xi moves by the mean step and its momentum; x follows."""
        xi = server["xi"] + p["momentum"] * (server["xi"] - server["before"]) + total["x"] / p["m"]
        return {"x": xi + p["extrapolation"] * (xi - server["xi"]), "xi": xi, "before": server["xi"]}


METHODS = (
    Method("proximal-point", "proximal point", ProximalPoint(), fixed={"K": 1.0}, personal=False),
    Method(
        "proximal-gradient", "proximal gradient method", ProximalGradient(), fixed={"K": 1.0}, personal=False, full=True
    ),
    Method("polyak-momentum", "heavy ball", HeavyBall(), fixed={"K": 1.0}, personal=False, full=True),
    Method(
        "nesterov-momentum", "Nesterov's method with constant momentum", ConstantMomentum(), fixed={"K": 1.0},
        personal=False, full=True,
    ),
    Method("triple-momentum", "triple momentum", TripleMomentum(), fixed={"K": 1.0}, personal=False, full=True),
)  # fmt: skip
