"""Any method, answering with the mean of its iterates: what theorems on averaged iterates speak of."""

from __future__ import annotations

from dataclasses import replace

from ratecheck.algorithms.model.algorithm import Algorithm, Parameters, U, Variables
from ratecheck.algorithms.model.registered import Method
from ratecheck.algorithms.model.wrapping import Wrapping

# What stands before the name of the method whose iterates are averaged; `bounds.theorem` writes it, too.
PREFIX = "averaged-"
# The weight of an iterate in the mean, 1/T.
SHARE = "iterate_share"
# Server variables beside those of the method.
_MEAN, _FIRST = "mean_iterate", "first_iterate"


class Averaged(Wrapping):
    """Iterates x^t of ``inner`` recorded at their mean: before round T - 1 at (1/T) sum_{t<T} x^t.

    x^t is the first shared variable of the server. The mean is x^0 + share*sum_{0<s<=t} (x^s - x^0) with share = 1/T:
    affine before every round, and that mean before the last one.
    """

    def __init__(self, inner: Algorithm) -> None:
        super().__init__(inner)
        self.name, self.title = f"{PREFIX}{self.name}", f"{self.title}, iterates averaged"  # type: ignore[misc]
        self.step_sizes = (*inner.step_sizes, SHARE)  # type: ignore[misc]
        self.iterate = next(name for name, block in inner.server.items() if block == U)
        self.server = {_MEAN: U, **inner.server, _FIRST: U}  # type: ignore[misc]

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """As ``inner``, and x^0 twice."""
        server = self.inner.start_server(point, clients, p)
        return {_MEAN: server[self.iterate], **server, _FIRST: server[self.iterate]}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """As ``inner``, and the new iterate's share of the mean."""
        after = self.inner.aggregate(server, total, p)
        mean = server[_MEAN] + p[SHARE] * (after[self.iterate] - server[_FIRST])
        return {_MEAN: mean, **after, _FIRST: server[_FIRST]}


def averaged(method: Method) -> Method | None:
    """The method whose answer is the mean of the iterates of that one; None where it has no such iterates.

    A server that averages over participants stays as it is in a round without any, which is no iterate of its mean: so
    every client takes part.
    """
    inner = method.algorithm
    modelled = inner.linear and not inner.bilevel and inner.projects is None and inner.point is None
    if not (method.shared and modelled and method.exact is None and U in inner.server.values()):
        return None
    return replace(
        method,
        name=f"{PREFIX}{method.name}",
        title=f"{method.title}, iterates averaged",
        algorithm=Averaged(inner),
        full=method.full or inner.averages,
    )
