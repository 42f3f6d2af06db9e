"""The needs of a statement: the quantities of a run that it compares, and the cost that is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bounds.symbols import Vocabulary
from ratecheck.algorithms.model.algorithm import RECORDS
from ratecheck.engines.moments import lemmas, quantities
from ratecheck.engines.monte_carlo import bilevel_rounds

# Rounds that are followed one by one; a mean over rounds may be about more.
_MOST_FOLLOWED = 10**7


@dataclass(frozen=True)
class Wanted:
    """``quantities`` are those of the engines, ``vocabulary`` has the units of the paper's symbols for them.

    ``means``: only their means over all rounds. ``best_round``: which round has the least expectation. ``proof``: a
    verdict that is to be proved may cost more than a step of a search. ``seed``, ``replicates`` (at most) and
    ``threads`` are for what is sampled.
    """

    quantities: frozenset[str]
    vocabulary: Vocabulary
    means: bool = False
    best_round: bool = False
    proof: bool = True
    seed: int = 0
    replicates: int = 1
    threads: int | None = None

    @property
    def inside(self) -> frozenset[str]:
        """The quantities that are about what happens inside a round."""
        return self.quantities & bilevel_rounds.NAMES

    @property
    def recordable(self) -> bool:
        """Whether all quantities are records, see `recordable`."""
        return recordable(self.quantities)

    def too_long(self, T: int) -> str:
        """Why T rounds are not followed one by one; empty where they are."""
        symbol = self.vocabulary.run.get("rounds", "T")
        return (
            f'{symbol}={T} breaks "{symbol} <= {_MOST_FOLLOWED}": this run is followed by rounds'
            if T > _MOST_FOLLOWED
            else ""
        )


def recordable(names: Iterable[str]) -> bool:
    """Whether these quantities are recorded before each round, rather than computed for lemmas."""
    others = lemmas.NAMES - {*RECORDS} | bilevel_rounds.NAMES
    return not any(name in others or quantities.known(name) for name in names)
