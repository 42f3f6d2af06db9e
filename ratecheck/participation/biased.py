"""Independent participation that favours the clients of low index."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bounds.assumption import Assumption
from ratecheck.errors import InputError
from ratecheck.inputs import positive, real, whole
from ratecheck.participation.bernoulli import Bernoulli
from ratecheck.participation.model.pattern import Written


class Biased(Bernoulli):
    """Probabilities that fall from group to group of clients: p_i = first - step * floor(i / group), i = 0, 1, ...

    The biased sampling of the FedSUM paper (Appendix H.8): "clients 1 to 11 have a 0.5 probability of participating,
    clients 12 to 22 have a 0.45 probability, clients 23 to 33 have a 0.4 probability, and so on". Of the paper's 100
    clients, client 100 is alone in the tenth group, at 0.05; with more than 110 clients probabilities would reach 0.
    The paper does not say that clients are independent; here they are, as in Case 2 (see `Independent`).

    Raises `InputError` for n or group below 1, and where a probability leaves (0, 1].
    """

    kind: ClassVar[str] = "biased"
    written: ClassVar[tuple[Written, ...]] = ()
    stands_for: ClassVar[frozenset[Assumption]] = frozenset()

    def __init__(self, n: int = 100, group: int = 11, first: float = 0.5, step: float = 0.05) -> None:
        n, group = whole("n", n, 1), whole("group", group, 1)
        first, step = positive("first", first), real("step", step)
        last = first - step * ((n - 1) // group)
        if not (first <= 1.0 and 1e-12 < last <= 1.0):
            raise InputError(
                f'n={n}, group={group}, first={first:g}, step={step:g} break "0 < p_i <= 1": '
                f"from {first:g} to {last:.6g}"
            )
        super().__init__(first - step * (np.arange(n) // group))

    def fields(self) -> dict[str, Any]:
        """The probabilities, from which it reads back as `Bernoulli`."""
        return {"kind": Bernoulli.kind, **super().fields()}
