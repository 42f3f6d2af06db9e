"""Heavy ball and accelerated gradient descent as methods of one's own, and theorems about them for the searches.

Each is a method of one client's gradients of the mean, deterministic, with a constant momentum ``beta``; both keep the
last step ``d`` and begin with ``d = 0``:

* heavy ball, ``d' = beta d - gamma g(u)``, ``u' = u + d'``;
* accelerated, ``u' = y - gamma g(y)`` at ``y = u + beta d``, ``d' = u' - u``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from bounds.statement import Statement
from bounds.theorem import theorem
from ratecheck.algorithms import METHODS, Method
from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.algorithm import Group, Parameters, Variables


class HeavyBall(FedAvgP):
    """Polyak's method."""

    step_sizes: ClassVar[tuple[str, ...]] = (*FedAvgP.step_sizes, "beta")
    server: ClassVar[Group] = {"u": "u", "d": "u"}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """At rest."""
        return {"u": point["u"], "d": 0 * point["u"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean of the clients' steps, and beta of the last step."""
        d = p["beta"] * server["d"] + total["u"] / p["m"] - server["u"]
        return {"u": server["u"] + d, "d": d}


class Accelerated(HeavyBall):
    """Nesterov's method, whose gradients are those at an extrapolated point."""

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """The extrapolated point."""
        return {"u": server["u"] + p["beta"] * server["d"], "v": client["v"]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean of the clients' steps from there."""
        u = total["u"] / p["m"]
        return {"u": u, "d": u - server["u"]}


for _name, _title, _made in (("heavy-ball", "heavy ball", HeavyBall()), ("accelerated", "accelerated", Accelerated())):
    METHODS[_name] = Method(_name, _title, _made, {"gamma_v": 1, "eta_v": 1, "eta_u": 1}, personal=False)

_DETERMINISTIC = {"K": 1, "m": "n", "eta_u": 1, "sigma_u": 0}
# Of accelerated gradient descent, as textbooks have it.
_RULES = {"gamma_u": "1/L", "beta": "(1 - sqrt(mu/L))/(1 + sqrt(mu/L))"}
_POTENTIAL = "(1 - sqrt(mu/L))**t*(F_0 + mu*dist2_0/2)"


def _about(title: str, algorithm: str, assumption: str, **fields: Any) -> Statement:
    fields.setdefault("settings", _DETERMINISTIC)
    return theorem(
        title=title, algorithm=algorithm, assumptions=["smoothness", assumption, "full_participation", "no_personal"],
    vocabulary="textbook", key=f"momentum/{title.replace(',', '').replace(' ', '-')}", **fields,
    )  # fmt: skip


STATEMENTS = (
    _about(
        "accelerated, values", "accelerated", "strong_convexity",
        left="gap", over="every_round_but_first", right=_POTENTIAL, step_rules=_RULES,
    ),
    _about(
        "accelerated, distances", "accelerated", "strong_convexity",
        left="dist2", over="every_round_but_first", right=f"2*{_POTENTIAL}/mu", step_rules=_RULES,
    ),
    _about(
        "heavy ball, values", "heavy-ball", "convexity",
        left="gap", over="mean_of_rounds", right="(beta*F_0/(1 - beta) + (1 - beta)*dist2_0/(2*gamma_u))/T",
        conditions=["beta < 1", "gamma_u <= (1 - beta)/L"],
    ),
    _about(
        "heavy ball, half", "heavy-ball", "convexity",
        left="gap", over="mean_of_rounds", right="(F_0 + dist2_0/(4*gamma_u))/T",
        conditions=["gamma_u <= 1/(2*L)"], settings={**_DETERMINISTIC, "beta": "1/2"},
    ),
)  # fmt: skip
