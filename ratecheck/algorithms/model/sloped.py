"""Any algorithm, whose clients also hold the constant of their affine oracle: M x - c with c as a client's variable."""

from __future__ import annotations

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Parameters, Variables
from ratecheck.algorithms.model.wrapping import Wrapping

_PREFIX = "slope_"


class Sloped(Wrapping):
    """Iterates of ``inner`` for an oracle that answers M x, what it is less than that being a client's last variable.

    Clients that differ in the constants of their oracles alone are then alike in everything but their state.
    ``slope_u`` and so on stay what they are; their start is not the algorithm's to say, and is 0 here.
    """

    def __init__(self, inner: Algorithm) -> None:
        super().__init__(inner)
        # A block without local variables has no use for an oracle.
        self.slopes = {block: f"{_PREFIX}{block}" for block in inner.blocks if block in inner.local.values()}
        own = {name: block for block, name in self.slopes.items()}
        self.client, self.local = {**inner.client, **own}, {**inner.local, **own}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``, with slopes of 0."""
        none = {name: 0 * point[block] for block, name in self.slopes.items()}
        return {**self.inner.start_client(point, gradient, p), **none}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``, with the slopes at hand."""
        return {**self.inner.begin(server, client, p), **self._kept(client)}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner`` with the oracle's answer less the slope."""
        answer = {**gradient, **{block: gradient[block] - local[name] for block, name in self.slopes.items()}}
        return {**self.inner.step(local, answer, p), **self._kept(local)}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """As ``inner``; slopes stay."""
        state, message = self.inner.finish(server, client, local, p)
        return {**state, **self._kept(client)}, message

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """As ``inner``; slopes stay."""
        return {**self.inner.sent(client, message, p), **self._kept(client)}

    def _kept(self, variables: Variables) -> Variables:
        return {name: variables[name] for name in self.slopes.values()}
