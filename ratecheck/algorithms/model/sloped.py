"""Any algorithm, whose clients also hold the constant of their affine oracle: M x - c with c as a client's variable."""

from __future__ import annotations

from ratecheck.algorithms.model.algorithm import Algorithm, Parameters, Term, Variables
from ratecheck.aliases import Array

_PREFIX = "slope_"


class Sloped(Algorithm):
    """Iterates of ``inner`` for an oracle that answers M x, what it is less than that being a client's last variable.

    Clients that differ in the constants of their oracles alone are then alike in everything but their state.
    ``slope_u`` and so on stay what they are; their start is not the algorithm's to say, and is 0 here.
    """

    def __init__(self, inner: Algorithm) -> None:
        self.inner = inner
        self.name, self.title, self.step_sizes = inner.name, inner.title, inner.step_sizes  # type: ignore[misc]
        self.server, self.message, self.blocks = inner.server, inner.message, inner.blocks  # type: ignore[misc]
        self.averages, self.uses_delay, self.weighs = inner.averages, inner.uses_delay, inner.weighs  # type: ignore[misc]
        self.varying = inner.varying  # type: ignore[misc]
        self.linear, self.mixed = inner.linear, inner.mixed  # type: ignore[misc]
        self.compressed = inner.compressed  # type: ignore[misc]
        self.oracle, self.record_oracle = inner.oracle, inner.record_oracle  # type: ignore[misc]
        self.point, self.projects, self.recorded = inner.point, inner.projects, inner.recorded  # type: ignore[misc]
        # A block without local variables has no use for an oracle.
        self.slopes = {block: f"{_PREFIX}{block}" for block in inner.blocks if block in inner.local.values()}
        own = {name: block for block, name in self.slopes.items()}
        self.client, self.local = {**inner.client, **own}, {**inner.local, **own}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``, with slopes of 0."""
        none = {name: 0 * point[block] for block, name in self.slopes.items()}
        return {**self.inner.start_client(point, gradient, p), **none}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.start_server(point, clients, p)

    def coefficients(self, t: int, T: int, p: Parameters) -> dict[str, float]:
        """As ``inner``."""
        return self.inner.coefficients(t, T, p)

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``, with the slopes at hand."""
        return {**self.inner.begin(server, client, p), **self._kept(client)}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner`` with the oracle's answer less the slope."""
        answer = {**gradient, **{block: gradient[block] - local[name] for block, name in self.slopes.items()}}
        return {**self.inner.step(local, answer, p), **self._kept(local)}

    def finish(
        self, server: Variables, client: Variables, local: Variables, p: Parameters
    ) -> tuple[Variables, Variables]:
        """As ``inner``; slopes stay."""
        state, message = self.inner.finish(server, client, local, p)
        return {**state, **self._kept(client)}, message

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """As ``inner``; slopes stay."""
        return {**self.inner.sent(client, message, p), **self._kept(client)}

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.aggregate(server, total, p)

    def records(
        self, server: Variables, client: Variables, gradient: Variables, p: Parameters
    ) -> dict[str, tuple[Term, ...]]:
        """As ``inner``."""
        return self.inner.records(server, client, gradient, p)

    def metric(self, rate: float, n: int) -> dict[str, float]:
        """As ``inner``."""
        return self.inner.metric(rate, n)

    def weights(self, shares: Array, work: Array) -> Array:
        """As ``inner``."""
        return self.inner.weights(shares, work)

    def _kept(self, variables: Variables) -> Variables:
        return {name: variables[name] for name in self.slopes.values()}
