"""Instances on which a claim with something wrong in it fails: drawn like the others, and then changed for the worse.

A draw is a sequence of numbers in [0, 1), from which all that is drawn follows. Changing a few of them gives another
instance of the same kind. Those on which the wrong claim is nearest to failing are changed further.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from bounds.ledger.draw import Draw
from ratecheck.algebra.evaluate import Value, holds

T = TypeVar("T")
Comparing: TypeAlias = Callable[[Any], Sequence[tuple[Value, Value]]]

_STARTS, _PARENTS, _CHILDREN = 30, 4, 8
# Vain tries for one mutant, and for all mutants of a claim; instances that a mutant takes over from those before it.
_EACH, _MOST, _POOL = 400, 3000, 24
_FAILURES = 8
_ENDS = (0.0, 0.05, 0.5, 0.999999)


class TapedDraw(Draw):
    """The draw that a sequence of numbers makes; where more are needed it goes on at random, the same each time.

    With ``end`` it goes on with this number.
    """

    def __init__(self, index: int, seed: str, tape: Sequence[float] = (), end: float | None = None) -> None:
        super().__init__(index, seed)
        self.tape = list(tape)
        beyond = random.Random(f"{seed}/tape/{index}/{len(tape)}").random if end is None else lambda: end  # noqa: S311
        self._random = _Tape(self.tape, beyond)  # type: ignore[assignment]

    def again(self) -> TapedDraw:
        """The instance drawn again from its first number."""
        return TapedDraw(self.index, self._seed, self.tape)

    def other(self, rng: random.Random) -> TapedDraw:
        """One with a few of its numbers changed."""
        tape = list(self.tape)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(tape))
            stretch = slice(place, place + rng.choice((1, 1, 2, 3, 4, 8)))
            near = min(max(tape[place] + rng.gauss(0, 0.1), 0.0), 0.999999)
            number = rng.choice((rng.random(), rng.choice(_ENDS), near))
            put = [number] * len(tape[stretch])
            if rng.random() < 0.25:
                # As elsewhere: clients that are alike, a start at a minimiser.
                there = rng.randrange(len(tape))
                put = (tape[there : there + len(put)] + put)[: len(put)]
            tape[stretch] = put
        return TapedDraw(self.index, self._seed, tape)


class _Tape:
    """A generator of random numbers for `Draw`, from a sequence."""

    def __init__(self, tape: list[float], beyond: Callable[[], float]) -> None:
        self._tape, self._beyond, self._place = tape, beyond, 0

    def random(self) -> float:
        """The next number."""
        if self._place == len(self._tape):
            self._tape.append(self._beyond())
        self._place += 1
        return self._tape[self._place - 1]

    def randint(self, low: int, high: int) -> int:
        """A whole number from low to high."""
        return low + int(self.random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self.random() * len(options))]


class Seeker:
    """Looks for instances in ever other ways until it has tried so many in vain for one claim and its mutants.

    ``count`` is how many ordinary instances the claim has: some ledgers make special ones of some numbers.
    """

    def __init__(self, seed: str, count: int, most: int = _MOST) -> None:
        self._seed, self._count, self._left = f"{seed}/sought", max(count, 1), most
        self._pool: list[TapedDraw] = []

    def failing(self, compared: Comparing, operator: str) -> TapedDraw | None:
        """An instance on which one of the comparisons fails, if so many tries find one."""
        search = _Tried(compared, operator)
        for draw in itertools.islice(self._draws(search), min(_EACH, self._left)):
            self._left -= 1
            search.look(draw)
            if search.over:
                break
        self._pool = [*search.nearest(), *self._pool][:_POOL]
        return search.found

    def _draws(self, search: _Tried) -> Iterator[TapedDraw]:
        """Any instances at first, then such as are near those on which the claim is nearest to failing.

        Instances at one end have starts at the minimisers, no noise, clients that are alike: both sides may be 0.
        """
        yield from [draw.again() for draw in self._pool]
        yield from (TapedDraw(number % self._count, self._seed) for number in range(_STARTS))
        yield from (TapedDraw(number % self._count, self._seed, end=end) for number in range(3) for end in _ENDS)
        rng = random.Random(self._seed)  # noqa: S311  # no secret
        while parents := search.nearest():
            yield from (parents[k % len(parents)].other(rng) for k in range(_CHILDREN))


class _Tried:
    """The instances that were tried, and what they showed."""

    def __init__(self, compared: Comparing, operator: str) -> None:
        self._compared, self._operator = compared, operator
        self._known: list[tuple[float, int, TapedDraw]] = []
        self._errors = 0
        self.found: TapedDraw | None = None

    @property
    def over(self) -> bool:
        """Whether there is nothing more to look for, or no sense in it."""
        return self.found is not None or self._errors >= _FAILURES

    def look(self, draw: TapedDraw) -> None:
        """Try an instance."""
        try:
            pairs = self._compared(draw)
            failed = any(not holds(left, self._operator, right) for left, right in pairs)
            slack = [_slack(left, right) for left, right in pairs if left or right]
        except (Exception, SystemExit):  # noqa: BLE001  # whatever code with something changed may do
            self._errors += 1
            return
        if failed:
            self.found = draw
        if slack and draw.tape:
            self._known.append((min(slack), len(self._known), draw))

    def nearest(self) -> list[TapedDraw]:
        """Instances on which the claim has the least slack."""
        return [draw for _, _, draw in sorted(self._known)[:_PARENTS]]


def _slack(left: Value, right: Value) -> float:
    """The relative distance of the sides."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return float(abs(right - left) / (abs(left) + abs(right)))
    return abs(float(right) - float(left)) / (abs(float(left)) + abs(float(right)))
