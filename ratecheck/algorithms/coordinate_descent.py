"""Coordinate descent: in a round some coordinates move, drawn at random or chosen by the size of their derivatives.

Sources: Nesterov, "Efficiency of coordinate descent methods on huge-scale optimization problems" (2012); Nutini,
Schmidt, Laradji, Friedlander, Koepke, "Coordinate descent converges faster with the Gauss-Southwell rule than random
selection" (2015).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ratecheck.algorithms.compression import CompressedSgd
from ratecheck.algorithms.model.algorithm import Group, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.momentum import OneStep


class CoordinateDescent(CompressedSgd):
    """Each coordinate moves with probability q, on its own: x_c <- x_c - gamma_u d_c f(x).

    That is x - gamma_u q C(g) with the compression C; clients draw coordinates on their own, so that with several of
    them a coordinate moves by the mean of what those send that drew it.
    """

    name: ClassVar[str] = "coordinate-descent"
    title: ClassVar[str] = "Coordinate descent"

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """Step along the drawn coordinates of the mean gradient."""
        return {"x": server["x"] - p["gamma_u"] * p["q"] / p["m"] * total["total"]}


class GreedyCoordinateDescent(OneStep):
    """The Gauss-Southwell rule: the coordinate moves whose derivative is largest, the first of them where several are.

    x_c <- x_c - gamma_u d_c f(x) for c = argmax |d_c f(x)|; derivatives are means over the participants.
    """

    name: ClassVar[str] = "greedy-coordinate-descent"
    title: ClassVar[str] = "Greedy coordinate descent"
    linear: ClassVar[bool] = False
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u",)
    server: ClassVar[Group] = {"x": U}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """The step of the mean, in one coordinate."""
        way = total["x"] / p["m"] - server["x"]
        chosen = np.argmax(np.abs(way), axis=-1, keepdims=True)
        return {"x": server["x"] + np.where(np.arange(way.shape[-1]) == chosen, way, 0.0)}


METHODS = (
    Method("coordinate-descent", "coordinate descent, drawn coordinates", CoordinateDescent(), personal=False),
    Method(
        "greedy-coordinate-descent", "coordinate descent, the Gauss-Southwell rule", GreedyCoordinateDescent(),
        {"K": 1.0}, personal=False,
    ),
)  # fmt: skip
