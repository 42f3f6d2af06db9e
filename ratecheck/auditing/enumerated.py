"""Claims on instances: every participation matrix of some sizes, or random rational instances.

Each instance is evaluated once for all values of the claim's constants.
Printed constants mostly enter both sides linearly: ``sides`` is called with them as unknowns, `Linear`, and what it
returns is then known for every value. Where it does anything else with a constant it is called anew for every value.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

from bounds.ledger.draw import Draw, Rational
from bounds.ledger.participation import ParticipationMatrix, every
from bounds.ledger.step import Draws, Enumerated, Matrices, Number
from ratecheck.algebra.evaluate import Undefined, Value, as_value, holds, sides_text
from ratecheck.auditing.decision import Answer, Decision, unknown

# Where a ledger lies today, and the name by which its draws have been seeded from the first.
# Folders between the proofs of a paper and the file have no say.
_OF_PAPER = re.compile(r"^bounds\.papers\.(\w+)\.proofs(?:(?:\.\w+)+(?=\.\w+$))?")
_OF_LEDGER = re.compile(r"^bounds\.ledger")

Instance: TypeAlias = ParticipationMatrix | Draw
Pairs: TypeAlias = list[tuple[Value, Value]]


@dataclass(frozen=True, eq=False)
class Linear:
    """``value + sum_c slopes[c] * c`` for constants c; whatever is not linear in them raises TypeError."""

    value: Fraction
    slopes: Mapping[str, Fraction]

    def __add__(self, other: object) -> Linear:
        if isinstance(other, Linear):
            names = self.slopes.keys() | other.slopes.keys()
            slopes = {n: self.slopes.get(n, Fraction(0)) + other.slopes.get(n, Fraction(0)) for n in names}
            return Linear(self.value + other.value, slopes)
        if isinstance(other, (int, Fraction)):
            return Linear(self.value + other, self.slopes)
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, other: object) -> Linear:
        if isinstance(other, (int, Fraction)):
            return Linear(self.value * other, {n: slope * other for n, slope in self.slopes.items()})
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: object) -> Linear:
        if isinstance(other, (int, Fraction, Linear)):
            return self + -other
        return NotImplemented

    def __rsub__(self, other: object) -> Linear:
        return -self + other

    def __truediv__(self, other: object) -> Linear:
        if isinstance(other, (int, Fraction)):
            return self * (1 / Fraction(other))
        return NotImplemented

    def _not_linear(self, *_: object) -> NoReturn:
        raise TypeError("an unknown constant is compared")

    # More than sums and multiples needs the constant itself.
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __hash__ = _not_linear

    def at(self, constants: Mapping[str, Number]) -> Fraction:
        """The value for some constants."""
        return self.value + sum((slope * _fraction(constants[n]) for n, slope in self.slopes.items()), Fraction(0))


def _fraction(number: Number) -> Fraction:
    return Fraction(number) if isinstance(number, (int, Fraction)) else Fraction(int(number.p), int(number.q))


class EnumeratedInstances:
    """The instances of a claim, kept as they are evaluated: its mutants need no evaluation of their own."""

    def __init__(self, claim: Enumerated) -> None:
        self._claim = claim
        rational = all(isinstance(c, (int, Fraction)) or c.is_Rational for c in claim.constants.values())
        self._unknown = {n: Linear(Fraction(0), {n: Fraction(1)}) for n in claim.constants} if rational else None
        self._known: list[list[tuple[Value | Linear, Value | Linear]]] = []

    def rows(self, constants: Mapping[str, Number]) -> Iterator[tuple[Instance, Pairs | None]]:
        """Every instance with its comparisons for some constants: none where it is passed over, None after 1/0."""
        for number, instance in enumerate(instances(self._claim)):
            try:
                self._learn(number, instance)
                if number < len(self._known):
                    known = self._known[number]
                    yield instance, [(_at(left, constants), _at(right, constants)) for left, right in known]
                else:
                    yield instance, self.plain(instance.again(), constants)
            except (ZeroDivisionError, Undefined):
                yield instance, None

    def plain(self, anew: Instance, constants: Mapping[str, Number]) -> Pairs:
        """The comparisons on one instance, from its start, evaluated for these constants alone."""
        return pairs(self._claim.sides(anew, **constants))

    def _learn(self, number: int, instance: Instance) -> None:
        """Evaluate an instance for all constants, if that can be done."""
        if self._unknown is None or number != len(self._known):
            return
        try:
            found = self._claim.sides(instance.again(), **self._unknown)
            self._known.append(pairs(found, lambda side: side if isinstance(side, Linear) else as_value(side)))
        except (TypeError, AttributeError, ValueError):
            self._unknown = None

    def decide(self, claim: Enumerated) -> Decision:
        """Whether the claim, or a mutant of it, holds on all instances."""
        checked = passed_over = count = 0
        for instance, found in self.rows(claim.constants):
            if found is None:
                return unknown(f"division by zero on {instance_text(instance)}")
            if not found:
                passed_over += 1
                continue
            checked += 1
            count += len(found)
            if all(holds(left, claim.operator, right) for left, right in found):
                continue
            anew = instance.again()
            for left, right in self.plain(anew, claim.constants):
                if not holds(left, claim.operator, right):
                    sides = sides_text(left, claim.operator, right)
                    return Decision(answer=Answer.FALSE, evidence=f"false on {instance_text(anew)}: {sides}")
        kind = "participation matrices" if isinstance(claim.instances, Matrices) else "random rational instances"
        if not checked:
            return unknown(f"vacuous: all {passed_over} {kind} are passed over")
        skipped = f", {passed_over} passed over" if passed_over else ""
        return Decision(
            answer=Answer.TRUE,
            certified="instances",
            evidence=f"{count} comparisons on {checked} {kind}{skipped}",
        )


def _at(side: Value | Linear, constants: Mapping[str, Number]) -> Value:
    return side.at(constants) if isinstance(side, Linear) else side


def instances(claim: Enumerated) -> Iterator[Instance]:
    """All instances of a claim, in a fixed order."""
    if isinstance(claim.instances, Matrices):
        for clients, rounds in itertools.product(claim.instances.clients, claim.instances.rounds):
            yield from every(clients, rounds)
    elif isinstance(claim.instances, Draws):
        # The seed names the claim, so that no other step changes its instances.
        seed = named(claim.sides)
        yield from (Draw(index, seed) for index in range(claim.instances.count))
    else:
        yield from claim.instances


def named(function: Callable[..., Any]) -> str:
    """The name of a function, or of the one that was given arguments beforehand; draws are seeded by it.

    It is that of the ledger, wherever the ledger lies, so that a file that moves is checked on the same draws.
    """
    while isinstance(function, functools.partial):
        function = function.func
    module = _OF_PAPER.sub(r"bounds.proofs.\1", function.__module__)
    return f"{_OF_LEDGER.sub('bounds.proofs', module)}.{function.__qualname__}"


def pairs(found: Any, value: Callable[[Any], Any] = as_value) -> list[tuple[Any, Any]]:
    """The values of ``sides`` as pairs of numbers, one or many; none for an instance that is passed over."""
    if found is None:
        return []
    listed = list(found)
    if len(listed) == 2 and not isinstance(listed[0], (tuple, list)):
        listed = [listed]
    return [(value(left), value(right)) for left, right in listed]


def instance_text(instance: Instance) -> str:
    """An instance as evidence shows it.

    The rows of a matrix with a 1 for a participant; or the number of a draw with the values that its claim named.
    """
    if isinstance(instance, ParticipationMatrix):
        rows = ["".join("1" if there else "0" for there in row) for row in instance.matrix]
        return f"the {instance.T} x {instance.N} matrix {'/'.join(rows)}"
    shown = ", ".join(f"{name}={_shown(value)}" for name, value in instance.shown.items())
    return f"draw {instance.index}{shown and f', with {shown}'}"


def _shown(value: Rational | Sequence[Rational]) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, Sequence) else str(value)
