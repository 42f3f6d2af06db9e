"""Reshuffled cyclic participation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from bounds.assumption import Assumption
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.kernels.random import reshuffled_blocks
from ratecheck.participation.model.pattern import Keys, Masks, Participation, Written


class Reshuffled(Participation):
    """Blocks of S consecutive clients in an order that is drawn anew, uniformly, at the beginning of each epoch.

    Case 4 of the FedSUM paper (Section 2.1): "Clients are arranged in a random order at the beginning of each epoch,
    and a block of S consecutive clients is selected in each round. The process continues sequentially and wraps around
    at the end, cycling through all clients." Where S divides n, an epoch is n/S rounds that partition the clients, and
    tau_max <= 2n/S - 2. Where it does not, the text leaves open what the last block of an epoch is:

    - ``wrap=True``: it is filled up from the start of the *same* order. An epoch has ceil(n/S) rounds; round j of it
      takes the places (j*S + k) mod n, k < S. Always S clients, every client at least once per epoch,
      tau_max <= 2*ceil(n/S) - 2. The only reading in which every sentence of the quotation is true.
    - ``wrap=False``: it is filled up from the start of the *next* order: the orders follow one another without a gap,
      and round t takes the places t*S ... t*S + S-1 of that sequence. A client that stands in both parts of such a
      block plays once, so a round may have fewer than S clients. tau_max <= ceil((2n-1)/S) - 1.
    - ``epoch=R``: as ``wrap=True``, with a new order every R rounds. R = n // S is the epoch of the proof of Lemma F.3
      ("one epoch consists of floor(N/S) rounds"). It leaves n mod S clients out of each epoch, so it does not cycle
      through all clients, and tau_max has no bound that is independent of T.

    Within an epoch of given length it does not matter for the law whether the blocks start at the first place or where
    the last epoch stopped: the order is uniform. The orders themselves depend on neither S, ``wrap`` nor R.

    A call of ``masks`` draws the orders of all epochs that it touches, O(n) per epoch and replicate.
    Raises `InputError` unless 1 <= S <= n, for R < 1, and for R together with ``wrap=False``.
    """

    kind: ClassVar[str] = "reshuffled"
    written: ClassVar[tuple[Written, ...]] = (Written("reshuffled"),)
    satisfies: ClassVar[frozenset[Assumption]] = frozenset({Assumption.RESHUFFLED_BLOCKS})
    stands_for: ClassVar[frozenset[Assumption]] = satisfies

    def __init__(self, n: int, S: int, *, wrap: bool = True, epoch: int | None = None) -> None:
        self.n = whole("n", n, 1)
        self.S = self.size = whole("S", S, 1, self.n, "there are that many clients")
        if epoch is not None and not wrap:
            raise InputError(
                "epoch is the number of rounds per order where blocks wrap around within it: use wrap=True"
            )
        self.wrap = bool(wrap)
        self.epoch = whole("epoch", -(-self.n // self.S) if epoch is None else epoch, 1) if self.wrap else None
        self.partition = self.S if self.n % self.S == 0 and self.epoch in (None, self.n // self.S) else None

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        return cls(n, size)

    def fields(self) -> dict[str, Any]:
        default = self.epoch == -(-self.n // self.S)
        other = {"wrap": False} if not self.wrap else {} if default else {"epoch": self.epoch}
        return {"n": self.n, "S": self.S, **other}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["n"], data["S"], wrap=data.get("wrap", True), epoch=data.get("epoch"))

    @property
    def rate(self) -> float:
        """S/n; less with ``wrap=False`` where S does not divide n, by the clients that a block would hold twice.

        A block with r clients of one order and S-r of the next has r(S-r)/n in both, on average. r takes each multiple
        of g = gcd(n, S) below S once in n/g rounds, so rate = S/n - S(S^2 - g^2)/(6 n^3).
        """
        share = self.S / self.n
        if self.wrap:
            return share
        g = math.gcd(self.n, self.S)
        return share - self.S * (self.S**2 - g**2) / (6 * self.n**3)

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        masks = np.empty((rounds, self.n, keys.shape[1]), dtype=np.bool_)
        reshuffled_blocks(keys, first_round, self.S, self.epoch or 0, masks)
        return masks
