"""FedAvg where clients have weights p_i: local steps on f_i, and means that are unbiased for f = sum_i p_i f_i.

The functions of a weighted problem are n p_i f_i (`WeightedQuadratic`), so that a step on f_i divides a gradient by
n p_i. Two servers go with two ways of drawing clients (Li, Huang, Yang, Wang, Zhang, "On the convergence of FedAvg on
non-IID data", ICLR 2020, Schemes I and II): those who were drawn by their weights count alike; those who were drawn
uniformly count by n p_i.
"""

from __future__ import annotations

from typing import ClassVar

from ratecheck.algorithms.fedavg_p import FedAvgP
from ratecheck.algorithms.model.algorithm import Finished, Parameters, U, V, Variables
from ratecheck.algorithms.model.registered import NO_PERSONAL, Method


class DrawnFedAvg(FedAvgP):
    """x^{t+1} = x^t + (eta/m) sum_{i in S_t} (x_i - x^t), with K steps x_i <- x_i - gamma grad f_i(x_i) from x^t.

    For clients drawn by their weights, with replacement (Scheme I): E x^{t+1} - x^t = eta sum_i p_i (x_i - x^t).
    """

    name: ClassVar[str] = "drawn-fedavg"
    title: ClassVar[str] = "FedAvg with clients drawn by weight"
    own_functions: ClassVar[bool] = True

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """A step on f_i."""
        own = {block: gradient[block] / (p["n"] * p["p"]) for block in (U, V)}
        return super().step(local, own, p)


class WeightedFedAvg(DrawnFedAvg):
    """x^{t+1} = x^t + (eta/m) sum_{i in S_t} n p_i (x_i - x^t), with the same local steps.

    For clients drawn uniformly (Scheme II with differences in the place of iterates) or all of them, where it is
    x^t + eta sum_i p_i (x_i - x^t). The same in expectation.
    """

    name: ClassVar[str] = "weighted-fedavg"
    title: ClassVar[str] = "weighted FedAvg"

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """What a client has moved, by its weight."""
        state, _ = super().finish(server, client, local, p)
        return state, {"u": p["n"] * p["p"] * (local["u"] - server["u"])}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The mean of these."""
        return {"u": server["u"] + p["eta_u"] / p["m"] * total["u"]}


METHODS = (
    Method("drawn-fedavg", DrawnFedAvg.title, DrawnFedAvg(), fixed=NO_PERSONAL, personal=False),
    Method("weighted-fedavg", WeightedFedAvg.title, WeightedFedAvg(), fixed=NO_PERSONAL, personal=False),
)
