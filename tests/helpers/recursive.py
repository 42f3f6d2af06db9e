"""A method of one's own that asks for two gradients with one sample."""

from types import MappingProxyType
from typing import ClassVar

from ratecheck.algorithms.model.answers import gradient_at
from ratecheck.algorithms.momentum import OneStep


class Recursive(OneStep):
    """STORM: d <- g(x; xi) + (1 - a)(d - g(x_before; xi)), x <- x - gamma d, with d a gradient at first."""

    name, title = "recursive", "recursive"
    step_sizes: ClassVar[tuple[str, ...]] = ("gamma_u", "a")
    server = MappingProxyType({"x": "u", "before": "u", "d": "u"})
    client = MappingProxyType({"v": "v", "g": "u"})
    local = MappingProxyType({"x": "u", "before": "u", "new": "u", "old": "u", "v": "v"})
    message = MappingProxyType({"new": "u", "old": "u"})
    also = MappingProxyType({"old": gradient_at("before")})

    def start_client(self, point, gradient, p):
        """A gradient at the start."""
        return {"v": point["v"], "g": gradient["u"]}

    def start_server(self, point, clients, p):
        """Their mean."""
        return {"x": point["u"], "before": point["u"], "d": clients["g"]}

    def begin(self, server, client, p):
        """Both points."""
        none = 0 * server["x"]
        return {"x": server["x"], "before": server["before"], "new": none, "old": none, "v": client["v"]}

    def step(self, local, gradient, p):
        """Both gradients."""
        return {**local, "new": gradient["u"], "old": gradient["old"]}

    def finish(self, server, client, local, p):
        """Both are sent."""
        return {"v": local["v"], "g": client["g"]}, {"new": local["new"], "old": local["old"]}

    def aggregate(self, server, total, p):
        """One step along the new estimate."""
        d = total["new"] / p["m"] + (1 - p["a"]) * (server["d"] - total["old"] / p["m"])
        return {"x": server["x"] - p["gamma_u"] * d, "before": server["x"], "d": d}
