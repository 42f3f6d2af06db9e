"""The work that shrinking may take: counted, so that what is found depends on no machine's speed, and timed if wished.

The unit is a short evaluation of both sides, some milliseconds. A run whose moments are followed round by round costs
as much for every 50 rounds, one that is followed step by step for every 2000 local steps of a client, and a proof for
every 20 000 products of numbers. Means over many rounds that are found by powers of the round's map cost nothing more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from ratecheck.problems.problem import Known
from ratecheck.verification.instance import Instance

# What a unit of work is worth.
_ROUNDS, _STEPS, _PRODUCTS = 50, 2000, 20_000
# What every run of an evaluation costs beside its rounds.
_AGAIN = 0.5
# Rounds, and local steps of all clients, beyond which a run is not followed one by one; products of numbers of a proof.
MOST_ROUNDS, _MOST_STEPS, MOST_PRODUCTS = 10_000, 200_000, 500_000
# Why shrinking ended before nothing simpler was left to try.
SPENT, LATE = "no evaluations left", "stopped by the clock"


class Spent(Exception):  # noqa: N818  # not an error: ends the passes
    """Nothing is left of the work, or of the time; the message says of which."""


class TooLong(Exception):  # noqa: N818  # not an error: the instance is not tried
    """The run of an instance would be followed one by one for too long."""


@dataclass
class WorkLimit:
    """A bound on the work, in units, and on the time: no instance is begun after ``until`` (`time.monotonic`)."""

    most: float
    until: float | None = None
    done: float = 0.0

    def check(self) -> None:
        """Raise `Spent` where nothing is left."""
        if self.done >= self.most:
            raise Spent(SPENT)
        if self.until is not None and time.monotonic() > self.until:
            raise Spent(LATE)

    def evaluate(self, instance: Instance, rounds: float, steps: float) -> Follow:
        """Count an evaluation of so many rounds of so many local steps, and what it follows as it is reported.

        Raises `TooLong` for a run that is followed step by step and has too many of them.
        """
        self.done += 1
        steps *= rounds * instance.problem.distinct
        if Known.AFFINE not in instance.problem.knows:
            if steps > _MOST_STEPS:
                raise TooLong
            self.done += steps / _STEPS
        return Follow(self, rounds)

    def proved(self, products: float) -> None:
        """Count a proof."""
        self.done += min(products, MOST_PRODUCTS) / _PRODUCTS


@dataclass
class Follow:
    """What receives the progress of one evaluation: it is called where rounds are followed one by one."""

    work: WorkLimit
    rounds: float
    followed: float = 0.0

    def __call__(self, share: float) -> None:
        """Count the rounds of a run that begins; raises `TooLong` or `Spent` where it is not to go on.

        A run is followed again and again where a constant is measured along it.
        """
        if share == 0.0:
            self.followed += self.rounds
            if self.followed > MOST_ROUNDS:
                raise TooLong
            self.work.done += _AGAIN + self.rounds / _ROUNDS
        elif self.rounds > MOST_ROUNDS:
            raise TooLong
        self.work.check()
