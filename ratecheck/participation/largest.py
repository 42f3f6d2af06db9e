"""Biased client selection: of some uniformly drawn candidates, those with the largest gradients."""

from __future__ import annotations

from typing import ClassVar

from bounds.assumption import Assumption
from ratecheck.aliases import Array
from ratecheck.errors import InputError
from ratecheck.inputs import whole
from ratecheck.participation.model.pattern import Keys, Masks, Matrix, Participation, Written
from ratecheck.participation.uniform import Uniform

UNKNOWN = "the clients with the largest gradients are known in a run only, from its state: simulate with engine=step"


class Largest(Participation):
    """Of c uniformly drawn candidates the s clients whose score is largest, anew in every round.

    The score is the method's own: for FLAME the norm of grad f_i(theta_i; xi) + lambda (theta_i - w_i) (Algorithm 1,
    lines 25-33), for others that of a stochastic gradient at the client's state. It depends on the state of the run, so
    that the pattern alone knows the candidates only: `masks` returns those, and the step engine, which follows the
    state, chooses among them. Where scores are equal the client of the lower index goes first.

    Raises `InputError` unless 1 <= s <= c <= n.
    """

    kind: ClassVar[str] = "largest"
    written: ClassVar[tuple[Written, ...]] = (Written("largest"),)
    stands_for: ClassVar[frozenset[Assumption]] = frozenset({Assumption.SKEWED_SELECTION})
    follows_state: ClassVar[bool] = True

    def __init__(self, n: int, s: int, c: int | None = None) -> None:
        self.n = whole("n", n, 1)
        self.c = self.n if c is None else whole("c", c, 1, self.n, "there are that many clients")
        self.s = self.size = self.selected = whole("s", s, 1, self.c, "there are that many candidates")
        self._candidates = Uniform(self.n, self.c)

    @classmethod
    def assumed(cls, n: int, size: int, delta: float | None, weights: Array) -> Participation:
        """See `Participation.assumed`; all clients need no selection."""
        return Uniform(n, n) if size == n else cls(n, size)

    @property
    def selection_skew(self) -> tuple[float, str] | None:
        """1 where the candidates are all clients."""
        if self.rate < 1.0 and self.c == self.n:
            return 1.0, "the largest gradients of all are selected"
        return super().selection_skew

    @property
    def rate(self) -> float:
        """s/n."""
        return self.s / self.n

    def masks(self, first_round: int, rounds: int, keys: Keys) -> Masks:
        """The candidates of each round; see `Participation.masks`."""
        return self._candidates.masks(first_round, rounds, keys)

    def draw(self, T: int, seed: int = 0, replicate: int = 0) -> Matrix:
        """Raises `InputError`: participation depends on the run."""
        raise InputError(UNKNOWN)
