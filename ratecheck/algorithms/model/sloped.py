"""Any algorithm, whose clients also hold the constant of their affine oracle: M x - c with c as a client's variable."""

from __future__ import annotations

from collections.abc import Mapping

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Parameters, Variables
from ratecheck.algorithms.model.wrapping import Wrapping

_PREFIX, _RECORDED = "slope_", "recorded_slope_"


class Sloped(Wrapping):
    """Iterates of ``inner`` for an oracle that answers M x, what it is less than that being a client's last variable.

    Clients that differ in the constants of their oracles alone are then alike in everything but their state.
    ``slope_u`` and so on stay what they are; their start is not the algorithm's to say, and is 0 here. Where what is
    recorded is made of another oracle, ``recorded_slope_u`` is the constant of that one.
    """

    def __init__(self, inner: Algorithm) -> None:
        super().__init__(inner)
        # A block without local variables has no use for an oracle.
        self.slopes = {block: f"{_PREFIX}{block}" for block in inner.blocks if block in inner.local.values()}
        self.recorded_slopes = self.slopes
        if inner.record_oracle != inner.oracle:
            self.recorded_slopes = {block: f"{_RECORDED}{block}" for block in self.slopes}
        own, recorded = ({name: b for b, name in each.items()} for each in (self.slopes, self.recorded_slopes))
        self.client, self.local = {**inner.client, **own, **recorded}, {**inner.local, **own}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``, with slopes of 0."""
        slopes = (*self.slopes.items(), *self.recorded_slopes.items())
        none = {name: 0 * point[block] for block, name in slopes}
        return {**self.inner.start_client(point, gradient, p), **none}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``, with the slopes at hand."""
        return {**self.inner.begin(server, client, p), **_kept(client, self.slopes)}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner`` with the oracle's answer less the slope."""
        answer = {**gradient, **{block: gradient[block] - local[name] for block, name in self.slopes.items()}}
        return {**self.inner.step(local, answer, p), **_kept(local, self.slopes)}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """As ``inner``; slopes stay."""
        state, message = self.inner.finish(server, client, local, p)
        return {**state, **self._constants(client)}, message

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """As ``inner``; slopes stay."""
        return {**self.inner.sent(client, message, p), **self._constants(client)}

    def _constants(self, client: Variables) -> Variables:
        return {**_kept(client, self.slopes), **_kept(client, self.recorded_slopes)}


def _kept(variables: Variables, slopes: Mapping[str, str]) -> Variables:
    return {name: variables[name] for name in slopes.values()}
