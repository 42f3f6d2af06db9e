"""Any algorithm, with a memory of each client's last local steps: what FedSUM's lemmas speak of."""

from __future__ import annotations

from typing import Any

from ratecheck.algorithms.model.algorithm import Algorithm, Finished, Parameters, Variables
from ratecheck.algorithms.model.wrapping import Wrapping


class Remembering(Wrapping):
    """Iterates of ``inner``, while a client also keeps the sum of the points of its last K local steps.

    Proofs about control variates speak of the local iterates of the last round in which a client took part (alpha_ik,
    beta_ik in Section 4.2.1 of the partial-personalisation paper, the starting point before the first such round).
    ``last_u`` and ``last_v`` are their sums over k, for the blocks in which there are local variables.
    """

    def __init__(self, inner: Algorithm) -> None:
        super().__init__(inner)
        # The first local variable of a block is the point at which the oracle is evaluated.
        self.points = {where: name for name, where in reversed(tuple(inner.local.items()))}
        self.client = {**inner.client, **{f"last_{block}": block for block in self.points}}  # type: ignore[misc]
        self.local = {**inner.local, **{f"sum_{block}": block for block in self.points}}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """The starting point counts as K local iterates."""
        last = {f"last_{block}": p["K"] * point[block] for block in self.points}
        return {**self.inner.start_client(point, gradient, p), **last}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """As ``inner``, with empty sums."""
        local = self.inner.begin(server, client, p)
        return {**local, **self._empty("sum", local)}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """As ``inner``, after adding the present point to the sums."""
        sums = {f"sum_{block}": local[f"sum_{block}"] + local[name] for block, name in self.points.items()}
        return {**self.inner.step(local, gradient, p), **sums}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """As ``inner``, keeping the sums."""
        state, message = self.inner.finish(server, client, local, p)
        return {**state, **{f"last_{block}": local[f"sum_{block}"] for block in self.points}}, message

    def sent(self, client: Variables, message: Variables, p: Parameters) -> Variables:
        """As ``inner``, keeping the sums."""
        return {**self.inner.sent(client, message, p), **{f"last_{b}": client[f"last_{b}"] for b in self.points}}

    def _empty(self, name: str, local: Variables) -> dict[str, Any]:
        """A sum per block, still zero."""
        return {f"{name}_{block}": 0 * local[point] for block, point in self.points.items()}


class RememberingGradients(Remembering):
    """`Remembering`, where a client also keeps the sum of the gradients, noise included, that it took at those points.

    ``taken_u`` and ``taken_v`` are the sums, zero before the first round of the client.
    """

    def __init__(self, inner: Algorithm) -> None:
        super().__init__(inner)
        self.client = {**self.client, **{f"taken_{block}": block for block in self.points}}  # type: ignore[misc]
        self.local = {**self.local, **{f"gradients_{block}": block for block in self.points}}  # type: ignore[misc]

    def start_client(self, point: Variables, gradient: Variables, p: Parameters) -> Variables:
        """No gradient has been taken."""
        none = {f"taken_{block}": 0 * point[block] for block in self.points}
        return {**super().start_client(point, gradient, p), **none}

    def begin(self, server: Variables, client: Variables, p: Parameters) -> Variables:
        """With empty sums of gradients, too."""
        local = super().begin(server, client, p)
        return {**local, **self._empty("gradients", local)}

    def step(self, local: Variables, gradient: Variables, p: Parameters) -> Variables:
        """After adding the gradients to their sums."""
        sums = {f"gradients_{block}": local[f"gradients_{block}"] + gradient[block] for block in self.points}
        return {**super().step(local, gradient, p), **sums}

    def finish(self, server: Variables, client: Variables, local: Variables, p: Parameters) -> Finished:
        """Keeping these sums as well."""
        state, message = super().finish(server, client, local, p)
        return {**state, **{f"taken_{block}": local[f"gradients_{block}"] for block in self.points}}, message


def remembering(inner: Algorithm, *, gradients: bool) -> Remembering:
    """The algorithm whose clients keep the sums of their last local points, or of the ``gradients`` there as well."""
    return RememberingGradients(inner) if gradients else Remembering(inner)
