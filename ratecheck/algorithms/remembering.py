"""Any algorithm, with a memory of each client's last local iterates."""

from __future__ import annotations

from ratecheck.algorithms.base import Algorithm, Parameters, U, V, Variables


class Remembering(Algorithm):
    """The same iterates as ``inner``, while a client also keeps the sum of the points of its last K local steps.

    Proofs about control variates speak of the local iterates of the last round in which a client took part (alpha_ik,
    beta_ik in Section 4.2.1 of the partial-personalisation paper, the starting point before the first such round).
    ``last_u`` and ``last_v`` are their sums over k.
    """

    def __init__(self, inner: Algorithm) -> None:
        self.inner = inner
        self.name, self.title, self.step_sizes = inner.name, inner.title, inner.step_sizes  # type: ignore[misc]
        self.server, self.message = inner.server, inner.message  # type: ignore[misc]
        self.client = {**inner.client, "last_u": U, "last_v": V}  # type: ignore[misc]
        self.local = {**inner.local, "sum_u": U, "sum_v": V}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The starting point counts as K local iterates."""
        last = {"last_u": p["K"] * point["u"], "last_v": p["K"] * point["v"]}
        return {**self.inner.start_client(point, gradient, p), **last}

    def start_server(self, point: Variables, clients: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.start_server(point, clients, p)

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``, with empty sums."""
        local = self.inner.begin(server, client, p)
        return {**local, "sum_u": 0 * local["u"], "sum_v": 0 * local["v"]}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``, after adding the present point to the sums."""
        sums = {"sum_u": local["sum_u"] + local["u"], "sum_v": local["sum_v"] + local["v"]}
        return {**self.inner.step(local, gradient, p), **sums}

    def finish(
        self, server: Variables, client: Variables, local: Variables, p: Parameters
    ) -> tuple[Variables, Variables]:
        """As ``inner``, keeping the sums."""
        state, message = self.inner.finish(server, client, local, p)
        return {**state, "last_u": local["sum_u"], "last_v": local["sum_v"]}, message

    def aggregate(self, server: Variables, total: Variables, p: Parameters) -> Variables:
        """As ``inner``."""
        return self.inner.aggregate(server, total, p)
