"""Any method, answering with the mean of its iterates: what theorems on averaged iterates speak of."""

from __future__ import annotations

from dataclasses import replace

from ratecheck.algorithms.model.algorithm import Algorithm, Parameters, Term, U, Variables
from ratecheck.algorithms.model.method import Method
from ratecheck.aliases import Array

# What stands before the name of the method whose iterates are averaged; `bounds.theorem` writes it, too.
PREFIX = "averaged-"
# The weight of an iterate in the mean, 1/T.
SHARE = "iterate_share"
# Server variables beside those of the method.
_MEAN, _FIRST = "mean_iterate", "first_iterate"


class Averaged(Algorithm):
    """Iterates x^t of ``inner`` recorded at their mean: before round T - 1 at (1/T) sum_{t<T} x^t.

    x^t is the first shared variable of the server. The mean is x^0 + share*sum_{0<s<=t} (x^s - x^0) with share = 1/T:
    affine before every round, and that mean before the last one.
    """

    def __init__(self, inner: Algorithm) -> None:
        self.inner = inner
        self.name, self.title = f"{PREFIX}{inner.name}", f"{inner.title}, iterates averaged"  # type: ignore[misc]
        self.step_sizes = (*inner.step_sizes, SHARE)  # type: ignore[misc]
        self.optional, self.per_client = inner.optional, inner.per_client  # type: ignore[misc]
        self.default_problem, self.blocks = inner.default_problem, inner.blocks  # type: ignore[misc]
        self.oracle, self.record_oracle = inner.oracle, inner.record_oracle  # type: ignore[misc]
        self.averages, self.uses_delay, self.weighs = inner.averages, inner.uses_delay, inner.weighs  # type: ignore[misc]
        self.second_oracle = inner.second_oracle  # type: ignore[misc]
        self.varying = inner.varying  # type: ignore[misc]
        self.linear, self.mixed, self.recorded = inner.linear, inner.mixed, inner.recorded  # type: ignore[misc]
        self.compressed = inner.compressed  # type: ignore[misc]
        self.client, self.local, self.message = inner.client, inner.local, inner.message  # type: ignore[misc]
        self.iterate = next(name for name, block in inner.server.items() if block == U)
        self.server = {_MEAN: U, **inner.server, _FIRST: U}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.start_client(point, gradient, p)

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """As ``inner``, and x^0 twice."""
        server = self.inner.start_server(point, clients, p)
        return {_MEAN: server[self.iterate], **server, _FIRST: server[self.iterate]}

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """As ``inner``."""
        return self.inner.coefficients(t, T, p)

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.begin(server, client, p)

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.step(local, gradient, p)

    def after(self, local: Variables, nearest: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return {**local, **self.inner.after(local, nearest, p)}

    def finish(
        self, server: Variables, client: Variables, local: Variables, p: Parameters
    ) -> tuple[Variables, Variables]:
        """As ``inner``."""
        return self.inner.finish(server, client, local, p)

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.sent(client, message, p)

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """As ``inner``, and the new iterate's share of the mean."""
        after = self.inner.aggregate(server, total, p)
        mean = server[_MEAN] + p[SHARE] * (after[self.iterate] - server[_FIRST])
        return {_MEAN: mean, **after, _FIRST: server[_FIRST]}

    def records(
        self, server: Variables, client: Variables, gradient: Variables, p: Parameters
    ) -> dict[str, tuple[Term, ...]]:
        """As ``inner``, of the gradient at the mean."""
        return self.inner.records(server, client, gradient, p)

    def weights(self, shares: Array, work: Array) -> Array:
        """As ``inner``."""
        return self.inner.weights(shares, work)

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """As ``inner``."""
        return self.inner.metric(rate, n)


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
