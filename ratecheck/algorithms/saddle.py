"""Methods for min-max problems: gradient descent ascent, extragradient, optimistic gradients, alternating steps.

The methods evaluate an operator F, on a min-max problem F(x, y) = (grad_x f, -grad_y f), and run on gradients of
functions as well. Every client of the round takes the steps and the server averages, so that one client is the
textbook's method.
None of them needs a step that differs from the others of its round: which variable moves when follows from what the
local variables remember.

Sources: Arrow, Hurwicz, Uzawa, "Studies in Linear and Non-Linear Programming" (1958); Korpelevich, "The extragradient
method for finding saddle points and other problems" (1976); Popov, "A modification of the Arrow-Hurwicz method for
search of saddle points" (1980).
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.algorithm import (
    RECORDS,
    Algorithm,
    Finished,
    Group,
    Parameters,
    RecordTerms,
    U,
    V,
    Variables,
    square,
    square_of_mean,
)
from ratecheck.algorithms.model.registered import NO_PERSONAL, Method
from ratecheck.algorithms.momentum import OneStep

# The blocks of a min-max problem, to minimise over and to maximise over.
X, Y = "x", "y"


class GradientDescentAscent(FedAvgP):
    """FedAvg on an operator: z <- z - gamma F_i(z), K times at every client, then the mean."""

    name: ClassVar[str] = "local-gda"
    title: ClassVar[str] = "local gradient descent ascent"
    default_problem: ClassVar[str] = "minmax"


class Extragradient(OneStep):
    """h^t = z^t - gamma F(z^t) and z^{t+1} = z^t - gamma F(h^t), two local steps, recorded at z^t.

    A local step leads from where the operator is evaluated to ``start`` - gamma F. Several clients do so with
    operators of their own.
    """

    name: ClassVar[str] = "extragradient"
    title: ClassVar[str] = "extragradient method"
    default_problem: ClassVar[str] = "minmax"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    server: ClassVar[Group] = {"x": U}
    local: ClassVar[Group] = {"x": U, "start": U, "v": V}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """At the server's point, which is kept."""
        return {"x": server["x"], "start": server["x"], "v": client["v"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """From the start along the operator at the last point."""
        return {**local, "x": local["start"] - p["gamma_u"] * gradient[U]}


class Optimistic(Extragradient):
    """Popov's method: z^{t+1} = z^t - gamma F(h^t) and h^{t+1} = z^{t+1} - gamma F(h^t), h^0 = z^0, recorded at z^t.

    One answer a round. The points h alone are those of optimistic gradients, h^{t+1} = h^t - 2 gamma F(h^t) +
    gamma F(h^{t-1}), without the last term in round 0.
    """

    name: ClassVar[str] = "optimistic-gradient"
    title: ClassVar[str] = "optimistic gradient method"
    server: ClassVar[Group] = {"x": U, "ahead": U}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The operator is evaluated ahead."""
        return {"x": server["ahead"], "start": server["x"], "v": client["v"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean, and once more as far."""
        x = total["x"] / p["m"]
        return {"x": x, "ahead": 2 * x - server["x"]}


class AlternatingGda(Algorithm):
    """x^{t+1} = x^t - gamma grad_x f(x^t, y^t), then y^{t+1} = y^t + gamma grad_y f(x^{t+1}, y^t): partial gradients.

    Two local steps: both evaluate the whole operator at (x, y). In the first x moves; what it was before the second is
    kept in ``moved_x``. y stays, and ``moved_y`` is where the last answer leads it.
    """

    name: ClassVar[str] = "alternating-gda"
    title: ClassVar[str] = "alternating gradient descent ascent"
    default_problem: ClassVar[str] = "minmax"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    blocks: ClassVar[tuple[str, ...]] = (X, Y)
    server: ClassVar[Group] = {"x": X, "y": Y}
    client: ClassVar[Group] = {}
    local: ClassVar[Group] = {"x": X, "moved_x": X, "y": Y, "moved_y": Y}
    message: ClassVar[Group] = {"x": X, "y": Y}
    recorded: ClassVar[tuple[str, ...]] = RECORDS

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """The starting point."""
        return dict(point)

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """At the server's point."""
        return {"x": server["x"], "moved_x": server["x"], "y": server["y"], "moved_y": server["y"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """Where x is after so many answers, and one fewer; where y would be after the last one alone."""
        return {
            "x": local["x"] - p["gamma_u"] * gradient[X],
            "moved_x": local["x"],
            "y": local["y"],
            "moved_y": local["y"] - p["gamma_u"] * gradient[Y],
        }

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Both moved once."""
        return {}, {"x": local["moved_x"], "y": local["moved_y"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean of where the participants ended."""
        return {name: sent / p["m"] for name, sent in total.items()}

    def records(self, server: Variables, client: Variables, gradient: Variables, p: Parameters) -> RecordTerms:
        """G_u = ||F||^2 and B = sum_i ||F_i||^2, of both blocks; there are no personal variables."""
        return {
            "G_u": tuple(square_of_mean(gradient[block]) for block in self.blocks),
            "G_v": (square(0 * gradient[X]),),
            "B": tuple(square(gradient[block], p["n"]) for block in self.blocks),
        }


METHODS = (
    Method("local-gda", "local gradient descent ascent", GradientDescentAscent(), fixed=NO_PERSONAL, personal=False),
    Method(
        "gda", "gradient descent ascent", GradientDescentAscent(), fixed={**NO_PERSONAL, "K": 1.0, "eta_u": 1.0},
        personal=False,
    ),
    Method("extragradient", "extragradient method", Extragradient(), fixed={"K": 2.0}, personal=False),
    Method("optimistic-gradient", "optimistic gradient method", Optimistic(), fixed={"K": 1.0}, personal=False),
    Method("alternating-gda", "alternating gradient descent ascent", AlternatingGda(), fixed={"K": 2.0}),
)  # fmt: skip
